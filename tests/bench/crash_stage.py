"""The stage of a crash campaign: peers behind links that can be broken, and Footnote's processes.

The fakes run in this process and stand for the outside world: what was posted there stays posted,
whatever happens to the connections. PostgreSQL is real and can be killed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from tests.bench.crash_crew import Crew, Member
from tests.bench.crash_record import Row
from tests.bench.crash_standing import Standing
from tests.bench.crash_web import ConsolePlace, WebScene
from tests.fakes.claude import FakeClaude
from tests.fakes.claude_brain import paraphraser
from tests.fakes.mortal_postgres import MortalPostgres, a_mortal_postgres
from tests.fakes.proxy import HOST, Link, Network
from tests.fakes.server import serve
from tests.fakes.slack_delivery import EVENT, Delivery
from tests.scenario.discord_place import DiscordPlace, open_discord
from tests.scenario.fork_server import LOOK_EVERY
from tests.scenario.places import Place, Post, Said
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer
from tests.scenario.slack_place import SlackPlace, open_slack
from tests.scenario.web_place import browsing

LISTENERS, WORKERS = 2, 2
# As Slack's: at once, after a minute, after five; but a campaign has less time.
REDELIVERY = (0.0, 3.0, 15.0)
TOLD_AGAIN = 20  # events, the latest ones
LOOK_SECONDS = 0.5  # how often a process finds which standing questions are due
FIRST_TOKEN, TOKENS_A_SECOND = 0.25, 150.0

DEPOTS = (
    *("Aster", "Birch", "Cedar", "Dahlia", "Elder", "Fern", "Gorse", "Hazel", "Iris", "Juniper"),
    *("Kale", "Larch", "Myrtle", "Nettle", "Olive", "Poplar", "Quince", "Rowan", "Sorrel", "Tansy"),
)
KEEPERS = ("Nora", "Otto", "Paula", "Quentin", "Rosa", "Stefan", "Tilda", "Udo", "Vera", "Willem")


@dataclass(frozen=True, slots=True)
class Fact:
    """A question's words (``{}`` takes what makes it unique) and what its answer has to hold."""

    question: str
    wanted: str


def facts() -> list[Fact]:
    """The facts in the documents, each as a question and the words of its answer."""
    found = []
    for number, depot in enumerate(DEPOTS):
        code, keeper = str(481_507 + 7_919 * number), f"{KEEPERS[number % 10]} {depot}mann"
        found.append(Fact(f"What is the access code of depot {depot}, ticket {{}}?", code))
        found.append(Fact(f"Who looks after depot {depot}, ticket {{}}?", keeper))
    return found


def write_documents(folder: Path) -> None:
    for asked, kept in zip(facts()[::2], facts()[1::2], strict=True):
        depot = asked.question.split("depot ")[1].partition(",")[0]
        (folder / f"{depot.lower()}.md").write_text(
            f"# Depot {depot}\n\nThe access code of depot {depot} is {asked.wanted}. It is changed "
            f"every spring.\n\nDepot {depot} is looked after by {kept.wanted}, who lives nearby.\n"
        )


class Scene(Protocol):
    """A platform in a campaign: a place, and what only its record tells."""

    @property
    def place(self) -> Place: ...

    def event_key(self, said: Said) -> str:
        """The key under which the store knows a message."""
        ...

    def taken(self, said: Said) -> bool | None:
        """Return True if Footnote acknowledged all that tells of a message; None when it never
        does."""
        ...

    def busy(self) -> bool:
        """Return True if events are still being delivered."""
        ...

    def mention(self) -> str: ...

    def has_thread(self, said: Said) -> bool:
        """Return True if there is a thread to speak in."""
        ...

    def run_of(self, said: Said, post: Post) -> str:
        """The run that a message names in what nobody sees, or ""."""
        ...

    def replies(self, root: Said, stops: Sequence[Said]) -> list[Post]:
        """The posts of a thread but those that answer a word of "stop"."""
        ...

    def tell_again(self) -> None:
        """The platform delivers its latest events once more."""
        ...

    @property
    def hears_all(self) -> bool:
        """Return True if an edit or a deletion always reaches Footnote in the end."""
        ...

    def heard(self, root: Said) -> str:
        """The events of a thread that its posts do not show, in words; "" where there are none."""
        ...

    def wrong_of(self, run: Row) -> Sequence[str]:
        """Faults in the events of a run that has ended, other than those of its posts."""
        ...


class SlackScene:
    """See ``Scene``."""

    def __init__(self, place: SlackPlace) -> None:
        self.place = place
        self._again: list[Delivery] = []

    def event_key(self, said: Said) -> str:
        return f"slack:{said.channel}:{said.id}"

    def taken(self, said: Said) -> bool | None:
        about = [d for d in self.place.slack.deliveries if d.payload["event"].get("ts") == said.id]
        return bool(about) and all(delivery.acked for delivery in about)

    def replies(self, root: Said, stops: Sequence[Said]) -> list[Post]:
        return self.place.posts(root)  # the others are whispered

    def tell_again(self) -> None:
        told = [d for d in self.place.slack.deliveries if d.kind == EVENT and d not in self._again]
        for delivery in told[-TOLD_AGAIN:]:
            self._again.append(self.place.slack.redeliver(delivery))

    def busy(self) -> bool:
        return not all(d.acked or d.given_up for d in list(self.place.slack.deliveries))

    def mention(self) -> str:
        return self.place.slack.mention

    def has_thread(self, said: Said) -> bool:
        return True

    def run_of(self, said: Said, post: Post) -> str:
        shown = self.place.slack.replies(said.channel, said.root)
        metadata = next((one.metadata for one in shown if one.ts == post.id), None) or {}
        return str((metadata.get("event_payload") or {}).get("run", ""))

    @property
    def hears_all(self) -> bool:
        return False

    def heard(self, root: Said) -> str:
        return ""

    def wrong_of(self, run: Row) -> Sequence[str]:
        return ()


class DiscordScene:
    """See ``Scene``."""

    def __init__(self, place: DiscordPlace) -> None:
        self.place = place

    def event_key(self, said: Said) -> str:
        return f"discord:{said.id}"

    def taken(self, said: Said) -> bool | None:
        return None

    def replies(self, root: Said, stops: Sequence[Said]) -> list[Post]:
        words = {stop.id for stop in stops}
        seen = self.place.discord.posts(self.place.thread(root)) if self.has_thread(root) else []
        told = {one.id for one in seen if one.reply_to in words}
        return [post for post in self.place.posts(root) if post.id not in told]

    def tell_again(self) -> None:
        self.place.tell_again()

    def busy(self) -> bool:
        return False

    def mention(self) -> str:
        return self.place.discord.bot.mention

    def has_thread(self, said: Said) -> bool:
        return bool(self.place.posts(said))

    def run_of(self, said: Said, post: Post) -> str:
        return post.run

    @property
    def hears_all(self) -> bool:
        return False

    def heard(self, root: Said) -> str:
        return ""

    def wrong_of(self, run: Row) -> Sequence[str]:
        return ()


@dataclass
class Stage:
    """``links`` by the name of the peer; each process has its own to PostgreSQL."""

    scenes: Sequence[Scene]
    links: Mapping[str, Link]
    claude: FakeClaude
    postgres: MortalPostgres
    standing: Standing
    crew: Crew


@contextmanager
def open_stage(platforms: Sequence[str], fork_server: ForkServer) -> Iterator[Stage]:
    """Everything running and connected."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        documents = folder / "documents"
        documents.mkdir()
        write_documents(documents)
        network = stack.enter_context(Network())
        postgres = stack.enter_context(a_mortal_postgres())
        claude = FakeClaude(paraphraser, first_token=FIRST_TOKEN, rate=TOKENS_A_SECOND)
        port = stack.enter_context(serve(claude)).rpartition(":")[2]
        standing = Standing(postgres)
        standing.prepare()
        standing.piers.url = stack.enter_context(serve(standing.piers.app))
        links = {"claude": network.to(HOST, int(port))}
        settings = {
            "FOOTNOTE_DOCS": str(documents),
            "FOOTNOTE_FETCH_ALLOW": urlsplit(standing.piers.url).netloc,
            "bot.operation.app.PAGE_TTL": "0",  # a look comes days later, here seconds
            LOOK_EVERY: str(LOOK_SECONDS),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": f"http://{HOST}:{links['claude'].port}",
        }
        scenes: list[Scene] = []
        for name in platforms:
            scene, link = _OPENERS[name](stack, network, postgres)
            scenes.append(scene)
            links[name] = link
            settings |= scene.place.settings
        assert Program(folder, settings, fork_server).run("index", str(documents)).code == 0
        members = []
        for role, command, count in (
            ("listener", ("serve", "--no-work"), LISTENERS),
            ("worker", ("worker",), WORKERS),
        ):
            for _ in range(count):
                link = network.to_socket(postgres.socket)
                own = Program(
                    folder, {**settings, "FOOTNOTE_DATABASE_URL": postgres.url_at(link.port)}
                )
                members.append(Member(role, own, link, command))
        crew = stack.enter_context(Crew(fork_server, members, [scene.place for scene in scenes]))
        crew.until_ready([scene.place.ready for scene in scenes])
        yield Stage(scenes, links, claude, postgres, standing, crew)


def _open_slack(stack: ExitStack, network: Network, postgres: MortalPostgres) -> tuple[Scene, Link]:
    place = stack.enter_context(open_slack(redelivery=REDELIVERY))
    link = network.to(HOST, int(place.slack.base.rpartition(":")[2]))
    place.slack.seen_at(f"http://{HOST}:{link.port}")
    return SlackScene(place), link


def _open_discord(
    stack: ExitStack, network: Network, postgres: MortalPostgres
) -> tuple[Scene, Link]:
    place = stack.enter_context(open_discord())
    link = network.to(HOST, place.discord.port)
    place.discord.seen_at(link.port)
    return DiscordScene(place), link


def _open_web(stack: ExitStack, network: Network, postgres: MortalPostgres) -> tuple[Scene, Link]:
    place = stack.enter_context(browsing(ConsolePlace(network, postgres)))
    return WebScene(place), place.door


_OPENERS = {"slack": _open_slack, "discord": _open_discord, "web": _open_web}
