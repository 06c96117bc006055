"""The outgoing interface of the core: what an adapter implements to show a run and its answer."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from bot.core.errors import FootnoteError, PageUnreadable
from bot.core.messages import Answer, Attachment, Message, PlanView, RunOptions, Thread

PostState = dict[str, Any]  # an adapter's own JSON, with which it finds its posts again

# Checks whether the current task's attempt still holds its run.
holding: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("holding", default=None)


async def still_ours() -> None:
    """Check that this attempt still holds its run. Adapters call it before every platform call: a
    suspended process may resume after another has taken over. Does nothing outside of a run.

    Raises ``RunLost``, and ``StorageUnavailable`` if the database does not answer.
    """
    hold = holding.get()
    if hold is not None:
        await hold()


PREVIEWS = "previews"  # in the post state: where previews of the answer are shown


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run as an adapter knows it.

    ``save`` stores the adapter's post state with the run. ``move`` moves the run to its real
    thread, for threads that exist only after the question itself is posted (a slash command); until
    then the thread has a name invented by the listener. Both raise ``RunLost`` and
    ``StorageUnavailable``. ``attempt`` counts from 1: an earlier attempt may have posted something
    without saving its state. ``page`` is the address of the console page about the run, or "".
    ``is_written`` is True if an earlier attempt has written the answer: if posted, it stays
    unchanged until it is finished again.
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
    """One answer being shown. The last call is ``finish``, ``fail`` or ``abandon``; the first two
    may be repeated with the same content after a crash.

    If the poster ``amends``, ``finish`` may be called again with an answer amended by verification,
    which replaces the previous one.

    They raise ``PlatformUnavailable`` when the platform cannot be reached now (the answer is stored
    and posted later) and ``PostRefused`` when posting there will never work.
    """

    def progress(self, plan: PlanView) -> None:
        """Receive the whole plan each time it changes. Must not block: the adapter merges
        updates."""
        ...

    def stream(self, text: str) -> None:
        """Receive the whole text so far each time it grows. Must not block.

        A text that does not begin with the previous one replaces it.
        """
        ...

    async def finish(self, answer: Answer) -> None: ...

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        """Show an error; ``answer`` has the status ``failed`` and the error's sentence as its
        text."""
        ...

    async def abandon(self) -> None:
        """End this attempt without an answer (taken over, edited, shut down): show nothing more,
        and leave the posts for the next attempt."""
        ...


@runtime_checkable
class Delayed(Protocol):
    """A reply that lags. ``shown`` returns when all that it was told is visible, or will not be."""

    async def shown(self) -> None: ...


class Unseen:
    """A reply that shows nothing, because its platform cannot be reached now, or because there may
    be nothing to report (a check of a standing question)."""

    def progress(self, plan: PlanView) -> None: ...

    def stream(self, text: str) -> None: ...

    async def finish(self, answer: Answer) -> None: ...

    async def fail(self, answer: Answer, error: FootnoteError) -> None: ...

    async def abandon(self) -> None: ...


class Poster(Protocol):
    """The outgoing side of an adapter.

    ``amends`` is True if the adapter can replace a finished answer in place; otherwise an answer is
    finished only after its verification.
    """

    amends: bool

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        """Begin a reply, or find the one left by an interrupted attempt (``saved``).

        ``saved`` may also be the state that the listener stored with the message. Returns as soon
        as a first sign is on its way. Raises as ``Reply`` does.
        """
        ...

    async def queued(self, run: RunRef, ahead: int) -> None:
        """Tell the asker that ``ahead`` earlier questions of the thread come first."""
        ...

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        """Remove the reply because its question was deleted; succeeds if it is already gone."""
        ...

    async def history(self, run: RunRef) -> Sequence[Message]:
        """Return the messages before the run in its thread, oldest first, without Footnote's own.

        Called once per thread. Raises ``FootnoteError``, which says why it cannot be read.
        """
        ...

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        """Return a file sent with the run's message, at most ``limit`` bytes.

        Raises ``FootnoteError``; ``PageUnreadable`` when it is larger.
        """
        ...


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The location of a message: its web address and its channel's name, each "" if unknown.
    ``place`` is the key of the widest audience that may read it: the workspace, the channel or the
    thread.
    """

    url: str
    channel_name: str
    place: str


@runtime_checkable
class Locating(Protocol):
    """A poster that can locate a run's message."""

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        """Return the location of the run's message. Raises ``FootnoteError``."""
        ...


async def collect(chunks: AsyncIterable[bytes], attachment: Attachment, limit: int) -> bytes:
    """Collect a file's chunks, at most ``limit`` bytes; raises ``PageUnreadable`` if it is
    larger."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise too_large(attachment.name, limit)
    return bytes(body)


def too_large(name: str, limit: int) -> PageUnreadable:
    return PageUnreadable(f"The file {name} is larger than {limit:,} bytes: attach a smaller one.")
