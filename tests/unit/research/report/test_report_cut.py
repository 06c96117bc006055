"""Text that was cut off at the limit of output tokens, in reports and in plain answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.messages import Depth
from bot.reasoning.evidence import AnswerDelta, Cut, Evidence
from bot.reasoning.graphs import GraphEdit
from bot.reasoning.questions import Rewritten
from bot.reasoning.workspace import Finish, Read
from bot.research.report import Report
from tests.fakes.library import a_shelf
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.research.report.test_report import DRAFTS, PAGES, QUESTION, Play, Writer, first_page
from tests.unit.research.report.test_report_deep import PARTS


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
