"""Reports: drafted, revised against pages, cut by time and money, resumed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, cast

import pytest

from bot.core.errors import (
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
    NoProviderAvailable,
)
from bot.core.messages import Answer, Depth, PlanView, RunOptions, StepView, Style, Transcript
from bot.core.settings import Settings
from bot.core.texts import texts_for
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.reasoning.calls import ModelCalls, ModelReply
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import (
    Action,
    AnswerDelta,
    CitationDelta,
    Cut,
    Evidence,
    Finish,
    Manuscript,
    Paragraph,
    Read,
    Rewritten,
    Searched,
    TextDelta,
)
from bot.reasoning.graphs import GraphEdit, NewNode
from bot.reasoning.reasoner import ReasonerFactory
from bot.research.budget import Account, Allowance, Budget, DayLimits, Days
from bot.research.pipeline import Pipeline
from bot.research.report import Report
from bot.research.revision import Revision, summary
from bot.research.run import Resources, Run, RunQuestion
from bot.research.strategies import Task
from bot.storage.journal import Journal
from bot.storage.spending import Amount, DaySpent, Holder, Payer, Permit, Reservation
from tests.fakes.journal import Died, MemoryJournal, Shelved
from tests.fakes.library import Shelf, a_library, a_shelf
from tests.fakes.poster import Streamed
from tests.fakes.reasoner import Scripted
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.samples import NOW, a_message


@pytest.fixture(autouse=True)
def short_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    for stage, seconds in {"DRAFT": 10.0, "QUERY": 2.0, "READING": 5.0, "REVISION": 8.0}.items():
        monkeypatch.setattr(f"bot.research.report.{stage}_SECONDS", seconds)


QUESTION = Rewritten("search", "Tell me all about the tower.", ("tower",), long_form=True)
PAGES = (
    "Height of the tower is 330 metres.",
    "Builders of the tower were 300 workers.",
    "Colour of the tower is brown.",
)
DRAFTS = (
    Paragraph("Height", "How tall it is.", "The tower is 999 metres tall [1]."),
    Paragraph("Builders", "Who built it.", "It was built by 7 people in 1066."),
    Paragraph("Colour", "What it looks like.", "It is a green tower."),
)
ZEBRAS = Paragraph("Zebras", "", "Zebras like the tower.")
OPENING = Paragraph("", "In short", "The tower is 999 metres tall and green.")
PLENTY = Budget(model_calls=50, pages=24, input_tokens=10**6, seconds=10**6, usd=10.0)
SETTINGS = load_settings()


@dataclass
class Writer(Scripted):
    """Drafts, asks and revises by recorded model calls that take ``seconds`` each.

    ``slow`` and ``failing`` are by the call's name: "draft", "query Height", "revise Colour".
    """

    calls: ModelCalls | None = None
    drafts: Sequence[Paragraph] = DRAFTS
    turns: Sequence[Sequence[Action]] = ((Read((1,)),),)  # where it ends as a plain answer
    rewritten: Rewritten | None = QUESTION
    asking: str = "{} of the tower"
    again: str = "{}"  # where a paragraph's first queries found nothing useful
    given: list[Evidence] = field(default_factory=list)  # for each revision
    seconds: float = 1.0
    slow: dict[str, float] = field(default_factory=dict)
    failing: dict[str, Exception] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)
    name: str = "writer"

    async def _send(self, name: str) -> ModelReply:
        self.sent.append(name)
        self.begun[name] = now()
        await asyncio.sleep(self.slow.get(name, self.seconds))
        if name in self.failing:
            raise self.failing[name]
        return ModelReply("m", (), "end_turn", input_tokens=10, output_tokens=10)

    async def _call(self, name: str, *inputs: object) -> None:
        assert self.calls is not None
        request = {"name": name, "inputs": repr(inputs)}
        await self.calls.call(request, lambda: self._send(name), kind="think", title=name)

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        await self._call("draft", question, evidence)
        return await super().draft(question, evidence)

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        topic = manuscript.paragraph.topic
        is_first = all(one.topic != topic for one in manuscript.searched)
        name = f"query {topic}" if is_first else f"query {topic} again"
        await self._call(name, question, manuscript)
        return ((self.asking if is_first else self.again).format(topic),)

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        assert self.calls is not None
        self.manuscripts.append(manuscript)
        self.given.append(evidence)
        name = f"revise {manuscript.paragraph.topic}"

        async def open() -> AsyncIterator[AnswerDelta | ModelReply]:
            for delta in self.answer(question, evidence):
                yield delta
            yield await self._send(name)

        request = {"name": name, "inputs": repr((question, manuscript, evidence))}
        async for delta in self.calls.stream(request, open, kind="revise", title=name):
            yield delta


def first_page(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
    """The first passage of the first page, cited."""
    source = evidence.sources[0]
    passage = source.passages[0]
    return [
        TextDelta(passage.text, opens=True),
        CitationDelta(source.number, passage.start, passage.end),
    ]


def on_its_topic(*titles: str) -> Callable[[Rewritten, Evidence], list[AnswerDelta]]:
    """The text of the page of each paragraph in turn; the pages by title."""
    left = list(titles)

    def answer(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        title = left.pop(0)
        return first_page(
            question,
            replace(evidence, sources=tuple(s for s in evidence.sources if s.title == title)),
        )

    return answer


@dataclass
class Play:
    """A run on a shelf of pages; ``again`` begins the next attempt at it."""

    shelf: Shelf = field(default_factory=lambda: a_shelf(*PAGES))
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    budget: Budget = PLENTY
    style: Style = "report"
    depth: Depth = "standard"
    locale: str = "en"
    settings: Settings = SETTINGS
    allowance: Allowance | None = None
    plans: list[PlanView] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def run(self, prefetch_pages: int = 0) -> Run:
        message = replace(a_message(event_id="e1"), locale=self.locale)
        options = RunOptions(style=self.style, depth=self.depth)
        return Run(
            RunQuestion("r1", message, options, NOW),
            Resources(a_library(self.shelf), prefetch_pages=prefetch_pages),
            cast("Journal", self.journal),
            Account(self.budget, lambda reply: 0.0, self.allowance, self.journal.seconds),
            self.plans.append,
        )

    def again(self, **changed: object) -> Play:
        journal = MemoryJournal(self.journal.shelved)
        return replace(self, journal=journal, plans=[], shown=[], **changed)  # type: ignore[arg-type]

    def of(self, run: Run, question: Rewritten, links: tuple[str, ...] = ()) -> Report:
        show = self.shown.append
        task = Task(run, question, self.settings, self.depth, links, show)
        return Report(task)

    async def report(self, writer: Writer, prefetch_pages: int = 0) -> tuple[Report, Run]:
        run = self.run(prefetch_pages)
        writer.calls = run.calls
        question = writer.rewritten or QUESTION
        report = self.of(run, question)
        await report.write(writer)
        return report, run

    def pipeline(self, writer: Writer, fallback: ReasonerFactory = Closest) -> Pipeline:
        run = self.run()
        run.budget = self.budget
        writer.calls = run.calls
        return Pipeline(
            run,
            writer,
            fallback(run.calls),
            Transcript(),
            self.settings,
            Streamed(self.shown.append),
        )

    async def answer(self, writer: Writer) -> Answer:
        return await self.pipeline(writer).research()

    @property
    def revisions(self) -> list[Revision]:
        """The kept trace of each paragraph."""
        from pydantic import TypeAdapter

        shape = TypeAdapter(Revision)
        steps = [s for s in self.journal.shelved.steps.values() if s.kind == "revision"]
        return [shape.validate_json(step.result) for step in steps]


def topical() -> Writer:
    return Writer(answer=on_its_topic("Height", "Builders", "Colour"))


REPORT = (
    "## Height\n\nHeight of the tower is 330 metres [{0}].\n\n"
    "## Builders\n\nBuilders of the tower were 300 workers [{1}].\n\n"
    "## Colour\n\nColour of the tower is brown [{2}]."
)


def numbers(shelf: Shelf, journal: MemoryJournal) -> list[int]:
    return [journal.shelved.numbers[url] for url in shelf.pages]


# ---------------------------------------------------------------- the report


@in_virtual_time
async def test_each_paragraph_is_revised_in_its_order_and_nothing_of_the_draft_is_left() -> None:
    play, writer = Play(), topical()
    report, _ = await play.report(writer)
    assert report.written.text == REPORT.format(*numbers(play.shelf, play.journal))
    assert writer.sent == [
        "draft",
        *("query Height", "revise Height"),
        *("query Builders", "revise Builders"),
        *("query Colour", "revise Colour"),
    ]
    [overview] = writer.looked_at
    assert {source.title for source in overview.sources} == {"Height", "Builders", "Colour"}


@in_virtual_time
async def test_a_paragraph_is_asked_for_and_revised_from_all_that_is_revised_so_far() -> None:
    writer = topical()
    await Play().report(writer)
    first, second, third = writer.manuscripts
    assert (first.revised, first.to_come) == ((), ("Builders", "Colour"))
    assert second.revised == ("## Height\n\nHeight of the tower is 330 metres.",)
    assert third.revised[:1] == second.revised
    assert (third.paragraph, third.to_come) == (DRAFTS[2], ())


@in_virtual_time
async def test_a_page_is_read_once_and_has_one_number_in_all_paragraphs() -> None:
    play = Play(a_shelf(PAGES[0]))
    writer = Writer(answer=first_page)
    report, run = await play.report(writer)
    assert play.shelf.read_urls == ["https://example.org/1"]
    assert run.usage.pages == 1
    assert {source.number for source in report.evidence.sources} == {1}
    assert report.written.text.count("330 metres [1].") == 3


@in_virtual_time
async def test_when_all_pages_are_spent_the_right_one_of_those_read_still_serves() -> None:
    play = Play(budget=replace(PLENTY, pages=3))
    writer = topical()
    writer.asking = "{}"
    report, _ = await play.report(writer)
    assert len(play.shelf.read_urls) == 3
    assert [len(one.pages) for one in play.revisions] == [1, 1, 1]
    assert report.written.text == REPORT.format(*numbers(play.shelf, play.journal))


@in_virtual_time
async def test_the_text_grows_paragraph_by_paragraph_and_is_never_a_draft() -> None:
    play = Play()
    await play.report(topical())
    lengths = [len(text) for text in play.shown]
    assert lengths == sorted(lengths)
    assert not any("999" in text or "1066" in text for text in play.shown)


@pytest.mark.parametrize(
    ("heading", "stays"),
    [("999 metres", False), ("In 1066", False), ("330 metres", True), ("As tall as Oslo", True)],
)
@in_virtual_time
async def test_a_heading_states_no_figure_or_date_that_only_the_draft_knew(
    heading: str, stays: bool
) -> None:
    play = Play(a_shelf(PAGES[0]))
    report, _ = await play.report(Writer(answer=first_page, drafts=(Paragraph(heading, "", "x"),)))
    assert (f"## {heading}\n" in report.written.text) == stays
    assert "330 metres [1]." in report.written.text


@in_virtual_time
async def test_what_could_not_be_shown_stands_at_the_end_of_the_report() -> None:
    def limited(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        return [*first_page(question, evidence), TextDelta("\n\n> Its weight is open.", opens=True)]

    report, _ = await Play().report(Writer(answer=limited, drafts=DRAFTS[:2]))
    body, _, ending = report.written.text.partition("## What was not found")
    assert ending.strip() == "> Its weight is open."
    assert "weight" not in body


@in_virtual_time
async def test_a_paragraph_of_which_nothing_is_left_is_no_section() -> None:
    def nothing(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        return [TextDelta("> Nothing tells its height.", opens=True)]

    play = Play()
    report, _ = await play.report(Writer(answer=nothing, drafts=DRAFTS[:1]))
    assert report.written.text == "## What was not found\n\n> Nothing tells its height."
    assert not report.is_sourced
    assert (
        summary(play.revisions[0], texts_for("en"))
        == "Left out because no source supports it: Height"
    )


# ---------------------------------------------------------------- the opening


@in_virtual_time
async def test_the_opening_is_revised_last_from_what_the_others_cite_and_stands_first() -> None:
    play, writer = Play(), titled((OPENING, *DRAFTS))
    report, _ = await play.report(writer)
    assert writer.sent[-2:] == ["revise Colour", "revise In short"]
    assert "query In short" not in writer.sent
    last = writer.manuscripts[-1]
    assert [one.opens for one in writer.manuscripts] == [False, False, False, True]
    assert len(last.revised) == 3
    assert {source.title for source in writer.given[-1].sources} == {"Height", "Builders", "Colour"}
    opening, _, rest = report.written.text.partition("\n\n")
    assert rest == REPORT.format(*numbers(play.shelf, play.journal))
    assert opening.startswith("Height of the tower is 330 metres [")


@in_virtual_time
async def test_the_opening_gets_only_the_passages_cited() -> None:
    long = "\n\n".join((PAGES[0], *(f"Wind of the tower was {n} knots." * 9 for n in range(9))))
    writer = Writer(answer=first_page, drafts=(OPENING, DRAFTS[0]))
    await Play(a_shelf(long)).report(writer)
    body, opening = ([p.text for s in given.sources for p in s.passages] for given in writer.given)
    assert len(body) > 1
    assert opening == body[:1]


@in_virtual_time
async def test_the_opening_appears_above_what_is_written_already() -> None:
    play, writer = Play(), titled((OPENING, *DRAFTS[:2]))
    await play.report(writer)
    last_alone = max(n for n, text in enumerate(play.shown) if text.startswith("## Height"))
    body = play.shown[last_alone]
    assert "## Builders" in body
    assert all(text.endswith(body) for text in play.shown[last_alone:])
    assert len(play.shown[-1]) > len(body)


@in_virtual_time
async def test_an_opening_that_cannot_sum_up_anything_is_searched_for_itself() -> None:
    writer = Writer(answer=first_page, asking="{}")
    writer.drafts = (replace(OPENING, purpose="tower"), ZEBRAS)
    report, _ = await Play().report(writer)
    assert "query tower" in writer.sent
    assert report.written.text.startswith("Height of the tower is 330 metres [")


@in_virtual_time
async def test_an_opening_for_which_the_budget_is_spent_is_not_named() -> None:
    writer = titled((OPENING, *DRAFTS[:2]))
    play = Play(budget=replace(PLENTY, model_calls=5))
    report, _ = await play.report(writer)
    assert report.written.text.startswith("## Height")
    assert "What was not found" not in report.written.text


# ---------------------------------------------------------------- what is searched and shown


def silent_on(*topics: str) -> Writer:
    """Cites the first page, except for these topics, on which it finds nothing."""
    writer = Writer()

    def answer(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        topic = writer.manuscripts[-1].paragraph.topic
        gap = TextDelta(f"> {topic} could not be shown.", opens=True)
        return [gap] if topic in topics else first_page(question, evidence)

    writer.answer = answer
    return writer


@in_virtual_time
async def test_queries_that_found_nothing_are_followed_by_others() -> None:
    play, writer = Play(), Writer(answer=first_page, drafts=(DRAFTS[0], ZEBRAS))
    writer.asking, writer.again = "{}", "{} colour"
    await play.report(writer)
    assert writer.sent[-3:] == ["query Zebras", "query Zebras again", "revise Zebras"]
    assert play.revisions[1].queries == ("Zebras", "Zebras colour")
    assert writer.manuscripts[-1].searched == (
        Searched("Height", ("Height",), ("Height",)),
        Searched("Zebras", ("Zebras",)),
    )


@in_virtual_time
async def test_after_an_empty_revision_other_pages_are_searched_for_once() -> None:
    """A page that another paragraph cites counts as useless for this one all the same."""
    shelf = replace(a_shelf(*PAGES), urls={"Zebras": ["https://example.org/1"], "Zebras again": []})
    shelf.urls["Zebras again"] = ["https://example.org/1", "https://example.org/2"]  # type: ignore[index]
    play, writer = Play(shelf), silent_on("Zebras")
    writer.asking, writer.again, writer.drafts = "{}", "{} again", (DRAFTS[0], ZEBRAS)
    report, _ = await play.report(writer)
    assert writer.sent[3:] == [
        *("query Zebras", "revise Zebras"),
        *("query Zebras again", "revise Zebras"),
    ]
    shown = [[source.title for source in each.sources] for each in writer.given]
    assert shown == [["Height"], ["Height"], ["Builders"]]
    assert writer.manuscripts[-1].searched[-1] == Searched("Zebras", ("Zebras",))
    assert report.written.text.endswith("> Zebras could not be shown.")


@in_virtual_time
async def test_without_new_pages_nothing_is_revised() -> None:
    play, writer = Play(), Writer(answer=first_page, asking="{}", drafts=(DRAFTS[0], ZEBRAS))
    report, _ = await play.report(writer)
    assert "revise Zebras" not in writer.sent
    assert report.written.text.endswith(
        "> “Zebras” was left out: nothing was found to check it against."
    )


@in_virtual_time
async def test_each_query_gets_the_page_it_names_and_a_useless_one_does_not_come_again() -> None:
    found = {"Height": [1, 2], "Colour": [2, 3], "Builders": [3, 1, 2]}
    urls = {topic: [ADDRESS.format(n) for n in pages] for topic, pages in found.items()}
    writer = Writer(answer=first_page, asking="{}")
    await Play(Shelf(a_shelf(*PAGES).pages, urls=urls)).report(writer)
    shown = [{source.title for source in each.sources} for each in writer.given]
    assert shown == [{"Height", "Builders"}, {"Height", "Builders", "Colour"}, {"Colour"}]


@in_virtual_time
async def test_the_draft_is_told_which_queries_no_page_of_the_first_look_matches() -> None:
    asked = replace(QUESTION, queries=("height of the tower", "zebras", "tower weight in tonnes"))
    writer = Writer(answer=first_page, rewritten=asked)
    await Play().report(writer)
    assert writer.looked_at[0].missing == ("zebras", "tower weight in tonnes")


@in_virtual_time
async def test_the_next_paragraphs_are_told_the_gaps_and_one_gap_stands_once() -> None:
    writer = silent_on("Height", "Builders")
    inner = writer.answer

    def same(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        said = inner(question, evidence)
        is_gap = isinstance(said[0], TextDelta) and said[0].text.startswith(">")
        return [TextDelta("> Its weight is open.", opens=True)] if is_gap else said

    writer.answer, writer.again = same, "nothing"
    report, _ = await Play().report(writer)
    assert writer.manuscripts[-1].gaps == ("Its weight is open.",) * 2
    assert report.written.text.count("Its weight is open.") == 1


@in_virtual_time
async def test_the_heading_follows_the_writer() -> None:
    def headed(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        return [TextDelta("## Tallness\n\n", opens=True), *first_page(question, evidence)]

    play = Play(a_shelf(PAGES[0]))
    report, _ = await play.report(Writer(answer=headed, drafts=DRAFTS[:1]))
    assert report.written.text == "## Tallness\n\nHeight of the tower is 330 metres [1]."
    assert not any("## Height" in text or text.endswith("#") for text in play.shown)
    assert covered(report) == ["Height of the tower is 330 metres [1]."]


# ---------------------------------------------------------------- stages that are missed


@in_virtual_time
async def test_a_part_that_missed_a_stage_is_left_out_and_named_once() -> None:
    writer, play = topical(), Play()
    writer.slow = {"revise Builders": 8.1}
    report, _ = await play.report(writer)
    assert "## Builders" not in report.written.text
    assert DRAFTS[1].text not in report.written.text
    assert report.written.text.endswith(
        "> “Builders” was left out: there was no time left to check it."
    )
    assert [one.fate for one in play.revisions] == ["revised", "unsourced", "revised"]
    assert (report.evidence.missing, report.evidence.enough) == (("Builders",), False)


@pytest.mark.parametrize("is_slow", [True, False])
@in_virtual_time
async def test_a_part_without_queries_in_time_is_searched_by_its_topic(is_slow: bool) -> None:
    play, writer = Play(), Writer(answer=first_page)
    if is_slow:
        writer.slow = {"query Builders": 2.1}
    else:
        writer.failing = {"query Builders": ModelRefused("It declined.")}
    report, _ = await play.report(writer)
    assert [one.fate for one in play.revisions] == ["revised"] * 3
    assert play.revisions[1].queries == ("Builders",)
    assert report.evidence.enough


@in_virtual_time
async def test_a_stage_that_just_keeps_its_time_is_not_missed() -> None:
    play, writer = Play(), topical()
    writer.slow = {"draft": 9.9, "query Builders": 1.9, "revise Builders": 7.9}
    await play.report(writer)
    assert [one.fate for one in play.revisions] == ["revised"] * 3


@in_virtual_time
async def test_reading_that_takes_too_long_is_missed() -> None:
    @dataclass
    class Slow(Shelf):
        async def read(self, url: str):  # type: ignore[no-untyped-def]
            await asyncio.sleep(5.1 if url.endswith("/2") else 0.1)
            return await super().read(url)

    shelf = Slow(a_shelf(*PAGES).pages, urls={"tower": ["https://example.org/1"]})
    play = Play(shelf)
    await play.report(Writer(answer=first_page))
    assert [(one.fate, one.reason) for one in play.revisions] == [
        ("unsourced", "not done in time")
    ] * 3  # each of them finds that page among its hits
    lapses = [s for s in play.journal.shelved.steps.values() if s.kind == "lapse"]
    assert [step.title for step in lapses] == ["Search and read, within 5 s"] * 3


@pytest.mark.parametrize(
    "error", [ModelRefused("It declined."), ModelBroken("It wrote no answer.")], ids=repr
)
@in_virtual_time
async def test_a_part_that_failed_is_left_out_and_fails_again_when_resumed(
    error: FootnoteError,
) -> None:
    play, writer = Play(), Writer(answer=first_page)
    writer.failing = {"revise Builders": error}
    report, _ = await play.report(writer)
    assert [one.fate for one in play.revisions] == ["revised", "unsourced", "revised"]
    assert play.revisions[1].reason == error.sentence
    assert "“Builders” was left out: it could not be checked." in report.written.text
    resumed, _ = await play.again().report(fast := Writer(answer=first_page))
    assert (resumed.written, fast.sent) == (report.written, [])


@pytest.mark.parametrize(
    "draft",
    [
        {"slow": {"draft": 10.1}},
        {"failing": {"draft": ModelRefused("It declined.")}},
        {"failing": {"draft": ModelBroken("No JSON.")}},
    ],
    ids=["missed", "refused", "broken"],
)
@in_virtual_time
async def test_a_draft_that_is_missed_or_fails_becomes_a_plain_answer(draft: Any) -> None:
    answer = await Play().answer(Writer(answer=first_page, **draft))
    assert answer.status == "answered"
    assert "##" not in answer.text
    assert "The report could not be drafted, so this is a plain answer." in answer.notes


@in_virtual_time
async def test_a_paragraph_for_which_nothing_can_be_read_is_left_out() -> None:
    report, _ = await Play(a_shelf()).report(Writer(drafts=(ZEBRAS,)))
    assert "“Zebras” was left out: nothing was found to check it" in report.written.text
    assert "Zebras like the tower." not in report.written.text
    assert not report.is_sourced


@in_virtual_time
async def test_remarks_are_in_the_language_of_the_report() -> None:
    asked = replace(QUESTION, language="zh")
    writer = Writer(answer=first_page, rewritten=asked, slow={"revise Builders": 8.1})
    report, _ = await Play().report(writer)
    assert "> 已略去“Builders”：没有时间核对。" in report.written.text
    writer = Writer(answer=first_page, rewritten=asked, slow={"revise Builders": 8.1})
    report, _ = await Play(locale="zh-TW").report(writer)
    assert "> 已略去「Builders」：沒有時間核對。" in report.written.text


# ---------------------------------------------------------------- money


@in_virtual_time
async def test_a_spent_budget_leaves_out_the_rest_and_says_so() -> None:
    play = Play(budget=replace(PLENTY, model_calls=3))
    writer = topical()
    report, run = await play.report(writer)
    assert writer.sent == ["draft", "query Height", "revise Height"]
    assert report.written.text.endswith(
        "## What was not found\n\n> No longer covered: Builders; Colour."
    )
    assert DRAFTS[1].text not in report.written.text
    assert run.notes == [
        "The budget of 3 model calls was spent. The parts of the report that had not been checked "
        "by then were left out."
    ]
    states = {step.title: step.state for step in run.steps if step.kind == "paragraph"}
    assert states == {"Height": "done", "Builders": "failed", "Colour": "failed"}


@in_virtual_time
async def test_a_budget_that_was_spent_stays_spent_in_the_next_attempt() -> None:
    play = Play(budget=replace(PLENTY, model_calls=4))
    report, run = await play.report(topical())
    more = play.again(budget=PLENTY)
    resumed, again = await more.report(fast := topical())
    assert (resumed.written, again.notes) == (report.written, run.notes)
    assert fast.sent == []


@in_virtual_time
async def test_a_budget_that_covers_no_draft_gives_a_plain_answer() -> None:
    play = Play(budget=replace(PLENTY, model_calls=0))
    writer = topical()
    writer.failing = {"draft": BudgetSpent("Spent.")}
    writer.answer = first_page
    answer = await play.answer(writer)
    assert "##" not in answer.text


# ---------------------------------------------------------------- interrupted


@in_virtual_time
async def test_when_the_model_goes_away_what_is_revised_stays() -> None:
    play, writer = Play(), topical()
    writer.failing = {"revise Builders": ModelUnavailable("The model does not answer.")}
    answer = await play.answer(writer)
    assert (answer.status, answer.reasoner) == ("answered", "closest")
    height, limits = answer.text.removeprefix("## ").split("\n\n## ")
    assert height == f"Height\n\nHeight of the tower is 330 metres [{citing(answer, '330')}]."
    assert "> No longer covered: Builders; Colour." in limits
    assert answer.notes == (
        "The model does not answer. This was found and quoted without the model.",
    )


@in_virtual_time
async def test_when_the_model_goes_away_before_anything_is_revised_passages_are_quoted() -> None:
    play, writer = Play(), topical()
    writer.failing = {"draft": ModelUnavailable("The model does not answer.")}
    answer = await play.answer(writer)
    assert answer.text.startswith("### Closest passages\n\n")
    assert answer.citations


def citing(answer: Answer, words: str) -> int:
    return next(c.number for c in answer.citations if words in c.quote)


@in_virtual_time
async def test_a_stop_keeps_what_is_revised_so_far() -> None:
    play, writer = Play(), topical()
    writer.slow = {"query Builders": 1.9}
    pipeline = play.pipeline(writer)
    work = asyncio.create_task(pipeline.research())
    await asyncio.sleep(4)
    work.cancel()
    await asyncio.wait({work})
    answer = await pipeline.stopped_answer()
    assert answer.status == "stopped"
    assert answer.text.startswith("## Height\n\nHeight of the tower is 330 metres [")
    assert "> No longer covered: Builders; Colour." in answer.text
    assert "Stopped before the answer was complete." in answer.notes
    states = {line.title: line.state for line in answer.steps if line.kind == "paragraph"}
    assert states == {"Height": "done", "Builders": "failed", "Colour": "failed"}
    assert not open_lines(answer.steps)


async def attempt(play: Play, writer: Writer) -> Answer | None:
    """The answer, or None if the run died on the way."""
    try:
        return await play.answer(writer)
    except (Died, BaseExceptionGroup):
        return None


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("drafts", [DRAFTS, (OPENING, ZEBRAS, *DRAFTS[:2])], ids=["", "opening"])
def test_a_run_that_dies_at_any_write_ends_the_same_and_repeats_no_finished_call(
    drafts: tuple[Paragraph, ...], after: bool
) -> None:
    @in_virtual_time
    async def whole() -> None:
        writer = titled(drafts)
        writer.slow = {"revise Builders": 8.1}
        play = Play()
        expected.append(await play.answer(writer))
        expected_calls.append(writer.sent)
        writes.append(play.journal.writes)

    expected: list[Answer] = []
    expected_calls: list[list[str]] = []
    writes: list[int] = []
    whole()
    assert writes[0] > 15

    for number in range(1, writes[0] + 1):
        dying(drafts, number, after, expected[0], expected_calls[0])


def titled(drafts: tuple[Paragraph, ...] = DRAFTS) -> Writer:
    """Revises by the page that its heading names, an opening by that on the height: the same
    however often it is asked."""
    writer = Writer(drafts=drafts)

    def answer(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        title = writer.manuscripts[-1].paragraph.heading or "Height"
        sources = tuple(s for s in evidence.sources if s.title == title)
        if not sources:
            return [TextDelta(f"> {title} could not be shown.", opens=True)]
        return first_page(question, replace(evidence, sources=sources))

    writer.answer = answer
    return writer


def dying(
    drafts: tuple[Paragraph, ...], number: int, after: bool, expected: Answer, calls: list[str]
) -> None:
    @in_virtual_time
    async def run() -> None:
        play = Play(journal=MemoryJournal(Shelved(), dies_at=number, after=after))
        first = titled(drafts)
        first.slow = {"revise Builders": 8.1}
        assert await attempt(play, first) is None, f"write {number} was not reached"
        finished = {s.title for s in play.journal.shelved.steps.values() if s.kind != "lapse"}
        missed = [s for s in play.journal.shelved.steps.values() if s.kind == "lapse"]
        second = titled(drafts)
        if not missed:
            second.slow = {"revise Builders": 8.1}
        answer = await play.again().answer(second)
        assert (answer.text, answer.citations) == (expected.text, expected.citations)
        assert not finished & set(second.sent), "a finished call was made again"
        assert not (missed and "revise Builders" in second.sent), "what was missed was tried again"
        assert set(first.sent) | set(second.sent) == set(calls)

    run()


# ---------------------------------------------------------------- latency and the plan


@in_virtual_time
async def test_paragraphs_are_lines_of_the_plan_and_what_is_done_for_them_stands_under_them() -> (
    None
):
    play = Play()
    _, run = await play.report(topical())
    lines = [step for step in run.steps if step.kind == "paragraph"]
    assert [(line.title, line.state, line.parent) for line in lines] == [
        ("Height", "done", ""),
        ("Builders", "done", ""),
        ("Colour", "done", ""),
    ]
    under = [(s.kind, s.title) for s in run.steps if s.parent == lines[1].id]
    assert ("think", "query Builders") in under
    assert ("search", "Builders of the tower") in under
    assert ("revise", "revise Builders") in under
    first = next(plan for plan in play.plans if any(s.kind == "paragraph" for s in plan.steps))
    assert [s.state for s in first.steps if s.kind == "paragraph"] == ["waiting"]


@in_virtual_time
async def test_the_trace_keeps_draft_queries_revision_and_what_changed() -> None:
    play = Play()
    _, run = await play.report(topical())
    height = play.revisions[0]
    assert (height.draft, height.queries) == (DRAFTS[0].text, ("Height of the tower",))
    assert height.revised.startswith("Height of the tower is 330 metres [")
    assert "999" in "".join(c.text for c in height.changes if c.kind == "removed")
    assert "330" in "".join(c.text for c in height.changes if c.kind == "added")
    titles = [step.title for step in run.steps if step.kind == "revision"]
    assert titles[0].startswith("Revised against ")
    assert titles[0].endswith(": Height")


# ---------------------------------------------------------------- when it is wanted


@pytest.mark.parametrize(
    ("style", "long_form", "is_report"),
    [
        ("report", False, True),
        ("auto", True, True),
        ("auto", False, False),
        ("answer", True, False),
    ],
)
@in_virtual_time
async def test_a_report_is_made_when_it_is_asked_for(
    style: Style, long_form: bool, is_report: bool
) -> None:
    writer = Writer(answer=first_page, rewritten=replace(QUESTION, long_form=long_form))
    answer = await Play(style=style).answer(writer)
    assert answer.status == "answered"
    assert ("draft" in writer.sent) == is_report
    assert ("## Height" in answer.text) == is_report


@in_virtual_time
async def test_a_quick_answer_is_no_report_unless_it_is_called_one() -> None:
    for style, is_report in (("auto", False), ("report", True)):
        play = Play(style=cast("Style", style), depth="quick")
        answer = await play.answer(writer := Writer(answer=first_page))
        assert answer.status == "answered"
        assert ("draft" in writer.sent) == is_report


@in_virtual_time
async def test_a_report_of_which_no_part_could_be_checked_is_a_plain_answer() -> None:
    writer = Writer(answer=first_page, drafts=(DRAFTS[0],), slow={"revise Height": 8.1})
    answer = await Play().answer(writer)
    assert "999" not in answer.text
    assert answer.citations
    assert answer.notes == (
        "No part of the report could be checked against a source, so this is a plain answer.",
    )


@in_virtual_time
async def test_a_report_on_nothing_is_not_found() -> None:
    answer = await Play(a_shelf()).answer(Writer(drafts=(ZEBRAS,)))
    assert (answer.status, answer.citations) == ("not_found", ())
    assert "Zebras" not in answer.text


@in_virtual_time
async def test_a_report_for_which_no_provider_answers_fails_by_name() -> None:
    shelf = replace(a_shelf(*PAGES), broken=frozenset({"tower", "Height of the tower", "Height"}))
    with pytest.raises(NoProviderAvailable, match="shelf is closed"):
        await Play(shelf).answer(Writer(drafts=DRAFTS[:1]))


PARTS = tuple(
    NewNode(id, question, queries=(query,))
    for id, question, query in [
        ("height", "How tall is the tower?", "Height of the tower"),
        ("builders", "How many workers built it?", "Builders of the tower"),
    ]
)


def planner() -> Writer:
    return Writer(answer=first_page, edits=(GraphEdit(PARTS, done=True),))


@pytest.mark.parametrize(
    ("asked", "judged", "is_deep"),
    [
        ("deep", "standard", True),
        ("auto", "deep", True),
        ("auto", "standard", False),
        ("standard", "deep", False),
    ],
)
@in_virtual_time
async def test_a_deep_report_looks_around_by_a_graph(
    asked: Depth, judged: Depth, is_deep: bool
) -> None:
    writer = planner()
    writer.rewritten = replace(QUESTION, depth=judged)
    answer = await Play(depth=asked).answer(writer)
    assert bool(writer.graphs) == is_deep
    assert [line.title for line in answer.steps if line.kind == "node"] == (
        [part.question for part in PARTS] if is_deep else []
    )
    assert "## Height" in answer.text


@in_virtual_time
async def test_the_draft_is_made_from_what_the_graph_has_read() -> None:
    writer = planner()
    writer.turns = ()
    writer.opens = 1
    await Play(depth="deep").report(writer)
    [seen] = writer.looked_at
    assert {source.title for source in seen.sources} >= {"Height", "Builders"}


@in_virtual_time
async def test_a_graph_that_takes_too_long_leaves_half_of_the_time_and_what_it_has_read() -> None:
    class Slow(Writer):
        async def next_turn(self, *args: object):  # type: ignore[no-untyped-def]
            if self.workspaces:
                await self._call("think", len(self.workspaces))
            return await super().next_turn(*args)  # type: ignore[arg-type]

    writer = Slow(answer=first_page, edits=(GraphEdit(PARTS, done=True),), opens=1)
    writer.slow = {"think": SETTINGS.max_seconds}
    play = Play(depth="deep")
    report, run = await play.report(writer)
    [seen] = writer.looked_at
    assert {source.title for source in seen.sources} >= {"Height"}
    assert report.is_sourced
    healthy = planner()
    resumed, rerun = await play.again().report(healthy)
    assert healthy.graphs == [], "what was missed is not tried again"
    assert healthy.looked_at == writer.looked_at
    assert resumed.written == report.written
    assert rerun.usage.pages == run.usage.pages


@in_virtual_time
async def test_a_graph_leaves_the_rest_of_the_budget_to_the_paragraphs() -> None:
    play = Play(depth="deep")
    whole: list[Budget] = []

    class Looking(Writer):
        async def plan(self, *args: object):  # type: ignore[no-untyped-def]
            whole.append(run.budget)
            return await super().plan(*args)  # type: ignore[arg-type]

    writer = Looking(answer=first_page, edits=(GraphEdit(PARTS, done=True),))
    pipeline = play.pipeline(writer)
    run = pipeline._run
    await pipeline.research()
    assert whole[0] == Budget.of(play.settings)
    assert run.budget == Budget.of(play.settings, times=2)


TOPICS = ("Height", "Builders", "Colour", "Weight")


@dataclass
class Timed(Shelf):
    """Knows when each page was first asked for."""

    at: dict[str, float] = field(default_factory=dict)

    async def read(self, url: str) -> Page | None:
        self.at.setdefault(url, now())
        return await super().read(url)


@in_virtual_time
async def test_pages_of_each_next_paragraph_are_read_while_one_is_revised() -> None:
    texts = [f"{topic} is told here, in part {n}." for topic in TOPICS for n in (1, 2, 3)]
    shelf = Timed(a_shelf(*texts).pages, urls={"tower": []})
    drafts = tuple(Paragraph(topic, "", "It is so.") for topic in TOPICS)
    writer = Writer(answer=first_page, asking="{}", drafts=drafts)
    await Play(shelf).report(writer, prefetch_pages=5)  # as many as two of them may take
    for before, topic in pairwise(TOPICS):
        first = min(at for url, at in shelf.at.items() if shelf.pages[url].title == topic)
        assert writer.begun[f"revise {before}"] <= first < writer.begun[f"query {topic}"]


ADDRESS = "https://example.org/{}"
SLOW = ADDRESS.format(2)
TITLES = ("Height", "Builders", "Colour", "Weight", "Age", "Owner")


@dataclass
class SlowShelf(Shelf):
    """One of its pages takes ``seconds``."""

    seconds: float = 0.0

    async def read(self, url: str) -> Page | None:
        if url == SLOW:
            await asyncio.sleep(self.seconds)
        return await super().read(url)


def slow_shelf(seconds: float) -> SlowShelf:
    found = {"tower": [], "Height": [1, 2, 3], "Builders": [4, 5, 6], "Colour": [6, 3, 1]}
    urls = {
        query if query == "tower" else f"{query} of the tower": [ADDRESS.format(n) for n in pages]
        for query, pages in found.items()
    }
    pages = a_shelf(*[f"{title} of the tower is {n}." for n, title in enumerate(TITLES, 1)]).pages
    return SlowShelf(pages, urls=urls, seconds=seconds)


def without_seconds(run: Run) -> object:
    lines = {line.id: replace(line, seconds=0.0) for line in run.steps}
    spent = replace(run.usage, seconds=0.0)
    return spent, lines, run.queries, run.sources, list(run.notes), run.unanswered


@in_virtual_time
async def test_after_a_missed_reading_the_same_pages_are_chosen_and_the_same_is_asked() -> None:
    play = Play(slow_shelf(99.0), budget=replace(PLENTY, pages=4))
    report, run = await play.report(Writer(answer=first_page))
    assert [one.fate for one in play.revisions] == ["unsourced", "revised", "unsourced"]
    assert run.usage.pages == 4

    again = play.again(shelf=slow_shelf(0.0))
    writer = Writer(answer=first_page)
    resumed, rerun = await again.report(writer)
    assert writer.sent == []
    assert (again.shelf.read_urls, again.shelf.searched) == ([], [])
    assert again.journal.writes == 0
    assert resumed.written == report.written
    assert resumed.evidence == report.evidence
    assert without_seconds(rerun) == without_seconds(run)


@dataclass
class Broken(Writer):
    """Makes its calls, and then nothing of what they gave."""

    breaks: frozenset[str] = field(default_factory=frozenset)

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        drafted = await super().draft(question, evidence, instructions)
        self._break("draft")
        return drafted

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        queries = await super().queries(question, manuscript)
        self._break(f"query {manuscript.paragraph.topic}")
        return queries

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        async for delta in super().revise(question, manuscript, evidence, instructions):
            yield delta
        self._break(f"revise {manuscript.paragraph.topic}")

    def _break(self, name: str) -> None:
        if name in self.breaks:
            raise ModelBroken("It wrote nonsense.")


@pytest.mark.parametrize("stage", ["draft", "query Builders", "revise Builders"])
@in_virtual_time
async def test_what_a_failed_stage_has_spent_stays_spent_in_the_next_attempt(stage: str) -> None:
    play = Play()
    report, run = await play.report(Broken(answer=first_page, breaks=frozenset({stage})))
    again = play.again()
    resumed, rerun = await again.report(Broken(answer=first_page, breaks=frozenset({stage})))
    assert run.usage.model_calls > 0
    assert without_seconds(rerun) == without_seconds(run)
    assert resumed.written == report.written


# ---------------------------------------------------------------- lines that stay open


def open_lines(steps: tuple[StepView, ...]) -> list[StepView]:
    return [line for line in steps if line.state in ("running", "waiting")]


@in_virtual_time
async def test_a_report_that_fails_leaves_no_line_open() -> None:
    play, writer = Play(), topical()
    writer.failing = {"revise Builders": CredentialsRefused("The key was refused.")}
    with pytest.raises(CredentialsRefused):
        await play.answer(writer)
    assert not open_lines(play.plans[-1].steps)
    states = {line.title: line.state for line in play.plans[-1].steps if line.kind == "paragraph"}
    assert states == {"Height": "done", "Builders": "failed", "Colour": "failed"}


# ---------------------------------------------------------------- the words of its plan


@pytest.mark.parametrize("slow", ["draft", "query Builders", "revise Builders"])
@pytest.mark.parametrize("locale", ["zh-Hans", "zh-Hant"])
@in_virtual_time
async def test_what_a_stage_came_to_is_said_in_the_askers_language(slow: str, locale: str) -> None:
    play, writer = Play(locale=locale), Writer(answer=first_page, slow={slow: 11.0})
    _, run = await play.report(writer)
    [lapse] = [line for line in run.steps if line.kind == "lapse"]
    assert lapse.state == "failed"
    ours = [lapse.title, lapse.detail]
    ours += [line.detail for line in run.steps if line.kind == "paragraph"]
    ours += [line.title.partition("：")[0] for line in run.steps if line.kind == "revision"]
    assert not [words for words in ours if re.search("[A-Za-z]", words)]


@in_virtual_time
async def test_what_is_left_out_is_said_in_the_askers_language() -> None:
    play = Play(budget=replace(PLENTY, model_calls=3), locale="zh-Hans")
    _, run = await play.report(topical())
    details = [line.detail for line in run.steps if line.kind == "paragraph"]
    assert details == ["", "已略去", "已略去"]


# ---------------------------------------------------------------- what other runs would wait for


class Watching(ThreadPoolExecutor):
    """Knows by name what was given to its threads."""

    def __init__(self) -> None:
        super().__init__(1)
        self.given: list[str] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.given.append(getattr(fn.args[0], "__name__", ""))  # as asyncio.to_thread wraps it
        return super().submit(fn, *args, **kwargs)


@in_virtual_time
async def test_draft_and_revision_are_compared_in_a_thread() -> None:
    asyncio.get_running_loop().set_default_executor(threads := Watching())
    await Play().report(topical())
    assert threads.given.count("changes") == 3


def cut_short(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
    return [*first_page(question, evidence), Cut(500)]


@in_virtual_time
async def test_a_paragraph_that_was_cut_off_says_so_where_it_ends_and_is_no_limit() -> None:
    play = Play(a_shelf(PAGES[0]))
    report, run = await play.report(Writer(answer=cut_short, drafts=DRAFTS[:1]))
    assert report.written.text == (
        "## Height\n\nHeight of the tower is 330 metres [1].\n\n"
        "> ⚠ This part was cut off at the limit of 500 tokens."
    )
    assert covered(report) == ["Height of the tower is 330 metres [1]."]
    assert list(run.notes) == []
    again = play.again()
    resumed, _ = await again.report(Writer(drafts=DRAFTS[:1]))
    assert (resumed.written, again.journal.writes) == (report.written, 0)


def covered(report: Report) -> list[str]:
    return [report.written.text[span.start : span.end] for span in report.written.spans]


@in_virtual_time
async def test_the_next_paragraph_is_not_told_of_the_cut() -> None:
    writer = Writer(answer=cut_short, drafts=DRAFTS[:2])
    await Play(a_shelf(PAGES[0])).report(writer)
    assert writer.manuscripts[1].revised == ("## Height\n\nHeight of the tower is 330 metres.",)


@pytest.mark.parametrize(
    ("language", "locale", "said"),
    [("zh", "en", "这一部分在达到 500"), ("zh", "zh-TW", "這一部分在達到 500")],
)
@in_virtual_time
async def test_a_cut_is_said_in_the_language_of_the_report(
    language: str, locale: str, said: str
) -> None:
    asked = replace(QUESTION, language=language)
    writer = Writer(answer=cut_short, drafts=DRAFTS[:1], rewritten=asked)
    report, _ = await Play(a_shelf(PAGES[0]), locale=locale).report(writer)
    assert said in report.written.text


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        (
            "en",
            "This answer was cut off at the limit of 500 tokens: ask for less, or for the rest.",
        ),
        ("zh-Hans", "回答在达到 500 个词元的上限时被截断：请少问一些，或请它继续。"),
    ],
)
@in_virtual_time
async def test_a_plain_answer_that_was_cut_off_is_noted_in_the_askers_language(
    locale: str, said: str
) -> None:
    answer = await Play(style="answer", locale=locale).answer(Writer(answer=cut_short))
    assert answer.notes == (said,)
    assert "token" not in answer.text


# ---------------------------------------------------------------- more than the model can take in


@pytest.mark.parametrize(
    ("locale", "said"), [("en", "exceeded"), ("zh-Hans", "已超出"), ("zh-TW", "已超出")]
)
@pytest.mark.parametrize("depth", ["standard", "deep"])
@in_virtual_time
async def test_material_that_outgrew_the_model_is_told_in_the_askers_language(
    depth: Depth, locale: str, said: str
) -> None:
    writer = Writer(
        answer=first_page,
        turns=((Read((1,)),), (Finish(enough=False, outgrown=True),)),
        edits=(GraphEdit(PARTS), GraphEdit(done=True, outgrown=True)),
    )
    await Play(style="answer", depth=depth, locale=locale).answer(writer)
    assert [gap for gap in writer.evidence[-1].missing if said in gap]


ADA = Payer("slack", "T1", "C1", "U1")
DAY = 0.001  # USD a day


class Ledger:
    """The spending of a run on that day: as much as ``spent`` says."""

    def __init__(self, spent: Callable[[], int]) -> None:
        self._spent = spent

    async def begin(self, call: Reservation, now: datetime, permit: Permit) -> bool:
        return permit(DaySpent(user=Amount(micro_usd=self._spent())), DaySpent())

    async def end(self, id: str) -> None: ...


class Outlined(Writer):
    """Its draft needs no call."""

    async def draft(self, *args: object) -> tuple[Paragraph, ...]:
        return DRAFTS


@pytest.mark.parametrize("revised", [0, 1, 2])
@in_virtual_time
async def test_the_money_of_the_day_is_checked_before_each_revision(revised: int) -> None:
    writer = Outlined(answer=first_page)

    def spent() -> int:
        done = sum(name.startswith("revise") for name in writer.sent)
        return 1_000 if done >= revised else 0

    play = Play(
        allowance=Days(Ledger(spent)).allowance(Holder("r1", 1, NOW, ADA), DayLimits(user_usd=DAY))
    )
    run = play.run()
    writer.calls = run.calls
    # About the pages at these links: nothing is asked for between two revisions.
    links = tuple(play.shelf.pages)
    question = replace(QUESTION, kind="links", links=links)
    report = play.of(run, question, links)
    await report.write(writer)
    assert writer.sent == [f"revise {one.heading}" for one in DRAFTS[:revised]]
    assert [note for note in run.notes if "for today was spent" in note]


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (BudgetSpent("Spent.", text_id="budget-model-calls", limit=1.0), 0),
        (ModelUnavailable("The model is away."), 0),
        (ModelUnavailable("The model is away."), 24),
    ],
    ids=["all is spent", "away with all spent", "away"],
)
@in_virtual_time
async def test_quotations_need_no_budget_of_model_calls(
    error: FootnoteError, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(Writer):
        async def rewrite(self, *args: object) -> Any:
            raise error

    pages = (
        "# Height\n\nThe tower is how tall: 330 metres tall it is.\n\n"
        "# Builders\n\nThe tall tower was built by 300 workers."
    )
    play = Play(a_shelf(pages), budget=replace(PLENTY, model_calls=calls))
    monkeypatch.setattr("bot.research.budget.MODEL_CALLS", calls)
    answer = await play.answer(Away())
    assert answer.reasoner == "closest"
    assert len(answer.notes) == 1
    assert answer.notes[0].endswith("This was found and quoted without the model.")
    assert "Not covered any more" not in answer.text
    assert answer.citations


@in_virtual_time
async def test_a_budget_that_covers_no_paragraph_is_said_without_speaking_of_parts() -> None:
    play = Play(budget=replace(PLENTY, model_calls=1))
    writer = topical()
    _, run = await play.report(writer)
    assert writer.sent == ["draft"]
    assert run.notes == [
        "The budget of 1 model calls was spent. The answer uses what was found until then."
    ]
