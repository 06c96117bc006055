"""The page of corrections that a visitor may see; an operator sees those of all places."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.console import WORKSPACE, Console, texts_of, visitor_of
from adapters.web.forms import form_of
from adapters.web.visibility import seeing
from bot.core.errors import Invalid
from bot.core.messages import CONSOLE, Message, Thread
from bot.core.texts import sentence_for
from bot.search.correction_search import title_of


def correction_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of this page."""
    desk = console.corrections

    async def page(request: Request) -> Response:
        reach = seeing(console, request).reach
        found = await desk.listed(reach, visitor_of(request).reader.corrections)
        titled = partial(title_of, texts=texts_of(request))
        return console.page(request, "corrections.html", corrections=found, titled=titled)

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
