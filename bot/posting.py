"""The way out of the core: what an adapter implements to show a run and its answer."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from bot.answers import Answer, PlanView
from bot.errors import FootnoteError, PageUnreadable
from bot.messages import Attachment, Message, RunOptions, Thread

PostState = dict[str, Any]  # an adapter's own JSON: what it needs to find its posts again

# Tells whether the attempt at a run that the current task belongs to still holds the run.
holding: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("holding", default=None)


async def still_ours() -> None:
    """Asked by adapters before every call to their platform: a process that was suspended may come
    back when its run is another's. Outside of a run it says yes.

    Raises ``RunLost``, and ``StorageUnavailable`` when it cannot be known.
    """
    hold = holding.get()
    if hold is not None:
        await hold()


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run as an adapter knows it.

    ``save`` keeps the adapter's post state with the run. ``move`` gives the run its thread when
    that only exists once the question itself was posted (a slash command): until then the thread
    carries a name that the listener made up. Both raise ``RunLost`` and ``StorageUnavailable``.
    ``attempt`` counts the attempts at it from 1: an earlier one may have shown what nothing saved
    tells of. ``page`` is where a browser shows how the answer came about, or "". ``is_written``
    tells that an earlier attempt has written the answer: if it is posted, it stays as it is until
    it is finished again.
    """

    id: str
    message: Message
    options: RunOptions
    save: Callable[[PostState], Awaitable[None]]
    move: Callable[[Thread], Awaitable[None]]
    attempt: int = 1
    page: str = ""
    is_written: bool = False


class Reply(Protocol):
    """One answer being shown. ``finish``, ``fail`` or ``abandon`` comes last, once; the first two
    may be repeated after a crash with the same content.

    Where the poster ``amends``, ``finish`` may come again with another answer, which takes the
    place of the one before: what its verification has changed.

    They raise ``PlatformUnavailable`` when the platform cannot be reached now (the answer is kept
    and posted later) and ``PostRefused`` when posting there will never work.
    """

    def progress(self, plan: PlanView) -> None:
        """The whole plan, each time it changes; must not block, the adapter coalesces."""
        ...

    def stream(self, text: str) -> None:
        """The whole text written so far, each time it grows; must not block.

        A text that does not begin with the one before replaces it.
        """
        ...

    async def finish(self, answer: Answer) -> None: ...

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        """``answer`` has the status ``failed`` and the error's sentence as its text."""
        ...

    async def abandon(self) -> None:
        """This attempt ends without an answer (taken over, edited, shut down): show nothing more,
        and leave what was posted for the attempt that follows."""
        ...


class Unseen:
    """A reply that shows nothing: its platform cannot be reached now, or it may have nothing to
    tell (a look at a standing question)."""

    def progress(self, plan: PlanView) -> None: ...

    def stream(self, text: str) -> None: ...

    async def finish(self, answer: Answer) -> None: ...

    async def fail(self, answer: Answer, error: FootnoteError) -> None: ...

    async def abandon(self) -> None: ...


class Poster(Protocol):
    """An adapter's way out.

    ``amends`` tells that a finished answer can be shown again in its place; elsewhere an answer is
    finished only when its verification is.
    """

    amends: bool

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        """Begin a reply, or find the one that an interrupted attempt left (``saved``).

        ``saved`` may also be what the listener gave with the message. Returns as soon as a first
        sign is on its way. Raises as ``Reply`` does.
        """
        ...

    async def queued(self, run: RunRef, ahead: int) -> None:
        """Tell the asker that the question waits for ``ahead`` earlier ones of its thread."""
        ...

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        """Take the reply away, because its question was deleted; what is gone already is fine."""
        ...

    async def history(self, run: RunRef) -> Sequence[Message]:
        """The messages in the run's thread before it, oldest first, by anyone but Footnote.

        Asked for once per thread. Raises ``FootnoteError`` with the sentence why it cannot be read.
        """
        ...

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        """A file that was sent with the run's message, at most ``limit`` bytes.

        Raises ``FootnoteError``; ``PageUnreadable`` when it is larger.
        """
        ...


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The place of a message: its web address and the name of its channel, each "" if unknown.

    ``place`` is the key of the largest place whose members may all read it: the workspace, the
    channel or the thread.
    """

    url: str
    channel_name: str
    place: str


@runtime_checkable
class Locating(Protocol):
    """A poster that can locate a run's message."""

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        """The place of the run's message. Raises ``FootnoteError``."""
        ...


async def collected(chunks: AsyncIterable[bytes], attachment: Attachment, limit: int) -> bytes:
    """A file as it comes, at most ``limit`` bytes; raises ``PageUnreadable`` when it is larger."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise too_large(attachment.name, limit)
    return bytes(body)


def too_large(name: str, limit: int) -> PageUnreadable:
    return PageUnreadable(f"The file {name} is larger than {limit:,} bytes: attach a smaller one.")
