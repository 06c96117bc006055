"""Document extraction in child processes, so that a large or slow document cannot block the event
loop or run forever.

The workers share a memory limit (``bot.pages.processes``). A document that needs more than the
share of one of several processes, or crashes it, is read again by the single large process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from bot.core.errors import BrowserNeeded, PageUnreadable
from bot.core.measurements import Load
from bot.core.texts import decoded, encoded, said, size
from bot.pages.page import Reading
from bot.pages.page_markdown import MOST_CHARACTERS
from bot.pages.pictures import MOST_SCANS, Picture, PictureUnread, Scans, picture_in
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.processes import (
    DEFAULT,
    NEAR_LIMIT,
    Answer,
    Shares,
    Work,
    data_of,
    peak_memory,
    text_of,
)
from bot.pages.urls import display_url
from bot.text.terms import without_controls

SECONDS = 20.0
"""Time limit for one document. The slowest of 181 news pages takes 0.2 s."""

LARGE_IDLE_SECONDS = 10.0  # until the process for large documents ends
T = TypeVar("T")
Understood = Callable[[Any, bytes], T | PageUnreadable]
NOT_READ = "## What comes after the first {:,} characters was not read"


class Workers:
    """A bounded pool of processes, started on demand, that run ``extract.from_bytes``.

    There are ``size`` of them, by default as many as the ``shares`` have room for, and one for
    documents that need more memory. ``seconds`` is the limit for one document; ``command`` is as
    for ``Pool``.
    """

    def __init__(
        self,
        size: int = 0,
        seconds: float = SECONDS,
        command: Sequence[str] = COMMAND,
        shares: Shares = DEFAULT,
    ) -> None:
        self._shares = shares
        self._pool = Pool("extract", size or shares.readers, shares.one_of_several, command=command)
        self._large: Pool | None = Pool(
            "extract", 1, shares.large, idle_seconds=LARGE_IDLE_SECONDS, command=command
        )
        self._seconds = seconds

    @classmethod
    def single_process(cls, shares: Shares) -> Workers:
        """A single process for documents that fit its memory; for others ``extract`` raises
        ``NeedsMoreMemory``.
        """
        workers = cls(1, shares=shares)
        workers._large = None
        return workers

    @property
    def load(self) -> Load:
        """How many of the processes work, and how many documents wait for one."""
        return self._pool.load

    @property
    def interrupted(self) -> int:
        """How often a document was begun again, because others waited."""
        return self._pool.interrupted

    def warm(self) -> None:
        """Start a process now if there is none, so that it is ready for the first page.

        Raises ``Unavailable`` if none can be started.
        """
        self._pool.warm()

    async def scans(self, name: str, data: bytes) -> Scans:
        """Return the pages of a PDF document without text. Raises as ``extract`` does."""
        return await self._read(data, {"scans": True, "name": name}, _as_scans)

    async def extract(self, data: bytes, media_type: str | None, name: str) -> Reading:
        """Run ``extract.from_bytes`` in a worker.

        Raises ``PageUnreadable`` like it, and for a document that takes too long or too much memory
        or crashes its reader; ``Unavailable`` if no process can be started. A text is cut to
        ``MOST_CHARACTERS``. On cancellation, the work is ended.
        """
        return await self._read(data, {"media_type": media_type, "name": name}, _understood)

    async def _read(self, data: bytes, asked: Any, understood: Understood[T]) -> T:
        ends, name = time.monotonic() + self._seconds, asked["name"]
        try:
            return await self._read_by(self._pool, data, asked, self._seconds, understood)
        except TaskFailed as failed:
            if self._large is None:
                raise self._too_large(name, self._shares.one_of_several) from failed
            rest = max(self._seconds / 2, ends - time.monotonic())
        try:
            return await self._read_by(self._large, data, asked, rest, understood)
        except TaskFailed as failed:
            if failed.reason == "memory":
                raise self._too_large(name, self._shares.large) from None
            raise PageUnreadable(
                said("unread-crashed", name=display_url(name), most=size(self._shares.large)),
                detail=str(failed),
            ) from None

    async def _read_by(
        self, pool: Pool, data: bytes, asked: Any, seconds: float, understood: Understood[T]
    ) -> T:
        try:
            outcome = await pool.ask(asked, data, seconds, understood)
        except TaskFailed as failed:
            if failed.reason == "slow":
                raise PageUnreadable(
                    said("unread-made-slow", name=display_url(asked["name"])),
                    detail=f"no result within {seconds} s",
                ) from None
            raise
        if isinstance(outcome, PageUnreadable):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        await self._pool.aclose()
        if self._large is not None:
            await self._large.aclose()

    def _too_large(self, name: str, most: int) -> NeedsMoreMemory:
        return NeedsMoreMemory(said("unread-hungry", name=display_url(name), most=size(most)))


class NeedsMoreMemory(PageUnreadable):
    """A document needs more memory than is available for it."""


def _as_scans(reply: Any, data: bytes) -> Scans | PageUnreadable:
    """Parse a worker's reply about scanned pages."""
    if not (isinstance(reply, dict) and "scans" in reply):
        return cast("PageUnreadable", _understood(reply, b""))  # a text is no reply to this
    found: list[tuple[str, Picture]] = []
    try:
        for label, size in reply["scans"]:
            picture, data = picture_in(data[:size]), data[size:]
            found += [(without_controls(label, " ").strip(), picture)] if picture else []
        return found[:MOST_SCANS], int(reply["left"])
    except (AttributeError, KeyError, TypeError, PictureUnread) as error:
        raise ValueError("an invalid reply") from error


def _understood(reply: Any, data: bytes) -> Reading | PageUnreadable:
    """Parse a worker's reply, which may be anything if a document has taken control of it."""
    match reply:
        case {
            "title": str(title),
            "canonical": str(canonical),
            "kept": int() | float() as kept,
            "omitted": dict(omitted),
        }:
            if not all(isinstance(count, int) for count in omitted.values()):
                raise ValueError("the counts of a reply are invalid")
            text = text_of(data)
            if len(text) > MOST_CHARACTERS + len(NOT_READ) + 20:
                raise ValueError("the text of a reply is too long")
            return Reading(title, text, min(1.0, max(0.0, kept)), canonical, omitted)
        case {"unreadable": str(sentence), "detail": str(detail), "for_browsers": bool(is_wall)}:
            kind = BrowserNeeded if is_wall else PageUnreadable
            return kind(decoded(sentence), detail=detail)
        case _:
            raise ValueError("an invalid reply")


# ---------------------------------------------------------------- in the child process


def open_extraction(memory: int) -> Work:
    """Return the work of a process that may allocate ``memory`` bytes."""
    import trafilatura  # noqa: F401 - slow imports, done in advance

    import bot.pages.markup  # noqa: F401
    from bot.pages import extract

    def work(asked: dict[str, Any], data: bytes) -> Answer:
        try:
            if "scans" in asked:
                from bot.pages.formats.pdf import scans_in

                scans, left = scans_in(data, asked["name"])
                sizes = [(label, len(picture)) for label, picture in scans]
                return {"scans": sizes, "left": left}, b"".join(picture for _, picture in scans)
            extracted = extract.from_bytes(data, asked["media_type"], asked["name"])
        except PageUnreadable as error:
            # When a library runs out of memory, readers take the document for empty or damaged.
            if peak_memory() > NEAR_LIMIT * memory:
                raise MemoryError from None
            is_wall = isinstance(error, BrowserNeeded)
            sentence = encoded(error.said)
            told = {"unreadable": sentence, "detail": error.detail, "for_browsers": is_wall}
            return told, b""
        text, kept = extracted.text, extracted.kept
        if len(text) > MOST_CHARACTERS:
            at = text.rfind("\n", MOST_CHARACTERS // 2, MOST_CHARACTERS)
            start = text[: at if at > 0 else MOST_CHARACTERS].rstrip()
            kept *= len(start) / len(text)
            text = f"{start}\n\n{NOT_READ.format(MOST_CHARACTERS)}"
        told = {
            "title": extracted.title,
            "canonical": extracted.canonical,
            "kept": kept,
            "omitted": dict(extracted.omitted),
        }
        return told, data_of(text)

    return work
