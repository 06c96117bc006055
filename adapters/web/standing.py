"""The page of a visitor's standing questions; an operator sees those of everyone."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.console import Console, texts_of, visitor_of
from adapters.web.forms import form_of
from adapters.web.visibility import seeing
from bot.core.errors import Invalid
from bot.core.messages import CONSOLE
from bot.core.texts import sentence_for
from bot.service.standing_service import Person


def standing_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of this page."""

    async def page(request: Request) -> Response:
        whose = _whose(request)
        desk = console.standing
        watches = await desk.all() if whose is None else await desk.of_person(whose)
        told = seeing(console, request).told
        listed = [(one, told(one.question)) for one in watches]
        return console.page(request, "watches.html", watches=listed)

    async def change(request: Request) -> Response:
        await form_of(request)
        verb, id = request.path_params["verb"], request.path_params["id"]
        if verb not in ("pause", "resume", "stop"):
            raise HTTPException(404)
        try:
            await console.standing.do(verb, id, _whose(request))
        except Invalid as unknown:
            raise HTTPException(404, sentence_for(unknown, texts_of(request))) from unknown
        return RedirectResponse(f"{console.settings.root}/watches", status_code=303)

    return [
        Route("/watches", page),
        Route("/watches/{id}/{verb}", change, methods=["POST"]),
    ]


def _whose(request: Request) -> Person | None:
    visitor = visitor_of(request)
    return None if visitor.operator else (CONSOLE, visitor.id)
