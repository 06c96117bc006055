"""The runner of a reply: shows a run on a platform that is slower than the run.

A run reports its whole state each time it changes. One task shows the latest state at the
platform's pace, waits while the platform is away, and ends before the answer is shown. The adapter
provides a ``Display``, which renders and calls the platform without any timing of its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from bot.core.errors import FootnoteError, PlatformUnavailable, RunLost, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Answer, PlanView
from bot.core.posting import Reply, RunRef

LONGEST_WAIT = 10.0  # seconds between tries while a platform is away and names no delay

log = get_logger()


@dataclass(frozen=True, slots=True)
class View:
    """Everything a run has reported so far: its plan, initially without steps, and its text."""

    plan: PlanView
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of a platform, in seconds.

    ``between`` is the minimum time between two updates of a reply. ``backoff`` is the wait before
    the second try to reach a platform that is away; each further wait is twice as long. Opening a
    reply waits up to ``first_sign`` until something is visible (None: without limit). After
    ``refresh`` without changes the view is shown again (None: never).
    """

    between: float
    backoff: float
    first_sign: float | None = None
    refresh: float | None = None


class Display(Protocol):
    """One reply on its platform; subclass it to inherit the optional methods.

    All may raise ``RunLost`` and ``StorageUnavailable``, ``PlatformUnavailable`` when the platform
    cannot be reached now, and ``PostRefused`` when it refuses the post.
    """

    async def begin(self, view: View) -> bool:
        """Show a first sign, or find the posts of an earlier attempt. Returns True if the view
        should be shown at once, before the run has reported anything."""
        return True

    def view_changed(self, view: View) -> None:
        """Receive a change of the view; must not block."""
        return

    def due(self) -> float:
        """Return the seconds until the platform may be called; 0.0 reserves the call."""
        return 0.0

    async def show(self, view: View) -> bool:
        """Show a run in progress. Returns False if more calls are needed: it is then called
        again."""
        ...

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        """Show exactly the answer, or the error; ``view`` is the last view.

        Saves the post state first, which fails if this attempt has lost its run.
        """
        ...

    def close(self) -> None:
        """Clean up: this attempt shows nothing more."""
        return


async def open_reply(run: RunRef, display: Display, pace: Pace) -> Reply:
    """Open a reply and begin to show it. Raises the errors of ``Display.begin``, and those that
    make showing anything pointless."""
    reply = _Runner(run, display, pace)
    try:
        await reply.wait_for_first_sign()
    except BaseException:
        await reply.abandon()
        raise
    return reply


class _Runner:
    """See ``bot.core.posting.Reply``."""

    def __init__(self, run: RunRef, display: Display, pace: Pace) -> None:
        self._run = run
        self._display = display
        self._pace = pace
        self._nothing = self._view = View(PlanView(run.message.text, ()))
        self._news = asyncio.Event()
        self._seen = asyncio.Event()
        self._ending = asyncio.Event()
        self._clock = asyncio.get_running_loop().time
        self._shown_at = float("-inf")
        self._sender = asyncio.create_task(self._send())

    async def wait_for_first_sign(self) -> None:
        """Wait for a first sign, at most ``Pace.first_sign`` seconds."""
        await _first(self._seen, seconds=self._pace.first_sign)
        if self._sender.done():
            self._sender.result()

    # ------------------------------------------------------------ what the run tells

    def progress(self, plan: PlanView) -> None:
        self._tell(replace(self._view, plan=plan))

    def stream(self, text: str) -> None:
        self._tell(replace(self._view, text=text))

    def _tell(self, view: View) -> None:
        if self._ending.is_set():
            return
        self._view = view
        if not self._sender.done():
            self._display.view_changed(view)
            self._news.set()

    async def shown(self) -> None:
        if not self._sender.done():
            self._seen.clear()
            await self._seen.wait()

    async def finish(self, answer: Answer) -> None:
        await self._end(answer, None)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        await self._end(answer, error)

    async def _end(self, answer: Answer, error: FootnoteError | None) -> None:
        self._ending.set()
        # Wait for a call in progress: it must not arrive after the answer.
        await asyncio.wait({self._sender})
        if not self._sender.cancelled() and isinstance(self._sender.exception(), RunLost):
            self._sender.result()
        await self._display.finish(answer, error, self._view)

    async def abandon(self) -> None:
        self._ending.set()
        self._sender.cancel()
        await asyncio.wait({self._sender})
        if not self._sender.cancelled():
            self._sender.exception()  # ignored: this attempt is over
        self._display.close()

    # ------------------------------------------------------------ while it works

    async def _send(self) -> None:
        try:
            shows = await self._display.begin(self._view)
            # An earlier attempt may have posted its answer, which must stay.
            (self._news if shows and not self._run.is_written else self._seen).set()
            await self._keep_showing()
        except FootnoteError as error:
            # If the problem persists, posting the answer will report it.
            log.info("progress not shown", run=self._run.id, error=str(error))
            self._display.close()
            raise
        except Exception as broken:
            log.error("showing progress broke", run=self._run.id, error=repr(broken))
            log.debug("showing progress broke here", run=self._run.id, exc_info=True)
            raise
        finally:
            self._seen.set()  # do not keep ``wait_for_first_sign`` waiting

    async def _keep_showing(self) -> None:
        """Show changes until the reply ends. Raises errors that make showing more pointless."""
        tries = 0
        while await self._turn():
            self._news.clear()
            self._shown_at = self._clock()
            try:
                if not await self._display.show(self._view):
                    self._news.set()
            except (PlatformUnavailable, StorageUnavailable) as away:
                log.info("progress not shown yet", run=self._run.id, error=str(away))
                self._news.set()
                wait = min(self._pace.backoff * 2**tries, LONGEST_WAIT)
                tries = min(tries + 1, 10)
                await _first(self._ending, seconds=away.retry_after or wait)
            else:
                tries = 0
                if not self._news.is_set():
                    self._seen.set()

    async def _turn(self) -> bool:
        """Wait for a change and until it may be shown; returns False at the end."""
        while not self._ending.is_set():
            refresh = self._pace.refresh if self._view is not self._nothing else None
            await _first(self._news, self._ending, seconds=refresh)
            wait = self._shown_at + self._pace.between - self._clock()
            if wait <= 0:
                wait = self._display.due()
            if wait <= 0:
                break
            await _first(self._ending, seconds=wait)
        return not self._ending.is_set()


async def _first(*events: asyncio.Event, seconds: float | None) -> None:
    """Return when one of the events is set, or after ``seconds``."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
