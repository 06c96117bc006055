"""Standing questions: researched again on a schedule, and posted only when the answer changes.

People begin, list, pause, resume and stop them; periodic rounds start the checks that are due. A
schedule is every day, every week, or a cron expression in UTC.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

from bot.core.errors import DaySpentUp, Denied, Invalid, RunLost, invalid
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import TERMINAL, Message, Thread
from bot.core.reader import Reach, telling
from bot.core.settings import Settings
from bot.core.texts import Texts
from bot.service.access import check_author
from bot.service.background import Rounds
from bot.service.dispatch.dispatcher import Dispatcher
from bot.service.research_service import ResearchService
from bot.storage.database import Database
from bot.storage.standing_questions import StandingQuestions, Watch, WatchState, begin_check
from bot.storage.store import RunRecord, Store

DAILY, WEEKLY = "daily", "weekly"
EVERY = {DAILY: timedelta(days=1), WEEKLY: timedelta(days=7)}
SHORTEST = timedelta(hours=1)  # between two checks
LOOKED_AHEAD = 50  # times of a cron expression compared with ``SHORTEST``


def schedule_named(words: str) -> str:
    """Return the schedule for a person's input. Raises ``Invalid``, which names the possibilities.

    A cron expression has five fields and at least an hour between two checks.
    """
    schedule = " ".join(words.lower().split()) or DAILY
    if schedule in EVERY:
        return schedule
    times = list(_times(schedule, datetime(2024, 1, 1, tzinfo=UTC), LOOKED_AHEAD))
    if not times:
        raise invalid("watch-schedule-unknown", schedule=schedule)
    if any(later - earlier < SHORTEST for earlier, later in pairwise(times)):
        raise invalid("watch-schedule-too-often", schedule=schedule)
    return schedule


def due_after(schedule: str, last: datetime, now: datetime) -> datetime:
    """Return the first time of a schedule after ``now``; missed checks are skipped.

    ``last`` is the previous due time: a daily question keeps its time of day.
    """
    every = EVERY.get(schedule)
    if every is not None:
        return last + every * max((now - last) // every + 1, 1)
    return next(_times(schedule, now.astimezone(UTC), 1))


def _times(schedule: str, after: datetime, count: int) -> Iterator[datetime]:
    """Yield the next times of a cron expression; none if it is invalid or never matches."""
    # Imported here, since it would slow every other command by some hundredths of a second.
    from croniter import CroniterError, croniter  # type: ignore[import-untyped]

    if len(schedule.split()) != 5:
        return
    try:
        turns = croniter(schedule, after)
        for _ in range(count):
            yield turns.get_next(datetime)
    except CroniterError:
        return


Person = tuple[str, str]
"""A platform, and a person's id there."""

VERBS = ("list", "pause", "resume", "stop")
_SCHEDULED = re.compile(
    r"(?:(?P<word>daily|weekly)\b[:,]?|[\"“`](?P<cron>[^\"”`]+)[\"”`])\s*", re.I
)
MOST = 10  # standing questions of one person
QUESTION = 200  # characters of a question in a list


class StandingService:
    """Lets people manage their own standing questions, and operators everyone's."""

    def __init__(self, database: Database) -> None:
        self._standing = StandingQuestions(database)

    async def begin(self, run: RunRecord, by: Message, schedule: str = DAILY) -> Watch:
        """Watch a run's question for the author of ``by``, the command or button press that
        requested it in the run's place. Raises ``Invalid`` with a sentence for the author."""
        schedule = schedule_named(schedule)
        now = datetime.now(UTC)
        watch = await self._standing.begin(
            secrets.token_hex(3),
            run.id,
            by.author,
            replace(run.options, watch="").asked_in(by),
            by.locale,
            schedule,
            now,
            due_after(schedule, now, now),
            MOST,
        )
        if watch is None:
            raise invalid("watch-too-many", most=MOST)
        return watch

    async def of_person(self, whose: Person) -> list[Watch]:
        return await self._standing.listed(*whose)

    async def all(self, thread: Thread | None = None) -> list[Watch]:
        """Return everyone's standing questions, everywhere or in one thread."""
        return await self._standing.listed(thread=thread.key if thread else None)

    async def do(self, verb: str, id: str, whose: Person | None) -> Watch:
        """Pause, resume or stop a standing question by its id, only if it is one of ``whose``, if
        given. Raises ``Invalid`` if there is no such question."""
        watch = await self._standing.watch(id.strip().lower())
        owner = watch and (watch.thread.platform, watch.author.id)
        if watch is None or whose not in (None, owner):
            raise invalid("watch-unknown", id=id)
        now = datetime.now(UTC)
        if verb == "stop":
            await self._standing.stop(watch)
            return watch
        state: WatchState = "paused" if verb == "pause" else "watching"
        due = watch.due_at if watch.due_at > now else due_after(watch.schedule, watch.due_at, now)
        await self._standing.change(watch.id, state, now, due)
        return replace(watch, state=state, due_at=due)

    async def record_interest(self, thread: Thread) -> None:
        """Record that a person has opened a thread, which is a sign of interest."""
        await self._standing.record_interest(thread, datetime.now(UTC))


def split_schedule(words: str) -> tuple[str, str]:
    """Split ``daily what …`` or ``"0 9 * * 1" what …`` into schedule and question."""
    match = _SCHEDULED.match(words.strip())
    if match is None:
        return DAILY, words.strip()
    return match["word"] or match["cron"], words.strip()[match.end() :].strip()


def watch_confirmation(watch: Watch, texts: Texts) -> str:
    return texts("watch-begun", schedule=schedule_of(watch, texts), id=watch.id)


def schedule_of(watch: Watch, texts: Texts) -> str:
    if watch.schedule in ("daily", "weekly"):
        return texts(f"watch-{watch.schedule}")
    return texts("watch-cron", schedule=watch.schedule)


def watch_lines(watches: Sequence[Watch], reach: Reach, texts: Texts) -> list[str]:
    """Return a line for each standing question, for readers with this reach."""
    told = telling(reach, texts("words-out-of-reach"))
    return [
        texts(
            "watch-line",
            id=watch.id,
            question=shortened(told(watch.question), QUESTION),
            schedule=schedule_of(watch, texts),
            state=state_of(watch, texts),
        )
        for watch in watches
    ]


def state_of(watch: Watch, texts: Texts) -> str:
    """Return the time of the next check, or that it is paused or ended; and the outcome of the last
    check."""
    due = f"{watch.due_at:%Y-%m-%d %H:%M} UTC"
    said = (
        texts("watch-due", due=due) if watch.state == "watching" else texts(f"watch-{watch.state}")
    )
    if watch.outcome and watch.looked_at is not None:
        outcome = texts(f"watch-outcome-{watch.outcome.replace('_', '-')}")
        said += texts("watch-looked", looked=f"{watch.looked_at:%Y-%m-%d}", outcome=outcome)
    return said


async def do_by_words(
    desk: StandingService, message: Message, words: str, reach: Reach, texts: Texts
) -> str | None:
    """Carry out a command other than a new question. Returns its reply: the author's list, or what
    was done; None if the words are a question to watch. Its readers have this ``reach``. Raises
    ``Invalid``."""
    whose = message.thread.platform, message.author.id
    verb, _, id = words.strip().partition(" ")
    verb = verb.lower()
    if verb in VERBS[1:] and re.fullmatch(r"[0-9a-f]{6}", id.strip().lower()):
        watch = await desk.do(verb, id, whose)
        told = telling(reach, texts("words-out-of-reach"))
        question = shortened(told(watch.question), QUESTION)
        return texts(f"watch-done-{verb}", question=question)
    if verb and (verb != "list" or id.strip()):
        return None
    lines = watch_lines(await desk.of_person(whose), reach, texts)
    return "\n".join(lines) if lines else texts("watch-none")


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
