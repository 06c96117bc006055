"""The console as one ASGI application: its pages, behind the access control."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from secrets import token_hex

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from adapters.web.access.gate import Gate, is_program
from adapters.web.access.sign_in import sign_in_pages
from adapters.web.api import api_routes
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import FileRefused
from adapters.web.pages.connect import connect_pages
from adapters.web.pages.conversation import conversation_pages
from adapters.web.pages.handbook import handbook_pages
from adapters.web.pages.history import Sidebar, history_pages
from adapters.web.pages.overview import overview_pages
from adapters.web.pages.preferences import preference_pages
from adapters.web.pages.run import run_pages
from adapters.web.pages.saved import correction_pages, standing_pages
from adapters.web.pages.sharing import sharing_pages
from adapters.web.pages.sources import source_pages
from adapters.web.pages.status import status_pages
from adapters.web.templating import asset_routes
from bot.core.errors import Denied, FootnoteError, Invalid, Unavailable, sentence_for
from bot.core.logs import get_logger

log = get_logger()

COMPRESSION = 6  # of zlib's nine levels: the last three double the time to save one percent


def console_app(console: Console, more: Sequence[BaseRoute] = ()) -> Starlette:
    """Return the whole console, with ``more`` routes behind the same access control. Each module
    returns the list of its routes."""

    failed = partial(_failed, console)
    return Starlette(
        routes=[
            *asset_routes(),
            *sign_in_pages(console),
            *preference_pages(console),
            *conversation_pages(console),
            *history_pages(console),
            *standing_pages(console),
            *correction_pages(console),
            *sharing_pages(console),
            *run_pages(console),
            *overview_pages(console),
            *source_pages(console),
            *connect_pages(console),
            *status_pages(console),
            *handbook_pages(console),
            *api_routes(console),
            *more,
        ],
        middleware=[
            Middleware(
                Gate,
                settings=console.settings,
                sign_ins=console.sign_ins,
                guesses=console.guesses,
                audit=console.audit,
            ),
            # Event streams are not compressed, which would delay their events.
            Middleware(GZipMiddleware, compresslevel=COMPRESSION),
            # Not among Starlette's own handlers: their page would pass by the gate and its headers.
            Middleware(ExceptionMiddleware, handlers={Exception: failed}),
            Middleware(Sidebar, console=console),
        ],
        exception_handlers={HTTPException: failed, FootnoteError: failed},
    )


async def _failed(console: Console, request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        raise error  # nobody reads a page, and nothing is broken
    status, sentence, headers = 500, "", None
    if isinstance(error, HTTPException):
        status, sentence, headers = error.status_code, error.detail, error.headers
    elif isinstance(error, FootnoteError):
        status, sentence = status_of(error), sentence_for(error, texts_of(request))
        if error.text_id == "no-question":  # its own sentence speaks of mentions
            sentence = texts_of(request)("web-no-question")
    else:
        reference = token_hex(4)
        log.error("request broke", reference=reference, error=repr(error), exc_info=error)
        sentence = texts_of(request)("web-broke", reference=reference)
    if is_program(request):
        told: dict[str, str | int] = {"error": sentence}
        if isinstance(error, FileRefused):
            told["file"] = error.number
        return JSONResponse(told, status_code=status, headers=headers)
    if status == 405 and request.method == "GET":  # what answered a form, opened by its address
        above = request.url.path.rpartition("/")[0]
        return RedirectResponse(f"{console.settings.root}{above or '/'}", status_code=303)
    if sentence == HTTPStatus(status).phrase:  # no more specific message
        sentence = texts_of(request)("web-not-found-why" if status == 404 else "web-failed-why")
    sent = getattr(request.state, "sent", None)  # a question, which is not lost
    return console.page(
        request, "failed.html", status=status, code=status, sentence=sentence, sent=sent
    )


def status_of(error: FootnoteError) -> int:
    """Return the HTTP status for an error."""
    match error:
        case Denied():
            return 403
        case Invalid():
            return 422
        case Unavailable():
            return 503
    return 500
