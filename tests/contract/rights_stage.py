"""Stage of the rights contract: documents with a secret word each, surfaces, and their people."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
from starlette.applications import Starlette

from adapters.web.platform import WebPlatform, open_web
from bot.core.errors import PlatformUnavailable
from bot.core.messages import Answer, Audience, Author, Message, Thread, Transcript
from bot.core.posting import RunRef, Whereabouts
from bot.core.reader import mcp_address
from bot.core.settings import Settings
from bot.operation.app import App, open_app
from bot.operation.configuration import load_settings
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import AnswerDelta, Evidence, Rewritten
from bot.service.reception import AcceptedQuestion, Reception
from bot.storage.store import RunRecord
from bot.storage.workspaces import Workspaces
from tests.fakes.poster import RememberingPoster

QUESTION = "What is the passphrase of the gate?"

# A folder each; the word stands in its document and nowhere else.
SECRETS: Mapping[str, str] = {
    "open": "kiwiopen",
    "hr": "kiwihr",
    "eng": "kiwieng",
    "inner": "kiwiinner",  # a folder in "open", with fewer readers
    "loose": "kiwiloose",  # in no collection
    "tools": "kiwitools",  # of a server of the Model Context Protocol, for the readers of "inner"
}
FOLDERS = {name: f"open/{name}" if name == "inner" else name for name in SECRETS if name != "tools"}
ALL = frozenset(SECRETS)
OPEN = frozenset({"open", "loose"})

PUBLIC = frozenset({"CGENERAL", "CENG", "800", "900"})  # channels that all members may read
CONSOLE_HOST = "http://127.0.0.1:8080"


def toml(docs: Path, *, without: Collection[str] = (), only: str = "", tools: str = "UANN") -> str:
    """``footnote.toml``; ``without`` leaves these lists out of the collections, ``only`` is who may
    search "hr" then, ``tools`` who may use the server in private."""
    lists = {
        "people": '["UANN", "42"]',
        "slack_groups": '["SHR"]',
        "discord_roles": "[700]",
        "console_users": '["ann"]',
        "console_groups": '["hr"]',
    }
    hr = "\n".join(f"{name} = {ids}" for name, ids in lists.items() if name not in without)
    return f"""
docs = ["{docs}"]

[[collections]]
name = "open"
paths = ["{docs / "open"}"]
everybody = true

[[collections]]
name = "hr"
paths = ["{docs / "hr"}"]
{only or hr}

[[collections]]
name = "eng"
paths = ["{docs / "eng"}"]
channels = ["CENG", 900]

[[collections]]
name = "inner"
paths = ["{docs / "open" / "inner"}"]
channels = ["CENG"]
people = ["UANN"]
console_users = ["ann"]

[[mcp]]
name = "tickets"
command = ["{sys.executable}", "{SERVER}", "good"]
env = {{ CALLS = "{docs.parent / "calls"}", NOTES = {json.dumps(json.dumps(NOTES))} }}
channels = ["CENG"]
people = ["{tools}"]
console_users = ["{tools.removeprefix("U").lower()}"]
"""


def _text(name: str) -> str:
    return f"The passphrase of the gate at {name} is {SECRETS[name]}."


SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
NOTES = {"GATE-1": [f"Gate {SECRETS['tools']}", _text("tools")]}


def write_documents(docs: Path) -> None:
    for name in FOLDERS:
        folder = docs / FOLDERS[name]
        folder.mkdir(parents=True, exist_ok=True)
        text = f"# Gate {SECRETS[name]}\n\n{_text(name)}\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def address_of(docs: Path, name: str) -> str:
    if name == "tools":
        return mcp_address("tickets", "GATE-1", "https://tickets.example/browse/GATE-1")
    return (docs / FOLDERS[name] / f"{name}.md").as_uri()


@dataclass
class GroupedPoster(RememberingPoster):
    """Knows who is in which group and who is a guest, as Slack and Discord do."""

    members: dict[str, set[str]] = field(default_factory=dict)
    guests: frozenset[str] = frozenset()
    is_away: bool = False
    groups_setting: str = "slack_groups"

    async def groups(self, message: Message, among: Collection[str]) -> frozenset[str]:
        return frozenset(g for g in among if message.author.id in self.members.get(g, ()))

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        thread = run.message.thread
        public = thread.channel in PUBLIC
        return Whereabouts("", thread.channel, thread.home if public else thread.place)

    async def audience(self, message: Message) -> Audience:
        return "unknown"

    async def is_guest(self, message: Message) -> bool:
        if self.is_away:
            raise PlatformUnavailable("The platform is away.")
        return message.author.id in self.guests


class Parrot(Closest):
    """Repeats on demand what the thread's answers said, as a model could that was shown them.
    ``at_writing`` is called when it has gathered all and begins to write."""

    at_writing: Callable[[], None] = staticmethod(lambda: None)

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        if not message.text.startswith("Repeat"):
            return await super().rewrite(transcript, message, instructions)
        heard = repr([entry for entry in transcript.entries if entry.role == "footnote"])
        return Rewritten("chat", message.text, reply=heard)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        Parrot.at_writing()
        async for delta in super().write(question, evidence, instructions):
            yield delta


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody somewhere, and which documents they may be told about there.

    ``as_member`` are those of a guest where guests are treated like members. ``guest`` is None
    where the event did not tell, and the platform is asked.
    """

    name: str
    platform: str
    channel: str
    id: str
    may: frozenset[str]
    direct: bool = False
    groups: tuple[str, ...] = ()
    guest: bool | None = False
    shared: bool = False  # the channel, with another company
    as_member: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.name

    @property
    def audience(self) -> Audience:
        if self.direct:
            return "person"
        return "outsiders" if self.shared else "channel"

    @property
    def author(self) -> Author:
        return Author(self.id, self.name, groups=self.groups, guest=self.guest)

    def __post_init__(self) -> None:
        for name in ("may", "as_member"):
            if "inner" in (names := getattr(self, name)):
                object.__setattr__(self, name, names | {"tools"})

    @property
    def may_not(self) -> frozenset[str]:
        return ALL - self.may


def _slack(
    name: str, channel: str, id: str, *may: str, direct: bool = False, guest: bool | None = False
) -> Person:
    return Person(name, "slack", channel, id, frozenset(may), direct, guest=guest)


def _guest(name: str, channel: str, id: str, *as_member: str, told: bool = True) -> Person:
    """A guest; ``told``: the event says so."""
    direct, guest = channel.startswith("D"), True if told else None
    return Person(
        name, "slack", channel, id, frozenset(), direct, guest=guest, as_member=frozenset(as_member)
    )


def _discord(name: str, channel: str, id: str, *may: str, direct: bool = False) -> Person:
    return Person(name, "discord", channel, id, frozenset(may), direct)


def _web(name: str, id: str, *may: str, groups: tuple[str, ...] = ()) -> Person:
    return Person(name, "web", id, id, frozenset(may), groups=groups)


# The table: who asks, where, and what may be told there.
PEOPLE = (
    _slack("anybody in a channel", "CGENERAL", "UBOB", *OPEN),
    _slack("a person of hr in a channel", "CGENERAL", "UANN", *OPEN),
    _slack("a member of an hr group in a channel", "CGENERAL", "UCAT", *OPEN),
    _slack("anybody in the channel of eng", "CENG", "UBOB", *OPEN, "eng", "inner"),
    _slack("a person of hr in the channel of eng", "CENG", "UANN", *OPEN, "eng", "inner"),
    _slack("a person of hr in a group message", "GGROUP", "UANN", *OPEN),
    _slack("a person of hr in private", "DANN", "UANN", *OPEN, "hr", "inner", direct=True),
    _slack("a member of an hr group in private", "DCAT", "UCAT", *OPEN, "hr", direct=True),
    _slack("anybody in private", "DBOB", "UBOB", *OPEN, direct=True),
    Person(
        "a person of hr in the channel of eng, shared with another company",
        "slack",
        "CENG",
        "UANN",
        frozenset(),
        shared=True,
        as_member=frozenset({*OPEN, "eng", "inner"}),
    ),
    _guest("a guest in a channel", "CGENERAL", "UGUEST", *OPEN),
    _guest("a guest in the channel of eng", "CENG", "UGUEST", *OPEN, "eng", "inner"),
    _guest("a guest in private", "DGUEST", "UGUEST", *OPEN),
    _guest("a guest on a list in private", "DANN2", "UANN", *OPEN, "hr", "inner"),
    _guest(
        "somebody Slack calls a guest later", "CENG", "ULATE", *OPEN, "eng", "inner", told=False
    ),
    _slack(
        "somebody Slack calls a member later", "CENG", "UBOB", *OPEN, "eng", "inner", guest=None
    ),
    _discord("anybody in a Discord channel", "800", "1", *OPEN),
    _discord("a person of hr in a Discord channel", "800", "42", *OPEN),
    _discord("anybody in the Discord channel of eng", "900", "1", *OPEN, "eng"),
    _discord("a person of hr in private on Discord", "51", "42", *OPEN, "hr", direct=True),
    _discord("somebody with the role in private", "52", "7", *OPEN, "hr", direct=True),
    _discord("anybody in private on Discord", "53", "1", *OPEN, direct=True),
    _web("a user of hr in the console", "ann", *OPEN, "hr", "inner"),
    _web("a member of hr in the console", "cat", *OPEN, "hr", groups=("hr",)),
    _web("anybody in the console", "bob", *OPEN),
    _web("an operator in the console", "root", *OPEN),
    _web("a console user called like somebody in Slack", "UANN", *OPEN),
    Person("the operator", "terminal", "cli", "me", ALL),
)
GUESTS = tuple(each for each in PEOPLE if each.as_member and not each.shared)
VISITORS = tuple(each for each in PEOPLE if each.platform == "web")


@dataclass
class Stage:
    """Footnote over indexed documents, with the closest passages."""

    docs: Path
    settings: Settings
    app: App
    reception: Reception
    posters: dict[str, GroupedPoster]
    console: Starlette
    stack: AsyncExitStack
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def thread(self, person: Person, name: str = "") -> Thread:
        workspace = {"web": "console", "terminal": "local"}.get(person.platform, "W1")
        if person.platform == "discord" and person.direct:
            workspace = "@me"
        return Thread(person.platform, workspace, person.channel, name or f"t{next(self.numbers)}")

    def message(
        self, person: Person, text: str, thread: Thread | None = None, links: tuple[str, ...] = ()
    ) -> Message:
        return Message(
            event_id=f"e{next(self.numbers)}",
            thread=thread or self.thread(person),
            author=person.author,
            text=text,
            at=datetime.now(UTC),
            links=links,
            audience=person.audience,
        )

    async def ask(self, person: Person, text: str = QUESTION, **more: object) -> RunRecord:
        """Put a question, and wait for the end of its run."""
        asked = await self.reception.receive(
            self.message(person, text, **more),  # type: ignore[arg-type]
            "footnote",
        )
        assert isinstance(asked, AcceptedQuestion)
        return await self.ended(asked.run_id)

    async def ended(self, run: str) -> RunRecord:
        await self.app.dispatcher.wait(run)
        record = await self.app.store.run(run)
        assert record is not None
        return record

    async def with_suggestion(self, run: RunRecord) -> RunRecord:
        """The run, its answer with a question to go on with that only its documents could give."""
        assert run.answer is not None
        answer = replace(run.answer, suggestions=(f"What opens {SECRETS['hr']}?",))
        await self.app.store.save_answer(run.id, run.attempt, answer)
        return replace(run, answer=answer)

    def shown(self, person: Person, run: str) -> str:
        """Everything that the platform was given of a run."""
        replies = [r for r in self.posters[person.platform].replies if r.run.id == run]
        return repr([(r.plans, r.texts, r.finished, r.failed) for r in replies])

    def browser(self, visitor: Person) -> httpx.AsyncClient:
        headers = {"X-User": visitor.id, "X-Groups": ",".join(visitor.groups)}
        transport = httpx.ASGITransport(self.console, client=("127.0.0.1", 50_000))
        return httpx.AsyncClient(transport=transport, base_url=CONSOLE_HOST, headers=headers)

    def take_away(self) -> None:
        """Nobody of those who were is on the list of hr any more."""
        changed = toml(self.docs, only='people = ["UNOBODY"]', tools="UNOBODY")
        Path("footnote.toml").write_text(changed, encoding="utf-8")

    def disconnect(self) -> None:
        """The settings have the server no more."""
        Path("footnote.toml").write_text(toml(self.docs).partition("[[mcp]]")[0], encoding="utf-8")


@asynccontextmanager
async def open_stage(
    docs: Path, index: Path, database: str, guests: str = "web"
) -> AsyncIterator[Stage]:
    """``docs`` are indexed in the data folder ``index``; ``footnote.toml`` is written to the
    working directory."""
    Path("footnote.toml").write_text(toml(docs), encoding="utf-8")
    settings = load_settings(
        data_dir=index,
        database_url=database,
        console_user_header="X-User",
        console_groups_header="X-Groups",
        admins="root",
        providers="local,tickets",
        reasoner="closest",
        guests=guests,
        audit_reads=False,  # a row for each page: the audit log has tests of its own
    )
    posters = {name: GroupedPoster() for name in ("slack", "discord", "web", "terminal")}
    posters["slack"].members = {"SHR": {"UCAT"}}
    posters["slack"].guests = frozenset({"UGUEST", "ULATE"})
    posters["discord"].members = {"700": {"7"}}
    posters["discord"].groups_setting = "discord_roles"
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, posters))
        app.service._reasoner = Parrot
        reception = Reception(settings, app.store, app.service, app.dispatcher, posters)
        stack.push_async_callback(reception.aclose)
        platform: WebPlatform = await stack.enter_async_context(
            open_web(settings, Workspaces(app.store.database))
        )
        console = Starlette(routes=list(platform.routes))
        yield Stage(docs, settings, app, reception, posters, console, stack)


def secrets_in(text: str) -> frozenset[str]:
    """The documents whose word a text holds."""
    return frozenset(name for name, secret in SECRETS.items() if secret in text)


def documents_of(docs: Path, answer: Answer | None) -> frozenset[str]:
    assert answer is not None
    return frozenset(n for n in SECRETS if address_of(docs, n) in answer.rests_on)
