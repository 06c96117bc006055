"""One run in progress. It alone knows what was done and paid, by this and earlier attempts: its
steps (stored in the journal), budget, plan and page numbers.

Every attempt executes the run from the beginning. Steps finished by an earlier attempt are found by
their key and not repeated, so everything in a key must be reproducible: the run's clock stays at
the time of acceptance, and failed searches and reads are results too, stored and replayed like any
other.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from time import monotonic
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import (
    Broken,
    BudgetSpent,
    FootnoteError,
    Invalid,
    PageUnreadable,
    Refused,
    StorageUnavailable,
    Unavailable,
)
from bot.core.logs import get_logger
from bot.core.messages import (
    TERMINAL,
    UPLOADED,
    Attachment,
    Message,
    PlanView,
    RunOptions,
    StepState,
    StepView,
    Transcript,
    Usage,
)
from bot.core.reader import (
    documents_in,
    documents_of,
    found_in,
    is_conversation,
    is_document,
    is_file,
)
from bot.core.texts import texts_for
from bot.pages.choosing import Chooser
from bot.pages.page import Page
from bot.pages.passages import Weight
from bot.reasoning.calls import ANSWERING, ModelReply
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Cut, Source, Suggested, TextDelta
from bot.research.budget import Account, Budget
from bot.research.library import Library
from bot.research.outcomes import (
    Failure,
    Notes,
    ReadOutcome,
    SearchOutcome,
    StreamOutcome,
    keep,
    stored_failure,
)
from bot.research.outgoing import Outgoing, Prefetcher
from bot.search.conversation_search import ELSEWHERE
from bot.search.filters import NO_FILTER, Filter
from bot.search.provider import ANY_TALK, UNKNOWN_DOCUMENT, Matched, ProviderKind, Query
from bot.storage.journal import Journal, RecordedStep, step_key
from bot.storage.spending import NOTHING, Amount

NOTHING_SAID = Transcript()


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """The question of a run, accepted at ``now``; ``transcript`` is the thread before it."""

    id: str
    message: Message
    options: RunOptions
    now: datetime
    transcript: Transcript = NOTHING_SAID


LONGEST = 6_000
"""Characters of a message that are analysed. The time that this takes grows with the length, and
what a question needs is at its beginning and its end."""

OMISSION = "\n\n[…]\n\n"


def without_middle(text: str) -> str:
    """The first and last characters of a long text, ``LONGEST`` in all; a short one unchanged."""
    end = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:end]}{OMISSION}{text[-end:]}"


def without_middles(transcript: Transcript) -> Transcript:
    """The transcript with what people wrote shortened by ``without_middle``."""
    return Transcript(
        tuple(
            replace(each, text=without_middle(each.text)) if each.role == "person" else each
            for each in transcript.entries
        )
    )


def whole_text(message: Message) -> Attachment | None:
    """A file with the whole text of a long message, to be read as a page; None for a short one."""
    if len(message.text) <= LONGEST:
        return None
    digest = hashlib.sha256(message.text.encode("utf-8", "replace")).hexdigest()[:16]
    return Attachment("message.txt", "text/plain", f"{UPLOADED}{digest}/message.txt")


@dataclass(frozen=True, slots=True)
class CorrectionReply:
    """The reply to an author about a correction, and whether it was stored."""

    sentence: str
    is_kept: bool = False


async def keep_nothing(statement: str) -> CorrectionReply | None:
    """Do nothing: the ``correct`` of runs without corrections."""
    return None


@dataclass(frozen=True, slots=True)
class Resources:
    """The sources that a run may search and read.

    ``download`` fetches the files sent with the message; they are read like pages, by the URL where
    a person opens them. At most ``prefetch_pages`` are read ahead. With ``keeps_documents``,
    queries to the web leave out words found only in documents. ``correct`` stores the message's
    statement as a correction of an answer; it returns None if corrections are off.
    """

    library: Library
    download: Callable[[Attachment, int], Awaitable[bytes]] | None = None
    prefetch_pages: int = 0
    keeps_documents: bool = True
    correct: Callable[[str], Awaitable[CorrectionReply | None]] = keep_nothing


T = TypeVar("T")

log = get_logger()

LAST_SECONDS = 5.0  # for storing a finished step when its run is cancelled

# Each task has its own context, so concurrent branches do not mix.
_branch: ContextVar[str] = ContextVar("branch", default="")


class Steps:
    """The steps of a run: each is carried out once, stored in the journal, and shown in the plan.
    ``changed`` is called whenever a line of the plan changes."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        self.journal = journal
        self._changed = changed
        self._lines: dict[str, StepView] = {}
        self._reasons: dict[tuple[str, str, str], str] = {}  # failure → the line that shows it
        self._under_way: dict[str, asyncio.Future[Any]] = {}

    @property
    def steps(self) -> tuple[StepView, ...]:
        return tuple(self._lines.values())

    @contextmanager
    def branch(self, id: str) -> Iterator[None]:
        """Put every line that first appears in the block under the line ``id``."""
        token = _branch.set(id)
        try:
            yield
        finally:
            _branch.reset(token)

    def show(self, view: StepView) -> None:
        """Set a line of the plan by its id; its parent stays the one it first had."""
        if not view.title:
            return
        earlier = self._lines.get(view.id)
        parent = earlier.parent if earlier is not None else view.parent or _branch.get()
        view = replace(view, parent=parent)
        if view.kind in ("search", "read") and view.state == "failed" and view.detail:
            # If nothing is reachable, sibling lines all fail for the same reason: show it once.
            told_by = self._reasons.setdefault((view.kind, parent, view.detail), view.id)
            view = view if told_by == view.id else replace(view, detail="")
        self._lines[view.id] = view
        self._changed()

    async def step(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        work: Callable[[], Awaitable[T]],
        shape: TypeAdapter[T],
        *,
        title: str,
        page: Callable[[], Page | None] = lambda: None,
        sources: tuple[str, ...] = (),
        cost: Callable[[T], Amount] = lambda result: NOTHING,
        is_shown: bool = True,
    ) -> T:
        """Return a step's result: from the journal, from the same step in progress, or by running
        it.

        ``page`` returns the page that the step has read, ``cost`` the cost of its result; both are
        stored with it. A step without a title, or not ``is_shown``, has no line in the plan. Raises
        what ``work`` raises, and ``RunLost``.
        """
        key = step_key(kind, inputs)
        while (recorded := self.journal.finished(key)) is None and key in self._under_way:
            other = self._under_way[key]
            try:
                return await asyncio.shield(other)
            except asyncio.CancelledError:
                if not other.cancelled() or _is_cancelled():
                    raise  # only the task that ran the step was cancelled: run it here
        if recorded is not None:
            result = shape.validate_json(recorded.result)
            if is_shown:
                self._show_finished(recorded, sources, _problem(result))
            return result
        twin: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._under_way[key] = twin
        line = StepView(key[:12], kind, title if is_shown else "", "running", sources=sources)
        started = monotonic()
        self.show(line)
        try:
            result = await work()
            seconds = monotonic() - started
            kept = shape.dump_json(result).decode()
            step = RecordedStep(key, kind, title, kept, seconds, datetime.now(UTC))
            await self._record(step, page(), cost(result))
        except BaseException as error:
            reason = error.sentence if isinstance(error, BudgetSpent) else ""
            seconds = monotonic() - started
            self.show(replace(line, state="failed", seconds=seconds, detail=reason))
            _log_end(kind, "failed", seconds)
            if isinstance(error, FootnoteError):
                twin.set_exception(error)
                twin.exception()  # retrieved here to avoid a warning if no one waits for it
            else:
                twin.cancel()
            raise
        finally:
            del self._under_way[key]
        twin.set_result(result)
        problem = _problem(result)
        state: StepState = "failed" if problem else "done"
        self.show(replace(line, state=state, seconds=seconds, detail=problem))
        _log_end(kind, state, seconds)
        return result

    async def keep(
        self, kind: str, inputs: Mapping[str, Any], result: T, shape: TypeAdapter[T], title: str
    ) -> T:
        """Store a result as a step; returns it, or that of an earlier attempt."""

        async def work() -> T:
            return result

        return await self.step(kind, inputs, work, shape, title=title)

    def recorded(self, kind: str, inputs: Mapping[str, Any], shape: TypeAdapter[T]) -> T | None:
        """Return the result of a step that this or an earlier attempt has finished, and show its
        line."""
        recorded = self.journal.finished(step_key(kind, inputs))
        if recorded is None:
            return None
        self._show_finished(recorded)
        return shape.validate_json(recorded.result)

    def _show_finished(
        self, step: RecordedStep, sources: tuple[str, ...] = (), problem: str = ""
    ) -> None:
        state: StepState = "failed" if problem else "done"
        line = StepView(step.key[:12], step.kind, step.title, state, step.seconds, problem, sources)
        self.show(line)

    async def _record(
        self, step: RecordedStep, page: Page | None = None, cost: Amount = NOTHING
    ) -> None:
        """Store a step even if the caller is cancelled, since it has been paid for."""
        recording = asyncio.create_task(self.journal.record(step, page, cost))
        # A caller cancelled twice no longer waits; the outcome is then ignored.
        recording.add_done_callback(lambda kept: kept.cancelled() or kept.exception())
        try:
            await asyncio.shield(recording)
        except asyncio.CancelledError:
            await asyncio.wait({recording}, timeout=LAST_SECONDS)
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)  # the cancellation wins
            raise

    @contextmanager
    def under_way(
        self, kind: str, inputs: Mapping[str, Any], title: str
    ) -> Iterator[Callable[[str, Amount], Awaitable[None]]]:
        """Show a streaming step; call the yielded function with its result and cost.

        Leaving the block without doing so marks the step as failed. That call raises ``RunLost``.
        """
        key = step_key(kind, inputs)
        line = StepView(key[:12], kind, title, "running")
        started = monotonic()
        self.show(line)
        state: StepState = "failed"

        async def finish(result: str, cost: Amount) -> None:
            nonlocal state
            seconds = monotonic() - started
            step = RecordedStep(key, kind, title, result, seconds, datetime.now(UTC))
            await self._record(step, cost=cost)
            state = "done"

        try:
            yield finish
        finally:
            seconds = monotonic() - started
            self.show(replace(line, state=state, seconds=seconds))
            _log_end(kind, state, seconds)


def _log_end(kind: str, state: StepState, seconds: float) -> None:
    """Log a step by its kind only: titles contain words of the question."""
    log.info("step ended", kind=kind, state=state, seconds=round(seconds, 3))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


def _problem(result: object) -> str:
    """Return why a step has not succeeded, for the asker; "" if it has."""
    return str(getattr(result, "said", "") or getattr(result, "problem", ""))


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run concurrently and return results in order; the first failure cancels the others and is
    raised.

    A cancellation that arrives meanwhile takes precedence over the failure: it may be a stop, which
    must not be lost. (``asyncio.TaskGroup`` would raise the failure.)
    """
    tasks = [asyncio.create_task(part) for part in work]
    if not tasks:
        return []
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    failed = (task for task in tasks if task in done and _failed(task))
    for task in failed:
        task.result()
    return [task.result() for task in tasks]


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.cancelled() or task.exception() is not None


@cache  # created on first use: it takes 10 ms, and runs without a model need none
def _reply() -> TypeAdapter[ModelReply]:
    return TypeAdapter(ModelReply)


@cache
def _stream() -> TypeAdapter[StreamOutcome]:
    return TypeAdapter(StreamOutcome)


class PaidCalls:
    """The model calls of a run: each is paid for and stored once. Implements
    ``reasoning.calls.ModelCalls``."""

    def __init__(self, run: Run) -> None:
        self.now = run.now
        self._run = run
        self._account = run.account

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply:
        async def ask() -> ModelReply:
            await held.enter_async_context(self._reserved(kind, request))
            return await send()

        def paid(reply: ModelReply) -> Amount:
            if self._run.is_to_pay(kind, request):
                self._pay(reply)
            return self._account.amount(reply)

        async with AsyncExitStack() as held:  # until it is paid for
            reply = await self._run.step(kind, request, ask, _reply(), title=title, cost=paid)
        paid(reply)  # counts it if it was found in the journal
        return reply

    async def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncGenerator[AnswerDelta]:
        recorded = self._run.recorded(kind, request, _stream())
        if recorded is not None:
            if self._run.is_to_pay(kind, request):
                self._pay(recorded.reply)
            for delta in recorded.deltas:
                yield delta
            return
        kept: list[TextDelta | CitationDelta | Cut | Suggested] = []
        reply: ModelReply | None = None
        async with self._reserved(kind, request):  # until it is paid for
            with self._run.under_way(kind, request, title) as finish:
                async for part in open():
                    if isinstance(part, ModelReply):
                        reply = part
                        continue
                    keep(kept, part)
                    yield part
                if reply is None:
                    raise RuntimeError("a model stream ended without its reply")
                result = _stream().dump_json(StreamOutcome(tuple(kept), reply)).decode()
                self._pay(reply)
                await finish(result, self._account.amount(reply))

    @asynccontextmanager
    async def _reserved(self, kind: str, request: Mapping[str, Any]) -> AsyncIterator[None]:
        """Reserve a call's cost. If a daily budget does not cover it, show that in the plan, so
        that the asker knows before the answer begins."""
        hold = self._account.charge if kind in ANSWERING else self._account.cover
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(hold(request))
            except BudgetSpent as spent:
                if spent.is_of_day:
                    title = self._run.notes.described(spent)
                    self._run.show(StepView(spent.text_id, "budget", title, "failed"))
                raise
            yield

    def count_lost(self, reply: ModelReply) -> None:
        amount = replace(self._account.amount(reply), model_calls=0)
        if amount.tokens:  # otherwise nothing was started
            self._run.journal.owe(replace(amount, model_calls=1))
            self._count(reply, amount)

    def _pay(self, reply: ModelReply) -> None:
        self._count(reply, self._account.amount(reply))

    def _count(self, reply: ModelReply, amount: Amount) -> None:
        if amount.unpriced_calls:
            self._run.note(self._run.texts("price-unknown", model=reply.model))
        self._account.pay(amount)


_search = TypeAdapter(SearchOutcome)
_read = TypeAdapter(ReadOutcome)
_ready = TypeAdapter(tuple[str, ...])
_weights = TypeAdapter(tuple[Weight, ...])
_filter = TypeAdapter(tuple[Filter, bool])
_matched = TypeAdapter(Matched)


class Run(Steps):
    """See the module docstring. The reasoner makes model calls through ``calls``; ``account`` holds
    spending and limits. ``publish`` is called with the whole plan whenever it changes."""

    def __init__(
        self,
        asked: RunQuestion,
        resources: Resources,
        journal: Journal,
        account: Account,
        publish: Callable[[PlanView], None],
    ) -> None:
        super().__init__(journal, lambda: self.publish(self.plan()))
        self.id = asked.id
        self.message = asked.message
        self.options = asked.options
        self.now = asked.now
        self.only = NO_FILTER  # restricts searches in documents
        self.asked_for = Filter(asked.options.within, asked.options.since, asked.options.until)
        self.texts = texts_for(asked.message.locale)
        self.queries: list[str] = []
        self.sources: list[Source] = []  # everything shown to any loop of the run
        library = resources.library
        self._outgoing = Outgoing(
            library,
            asked.message,
            asked.transcript,
            self.sources,
            keeps_documents=resources.keeps_documents,
        )
        self.hear = self._outgoing.hear
        # An earlier attempt's requests are in the journal, so nothing needs to be prefetched again.
        pages_ahead = 0 if journal.seconds else resources.prefetch_pages
        self.prefetcher = Prefetcher(library, self._outgoing, pages_ahead, asked.options.providers)
        self._found: set[str] = set()  # the URLs of all hits
        self.rarity: dict[str, float] = {}  # of the terms searched for: see ``Evidence``
        self.recalled: dict[str, str] = {}  # pages of earlier answers to reuse: URL → hash
        self.unanswered = ""  # why no search has succeeded so far, once one was tried
        self.is_answered = False  # whether any search has succeeded
        self._failed: Counter[str] = Counter()  # number of failures of each search, by key
        self.library = library
        self.account = account
        self._download = resources.download
        self.correct = resources.correct
        self._made_from = documents_of(asked.transcript) | asked.message.made_from
        self._whole_text = whole_text(asked.message)
        own = () if self._whole_text is None else (self._whole_text,)
        sent = asked.message.attachments
        self.files = (*(file for file in sent if not file.unread), *own)
        before = {file.url: file for each in asked.transcript.entries for file in each.files}
        self.attachments = before | {file.url: file for file in self.files}
        self.page_of_file = library.page_of_file  # or that of ``PictureReading``
        self.notes = Notes(
            self.texts, self.attachments, for_operator=asked.message.thread.platform == TERMINAL
        )
        for file in sent:
            if file.unread:
                self.notes.not_seen(self.texts(file.unread, name=file.name))
        self.publish = publish
        self.calls = PaidCalls(self)

    # ------------------------------------------------------------ outside view

    @property
    def usage(self) -> Usage:
        return self.account.usage

    @property
    def budget(self) -> Budget:
        return self.account.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self.account.budget = budget

    @property
    def documents(self) -> tuple[str, ...]:
        """The addresses of the operator's documents and the conversations that the run has seen,
        through searches, reads, corrections or earlier answers of the thread."""
        shown = {url for step in self.steps for url in step.sources}
        every = {*self._found, *self.numbered.values(), *shown}
        if any(map(is_conversation, every)):
            every.add(found_in(self.message.thread.place))
        return (documents_in(every) | self._made_from).urls

    @property
    def numbered(self) -> dict[int, str]:
        """The URLs of the pages shown to any loop, by their number in the run."""
        return {source.number: source.url for source in self.sources}

    def plan(self) -> PlanView:
        return PlanView(self.message.text, self.steps, tuple(self.numbered.items()))

    # ------------------------------------------------------------ searching and reading

    def is_to_pay(self, kind: str, inputs: Mapping[str, Any]) -> bool:
        """Return True the first time a step occurs, unless an earlier version of the question has
        paid for it."""
        is_earlier = self.journal.is_earlier(step_key(kind, inputs))
        return not is_earlier and self.account.first_time(kind, inputs)

    @property
    def can_search(self) -> frozenset[ProviderKind]:
        """The kinds that this run can search: the web, documents, or both."""
        return self.library.can_search(self.options.providers)

    async def narrow(self, only: Filter) -> Filter:
        """Restrict this run's searches in documents, as far as a filter applies to any.

        Returns what applies. It is stored, since documents may change before the next attempt.
        """
        inputs = asdict(only)
        self.only, is_empty = await self.step(
            "filter", inputs, lambda: self.library.narrowed(only), _filter, title=""
        )
        if is_empty:
            self.notes.widened_from(replace(only, named=()))
        return self.only

    async def narrow_exactly(self, only: Filter) -> None:
        """Restrict this run's searches in documents to a filter. Raises ``Invalid``, with similar
        names, if it means no document."""
        inputs = {"exactly": asdict(only)}
        is_any, near = await self.step(
            "filter", inputs, lambda: self.library.matched(only), _matched, title=""
        )
        if not is_any:
            raise Invalid(self.notes.unmatched(only, near))
        self.only = only

    def widen(self) -> None:
        """Search all documents again, since those that the filter means have nothing."""
        self.notes.widened_from(self.only)
        self.only = NO_FILTER

    async def search(self, query: Query, kind: ProviderKind | None = None) -> SearchOutcome:
        """Search the providers; if all of them fail, that is an outcome, not an exception.

        ``kind`` narrows them to the web or to documents: see ``search.blend.Search.search``.
        """
        providers = self.options.providers
        query = replace(query, only=self.only)
        # Without the reach: the journal itself distinguishes it (``storage.journal``).
        empty = ("talk", query.talk == ANY_TALK), ("only", not query.only)
        unkeyed = ("reach", *(name for name, is_empty in empty if is_empty))
        asked_for = {name: value for name, value in asdict(query).items() if name not in unkeyed}
        inputs = {**asked_for, "providers": list(providers), "kind": kind or ""}
        asked = step_key("search", inputs)
        if failed := self._failed[asked]:  # a failed search is tried again
            inputs["failed"] = failed

        async def ask() -> SearchOutcome:
            self.budget.check_time(self.usage)
            price = self.library.price(providers, kind)
            await held.enter_async_context(self.account.cover_search(price))
            withheld = ""
            try:
                found = await self.prefetcher.found(query, kind)
                if found is None:
                    found, withheld = await self._outgoing.reach(query, providers, kind)
            except (Unavailable, Refused, Broken) as error:
                said = self.notes.of_search(error.sentence)
                return SearchOutcome(hits=(), problem=error.sentence, said=said)
            return SearchOutcome(
                found.hits,
                found.failures,
                rarity=found.rarity,
                missing=found.missing,
                withheld=withheld,
                spent=found.spent,
            )

        def cost(outcome: SearchOutcome) -> Amount:
            return self.account.amount_of_search(outcome.spent)

        async with AsyncExitStack() as held:
            try:
                outcome = await self.attempted(
                    lambda: self.step("search", inputs, ask, _search, title=query.text, cost=cost),
                    inputs={**inputs, "step": "search"},
                )
            except BudgetSpent as spent:
                problem = self._not_covered(spent, "budget-searches")
                key = step_key("search", inputs)[:12]
                self.show(StepView(key, "search", query.text, "failed", detail=problem))
                return SearchOutcome(hits=(), problem=problem)
            if self.is_to_pay("search", inputs):
                self.account.count(searches=1)
                self.account.pay(cost(outcome))
        is_asked = bool(outcome.hits) or not outcome.withheld
        if is_asked and query.text not in self.queries:
            self.queries.append(query.text)
        self.rarity |= outcome.rarity
        self._outgoing.show(outcome.hits)
        for hit in outcome.hits:
            self._found.add(hit.url)
            self._made_from |= hit.made_from
        for failure in outcome.failures:
            self.note(self.notes.of_search(failure))
        if outcome.withheld and not outcome.hits:
            self.note(self.texts("queries-withheld"))
        if outcome.missing:
            self.notes.unindexed(outcome.missing)
        said = outcome.said or outcome.problem
        if said:
            self._failed[asked] += 1
            self.note(said)
        self.is_answered = self.is_answered or not outcome.problem
        self.unanswered = "" if self.is_answered else said
        return outcome

    async def note_unread(self, cited: Sequence[str]) -> None:
        """Add a note of what could not be read: parts of the documents among those ``cited`` or, if
        nothing is, the files of other kinds beside those that were searched."""
        documents = list(filter(is_document, cited))
        if documents or not cited:
            found = await self.library.unread(documents, self.options.providers)
            self.notes.lacking(found, cited)

    async def read(self, urls: Sequence[str], titles: Sequence[str] = ()) -> list[Page | str]:
        """Read pages concurrently; returns in order each page, or a sentence why it cannot be
        read."""
        named = dict(zip(urls, titles, strict=False))
        named |= {url: file.name for url, file in self.attachments.items()}
        return await together(self._read(url, named.get(url) or url) for url in urls)

    async def look(self, urls: Sequence[str], titles: Sequence[str]) -> list[Page]:
        """Return the pages that can be read, in order, to check which of them match: they are
        neither counted nor shown in the plan until ``read`` is called."""
        pages = await together(
            self._read(url, title or url, looks=True)
            for url, title in zip(urls, titles, strict=True)
        )
        return [page for page in pages if isinstance(page, Page)]

    @property
    def chooser(self) -> Chooser:
        return self.library.chooser

    async def weigh(self, question: str, page: Page) -> tuple[Weight, ...]:
        """Return the semantic similarity of a page's passages to a question; empty if unknown. The
        result is stored like a search's, since vectors may change before the next attempt."""
        inputs = {"question": question, "url": page.url, "hash": page.hash}
        if not self.library.weighs(page.url):
            return self.recorded("weigh", inputs, _weights) or ()

        async def weigh() -> tuple[Weight, ...]:
            try:
                return await self.library.weigh(question, page.url)
            except (Unavailable, Refused, Broken) as error:
                log.info("page_not_weighed", url=page.url, error=str(error))
                return ()

        return await self.step("weigh", inputs, weigh, _weights, title="")

    async def ready(
        self, urls: Sequence[str], titles: Sequence[str], seconds: float
    ) -> tuple[str, ...]:
        """Return the pages that can be read within ``seconds``, in the order given.

        They are read and stored before the fact that they were ready is stored.
        """

        async def look() -> tuple[str, ...]:
            self.budget.check_time(self.usage)
            kept = [url for url in urls if self._has_read(url)]
            soon = await self.prefetcher.ready([url for url in urls if url not in kept], seconds)
            named = [(u, t) for u, t in zip(urls, titles, strict=True) if u in kept or u in soon]
            await self.look([url for url, _ in named], [title for _, title in named])
            return tuple(url for url, _ in named)

        inputs = {"urls": list(urls)}
        return await self.attempted(
            lambda: self.step("ready", inputs, look, _ready, title=""),
            inputs={**inputs, "step": "ready"},
        )

    def _has_read(self, url: str) -> bool:
        recorded = self.journal.finished(step_key("read", {"url": url}))
        return recorded is not None and not _read.validate_json(recorded.result).problem

    async def attempted(self, work: Callable[[], Awaitable[T]], *, inputs: Mapping[str, Any]) -> T:
        """Do ``work``, or raise its error again if it failed on an earlier attempt; ``inputs``
        identify the work. Raises what it raises."""
        inputs = {**inputs, "asked": self.now.isoformat()}  # an edited question starts over
        earlier = self.recorded("failure", inputs, stored_failure)
        if earlier is not None:
            raise earlier.error
        try:
            return await work()
        except StorageUnavailable:
            raise  # it cannot be stored either
        except (BudgetSpent, Unavailable, Refused, Broken) as error:
            await self.keep("failure", inputs, Failure.of(error), stored_failure, "")
            raise

    async def number(self, pages: Sequence[Page]) -> list[int]:
        """Return the pages' citation numbers in this run, in the order given."""
        return await self.journal.number(pages)

    def note(self, sentence: str) -> None:
        self.notes.say(sentence)

    async def _read(self, url: str, title: str, *, looks: bool = False) -> Page | str:
        if not self.library.allows(url):  # even if an earlier answer of the thread cites it
            why = ELSEWHERE if is_conversation(url) else UNKNOWN_DOCUMENT
            self.notes.worded[why] = self.notes.of_page(PageUnreadable(why))
            return why
        fetched: list[Page] = []

        async def fetch() -> ReadOutcome:
            self.budget.check_time(self.usage)
            try:
                if stored is None:
                    held.enter_context(self.account.cover_page())
                page = stored or await self._fetched(url)
            except StorageUnavailable:
                raise  # a model's reading was not stored: the step has not ended
            except (Unavailable, Refused, Broken) as error:
                said = self.notes.of_page(error)
                return ReadOutcome(url=url, problem=error.sentence, said=said)
            fetched.append(page)
            return ReadOutcome(page.url, page.hash, page.title, made_from=page.made_from)

        inputs = {"url": url}
        stored = await self._recalled(url)
        if stored is not None:
            inputs["hash"], title = stored.hash, ""  # nothing is fetched, so the plan shows no line

        async def read() -> ReadOutcome:
            return await self.step(
                "read",
                inputs,
                fetch,
                _read,
                title=title,
                page=lambda: fetched[0] if fetched else None,
                sources=(url,),
                is_shown=not looks,
            )

        with ExitStack() as held:
            try:
                outcome = await self.attempted(read, inputs={**inputs, "step": "read"})
            except BudgetSpent as spent:
                if looks:
                    return spent.sentence
                problem = self._not_covered(spent, "budget-pages")
                key = step_key("read", inputs)[:12]
                self.show(StepView(key, "read", title, "failed", detail=problem, sources=(url,)))
                return problem
            is_read = not (outcome.problem or looks) and stored is None
            if is_read and self.is_to_pay("read", inputs):
                self.account.count(pages=1)
        self._made_from |= outcome.made_from
        if outcome.problem:
            self.notes.worded[outcome.problem] = outcome.said or outcome.problem
            return outcome.problem
        return fetched[0] if fetched else await self.journal.page(outcome.url, outcome.hash)

    def is_question(self, url: str) -> bool:
        """Return True for the page with the whole text of the question itself."""
        return self._whole_text is not None and url == self._whole_text.url

    async def _recalled(self, url: str) -> Page | None:
        """Return the page as cited by an earlier answer of the thread, if it is still stored."""
        page_hash = self.recalled.get(url)
        return None if page_hash is None else await self.journal.stored(url, page_hash)

    def _not_covered(self, spent: BudgetSpent, text_id: str) -> str:
        """Return the sentence for one search or page too many, which does not stop other work."""
        if spent.text_id != text_id:
            raise spent
        return self.notes.say(self.notes.described(spent))

    async def _fetched(self, url: str) -> Page:
        attachment = self.attachments.get(url)
        if attachment is not None and attachment == self._whole_text:
            body = self.message.text.encode("utf-8", "replace")
            return await self.library.page_of_file(attachment, body)
        if attachment is None or self._download is None or is_file(url):
            return await self.prefetcher.page(url) or await self.library.read(url)
        body = await self._download(attachment, self.library.largest)
        return await self.page_of_file(attachment, body)
