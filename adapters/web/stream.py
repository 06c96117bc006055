"""Server-sent events for a thread's open page.

Events: ``turn`` (a question that is new to the page), ``plan`` and ``text`` (parts of an unfinished
reply), ``reply`` (everything below a question), ``gone`` (a deleted question). An event's id is the
page's cursor after it: the last run it has, and the marks of the unfinished replies. A page that
reconnects with the cursor gets what it missed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from adapters.web.console import Console, texts_of, visitor_of
from adapters.web.live import Feed, RunStatus
from adapters.web.parts import being_done
from adapters.web.reply_state import ReplyState
from adapters.web.sse import HERE, as_line, event, event_stream, events_together, moments
from adapters.web.turns import turns_of
from adapters.web.visibility import Visibility
from adapters.web.visitors import Visitor
from adapters.web.writing import reply_html, tally, turn_html
from bot.core.messages import Thread
from bot.core.reader import Reader
from bot.core.texts import Texts


def thread_events(console: Console, request: Request, thread: Thread) -> Response:
    """Stream the events of a thread from the request's cursor on."""
    cursor = request.headers.get("last-event-id") or request.query_params.get("since", "")
    visitor = visitor_of(request)
    page = _Page(console, texts_of(request), visitor, *_read(cursor))
    return event_stream(request, console.streams, visitor.client, page.events(thread))


def _read(cursor: str) -> tuple[str, dict[str, str], str]:
    last, _, rest = cursor[:4_000].partition(";")
    live, _, had = rest.partition(";")
    pairs = (part.partition("=") for part in live.split(",") if part)
    return last, {run: mark for run, _, mark in pairs}, had


@dataclass
class _Page:
    """An open page. ``last`` is the last run it has; ``marks`` are the states it shows of
    unfinished runs; ``had`` is the tally of the finished ones when it was disconnected. If the
    tally has changed, something was edited or deleted meanwhile, and the page gets them again."""

    console: Console
    texts: Texts
    visitor: Visitor
    last: str
    marks: dict[str, str]
    had: str
    held: dict[str, int] = field(default_factory=dict)  # attempts of finished runs
    stale: bool = False
    parts: dict[str, ReplyState] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)  # marks of finished runs
    gone: set[str] = field(default_factory=set)
    readers: dict[str, Reader] = field(default_factory=dict)  # the reader each run was made for
    first: bool = True

    @property
    def seeing(self) -> Visibility:
        return Visibility(self.console.rights, self.visitor, self.texts)

    async def events(self, thread: Thread) -> AsyncIterator[str]:
        known = {*self.marks, self.last} - {""}
        async with self.console.live.follow(thread, *known) as feed:
            async for changed in moments(feed):
                if not changed:
                    yield HERE
                    continue
                if self.first:
                    self._compare(feed)
                for each in list(feed.standings.values()):
                    for told in await self._news(feed, each):
                        yield told
                self.first = False
                for gone in [run for run in self.marks if run not in feed.standings]:
                    yield self._gone(gone)

    def _compare(self, feed: Feed) -> None:
        """Determine the finished runs that the page has, and whether they are still current."""
        self.held = {
            each.run: each.attempt
            for each in feed.standings.values()
            if each.over
            and not each.removed
            and each.run not in self.marks
            and not self._is_new(feed, each.run)
        }
        self.stale = bool(self.had) and self.had != tally(self.held)

    async def _news(self, feed: Feed, now: RunStatus) -> list[str]:
        """Return the changes of a run that the page does not show yet."""
        if now.removed:
            known = now.run in self.marks or self.stale
            if now.run in self.gone or (self.first and not known):
                self.gone.add(now.run)
                return []
            return [self._gone(now.run)]
        if self._is_new(feed, now.run):
            return [await self._whole(feed, now, "turn")]
        current = now.reply_state.mark if now.reply_state is not None else ""
        mark, part = self.marks.get(now.run), self.parts.get(now.run)
        if mark is None:
            if self.first and self.stale and now.over:
                return [await self._whole(feed, now, "turn")]
            if now.reply_state is None or (self.first and now.over):
                self.settled[now.run] = current  # finished before the page was made
            return (
                []
                if self.settled.get(now.run) == current
                else [await self._whole(feed, now, "reply")]
            )
        if mark == current and not now.over:
            return []
        if mark == current and part is not None and part.answer is not None:
            self._settle(now)
            self.held[now.run] = now.attempt
            return []
        state = now.reply_state
        if part is None or state is None or state.answer is not None or now.over:
            return [await self._whole(feed, now, "reply")]
        return self._changed_parts(now.run, part, state)

    def _settle(self, now: RunStatus) -> None:
        """Record that the page has all of a finished run."""
        self.marks.pop(now.run, None)
        self.parts.pop(now.run, None)
        self.settled[now.run] = now.reply_state.mark if now.reply_state is not None else ""

    def _is_new(self, feed: Feed, run: str) -> bool:
        order = list(feed.standings)
        if self.last not in order:
            return run not in self.marks and not feed.standings[run].over
        return order.index(run) > order.index(self.last)

    async def _whole(self, feed: Feed, now: RunStatus, kind: str) -> str:
        """Return a turn or its reply, from the database or this process's state."""
        run = now.run
        turns = await feed.once(run, lambda: turns_of(self.console, [run]))
        if not turns:
            return self._gone(run)
        turn = self.seeing.turn(turns[0])
        self.readers[run] = turn.reader
        if kind == "turn":
            self.last = run if self._is_new(feed, run) else self.last
            html = turn_html(self.console.templates, self.texts, turn, self.visitor)
        else:
            html = reply_html(self.console.templates, self.texts, turn, self.visitor)
        over = turn.reply_state.answer is not None
        self.parts[run] = turn.reply_state
        self.marks[run] = turn.reply_state.mark
        self.held.pop(run, None)
        if over and turn.over:
            self._settle(now)
            self.held[run] = turn.attempt
        doing = "" if over else being_done(turn.reply_state, self.texts)
        told = {"run": run, "question": turn.question, "html": html, "over": over, "now": doing}
        return event(kind, as_line(told), self._cursor())

    def _changed_parts(self, run: str, before: ReplyState, now: ReplyState) -> list[str]:
        now = self.seeing.visible_state(now, self.readers[run])
        self.parts[run] = now
        self.marks[run] = now.mark
        parts = self.console.parts
        told: list[tuple[str, str]] = []
        if now.plan != before.plan or (now.ahead, now.fresh) != (before.ahead, before.fresh):
            told.append(("plan", parts.plan(self.texts, run, now)))
        if now.text != before.text:
            told.append(("text", parts.text(run, now)))
        return events_together(told, self._cursor())

    def _gone(self, run: str) -> str:
        self.marks.pop(run, None)
        self.parts.pop(run, None)
        self.held.pop(run, None)
        self.gone.add(run)
        return event("gone", as_line({"run": run}), self._cursor())

    def _cursor(self) -> str:
        live = ",".join(f"{run}={mark}" for run, mark in self.marks.items())
        return f"{self.last};{live};{tally(self.held)}"
