"""Standing questions in a crash campaign: pages that change, and looks that fall due.

A look is made due in the database instead of waiting for a day. A page changes only while nothing
is under way and its last change is told, so that each change must be told by itself, once.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, permutations
from typing import Any

import psycopg
from psycopg.rows import class_row, namedtuple_row
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from bot.core.errors import StorageUnavailable
from bot.storage.standing_questions import StandingQuestions
from bot.storage.store import open_store
from tests.fakes.claude import Recorded
from tests.fakes.mortal_postgres import MortalPostgres

CHANGING = 0.7  # of the looks, those before which the page changes
FIRST_EUROS = 20
ADVICE, THINGS = (
    "Visitors are told to bring",
    ("boots", "coats", "gloves", "hats", "maps", "scarves"),
)
MOST = 1_000  # standing questions of a person

# What a look leaves when it has nothing to tell is nothing: these tables remember it.
_WITNESS = """
CREATE TABLE campaign_looks (at timestamptz, run text, place text, event text, state text);
CREATE TABLE campaign_steps (run text, key text, kind text, at timestamptz, result text);
CREATE FUNCTION campaign_look() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    one runs := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF one.options->>'watch' <> '' THEN
        INSERT INTO campaign_looks VALUES (
            clock_timestamp(), one.id, one.thread_key,
            (SELECT event_key FROM messages WHERE id = one.message_id),
            CASE TG_OP WHEN 'INSERT' THEN 'begun' WHEN 'DELETE' THEN 'gone' ELSE one.state END
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_look AFTER INSERT OR DELETE OR UPDATE OF state, thread_key ON runs
    FOR EACH ROW EXECUTE FUNCTION campaign_look();
CREATE FUNCTION campaign_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign_steps
        SELECT NEW.run_id, NEW.key, NEW.kind, NEW.at, NEW.result FROM runs
        WHERE id = NEW.run_id AND options->>'watch' <> '';
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_step AFTER INSERT ON steps
    FOR EACH ROW EXECUTE FUNCTION campaign_step();
"""

_LOOKS = (
    "SELECT at, run, place, coalesce(event, '') AS event, state FROM campaign_looks ORDER BY at"
)

_NOW = """
    SELECT told.answer, told.ended_at,
        watches.due_at <= now() OR EXISTS (
            SELECT FROM runs AS look WHERE look.thread_key LIKE '%%:watch-' || watches.id
        ) AS is_busy
    FROM watches JOIN runs AS told ON told.id = watches.run_id
        JOIN runs AS first ON first.id = watches.origin_id
        JOIN messages ON messages.id = first.message_id
    WHERE messages.event_key = %s
"""

_DUE = """
    UPDATE watches SET due_at = now() - interval '1 second'
    FROM runs JOIN messages ON messages.id = runs.message_id
    WHERE runs.id = watches.origin_id AND messages.event_key = %s
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A moment of a look's run: ``begun``, one of its states, or ``gone``."""

    at: datetime
    run: str
    place: str
    event: str
    state: str


class Piers:
    """A site with the entry fee of each pier, which changes, and advice that stands there in other
    words on each of its days, which is no change."""

    def __init__(self) -> None:
        self.days: Counter[str] = Counter()
        self.euros: dict[str, int] = defaultdict(lambda: FIRST_EUROS)
        self.app = Starlette(routes=[Route("/{pier}", self._page)])
        self.url = ""

    async def _page(self, request: Request) -> HTMLResponse:
        pier = request.path_params["pier"]
        said = f"Entry to pier {pier} costs {self.euros[pier]} euros for adults."
        return HTMLResponse(
            f"<html><head><title>Pier {pier}</title></head><body><article><h1>Pier {pier}</h1>"
            f"<p>{said}</p><p>{self._advice(pier)}</p></article></body></html>"
        )

    def _advice(self, pier: str) -> str:
        words = next(islice(permutations(THINGS), self.days[pier], None))
        return f"{ADVICE} {', '.join(words)}."

    def is_told_apart(self, request: Recorded) -> bool:
        """False for a call that each look at a pier makes in the same words: the first one."""
        body = json.dumps(request.body)
        return self.url not in body or ADVICE in body

    def named_in(self, request: Recorded) -> str:
        """The pier whose page a call is about, or ""."""
        body = json.dumps(request.body)
        return next((pier for pier in self.euros if f"{self.url}/{pier} " in body), "")

    def question(self, pier: str) -> str:
        return f"What does entry to pier {pier} cost, by {self.url}/{pier} ?"


@dataclass
class Standing:
    """The questions that are watched: the key of each one's message, and its pier."""

    postgres: MortalPostgres
    piers: Piers = field(default_factory=Piers)
    watched: dict[str, str] = field(default_factory=dict)
    did: Counter[str] = field(default_factory=Counter)

    def prepare(self) -> None:
        """Have the database remember all looks."""
        with self.postgres.connect() as db:
            db.execute(_WITNESS.encode())

    def look(self, chance: float) -> None:
        """A look at one of them falls due, perhaps after its page has changed."""
        if self.watched:
            events = list(self.watched)
            is_changing = chance * 7_919 % 1 < CHANGING
            self._look(events[int(chance * 104_729) % len(events)], is_changing=is_changing)

    def look_at_all(self) -> None:
        for event in self.watched:
            self._look(event, is_changing=False)

    def _look(self, event: str, *, is_changing: bool) -> None:
        pier = self.watched[event]
        try:
            with self.postgres.connect() as db:
                found = _row(db, event)
                if found is None:
                    asyncio.run(self._begin(event))
                elif not found.is_busy and found.ended_at is not None:
                    if is_changing and self._tells(found.answer, pier):
                        self.piers.euros[pier] += 1
                        self.did["pages changed"] += 1
                    self.piers.days[pier] += 1
                    db.execute(_DUE, [event])
                    self.did["looks due"] += 1
        except (psycopg.OperationalError, StorageUnavailable):
            self.did["looks missed, for the database was away"] += 1

    async def _begin(self, event: str) -> None:
        """Watch a question that is answered."""
        platform, _, id = event.partition(":")
        store = await open_store(self.postgres.url)
        try:
            run = await store.run_of_event(platform, id)
            if run is None or run.state not in ("answered", "partial"):
                return
            now = datetime.now(UTC)
            await StandingQuestions(store.database).begin(
                secrets.token_hex(3),
                run.id,
                run.message.author,
                run.options,
                run.message.locale,
                "daily",
                now,
                now + timedelta(days=1),
                MOST,
            )
            self.did["questions watched"] += 1
        finally:
            await store.close()

    def unsettled(self) -> list[str]:
        """The standing questions that are not watched yet, or whose change is not told."""
        with self.postgres.connect() as db:
            rows = {event: _row(db, event) for event in self.watched}
        return [
            event
            for event, row in rows.items()
            if row is None or not self._tells(row.answer, self.watched[event])
        ]

    def _tells(self, answer: Any, pier: str) -> bool:
        return f"{self.piers.euros[pier]} euros" in answer["text"][answer.get("lead") or 0 :]

    def seen(self) -> Sequence[Seen]:
        """All that ever happened to looks, in order."""
        with self.postgres.connect() as db:
            return db.cursor(row_factory=class_row(Seen)).execute(_LOOKS).fetchall()


def _row(db: psycopg.Connection[Any], event: str) -> Any:
    return db.cursor(row_factory=namedtuple_row).execute(_NOW, [event]).fetchone()


def twice(seen: Sequence[Seen]) -> list[str]:
    """Looks that were begun twice, and those of a question that ran at the same time."""
    begun = Counter(one.event for one in seen if one.state == "begun")
    wrong = [f"{event} begun {times} times" for event, times in begun.items() if times > 1]
    began: dict[str, Seen] = {}
    ended: dict[str, datetime] = {}
    for one in seen:
        if one.state == "looking":
            began.setdefault(one.run, one)
        elif one.run in began:  # it has something to tell, or is gone
            ended.setdefault(one.run, one.at)
    for place in {one.place for one in began.values()}:
        for earlier, later in pairwise(one for one in began.values() if one.place == place):
            if earlier.run not in ended or later.at < ended[earlier.run]:
                wrong.append(f"{later.event} looked at beside {earlier.event}")
    return wrong
