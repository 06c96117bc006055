"""Adds rows to the audit log for pages of the console that show or export conversations.

A page is sent only after its row is written or, if the database fails, put into the process's log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.web.console import Console, visitor_of
from bot.storage.audit_log import Deed

Page = Callable[[Request], Awaitable[Response]]


def with_audit(console: Console, deed: Deed, kind: str, page: Page, parameter: str = "") -> Page:
    """Wrap a page so that a row is added each time it is opened or refused.

    The row's object is the one that the page sets (``set_audit_object``), or else the parameter of
    its path.
    """
    if deed == "read" and not console.settings.audit_reads:
        return page

    async def opened(request: Request) -> Response:
        try:
            answer = await page(request)
        except HTTPException as error:
            if error.status_code in (403, 404):
                await console.audit.note(deed, kind, _object(request, parameter), outcome="refused")
            raise
        if not getattr(request.state, "shows_nothing", False):
            await console.audit.note(deed, kind, _object(request, parameter))
            console.opened[_opening(request, parameter)] = True
        return answer

    return opened


def with_stream_audit(console: Console, kind: str, page: Page, parameter: str) -> Page:
    """Like ``with_audit``, for the event stream of a page: no row is added for a visitor who opened
    the page in this process within the last hour."""
    alone = with_audit(console, "read", kind, page, parameter)

    async def opened(request: Request) -> Response:
        if _opening(request, parameter) in console.opened:
            return await page(request)
        return await alone(request)

    return opened


def _opening(request: Request, parameter: str) -> tuple[str, str]:
    return visitor_of(request).id, str(request.path_params.get(parameter, ""))


async def looked_at(console: Console, kind: str, object: str, is_seen: bool) -> None:
    """Add a row for an object that a program reads or is refused."""
    if console.settings.audit_reads:
        await console.audit.note("read", kind, object, outcome="done" if is_seen else "refused")


def set_audit_object(request: Request, object: str) -> None:
    """Set the object of a page's row."""
    request.state.about = object


def shows_nothing(request: Request) -> None:
    """Add no row for this request, because there is nothing to read yet."""
    request.state.shows_nothing = True


def _object(request: Request, parameter: str) -> str:
    said: str = getattr(request.state, "about", "")
    return said or str(request.path_params.get(parameter, ""))
