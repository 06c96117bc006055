"""Discord as a place of scenarios."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tests.fakes.discord_server import Channel, FakeDiscord, File, Message, Seen
from tests.scenario.places import NO_FILES, Files, Post, Press, Said, Witness
from tests.scenario.program import Program
from tests.scenario.serving import Serving

FEEDBACK = re.compile(r"footnote:feedback:good:([0-9a-z]+)")
BUTTONS: Mapping[Press, str] = {
    "deeper": "footnote:deeper:",
    "good": "footnote:feedback:good:",
    "bad": "footnote:feedback:bad:",
    "follow-up": "footnote:follow-ups:",
    "details": "footnote:details:",
    "stop": "footnote:stop:",
}


class DiscordPlace:
    """See ``Place``."""

    name = "discord"
    ready = "discord is connected."
    searching = "Searching: "
    denied = "You are not on the list"
    thanks = "Thank you"

    def __init__(self, discord: FakeDiscord) -> None:
        self.discord = discord
        self.mention = f"{discord.bot.mention} "
        self.guild = discord.guild("Acme")
        self.ada = discord.member(self.guild, "Ada")
        self.general = discord.text(self.guild, "general")
        self._said: dict[str, Message] = {}

    def meet(self, program: Program, serving: Serving) -> None:
        pass  # it connects of its own accord

    @property
    def connections(self) -> int:
        """It says that it is ready a second later, when no more servers come."""
        return len(self.discord.gateway.identified)

    @property
    def settings(self) -> Mapping[str, str]:
        return {
            "DISCORD_TOKEN": self.discord.token,
            "FOOTNOTE_DISCORD_API_URL": self.discord.url,
        }

    # ---- what Ada does

    def ask(self, text: str, *, locale: str = "en-US", files: Files = NO_FILES) -> Said:
        """Discord tells no locale with a message: the text's language decides."""
        sent = [File(name, body) for name, body in files.items()]
        message = self.discord.people.say(
            self.ada, self.general, text, mentions_bot=True, attachments=sent
        )
        return self._kept(message, message.id)

    def say(self, earlier: Said, text: str) -> Said:
        message = self.discord.people.say(self.ada, self.thread(earlier), text)
        return self._kept(message, earlier.root)

    def _kept(self, message: Message, root: str) -> Said:
        self._said[message.id] = message
        return Said(self.general.id, message.id, root)

    def edit(self, said: Said, text: str) -> None:
        mention = f"{self.discord.bot.mention} " if said.id == said.root else ""
        self.discord.people.edit(self._said[said.id], mention + text)

    def delete(self, said: Said) -> None:
        self.discord.people.delete(self._said[said.id])

    def press(self, said: Said, what: Press, *, on: int = -1) -> None:
        seen = self._seen(said)[on]
        ids = [id for _, id in seen.buttons if id.startswith(BUTTONS[what])]
        assert ids, f"there is no button {what!r}, only {seen.buttons}"
        message = self.discord.message(self.thread(said), seen)
        self.discord.people.press(self.ada, message, ids[0])

    def stop(self, said: Said) -> None:
        self.discord.wait(self.discord.registered)
        self.discord.people.slash(self.ada, self.thread(said), "stop")

    # ---- what is to be seen

    def thread(self, said: Said) -> Channel:
        thread = self.discord.thread_of(self._said[said.root])
        assert thread is not None, "no thread was made from the question"
        return thread

    def posts(self, said: Said) -> list[Post]:
        return [post_of(seen) for seen in self._seen(said)]

    def _seen(self, said: Said) -> list[Seen]:
        thread = self.discord.thread_of(self._said[said.root])
        return [] if thread is None else self.discord.posts(thread)

    def whispers(self, said: Said) -> str:
        places = [self.general, self.discord.direct(self.ada)]
        if (thread := self.discord.thread_of(self._said[said.root])) is not None:
            places.append(thread)
        seen = [one for place in places for one in self.discord.posts(place, to=self.ada)]
        direct = self.discord.posts(places[1])
        return "\n".join(_text(one) for one in seen if one.ephemeral or one in direct)

    def at_work(self, said: Said) -> bool:
        return any(post.working for post in self.posts(said))

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        self.discord.wait(condition, seconds)

    def acknowledged(self) -> bool:
        interactions = self.discord.webhooks.interactions.values()
        return all(interaction.acknowledged for interaction in list(interactions))

    # ---- bad weather

    def tell_again(self) -> None:
        """The messages as they were told, with their old numbers, as a resume repeats them."""
        with self.discord.world.lock:
            for session in self.discord.gateway.sessions.values():
                if session.connection is None:
                    continue
                for event in session.events:
                    if json.loads(event)["t"] == "MESSAGE_CREATE":
                        session.connection.send_text(event)

    def lose_connection(self) -> None:
        self.discord.gateway.drop()

    def down(self) -> None:
        self.discord.down()

    def up(self) -> None:
        self.discord.up()

    def limit(self, times: int) -> None:
        for method in ("POST", "PATCH"):
            self.discord.storm(times, 1.0, where=f"{method} /channels")

    def cut(self) -> None:
        self.discord.cut(where="POST /channels", times=2)  # the thread, and its first message

    def watch(self, witness: Witness) -> None:
        def seen(request: str, done: bool) -> bool:
            changing = not request.startswith("GET") and "/channels/" in request
            return not changing or request.endswith("/typing") or witness(done)

        self.discord.watch(seen)


def post_of(seen: Seen) -> Post:
    found = [match[1] for _, id in seen.buttons if (match := FEEDBACK.fullmatch(id))]
    working = any(id.startswith(BUTTONS["stop"]) for _, id in seen.buttons)
    return Post(seen.id, _text(seen), found[0] if found else "", working)


def _text(seen: Seen) -> str:
    return "\n".join([seen.content, *(label for label, _ in seen.buttons)])


@contextmanager
def open_discord() -> Iterator[DiscordPlace]:
    with FakeDiscord() as discord:
        yield DiscordPlace(discord)
