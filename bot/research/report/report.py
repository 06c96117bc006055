"""Reports: drafted by paragraph, then each paragraph is revised against pages read for it.

    overview → draft → for each paragraph: query → read → revise → the report, its limits last

A deep report gets its overview from a graph of sub-questions (``research.strategies.graph``). The
query and the revision of a paragraph depend on the question and everything revised so far, so
paragraphs are processed one after another. Meanwhile the next one's pages are prefetched by the
words of its draft.

Each stage has a time limit. A paragraph whose stage runs out of time or fails keeps its draft and
is marked in the report as not sourced; the failure is a step of the run, so that a resumed run has
the same result. When the budget is spent, unrevised paragraphs are left out, and the report says
so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import monotonic
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.core.messages import StepState, StepView
from bot.core.texts import texts_in
from bot.reasoning.evidence import Evidence, Manuscript, Paragraph
from bot.reasoning.reasoner import Researcher
from bot.rendering.marks import without_marks
from bot.research.answer.write import Written, write
from bot.research.report.deadlines import Lapse, Lapsed, within
from bot.research.report.groundwork import Groundwork
from bot.research.report.revision import (
    Revision,
    Section,
    borne_out,
    changes,
    joined,
    section,
    summary,
    under,
)
from bot.research.strategies.strategy import REVISE, Declaration, Gathered, Task

# Of each stage; a part that misses one is left out.
DRAFT_SECONDS = 90.0  # of the whole report
QUERY_SECONDS = 15.0
READING_SECONDS = 30.0
REVISION_SECONDS = 60.0

T = TypeVar("T")
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
        self._ground = Groundwork(task)
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
        """All evidence read for it."""
        return self._ground.evidence

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
        """Close all open lines of the plan, however the work ended."""
        for line in self._run.steps:
            if line.kind == "paragraph" and line.state in ("running", "waiting"):
                self._run.show(replace(line, state="failed"))

    # ------------------------------------------------------------ drafting

    async def _draft(self, reasoner: Researcher) -> tuple[Paragraph, ...]:
        look, seconds = self._ground.look_around, READING_SECONDS
        if self._depth == "deep" and not self._question.whole:
            # Keep half of the time for the report itself.
            look, seconds = self._ground.explore, self._settings.max_seconds / 2
        try:
            found = await self._within(reasoner, "reading", 0, seconds, lambda: look(reasoner))
        except Lapsed:
            found = self._ground.evidence_so_far()

        async def draft() -> tuple[Paragraph, ...]:
            return await reasoner.draft(self._question, found, self._run.options.instructions)

        try:
            return await self._within(reasoner, "draft", 0, DRAFT_SECONDS, draft)
        except Lapsed as lapsed:
            if lapsed.lapse.why != "budget":
                self._run.note(self._texts("report-not-drafted"))
            return ()

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
            lambda: self._ground.read_for(paragraph, queries),
        )
        if not any(source.passages for source in evidence.sources):
            raise Lapsed(Lapse("nothing", self._run.texts("report-stage-nothing")))
        return evidence

    async def _revise(self, reasoner: Researcher, number: int, evidence: Evidence) -> Written:
        manuscript = self._manuscript(number)
        before = joined(self._sections).text
        heading = manuscript.paragraph.heading
        if number < self._length:
            self._ground.search_ahead(self._drafted_at(number + 1))

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
        """Store a paragraph's draft and revision in the run's trace."""

        async def kept() -> Revision:
            return revision

        inputs = {
            "question": self._question.question,
            "number": revision.number,
            "draft": revision.draft,
            "revised": revision.revised,
        }
        title = summary(revision, self._run.texts)
        await self._run.keep("revision", inputs, kept, _revision, title=title)

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

    @property
    def _length(self) -> int:
        return len(self._drafted or ())

    def _drafted_at(self, number: int) -> Paragraph:
        return (self._drafted or ())[number - 1]

    def _topics_from(self, number: int) -> tuple[str, ...]:
        return tuple(self._drafted_at(n).topic for n in range(number, self._length + 1))

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
