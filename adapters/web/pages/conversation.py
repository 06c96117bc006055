"""The conversation page: threads, questions, answers, and their controls."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import Visitor, visitor_of
from adapters.web.access.visibility import (
    Visibility,
    encodable,
    run_named,
    seeing,
    thread_named,
    with_audit,
    with_stream_audit,
)
from adapters.web.asking import put_question
from adapters.web.console import WORKSPACE, Console, download
from adapters.web.display import asked_locale, texts_of
from adapters.web.forms import form_of, megabytes, question_form_of
from adapters.web.html.plans import being_done
from adapters.web.html.replies import reply_html, turn_html
from adapters.web.live import (
    HERE,
    Feed,
    ReplyState,
    RunStatus,
    as_line,
    event,
    event_stream,
    events_together,
    moments,
)
from adapters.web.offers import CHOSEN
from adapters.web.pages.connect import unconnected
from adapters.web.pages.history import about
from adapters.web.turns import Turn, turns_in, turns_of
from bot.core.messages import Depth, Thread
from bot.core.reader import Reader
from bot.core.texts import Texts
from bot.pages.media import accepted
from bot.pages.pictures import media_type
from bot.service.buttons import Feedback, FollowUp, OnRun, Press, ask_again, carry_out
from bot.service.standing_service import DAILY
from bot.storage.store import RunRecord
from bot.storage.workspaces import REASONS, Reason

DEPTHS: tuple[str, ...] = get_args(Depth)


def conversation_pages(console: Console) -> Sequence[BaseRoute]:
    pages = _Conversation(console)
    return [
        Route("/", pages.begin),
        Route("/ask", pages.ask, methods=["POST"]),
        Route("/indexing", pages.indexing),
        Route(
            "/threads/{thread}", with_audit(console, "read", "conversation", pages.thread, "thread")
        ),
        Route("/threads/{thread}/bar", pages.bar),
        Route(
            "/threads/{thread}/events",
            with_stream_audit(console, "conversation", pages.events, "thread"),
        ),
        *(
            Route(f"/runs/{{run}}/{name}", partial(pages.press, meant), methods=["POST"])
            for name, meant in PRESSES.items()
        ),
        Route(
            "/runs/{run}/files/{number:int}", with_audit(console, "read", "file", pages.file, "run")
        ),
        Route("/runs/{run}/edit", pages.edit, methods=["POST"]),
        Route("/runs/{run}/delete", pages.delete, methods=["POST"]),
    ]


class _Conversation:
    def __init__(self, console: Console) -> None:
        self._console = console

    async def begin(self, request: Request) -> Response:
        return await self._page(request, None)

    async def thread(self, request: Request) -> Response:
        thread = await self._thread(request)
        await self._console.standing.record_interest(thread)
        return await self._page(request, thread)

    async def _page(self, request: Request, thread: Thread | None) -> Response:
        console, visitor, texts = self._console, visitor_of(request), texts_of(request)
        turns: list[Turn] = []
        if thread is not None:
            turns = [*map(seeing(console, request).turn, await turns_in(console, thread))]
        place = thread or Thread("web", WORKSPACE, visitor.channel, "")
        rules = await console.rules(place)
        last = turns[-1].options if turns else None
        offers = await console.offers.of(visitor, rules, last)
        return console.page(
            request,
            "conversation.html",
            offers=offers,
            examples=console.offers.examples(rules, texts) if thread is None else (),
            unconnected=unconnected(console.settings)
            if visitor.operator and thread is None
            else {},
            thread=thread,
            **await self._bar(request, thread, turns),
            turns=[turn_html(console.templates, texts, turn, visitor) for turn in turns],
            cursor=_cursor(
                turns[-1].run,
                {turn.run: turn.reply_state.mark for turn in turns if not turn.over},
                {turn.run: turn.attempt for turn in turns if turn.over},
            )
            if turns
            else "",
            depths=DEPTHS,
            corrected=bool(console.settings.corrections_per_day),
            depth=turns[-1].depth if turns else "auto",
            files=[file for turn in turns for file in turn.files if not file.again],
            at_hand={file.url for file in turns[-1].files} if turns else set(),
            accepted=accepted(),
            largest=console.settings.fetch_max_bytes,
            megabytes=megabytes(console.settings.fetch_max_bytes),
            event=secrets.token_hex(8),
        )

    async def _bar(
        self, request: Request, thread: Thread | None, turns: Sequence[Turn]
    ) -> dict[str, Any]:
        """Return the values of a conversation's title bar."""
        answered = [turn.run for turn in turns if turn.over and turn.reply_state.answer is not None]
        return {
            **await about(self._console, request, thread),
            "watched": await self._console.standing.all(thread) if thread else (),
            "watchable": answered[-1] if answered else "",
            "opened": request.query_params.get("open", ""),
        }

    async def bar(self, request: Request) -> Response:
        """Return the title bar, for the script that updates it."""
        thread = await self._thread(request)
        values = await self._bar(request, thread, await turns_in(self._console, thread))
        if values["kept"] is None:
            raise HTTPException(404, texts_of(request)("web-thread-gone"))
        body = self._console.templates.fragment(
            "conversation_bar.html",
            texts_of(request),
            visitor=visitor_of(request),
            thread=thread,
            **values,
        )
        return HTMLResponse(body, headers={"Cache-Control": "no-store"})

    async def _thread(self, request: Request) -> Thread:
        return await thread_named(self._console, request, request.path_params["thread"])

    async def events(self, request: Request) -> Response:
        return thread_events(self._console, request, await self._thread(request))

    async def indexing(self, request: Request) -> Response:
        """Report the progress of indexing the documents, as a sentence ("" when done), and how many
        documents of each collection can be searched."""
        console, visitor, texts = self._console, visitor_of(request), texts_of(request)
        now = console.observed.documents
        place = Thread("web", WORKSPACE, visitor.channel, "")
        offers = await console.offers.of(visitor, await console.rules(place))
        counts = {
            each.id: texts("web-source-count", count=each.count)
            for each in offers
            if each.count is not None
        }
        told = texts("web-indexing", done=now.done, total=now.total) if now.is_going_on else ""
        return JSONResponse({"told": told, "counts": counts}, headers={"Cache-Control": "no-store"})

    async def ask(self, request: Request) -> Response:
        sent = await question_form_of(request, self._console.settings.fetch_max_bytes)
        form, request.state.sent = sent.fields, sent
        depth = form.get("depth", "auto")
        if depth not in DEPTHS:
            raise HTTPException(422, texts_of(request)("web-depth-unknown"))
        asked = await put_question(
            self._console,
            request,
            form.get("question") or form.get("example", ""),
            depth=depth,  # type: ignore[arg-type]
            thread=form.get("thread", ""),
            name=form.get("event", "")[:64],
            files=sent.files,
            again=sent.again,
            ticked=sent.sources if CHOSEN in form else None,
            corrects=form.get("corrects", ""),
        )
        return await self._told(request, asked.run_id)

    async def press(self, meant: DeedOfForm, request: Request) -> Response:
        """Carry out a press; the response names the run of a question that it asked."""
        form, run = await form_of(request), await self._run(request)
        reception, author = self._console.open_reception(), visitor_of(request).author
        deed, locale = meant(run.id, form), asked_locale(request)
        asked = await ask_again(reception, deed, author, locale=locale, audience="channel")
        if asked is not None:
            about, text = asked.run_id, None if asked.new else "asked-already"
        else:
            text = await carry_out(reception, deed, author, locale=locale, audience="channel")
            about = run.id
        self._console.live.look_soon()
        return await self._told(request, about, "" if text is None else texts_of(request)(text))

    async def edit(self, request: Request) -> Response:
        form, run = await form_of(request), await self._run(request)
        self._check_own(request, run)
        reception = self._console.open_reception()
        regenerate = "regenerate" in form
        text = run.message.text if regenerate else form.get("question", "")
        await reception.edit("web", run.message.event_id, text, regenerate=regenerate)
        self._console.live.look_soon()
        return await self._told(request, run.id)

    async def delete(self, request: Request) -> Response:
        await form_of(request)
        run = await self._run(request)
        self._check_own(request, run)
        await self._console.open_reception().forget("web", run.message.event_id)
        self._console.live.look_soon()
        # If nothing is left of the conversation, go to a new one.
        is_left = await self._console.history.of([run.message.thread.key])
        return await self._told(request, run.id if is_left else "")

    async def file(self, request: Request) -> Response:
        """Send a question's file: a picture to look at, others as downloads."""
        run = await self._run(request)
        number = request.path_params["number"]
        files = run.message.attachments[number - 1 : number] if number else ()
        body = await self._console.files.body(files[0].url) if files else None
        if body is None:
            raise HTTPException(404, texts_of(request)("upload-gone"))
        kind = media_type(body)
        sent = download(body, files[0].name, kind or "application/octet-stream")
        if kind:
            sent.headers["Content-Disposition"] = "inline"
        return sent

    async def _run(self, request: Request) -> RunRecord:
        run = await run_named(self._console, request, request.path_params["run"])
        if run.message.thread.platform != "web":
            raise HTTPException(422, texts_of(request)("web-not-here"))
        return run

    def _check_own(self, request: Request, run: RunRecord) -> None:
        visitor = visitor_of(request)
        if not visitor.operator and run.message.author.id != visitor.id:
            raise HTTPException(403, texts_of(request)("web-not-yours"))

    async def _told(self, request: Request, run_id: str, sentence: str = "") -> Response:
        """Send a script the outcome, and a browser without scripts the thread."""
        run = await self._console.store.run(run_id) if run_id else None
        name = run.message.thread.thread if run is not None else ""
        path = self._console.settings.root + (f"/threads/{name}" if name else "/")
        if request.headers.get("accept", "").startswith("application/json"):
            files = run.message.attachments if run is not None else ()
            named = [{"url": file.url, "name": file.name} for file in files]
            told = {"thread": path, "run": run_id, "told": sentence, "files": named}
            return JSONResponse(told)
        return RedirectResponse(f"{path}#run-{run_id}" if run else path, status_code=303)


def _feedback(run: str, form: Mapping[str, str]) -> Press:
    if form.get("verdict") == "good":
        return Feedback(run, "good")
    reason: Reason = next((each for each in REASONS if each == form.get("reason")), "")
    return Feedback(run, "bad", reason, encodable(form.get("words", "")).strip())


def _follow_up(run: str, form: Mapping[str, str]) -> Press:
    number = form.get("number", "")
    return FollowUp(run, int(number) if number.isdecimal() and len(number) < 3 else -1)


DeedOfForm = Callable[[str, Mapping[str, str]], Press]
"""What a button means for a run, by the fields of its form."""

PRESSES: Mapping[str, DeedOfForm] = {
    "stop": lambda run, _: OnRun("stop", run),
    "deeper": lambda run, _: OnRun("deeper", run),
    "watch": lambda run, form: OnRun("watch", run, form.get("every", DAILY)[:100]),
    "retract": lambda run, _: OnRun("retract", run),
    "feedback": _feedback,
    "follow-up": _follow_up,
}

# ---------------------------------------------------------------- the events of an open page


def thread_events(console: Console, request: Request, thread: Thread) -> Response:
    """Stream the events of a thread from the request's cursor on."""
    cursor = request.headers.get("last-event-id") or request.query_params.get("since", "")
    visitor = visitor_of(request)
    page = _Page(console, texts_of(request), visitor, *_read(cursor))
    return event_stream(request, console.streams, visitor.client, page.events(thread))


def _cursor(last: str, live: Mapping[str, str], over: Mapping[str, int]) -> str:
    """Return a page's cursor: its last run, the marks of unfinished runs, and a tally of the others
    (run → attempt)."""
    marks = ",".join(f"{run}={mark}" for run, mark in live.items())
    return f"{last};{marks};{_tally(over)}"


def _tally(over: Mapping[str, int]) -> str:
    """Return a hash of a page's finished replies, to detect changes."""
    told = ",".join(f"{run}={attempt}" for run, attempt in sorted(over.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _read(cursor: str) -> tuple[str, dict[str, str | None], str]:
    last, _, rest = cursor[:4_000].partition(";")
    live, _, had = rest.partition(";")
    pairs = (part.partition("=") for part in live.split(",") if part)
    return last, {run: mark for run, _, mark in pairs}, had


@dataclass
class _Page:
    """An open page. ``last`` is the last run it has; ``shown`` are the marks of the replies that it
    shows, None for one that is out of date; ``had`` is the tally of the finished ones when it was
    disconnected. If the tally has changed, something was edited or deleted meanwhile, and the page
    gets them again."""

    console: Console
    texts: Texts
    visitor: Visitor
    last: str
    shown: dict[str, str | None]
    had: str
    held: dict[str, int] = field(default_factory=dict)  # attempts of finished runs
    parts: dict[str, ReplyState] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)  # the reader each run was made for

    @property
    def seeing(self) -> Visibility:
        return Visibility(self.console.rights, self.visitor, self.texts)

    async def events(self, thread: Thread) -> AsyncIterator[str]:
        known, is_first = {*self.shown, self.last} - {""}, True
        async with self.console.live.follow(thread, *known) as feed:
            async for changed in moments(feed):
                if not changed:
                    yield HERE
                    continue
                if is_first:
                    self._compare(feed)
                    is_first = False
                for each in list(feed.standings.values()):
                    for told in await self._news(feed, each):
                        yield told
                for gone in [run for run in self.shown if run not in feed.standings]:
                    yield self._gone(gone)

    def _compare(self, feed: Feed) -> None:
        """Determine the finished runs that the page has, and whether they are still current."""
        over = [
            each
            for each in feed.standings.values()
            if (each.over or each.removed)
            and each.run not in self.shown
            and not self._is_new(feed, each.run)
        ]
        self.held = {each.run: each.attempt for each in over if not each.removed}
        stale = bool(self.had) and self.had != _tally(self.held)
        for each in over:
            if stale or not each.removed:
                self.shown[each.run] = None if stale else _mark(each)

    async def _news(self, feed: Feed, now: RunStatus) -> list[str]:
        """Return the changes of a run that the page does not show yet."""
        run, state = now.run, now.reply_state
        if now.removed:
            return [self._gone(run)] if run in self.shown else []
        if self._is_new(feed, run):
            return [await self._whole(feed, now, "turn")]
        before, part = self.shown.get(run), self.parts.get(run)
        if before is None and run in self.shown:
            return [await self._whole(feed, now, "turn")]
        if before is None and state is None:
            return []
        if before == _mark(now) and (not now.over or run in self.held):
            return []
        if before == _mark(now) and part is not None and part.answer is not None:
            self.held[run] = now.attempt
            return []
        if state is None or part is None or now.over or state.answer or part.answer:
            return [await self._whole(feed, now, "reply")]
        return self._changed_parts(run, part, state)

    def _is_new(self, feed: Feed, run: str) -> bool:
        order = list(feed.standings)
        if self.last not in order:
            return run not in self.shown and not feed.standings[run].over
        return order.index(run) > order.index(self.last)

    async def _whole(self, feed: Feed, now: RunStatus, kind: str) -> str:
        """Return a turn or its reply, from the database or this process's state."""
        run = now.run
        turns = await feed.once(run, lambda: turns_of(self.console, [run]))
        if not turns:
            return self._gone(run)
        turn = self.seeing.turn(turns[0])
        self.readers[run] = turn.reader
        if kind == "turn" and self._is_new(feed, run):
            self.last = run
        render = turn_html if kind == "turn" else reply_html
        html = render(self.console.templates, self.texts, turn, self.visitor)
        over = turn.reply_state.answer is not None
        self.parts[run] = turn.reply_state
        self.shown[run] = turn.reply_state.mark
        self.held.pop(run, None)
        if over and turn.over:  # the page has all of it
            self.held[run] = turn.attempt
            self.shown[run] = _mark(now)
            self.parts.pop(run)
        doing = "" if over else being_done(turn.reply_state, self.texts)
        asked = {"question": turn.question, "length": turn.length}
        told = {"run": run, **asked, "html": html, "over": over, "now": doing}
        return event(kind, as_line(told), self._cursor())

    def _changed_parts(self, run: str, before: ReplyState, now: ReplyState) -> list[str]:
        now = self.seeing.visible_state(now, self.readers[run])
        self.parts[run] = now
        self.shown[run] = now.mark
        parts = self.console.parts
        told: list[tuple[str, str]] = []
        if now.plan != before.plan or (now.ahead, now.fresh) != (before.ahead, before.fresh):
            told.append(("plan", parts.plan(self.texts, run, now)))
        if now.text != before.text:
            told.append(("text", parts.text(run, now)))
        return events_together(told, self._cursor())

    def _gone(self, run: str) -> str:
        self.shown.pop(run, None)
        self.parts.pop(run, None)
        self.held.pop(run, None)
        return event("gone", as_line({"run": run}), self._cursor())

    def _cursor(self) -> str:
        marks = {run: mark for run, mark in self.shown.items() if mark and run not in self.held}
        return _cursor(self.last, marks, self.held)


def _mark(now: RunStatus) -> str:
    return now.reply_state.mark if now.reply_state is not None else ""
