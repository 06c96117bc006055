"""Periodic rounds that start the checks of standing questions that are due."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from bot.core.errors import DaySpentUp, Denied, Invalid, RunLost
from bot.core.logs import get_logger
from bot.core.messages import TERMINAL, Message
from bot.core.settings import Settings
from bot.service.access import check_author
from bot.service.dispatch.dispatcher import Dispatcher
from bot.service.dispatch.pace import Rounds
from bot.service.research_service import ResearchService
from bot.service.standing.schedule import due_after
from bot.storage.standing_questions import StandingQuestions, Watch, begin_check
from bot.storage.store import Store

ROUND_SECONDS = 30.0
FIRST_SECONDS = 5.0  # until the first round at most, so that short-lived processes check too

log = get_logger()


class StandingRounds:
    """Starts due checks; any number of processes may do so at once. One transaction
    accepts the run and sets the next due time, unless another process was first.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        service: ResearchService,
        dispatcher: Dispatcher,
        platforms: Collection[str],
    ) -> None:
        self._settings = settings
        self._store = store
        self._service = service
        self._dispatcher = dispatcher
        self._platforms = platforms
        self._standing = StandingQuestions(store.database)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Run a round every ``ROUND_SECONDS`` while the block runs, the first after a random part
        of ``FIRST_SECONDS``, so that processes started together do not all check at once."""
        first = random.uniform(0.0, min(FIRST_SECONDS, ROUND_SECONDS))  # noqa: S311
        async with aclosing(
            Rounds("checking standing questions", ROUND_SECONDS, self._round, first)
        ):
            yield

    async def _round(self) -> None:
        await self.once(datetime.now(UTC))

    async def once(self, now: datetime) -> list[str]:
        """Start the checks that are due; returns their run ids. Raises ``StorageUnavailable``."""
        begun = []
        for watch in await self._standing.due(now, self._platforms):
            run_id = await self._begin(watch, now)
            begun += [run_id] if run_id else []
        return begun

    async def _begin(self, watch: Watch, now: datetime) -> str:
        """Start one check; returns its run id, or "" if none was started."""
        due = due_after(watch.schedule, watch.due_at, now)
        last = await self._store.run(watch.run)
        if last is None:
            return ""
        message = Message(
            event_id=watch.event_id,
            thread=watch.place,
            author=watch.options.standing_of(watch.author),
            text=watch.question.text,
            at=now,
            links=last.message.links,
            attachments=last.message.attachments,
            locale=watch.locale,
            audience=watch.options.audience,
        )
        said = (await self._service.reach_in(message, watch.options)).wording(watch.question)
        if said is None:
            await self._standing.skip(watch, due, now, "refused")
            return ""
        message = replace(message, text=said.text, made_from=said.made_from)
        try:
            if message.thread.platform != TERMINAL:
                check_author(self._settings, message)
            run_id, _ = await self._service.accept(
                message,
                replace(watch.options, watch=watch.id),
                owner=self._dispatcher.owner,
                together=partial(begin_check, watch=watch, due_at=due),
            )
        except RunLost as lost:
            log.debug("check begun elsewhere", watch=watch.id, error=str(lost))
            return ""
        except DaySpentUp:
            await self._standing.skip(watch, due, now, "budget")
            return ""
        except (Denied, Invalid) as refused:
            log.info("standing question refused", watch=watch.id, error=str(refused))
            await self._standing.skip(watch, due, now, "refused")
            return ""
        await self._dispatcher.submit(run_id, message.thread)
        return run_id
