"""Slack as a place of scenarios."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from adapters.slack import format as controls
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import EVENT
from tests.fakes.slack_limits import UNLIMITED
from tests.fakes.slack_screen import Shown
from tests.scenario.places import NO_FILES, Files, Post, Press, Said, Witness
from tests.scenario.program import REPOSITORY, Program
from tests.scenario.serving import Serving

ADA, LIU, GENERAL = "U1ADA", "U2LIU", "C1GENERAL"
OPS, BOARD = "C2OPS", "G3BOARD"  # of ``open_channels``
MANIFEST = REPOSITORY / "adapters" / "slack" / "manifest.yaml"
POSTING = ("chat.postMessage", "chat.startStream", "chat.update", "chat.stopStream")
CHANGING = {*POSTING, "chat.appendStream", "chat.delete", "agents.sessions.setStatus"}
FEEDBACK = re.compile(r'"good:([0-9a-z]+)"')
ACTIONS: Mapping[Press, str] = {
    "deeper": controls.DEEPER,
    "good": controls.FEEDBACK,
    "bad": controls.FEEDBACK,
    "follow-up": controls.FOLLOW_UP,
    "details": controls.DETAILS,
    "stop": controls.STOP,
}


class SlackPlace:
    """See ``Place``. Ada's Slack is in English, Liu's in Chinese."""

    name = "slack"
    ready = "slack is connected."
    searching = "Searching: "
    denied = "You are not on the list"
    thanks = ""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.mention = f"{slack.mention} "
        slack.add_user(ADA, "ada")
        slack.add_user(LIU, "liu", locale="zh-CN")
        slack.add_channel(GENERAL, "general", members=[ADA, LIU])

    def meet(self, program: Program, serving: Serving) -> None:
        pass  # it connects of its own accord

    @property
    def connections(self) -> int:
        return self.slack.sockets.connected

    @property
    def settings(self) -> Mapping[str, str]:
        return {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_APP_TOKEN": self.slack.app_token,
            "FOOTNOTE_SLACK_API_URL": self.slack.api_url,
        }

    # ---- what Ada does

    def ask(self, text: str, *, locale: str = "en-US", files: Files = NO_FILES) -> Said:
        user = ADA if locale.startswith("en") else LIU
        sent = [self.slack.add_file(user, name, body) for name, body in files.items()]
        said = self.slack.say(user, GENERAL, f"{self.slack.mention} {text}", files=sent)
        return Said(GENERAL, said.ts, said.ts)

    def ask_in(self, channel: str, user: str, text: str) -> Said:
        """Ask in a channel by a mention, or in a direct message without one."""
        mention = "" if channel.startswith("D") else f"{self.slack.mention} "
        said = self.slack.say(user, channel, mention + text)
        return Said(channel, said.ts, said.ts)

    def say(self, earlier: Said, text: str) -> Said:
        said = self.slack.say(ADA, earlier.channel, text, thread_ts=earlier.root)
        return Said(earlier.channel, said.ts, earlier.root)

    def edit(self, said: Said, text: str) -> None:
        mention = f"{self.slack.mention} " if said.id == said.root else ""
        self.slack.edit(said.channel, said.id, mention + text)

    def delete(self, said: Said) -> None:
        self.slack.delete(said.channel, said.id)

    def press(self, said: Said, what: Press, *, on: int = -1) -> None:
        message = self._replies(said)[on]
        value = None
        if what in ("good", "bad"):
            found = FEEDBACK.search(json.dumps(message.blocks))
            assert found is not None, "there are no feedback buttons"
            value = f"{what}:{found[1]}"
        self.slack.press(ADA, message, ACTIONS[what], value)

    def stop(self, said: Said) -> None:
        self.slack.stop_session(ADA, said.channel, said.root)

    # ---- what is to be seen

    def posts(self, said: Said) -> list[Post]:
        return [_post(message) for message in self._replies(said)]

    def _replies(self, said: Said) -> list[Shown]:
        replies = self.slack.replies(said.channel, said.root)
        return [one for one in replies if not one.ephemeral_to and one.ts != said.root]

    def whispers(self, said: Said) -> str:
        shown = self.slack.messages(said.channel)
        told = [one.seen for one in shown if one.ephemeral_to in (ADA, LIU)]
        return "\n".join((*told, *(json.dumps(view) for view in self.slack.workspace.modals)))

    def at_work(self, said: Said) -> bool:
        session = self.slack.session(said.channel, said.root)
        busy = session is not None and session.status == "processing"
        return busy or any(post.working for post in self.posts(said))

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        self.slack.wait_for(condition, seconds)

    def acknowledged(self) -> bool:
        return all(delivery.acked for delivery in self.slack.deliveries)

    # ---- bad weather

    def tell_again(self) -> None:
        for delivery in list(self.slack.deliveries):
            if delivery.kind == EVENT:
                self.slack.redeliver(delivery)

    def lose_connection(self) -> None:
        self.slack.cut_sockets()

    def down(self) -> None:
        self.slack.down(503)

    def up(self) -> None:
        self.slack.up()

    def limit(self, times: int) -> None:
        for method in (*POSTING, "chat.appendStream"):
            self.slack.storm(method, times)

    def cut(self) -> None:
        for method in POSTING:
            self.slack.cut(method)

    def watch(self, witness: Witness) -> None:
        def seen(method: str, done: bool) -> bool:
            return method not in CHANGING or witness(done)

        self.slack.watch(seen)


def _post(message: Shown) -> Post:
    found = FEEDBACK.search(json.dumps(message.blocks))
    labels = [element.get("action_id") for _, element in message.elements()]
    working = message.streaming or controls.STOP in labels or "Researching" in message.seen
    return Post(message.ts, message.seen, found[1] if found else "", working)


@contextmanager
def open_slack(**options: Any) -> Iterator[SlackPlace]:
    """A Slack whose rates are without limits, with the app as its manifest says."""
    with FakeSlack(MANIFEST, **{"rate_limits": UNLIMITED, **options}) as slack:
        yield SlackPlace(slack)


@contextmanager
def open_channels() -> Iterator[SlackPlace]:
    """The same with one more public channel and a private one, whose names the app may look up."""
    with open_slack() as place:
        place.slack.with_scopes("channels:read")
        place.slack.add_channel(OPS, "ops", members=[ADA, LIU])
        place.slack.add_channel(BOARD, "board", "group", members=[ADA, LIU])
        yield place
