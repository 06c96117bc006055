"""A PostgreSQL with a year of questions, and what each hot statement reads there.

The database fills itself (``plans.sql``): 400 days of a thousand workspaces and 7,000 people. Then
Footnote does once all that it does often (``DOINGS``). Each statement that it sends is explained
with ``EXPLAIN ANALYZE`` in its own transaction, right before it is carried out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.core.messages import Thread
from bot.service.dispatch.procrastinate_dispatcher import PostgresDispatcher
from bot.storage.archive import Archive, Traces
from bot.storage.console import History
from bot.storage.conversations import Conversations
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.meter import Meter
from bot.storage.overview import AskedQuestions, Overviews, of_days
from bot.storage.removal import Keep, Retention
from bot.storage.spending import SCOPES, Holder, Payer, Reservation, Reservations, Spending
from bot.storage.store import Store
from bot.storage.word_search import FoundWords
from bot.storage.workspaces import Opinion, Workspaces
from tests.unit.storage.past import Past, pages

STEPS = 2  # of each run
DAYS = 400
LARGE = ("messages", "runs", "steps", "pages", "run_pages", "citations", "found_words", "spending")
SHARE = 0.1  # of a table: more is as good as all of it
# Sums over all there is. The meter takes them for a hundredth of its time (``meter._Seldom``), and
# a workspace is forgotten once.
SELDOM = (
    "SELECT spending.platform, sum(spending.micro_usd)",
    "SELECT runs.state, count(*) AS counted \nFROM runs \nWHERE (runs.state NOT IN",
    "SELECT count(*) AS count_1 \nFROM spending",
    "DELETE FROM spending WHERE spending.platform",
)

OTHER_WORKER = "another/1/x"  # that holds no run
FILLING = Path(__file__).with_suffix(".sql")


async def fill(store: Store, runs: int) -> None:
    """Threads, messages, runs and what belongs to them, and what the planner knows of them."""
    async with store.database.long_write() as db:
        script = FILLING.read_text().replace(":runs", str(runs)).replace(":steps", str(STEPS))
        for statement in script.split(";\n"):
            await db.exec_driver_sql(statement, execution_options={"no_parameters": True})
    while await FoundWords(store.database).index():
        pass
    async with store.database.long_read() as db:
        await db.execute(sa.text("SET statement_timeout = 0"))
        await db.execute(sa.text("VACUUM ANALYZE"))
        await db.execute(sa.text("RESET statement_timeout"))


# ---------------------------------------------------------------- what is done


@dataclass(frozen=True, slots=True)
class Scene:
    """A filled store, the URL of its database and one of its runs."""

    store: Store
    url: str
    now: datetime
    runs: int

    async def some_run(self) -> tuple[str, Thread]:
        """A run of yesterday that was answered, with its thread."""
        run = await self.store.run_of_event("slack", f"q{self.runs - self.runs // DAYS - 2}")
        assert run is not None
        return run.id, run.message.thread

    @property
    def past(self) -> Past:
        """Somebody who asks now."""
        thread = Thread("slack", "T1", "C1", "now")
        return Past(self.store, self.now, thread)


async def asking(scene: Scene) -> None:
    """A question from its event to its end, and all that a dispatcher asks meanwhile."""
    past, store, now = scene.past, scene.store, scene.now
    conversations = Conversations(store.database)
    await past.hear("Good morning.")
    run_id = await past.answered(cited=pages("a", "b", at=now), read=pages("c", at=now), steps=3)
    message = past.message("And how wide?", "ada")
    await conversations.takes_part(past.thread)
    await conversations.knows("slack", message.event_id)
    run, _ = await past.begun(asked="And how high?")
    await store.transcript(run.message)
    await store.recent_page("https://example.org/a", now - timedelta(days=1))
    payer = Payer.of(message)
    holder = Holder(run.id, run.attempt, now, payer)
    reservations = Reservations(store.database)
    call = Reservation("r", holder, "gathering", SCOPES, 1_000)
    await reservations.begin(call, now, lambda *spent: True)
    await reservations.end("r")
    await store.renew(OTHER_WORKER, [run.id], now)
    await store.standing([run.id, run_id])
    await store.save_post_state(run.id, run.attempt, {"ts": "1"})
    await store.earlier_unfinished(run.id)
    await store.may_claim(run.id, OTHER_WORKER, now)
    await conversations.ahead_of(run.id)
    await conversations.unfinished_in(past.thread)
    await conversations.unfinished_of("ada", "slack", "T1", "C1")
    await store.request_stop(run.id)
    await store.stopped_in_waiting(OTHER_WORKER, now)
    await store.end(run.id, run.attempt, "stopped", now)
    await conversations.edit("slack", "e3", "How deep?", (), now, owner=None, lease=timedelta())
    await conversations.remove("slack", "e3", now, owner=None, lease=timedelta())


class _Nothing:
    """Answers no question."""

    async def answer(self, run: object, stop: asyncio.Event) -> None:
        """Nothing to do."""


async def dispatching(scene: Scene) -> None:
    """The statements of a worker every few seconds, and of a process that starts."""
    await scene.store.unfinished(scene.now, ["slack"])
    async with PostgresDispatcher(
        scene.url, scene.store, _Nothing(), 0, platforms=["discord"]
    ) as dispatcher:
        await dispatcher.resume()
        await dispatcher.condition()


async def listing(scene: Scene) -> None:
    """`footnote threads` and `footnote show`."""
    archive = Archive(scene.store.database)
    await archive.threads(20)
    _, thread = await scene.some_run()
    await archive.conversation(thread)


async def usage(scene: Scene) -> None:
    """`footnote usage` and a workspace's home."""
    today = scene.now.date()
    await Spending(scene.store.database).lines(today - timedelta(days=29), today)
    workspaces = Workspaces(scene.store.database)
    await workspaces.use("slack", "T1", scene.now - timedelta(days=30))


async def metrics(scene: Scene) -> None:
    meter = Meter(scene.store.database, scene.now - timedelta(minutes=5))
    await meter.try_to_write()
    await meter.look()
    await meter.look()


async def overview(scene: Scene) -> None:
    """The operator's pages of the console over thirty days, of all places and of one."""
    database = scene.store.database
    everywhere = of_days(scene.now.date(), 30)
    overviews, asked = Overviews(database), AskedQuestions(database)
    for scope in (everywhere, replace(everywhere, platform="slack", workspace="T1")):
        await overviews.look(scope)
        await asked.unanswered(scope)
        await asked.feedback(scope)
        await asked.by_place(scope)
        await asked.quoted(scope)
    await overviews.places()


async def console(scene: Scene) -> None:
    """Somebody's conversations, and the page of a run."""
    database = scene.store.database
    history, words = History(database), FoundWords(database)
    latest = await history.latest("U7", 30)
    await history.latest("U7", 30, before=latest[-1].place)
    await history.latest(None, 30)
    await history.pinned("U7")
    await history.called(["tower"], "U7", 30)
    await words.index()
    for channel in ("U7", None):
        await words.search("tower 2000", channel, 20)
    run_id, _ = await scene.some_run()
    await Traces(scene.store).run(run_id)
    await Workspaces(database).keep_feedback(run_id, "U7", Opinion("good"))


async def pruning(scene: Scene) -> None:
    """Prune the oldest day."""
    age = timedelta(days=DAYS - 1)
    keep = Keep(age, age, age, age)
    await Retention(scene.store.database, keep).prune(scene.now)


async def forgetting(scene: Scene) -> None:
    """Forget a thread, a person and a workspace."""
    work = Forgetting(scene.store.database)
    _, thread = await scene.some_run()
    for subject in (
        Subject("thread", "slack", thread.key),
        Subject("person", "slack", "U5"),
        Subject("workspace", "slack", "T2"),
    ):
        tomorrow = scene.now.date() + timedelta(days=1)
        await work.count(subject, tomorrow)
        request = await work.ask(subject, scene.now)
        await work.unfinished(subject)
        await work.worked_on(subject, scene.now)
        await work.remove(request)
        await work.remove_spending(subject, tomorrow)
        await work.delete_request(request)


Doing = Callable[[Scene], Awaitable[None]]
DOINGS: tuple[Doing, ...] = (
    asking,
    dispatching,
    listing,
    usage,
    metrics,
    overview,
    console,
    pruning,
    forgetting,
)

# ---------------------------------------------------------------- what is read


@dataclass(frozen=True, slots=True)
class Explained:
    """A statement with its plan as PostgreSQL tells it."""

    statement: str
    plan: Mapping[str, Any]

    def nodes(self) -> Iterator[Mapping[str, Any]]:
        left = [self.plan]
        while left:
            node = left.pop()
            yield node
            left += node.get("Plans", ())

    def long_reads(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Describe each node that scans a large table or reads more than a tenth of one; ``sizes``
        are rows by table."""
        if self.statement.startswith(SELDOM):
            return
        for node in self.nodes():
            table = node.get("Relation Name")
            if table not in LARGE or "Actual Loops" not in node:
                continue
            passed = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
            rows = sum(node.get(name, 0) for name in passed) * node["Actual Loops"]
            if node["Node Type"] == "Seq Scan" and node["Actual Loops"]:
                yield f"Seq Scan on {table}"
            elif rows > SHARE * sizes[table] and rows > 1_000:
                yield f"{node['Node Type']} reads {rows:,.0f} of {sizes[table]:,} rows of {table}"


@contextmanager
def explaining(store: Store) -> Iterator[list[Explained]]:
    """Explain each statement, once, that goes to the store while the block runs."""
    found: list[Explained] = []
    seen = set[str]()
    engine = store.database._writer.sync_engine

    def before(
        connection: Any, cursor: Any, statement: str, given: Any, context: Any, is_many: bool
    ) -> None:
        if statement in seen or not statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
            return
        seen.add(statement)
        driver = connection.connection
        explain = driver.cursor()
        changes, alone = not statement.startswith("SELECT"), driver.autocommit
        if changes:
            explain.execute("BEGIN" if alone else "SAVEPOINT explained")
        explain.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", given[0] if is_many else given
        )
        told = explain.fetchone()[0]
        if changes:
            explain.execute("ROLLBACK" if alone else "ROLLBACK TO explained")
        explain.close()
        told = (json.loads(told) if isinstance(told, str) else told)[0]
        found.append(Explained(statement, told["Plan"]))

    sa.event.listen(engine, "before_cursor_execute", before)
    try:
        yield found
    finally:
        sa.event.remove(engine, "before_cursor_execute", before)


async def sizes_of(store: Store) -> dict[str, int]:
    """The number of rows of each large table."""
    async with store.database.long_read() as db:
        return {
            table: int(await db.scalar(sa.text(f"SELECT count(*) FROM {table}")) or 0)
            for table in LARGE
        }
