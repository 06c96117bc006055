"""Limits what a visitor sees to what they have a right to, and adds a row to the audit log for each
page that shows or exports conversations."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.web.access.gate import Visitor, visitor_of
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.live import ReplyState
from adapters.web.turns import Turn
from bot.core.errors import Invalid
from bot.core.messages import OWN_WORDS, PlanView, Provenance, Telling, Thread, Wording
from bot.core.reader import Reach, Reader, conversations_in, for_reader, telling
from bot.core.texts import Texts
from bot.rights.rights import Rights
from bot.storage.archive import KeptRun
from bot.storage.audit_log import Deed, named
from bot.storage.store import RunRecord
from bot.storage.tables import UNFINISHED

# The URL of a document in JSON text: it is ASCII, without quotation marks and backslashes.
_DOCUMENT = re.compile(r"(?:file:///|mcp:/|correction:/)[!#-\[\]_a-z~]+", re.IGNORECASE)


class Visibility:
    """The current rights of one visitor, read again for each request."""

    def __init__(self, rights: Rights, visitor: Visitor, texts: Texts) -> None:
        self._rights = rights
        self._visitor = visitor
        self._texts = texts

    @property
    def reach(self) -> Reach:
        return self._rights.reach(self._visitor.reader)

    @property
    def told(self) -> Telling:
        """The texts of wordings for the visitor."""
        return telling(self.reach, self._texts("words-out-of-reach"))

    def turn(self, turn: Turn) -> Turn:
        """Return the turn, without its question or reply if the visitor may not read one of their
        sources."""
        state = self.visible_state(turn.reply_state, turn.reader)
        question = self.told(Wording(turn.question, turn.made_from))
        if question != turn.question:
            state = replace(state, plan=None, text="")
        if state is turn.reply_state:
            return turn
        return replace(turn, reply_state=state, question=question)

    def visible_state(self, shown: ReplyState, asked: Reader) -> ReplyState:
        """Return what the visitor may see of a reply; ``asked`` is the reader it was made for. The
        sources of an unfinished run are not known yet, so a visitor who may not read everything
        that it may use sees neither its plan nor its text."""
        reach = self.reach
        answer, plan, text = shown.answer, shown.plan, shown.text
        if answer is not None:
            answer = for_reader(answer, reach, self._texts("answer-out-of-reach"))
        read = _sources_of(plan) if plan is not None else OWN_WORDS
        if not reach.includes(self._rights.reach(asked)) or not reach.covers(read):
            plan, text = None, ""
        if (answer, plan, text) == (shown.answer, shown.plan, shown.text):
            return shown
        return replace(shown, answer=answer, plan=plan, text=text)

    def may_see_run(self, kept: KeptRun, asked: Reader) -> bool:
        """Return True if the visitor may see everything stored about a run."""
        reach, record = self.reach, kept.record
        if reach.is_all or (record.state not in UNFINISHED and record.answer is not None):
            return reach.covers(_made_from(kept))
        # The groups of people in chats are not stored, so it is unknown which documents their runs
        # may use.
        is_known = asked.surface == "console" or reach.has_all_documents
        may_see = is_known and reach.includes(self._rights.reach(asked))
        return may_see and reach.covers(_made_from(kept))


def seeing(console: Console, request: Request) -> Visibility:
    """Return the rights of a request's visitor."""
    return Visibility(console.rights, visitor_of(request), texts_of(request))


def _sources_of(plan: PlanView) -> Provenance:
    """Return the pages that an unfinished run has read."""
    read = (url for step in plan.steps for url in step.sources)
    return Provenance.of((url for _, url in plan.numbered), read)


def _made_from(kept: KeptRun) -> Provenance:
    """Return everything that a run rests on, and all documents that it names anywhere."""
    record, pages = kept.record, (page.url for page in kept.pages)
    made_from = record.message.made_from | Provenance.of(pages)
    if record.answer is not None:
        made_from |= record.answer.rests_on
    results = [step.result for step in kept.steps]
    named = (url for result in results for url in _DOCUMENT.findall(result))
    said = (url for result in results for url in conversations_in(result))
    return made_from | Provenance.of(named, said)


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


def operator_only(page: Callable[..., Any]) -> Callable[..., Any]:
    """Restrict a page to operators, because it shows everyone's questions."""

    async def guarded(request: Request) -> Any:
        if not visitor_of(request).operator:
            raise HTTPException(403, texts_of(request)("web-for-operators"))
        return await page(request)

    return guarded


LONGEST_NAME = 300  # characters of a thread's name in a path


def encodable(text: str) -> str:
    """Return the text without lone surrogates, which JSON can contain but databases reject."""
    return text.encode("utf-8", "replace").decode("utf-8")


async def thread_named(console: Console, request: Request, name: str) -> Thread:
    """Return the thread with this name or key; respond with 404 if the visitor may not see it."""
    gone = HTTPException(404, texts_of(request)("web-thread-gone"))
    if not name.isprintable() or len(name) > LONGEST_NAME:
        raise gone
    try:
        thread = await console.archive.find(encodable(name))
    except Invalid:
        raise gone from None
    set_audit_object(request, named(thread.key))
    if not console.may_see_all(visitor_of(request), thread):
        raise gone
    return thread


async def own_thread_named(console: Console, request: Request, name: str) -> Thread:
    """Like ``thread_named``; respond with 422 for a thread of a chat, where nothing can be done."""
    thread = await thread_named(console, request, name)
    if thread.platform != "web":
        raise HTTPException(422, texts_of(request)("web-not-here"))
    return thread


async def run_named(console: Console, request: Request, name: str) -> RunRecord:
    """Return the run with this id; respond with 404 if the visitor may not see it."""
    run = await console.store.run(name) if name.isalnum() and len(name) <= 64 else None
    if run is None or run.removed or not console.may_see(visitor_of(request), run.message.thread):
        raise HTTPException(404, texts_of(request)("question-gone"))
    return run
