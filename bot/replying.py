"""The runner of a reply: what every platform that is slower than a run needs to show one.

A run tells its whole state each time it changes. One task brings the latest of it out at the
platform's pace, waits while the platform is away, and has ended before the answer is shown. An
adapter gives a ``Display``, which renders, calls its platform and knows no time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from bot.answers import Answer, PlanView
from bot.errors import FootnoteError, PlatformUnavailable, RunLost, StorageUnavailable
from bot.logs import get_logger
from bot.posting import Reply, RunRef

LONGEST_WAIT = 10.0  # seconds from one try to the next while a platform is away and says no time

log = get_logger()


@dataclass(frozen=True, slots=True)
class View:
    """All that a run has told so far: its plan, without steps at first, and the text written."""

    plan: PlanView
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of a platform, in seconds.

    ``between`` passes from one show of a reply to the next, ``backoff`` before the second try to
    reach a platform that is away; each further wait is twice as long. Opening a reply waits
    ``first_sign`` for something to be seen, None: as long as that takes. After ``refresh`` without
    news the view is shown again, None: never.
    """

    between: float
    backoff: float
    first_sign: float | None = None
    refresh: float | None = None


class Display(Protocol):
    """The place of one reply on its platform; inherit from it for what most leave out.

    All may raise ``RunLost`` and ``StorageUnavailable``, ``PlatformUnavailable`` when the platform
    cannot be reached now, and ``PostRefused`` when it says no.
    """

    async def begin(self, view: View) -> bool:
        """Give a first sign, or find what an earlier attempt left; whether the view is to be shown
        at once, although nothing was told yet."""
        return True

    def told(self, view: View) -> None:
        """The run has told something; must not block."""
        return

    def due(self) -> float:
        """Seconds until the platform may be asked to show something; 0.0 takes the turn."""
        return 0.0

    async def show(self, view: View) -> bool:
        """Show a run at work. False when that took more than one call: it is called again."""
        ...

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        """Have exactly the answer there, or why there is none; ``view`` is what was told last.

        Begins by saving the post state, which an attempt that lost its run cannot.
        """
        ...

    def close(self) -> None:
        """This attempt shows nothing more."""
        return


async def open_reply(run: RunRef, display: Display, pace: Pace) -> Reply:
    """A reply that has begun. Raises what ``Display.begin`` raises, and what makes it pointless to
    show anything."""
    reply = _Runner(run, display, pace)
    try:
        await reply.begun()
    except BaseException:
        await reply.abandon()
        raise
    return reply


class _Runner:
    """See ``bot.posting.Reply``."""

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

    async def begun(self) -> None:
        """Return once a first sign is there, or on its way for long enough."""
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
            self._display.told(view)
            self._news.set()

    async def finish(self, answer: Answer) -> None:
        await self._end(answer, None)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        await self._end(answer, error)

    async def _end(self, answer: Answer, error: FootnoteError | None) -> None:
        self._ending.set()
        # A call under way is waited for: it must not arrive after the answer's.
        await asyncio.wait({self._sender})
        if not self._sender.cancelled() and isinstance(self._sender.exception(), RunLost):
            self._sender.result()
        await self._display.finish(answer, error, self._view)

    async def abandon(self) -> None:
        self._ending.set()
        self._sender.cancel()
        await asyncio.wait({self._sender})
        if not self._sender.cancelled():
            self._sender.exception()  # whatever it was, this attempt is over
        self._display.close()

    # ------------------------------------------------------------ while it works

    async def _send(self) -> None:
        try:
            shows = await self._display.begin(self._view)
            # An answer that an earlier attempt has written may be there, and stays.
            (self._news if shows and not self._run.is_written else self._seen).set()
            await self._keep_showing()
        except FootnoteError as error:
            # The answer will find out whether this lasts.
            log.info("progress not shown", run=self._run.id, error=str(error))
            self._display.close()
            raise
        except Exception as broken:
            log.error("showing progress broke", run=self._run.id, error=repr(broken))
            log.debug("showing progress broke here", run=self._run.id, exc_info=True)
            raise
        finally:
            self._seen.set()  # nothing more will come

    async def _keep_showing(self) -> None:
        """Show what is new until the reply ends. Raises what makes showing more pointless."""
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
                self._seen.set()

    async def _turn(self) -> bool:
        """Wait for news, and until they may be shown; False at the end."""
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
    """Return when one of the events is set, or after so many seconds."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
