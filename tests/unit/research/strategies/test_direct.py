"""An answer that is written in the loop, where the first look holds it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bot.core.messages import Transcript
from bot.operation.configuration import load_settings
from bot.reasoning.closest.reasoner import Closest
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Finding,
    Restart,
    Source,
    TextDelta,
)
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.reasoner import OnAnswer
from bot.reasoning.workspace import Finish, Reply, Turn, Workspace
from bot.research.pipeline import Pipeline
from tests.fakes.library import a_shelf
from tests.fakes.poster import Streamed
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun

TEXTS = ("Eiffel tower is 330 m tall.", "The tower was built by Gustave Eiffel.")
SAID = "It is 330 m tall."


def an_answer(source: Source) -> tuple[AnswerDelta, ...]:
    passage = source.passages[0]
    return (TextDelta(SAID, opens=True), CitationDelta(source.number, passage.start, passage.end))


@dataclass
class Answering(Scripted):
    """Answers from the first page it sees; with ``taken_back`` it calls a tool after all."""

    taken_back: bool = False
    opens: int = 2
    told: list[bool] = field(default_factory=list)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        self.told.append(workspace.may_reply)
        deltas = an_answer(workspace.sources[0])
        if on_answer is not None:
            for delta in deltas:
                on_answer(delta)
            if self.taken_back:
                on_answer(Restart())
        return Turn((Finish(),)) if self.taken_back else Turn((Reply(deltas),))


async def the_road(open_run: OpenRun, reasoner: Scripted, shown: list[str]) -> Pipeline:
    reasoner.rewritten = Rewritten("search", "How tall is the tower?", queries=("eiffel tower",))
    run = await open_run(a_shelf(*TEXTS))
    settings = load_settings()
    return Pipeline(
        run, reasoner, Closest(run.calls), Transcript(), settings, Streamed(shown.append)
    )


async def test_it_is_shown_as_it_comes_and_no_other_is_written(open_run: OpenRun) -> None:
    reasoner, shown = Answering(), list[str]()
    answer = await (await the_road(open_run, reasoner, shown)).research()
    assert answer.status == "answered"
    assert answer.text == "It is 330 m tall [1]."
    assert [citation.url for citation in answer.citations] == ["https://example.org/1"]
    assert reasoner.evidence == []  # no writer was called
    assert shown[0] == SAID


async def test_a_resumed_run_has_the_same_answer(open_run: OpenRun) -> None:
    """The whole turn comes from the journal then: nothing is told while it is made."""
    first = await (await the_road(open_run, Answering(), [])).research()
    again = await (await the_road(open_run, Answering(), [])).research()
    assert (again.text, again.citations) == (first.text, first.citations)


async def test_what_was_taken_back_is_written_from_the_evidence(open_run: OpenRun) -> None:
    reasoner, shown = Answering(taken_back=True), list[str]()
    answer = await (await the_road(open_run, reasoner, shown)).research()
    assert answer.status == "answered"
    assert len(reasoner.evidence) == 1
    assert shown[: shown.index("") + 1][-1] == ""


@pytest.mark.parametrize("named", [1, 0])
@pytest.mark.parametrize("missing", [(), ("its colour",)])
async def test_the_writer_gets_what_was_named_and_all_only_if_nothing_was(
    open_run: OpenRun, missing: tuple[str, ...], named: int
) -> None:
    found = (Finding("The tower of 1889 is meant.", (1,)),)

    @dataclass
    class Naming(Scripted):
        opens: int = 2

        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            carrying = workspace.sources[:named]
            return Turn((Finish(found, not missing, missing, carrying=carrying),))

    reasoner = Naming()
    answer = await (await the_road(open_run, reasoner, [])).research()
    assert (answer.status, answer.missing) == ("partial" if missing else "answered", missing)
    [evidence] = reasoner.evidence
    assert [source.title for source in evidence.sources] == ["Eiffel", "The"][: named or 2]
    assert evidence.findings == found
