"""Live updates: each thread with viewers has a feed of the current state of its runs.

A poster in this process reports changes of its reply at once. Runs of other processes are looked up
in the database, in one query for all threads with viewers: when PostgreSQL signals that a run has
changed, and at intervals. With SQLite, or while no signals arrive, only the intervals remain.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from adapters.web.display import texts_of
from adapters.web.limits import (
    HEARTBEAT_SECONDS,
    SECONDS_BETWEEN_EVENTS,
    SECONDS_BETWEEN_IDLE_LOOKS,
    SECONDS_BETWEEN_LOOKS,
)
from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Answer, PlanView, Thread
from bot.core.posting import PostState
from bot.storage.database import Database
from bot.storage.postgres import RunSignals
from bot.storage.store import RunRecord
from bot.storage.tables import UNFINISHED, runs


@dataclass(frozen=True, slots=True)
class ReplyState:
    """The state of a reply, which is unfinished until it has an ``answer``.

    ``turn`` counts the attempts and ``change`` the changes of an attempt; ``mark`` identifies a
    state of the reply. ``ahead`` is the number of the thread's questions that are answered first;
    ``fresh`` tells that an edited question is answered again. ``text`` is the text of the answer so
    far.
    """

    turn: int = 0
    change: int = 0
    mark: str = "0.0"
    ahead: int = 0
    fresh: bool = False
    plan: PlanView | None = None
    text: str = ""
    answer: Answer | None = None

    def json(self) -> PostState:
        state: PostState = _adapter.dump_python(self, mode="json")
        return state


_adapter = TypeAdapter(ReplyState)


def parse_state(state: PostState | None) -> ReplyState:
    """Parse the state that an earlier attempt saved; empty if there was none."""
    return ReplyState() if state is None else _adapter.validate_python(state)


def next_state(before: ReplyState, **changes: object) -> ReplyState:
    """Return the next state of a reply."""
    change = before.change + 1
    mark = f"{before.turn}.{change}"
    return replace(before, **changes, change=change, mark=mark)  # type: ignore[arg-type]


def next_turn(before: ReplyState) -> ReplyState:
    """Return the first state of a new attempt at a reply."""
    turn = before.turn + 1
    return replace(before, turn=turn, change=0, mark=f"{turn}.0")


def state_of(run: RunRecord) -> ReplyState:
    """Return the state of a run's reply, on any platform.

    For a finished run this is its stored answer, which includes the result of its verification even
    if that gave no reason to update the reply.
    """
    state = parse_state(run.post_state) if run.message.thread.platform == "web" else ReplyState()
    ended = run.state not in UNFINISHED
    if ended and run.answer is not None and state.answer != run.answer:
        return replace(state, answer=run.answer, mark=f"{state.mark}.end")
    return state


T = TypeVar("T")

log = get_logger()


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of a run of a thread. ``reply_state`` is None if it was over when first looked up;
    ``removed`` tells that its question was deleted. ``attempt`` is set when the run is over: it
    changes when the question is edited.
    """

    run: str
    over: bool
    removed: bool = False
    reply_state: ReplyState | None = None
    attempt: int = 0


@dataclass
class Feed:
    """The runs of a thread, in the order of their questions; ``version`` counts changes."""

    thread: Thread
    standings: dict[str, RunStatus] = field(default_factory=dict)
    version: int = 0
    closed: bool = False
    looked: bool = False
    onlookers: int = 0
    _change: asyncio.Event = field(default_factory=asyncio.Event)
    _read: dict[str, tuple[int, asyncio.Task[Any]]] = field(default_factory=dict)

    async def after(self, version: int) -> int:
        """Wait for a change after ``version``; return the new version."""
        while self.version <= version and not self.closed:
            await self._change.wait()
        return self.version

    async def once(self, name: str, read: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of ``read``, shared by all calls with this name until the next
        change."""
        version, reading = self._read.get(name, (-1, None))
        if reading is None or version != self.version or _has_failed(reading):
            reading = asyncio.create_task(read())
            self._read[name] = self.version, reading
        return await asyncio.shield(reading)  # goes on for the others if one caller is cancelled

    def put(self, standing: RunStatus) -> None:
        if self.standings.get(standing.run) != standing:
            self.standings[standing.run] = standing
            self.tell()

    def sort(self, ids: Sequence[str]) -> None:
        """Sort the runs into the order of their questions, since a run of this process may have
        been added too early. Those too new to be among ``ids`` stay at the end."""
        order = [id for id in ids if id in self.standings]
        order += [id for id in self.standings if id not in ids]
        if order != [*self.standings]:
            self.standings = {id: self.standings[id] for id in order}

    def forget(self, gone: Collection[str]) -> None:
        """Mark runs as removed."""
        for id in gone:
            self.standings.pop(id, None)
            self._read.pop(id, None)
        if gone:
            self.tell()

    def tell(self) -> None:
        self.version += 1
        self._change.set()
        self._change = asyncio.Event()


def _has_failed(reading: asyncio.Task[Any]) -> bool:
    return reading.done() and (reading.cancelled() or reading.exception() is not None)


class Live:
    """See the module docstring. Close it with ``aclose``, which ends all feeds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._feeds: dict[str, Feed] = {}
        self._here: dict[str, ReplyState] = {}  # what replies of this process show, by run
        self._seen: dict[str, tuple[Any, ...]] = {}  # what the last look found, by run
        self._looking: asyncio.Task[None] | None = None
        self._due: set[str] = set()  # threads to look up as soon as possible
        self._soon = asyncio.Event()
        self._signals: RunSignals | None = None  # set from the first viewer on
        self._closed = False

    async def aclose(self) -> None:
        self._closed = True
        for feed in self._feeds.values():
            feed.closed = True
            feed.tell()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        if self._signals is not None:
            await self._signals.aclose()

    @property
    def onlookers(self) -> int:
        """The number of viewers, which are open event streams."""
        return sum(feed.onlookers for feed in self._feeds.values())

    # ------------------------------------------------------------ telling

    def show(self, thread: Thread, run: str, now: ReplyState) -> None:
        """Report the new state of a reply of this process."""
        self._here[run] = now
        feed = self._feeds.get(thread.key)
        if feed is not None:
            feed.put(RunStatus(run, over=False, reply_state=now))

    def leave(self, thread: Thread, run: str) -> None:
        """Report that this process no longer works on a reply."""
        self._here.pop(run, None)
        self._look_soon_at(thread.key)

    def look_soon(self) -> None:
        """Look into the database soon, because something has changed."""
        self._due.update(self._feeds)
        self._soon.set()

    def _look_soon_at(self, thread_key: str) -> None:
        if thread_key in self._feeds:
            self._due.add(thread_key)
            self._soon.set()

    def _hear(self, run: str, thread_key: str) -> None:
        """Handle a signal that some process, perhaps this one, has changed a run."""
        if run not in self._here:
            self._look_soon_at(thread_key)

    def here(self, run: str) -> ReplyState | None:
        """Return the state of a reply of this process."""
        return self._here.get(run)

    # ------------------------------------------------------------ looking on

    @asynccontextmanager
    async def follow(self, thread: Thread, *known: str) -> AsyncIterator[Feed]:
        """Yield the thread's feed, which has all runs that other viewers have seen, and those of
        ``known`` that still exist. Raises ``StorageUnavailable``."""
        feed = self._feeds.setdefault(thread.key, Feed(thread, closed=self._closed))
        feed.onlookers += 1
        try:
            if not feed.looked or not feed.standings.keys() >= {*known}:
                await self._look([thread.key])
            if self._looking is None and not self._closed:
                self._looking = asyncio.create_task(self._keep_looking())
            if self._signals is None and not self._closed:
                self._signals = self._listening()
            yield feed
        finally:
            feed.onlookers -= 1
            if not feed.onlookers:
                self._drop(feed)

    def _drop(self, feed: Feed) -> None:
        if self._feeds.get(feed.thread.key) is feed:
            del self._feeds[feed.thread.key]
        for run in feed.standings:
            self._seen.pop(run, None)
        if not self._feeds:
            self._soon.set()  # wakes the loop, which ends without viewers

    def _listening(self) -> RunSignals | None:
        if not self._database.listener.can_hear:
            return None
        return RunSignals(self._database.listener, self._hear, self.look_soon)

    async def _keep_looking(self) -> None:
        """Look for changes as long as there are viewers. The task is rarely cancelled, because an
        interrupted query loses its connection."""
        try:
            while self._feeds:
                await self._look_when_due()
                await asyncio.sleep(SECONDS_BETWEEN_EVENTS)  # combines signals close together
        finally:
            self._looking = None

    async def _look_when_due(self) -> None:
        try:
            async with asyncio.timeout(self._pause()):
                await self._soon.wait()
        except TimeoutError:
            self._due.update(self._feeds)
        self._soon.clear()
        due, self._due = self._due & self._feeds.keys(), set()
        try:
            await self._look(due)
        except StorageUnavailable as away:
            log.info("console does not see", error=str(away))

    def _pause(self) -> float:
        """Return the seconds until the next look, if there is no signal before."""
        hears = self._signals is not None and self._signals.listening
        if hears or not self._others_work():
            return SECONDS_BETWEEN_IDLE_LOOKS
        return SECONDS_BETWEEN_LOOKS

    def _others_work(self) -> bool:
        """Return True if any run is unfinished that this process is not working on."""
        return any(
            not standing.over and standing.run not in self._here
            for feed in self._feeds.values()
            for standing in feed.standings.values()
        )

    async def _look(self, keys: Collection[str]) -> None:
        if not keys:
            return
        # The state includes the answer, which is long and no longer changes once a run is over.
        mark = sa.case((runs.c.state.in_(UNFINISHED), runs.c.post_state["mark"].as_string()))
        query = (
            sa.select(
                runs.c.id,
                runs.c.thread_key,
                runs.c.state,
                runs.c.attempt,
                runs.c.removed,
                mark.label("mark"),
            )
            .where(runs.c.thread_key.in_(keys))
            .order_by(runs.c.message_id)
        )
        known = {key: {*feed.standings} for key in keys if (feed := self._feeds.get(key))}
        async with self._database.read() as db:
            rows = (await db.execute(query)).all()
        ids: dict[str, list[str]] = {key: [] for key in keys}
        changed = []
        for row in rows:
            ids[row.thread_key].append(row.id)
            now = (row.state, row.attempt, row.removed, row.mark)
            feed = self._feeds.get(row.thread_key)
            is_new = feed is not None and row.id not in feed.standings
            if is_new or self._seen.get(row.id) != now:
                changed.append(row)
        states = await self._states([row.id for row in changed if self._is_news(row)])
        for row in changed:
            feed = self._feeds.get(row.thread_key)
            if feed is not None:  # None: the last viewer has left
                self._seen[row.id] = (row.state, row.attempt, row.removed, row.mark)
                self._put(feed, row, states.get(row.id))
        for key in keys:
            feed = self._feeds.get(key)
            if feed is not None:
                feed.looked = True
                feed.sort(ids[key])
                feed.forget(known.get(key, set()) - {*ids[key]})

    def _is_news(self, row: Any) -> bool:
        """Return True if the run's state must be read; False if it was over before the first
        look."""
        return row.id in self._seen or row.state in UNFINISHED

    def _put(self, feed: Feed, row: Any, state: ReplyState | None) -> None:
        over = row.state not in UNFINISHED
        here = self._here.get(row.id)
        known = feed.standings.get(row.id)
        now = here or state or (known.reply_state if known is not None else None)
        feed.put(RunStatus(row.id, over, row.removed, now, row.attempt))

    async def _states(self, ids: Collection[str]) -> dict[str, ReplyState]:
        if not ids:
            return {}
        query = sa.select(runs.c.id, runs.c.post_state).where(runs.c.id.in_(ids))
        async with self._database.read() as db:
            return {row.id: parse_state(row.post_state) for row in (await db.execute(query)).all()}


class OpenStreams:
    """The event streams of each client; ``most`` may be open at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def allows(self, client: str) -> bool:
        """Return True if one more stream is allowed."""
        return self._open[client] < self._most

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Count a stream as open within the block."""
        self._open[client] += 1
        try:
            yield
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]


EVENTS = "text/event-stream"
STREAMED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

RETRY = "retry: 1000\n\n"  # milliseconds until a disconnected browser reconnects

HERE = ": here\n\n"  # a comment that keeps the connection alive

# JSON contains no line ends of the standard, but may contain these, which some clients treat as
# line ends.
_OTHER_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def as_line(data: object) -> str:
    """Return JSON on one line for an event."""
    return json.dumps(data, ensure_ascii=False).translate(_OTHER_LINE_ENDS)


def event(kind: str, data: str, id: str = "") -> str:
    """Format one event; ``data`` is as ``as_line`` returns it."""
    head = f"id: {id}\n" if id else ""
    return f"{head}event: {kind}\ndata: {data}\n\n"


def events_together(told: Sequence[tuple[str, str]], id: str) -> list[str]:
    """Format kinds and data as events, of which only the last has the id, so that a client that is
    disconnected in between gets all of them again."""
    ids = ["" for _ in told[1:]] + [id]
    return [event(kind, data, id) for (kind, data), id in zip(told, ids, strict=False)]


async def moments(feed: Feed) -> AsyncIterator[bool]:
    """Yield whenever a feed's state should be sent: True at once and after each change, False if a
    keep-alive is due because nothing has changed. It ends with the feed.

    The first change is reported at once, and changes within ``SECONDS_BETWEEN_EVENTS`` after it as
    one. A slow client gets only the newest state, so no backlog builds up.
    """
    clock = asyncio.get_running_loop()
    while not feed.closed:
        version = feed.version
        yield True
        told_at = clock.time()
        while not feed.closed and feed.version <= version:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await feed.after(version)
            except TimeoutError:
                yield False
        await asyncio.sleep(told_at + SECONDS_BETWEEN_EVENTS - clock.time())


def event_stream(
    request: Request, streams: OpenStreams, client: str, events: AsyncIterator[str]
) -> Response:
    """Respond with events; to HEAD with only the headers, and with 429 if the client has too many
    streams open."""
    if request.method == "HEAD":
        return Response(media_type=EVENTS, headers=STREAMED)
    if not streams.allows(client):
        raise HTTPException(429, texts_of(request)("web-too-many-streams"))
    return _EventStream(_told(streams, client, events))


class _EventStream(StreamingResponse):
    """Stops its events once the client has disconnected, even in the middle of one."""

    def __init__(self, events: AsyncIterator[str]) -> None:
        super().__init__(events, media_type=EVENTS, headers=STREAMED)

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self.body_iterator):  # type: ignore[type-var]
            await super().stream_response(send)


async def _told(
    streams: OpenStreams, client: str, events: AsyncIterator[str]
) -> AsyncIterator[str]:
    with streams.one(client):
        yield RETRY
        try:
            async with aclosing(events):  # type: ignore[type-var]
                async for each in events:
                    yield each
        except StorageUnavailable as away:
            # The client reconnects with its last id, and gets the error if it persists.
            log.info("event stream ends", error=str(away))
