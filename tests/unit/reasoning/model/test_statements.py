"""The statements of a text by a model: the request, and what is read from its reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ModelBroken
from bot.reasoning.calls import ModelReply, Text, Unusable
from bot.reasoning.evidence import Statement
from bot.reasoning.judgement_prompts import QUERIES
from bot.reasoning.judgement_prompts import STATEMENT as LONGEST
from bot.reasoning.judgement_prompts import parse_statements as statements
from tests.fakes.claude import says
from tests.fakes.claude_stage import OpenStage

TEXT, ALONE = "It is tall.", "The tower is tall."
ONE = {"text": TEXT, "alone": ALONE, "queries": ["tower height"]}


def replied(given: object) -> ModelReply:
    return ModelReply("m", (Text(json.dumps(given)),), "end_turn")


@pytest.mark.parametrize(
    ("item", "read"),
    [
        (ONE, Statement(TEXT, ALONE, ("tower height",))),
        ({**ONE, "queries": []}, Statement(TEXT, ALONE)),
        ({**ONE, "queries": None}, Statement(TEXT, ALONE)),
        ({**ONE, "queries": ["a", "a", 3, "", "b", "c"]}, Statement(TEXT, ALONE, ("a", "b"))),
        ({**ONE, "alone": ""}, Statement(TEXT, TEXT, ("tower height",))),
        ({**ONE, "text": ""}, Statement(ALONE, ALONE, ("tower height",))),
        ({"text": "", "alone": ""}, None),
        ("It is tall.", None),
    ],
)
def test_a_statement_is_read_as_it_was_meant(item: object, read: Statement | None) -> None:
    assert statements(replied({"statements": [item]})) == ((read,) if read else ())


@pytest.mark.parametrize("given", [{}, {"statements": "It is tall."}, []])
def test_a_reply_without_a_list_is_unusable(given: object) -> None:
    with pytest.raises(Unusable):
        statements(replied(given))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "alone", "queries"]), inner, max_size=3)
    ),
)


@given(st.lists(JSON, max_size=4))
def test_whatever_a_list_holds_is_read_within_the_limits(items: list[object]) -> None:
    for each in statements(replied({"statements": items})):
        assert each.alone
        assert len(each.alone) <= LONGEST
        assert len(each.queries) <= QUERIES


async def test_a_reply_that_cannot_be_used_is_asked_for_once_more(stage: OpenStage) -> None:
    on = stage([says("I see one."), says(json.dumps({"statements": [ONE]}))])
    found = await on.claude.statements("It is tall.")
    assert [each.alone for each in found] == ["The tower is tall."]
    assert on.problems == []
    with pytest.raises(ModelBroken, match="did not name the statements"):
        await stage([says("One."), says("Two.")]).claude.statements("It is tall.")
