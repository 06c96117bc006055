"""One run at work: its steps (each kept in the journal), its budget, its plan, its numbers.

A run executes from the top on every attempt. A step that an earlier attempt finished is found by
its key and not carried out again, so everything that enters a key must come out the same: the
run's clock stands still at the moment it was accepted, and failures of searching and reading are
results too, kept and replayed like any other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from datetime import datetime
from time import monotonic
from typing import Any

from pydantic import TypeAdapter

from bot.answers import Answer, Citation, Disagreement, Doubt, PlanView, Status, StepView, Usage
from bot.errors import (
    Broken,
    BudgetSpent,
    FootnoteError,
    ModelUnavailable,
    Refused,
    Unavailable,
)
from bot.messages import Attachment, Message, RunOptions
from bot.pages.page import Page
from bot.reasoning.reasoner import (
    AnswerDelta,
    CitationDelta,
    ModelReply,
    Scope,
    Source,
    TextDelta,
)
from bot.rendering.texts import DEFAULT, texts_for
from bot.research.ahead import Ahead
from bot.research.budget import Budget
from bot.research.library import Library
from bot.research.outcomes import ReadOutcome, SearchOutcome, StreamOutcome, keep
from bot.research.steps import Steps
from bot.research.suggest import Offer
from bot.research.together import together
from bot.search.provider import ProviderKind, Query
from bot.storage.journal import Journal, step_key

_reply = TypeAdapter(ModelReply)
_search = TypeAdapter(SearchOutcome)
_read = TypeAdapter(ReadOutcome)
_stream = TypeAdapter(StreamOutcome)


class Run:
    """See the module docstring. Implements ``reasoning.reasoner.ModelCalls``.

    ``price`` gives the USD of a reply, or None when the model's price is not known.
    ``publish`` is called with the whole plan whenever it changes. ``download`` brings the files
    that came with the message; they are read like pages, by the URL where a person opens them.
    At most ``prefetch_pages`` are read before anyone has chosen them.
    """

    def __init__(
        self,
        run_id: str,
        message: Message,
        options: RunOptions,
        now: datetime,
        *,
        journal: Journal,
        library: Library,
        budget: Budget,
        price: Callable[[ModelReply], float | None],
        publish: Callable[[PlanView], None],
        download: Callable[[Attachment, int], Awaitable[bytes]] | None = None,
        prefetch_pages: int = 0,
    ) -> None:
        self.id = run_id
        self.message = message
        self.options = options
        self.now = now
        self.texts = texts_for(message.locale)
        self.budget = budget
        self.ahead = Ahead(library, prefetch_pages, options.providers)
        self.queries: list[str] = []
        self.sources: list[Source] = []  # what any loop of the run was shown, as it was shown
        self.offers: dict[str, Offer] = {}  # what searches found, by URL, in that order
        self.notes: list[str] = []
        self.unanswered = ""  # why no search has been answered so far, once one was tried
        self._answered = False
        self._journal = journal
        self._library = library
        self._price = price
        self._publish = publish
        self._download = download
        self._attachments = {attachment.url: attachment for attachment in message.attachments}
        self._started = monotonic()
        self._spent = Usage()
        self._steps = Steps(journal, lambda: self._publish(self.plan()))
        self._counted: set[str] = set()

    # ------------------------------------------------------------ what it looks like from outside

    @property
    def usage(self) -> Usage:
        """What was spent so far, earlier attempts' finished steps included."""
        return replace(self._spent, seconds=monotonic() - self._started)

    @property
    def steps(self) -> tuple[StepView, ...]:
        """The lines of the plan."""
        return self._steps.views

    def show(self, line: StepView) -> None:
        """Set a line of the plan that is no step of its own, such as a sub-question."""
        self._steps.show(line)

    def branch(self, id: str) -> AbstractContextManager[None]:
        """Within it, what is done belongs under the plan's line ``id``."""
        return self._steps.branch(id)

    def plan(self) -> PlanView:
        numbered = {source.number: source.url for source in self.sources}
        return PlanView(self.message.text, self.steps, tuple(numbered.items()))

    def answer(
        self,
        status: Status,
        text: str,
        *,
        question: str,
        reasoner: str,
        citations: tuple[Citation, ...] = (),
        doubts: tuple[Doubt, ...] = (),
        disagreements: tuple[Disagreement, ...] = (),
        suggestions: tuple[str, ...] = (),
    ) -> Answer:
        """An answer that carries what this run did and spent."""
        return Answer(
            status=status,
            text=text,
            question=question,
            run=self.id,
            citations=citations,
            queries=tuple(self.queries),
            reasoner=reasoner,
            steps=self.steps,
            usage=self.usage,
            doubts=doubts,
            disagreements=disagreements,
            notes=tuple(self.notes),
            suggestions=suggestions,
        )

    # ------------------------------------------------------------ searching and reading

    @property
    def can_search(self) -> frozenset[ProviderKind]:
        """What this run can search: the web, documents, or both."""
        return self._library.can_search(self.options.providers)

    async def search(self, query: Query, kind: ProviderKind | None = None) -> SearchOutcome:
        """Ask the providers; all of them failing is an outcome, not an exception.

        ``kind`` narrows them to the web or to documents: see ``search.blend.Search.search``.
        """
        providers = self.options.providers
        inputs = {**asdict(query), "providers": list(providers), "kind": kind or ""}

        async def ask() -> SearchOutcome:
            self.budget.check_time(self.usage)
            try:
                found = await self.ahead.found(query, kind) or await self._library.search(
                    query, providers, kind
                )
            except (Unavailable, Refused, Broken) as error:
                return SearchOutcome(hits=(), problem=error.sentence)
            return SearchOutcome(hits=found.hits, failures=found.failures)

        outcome = await self._steps.do("search", inputs, ask, _search, title=query.text)
        if self._first_time("search", inputs):
            self._spent = replace(self._spent, searches=self._spent.searches + 1)
        if query.text not in self.queries:
            self.queries.append(query.text)
        for hit in outcome.hits:
            self.offers.setdefault(hit.url, Offer(hit.title, hit.url))
        for failure in outcome.failures:
            self.note(failure)
        if outcome.problem:
            self.note(outcome.problem)
        self._answered = self._answered or not outcome.problem
        self.unanswered = "" if self._answered else outcome.problem
        return outcome

    async def read(self, urls: Sequence[str], titles: Sequence[str] = ()) -> list[Page | str]:
        """Read pages, all at once; in the order asked: each page, or the sentence why not."""
        named = dict(zip(urls, titles, strict=False))
        return await together(self._read(url, named.get(url) or url) for url in urls)

    async def number(self, pages: Sequence[Page]) -> list[int]:
        """The pages' citation numbers in this run, in the order given."""
        return await self._journal.number(pages)

    def note(self, sentence: str) -> None:
        """Something about the run itself that the answer will say."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def link_not_read(self, url: str, reason: str) -> str:
        """Note that a link of the asker's could not be read; gives the sentence."""
        if url in self._attachments:
            sentence = self.texts("file-not-read", name=self._attachments[url].name, reason=reason)
        else:
            sentence = self.texts("link-not-read", url=url, reason=reason)
        self.note(sentence)
        return sentence

    def note_widened(self, scope: Scope) -> None:
        """Note that what the asker restricted the search to has nothing."""
        sentence = self.texts(
            "search-widened",
            freshness=scope.freshness or "any",
            domains=", ".join(scope.domains) or "any",
        )
        self.note(sentence)

    def note_error(self, error: FootnoteError, consequence: str) -> None:
        """What went wrong, and what that means for the answer (the id of a text)."""
        space = "" if self.texts.locale.startswith("zh") else " "
        self.note(f"{self._described(error)}{space}{self.texts(consequence)}")

    def _described(self, error: FootnoteError) -> str:
        """An error's sentence as far as it is known in the asker's language."""
        if isinstance(error, BudgetSpent) and error.limit:
            return self.texts(error.text_id, limit=error.limit)
        if isinstance(error, ModelUnavailable) and self.texts.locale != DEFAULT:
            return self.texts("model-away")
        return error.sentence

    async def _read(self, url: str, title: str) -> Page | str:
        fetched: list[Page] = []

        async def fetch() -> ReadOutcome:
            self.budget.check_time(self.usage)
            try:
                page = await self._fetched(url)
            except (Unavailable, Refused, Broken) as error:
                return ReadOutcome(url=url, problem=error.sentence)
            fetched.append(page)
            return ReadOutcome(url=page.url, hash=page.hash, title=page.title)

        inputs = {"url": url}
        outcome = await self._steps.do(
            "read",
            inputs,
            fetch,
            _read,
            title=title,
            page=lambda: fetched[0] if fetched else None,
            sources=(url,),
        )
        if outcome.problem:
            if url in self._attachments:
                name = self._attachments[url].name
                self.note(self.texts("file-not-read", name=name, reason=outcome.problem))
            return outcome.problem
        if self._first_time("read", inputs):
            self._spent = replace(self._spent, pages=self._spent.pages + 1)
        return fetched[0] if fetched else await self._journal.page(outcome.url, outcome.hash)

    async def _fetched(self, url: str) -> Page:
        attachment = self._attachments.get(url)
        if attachment is None or self._download is None:
            return await self._library.read(url)
        body = await self._download(attachment, self._library.largest)
        return await self._library.page_of_file(attachment, body)

    # ------------------------------------------------------------ model calls

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply:
        async def ask() -> ModelReply:
            self.budget.check_model_call(self.usage)
            return await send()

        reply = await self._steps.do(kind, request, ask, _reply, title=title)
        if self._first_time(kind, request):
            self._pay(reply)
        return reply

    async def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        # No budget check: the answer is written from what there is, however much was spent.
        key = step_key(kind, request)
        recorded = self._steps.finished(key)
        if recorded is not None:
            outcome = _stream.validate_json(recorded.result)
            self._pay(outcome.reply)
            for delta in outcome.deltas:
                yield delta
            return
        kept: list[TextDelta | CitationDelta] = []
        reply: ModelReply | None = None
        with self._steps.under_way(key, kind, title) as finish:
            async for part in open():
                if isinstance(part, ModelReply):
                    reply = part
                    continue
                keep(kept, part)
                yield part
            if reply is None:
                raise RuntimeError("a model stream ended without its reply")
            await finish(_stream.dump_json(StreamOutcome(tuple(kept), reply)).decode())
        self._pay(reply)

    def _pay(self, reply: ModelReply) -> None:
        usd = self._price(reply)
        if usd is None:
            self.note(self.texts("price-unknown", model=reply.model))
        spent = self._spent
        self._spent = replace(
            spent,
            model_calls=spent.model_calls + 1,
            input_tokens=spent.input_tokens + reply.input_tokens + reply.cache_write_tokens,
            output_tokens=spent.output_tokens + reply.output_tokens,
            cached_tokens=spent.cached_tokens + reply.cache_read_tokens,
            usd=spent.usd + (usd or 0.0),
        )

    def _first_time(self, kind: str, inputs: Mapping[str, Any]) -> bool:
        """Whether a step counts now: one that is asked for again is not paid for again."""
        key = step_key(kind, inputs)
        if key in self._counted:
            return False
        self._counted.add(key)
        return True
