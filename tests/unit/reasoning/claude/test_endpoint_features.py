"""Features that an endpoint does not offer are left out of further requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.reasoning.calls import ModelTurn, Text, Tool, user_turn
from bot.reasoning.claude_api import NAMED
from bot.reasoning.model_service import refused_feature
from tests.fakes.claude_stage import OpenStage
from tests.unit.reasoning.claude.test_endpoint import ask

OBJECT = {"type": "object", "additionalProperties": False}
ADAPTIVE = {"thinks": True}
JSON = {"schema": OBJECT}
TOOL = {"tools": (Tool("search", "Searches.", OBJECT),)}
LOW = {"effort": "low"}
FEATURES: list[tuple[str, str, dict[str, Any]]] = [
    ("thinking", "thinking: Extra inputs are not permitted", ADAPTIVE),
    ("thinking", "adaptive thinking is not supported on this model", ADAPTIVE),
    ("effort", "This model does not support the effort parameter.", LOW),
    ("format", "output_config.format: Extra inputs are not permitted", JSON),
    ("strict", "tools.0.custom.strict: Extra inputs are not permitted", TOOL),
    ("cache_control", "system.0.cache_control: Extra inputs are not permitted", {}),
]


@pytest.mark.parametrize(("feature", "words", "changes"), FEATURES)
async def test_a_refused_feature_is_left_out_from_then_on(
    stage: OpenStage, feature: str, words: str, changes: dict[str, Any]
) -> None:
    on = stage(refuses={feature: words})
    await ask(on, **changes)
    await ask(on, **changes)
    assert on.statuses == [400, 200, 200]
    sent = [set(body) | {str(body).count(feature) > 0} for body in on.fake.calls]
    assert [True in one for one in sent] == [True, False, False]


async def test_all_features_may_be_refused(stage: OpenStage) -> None:
    everything: dict[str, Any] = {}
    for _, _, changes in FEATURES:
        everything |= changes
    on = stage(refuses={feature: words for feature, words, _ in FEATURES})
    await ask(on, **everything)
    assert on.statuses == [400] * 5 + [200]


async def test_calls_that_are_refused_at_once_all_learn(stage: OpenStage) -> None:
    on = stage(refuses={"thinking": "thinking: Extra inputs are not permitted"}, first_token=0.05)
    replies = await asyncio.gather(*(ask(on, **ADAPTIVE) for _ in range(5)))
    assert len(replies) == 5
    assert on.statuses.count(200) == 5


async def test_what_one_model_refuses_another_still_gets(stage: OpenStage) -> None:
    on = stage()
    await ask(on, model="claude-haiku-4-5")
    await ask(on)
    assert [body.get("thinking") for body in on.fake.calls] == [
        {"type": "adaptive"},
        None,
        {"type": "adaptive"},
    ]


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("claude-sonnet-5", [{"type": "disabled"}]),
        ("claude-sonnet-5-5", [{"type": "disabled"}, {"type": "between_tools"}]),
        ("claude-opus-5-5", [{"type": "disabled"}, None]),
    ],
)
async def test_thinking_is_turned_off_as_far_as_the_model_lets_it(
    stage: OpenStage, model: str, sent: list[Any]
) -> None:
    on = stage()
    await ask(on, model=model, thinks=False)
    assert [body.get("thinking") for body in on.fake.calls] == sent


async def test_a_model_that_thinks_between_tools_only_at_low_effort(stage: OpenStage) -> None:
    on = stage()
    await ask(on, thinks=False, effort="max")
    assert on.statuses == [400, 400, 200]
    assert on.fake.calls[-1]["output_config"] == {"effort": "max"}


@pytest.mark.parametrize(
    ("words", "used", "feature"),
    [
        ("Input tag 'search_result' found", {"search_result"}, "search_result"),
        ("citations are not supported", {"search_result"}, "search_result"),
        ("thinking: no", {"effort"}, None),
        ("output_config: no", {"effort", "format"}, "format"),
        ("output_config: no", {"effort"}, "effort"),
        ("The compiled grammar is too large.", {"effort", "format"}, "format"),
        ("Schema is too complex for compilation.", {"format"}, "format"),
        ("Invalid date format", {"format"}, None),
        (
            "Invalid `signature` in `thinking` block",
            {"thinking", "thinking_blocks"},
            "thinking_blocks",
        ),
        ("thinking: no", {"thinking", "thinking_blocks"}, "thinking"),
        ("", {"format", "strict"}, None),
    ],
)
def test_words_name_a_feature_that_was_used(words: str, used: Any, feature: str | None) -> None:
    assert refused_feature(words, used, NAMED) == feature


async def test_thoughts_that_are_not_taken_back_are_left_out(stage: OpenStage) -> None:
    foreign = {"type": "thinking", "thinking": "hm", "signature": "of another account"}
    hello, reply, silent = (
        user_turn("Hello")[0],
        ModelTurn((foreign, Text("Hi"))),
        ModelTurn((foreign,)),
    )
    on = stage()
    await ask(on, turns=(hello, reply, hello, silent, hello))
    assert on.statuses == [400, 200]
    sent = on.fake.calls[1]["messages"]
    assert sent[1]["content"] == [{"type": "text", "text": "Hi"}]
    assert sent[3]["content"] == [{"type": "text", "text": "(no reply)"}]
