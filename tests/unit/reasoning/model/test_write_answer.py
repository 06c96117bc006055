"""An answer that is written in the loop, from the pages on the workspace."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.reasoning.answer_prompt import reply_of
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Outcome,
    ReadResult,
    Reply,
    Restart,
    Search,
    Suggested,
    TextDelta,
    Workspace,
)
from tests.fakes.claude import Fault, citation, cited, says, text, tool
from tests.fakes.claude_stage import OpenStage, replied
from tests.unit.reasoning.samples import QUESTION, a_source

TALL, BUILT = a_source(7), a_source(8)
DESK = Workspace(
    given=(Outcome("given", reads=(ReadResult(1, TALL), ReadResult(2, BUILT))),), may_reply=True
)
ANSWER = (
    cited("It is 330 metres tall.", citation(0, 0, 1)),
    text(" "),
    cited("Gustave Eiffel built it.", citation(1, 1, 2)),
)
DELTAS: list[AnswerDelta] = [
    TextDelta("It is 330 metres tall.", opens=True, has_marks=False),
    CitationDelta(7, TALL.passages[0].start, TALL.passages[0].end),
    TextDelta(" ", opens=True, has_marks=False),
    TextDelta("Gustave Eiffel built it.", opens=True, has_marks=False),
    CitationDelta(8, BUILT.passages[1].start, BUILT.passages[1].end),
]


def joined(deltas: list[AnswerDelta]) -> list[AnswerDelta]:
    """Text in a row as one delta."""
    found: list[AnswerDelta] = []
    for delta in deltas:
        last = found[-1] if found else None
        if isinstance(delta, TextDelta) and isinstance(last, TextDelta) and not delta.opens:
            found[-1] = replace(last, text=last.text + delta.text)
        else:
            found.append(delta)
    return found


async def test_cited_words_without_a_call_are_the_answer(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    turn = await stage([says(*ANSWER)]).claude.next_turn(QUESTION, DESK, told.append)
    assert turn.actions == (Reply(tuple(DELTAS)),)
    assert joined(told) == DELTAS


async def test_it_is_told_while_the_rest_is_still_to_come(stage: OpenStage) -> None:
    long = cited("More of it. " * 60, citation(1, 0, 1))
    on = stage([says(ANSWER[0], text(" "), long)], rate=600.0)
    told = asyncio.Event()
    turn = asyncio.create_task(on.claude.next_turn(QUESTION, DESK, lambda delta: told.set()))
    await asyncio.wait_for(told.wait(), 10)
    assert not turn.done()
    assert isinstance((await turn).actions[0], Reply)


@pytest.mark.parametrize(
    "blocks",
    [
        [text("I think the answer is 42.")],
        [text("I look for it."), tool("search", {"queries": ["a"]}, "c1")],
        [text("   ")],
    ],
    ids=["no citation", "a call", "nothing"],
)
async def test_what_cites_nothing_or_calls_is_no_answer(
    stage: OpenStage, blocks: list[Any]
) -> None:
    told: list[AnswerDelta] = []
    turn = await stage([says(*blocks)]).claude.next_turn(QUESTION, DESK, told.append)
    assert not any(isinstance(action, Reply) for action in turn.actions)
    assert told == []


async def test_an_answer_that_ends_in_a_call_is_taken_back(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    reply = says(*ANSWER, tool("search", {"queries": ["a"]}, "c1"))
    turn = await stage([reply]).claude.next_turn(QUESTION, DESK, told.append)
    assert turn.actions == (Search(("a",), "c1"),)
    assert told[-1] == Restart()


async def test_a_stream_that_is_cut_begins_again(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    on = stage([says(*ANSWER, fault=Fault("cut", after=8)), says(*ANSWER)])
    turn = await on.claude.next_turn(QUESTION, DESK, told.append)
    assert turn.actions == (Reply(tuple(DELTAS)),)
    at = told.index(Restart())
    assert joined(told[at + 1 :]) == DELTAS


async def test_only_where_it_may(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    on = stage([says(*ANSWER)])
    turn = await on.claude.next_turn(QUESTION, replace(DESK, may_reply=False), told.append)
    assert (turn.actions, told) == ((), [])


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("It is tall [1]. Eiffel built it [2.1].", "It is tall [7]. Eiffel built it [8]."),
        ("It is tall [9] [1].", "It is tall  [7]."),
    ],
)
def test_without_citations_marks_name_pages_of_the_desk(said: str, written: str) -> None:
    pages = {1: TALL, 2: BUILT}
    turn = replied(text(said))
    assert reply_of(turn, DESK.sources, pages) is None
    assert reply_of(replace(turn, plain=True), DESK.sources, pages) == Reply(
        (TextDelta(written, opens=True),)
    )


@pytest.mark.parametrize(
    "broken",
    [
        {"search_result_index": 9, "start_block_index": 0, "end_block_index": 1},
        {"search_result_index": 0, "start_block_index": -1, "end_block_index": 1},
    ],
)
def test_a_citation_that_leads_nowhere_is_none(broken: dict[str, Any]) -> None:
    block = {"type": "text", "text": "It is tall.", "citations": [broken]}
    assert reply_of(replied(block), DESK.sources, {}) is None


# ---------------------------------------------------------------- questions below the answer

BELOW = "\n\n<ask_next>\nWho was Eiffel?\nWhen did it open?\n</ask_next>"
NEXT = Suggested(("Who was Eiffel?", "When did it open?"))


@pytest.mark.parametrize(
    "below",
    [(text(BELOW),), (cited(BELOW, citation(0, 0, 1)),), (text(BELOW[:7]), text(BELOW[7:]))],
)
async def test_the_questions_below_the_answer_are_not_told(
    stage: OpenStage, below: tuple[Any, ...]
) -> None:
    told: list[AnswerDelta] = []
    on = stage([says(*ANSWER, *below)])
    turn = await on.claude.next_turn(QUESTION, DESK, told.append)
    (reply,) = turn.actions
    assert isinstance(reply, Reply)
    assert reply.deltas[-1] == NEXT
    for deltas in (told, list(reply.deltas)):
        shown = [delta for delta in joined(deltas) if not isinstance(delta, Suggested)]
        assert [one for one in shown if isinstance(one, CitationDelta)] == [DELTAS[1], DELTAS[4]]
        words = "".join(delta.text for delta in shown if isinstance(delta, TextDelta))
        assert words.rstrip() == "It is 330 metres tall. Gustave Eiffel built it."


def test_with_marks_the_questions_are_split_off_too() -> None:
    reply = replace(replied(text(f"It is 330 metres tall [1].{BELOW}")), plain=True)
    found = reply_of(reply, (TALL,), {1: TALL})
    assert found is not None
    assert found.deltas == (TextDelta("It is 330 metres tall [7].", opens=True), NEXT)
