"""Posts an answer while its sentences are still being verified, and amends it in place.

The answer is posted at once, with the marks from the first step of its check. Each amendment is
stored before it is shown, and the run ends after the last one. If the process dies in between, the
posted answer stays pending; the next attempt posts it again and continues to verify it.
"""

from __future__ import annotations

import asyncio

from bot.core.errors import PlatformUnavailable, PostRefused, RunLost, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Answer
from bot.core.posting import Reply
from bot.service.investigation import Investigation, looks_alike, unverified
from bot.storage.store import RunRecord, Store

STOPPED = "The verification was stopped."
BROKE = "The verification failed unexpectedly; see the log."
UNVERIFIED = "Its verification was switched off."

log = get_logger()


class Posting:
    """See the module docstring. With ``is_verified_first``, nothing is posted until the
    verification ends."""

    def __init__(
        self,
        store: Store,
        record: RunRecord,
        reply: Reply,
        work: Investigation,
        *,
        is_verified_first: bool,
    ) -> None:
        self._store = store
        self._record = record
        self._reply = reply
        self._work = work
        self._is_verified_first = is_verified_first

    async def finish(self, answer: Answer, stop: asyncio.Event) -> Answer:
        """Show the answer and each amendment; returns the final answer.

        A stop ends the verification. Raises as ``Reply`` does, and ``StorageUnavailable``.
        """
        found: asyncio.Queue[Answer | None] = asyncio.Queue()
        verifying = asyncio.create_task(self._verify(answer, found))
        stopping = asyncio.create_task(_cancel_after(stop, verifying))
        shown: Answer | None = None
        away: PlatformUnavailable | None = None
        try:
            if not self._is_verified_first:
                self._work.stop_progress()
                try:
                    await self._reply.finish(answer)
                    shown = answer
                except PlatformUnavailable as error:
                    away = error  # the verification has begun and goes on; raised after it
            while (latest := await _newest(found)) is not None:
                answer = latest
                await self._store.save_answer(
                    self._record.id, self._record.attempt, answer, self._work.page_numbers
                )
                if shown is not None and not looks_alike(shown, answer):
                    try:
                        await self._reply.finish(answer)
                    except PostRefused as refused:  # the first version stays posted
                        log.warning("answer not amended", run=self._record.id, error=str(refused))
                    shown = answer
            await verifying  # raises errors that leave the run unfinished
            if away is not None:
                raise away
            if shown is None:
                await self._reply.finish(answer)
        finally:
            for task in (stopping, verifying):
                task.cancel()
            await asyncio.gather(stopping, verifying, return_exceptions=True)
        return answer

    async def _verify(self, answer: Answer, found: asyncio.Queue[Answer | None]) -> None:
        """Put each amendment into ``found``, then None; the last one is not ``pending``."""
        problem = ""
        try:
            async for answer in self._work.amendments():
                found.put_nowait(answer)
            if answer.is_pending:  # settings may have changed since an earlier attempt
                problem = UNVERIFIED
        except asyncio.CancelledError:
            problem = STOPPED
        except (RunLost, StorageUnavailable):
            raise
        except Exception as error:
            problem = BROKE
            log.error("verification broke", run=self._record.id, error=repr(error))
            log.debug("verification broke here", run=self._record.id, exc_info=True)
        finally:
            if problem:
                found.put_nowait(unverified(answer, problem))
            found.put_nowait(None)


async def _newest(found: asyncio.Queue[Answer | None]) -> Answer | None:
    """The latest amendment that is ready, waiting for one if need be; None after the last."""
    latest = await found.get()
    while latest is not None and not found.empty():
        later = found.get_nowait()
        if later is None:
            found.put_nowait(None)
            break
        latest = later
    return latest


async def _cancel_after(stop: asyncio.Event, work: asyncio.Task[None]) -> None:
    await stop.wait()
    work.cancel()
