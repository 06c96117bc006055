"""Reports: drafted by paragraph, then each paragraph is revised against pages read for it.

    overview → draft → for each paragraph: query → read → revise → the report, its limits last

A deep report gets its overview from a graph of sub-questions (``research.graph``). The query and
the revision of a paragraph depend on the question and everything revised so far, so paragraphs are
processed one after another. Meanwhile the next one's pages are prefetched by the words of its
draft. A paragraph for which nothing useful is found gets a second try with other queries. An
opening is revised last, against the passages that the others cite.

Each stage has a time limit. A stage that runs out of time, fails, or finds the budget spent leaves
a *lapse* in the journal, with everything done and spent until then: the next attempt finds the
lapse instead of trying again, so that a resumed run has the same result and sends the same
requests. A paragraph whose stage lapsed keeps its draft and is marked in the report as not sourced.
When the budget is spent, unrevised paragraphs are left out, and the report says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from time import monotonic
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import BudgetSpent, ModelBroken, ModelRefused
from bot.core.messages import StepState, StepView, Usage
from bot.core.texts import texts_in
from bot.pages.urls import dedupe_key
from bot.reasoning.answer_prompt import topic_query
from bot.reasoning.evidence import (
    Evidence,
    Manuscript,
    Paragraph,
    QueryResult,
    Read,
    Searched,
    Source,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import Researcher
from bot.rendering.marks import numbers_in, without_marks
from bot.research.budget import Budget
from bot.research.composer import Written, write
from bot.research.graph import explore
from bot.research.revision import (
    Revision,
    Section,
    changes,
    joined,
    section,
    summary,
    under,
)
from bot.research.run import Run
from bot.research.selection import best_hits, best_of_each, matching, merge_sources
from bot.research.strategies import (
    HITS,
    READ_TOKENS,
    READING,
    REVISE,
    SEARCHES,
    Declaration,
    Gathered,
    Task,
    as_page,
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


FIRST_PAGES = 4  # read before drafting, or one a query: enough for an outline
FIRST_TOKENS = 500  # of passages per page
PAGES = 3  # read for one paragraph
TRIES = 2  # to find pages that are useful for it
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
        self._found: list[Evidence] = []  # for the paragraphs, one a try
        self._searched: list[Searched] = []
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
        every = (self._first, *self._found)
        sources = merge_sources([source for one in every for source in one.sources])
        out = [one.heading for one in self._sections if one.fate == "unsourced" and one.heading]
        missing = (*out, *(self._drafted_at(number).topic for number in self._left))
        queries = tuple(self._run.queries)
        return Evidence(sources=sources, missing=missing, enough=not missing, queries=queries)

    async def write(self, reasoner: Researcher) -> None:
        """Draft the report, and revise the paragraphs not revised yet.

        Raises what the reasoner raises, except ``BudgetSpent``, ``ModelRefused`` and
        ``ModelBroken``. If drafting fails, the report is empty.
        """
        if self._drafted is None:
            self._drafted = await self._draft(reasoner)
            for number in range(1, len(self._drafted) + 1):
                self._show(number, "waiting")
        for number in self._left:
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
            self._first = await self._within(reasoner, "reading", 0, seconds, look)
        except Lapsed:
            self._first = Evidence(
                merge_sources(self._run.sources), queries=tuple(self._run.queries)
            )
        instructions = self._run.options.instructions
        draft = partial(reasoner.draft, self._question, self._first, instructions)
        try:
            return await self._within(reasoner, "draft", 0, DRAFT_SECONDS, draft)
        except Lapsed as lapsed:
            if lapsed.lapse.why != "budget":
                self._run.note(self._texts("report-not-drafted"))
            return ()

    # ------------------------------------------------------------ reading

    async def _look_around(self) -> Evidence:
        """Read the best pages for the question's own queries and links, without a model. Queries
        that no page matches are missing."""
        queries = dict.fromkeys((*self._asked.queries, *self._asked.knowledge_queries))
        found = await self._gather(self._asked, FIRST_TOKENS, max(FIRST_PAGES, len(queries)))
        shown, rarity = [as_page(source) for source in found.sources], self._run.rarity
        unmet = [q for q in queries if not await asyncio.to_thread(matching, [q], shown, rarity)]
        return replace(found, missing=tuple(unmet))

    async def _explore(self, reasoner: Researcher) -> Evidence:
        """Explore the question by a graph of sub-questions, within the budget of an ordinary
        question: the rest is reserved for the paragraphs. Raises what
        ``research.graph.explore`` raises.
        """
        whole = self._run.budget
        self._run.budget = Budget.of(self._settings)
        try:
            return await explore(
                self._run, reasoner, self._asked, READING, searches=SEARCHES, links=self._links
            )
        finally:
            self._run.budget = whole

    async def _pages_for(self, paragraph: Paragraph, queries: tuple[str, ...]) -> Evidence:
        """Read the best pages for a paragraph's queries, with the passages about its content."""
        asked = self._question
        # The draft itself best describes the passages that would support it (Gao et al., Precise
        # Zero-Shot Dense Retrieval without Relevance Labels, ACL 2023).
        text = f"{asked.question}\n{paragraph.heading}\n{paragraph.text}"
        about = SubQuestion(
            text, asked.language, queries, knowledge_queries=queries, scope=asked.scope
        )
        return await self._gather(about, READ_TOKENS, PAGES)

    def _search_ahead(self, paragraph: Paragraph) -> None:
        """Start to search for the topic of the next paragraph's draft."""
        if self._question.kind == "links":
            return
        topic = content_words(f"{paragraph.heading} {self._question.question}")
        guess = " ".join(dict.fromkeys(topic[:GUESSED_WORDS]))
        if guess:
            limit = HITS * HITS_FETCHED
            self._run.prefetcher.search([Query(guess, limit, self._question.language)])

    async def _gather(self, about: SubQuestion, tokens: int, pages: int) -> Evidence:
        """Read the asker's links and the best pages of all queries, with the passages about
        ``about``."""
        reading = Reading(HITS, tokens)
        workspace = Workspace(pages_left=self._run.budget.pages)
        keeper = WorkspaceKeeper(self._run, about, workspace, reading)
        await keeper.give(
            links=self._links,
            queries=about.queries,
            knowledge_queries=about.knowledge_queries,
        )
        best = self._affordable(keeper.workspace.results, pages)
        if best:
            # Pages read for an earlier paragraph are free, so take all of them.
            keeper.workspace = replace(keeper.workspace, pages_left=len(best))
            await keeper.carry_out(Turn((Read(tuple(best)),)))
        return Evidence(
            sources=merge_sources(keeper.workspace.sources),
            enough=True,
            queries=about.queries,
            notes=tuple(keeper.unread),
        )

    def _affordable(self, results: Sequence[QueryResult], pages: int) -> list[int]:
        """Return the page that each query names, or its best hit, then the best of all without
        pages that paragraphs were shown and none cites; if no more pages may be read, of those
        already read."""
        hits = {hit.number: hit.hit for result in results for hit in result.hits}
        read = {dedupe_key(source.url) for source in self._run.sources}
        left = self._run.budget.pages - self._run.usage.pages
        chosen: list[int] = []
        firsts = best_of_each(results, hits)
        cited = numbers_in(joined(self._sections).text)
        shown = [source for one in self._found for source in one.sources]
        useless = {dedupe_key(source.url) for source in shown if source.number not in cited}
        for number in dict.fromkeys((*firsts, *best_hits(results))):
            key = dedupe_key(hits[number].url)
            if number not in firsts and key in useless:
                continue
            if key not in read:
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
        finished: Section | None = None
        lapse = Lapse("nothing", self._run.texts("report-stage-nothing"))
        self._show(number, "running")
        started = monotonic()
        with self._run.branch(_line_id(number)):
            try:
                for _ in range(TRIES):
                    queries = await self._queries(reasoner, number)
                    revision = replace(revision, queries=revision.queries + queries)
                    evidence = await self._read_for(reasoner, number, queries, revision.pages)
                    pages = tuple(source.number for source in evidence.sources)
                    revision = replace(revision, pages=revision.pages + pages)
                    if pages:
                        finished = await self._revise(reasoner, number, evidence)
                    cited = numbers_in(finished.body.text) if finished is not None else []
                    useful = tuple(s.named for s in evidence.sources if s.number in cited)
                    self._searched.append(Searched(paragraph.topic, queries, useful))
                    if not queries or (finished is not None and finished.body.text):
                        break
            except Lapsed as lapsed:
                lapse = lapsed.lapse
                if lapse.why == "budget":
                    outcome = "report-cut-short" if self.is_sourced else "rests-on-found"
                    self._run.notes.error(lapse.budget_spent, outcome)
                    self._is_cut_short = True
                    return
            if finished is None:
                finished = self._unsourced(paragraph, number, lapse)
                revision = replace(revision, reason=lapse.problem)
            self._sections = self._with(finished, number)  # from now on a stop keeps it
            revised = finished.body.text if finished.fate == "revised" else ""
            changed = await asyncio.to_thread(changes, paragraph.text, revised)
            await self._keep(
                replace(revision, fate=finished.fate, revised=revised, changes=changed)
            )
        state: StepState = "failed" if finished.fate == "unsourced" else "done"
        self._show(number, state, revision.reason, seconds=monotonic() - started)

    async def _queries(self, reasoner: Researcher, number: int) -> tuple[str, ...]:
        manuscript = self._manuscript(number)
        if self._question.kind == "links" or manuscript.opens:  # all its pages are known
            return ()
        asked = partial(reasoner.queries, self._question, manuscript)
        try:
            return await self._within(reasoner, "query", number, QUERY_SECONDS, asked)
        except Lapsed as lapsed:
            if lapsed.lapse.why == "budget":
                raise
            return topic_query(self._question, manuscript.paragraph)

    async def _read_for(
        self, reasoner: Researcher, number: int, queries: tuple[str, ...], seen: Collection[int]
    ) -> Evidence:
        """Return the pages for a paragraph that are new to it: those ``seen`` were of no use."""
        if self._manuscript(number).opens:
            return self._cited_passages()
        paragraph = self._drafted_at(number)
        evidence = await self._within(
            reasoner,
            "reading",
            number,
            READING_SECONDS,
            lambda: self._pages_for(paragraph, queries),
        )
        self._found.append(evidence)
        new = (s for s in evidence.sources if s.passages and s.number not in seen)
        return replace(evidence, sources=tuple(new))

    def _cited_passages(self) -> Evidence:
        """The passages that the sections cite; if marks name only pages, all passages of these."""
        written = joined(self._sections)
        cited = {(each.number, each.start) for span in written.spans for each in span.citations}
        sources = []
        for source in self.evidence.sources:
            if source.number in numbers_in(written.text):
                few = tuple(p for p in source.passages if (source.number, p.start) in cited)
                sources.append(replace(source, passages=few or source.passages))
        return Evidence(tuple(sources), enough=True)

    async def _revise(self, reasoner: Researcher, number: int, evidence: Evidence) -> Section:
        manuscript = self._manuscript(number)
        heading = manuscript.paragraph.heading
        if following := [other for other in self._left if other > number]:
            self._search_ahead(self._drafted_at(following[0]))

        def on_text(text: str) -> None:
            if text.strip("# \n"):
                growing = section(heading, Written(text, ()))
                self._on_text(joined(self._with(growing, number)).text)

        async def revise() -> Written:
            stream = reasoner.revise(
                self._question, manuscript, evidence, self._run.options.instructions
            )
            return await write(stream, evidence, on_text)

        written = await self._within(reasoner, "revision", number, REVISION_SECONDS, revise)
        titles = [source.title for source in evidence.sources]
        finished = section(heading, written, "\n".join((self._question.question, *titles)))
        remark = self._texts("report-cut", limit=written.cut) if written.cut else ""
        return replace(finished, remark=remark)

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
            "searched": len(self._found),
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
            to_come=tuple(self._drafted_at(n).topic for n in self._left if n > number),
            searched=tuple(self._searched),
            gaps=tuple(limit for one in self._sections for limit in one.limits),
            opens=number == 1 and self.is_sourced,
        )

    def _drafted_at(self, number: int) -> Paragraph:
        return (self._drafted or ())[number - 1]

    @property
    def _left(self) -> list[int]:
        """The numbers of the paragraphs not finished, an opening last."""
        numbers = list(range(1, len(self._drafted or ()) + 1))
        if numbers and not self._drafted_at(1).heading:
            numbers.append(numbers.pop(0))
        return numbers[len(self._sections) :]

    def _with(self, one: Section, number: int) -> list[Section]:
        """Return the sections with that of a paragraph in its place: an opening is before all."""
        return [one, *self._sections] if number == 1 else [*self._sections, one]

    def _ending(self) -> str:
        """Return a last section with remarks on parts not found or not reached."""
        limits = [limit for one in self._sections for limit in one.limits]
        left_out = [self._drafted_at(n).topic for n in self._left if n > 1 or not self._sections]
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
