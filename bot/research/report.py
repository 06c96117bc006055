"""Reports: drafted by paragraph, then each paragraph is revised against pages read for it.

    overview → draft → for each paragraph: query → read → revise → the report, its limits last

A deep report gets its overview from a graph of sub-questions (``research.graph``). The query and
the revision of a paragraph depend on the question and everything revised so far, so paragraphs are
processed one after another. Meanwhile the next one's pages are prefetched by the words of its
draft.

Each stage has a time limit. A stage that runs out of time, fails, or finds the budget spent leaves
a *lapse* in the journal, with everything done and spent until then: the next attempt finds the
lapse instead of trying again, so that a resumed run has the same result and sends the same
requests. A paragraph whose stage lapsed keeps its draft and is marked in the report as not sourced.
When the budget is spent, unrevised paragraphs are left out, and the report says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from time import monotonic
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import BudgetSpent, ModelBroken, ModelRefused
from bot.core.messages import StepState, StepView, Usage
from bot.core.texts import texts_in
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    Evidence,
    Manuscript,
    Paragraph,
    QueryResult,
    Read,
    Source,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import Researcher
from bot.rendering.marks import without_marks
from bot.research.budget import Budget
from bot.research.composer import Written, write
from bot.research.graph import explore
from bot.research.revision import (
    Revision,
    Section,
    borne_out,
    changes,
    joined,
    section,
    summary,
    under,
)
from bot.research.run import Run
from bot.research.selection import best_hits, matching, merge_sources
from bot.research.strategies import (
    HITS,
    READ_TOKENS,
    READING,
    REVISE,
    SEARCHES,
    Declaration,
    Gathered,
    Task,
)
from bot.research.working_set import HITS_FETCHED, Reading, WorkspaceKeeper
from bot.search.provider import Query
from bot.text.terms import content_words


@dataclass(frozen=True, slots=True)
class Used:
    """The state of a run that its next steps depend on, and its plan.

    ``counted`` are the keys of the steps already counted. The seconds of ``spent`` are unused: the
    journal has them.
    """

    spent: Usage
    counted: frozenset[str] = frozenset()
    lines: tuple[StepView, ...] = ()
    queries: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    is_answered: bool = False
    unanswered: str = ""

    def since(self, earlier: Used) -> Used:
        """Return the difference from an earlier moment of the same run."""
        spent, before = asdict(self.spent), asdict(earlier.spent)
        del spent["seconds"]
        return Used(
            spent=Usage(**{name: spent[name] - before[name] for name in spent}),
            counted=self.counted - earlier.counted,
            lines=tuple(line for line in self.lines if line not in earlier.lines),
            queries=self.queries[len(earlier.queries) :],
            sources=self.sources[len(earlier.sources) :],
            notes=self.notes[len(earlier.notes) :],
            is_answered=self.is_answered,
            unanswered=self.unanswered,
        )


NOTHING_USED = Used(Usage())


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lapse:
    """The reason why a stage has no result.

    ``problem`` is the text in the plan, in the asker's language. ``sentence``, ``text_id`` and
    ``limit`` are those of a ``BudgetSpent``. ``used`` is what was done and spent in the stage.
    """

    why: Literal["missed", "failed", "nothing", "budget"]
    problem: str = ""
    sentence: str = ""
    text_id: str = ""
    limit: float = 0.0
    used: Used = NOTHING_USED

    @property
    def budget_spent(self) -> BudgetSpent:
        return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)


class Lapsed(Exception):
    """A stage has no result; its caller continues without it."""

    def __init__(self, lapse: Lapse) -> None:
        super().__init__(lapse.why)
        self.lapse = lapse


_lapse = TypeAdapter(Lapse)


async def within(
    run: Run,
    seconds: float,
    work: Callable[[], Awaitable[T]],
    *,
    inputs: Mapping[str, str | int],
    title: str,
) -> T:
    """Do ``work`` within ``seconds``; ``inputs`` identify the stage.

    A run works on one stage at a time. Raises ``Lapsed`` instead of ``BudgetSpent``,
    ``ModelRefused`` and ``ModelBroken``, and when the time is over, after cancelling ``work``.
    Raises all other errors of ``work``.
    """

    earlier = run.recorded("lapse", inputs, _lapse)
    if earlier is not None:
        restore(run, earlier.used)
        lapse = earlier
    else:
        before = used_by(run)
        try:
            async with asyncio.timeout(seconds):
                return await work()
        except TimeoutError:
            lapse = Lapse("missed", run.texts("report-stage-missed"))
        except BudgetSpent as error:
            problem = run.notes.described(error)
            lapse = Lapse("budget", problem, error.sentence, error.text_id, error.limit)
        except (ModelRefused, ModelBroken) as error:
            lapse = Lapse("failed", run.notes.described(error))
        lapse = replace(lapse, used=used_by(run).since(before))
    raise Lapsed(await run.keep("lapse", inputs, lapse, _lapse, title))


def used_by(run: Run) -> Used:
    return Used(
        run.usage,
        frozenset(run.account.counted),
        run.steps,
        tuple(run.queries),
        tuple(run.sources),
        tuple(run.notes),
        run.is_answered,
        run.unanswered,
    )


def restore(run: Run, used: Used) -> None:
    """Add to a run the work and spending of a stage from an earlier attempt."""
    run.account.add(used.spent)
    run.account.counted |= used.counted
    for line in used.lines:
        run.show(line)
    run.queries += (text for text in used.queries if text not in run.queries)
    run.sources += used.sources
    for sentence in used.notes:
        run.note(sentence)
    run.is_answered, run.unanswered = used.is_answered, used.unanswered


FIRST_PAGES = 4  # read before drafting: enough for an outline
FIRST_MATCHING = 2  # of them that are given to a paragraph they match
FIRST_TOKENS = 500  # of passages per page
PAGES = 3  # read for one paragraph
GUESSED_WORDS = 8  # words of the query expected for a draft


# Of each stage; a part that misses one is left out.
DRAFT_SECONDS = 90.0  # of the whole report
QUERY_SECONDS = 15.0
READING_SECONDS = 30.0
REVISION_SECONDS = 60.0

Stage = Literal["draft", "query", "reading", "revision"]

_revision = TypeAdapter(Revision)


class Report:
    """A report in progress. After an error ``write`` may be called again, with another reasoner:
    revised paragraphs stay.

    The task's depth decides how the overview is made.
    """

    def __init__(self, task: Task) -> None:
        self._run = task.run
        self._question = task.question
        self._settings = task.settings
        self._depth = task.depth
        self._links = task.links
        self._asked = task.sub_question()
        self._first = Evidence()  # of the overview
        self._read: list[Evidence] = []
        self._on_text = task.on_text
        self._texts = texts_in(task.question.language, task.run.texts)
        self._drafted: tuple[Paragraph, ...] | None = None
        self._sections: list[Section] = []
        self._is_cut_short = False  # because the budget is spent

    # ------------------------------------------------------------ as a strategy

    async def gather(self, reasoner: Researcher) -> Gathered | None:
        await self.write(reasoner)
        if self.is_sourced:
            return Gathered(self.evidence, self.written)
        if not self._drafted:
            return None  # without drafts there is nothing to revise
        # Reading for it found nothing, and would find no more a second time.
        self._run.note(self._run.texts("report-not-sourced"))
        return Gathered(self.evidence)

    def so_far(self) -> Gathered | None:
        return Gathered(self.evidence, self.written) if self.is_sourced else None

    # ------------------------------------------------------------ the result so far

    @property
    def is_sourced(self) -> bool:
        """True if any paragraph has been revised against pages."""
        return any(one.fate == "revised" for one in self._sections)

    @property
    def written(self) -> Written:
        """The finished part of the report, with its limits at the end."""
        return joined(self._sections, self._ending())

    @property
    def evidence(self) -> Evidence:
        sources = merge_sources([s for one in self._read for s in one.sources])
        return Evidence(sources=sources, enough=True, queries=tuple(self._run.queries))

    async def write(self, reasoner: Researcher) -> None:
        """Draft the report, and revise the paragraphs not revised yet.

        Raises what the reasoner raises, except ``BudgetSpent``, ``ModelRefused`` and
        ``ModelBroken``. If drafting fails, the report is empty.
        """
        if self._drafted is None:
            self._drafted = await self._draft(reasoner)
            for number in range(1, len(self._drafted) + 1):
                self._show(number, "waiting")
        for number in range(len(self._sections) + 1, len(self._drafted) + 1):
            if not self._is_cut_short:
                self._run.prefetcher.renew()
                await self._paragraph(reasoner, number)
                self._on_text(joined(self._sections).text)
            if self._is_cut_short:
                self._show(number, "failed", self._run.texts("report-left-out"))

    def close(self) -> None:
        for line in self._run.steps:
            if line.kind == "paragraph" and line.state in ("running", "waiting"):
                self._run.show(replace(line, state="failed"))

    # ------------------------------------------------------------ drafting

    async def _draft(self, reasoner: Researcher) -> tuple[Paragraph, ...]:
        look, seconds = self._look_around, READING_SECONDS
        if self._depth == "deep" and not self._question.whole:
            # Keep half of the time for the report itself.
            look, seconds = partial(self._explore, reasoner), self._settings.max_seconds / 2
        try:
            found = await self._within(reasoner, "reading", 0, seconds, look)
        except Lapsed:
            found = self._evidence_so_far()

        async def draft() -> tuple[Paragraph, ...]:
            return await reasoner.draft(self._question, found, self._run.options.instructions)

        try:
            return await self._within(reasoner, "draft", 0, DRAFT_SECONDS, draft)
        except Lapsed as lapsed:
            if lapsed.lapse.why != "budget":
                self._run.note(self._texts("report-not-drafted"))
            return ()

    # ------------------------------------------------------------ reading

    async def _look_around(self) -> Evidence:
        """Read the best pages for the question's own queries and links, without a model."""
        self._first = await self._gather(self._asked, FIRST_TOKENS, FIRST_PAGES)
        return self._first

    async def _explore(self, reasoner: Researcher) -> Evidence:
        """Explore the question by a graph of sub-questions, within the budget of an ordinary
        question: the rest is reserved for the paragraphs. Raises what
        ``research.graph.explore`` raises.
        """
        whole = self._run.budget
        self._run.budget = Budget.of(self._settings)
        try:
            self._first = await explore(
                self._run, reasoner, self._asked, READING, searches=SEARCHES, links=self._links
            )
        finally:
            self._run.budget = whole
        self._read.append(self._first)
        return self._first

    def _evidence_so_far(self) -> Evidence:
        self._first = Evidence(
            sources=merge_sources(self._run.sources), queries=tuple(self._run.queries)
        )
        self._read.append(self._first)
        return self._first

    async def _pages_for(self, paragraph: Paragraph, queries: tuple[str, ...]) -> Evidence:
        """Read the best pages for a paragraph's queries, with the passages about its content."""
        asked = self._question
        # The draft itself best describes the passages that would support it (Gao et al., Precise
        # Zero-Shot Dense Retrieval without Relevance Labels, ACL 2023).
        text = f"{asked.question}\n{paragraph.heading}\n{paragraph.text}"
        about = SubQuestion(
            text, asked.language, queries, knowledge_queries=queries, scope=asked.scope
        )
        wanted = [paragraph.heading or paragraph.purpose]
        known = [source.url for source in self._first.sources if source.url not in self._links]
        pages = [
            page for page in await self._run.read(known[:FIRST_PAGES]) if isinstance(page, Page)
        ]
        fit = await asyncio.to_thread(matching, wanted, pages, self._run.rarity)
        return await self._gather(about, READ_TOKENS, PAGES, fit[:FIRST_MATCHING])

    def _search_ahead(self, paragraph: Paragraph) -> None:
        """Start to search for the topic of the next paragraph's draft."""
        if self._question.kind == "links":
            return
        topic = content_words(f"{paragraph.heading} {self._question.question}")
        guess = " ".join(dict.fromkeys(topic[:GUESSED_WORDS]))
        if guess:
            limit = HITS * HITS_FETCHED
            self._run.prefetcher.search([Query(guess, limit, self._question.language)])

    async def _gather(
        self, about: SubQuestion, tokens: int, pages: int, known: Sequence[str] = ()
    ) -> Evidence:
        """Read the asker's links, the ``known`` pages and the best pages of all queries, with the
        passages about ``about``."""
        reading = Reading(HITS, tokens)
        workspace = Workspace(pages_left=self._run.budget.pages)
        keeper = WorkspaceKeeper(self._run, about, workspace, reading)
        await keeper.give(
            links=(*self._links, *known),
            queries=about.queries,
            knowledge_queries=about.knowledge_queries,
        )
        best = self._affordable(keeper.workspace.results, pages)
        if best:
            # Pages read for an earlier paragraph are free, so take all of them.
            keeper.workspace = replace(keeper.workspace, pages_left=len(best))
            await keeper.carry_out(Turn((Read(tuple(best)),)))
        if not keeper.workspace.sources:  # pages of the overview may help too, and are already read
            first = self._first.sources[:FIRST_PAGES]
            await keeper.give(links=[source.url for source in first])
        evidence = Evidence(
            sources=merge_sources(keeper.workspace.sources),
            enough=True,
            queries=about.queries,
            notes=tuple(keeper.unread),
        )
        self._read.append(evidence)
        return evidence

    def _affordable(self, results: Sequence[QueryResult], pages: int) -> list[int]:
        """Return the best hits; if no more pages may be read, the best of those already read."""
        hits = {hit.number: hit.hit for result in results for hit in result.hits}
        read = {dedupe_key(source.url) for source in self._run.sources}
        left = self._run.budget.pages - self._run.usage.pages
        chosen: list[int] = []
        for number in best_hits(results):
            url = hits[number].url
            if dedupe_key(url) not in read:
                if left <= 0:
                    continue
                left -= 1
            chosen.append(number)
            if len(chosen) == pages:
                break
        return chosen

    # ------------------------------------------------------------ one paragraph

    async def _paragraph(self, reasoner: Researcher, number: int) -> None:
        paragraph = self._drafted_at(number)
        revision = Revision(number, paragraph.heading, paragraph.text, "unsourced")
        self._show(number, "running")
        started = monotonic()
        with self._run.branch(_line_id(number)):
            try:
                queries = await self._queries(reasoner, number)
                revision = replace(revision, queries=queries)
                evidence = await self._read_for(reasoner, number, queries)
                pages = tuple(source.number for source in evidence.sources)
                revision = replace(revision, pages=pages)
                written = await self._revise(reasoner, number, evidence)
                titles = [source.title for source in evidence.sources]
                known = "\n".join((self._question.question, written.text, *titles))
                finished = section(borne_out(paragraph.heading, known), written)
                if written.cut:
                    remark = self._texts("report-cut", limit=written.cut)
                    finished = replace(finished, remark=remark)
            except Lapsed as lapsed:
                if lapsed.lapse.why == "budget":
                    outcome = "report-cut-short" if self.is_sourced else "rests-on-found"
                    self._run.notes.error(lapsed.lapse.budget_spent, outcome)
                    self._is_cut_short = True
                    return
                finished = self._unsourced(paragraph, number, lapsed.lapse)
                revision = replace(revision, reason=lapsed.lapse.problem)
            self._sections.append(finished)  # from now on a stop keeps it
            revised = finished.body.text if finished.fate == "revised" else ""
            changed = await asyncio.to_thread(changes, paragraph.text, revised)
            await self._keep(
                replace(revision, fate=finished.fate, revised=revised, changes=changed)
            )
        state: StepState = "failed" if finished.fate == "unsourced" else "done"
        self._show(number, state, revision.reason, seconds=monotonic() - started)

    async def _queries(self, reasoner: Researcher, number: int) -> tuple[str, ...]:
        if self._question.kind == "links":  # the report is about these pages only
            return ()
        manuscript = self._manuscript(number)
        return await self._within(
            reasoner,
            "query",
            number,
            QUERY_SECONDS,
            lambda: reasoner.queries(self._question, manuscript),
        )

    async def _read_for(
        self, reasoner: Researcher, number: int, queries: tuple[str, ...]
    ) -> Evidence:
        paragraph = self._drafted_at(number)
        evidence = await self._within(
            reasoner,
            "reading",
            number,
            READING_SECONDS,
            lambda: self._pages_for(paragraph, queries),
        )
        if not any(source.passages for source in evidence.sources):
            raise Lapsed(Lapse("nothing", self._run.texts("report-stage-nothing")))
        return evidence

    async def _revise(self, reasoner: Researcher, number: int, evidence: Evidence) -> Written:
        manuscript = self._manuscript(number)
        before = joined(self._sections).text
        heading = manuscript.paragraph.heading
        if number < len(self._drafted or ()):
            self._search_ahead(self._drafted_at(number + 1))

        def on_text(text: str) -> None:
            if text.strip():
                parts = (before, under(heading, text.lstrip()))
                self._on_text("\n\n".join(part for part in parts if part))

        async def revise() -> Written:
            stream = reasoner.revise(
                self._question, manuscript, evidence, self._run.options.instructions
            )
            return await write(stream, evidence, on_text)

        return await self._within(reasoner, "revision", number, REVISION_SECONDS, revise)

    async def _keep(self, revision: Revision) -> None:
        inputs = {
            "question": self._question.question,
            "number": revision.number,
            "draft": revision.draft,
            "revised": revision.revised,
        }
        title = summary(revision, self._run.texts)
        await self._run.keep("revision", inputs, revision, _revision, title)

    def _unsourced(self, paragraph: Paragraph, number: int, lapse: Lapse) -> Section:
        """Return the section for an unrevised paragraph: left out and named in the report's
        limits."""
        name = paragraph.heading or self._texts("report-part", number=number)
        limit = self._texts(f"report-omitted-{lapse.why}", name=name)
        return Section(paragraph.heading, Written("", ()), "unsourced", (limit,))

    # ------------------------------------------------------------ stages

    async def _within(
        self,
        reasoner: Researcher,
        stage: Stage,
        number: int,
        seconds: float,
        work: Callable[[], Awaitable[T]],
    ) -> T:
        inputs: dict[str, str | int] = {
            "question": self._question.question,
            "stage": stage,
            "paragraph": number,
            "draft": self._drafted_at(number).text if number else "",
            "reasoner": reasoner.name,
        }
        title = self._run.texts("report-stage", stage=stage, seconds=seconds)
        return await within(self._run, seconds, work, inputs=inputs, title=title)

    # ------------------------------------------------------------ presentation

    def _manuscript(self, number: int) -> Manuscript:
        return Manuscript(
            revised=tuple(
                without_marks(replace(one, remark="").text)
                for one in self._sections
                if one.fate == "revised"
            ),
            paragraph=self._drafted_at(number),
            to_come=self._topics_from(number + 1),
        )

    def _drafted_at(self, number: int) -> Paragraph:
        return (self._drafted or ())[number - 1]

    def _topics_from(self, number: int) -> tuple[str, ...]:
        return tuple(self._drafted_at(n).topic for n in range(number, len(self._drafted or ()) + 1))

    def _ending(self) -> str:
        """Return a last section with remarks on parts not found or not reached."""
        limits = [limit for one in self._sections for limit in one.limits]
        left_out = self._topics_from(len(self._sections) + 1)
        if left_out:
            topics = self._texts("report-separator").join(left_out)
            limits.append(self._texts("report-dropped", topics=topics))
        if not limits:
            return ""
        remarks = "\n>\n".join(f"> {limit}" for limit in dict.fromkeys(limits))
        return under(self._texts("report-limits"), remarks)

    def _show(
        self, number: int, state: StepState, detail: str = "", *, seconds: float = 0.0
    ) -> None:
        title = self._drafted_at(number).topic
        self._run.show(StepView(_line_id(number), "paragraph", title, state, seconds, detail))


def _line_id(number: int) -> str:
    return f"paragraph-{number}"


STRATEGY = Declaration(REVISE, Report)
