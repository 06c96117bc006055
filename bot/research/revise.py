"""Reports: drafted paragraph by paragraph, then each one revised against what is read for it.

    look around → draft → for each paragraph: query → read → revise → the report, its limits last

The query of a paragraph is made from the question and everything revised so far, and so is its
revision: paragraphs are worked one after another. While one is being revised, the next one's pages
are fetched ahead, found by the words of its draft.

Each stage has a time limit. A paragraph whose stage is missed or fails keeps its draft and is
marked, in the report, as not sourced; that it was missed is a step of the run, so that a resumed
run comes out the same. When the budget is spent, what is not revised is left out, and said so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.answers import StepState, StepView
from bot.errors import BudgetSpent, ModelBroken, ModelRefused
from bot.pages.urls import dedupe_key
from bot.reasoning.drafts import Manuscript, Paragraph
from bot.reasoning.reasoner import Desk, Evidence, QueryResult, Reasoner, Rewritten, SubQuestion
from bot.rendering.texts import Texts, texts_for
from bot.research.desk import HITS_FETCHED, DeskKeeper, Reading, best_hits, merge_sources
from bot.research.marks import without_marks
from bot.research.revision import Revision, Section, changes, joined, section, under
from bot.research.run import Run
from bot.research.write import Written, unsourced, write
from bot.search.provider import Query
from bot.settings import Settings
from bot.text.terms import content_words

FIRST_PAGES = 4  # read before drafting: enough for an outline
FIRST_TOKENS = 500  # of passages of each of them
PAGES = 3  # read for one paragraph
GUESSED_WORDS = 8  # of the query that a draft is thought to lead to

T = TypeVar("T")
Stage = Literal["draft", "query", "reading", "revision"]


@dataclass(frozen=True, slots=True)
class Lapse:
    """A stage that came to nothing, as the journal keeps it: why, and the error's own words."""

    why: Literal["missed", "failed", "nothing", "budget"]
    sentence: str = ""
    text_id: str = ""
    limit: float = 0.0

    @property
    def problem(self) -> str:
        """What the plan says of it."""
        return self.sentence or {"missed": "not done in time", "nothing": "nothing was found"}.get(
            self.why, ""
        )


class Lapsed(Exception):
    """A stage came to nothing; the paragraph goes on without it."""

    def __init__(self, lapse: Lapse) -> None:
        super().__init__(lapse.why)
        self.lapse = lapse


_lapse = TypeAdapter(Lapse)
_revision = TypeAdapter(Revision)
_HEADING_LINE = re.compile(r"^[ \t]*#{1,6}[ \t]+[^\n]*\n?", re.MULTILINE)


class Report:
    """A report in the making. ``write`` may be called again, with another reasoner, when it was
    interrupted by an error: what is revised stays.

    ``links`` are pages that the asker gave; ``on_text`` gets the whole text so far as it grows.
    """

    def __init__(
        self,
        run: Run,
        question: Rewritten,
        settings: Settings,
        links: Sequence[str],
        on_text: Callable[[str], None],
    ) -> None:
        self._run = run
        self._question = question
        self._settings = settings
        self._links = tuple(links)
        self._on_text = on_text
        self._texts = _texts_of(question, run.texts)
        self._drafted: tuple[Paragraph, ...] | None = None
        self._sections: list[Section] = []
        self._evidence: list[Evidence] = []
        self._dropped: tuple[str, ...] = ()  # topics left out because the budget was spent

    # ------------------------------------------------------------ what it has come to

    @property
    def is_drafted(self) -> bool:
        """Whether there was anything to revise."""
        return bool(self._drafted)

    @property
    def is_sourced(self) -> bool:
        """Whether any paragraph has been revised against something that was read."""
        return any(one.fate == "revised" for one in self._sections)

    @property
    def written(self) -> Written:
        """The report as far as it is finished, with its limits at the end."""
        return joined(self._sections, self._ending())

    @property
    def evidence(self) -> Evidence:
        """All that was read for it."""
        sources = merge_sources([s for one in self._evidence for s in one.sources])
        return Evidence(sources=sources, enough=True, queries=tuple(self._run.queries))

    async def write(self, reasoner: Reasoner) -> None:
        """Draft, and revise what is not revised yet.

        Raises what the reasoner raises, but for ``BudgetSpent``, ``ModelRefused`` and
        ``ModelBroken``. A draft that comes to nothing leaves an empty report.
        """
        if self._drafted is None:
            self._drafted = await self._draft(reasoner)
            for number in range(1, len(self._drafted) + 1):
                self._show(number, "waiting")
        for number in range(len(self._sections) + 1, len(self._drafted) + 1):
            if self._dropped:
                self._show(number, "failed", "left out")
                continue
            await self._paragraph(reasoner, number)
            self._on_text(joined(self._sections).text)

    # ------------------------------------------------------------ drafting

    async def _draft(self, reasoner: Reasoner) -> tuple[Paragraph, ...]:
        try:
            found = await self._within(
                reasoner, "reading", 0, self._settings.reading_seconds, self._look_around
            )
        except Lapsed:
            found = Evidence()

        async def draft() -> tuple[Paragraph, ...]:
            return await reasoner.draft(self._question, found, self._run.options.instructions)

        try:
            return await self._within(reasoner, "draft", 0, self._settings.draft_seconds, draft)
        except Lapsed as lapsed:
            if lapsed.lapse.why != "budget":
                self._run.note(self._texts("report-not-drafted"))
            return ()

    async def _look_around(self) -> Evidence:
        """What the question's own queries and links lead to: what there is to report on."""
        reading = Reading(self._settings.topk, FIRST_TOKENS)
        asked = (*self._question.queries, *self._question.knowledge_queries)
        evidence = await self._gather(
            self._question.question, tuple(dict.fromkeys(asked)), reading, FIRST_PAGES
        )
        self._evidence.append(evidence)
        return evidence

    # ------------------------------------------------------------ one paragraph

    async def _paragraph(self, reasoner: Reasoner, number: int) -> None:
        assert self._drafted is not None  # noqa: S101
        paragraph = self._drafted[number - 1]
        revision = Revision(number, paragraph.heading, paragraph.text, "unsourced")
        self._show(number, "running")
        with self._run.branch(_line_id(number)):
            try:
                queries = await self._queries(reasoner, number)
                revision = replace(revision, queries=queries)
                evidence = await self._read_for(reasoner, number, queries)
                pages = tuple(source.number for source in evidence.sources)
                revision = replace(revision, pages=pages)
                written = await self._revise(reasoner, number, evidence)
                finished = section(paragraph.heading, written)
            except Lapsed as lapsed:
                if lapsed.lapse.why == "budget":
                    self._stop_for(lapsed.lapse, number)
                    return
                finished = self._as_drafted(paragraph, lapsed.lapse)
                revision = replace(revision, reason=lapsed.lapse.problem)
            revised = finished.body.text if finished.fate == "revised" else ""
            await self._keep(
                replace(
                    revision,
                    fate=finished.fate,
                    revised=revised,
                    changes=changes(paragraph.text, revised),
                )
            )
        self._sections.append(finished)
        left_as_it_was = finished.fate == "unsourced"
        self._show(number, "failed" if left_as_it_was else "done", revision.reason)

    async def _queries(self, reasoner: Reasoner, number: int) -> tuple[str, ...]:
        if self._question.kind == "links":  # it is about these pages, not about the world
            return ()
        manuscript = self._manuscript(number)

        async def make() -> tuple[str, ...]:
            return await reasoner.queries(self._question, manuscript)

        return await self._within(reasoner, "query", number, self._settings.query_seconds, make)

    async def _read_for(
        self, reasoner: Reasoner, number: int, queries: tuple[str, ...]
    ) -> Evidence:
        paragraph = self._manuscript(number).paragraph
        reading = Reading(self._settings.topk, self._settings.read_tokens)
        # The draft itself is the best description of the passages that would bear it out (Gao et
        # al., Precise Zero-Shot Dense Retrieval without Relevance Labels, ACL 2023).
        about = f"{self._question.question}\n{paragraph.heading}\n{paragraph.text}"

        async def read() -> Evidence:
            return await self._gather(about, queries, reading, PAGES)

        seconds = self._settings.reading_seconds
        evidence = await self._within(reasoner, "reading", number, seconds, read)
        if not any(source.passages for source in evidence.sources):
            raise Lapsed(Lapse("nothing"))
        self._evidence.append(evidence)
        return evidence

    async def _revise(self, reasoner: Reasoner, number: int, evidence: Evidence) -> Written:
        manuscript = self._manuscript(number)
        before = joined(self._sections).text
        heading = manuscript.paragraph.heading
        self._search_ahead(number + 1)

        def on_text(text: str) -> None:
            if text.strip():
                parts = (before, under(heading, text.lstrip()))
                self._on_text("\n\n".join(part for part in parts if part))

        async def revise() -> Written:
            self._run.budget.check_model_call(self._run.usage)
            stream = reasoner.revise(
                self._question, manuscript, evidence, self._run.options.instructions
            )
            return await write(stream, evidence, on_text)

        seconds = self._settings.revision_seconds
        return await self._within(reasoner, "revision", number, seconds, revise)

    async def _keep(self, revision: Revision) -> None:
        """Keep a paragraph's way from draft to revision in the run's trace."""

        async def kept() -> Revision:
            return revision

        inputs = {"number": revision.number, "heading": revision.heading}
        await self._run.keep("revision", inputs, kept, _revision, title=revision.title)

    def _as_drafted(self, paragraph: Paragraph, lapse: Lapse) -> Section:
        """The draft of a paragraph, without any mark or link, under the remark that says so."""
        remark = self._texts(f"report-unsourced-{lapse.why}")
        text = unsourced(_HEADING_LINE.sub("", paragraph.text))
        return Section(paragraph.heading, Written(f"> {remark}\n\n{text}", ()), "unsourced")

    def _stop_for(self, lapse: Lapse, number: int) -> None:
        """The budget is spent: this paragraph and those after it are left out."""
        assert self._drafted is not None  # noqa: S101
        error = BudgetSpent(lapse.sentence, text_id=lapse.text_id, limit=lapse.limit)
        self._run.note_error(error, "report-cut-short")
        self._dropped = tuple(paragraph.topic for paragraph in self._drafted[number - 1 :])
        self._show(number, "failed", "left out")

    # ------------------------------------------------------------ searching and reading

    async def _gather(
        self, about: str, queries: Sequence[str], reading: Reading, pages: int
    ) -> Evidence:
        """The asker's links and the best pages of all queries, with the passages on ``about``."""
        run = self._run
        question = SubQuestion(about, self._question.language, tuple(queries))
        keeper = DeskKeeper(run, question, Desk(pages_left=run.budget.pages), reading)
        await keeper.give(links=self._links, queries=queries)
        best = self._affordable(keeper.desk.results, pages)
        if best:
            await keeper.give(links=best)
        sources = merge_sources(keeper.desk.sources)
        return Evidence(sources=sources, enough=True, queries=tuple(queries))

    def _affordable(self, results: Sequence[QueryResult], pages: int) -> list[str]:
        """The best hits' addresses; when no more pages may be read, of those that were read."""
        hits = {hit.number: hit.hit for result in results for hit in result.hits}
        read = {dedupe_key(source.url) for source in self._run.sources}
        left = self._run.budget.pages - self._run.usage.pages
        chosen: list[str] = []
        for number in best_hits(results):
            url = hits[number].url
            if dedupe_key(url) not in read:
                if left <= 0:
                    continue
                left -= 1
            chosen.append(url)
            if len(chosen) == pages:
                break
        return chosen

    def _search_ahead(self, number: int) -> None:
        """Begin to look for what the draft of the next paragraph is about."""
        assert self._drafted is not None  # noqa: S101
        if number > len(self._drafted) or self._question.kind == "links":
            return
        paragraph = self._drafted[number - 1]
        topic = content_words(f"{paragraph.heading} {self._question.question}")
        guess = " ".join(dict.fromkeys(topic[:GUESSED_WORDS]))
        if guess:
            limit = self._settings.topk * HITS_FETCHED
            self._run.ahead.search([Query(guess, limit, self._question.language)])

    # ------------------------------------------------------------ stages

    async def _within(
        self,
        reasoner: Reasoner,
        stage: Stage,
        number: int,
        seconds: float,
        work: Callable[[], Awaitable[T]],
    ) -> T:
        """What a stage gives within its time. Raises ``Lapsed`` when that comes to nothing.

        A lapse is kept: the next attempt at the run finds it instead of trying again.
        """
        inputs = {"stage": stage, "paragraph": number, "reasoner": reasoner.name}
        lapse = self._run.kept("lapse", inputs, _lapse)
        if lapse is not None:
            raise Lapsed(lapse)
        try:
            async with asyncio.timeout(seconds):
                return await work()
        except TimeoutError:
            lapse = Lapse("missed")
        except BudgetSpent as error:
            lapse = Lapse("budget", error.sentence, error.text_id, error.limit)
        except (ModelRefused, ModelBroken) as error:
            lapse = Lapse("failed", error.sentence)
        await self._keep_lapse(inputs, lapse, f"{_STAGES[stage]}: {seconds:g} s")
        raise Lapsed(lapse)

    async def _keep_lapse(self, inputs: dict[str, str | int], lapse: Lapse, title: str) -> None:
        async def kept() -> Lapse:
            return lapse

        await self._run.keep("lapse", inputs, kept, _lapse, title=title)

    # ------------------------------------------------------------ what it looks like

    def _manuscript(self, number: int) -> Manuscript:
        assert self._drafted is not None  # noqa: S101
        return Manuscript(
            revised=tuple(
                without_marks(one.text) for one in self._sections if one.fate == "revised"
            ),
            paragraph=self._drafted[number - 1],
            to_come=tuple(paragraph.topic for paragraph in self._drafted[number:]),
        )

    def _ending(self) -> str:
        """What was not found, or not reached, as a last section of remarks."""
        limits = [limit for one in self._sections for limit in one.limits]
        if self._dropped:
            separator = self._texts("report-separator")
            limits.append(self._texts("report-dropped", topics=separator.join(self._dropped)))
        if not limits:
            return ""
        remarks = "\n>\n".join(f"> {limit}" for limit in dict.fromkeys(limits))
        return under(self._texts("report-limits"), remarks)

    def _show(self, number: int, state: StepState, detail: str = "") -> None:
        assert self._drafted is not None  # noqa: S101
        title = self._drafted[number - 1].topic
        self._run.show(StepView(_line_id(number), "paragraph", title, state, detail=detail))


_STAGES: dict[Stage, str] = {
    "draft": "Draft",
    "query": "Decide what to search",
    "reading": "Search and read",
    "revision": "Revise",
}


def _line_id(number: int) -> str:
    return f"paragraph-{number}"


def _texts_of(question: Rewritten, texts: Texts) -> Texts:
    """The texts for remarks within a report: in its language, as its reader writes it."""
    language = question.language.partition("-")[0]
    same = texts.locale.partition("-")[0] == language
    return texts if same else texts_for(question.language)
