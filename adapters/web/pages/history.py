"""The pages that list, search, rename, pin, delete and share conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.access.gate import Visitor, is_program, visitor_of
from adapters.web.access.visibility import encodable, own_thread_named, seeing, with_audit
from adapters.web.console import Console
from adapters.web.display import clock_of, texts_of
from adapters.web.forms import form_of, pairs_of
from adapters.web.limits import FOUND_AT_ONCE, LONGEST_TITLE, THREADS_LISTED
from bot.core.errors import StorageUnavailable
from bot.core.lines import one_line, shortened
from bot.core.logs import get_logger
from bot.core.messages import Thread, Wording
from bot.rendering.markdown_tables import plain_lines
from bot.rendering.marks import without_marks
from bot.service.deletion import day_after
from bot.storage.console import ListedConversation
from bot.storage.forgetting import Subject
from bot.text.sentences import sentences
from bot.text.terms import terms

TITLE = 80  # characters of a thread's name in the list
SNIPPET = 180
MANY = "thread[]"  # the field of a form that names several conversations
NONE: Mapping[str, str] = MappingProxyType({})

log = get_logger()


@dataclass(frozen=True, slots=True)
class Link:
    """A thread in the list. ``at`` is in the reader's time zone; ``alike`` tells that another has
    the same title. ``snippet`` is the text that matched the search."""

    name: str
    title: str
    questions: int
    at: datetime
    pinned: bool
    alike: bool
    given: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The threads of a day, or the pinned ones, whose ``day`` is None. ``title`` is "" unless the
    day has a name, such as "today"."""

    title: str
    day: date | None
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the list. ``older`` is the position after which the next page begins, or 0."""

    groups: tuple[Group, ...]
    older: int = 0


def channel_of(visitor: Visitor) -> str | None:
    """Return the channel of the threads that a visitor may see; None for all channels."""
    return None if visitor.operator else visitor.channel


async def list_threads(console: Console, request: Request, before: int = 0) -> Page:
    """Return the visitor's threads, the latest first, from a position or the beginning on."""
    channel, told = channel_of(visitor_of(request)), seeing(console, request).told
    found = await console.history.latest(
        channel, THREADS_LISTED + 1, before=before or None, told=told
    )
    pinned = [] if before else await console.history.pinned(channel, told)
    shown = found[:THREADS_LISTED]
    older = shown[-1].place if len(found) > THREADS_LISTED else 0
    return Page(_groups(request, pinned, shown), older)


async def search_threads(console: Console, request: Request, text: str) -> Page:
    """Return the visitor's threads with the words in their given name, or in questions or answers
    that the visitor may read now."""
    channel, seen = channel_of(visitor_of(request)), seeing(console, request)
    await console.words.index()  # recently ended runs; ``platform`` indexes the rest
    found = await console.words.search(text, channel, FOUND_AT_ONCE)
    reach = seen.reach
    answers = await console.words.answers([each.run for each in found])
    snippets: dict[str, str] = {}
    keys = dict.fromkeys(await console.history.called(text.lower().split(), channel, FOUND_AT_ONCE))
    for each in found:
        asked, answer = answers.get(each.run, (Wording(""), None))
        question = asked.text if reach.covers(asked.made_from) else ""
        may = answer is not None and reach.covers(answer.rests_on)
        if (each.in_question and question) or may:
            keys[each.thread_key] = None
            said = answer.text if may and answer is not None else ""
            snippets.setdefault(each.thread_key, _snippet(text, question, said))
    kept = await console.history.of(keys, seen.told)
    return Page(_groups(request, [], kept, snippets))


async def _found(console: Console, request: Request) -> dict[str, Any]:
    """Return what a request searches for, or "", and the threads that it is to show."""
    asked = encodable(request.query_params.get("q", "")).strip()[:LONGEST_TITLE]
    if asked:
        return {"asked": asked, "found": await search_threads(console, request, asked)}
    before = request.query_params.get("before", "")
    place = int(before) if before.isdecimal() and len(before) < 19 else 0
    return {"asked": "", "found": await list_threads(console, request, place)}


def _snippet(text: str, question: str, said: str) -> str:
    """Return the sentence with most of the words, preferably from the answer, without Markdown and
    marks."""
    wanted = {*terms(text)}
    best, most = "", 0
    for line in (*plain_lines(without_marks(said)), *plain_lines(question)):
        for place in sentences(line):
            sentence = line[place.start : place.end]
            held = len(wanted.intersection(terms(sentence)))
            if held > most:
                best, most = sentence, held
    return shortened(one_line(best), SNIPPET)


def _groups(
    request: Request,
    pinned: Sequence[ListedConversation],
    kept: Sequence[ListedConversation],
    snippets: Mapping[str, str] = NONE,
) -> tuple[Group, ...]:
    texts, clock = texts_of(request), clock_of(request)
    names = Counter(one.name for one in (*pinned, *kept))
    today = datetime.now(clock).date()
    named = {
        None: texts("web-history-pinned"),
        today: texts("web-history-today"),
        today - timedelta(days=1): texts("web-history-yesterday"),
    }
    days: dict[date | None, list[Link]] = {}
    places = [(None, one) for one in pinned]
    for day, one in (*places, *((one.last_at.astimezone(clock).date(), one) for one in kept)):
        link = Link(
            name=one.thread.thread,
            title=shortened(one_line(one.name), TITLE),
            questions=one.questions,
            at=one.last_at.astimezone(clock),
            pinned=one.pinned,
            alike=names[one.name] > 1,
            given=one.title,
            snippet=snippets.get(one.thread.key, ""),
        )
        days.setdefault(day, []).append(link)
    return tuple(Group(named.get(day, ""), day, tuple(links)) for day, links in days.items())


def history_pages(console: Console) -> Sequence[BaseRoute]:
    history = console.history

    async def page(request: Request) -> Response:
        """List all conversations, page by page, or those that match a search."""
        return console.page(
            request,
            "history.html",
            **await _found(console, request),
            every=request.url.include_query_params(select="all").query,
            is_every="select" in request.query_params,
        )

    async def part(request: Request) -> Response:
        """Return the list of the sidebar, or what matches a search, for the script that updates
        it."""
        body = console.templates.fragment(
            "history_list.html",
            texts_of(request),
            **await _found(console, request),
            current=request.query_params.get("current", ""),
        )
        return HTMLResponse(body, headers={"Cache-Control": "no-store"})

    async def delete(request: Request) -> Response:
        """Ask whether the selected conversations are to be deleted, or delete them as ``footnote
        forget thread`` does, after stopping their runs."""
        is_sure = request.method == "POST"
        sent = await pairs_of(request) if is_sure else request.query_params.multi_items()
        names = dict.fromkeys(value for name, value in sent if name in ("thread", MANY))
        chosen = [await own_thread_named(console, request, name) for name in names]
        if chosen and not is_sure:
            keys = [thread.key for thread in chosen]
            kept = await history.of(keys, seeing(console, request).told)
            return console.page(request, "history_delete.html", chosen=kept)
        for thread in chosen:
            subject = Subject("thread", thread.platform, thread.key)
            forgetter = console.open_reception().forgetter
            await forgetter.forget(subject, day_after(datetime.now(UTC).date()))
        console.live.look_soon()
        return RedirectResponse(f"{console.settings.root}/conversations", status_code=303)

    async def change(deed: str, request: Request) -> Response:
        """Act on a whole conversation; then redirect to the page with the form, or tell a script
        what was done."""
        form, texts = await form_of(request), texts_of(request)
        thread = await own_thread_named(console, request, request.path_params["thread"])
        path, person = f"/threads/{thread.thread}", visitor_of(request).id
        match deed:
            case "rename":
                title = shortened(one_line(encodable(form.get("title", ""))), LONGEST_TITLE)
                await history.rename(thread, title, person)
            case "pin" | "unpin":
                await history.pin(thread, deed == "pin")
            case "share":
                await history.share(thread, person)
                path += "?open=share"
            case "unshare":
                await history.unshare(thread)
        if is_program(request):
            return JSONResponse({"told": texts(f"web-did-{deed}")})
        path = "/conversations" if form.get("back") == "list" else path
        return RedirectResponse(console.settings.root + path, status_code=303)

    return [
        Route("/conversations", with_audit(console, "read", "conversations", page)),
        Route("/conversations/list", part),
        Route("/conversations/delete", delete, methods=["GET", "POST"]),
        *(
            Route(f"/threads/{{thread}}/{deed}", partial(change, deed), methods=["POST"])
            for deed in ("rename", "pin", "unpin", "share", "unshare")
        ),
    ]


class Sidebar:
    """ASGI middleware that reads the visitor's conversations for the sidebar of a page, into
    ``request.state.threads``."""

    def __init__(self, app: ASGIApp, console: Console) -> None:
        self._app = app
        self._console = console

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("GET", "POST"):  # forms show pages too
            request = Request(scope)
            accepted = request.headers.get("accept", "*/*")
            if request.state.visitor is not None and ("text/html" in accepted or accepted == "*/*"):
                try:
                    request.state.threads = await list_threads(self._console, request)
                except StorageUnavailable as away:
                    log.warning("page without its sidebar", error=str(away))
        await self._app(scope, receive, send)


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
