"""The planner of a graph: corrections, extensions, and going on without it."""

from __future__ import annotations

import pytest

from bot.core.errors import BudgetSpent, FootnoteError, ModelBroken, ModelUnavailable
from bot.reasoning.evidence import Finding, Finish
from bot.reasoning.graphs import EXTENSIONS, GraphEdit, NewNode
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.research.strategies.graph_stage import (
    ASKED,
    LAST,
    PLANNING,
    PLENTY,
    Ending,
    Timed,
    a_run,
    complete,
    node,
    play,
    text,
)


@in_virtual_time
async def test_what_was_refused_is_corrected_while_the_rest_is_worked_on() -> None:
    reasoner = Timed(
        edits=(
            GraphEdit((node("a"), node("b", "q"))),
            GraphEdit((node("b", "a"), node(LAST, "b")), done=True),
        ),
        seconds={text("a"): 5},
    )
    began = now()
    await play(reasoner)
    assert reasoner.begun[text("a")] == began + PLANNING == reasoner.planned[1]
    assert reasoner.begun[text("b")] == began + PLANNING + 5
    correcting = reasoner.graphs[1]
    assert correcting.turns[0].refused == ("b was not added: it needs q, which does not exist.",)
    assert [node.state for node in correcting.nodes] == ["waiting"], "not how far it is by now"


@in_virtual_time
async def test_a_plan_that_stays_wrong_goes_on_with_what_is_sound_of_it() -> None:
    wrong = GraphEdit((node("b", "q"),), done=True)
    reasoner = Timed(edits=(GraphEdit((node("a"), node("c", "a"), *wrong.nodes)), wrong))
    evidence = await play(reasoner)
    assert set(reasoner.begun) == {text("a"), ASKED.text}
    assert len(reasoner.planned) == 2
    assert evidence.enough


@pytest.mark.parametrize(
    "reasoner",
    [
        Timed(edits=(GraphEdit(problem="no JSON"), GraphEdit(problem="no JSON"))),
        Timed(edits=(GraphEdit(), GraphEdit(done=True))),
        Timed(edits=(GraphEdit((NewNode("a", ASKED.text),), done=True),)),
        Timed(edits=(GraphEdit((NewNode("a", "So what about all this?"),), done=True),)),
        Timed(planning={0: ModelBroken("nonsense")}),
    ],
    ids=["unreadable", "empty", "uncut", "reworded", "broken"],
)
def test_without_a_plan_the_question_itself_is_worked_on(reasoner: Timed) -> None:
    @in_virtual_time
    async def run() -> None:
        run = a_run()
        await play(reasoner, run)
        assert list(reasoner.asked) == [ASKED.text]
        assert reasoner.workspaces[0].searches_left == 10
        assert reasoner.workspaces[0].pages_left == PLENTY.pages
        assert run.steps == (), "no line for a part that is the whole"

    run()


@in_virtual_time
async def test_the_planner_extends_the_graph_when_all_has_ended() -> None:
    reasoner = Timed(
        edits=(
            GraphEdit((node("a"), node("b"))),
            GraphEdit((node("c", "a"),)),
            GraphEdit(done=True),
        ),
        seconds={text("b"): 7},
    )
    await play(reasoner)
    assert reasoner.planned[1] == reasoner.ended[text("b")]
    seen = reasoner.graphs[1].turns[-1]
    assert [(n.id, n.state, n.findings[0].text) for n in seen.ended] == [
        ("a", "done", "What is aaa? Yes."),
        ("b", "done", "What is bbb? Yes."),
    ]
    assert [n.id for n in reasoner.graphs[2].turns[-1].ended] == ["c"]
    assert len(reasoner.planned) == 3


@in_virtual_time
async def test_it_is_extended_three_times_at_most() -> None:
    edits = tuple(GraphEdit((node(chr(ord("a") + n)),)) for n in range(8))
    reasoner = Timed(edits=edits)
    await play(reasoner)
    assert len(reasoner.planned) == 1 + EXTENSIONS
    left = [graph.turns[-1].extensions_left for graph in reasoner.graphs[1:]]
    assert left == [2, 1, 0]


@in_virtual_time
async def test_what_is_missing_is_looked_for_by_the_question_and_not_planned_again() -> None:
    missing = Finish((Finding("Half of it."),), enough=False, missing=("the other half",))
    endings: tuple[tuple[Ending, tuple[str, ...]], ...] = (
        (missing, ("the other half",)),
        (Finish(), (text("a"),)),
        (ModelBroken("x"), (text("a"),)),
    )
    for ending, gaps in endings:
        reasoner = Timed(edits=complete(node("a"), node("b")), endings={text("a"): ending})
        evidence = await play(reasoner)
        assert len(reasoner.planned) == 1
        assert reasoner.asked[ASKED.text].missing == gaps
        assert evidence.enough, "by the word of the loop over the question"


NONSENSE = GraphEdit(problem="That was not valid JSON.")
REPEATED = GraphEdit((NewNode("y", text("a")),))


@pytest.mark.parametrize(
    ("edits", "planning"),
    [
        ((), {1: ModelUnavailable("away")}),
        ((), {1: BudgetSpent("Spent.")}),
        ((NONSENSE, NONSENSE), {}),
        ((REPEATED, REPEATED), {}),
        ((NONSENSE,), {2: ModelBroken("nonsense")}),
        ((GraphEdit(done=True, outgrown=True),), {}),
    ],
    ids=["away", "no budget", "unreadable", "refused", "broken when corrected", "outgrown"],
)
def test_a_planner_that_says_nothing_of_use_is_followed_by_the_question(
    edits: tuple[GraphEdit, ...], planning: dict[int, FootnoteError]
) -> None:
    reasoner = Timed(
        edits=(GraphEdit((node("a"), node("b"))), *edits),
        endings={text("b"): Finish((), enough=False, missing=("the year of b",))},
        planning=planning,
    )

    @in_virtual_time
    async def run() -> None:
        await play(reasoner)
        assert reasoner.asked[ASKED.text].missing == ("the year of b",)

    run()


@in_virtual_time
async def test_a_model_that_is_away_when_planning_begins_is_for_the_road() -> None:
    with pytest.raises(ModelUnavailable):
        await play(Timed(planning={0: ModelUnavailable("away")}))


@in_virtual_time
async def test_a_plan_that_cannot_be_extended_rests_on_what_there_is() -> None:
    for error in (ModelUnavailable("The model is away."), BudgetSpent("Spent.")):
        run = a_run()
        reasoner = Timed(edits=(GraphEdit((node("a"), node("b"))),), planning={1: error})
        evidence = await play(reasoner, run)
        assert len(reasoner.asked[ASKED.text].known) == 2
        assert evidence.enough
        assert run.notes == [f"{error.sentence} The answer uses what was found until then."]
