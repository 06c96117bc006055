"""Replies that should be JSON, and the prompts."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import reasoning
from bot.reasoning.calls import TAGS, ModelReply, Request, Unusable, json_object, repair, user_turn
from bot.reasoning.calls import prompt as load
from bot.reasoning.rewrite_prompt import SCHEMA
from bot.reasoning.tool_loop import TOOLS
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


NAMES = sorted(
    path.name.removesuffix(".md")
    for path in files(reasoning).joinpath("prompts").iterdir()
    if path.name.endswith(".md")
)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_opens_with_what_it_must_achieve(name: str) -> None:
    text = files(reasoning).joinpath("prompts").joinpath(f"{name}.md").read_text("utf-8")
    assert text.startswith("<!--\nWhat it must achieve:")


@pytest.mark.parametrize("name", NAMES)
def test_the_comment_is_not_sent_and_nothing_is_left_open(name: str) -> None:
    text = load(name, citing="CITE", ask_next="ASK")
    assert "<!--" not in text
    assert "What it must achieve" not in text
    assert re.search(r"\{[a-z_]+\}", text) is None


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        load("write")


def test_a_value_is_not_searched_for_placeholders() -> None:
    assert "{text}" in load("write", citing="{text}", ask_next="")


def test_the_rewrite_prompt_explains_every_field() -> None:
    assert all(f"`{name}`" in load("rewrite") for name in SCHEMA["properties"])


def test_the_loop_prompt_explains_every_tool_and_field() -> None:
    text = load("iterate", ask_next="")
    for tool in TOOLS:
        assert f"`{tool.name}`" in text
    assert all(f"`{name}`" in text for name in TOOLS[2].schema["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_names_only_tags_that_are_guarded(name: str) -> None:
    text = files(reasoning).joinpath("prompts").joinpath(f"{name}.md").read_text("utf-8")
    named = set(re.findall(r"`</?([a-z_]+)", text))
    assert named <= set(TAGS)


def test_every_tag_that_requests_are_made_of_is_guarded() -> None:
    code = [each.read_text("utf-8") for each in Path(reasoning.__path__[0]).rglob("*.py")]
    made = {tag for text in code for tag in re.findall(r"element\(\s*[\"']([a-z_]+)", text)}
    assert "page" in made
    assert made <= set(TAGS)


def test_no_prompt_depends_on_the_run() -> None:
    for name in ("rewrite", "iterate"):
        text = load(name, ask_next=load("ask_next"))
        assert text == load(name, ask_next=load("ask_next"))
        assert not re.search(r"\b20\d\d\b", text.replace("and in 2019?", ""))
