"""Actions on standing questions: begin, list, pause, resume, stop."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.core.lines import shortened
from bot.core.messages import Message, Thread
from bot.core.reader import Reach, telling
from bot.core.texts import Texts, invalid
from bot.service.standing.schedule import DAILY, due_after, schedule_named
from bot.storage.database import Database
from bot.storage.standing_questions import StandingQuestions, Watch, WatchState
from bot.storage.store import RunRecord

Person = tuple[str, str]
"""A platform, and a person's id there."""

VERBS = ("list", "pause", "resume", "stop")
_SCHEDULED = re.compile(
    r"(?:(?P<word>daily|weekly)\b[:,]?|[\"“`](?P<cron>[^\"”`]+)[\"”`])\s*", re.I
)
MOST = 10  # standing questions of one person
QUESTION = 200  # characters of a question in a list


class Desk:
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
        """Return the standing questions of a person."""
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
    """Return the sentence that confirms a new standing question."""
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
    desk: Desk, message: Message, words: str, reach: Reach, texts: Texts
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
