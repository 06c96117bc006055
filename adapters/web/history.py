"""The pages that list, search, rename, pin, delete and share conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.asking import encodable, thread_named
from adapters.web.auditing import with_audit
from adapters.web.console import Console, texts_of, visitor_of
from adapters.web.forms import form_of
from adapters.web.limits import LONGEST_TITLE
from adapters.web.threads import list_threads, search_threads
from adapters.web.visibility import seeing
from bot.core.lines import one_line, shortened
from bot.core.messages import Thread
from bot.service.deletion import day_after
from bot.storage.subjects import Subject

Deed = Callable[[Request, Thread, Mapping[str, str]], Awaitable[str]]


def history_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of these pages."""
    pages = _History(console)
    deeds: Mapping[str, Deed] = {
        "rename": pages.rename,
        "pin": pages.pin,
        "unpin": pages.unpin,
        "share": pages.share,
        "unshare": pages.unshare,
        "delete": pages.delete,
    }
    return [
        Route("/conversations", with_audit(console, "read", "conversations", pages.page)),
        Route("/conversations/list", pages.part),
        *(
            Route(f"/threads/{{thread}}/{name}", pages.doing(deed), methods=["POST"])
            for name, deed in deeds.items()
        ),
    ]


async def about(console: Console, request: Request, thread: Thread | None) -> dict[str, Any]:
    """Return values about a conversation as a whole for its page's template."""
    if thread is None or thread.platform != "web":
        return {"title": "", "kept": None, "link": ""}
    found = await console.history.of([thread.key], seeing(console, request).told)
    token = await console.history.token_of(thread)
    return {
        "title": one_line(found[0].name) if found else "",
        "kept": found[0] if found else None,
        "link": address_of(console, request, f"/shared/{token}") if token else "",
    }


def address_of(console: Console, request: Request, path: str) -> str:
    """Return the full URL at which others can open a page."""
    base = console.settings.public_url.rstrip("/")
    return f"{base or f'{request.url.scheme}://{request.url.netloc}'}{path}"


class _History:
    def __init__(self, console: Console) -> None:
        self._console = console

    # ------------------------------------------------------------ pages

    async def page(self, request: Request) -> Response:
        """List all conversations, page by page, or those that match a search."""
        texts = texts_of(request)
        asked = encodable(request.query_params.get("q", "")).strip()[:LONGEST_TITLE]
        if asked:
            found = await search_threads(self._console, request, texts, asked)
        else:
            found = await list_threads(self._console, request, texts, _place(request))
        return self._console.page(request, "conversations.html", found=found, asked=asked)

    async def part(self, request: Request) -> Response:
        """Return the list beside a conversation, for the script that updates it."""
        texts = texts_of(request)
        body = self._console.templates.fragment(
            "threads.html",
            texts,
            page=await list_threads(self._console, request, texts),
            current=request.query_params.get("current", ""),
        )
        return HTMLResponse(body, headers={"Cache-Control": "no-store"})

    # ------------------------------------------------------------ doing

    def doing(self, deed: Deed) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of a form that acts on a whole conversation; it redirects to the page
        with the form."""

        async def done(request: Request) -> Response:
            form = await form_of(request)
            thread = await thread_named(self._console, request, request.path_params["thread"])
            if thread.platform != "web":
                raise HTTPException(422, texts_of(request)("web-not-here"))
            path = await deed(request, thread, form)
            if form.get("back") == "list":
                path = "/conversations"
            return RedirectResponse(self._console.settings.root + path, status_code=303)

        return done

    async def rename(self, request: Request, thread: Thread, form: Mapping[str, str]) -> str:
        title = shortened(one_line(encodable(form.get("title", ""))), LONGEST_TITLE)
        await self._console.history.rename(thread, title, visitor_of(request).id)
        return f"/threads/{thread.thread}"

    async def pin(self, request: Request, thread: Thread, form: Mapping[str, str]) -> str:
        await self._console.history.pin(thread, True)
        return f"/threads/{thread.thread}"

    async def unpin(self, request: Request, thread: Thread, form: Mapping[str, str]) -> str:
        await self._console.history.pin(thread, False)
        return f"/threads/{thread.thread}"

    async def share(self, request: Request, thread: Thread, form: Mapping[str, str]) -> str:
        await self._console.history.share(thread, visitor_of(request).id)
        return f"/threads/{thread.thread}#about"

    async def unshare(self, request: Request, thread: Thread, form: Mapping[str, str]) -> str:
        await self._console.history.unshare(thread)
        return f"/threads/{thread.thread}#about"

    async def delete(self, request: Request, thread: Thread, form: Mapping[str, str]) -> str:
        """Delete a conversation as ``footnote forget thread`` does, after stopping its runs."""
        subject = Subject("thread", thread.platform, thread.key)
        forgetter = self._console.open_reception().forgetter
        await forgetter.forget(subject, day_after(datetime.now(UTC).date()))
        self._console.live.look_soon()
        return "/"


def _place(request: Request) -> int:
    told = request.query_params.get("before", "")
    return int(told) if told.isdecimal() and len(told) < 19 else 0
