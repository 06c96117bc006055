"""One run in progress: its steps (stored in the journal), budget, plan and page numbers.

Every attempt executes the run from the beginning. Steps finished by an earlier attempt are found by
their key and not repeated, so everything in a key must be reproducible: the run's clock stays at
the time of acceptance, and failed searches and reads are results too, stored and replayed like any
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import Broken, BudgetSpent, PageUnreadable, Refused, Unavailable
from bot.core.logs import get_logger
from bot.core.messages import PlanView, StepView, Usage
from bot.core.reader import documents_in, documents_of, found_in, is_conversation
from bot.core.texts import texts_for
from bot.pages.choosing import Chooser
from bot.pages.page import Page
from bot.pages.passages import Weight
from bot.reasoning.evidence import Source
from bot.research.budget.account import Account
from bot.research.budget.budget import Budget
from bot.research.evidence.outgoing import Outgoing
from bot.research.evidence.prefetch import Prefetcher
from bot.research.inputs import Resources, RunQuestion, whole_text
from bot.research.notes import Notes
from bot.research.outcomes import ReadOutcome, SearchOutcome, attempted
from bot.research.steps import PaidCalls, Steps, together
from bot.search.conversation_search import ELSEWHERE
from bot.search.provider import ANY_TALK, UNKNOWN_DOCUMENT, ProviderKind, Query
from bot.storage.journal import Journal, step_key

log = get_logger()

T = TypeVar("T")

_search = TypeAdapter(SearchOutcome)
_read = TypeAdapter(ReadOutcome)
_ready = TypeAdapter(tuple[str, ...])
_weights = TypeAdapter(tuple[Weight, ...])


class Run:
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
        self.id = asked.id
        self.message = asked.message
        self.options = asked.options
        self.now = asked.now
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
        # An earlier attempt's requests are in the journal, so nothing needs to be prefetched again.
        pages_ahead = 0 if journal.seconds else resources.prefetch_pages
        self.prefetcher = Prefetcher(library, self._outgoing, pages_ahead, asked.options.providers)
        self._found: set[str] = set()  # the URLs of all hits
        self.rarity: dict[str, float] = {}  # of the terms searched for: see ``Evidence``
        self.recalled: dict[str, str] = {}  # pages of earlier answers to reuse: URL → hash
        self.unanswered = ""  # why no search has succeeded so far, once one was tried
        self.is_answered = False  # whether any search has succeeded
        self._failed: Counter[str] = Counter()  # number of failures of each search, by key
        self._journal = journal
        self._library = library
        self.account = account
        self._download = resources.download
        self.correct = resources.correct
        self._made_from = documents_of(asked.transcript) | asked.message.made_from
        self._whole_text = whole_text(asked.message)
        own = () if self._whole_text is None else (self._whole_text,)
        self.files = (*asked.message.attachments, *own)
        self._attachments = {file.url: file for file in self.files}
        self.notes = Notes(self.texts, self._attachments)
        self.publish = publish
        self._steps = Steps(journal, lambda: self.publish(self.plan()))
        self.calls = PaidCalls(journal, self._steps, account, self.notes, asked.now)

    # ------------------------------------------------------------ outside view

    @property
    def usage(self) -> Usage:
        """The usage so far, including finished steps of earlier attempts."""
        return self.account.usage

    @property
    def budget(self) -> Budget:
        """The limits on this run's spending."""
        return self.account.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self.account.budget = budget

    @property
    def steps(self) -> tuple[StepView, ...]:
        """The lines of the plan."""
        return self._steps.views

    def show(self, line: StepView) -> None:
        """Set a line of the plan that is not a step itself, such as a sub-question."""
        self._steps.show(line)

    def branch(self, id: str) -> AbstractContextManager[None]:
        """Return a context in which new lines of the plan belong under the line ``id``."""
        return self._steps.branch(id)

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

    @property
    def can_search(self) -> frozenset[ProviderKind]:
        """The kinds that this run can search: the web, documents, or both."""
        return self._library.can_search(self.options.providers)

    async def search(self, query: Query, kind: ProviderKind | None = None) -> SearchOutcome:
        """Search the providers; if all of them fail, that is an outcome, not an exception.

        ``kind`` narrows them to the web or to documents: see ``search.blend.Search.search``.
        """
        providers = self.options.providers
        # Without the reach: the journal itself distinguishes it (``storage.journal``).
        unkeyed = ("reach", "talk") if query.talk == ANY_TALK else ("reach",)
        asked_for = {name: value for name, value in asdict(query).items() if name not in unkeyed}
        inputs = {**asked_for, "providers": list(providers), "kind": kind or ""}
        asked = step_key("search", inputs)
        if failed := self._failed[asked]:  # a failed search is tried again
            inputs["failed"] = failed

        async def ask() -> SearchOutcome:
            self.budget.check_time(self.usage)
            held.enter_context(self.account.cover_search())
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
            )

        with ExitStack() as held:
            try:
                outcome = await attempted(
                    self,
                    lambda: self._steps.do("search", inputs, ask, _search, title=query.text),
                    inputs={**inputs, "step": "search"},
                )
            except BudgetSpent as spent:
                problem = self._not_covered(spent, "budget-searches")
                key = step_key("search", inputs)[:12]
                self.show(StepView(key, "search", query.text, "failed", detail=problem))
                return SearchOutcome(hits=(), problem=problem)
            if self.account.first_time("search", inputs):
                self.account.count(searches=1)
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

    async def read(self, urls: Sequence[str], titles: Sequence[str] = ()) -> list[Page | str]:
        """Read pages concurrently; returns in order each page, or a sentence why it cannot be
        read."""
        named = dict(zip(urls, titles, strict=False))
        named |= {url: file.name for url, file in self._attachments.items()}
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
        """The chooser of passages to show."""
        return self._library.chooser

    async def weigh(self, question: str, page: Page) -> tuple[Weight, ...]:
        """Return the semantic similarity of a page's passages to a question; empty if unknown. The
        result is stored like a search's, since vectors may change before the next attempt."""
        inputs = {"question": question, "url": page.url, "hash": page.hash}
        if not self._library.weighs(page.url):
            return self.recorded("weigh", inputs, _weights) or ()

        async def weigh() -> tuple[Weight, ...]:
            try:
                return await self._library.weigh(question, page.url)
            except (Unavailable, Refused, Broken) as error:
                log.info("page_not_weighed", url=page.url, error=str(error))
                return ()

        return await self._steps.do("weigh", inputs, weigh, _weights, title="")

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
        return await attempted(
            self,
            lambda: self._steps.do("ready", inputs, look, _ready, title=""),
            inputs={**inputs, "step": "ready"},
        )

    def _has_read(self, url: str) -> bool:
        recorded = self._journal.finished(step_key("read", {"url": url}))
        return recorded is not None and not _read.validate_json(recorded.result).problem

    async def number(self, pages: Sequence[Page]) -> list[int]:
        """Return the pages' citation numbers in this run, in the order given."""
        return await self._journal.number(pages)

    def note(self, sentence: str) -> None:
        """Add a note about the run itself for the answer."""
        self.notes.say(sentence)

    async def _read(self, url: str, title: str, *, looks: bool = False) -> Page | str:
        if not self._library.allows(url):  # even if an earlier answer of the thread cites it
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
            return await self._steps.do(
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
                outcome = await attempted(self, read, inputs={**inputs, "step": "read"})
            except BudgetSpent as spent:
                if looks:
                    return spent.sentence
                problem = self._not_covered(spent, "budget-pages")
                key = step_key("read", inputs)[:12]
                self.show(StepView(key, "read", title, "failed", detail=problem, sources=(url,)))
                return problem
            is_read = not (outcome.problem or looks) and stored is None
            if is_read and self.account.first_time("read", inputs):
                self.account.count(pages=1)
        self._made_from |= outcome.made_from
        if outcome.problem:
            self.notes.worded[outcome.problem] = outcome.said or outcome.problem
            return outcome.problem
        return fetched[0] if fetched else await self._journal.page(outcome.url, outcome.hash)

    def is_question(self, url: str) -> bool:
        """Return True for the page with the whole text of the question itself."""
        return self._whole_text is not None and url == self._whole_text.url

    async def _recalled(self, url: str) -> Page | None:
        """Return the page as cited by an earlier answer of the thread, if it is still stored."""
        page_hash = self.recalled.get(url)
        return None if page_hash is None else await self._journal.stored(url, page_hash)

    def _not_covered(self, spent: BudgetSpent, text_id: str) -> str:
        """Return the sentence for one search or page too many, which does not stop other work."""
        if spent.text_id != text_id:
            raise spent
        return self.notes.say(self.notes.described(spent))

    async def _fetched(self, url: str) -> Page:
        attachment = self._attachments.get(url)
        if attachment is not None and attachment == self._whole_text:
            body = self.message.text.encode("utf-8", "replace")
            return await self._library.page_of_file(attachment, body)
        if attachment is None or self._download is None:
            return await self.prefetcher.page(url) or await self._library.read(url)
        body = await self._download(attachment, self._library.largest)
        return await self._library.page_of_file(attachment, body)

    # ------------------------------------------------------------ steps of strategies

    async def keep(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        work: Callable[[], Awaitable[T]],
        shape: TypeAdapter[T],
        *,
        title: str,
    ) -> T:
        """Run a strategy's own step, or take its result from the journal. Raises what ``work``
        raises."""
        return await self._steps.do(kind, inputs, work, shape, title=title)

    def recorded(self, kind: str, inputs: Mapping[str, Any], shape: TypeAdapter[T]) -> T | None:
        """Return the result of such a step, if this or an earlier attempt has finished it."""
        recorded = self._steps.finished(step_key(kind, inputs))
        return None if recorded is None else shape.validate_json(recorded.result)
