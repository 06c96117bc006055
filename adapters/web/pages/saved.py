"""The pages of standing questions and of corrections; an operator sees everyone's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import is_program, visitor_of
from adapters.web.access.visibility import seeing
from adapters.web.console import WORKSPACE, Console
from adapters.web.display import clock_of, texts_of
from adapters.web.forms import form_of
from bot.core.errors import Invalid, sentence_for
from bot.core.lines import shortened
from bot.core.messages import CONSOLE, Message, Thread
from bot.search.earlier_answers import title_of
from bot.service.standing_service import QUESTION, Person


def standing_pages(console: Console) -> Sequence[BaseRoute]:

    async def page(request: Request) -> Response:
        whose = _whose(request)
        desk = console.standing
        watches = await desk.all() if whose is None else await desk.of_person(whose)
        told = seeing(console, request).told
        listed = [(one, told(one.question)) for one in watches]
        return console.page(request, "saved_watches.html", watches=listed)

    async def change(request: Request) -> Response:
        form = await form_of(request)
        verb, id = request.path_params["verb"], request.path_params["id"]
        if verb not in ("pause", "resume", "stop"):
            raise HTTPException(404)
        try:
            watch = await console.standing.do(verb, id, _whose(request))
        except Invalid as unknown:
            raise HTTPException(404, sentence_for(unknown, texts_of(request))) from unknown
        if is_program(request):
            question = shortened(seeing(console, request).told(watch.question), QUESTION)
            return JSONResponse(
                {"told": texts_of(request)(f"watch-done-{verb}", question=question)}
            )
        back = f"/threads/{watch.thread.thread}" if form.get("back") == "thread" else "/watches"
        return RedirectResponse(f"{console.settings.root}{back}", status_code=303)

    return [
        Route("/watches", page),
        Route("/watches/{id}/{verb}", change, methods=["POST"]),
    ]


def _whose(request: Request) -> Person | None:
    visitor = visitor_of(request)
    return None if visitor.operator else (CONSOLE, visitor.id)


def correction_pages(console: Console) -> Sequence[BaseRoute]:
    desk = console.corrections

    async def page(request: Request) -> Response:
        reach = seeing(console, request).reach
        found = await desk.listed(reach, visitor_of(request).reader.corrections)
        titled = partial(title_of, texts=texts_of(request), zone=clock_of(request))
        return console.page(request, "saved_corrections.html", corrections=found, titled=titled)

    async def remove(request: Request) -> Response:
        await form_of(request)
        try:
            await desk.remove(request.path_params["id"], _presser(request))
        except Invalid as unknown:
            raise HTTPException(404, sentence_for(unknown, texts_of(request))) from unknown
        return RedirectResponse(f"{console.settings.root}/corrections", status_code=303)

    return [
        Route("/corrections", page),
        Route("/corrections/{id}/remove", remove, methods=["POST"]),
    ]


def _presser(request: Request) -> Message | None:
    """Return the visitor as the author of a message; None for an operator, who may remove any
    correction."""
    visitor = visitor_of(request)
    if visitor.operator:
        return None
    place = Thread(CONSOLE, WORKSPACE, visitor.channel, "")
    return Message("", place, visitor.author, "", datetime.now(UTC))
