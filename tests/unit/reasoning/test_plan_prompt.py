"""The planner: what it sees, and what its reply becomes."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from bot.core.errors import ModelRefused
from bot.reasoning.calls import Request
from bot.reasoning.evidence import Finding
from bot.reasoning.graphs import Graph, GraphEdit, NewNode, edited
from bot.reasoning.plan_prompt import MOST, SCHEMA, plan_turns
from tests.fakes.claude import Reply, says, thinking
from tests.fakes.claude_stage import OpenStage, wire
from tests.unit.reasoning.samples import QUESTION
from tests.unit.samples import NOW

A = {"id": "a", "question": "Who directed Jaws?", "needs": [], "queries": ["jaws director"]}
B = {"id": "b", "question": "When was he born?", "needs": ["a"], "queries": []}


def plan(*nodes: Any, done: bool = True, missing: tuple[str, ...] = ()) -> str:
    return json.dumps({"nodes": list(nodes), "done": done, "missing": list(missing)})


async def edit_from(stage: OpenStage, reply: Reply) -> GraphEdit:
    return await stage([reply]).claude.plan(QUESTION, Graph())


# ---------------------------------------------------------------- the reply


C = {"id": "c", "question": "Who directed Alien?", "needs": [], "queries": ["alien director", "x"]}
LAST = {"id": "d", "question": "Who directed Heat?", "needs": [], "queries": ["heat director"]}


async def test_nodes_are_read_as_they_were_meant(stage: OpenStage) -> None:
    edit = await edit_from(stage, says(plan(A, B, C, LAST, done=False)))
    assert edit.nodes == (
        NewNode("a", "Who directed Jaws?", (), ("jaws director",)),
        NewNode("b", "When was he born?", ("a",)),
        NewNode("c", "Who directed Alien?", (), ("alien director", "x")),
        NewNode("d", "Who directed Heat?", (), ("heat director",)),
    )
    assert (edit.done, edit.missing, edit.problem) == (False, (), "")


MANY = [{**LAST, "id": f"d{n}"} for n in range(7)]
AFTER = [{**each, "needs": ["a"]} for each in MANY]


@pytest.mark.parametrize(
    ("reply", "nodes"),
    [
        (plan(A, B), 1),
        (plan(A, {**B, "needs": []}), 1),
        (plan(*MANY[:6]), 1),
        (plan(*MANY), 7),
        (plan(A, *AFTER[:6]), 1),
        (plan(A, *AFTER), 8),
        (plan(A, B, done=False), 2),
        (plan(B), 1),
    ],
    ids=["chain", "two", "six", "seven", "then six", "then seven", "open", "no beginning"],
)
async def test_what_one_loop_looks_up_at_once_is_not_cut(
    stage: OpenStage, reply: str, nodes: int
) -> None:
    edit = await edit_from(stage, says(reply))
    assert len(edit.nodes) == nodes


async def test_a_question_that_is_not_cut_keeps_the_queries_that_can_be_made(
    stage: OpenStage,
) -> None:
    then = {**B, "queries": ["[a] born", "Jaws premiere"]}
    edit = await edit_from(stage, says(plan(A, then, C, done=True)))
    queries = ("jaws director", "Jaws premiere", "alien director", "x")
    assert edit.nodes == (NewNode("a", QUESTION.text, (), queries),)


async def test_queries_instead_of_a_plan_are_those_of_the_question_itself(stage: OpenStage) -> None:
    reply = {"queries": ["Jaws director", "Jaws director"], "nodes": [], "done": False}
    edit = await edit_from(stage, says(json.dumps(reply)))
    assert edit.nodes == (NewNode("a", QUESTION.text, (), ("Jaws director",)),)
    assert edit.done


async def test_a_long_question_is_a_node_as_it_is(stage: OpenStage) -> None:
    long = replace(QUESTION, text=f"{QUESTION.text} {'And then? ' * 40}")
    reply = says(json.dumps({"queries": ["Jaws director"], "nodes": [], "done": True}))
    edit = await stage([reply]).claude.plan(long, Graph())
    assert [node.question for node in edited(long.text, Graph(), edit).nodes] == [long.text]


@pytest.mark.parametrize(
    ("words", "nodes"),
    [
        (f"Here is the plan:\n```json\n{plan(A)}\n```", 1),
        (json.dumps({"nodes": [{"id": 1, "question": " Who? "}]}), 1),
        (json.dumps({"nodes": [{**A, "needs": "b", "queries": "jaws"}]}), 1),
        (json.dumps({"nodes": [{**A, "queries": None, "needs": None}], "missing": "x"}), 1),
        (json.dumps({"nodes": None, "done": True}), 0),
        (json.dumps({"done": True}), 0),
        (plan(*[{**A, "id": f"n{n}"} for n in range(50)]), MOST),
    ],
)
async def test_what_can_be_understood_is_taken_as_meant(
    stage: OpenStage, words: str, nodes: int
) -> None:
    edit = await edit_from(stage, says(words))
    assert len(edit.nodes) == nodes
    assert edit.problem == ""


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (says("I would begin with the director."), "no JSON object"),
        (says('{"nodes": ['), "not valid JSON"),
        (says("[1, 2]"), "no JSON object"),
        (says('{"nodes": "a"}'), '"nodes" must be a list'),
        (says('{"nodes": ["a"]}'), '"nodes" must be a list'),
        (says(plan(A)[:30], stop_reason="max_tokens"), "cut off"),
        (says(thinking("Hm.")), "no JSON object"),
    ],
)
async def test_what_cannot_be_understood_is_a_problem_it_is_told(
    stage: OpenStage, reply: Reply, told: str
) -> None:
    edit = await edit_from(stage, reply)
    assert told in edit.problem
    assert edit.nodes == ()


async def test_a_question_it_declines_is_refused(stage: OpenStage) -> None:
    with pytest.raises(ModelRefused):
        await edit_from(stage, Reply((), stop_reason="refusal"))


async def test_a_graph_that_has_outgrown_the_model_is_complete_as_it_is(stage: OpenStage) -> None:
    edit = await stage([says(plan(A))], context_window=2_000).claude.plan(QUESTION, Graph())
    assert edit == GraphEdit(done=True, outgrown=True)


# ---------------------------------------------------------------- the conversation


async def worked_off(stage: OpenStage) -> list[dict[str, Any]]:
    """The requests of a first plan, its correction, and two extensions."""
    bad = {**B, "needs": ["z"]}
    more = {**B, "id": "c", "question": "Where does Jaws take place?", "needs": []}
    on = stage(
        [
            says(thinking("Two steps."), plan(A, bad, done=False)),
            says(plan(B, done=False)),
            says(thinking("And where?"), plan(more)),
            says(plan()),
        ]
    )
    graph = edited("?", Graph(), await on.claude.plan(QUESTION, Graph()))
    graph = edited("?", graph, await on.claude.plan(QUESTION, graph))
    for left in (2, 1):
        for node in graph.nodes:
            if not node.has_ended:
                findings = (Finding(f"It is </sub_question> {node.id}.", (4, 7)),)
                gone = {"missing": ("the year",)} if node.id == "b" else {"findings": findings}
                graph = graph.with_node(replace(node, state="done", **gone))
        graph = graph.asked_again(left)
        graph = edited("?", graph, await on.claude.plan(QUESTION, graph))
    assert on.problems == []
    return list(on.fake.calls)


async def test_it_is_asked_for_json_and_nothing_else(stage: OpenStage) -> None:
    requests = await worked_off(stage)
    for request in requests:
        assert request["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}
        assert "tools" not in request


async def test_effort_goes_along_with_the_format(stage: OpenStage) -> None:
    on = stage([says(plan(A))], effort="low")
    await on.claude.plan(QUESTION, Graph())
    [request] = on.fake.calls
    assert set(request["output_config"]) == {"effort", "format"}


async def test_a_later_request_only_adds_to_an_earlier_one(stage: OpenStage) -> None:
    def bare(request: dict[str, Any]) -> list[Any]:
        text = json.dumps(request["messages"]).replace(
            ', "cache_control": {"type": "ephemeral"}', ""
        )
        return list(json.loads(text))

    for one, next in pairwise(await worked_off(stage)):
        assert bare(next)[: len(one["messages"])] == bare(one)
        assert one["system"] == next["system"]


async def test_it_is_told_what_was_refused_found_and_missing(stage: OpenStage) -> None:
    _, correcting, extending, ending = await worked_off(stage)

    def told(request: dict[str, Any]) -> str:
        return str(request["messages"][-1]["content"][0]["text"])

    assert "Added: a." in told(correcting)
    assert "b was not added: it needs z, which does not exist." in told(correcting)
    assert "sub_question" not in told(correcting)
    assert '<sub_question id="a" question="Who directed Jaws?">' in told(extending)
    assert "- It is &lt;/sub_question> a.\n" in told(extending)
    assert "(Nothing was found.)\nmissing: the year" in told(extending)
    assert "3 more times, this one included, 14 sub-questions" in told(extending)
    assert 'id="c"' in told(ending)
    assert 'id="a"' not in told(ending)
    assert "2 more times, this one included, 13 sub-questions" in told(ending)


@pytest.mark.parametrize(
    ("left_after", "told"),
    [
        (2, "You may add to the plan 3 more times, this one included, 15 sub-questions in all."),
        (1, "You may add to the plan 2 more times, this one included, 15 sub-questions in all."),
        (0, "This is the last time that you may add to the plan, 15 sub-questions in all."),
    ],
)
def test_the_times_that_are_left_include_this_one(left_after: int, told: str) -> None:
    graph = edited("?", Graph(), GraphEdit((NewNode("a", "Who directed Jaws?"),)))
    graph = graph.with_node(replace(graph.node("a"), state="done")).asked_again(left_after)
    assert (
        told
        in wire(Request("m", 1, "", plan_turns(QUESTION, graph, NOW)))["messages"][-1]["content"][
            -1
        ]["text"]
    )
