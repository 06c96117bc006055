"""Reading the one JSON object that a reply must hold."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reasoning.calls import ModelReply, Request, Unusable, json_object, repair, user_turn
from tests.fakes.claude_replies import text, thinking
from tests.fakes.claude_stage import replied, wire

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def problem(reply: ModelReply) -> str:
    with pytest.raises(Unusable) as raised:
        json_object(reply)
    return raised.value.problem


@given(
    st.dictionaries(st.text(), VALUES),
    st.sampled_from(["", "Here it is:\n```json\n"]),
    st.sampled_from(["", "\n```\nThat is all."]),
)
def test_an_object_is_read_whatever_stands_around_it(
    value: dict[str, Any], before: str, after: str
) -> None:
    written = f"{before}{json.dumps(value)}{after}"
    assert json_object(replied(text(written))) == value


@given(st.text())
def test_any_other_words_are_unusable_and_nothing_else(words: str) -> None:
    with suppress(Unusable):
        assert isinstance(json_object(replied(text(words))), dict)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "That was no JSON object."),
        ("I would love to help!", "That was no JSON object."),
        ("[1, 2]", "That was no JSON object."),
        ('{"kind": "search"', "That was not valid JSON: "),
        ("}{", "That was not valid JSON: "),
        ('{"kind": nothing}', "That was not valid JSON: "),
        ('{"kind":' + "[" * 100_000 + "}", "That was not valid JSON: "),
        ('{"n": ' + "9" * 10_000 + "}", "That was not valid JSON: "),
    ],
)
def test_what_is_wrong_is_told(words: str, expected: str) -> None:
    assert problem(replied(text(words))).startswith(expected)


def test_a_reply_that_was_cut_off_is_told_to_be_shorter_even_if_it_can_be_read() -> None:
    assert "cut off at the output limit" in problem(
        replied(text('{"a": 1}'), stop_reason="max_tokens")
    )


def test_thoughts_are_not_read_and_the_object_may_lie_in_several_blocks() -> None:
    content = thinking('{"kind": "chat"}'), text('{"kind": '), text('"search"}')
    assert json_object(replied(*content)) == {"kind": "search"}


def test_a_repair_goes_on_from_the_first_request_without_changing_it() -> None:
    first = Request("m", 100, "Be brief.", user_turn("?"))
    again = repair(first, replied(thinking("Hm."), text("No.")), "That was no JSON object.")
    assert len(first.turns) == 1
    assert replace(again, turns=first.turns) == first
    asked, said, last = wire(again)["messages"]
    assert asked == {"role": "user", "content": "?"}
    assert (said["role"], said["content"]) == ("assistant", [text("No.")])
    assert last["role"] == "user"
    assert last["content"].startswith("That was no JSON object. Reply with the one JSON object")
