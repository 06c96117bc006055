"""The parts of a platform that the poster contract needs: its fake, a connected poster, outages.

A new platform implements ``PlatformHarness`` and adds itself to ``PLATFORMS`` in ``test_poster``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from bot.core.errors import RunLost
from bot.core.messages import Answer, Attachment, Message, RunOptions, Thread
from bot.core.posting import Poster, PostState, RunRef


class PlatformHarness(Protocol):
    """A platform with people and with Footnote, as a test sees and disturbs it."""

    splits: bool  # whether a long answer becomes several messages
    cards: bool  # whether every quote also stands in a card over its mark

    # ---- what people do

    def ask(self, text: str) -> Message:
        """Somebody asks in a channel, which begins a thread."""
        ...

    def ask_in(self, earlier: Message, text: str) -> Message:
        """Somebody else asks in the thread of an earlier message."""
        ...

    def say_in(self, earlier: Message, text: str) -> None:
        """Somebody says something there that is no question."""
        ...

    def share(self, name: str, body: bytes) -> Attachment:
        """Somebody shares a text file."""
        ...

    # ---- Footnote's way out

    def poster(self) -> Poster:
        """A poster as another process would make it: it knows nothing of the others."""
        ...

    # ---- what is to be seen

    def shown(self, message: Message) -> list[str]:
        """The texts of Footnote's messages in the thread, in order, each with all its parts."""
        ...

    def whole(self, message: Message, answer: Answer) -> str:
        """The same texts with the part of the answer that their button shows, if they have one."""
        ...

    def whispers(self, message: Message) -> list[str]:
        """The messages that only the author of ``message`` sees."""
        ...

    def buttons(self, message: Message) -> list[str]:
        """The labels of all buttons in the thread."""
        ...

    def at_work(self, message: Message) -> bool:
        """Return True if anything tells that Footnote is working."""
        ...

    def pings(self, message: Message) -> list[str]:
        """The mentions in Footnote's messages that would reach anybody."""
        ...

    async def until(self, message: Message, words: str) -> None:
        """Wait until Footnote's messages in the thread hold these words."""
        ...

    # ---- bad weather

    def down(self) -> None: ...

    def up(self) -> None: ...

    def limit(self, times: int) -> None:
        """The next calls that post or change anything are told to wait a second."""
        ...

    def cut(self) -> None:
        """The next call that posts takes effect, but its answer is lost."""
        ...

    def close_channel(self, message: Message) -> None:
        """From now on nobody can post where the message is."""
        ...


@dataclass
class Desk:
    """Keeps a run's post state as the store would: as JSON, for the attempt that holds the run."""

    message: Message
    run_id: str = "run0a1b2c3d"
    options: RunOptions = field(default_factory=RunOptions)
    saved: PostState | None = None
    attempt: int = 0
    moved: list[Thread] = field(default_factory=list)

    def run(self, *, is_written: bool = False) -> RunRef:
        """The run for its next attempt; the ones before lose it."""
        self.attempt += 1
        attempt = self.attempt

        def holds() -> None:
            if attempt != self.attempt:
                raise RunLost("Another attempt has taken the run over.")

        async def save(state: PostState) -> None:
            holds()
            self.saved = json.loads(json.dumps(state))

        async def move(thread: Thread) -> None:
            holds()
            self.moved.append(thread)
            self.message = replace(self.message, thread=thread)

        page = f"https://footnote.example.com/runs/{self.run_id}"
        return RunRef(
            self.run_id, self.message, self.options, save, move, attempt, page, is_written
        )


def joined(texts: Sequence[str]) -> str:
    return "\n".join(texts)
