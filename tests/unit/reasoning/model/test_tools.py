"""A turn of the loop: what the model may say, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from bot.core.errors import BudgetSpent, ModelRefused
from bot.reasoning.calls import Request, Text, user_turn
from bot.reasoning.evidence import (
    Finish,
    Malformed,
    Outcome,
    Read,
    ReadResult,
    Search,
    Turn,
    Workspace,
)
from bot.reasoning.tool_loop import CUT_OFF, TOOLS
from tests.fakes.calls import MemoryCalls
from tests.fakes.claude import Fail, Reply, says, thinking, tool
from tests.fakes.claude_stage import OpenStage, blocks_of, wire
from tests.unit.reasoning.samples import QUESTION, a_source, carry_out, finding

ON_THE_DESK = Workspace(
    given=(Outcome("given", reads=(ReadResult(1, a_source(7)), ReadResult(2, a_source(8)))),)
)


async def turn_of(stage: OpenStage, reply: Reply, **options: Any) -> Turn:
    on = stage([reply], **options)
    return await on.claude.next_turn(QUESTION, ON_THE_DESK)


# ---------------------------------------------------------------- the request


async def test_the_tools_are_strict_and_the_choice_is_the_models(stage: OpenStage) -> None:
    on = stage()
    await on.claude.next_turn(QUESTION, Workspace())
    [request] = on.fake.calls
    assert [t["name"] for t in request["tools"]] == ["search", "read", "finish"]
    assert all(t["strict"] for t in request["tools"])
    assert "tool_choice" not in request  # forcing a tool is refused by newer models
    assert request["thinking"] == {"type": "adaptive"}
    assert "output_config" not in request


async def test_effort_and_model_are_settings(stage: OpenStage) -> None:
    on = stage(effort="low", model="claude-opus-5-5")
    await on.claude.next_turn(QUESTION, Workspace())
    [request] = on.fake.calls
    assert request["model"] == "claude-opus-5-5"
    assert request["output_config"] == {"effort": "low"}
    assert request["max_tokens"] == 8_000


# ---------------------------------------------------------------- actions


@pytest.mark.parametrize(
    ("name", "given", "action"),
    [
        ("search", {"queries": ["a", " b  c "]}, Search(("a", "b c"), "c1")),
        ("search", {"queries": ["a", "a", "", *"bcdefg"]}, Search(tuple("abcdef"), "c1")),
        ("search", {"queries": "one string"}, Search(("one string",), "c1")),
        ("read", {"ids": [3, 1, 3]}, Read((3, 1), "c1")),
        ("read", {"ids": ["4", 5.0, True, None]}, Read((4, 5), "c1")),
        ("read", {"ids": 6}, Read((6,), "c1")),
        ("read", {"ids": [*range(1, 9)]}, Read((1, 2, 3, 4, 5, 6), "c1")),
        (
            "finish",
            {
                "findings": [{"text": " It is\ntall. ", "pages": [2, 2, 9]}, {"text": " "}],
                "enough": True,
                "missing": ["who", ""],
            },
            Finish((finding("It is tall.", 8),), True, ("who",), "c1"),
        ),
        (
            "finish",
            {"findings": ["A fact."], "enough": False},
            Finish((finding("A fact."),), False, (), "c1"),
        ),
        ("finish", {"enough": True}, Finish((), True, (), "c1")),
        (
            "finish",
            {"findings": [], "enough": True, "missing": [], "answer": " Ada\nLovelace "},
            Finish((), True, (), "c1", answer="Ada Lovelace"),
        ),
        (
            "finish",
            {"findings": [], "enough": True, "missing": [], "answer": "It is this: " * 9},
            Finish((), True, (), "c1"),
        ),
        (
            "finish",
            {"findings": [], "enough": True, "missing": [], "answer": None},
            Finish((), True, (), "c1"),
        ),
        (
            "finish",
            {"findings": [], "enough": False, "missing": "all"},
            Finish((), False, ("all",), "c1"),
        ),
    ],
)
async def test_a_call_becomes_an_action(
    stage: OpenStage, name: str, given: dict[str, Any], action: Any
) -> None:
    turn = await turn_of(stage, says("Well.", tool(name, given, "c1")))
    assert turn.actions == (action,)


@pytest.mark.parametrize(
    ("use", "carrying"),
    [
        (["1.2", "2"], {7: [1], 8: [0, 1]}),
        (["1.2", "1.1", "1.2"], {7: [0, 1]}),
        (["Page 2", "passage 1.2"], {8: [0, 1], 7: [1]}),
        ([1, "2.9", "3", "three", "9.9.9", "", None], {7: [0, 1]}),
        ("2.1", {8: [0]}),
        (None, {}),
    ],
)
async def test_a_finish_names_the_passages_that_carry_the_answer(
    stage: OpenStage, use: Any, carrying: dict[int, list[int]]
) -> None:
    turn = await turn_of(stage, says(tool("finish", {"use": use, "enough": True}, "c1")))
    [finish] = turn.actions
    assert isinstance(finish, Finish)
    assert finish.carrying == tuple(
        replace(a_source(number), passages=tuple(a_source(number).passages[at] for at in chosen))
        for number, chosen in carrying.items()
    )


@pytest.mark.parametrize(
    ("given", "none"),
    [
        ({"use": [], "enough": False}, True),
        ({"use": [], "enough": True}, False),
        ({"enough": False}, False),
        ({"use": [], "enough": False, "findings": [{"text": "It is A.", "pages": [1]}]}, False),
    ],
)
async def test_a_finish_may_say_that_no_page_tells_anything(
    stage: OpenStage, given: dict[str, Any], none: bool
) -> None:
    turn = await turn_of(stage, says(tool("finish", given, "c1")))
    [finish] = turn.actions
    assert isinstance(finish, Finish)
    assert finish.none_carries is none


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("search", {}, "search needs 'queries'"),
        ("search", {"queries": []}, "1 to 6 short strings"),
        ("search", {"queries": [1, None]}, "1 to 6 short strings"),
        ("search", {"query": "a"}, "search needs 'queries'"),
        ("read", {"ids": ["first"]}, "1 to 6 hit numbers"),
        ("read", {"ids": {"a": 1}}, "1 to 6 hit numbers"),
        ("finish", {}, "finish needs 'enough'"),
        ("finish", {"enough": True, "findings": "none"}, "list of {text, pages}"),
        ("finish", {"enough": True, "findings": [3]}, "must be {text, pages}"),
        ("search", '{"queries": ["a"', "not valid JSON"),
        ("search", '["a"]', "not valid JSON"),
        ("browse", {"url": "x"}, "There is no tool 'browse'"),
    ],
)
async def test_a_call_that_makes_no_sense_is_answered_with_what_to_do(
    stage: OpenStage, name: str, given: Any, words: str
) -> None:
    turn = await turn_of(stage, says(tool(name, given, "c1")))
    [action] = turn.actions
    assert isinstance(action, Malformed)
    assert action.id == "c1"
    assert words in action.problem


async def test_several_calls_of_a_turn_keep_their_order(stage: OpenStage) -> None:
    blocks = [
        tool("read", {"ids": [1]}, "c1"),
        tool("search", {"queries": ["a"]}, "c2"),
        tool("fly", {}, "c3"),
    ]
    turn = await turn_of(stage, says(thinking("hm"), *blocks))
    assert [type(action) for action in turn.actions] == [Read, Search, Malformed]
    assert [action.id for action in turn.actions] == ["c1", "c2", "c3"]


async def test_said_are_the_blocks_as_they_came(stage: OpenStage) -> None:
    blocks = [thinking("deep"), {"type": "text", "text": "I search."}]
    call = tool("search", {"queries": ["é 中"]}, "c1")
    turn = await turn_of(stage, says(*blocks, call), tokens_per_event=1)
    assert turn.said == blocks_of(*blocks, call)


# ---------------------------------------------------------------- how a turn may end


async def test_words_alone_are_an_empty_turn(stage: OpenStage) -> None:
    turn = await turn_of(stage, says("I think the answer is 42."))
    assert turn.actions == ()
    assert turn.said == (Text("I think the answer is 42."),)


@pytest.mark.parametrize("reason", ["end_turn", "pause_turn", "max_tokens", "stop_sequence"])
async def test_a_turn_without_anything_is_empty(stage: OpenStage, reason: str) -> None:
    turn = await turn_of(stage, says(stop_reason=reason))
    assert turn.actions == ()


async def test_a_call_cut_off_at_the_limit_asks_for_a_shorter_one(stage: OpenStage) -> None:
    whole = tool("search", {"queries": ["a"]}, "c1")
    cut = tool("finish", '{"findings": [{"text": "It is', "c2")
    turn = await turn_of(stage, says(whole, cut, stop_reason="max_tokens"))
    assert turn.actions == (Search(("a",), "c1"), Malformed(CUT_OFF, "c2"))


async def test_a_complete_call_at_the_limit_counts(stage: OpenStage) -> None:
    turn = await turn_of(stage, says(tool("read", {"ids": [1]}, "c1"), stop_reason="max_tokens"))
    assert turn.actions == (Read((1,), "c1"),)


async def test_a_refusal_ends_the_run(stage: OpenStage) -> None:
    with pytest.raises(ModelRefused, match="declined to work on this question"):
        await turn_of(stage, says(stop_reason="refusal"))


@pytest.mark.parametrize(
    "reply",
    [
        Fail(413, "Request exceeds the maximum size"),
        Fail(400, "prompt is too long: 1200000 tokens > 1000000 maximum"),
        Fail(400, "input length and `max_tokens` exceed context limit: 9 + 8 > 10"),
        says(stop_reason="model_context_window_exceeded"),
    ],
)
async def test_a_desk_that_outgrew_the_model_is_an_honest_finish(
    stage: OpenStage, reply: Any
) -> None:
    turn = await turn_of(stage, reply)
    assert turn.actions == (Finish(enough=False, outgrown=True),)


async def test_a_spent_budget_is_the_callers_business(stage: OpenStage) -> None:
    on = stage()
    on.calls.limit = 0
    with pytest.raises(BudgetSpent):
        await on.claude.next_turn(QUESTION, Workspace())
    assert on.fake.requests == []


# ---------------------------------------------------------------- many turns

EVERYTHING = [
    says(thinking("one"), tool("search", {"queries": ["a", "b"]}, "c1")),
    says(thinking("two"), "Both.", tool("read", {"ids": [11]}, "c2"), tool("fly", {}, "c3")),
    says(thinking("three"), tool("search", "{broken", "c4")),
    says(thinking("four"), tool("search", '{"queries": ["x', "c5"), stop_reason="max_tokens"),
    says(thinking("only thoughts")),
    says("Only words."),
    says(),
    says(tool("finish", {"findings": [], "enough": True, "missing": []}, "c6"), "And more."),
]


async def test_whatever_was_said_can_be_sent_back(stage: OpenStage) -> None:
    on = stage(EVERYTHING)
    workspace = Workspace()
    for _ in EVERYTHING:
        turn = await on.claude.next_turn(QUESTION, workspace)
        workspace = carry_out(workspace, turn, "" if turn.actions else "Call a tool.")
    assert on.problems == []  # the fake checks order, ids, signatures and what came before them


async def test_a_replayed_run_makes_the_same_requests(stage: OpenStage) -> None:
    on = stage(EVERYTHING)

    async def walk() -> list[Turn]:
        workspace, turns = Workspace(), []
        for _ in EVERYTHING:
            turns.append(await on.claude.next_turn(QUESTION, workspace))
            workspace = carry_out(workspace, turns[-1])
        return turns

    first = await walk()
    on.calls = MemoryCalls(replies=on.calls.replies)
    assert await walk() == first
    assert len(on.fake.requests) == len(EVERYTHING)


async def test_the_cache_is_read_more_with_every_turn(stage: OpenStage) -> None:
    on = stage([says(tool("search", {"queries": [f"q{n}"]}, f"c{n}")) for n in range(5)])
    workspace = Workspace(
        given=(Outcome("given", reads=(ReadResult(1, a_source(1, "word " * 400)),)),)
    )
    for _ in range(5):
        turn = await on.claude.next_turn(QUESTION, workspace)
        workspace = carry_out(workspace, turn)
    usages = [request.usage for request in on.fake.requests]
    reads = [usage["cache_read_input_tokens"] for usage in usages]
    assert reads[0] == 0
    assert reads[1] > 500
    assert reads == sorted(set(reads))
    assert all(usage["input_tokens"] == 0 for usage in usages)  # nothing is paid in full twice
    for before, after in pairwise(usages):
        had = before["cache_read_input_tokens"] + before["cache_creation_input_tokens"]
        assert after["cache_read_input_tokens"] == had


async def test_tools_and_system_are_shared_by_all_runs(stage: OpenStage) -> None:
    on = stage()
    await on.claude.next_turn(QUESTION, Workspace())
    on.calls = MemoryCalls()
    other = carry_out(Workspace(), Turn(()), "Go.")
    await on.claude.next_turn(QUESTION, other)
    assert on.fake.requests[1].usage["cache_read_input_tokens"] >= 512


async def test_tokens_are_reported_as_counted(stage: OpenStage) -> None:
    on = stage()
    await on.claude.next_turn(QUESTION, Workspace())
    usage = on.fake.requests[0].usage
    reply = on.calls.last
    assert reply.cache_write_tokens == usage["cache_creation_input_tokens"] > 0
    assert reply.output_tokens == usage["output_tokens"] > 0
    assert reply.model == "claude-sonnet-5-5"


def test_no_schema_uses_what_strict_tools_refuse() -> None:
    from tests.fakes.claude_rules import check

    check(wire(Request("m", 1, "Be brief.", user_turn("x"), tools=TOOLS)))


async def test_a_passage_brings_along_what_leads_in_to_it(stage: OpenStage) -> None:
    page = a_source(1, "Intro.", "The following is prohibited:", "(1) copying;", "(2) selling.")
    workspace = Workspace(given=(Outcome("given", reads=(ReadResult(1, page),)),))
    given = {"use": ["1.3"], "enough": True, "missing": [], "findings": [], "answer": ""}
    turn = await stage([says(tool("finish", given, "c2"))]).claude.next_turn(QUESTION, workspace)
    [finish] = turn.actions
    assert isinstance(finish, Finish)
    [source] = finish.carrying
    assert [p.text for p in source.passages] == ["The following is prohibited:", "(1) copying;"]
