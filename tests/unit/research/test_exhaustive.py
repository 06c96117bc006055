"""Exhaustive research: rounds of the loop, each with what those before it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from bot.core.errors import ModelRefused
from bot.core.messages import Answer, PlanView, RunOptions, Transcript
from bot.core.posting import Delayed, Reply, Unseen
from bot.operation.configuration import load_settings
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import Finding, Finish, Rewritten, SubQuestion, Turn, Workspace
from bot.reasoning.reasoner import OnAnswer
from bot.research.pipeline import Pipeline
from bot.research.run import Run
from tests.fakes.library import a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun

FACTS = ("Lyon has a tower of 1901.", "Nancy has a tower of 1902.", "Metz has a bridge.")
QUESTION = Rewritten("search", "All towers?", queries=("tower",), long_form=True)
EXHAUSTIVE = RunOptions(depth="exhaustive")


def found(workspace: Workspace, *pages: int, missing: tuple[str, ...] = ()) -> Finish:
    """A finish that names these of the pages on the desk."""
    named = tuple(workspace.sources[page] for page in pages)
    facts = tuple(Finding(source.passages[0].text, (source.number,)) for source in named)
    return Finish(facts, not missing, missing, carrying=named)


@dataclass
class Rounds(Scripted):
    """Ends each round at once, in the way that ``ends`` says of it; then it finds nothing new."""

    ends: Sequence[Callable[[Workspace], Finish]] = ()
    opens: int = 2
    asked: list[SubQuestion] = field(default_factory=list)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        self.asked.append(question)
        if len(self.asked) > len(self.ends):
            return Turn((Finish(),))
        return Turn((self.ends[len(self.asked) - 1](workspace),))


def refuses(workspace: Workspace) -> Finish:
    raise ModelRefused("The model declined to work on this.")


def road(run: Run, reasoner: Scripted, reply: Reply | None = None, model: str = "m") -> Pipeline:
    reasoner.rewritten = reasoner.rewritten or QUESTION
    settings = load_settings(anthropic_api_key="k", model=model)
    closest = Closest(run.calls)
    pipeline = Pipeline(run, reasoner, closest, Transcript(), settings, reply or Unseen())
    run.publish = pipeline.show
    return pipeline


async def ask(open_run: OpenRun, reasoner: Scripted) -> tuple[Answer, Run]:
    run = await open_run(a_shelf(*FACTS), options=EXHAUSTIVE)
    return await road(run, reasoner).research(), run


async def test_each_round_knows_the_facts_gaps_and_queries_of_those_before(
    open_run: OpenRun,
) -> None:
    reasoner = Rounds(
        ends=[
            lambda desk: found(desk, 0, missing=("Nancy", "Brest")),
            lambda desk: found(desk, 1, missing=("Brest",)),
            lambda desk: Finish((), True, ("Brest",)),
        ]
    )
    answer, run = await ask(open_run, reasoner)
    assert [each.tried for each in reasoner.asked] == [(), ("tower",), ("tower",)]
    assert [each.missing for each in reasoner.asked] == [(), ("Nancy", "Brest"), ("Brest",)]
    assert [[fact.text for fact in each.known] for each in reasoner.asked] == [
        [],
        [*FACTS[:1]],
        [*FACTS[:2]],
    ]
    [evidence] = reasoner.evidence
    assert [source.title for source in evidence.sources] == ["Lyon", "Nancy"]
    assert [fact.text for fact in evidence.findings] == [*FACTS[:2]]
    assert (answer.status, answer.missing) == ("partial", ("Brest",))
    assert run.usage.searches == 1, "the first search of all rounds is the same"


async def test_the_plan_has_a_line_for_each_round_with_its_facts(open_run: OpenRun) -> None:
    reasoner = Rounds(ends=[lambda desk: found(desk, 0), lambda desk: found(desk, 1)])
    answer, _ = await ask(open_run, reasoner)
    lines = [step for step in answer.steps if step.kind == "node"]
    assert [(line.title, line.state, line.found) for line in lines] == [
        ("After 1 of 150 searches: 1 fact found", "done", FACTS[:1]),
        ("After 1 of 150 searches: 2 facts found", "done", FACTS[1:2]),
        ("After 1 of 150 searches: 2 facts found", "done", ()),
    ]
    assert answer.status == "answered"


async def test_a_later_round_that_fails_leaves_the_facts(open_run: OpenRun) -> None:
    reasoner = Rounds(ends=[lambda desk: found(desk, 0), refuses])
    answer, _ = await ask(open_run, reasoner)
    assert "tower of 1901 [1]" in answer.text
    assert any("uses what was found until then" in note for note in answer.notes)
    assert [step.state for step in answer.steps if step.kind == "node"] == ["done", "failed"]


async def test_a_first_round_that_fails_is_an_error(open_run: OpenRun) -> None:
    with pytest.raises(ModelRefused):
        await ask(open_run, Rounds(ends=[refuses]))


async def test_the_limits_are_seen_before_the_first_round(open_run: OpenRun) -> None:
    reasoner, seen = Rounds(), list[str]()

    class Lagging(Unseen):
        def progress(self, plan: PlanView) -> None:
            self.told = plan

        async def shown(self) -> None:
            assert not reasoner.asked
            seen.extend(step.title for step in self.told.steps)

    assert isinstance(Lagging(), Delayed)
    run = await open_run(a_shelf(*FACTS), options=EXHAUSTIVE)
    await road(run, reasoner, Lagging()).research()
    limits = "Up to 150 searches, 40 minutes and about 4.00 USD."
    assert seen == [f"{limits} Stop it at any time to get what was found."]
    assert reasoner.asked
    assert (run.budget.searches, run.budget.usd, run.budget.seconds) == (150, 4, 2_400)


async def test_a_price_that_nobody_knows_is_said_to_be_unknown(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*FACTS), options=EXHAUSTIVE)
    answer = await road(run, Rounds(), model="unpriced").research()
    [line] = [step.title for step in answer.steps if step.kind == "price"]
    assert line.startswith("Up to 150 searches and 40 minutes, price unknown.")


@pytest.mark.parametrize(
    "rewritten",
    [
        Rewritten("chat", "Thanks", reply="You are welcome."),
        Rewritten("links", "What is this?", links=("https://example.org/1",), whole=True),
    ],
)
async def test_a_message_that_asks_for_no_search_is_answered_as_at_other_depths(
    open_run: OpenRun, rewritten: Rewritten
) -> None:
    answer, run = await ask(open_run, Rounds(rewritten=rewritten))
    assert not [step for step in answer.steps if step.kind in ("price", "node")]
    assert run.usage.searches == 0
