"""The conversation page: threads, questions, answers, and what can be pressed."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.console import WORKSPACE, Console, locale_of, texts_of, visitor_of
from adapters.web.forms import form_of
from adapters.web.limits import THREADS_LISTED
from adapters.web.pace import Pace
from adapters.web.stream import event_stream
from adapters.web.turns import runs_of, turns_of
from adapters.web.writing import cursor_of, listed, turn_html
from bot.conversing.presses import Deeper, Feedback, FollowUp, Press, Stop, carry_out
from bot.conversing.reception import Asked
from bot.errors import Invalid
from bot.messages import Depth, Message, Thread
from bot.pages.urls import links_in
from bot.storage.store import RunRecord

DEPTHS: tuple[str, ...] = get_args(Depth)


def conversation_pages(console: Console) -> Sequence[BaseRoute]:
    """The routes of this page."""
    pages = _Conversation(console)
    return [
        Route("/", pages.begin, methods=["GET"]),
        Route("/ask", pages.ask, methods=["POST"]),
        Route("/threads/{thread}", pages.thread, methods=["GET"]),
        Route("/threads/{thread}/events", pages.events, methods=["GET"]),
        Route("/runs/{run}/stop", pages.pressing(lambda run, form: Stop(run)), methods=["POST"]),
        Route("/runs/{run}/deeper", pages.pressing(lambda run, _: Deeper(run)), methods=["POST"]),
        Route("/runs/{run}/feedback", pages.pressing(_feedback), methods=["POST"]),
        Route("/runs/{run}/follow-up", pages.pressing(_follow_up), methods=["POST"]),
        Route("/runs/{run}/edit", pages.edit, methods=["POST"]),
        Route("/runs/{run}/delete", pages.delete, methods=["POST"]),
    ]


class _Conversation:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._pace = Pace(console.settings.console_questions)

    # ------------------------------------------------------------ pages

    async def begin(self, request: Request) -> Response:
        return await self._page(request, None)

    async def thread(self, request: Request) -> Response:
        return await self._page(request, await self._thread(request))

    async def _page(self, request: Request, thread: Thread | None) -> Response:
        console, visitor, texts = self._console, visitor_of(request), texts_of(request)
        turns = []
        if thread is not None:
            ids = await runs_of(console.database, thread.key)
            turns = await turns_of(console, ids, visitor.id)
        return console.page(
            request,
            "conversation.html",
            threads=await listed(console, visitor, THREADS_LISTED),
            thread=thread,
            title=turns[0].question if turns else "",
            turns=[turn_html(console.templates, texts, turn, visitor) for turn in turns],
            cursor=cursor_of(turns),
            depths=DEPTHS,
            depth=turns[-1].depth if turns else "auto",
            event=secrets.token_hex(8),
        )

    async def _thread(self, request: Request) -> Thread:
        try:
            thread = await self._console.archive.find(request.path_params["thread"])
        except Invalid:
            raise HTTPException(404, texts_of(request)("web-thread-gone")) from None
        if not self._console.may_see(visitor_of(request), thread):
            raise HTTPException(404, texts_of(request)("web-thread-gone"))
        return thread

    async def events(self, request: Request) -> Response:
        return event_stream(self._console, request, await self._thread(request))

    # ------------------------------------------------------------ asking

    async def ask(self, request: Request) -> Response:
        form, visitor = await form_of(request), visitor_of(request)
        if not self._pace.allows(visitor.session or visitor.id):
            raise HTTPException(429, texts_of(request)("web-too-many-questions"))
        asked = await self.put(
            request,
            form.get("question") or form.get("example", ""),
            depth=form.get("depth", "auto"),
            thread=form.get("thread", ""),
            event=f"{visitor.session[:12]}-{form.get('event') or secrets.token_hex(8)}"[:64],
        )
        return await self._told(request, asked.run_id)

    async def put(
        self, request: Request, question: str, *, depth: str, thread: str, event: str
    ) -> Asked:
        """Put a question; ``event`` names it, so that sent twice it is one."""
        visitor = visitor_of(request)
        if depth not in DEPTHS:
            raise HTTPException(422, f"The depth is one of {', '.join(DEPTHS)}.")
        place = await self._place(request, thread)
        message = Message(
            event_id=event,
            thread=place,
            author=visitor.author,
            text=question,
            at=datetime.now(UTC),
            links=tuple(links_in(question)),
            locale=locale_of(request.headers.get("accept-language", "")),
        )
        reception = self._console.open_reception()
        asked = await reception.receive(message, "footnote", depth=depth)  # type: ignore[arg-type]
        self._console.live.look_soon()
        if not isinstance(asked, Asked):
            raise HTTPException(422, texts_of(request)("nothing-running"))
        return asked

    async def _place(self, request: Request, thread: str) -> Thread:
        """The thread that is gone on with, or a new one."""
        visitor = visitor_of(request)
        if not thread:
            return Thread("web", WORKSPACE, visitor.channel, secrets.token_hex(8))
        request.path_params["thread"] = thread
        place = await self._thread(request)
        if place.platform != "web":
            raise HTTPException(422, texts_of(request)("web-not-here"))
        return place

    # ------------------------------------------------------------ pressing

    def pressing(
        self, meant: Callable[[str, dict[str, str]], Press]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def pressed(request: Request) -> Response:
            form, run = await form_of(request), await self._run(request)
            visitor = visitor_of(request)
            text = await carry_out(
                self._console.open_reception(),
                meant(run.id, form),
                visitor.author,
                locale=locale_of(request.headers.get("accept-language", "")),
                direct=False,
            )
            self._console.live.look_soon()
            return await self._told(
                request, run.id, "" if text is None else texts_of(request)(text)
            )

        return pressed

    async def edit(self, request: Request) -> Response:
        form, run = await form_of(request), await self._run(request)
        self._check_own(request, run)
        reception = self._console.open_reception()
        await reception.edit("web", run.message.event_id, form.get("question", ""))
        self._console.live.look_soon()
        return await self._told(request, run.id)

    async def delete(self, request: Request) -> Response:
        await form_of(request)
        run = await self._run(request)
        self._check_own(request, run)
        await self._console.open_reception().forget("web", run.message.event_id)
        self._console.live.look_soon()
        return await self._told(request, run.id)

    async def _run(self, request: Request) -> RunRecord:
        run = await self._console.store.run(request.path_params["run"])
        visitor = visitor_of(request)
        if run is None or run.removed or not self._console.may_see(visitor, run.message.thread):
            raise HTTPException(404, texts_of(request)("question-gone"))
        if run.message.thread.platform != "web":
            raise HTTPException(422, texts_of(request)("web-not-here"))
        return run

    def _check_own(self, request: Request, run: RunRecord) -> None:
        visitor = visitor_of(request)
        if not visitor.operator and run.message.author.id != visitor.id:
            raise HTTPException(403, texts_of(request)("web-not-yours"))

    async def _told(self, request: Request, run_id: str, sentence: str = "") -> Response:
        """To a script what happened, to a browser without scripts the thread again."""
        run = await self._console.store.run(run_id)
        name = run.message.thread.thread if run is not None else ""
        path = f"/threads/{name}" if name else "/"
        if request.headers.get("accept", "").startswith("application/json"):
            return JSONResponse({"thread": path, "run": run_id, "told": sentence})
        return RedirectResponse(f"{path}#run-{run_id}", status_code=303)


def _feedback(run: str, form: dict[str, str]) -> Press:
    return Feedback(run, "good" if form.get("verdict") == "good" else "bad")


def _follow_up(run: str, form: dict[str, str]) -> Press:
    number = form.get("number", "")
    return FollowUp(run, int(number) if number.isdecimal() and len(number) < 3 else -1)
