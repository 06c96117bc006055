"""The pages that list, search, rename, pin, delete and share conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import Visitor, visitor_of
from adapters.web.access.visibility import encodable, seeing, thread_named, with_audit
from adapters.web.console import Console
from adapters.web.forms import form_of
from adapters.web.limits import FOUND_AT_ONCE, LONGEST_TITLE, THREADS_LISTED
from adapters.web.preferences import clock_of, texts_of
from bot.core.lines import one_line, shortened
from bot.core.messages import Thread
from bot.core.provenance import Wording
from bot.core.texts import Texts
from bot.rendering.marks import without_marks
from bot.rendering.tables import plain_lines
from bot.service.forgetting import day_after
from bot.storage.history import ListedConversation
from bot.storage.subjects import Subject
from bot.text.sentences import sentences
from bot.text.terms import terms

TITLE = 80  # characters of a thread's name in the list
SNIPPET = 180


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


async def list_threads(console: Console, request: Request, texts: Texts, before: int = 0) -> Page:
    """Return the visitor's threads, the latest first, from a position or the beginning on."""
    channel, clock = channel_of(visitor_of(request)), clock_of(request)
    told = seeing(console, request).told
    found = await console.history.latest(
        channel, THREADS_LISTED + 1, before=before or None, told=told
    )
    pinned = [] if before else await console.history.pinned(channel, told)
    shown = found[:THREADS_LISTED]
    older = shown[-1].place if len(found) > THREADS_LISTED else 0
    return Page(_groups(pinned, shown, texts, clock), older)


async def search_threads(console: Console, request: Request, texts: Texts, text: str) -> Page:
    """Return the visitor's threads with the words in their given name, or in questions or answers
    that the visitor may read now."""
    channel, clock = channel_of(visitor_of(request)), clock_of(request)
    await console.words.index()  # recently ended runs; ``platform`` indexes the rest
    found = await console.words.search(text, channel, FOUND_AT_ONCE)
    seen = seeing(console, request)
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
    return Page(_groups([], kept, texts, clock, snippets))


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
    pinned: Sequence[ListedConversation],
    kept: Iterable[ListedConversation],
    texts: Texts,
    clock: tzinfo,
    snippets: dict[str, str] | None = None,
) -> tuple[Group, ...]:
    kept = [*kept]
    names = Counter(one.name for one in (*pinned, *kept))
    today = datetime.now(clock).date()
    days: dict[date, list[Link]] = {}

    def link(one: ListedConversation) -> Link:
        return Link(
            name=one.thread.thread,
            title=shortened(one_line(one.name), TITLE),
            questions=one.questions,
            at=one.last_at.astimezone(clock),
            pinned=one.pinned,
            alike=names[one.name] > 1,
            given=one.title,
            snippet=(snippets or {}).get(one.thread.key, ""),
        )

    for one in kept:
        made = link(one)
        days.setdefault(made.at.date(), []).append(made)
    named = {
        today: texts("web-history-today"),
        today - timedelta(days=1): texts("web-history-yesterday"),
    }
    groups = [Group(named.get(day, ""), day, tuple(links)) for day, links in days.items()]
    if pinned:
        first = Group(texts("web-history-pinned"), None, tuple(map(link, pinned)))
        groups.insert(0, first)
    return tuple(groups)


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
        return self._console.page(request, "history.html", found=found, asked=asked)

    async def part(self, request: Request) -> Response:
        """Return the list beside a conversation, for the script that updates it."""
        texts = texts_of(request)
        body = self._console.templates.fragment(
            "history_list.html",
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
