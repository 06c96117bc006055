"""Claude: settings and secrets, whether it can be reached, and the cost of a reply."""

from __future__ import annotations

import logging
from typing import Any, get_args

import pytest
from anthropic.types import ModelParam

from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
)
from bot.operation.configuration import load_settings
from bot.reasoning.calls import ModelReply, Tokens
from bot.reasoning.claude import PRICES, REASONER, claude_price, claude_service, plain_name
from tests.fakes.claude import Fail
from tests.fakes.claude_stage import KEY, OpenStage, claude_settings, open_claude
from tests.unit.reasoning.test_claude_api import REQUEST, ask, error_of

# ---------------------------------------------------------------- settings and secrets


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"anthropic_api_key": None}, InvalidSetting, "ANTHROPIC_API_KEY is not set"),
        ({"anthropic_api_key": "  "}, InvalidSetting, "ANTHROPIC_API_KEY is not set"),
        ({"anthropic_api_key": "sk a"}, CredentialsRefused, "copy it again"),
        ({"anthropic_api_key": "sk\nb"}, CredentialsRefused, "copy it again"),
        ({"anthropic_api_key": "ключ"}, CredentialsRefused, "copy it again"),
        ({"anthropic_base_url": "localhost:80"}, InvalidSetting, "ANTHROPIC_BASE_URL"),
        ({"anthropic_base_url": "ftp://x"}, InvalidSetting, "ANTHROPIC_BASE_URL"),
        ({"anthropic_base_url": "http://[::1"}, InvalidSetting, "ANTHROPIC_BASE_URL"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(
    changes: dict[str, Any], kind: type[FootnoteError], words: str
) -> None:
    with pytest.raises(kind, match=words) as raised:
        claude_service(claude_settings(**{"anthropic_api_key": KEY, **changes}))
    assert str(changes.get("anthropic_api_key")) not in str(raised.value)


def test_a_proxy_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://user:secret@proxy")
    with pytest.raises(InvalidSetting, match="ALL_PROXY") as raised:
        claude_service(claude_settings(anthropic_api_key=KEY))
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("suffix", ["/", "/v1", "/v1/"])
async def test_a_base_url_may_end_in_v1(stage: OpenStage, suffix: str) -> None:
    on = stage()
    url = f"{on.settings.anthropic_base_url}{suffix}"
    endpoint = claude_service(claude_settings(anthropic_api_key=KEY, anthropic_base_url=url))
    await endpoint.complete(REQUEST)
    await endpoint.aclose()


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
async def test_the_key_is_sent_where_any_endpoint_looks_for_it(
    stage: OpenStage, header: str
) -> None:
    on = stage(key=KEY, key_header=header)
    await ask(on)
    assert on.statuses == [200]


async def test_a_wrong_key_is_never_shown(
    stage: OpenStage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "sk-wrong-9876543210"
    on = stage([Fail(401, f"key {secret} is wrong")], anthropic_api_key=secret)
    error = await error_of(on)
    for shown in (error.sentence, error.detail, str(error), repr(error)):
        assert secret not in shown
    assert secret not in repr(on.endpoint) + repr(on.settings)
    # What we log ourselves; the SDK's own debug log redacts the key.
    assert secret not in "".join(r.getMessage() for r in caplog.records if r.name.startswith("bot"))


# ---------------------------------------------------------------- probe


async def test_a_probe_asks_for_both_models_without_a_call(stage: OpenStage) -> None:
    on = stage()
    told = str(await REASONER.check(on.settings))
    assert told == "claude-sonnet-5-5 answers. claude-haiku-5-5 answers."
    assert on.fake.requests == []


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"key": "another"}, CredentialsRefused),
        ({"models": ["claude-sonnet-5-5"]}, InvalidSetting),
    ],
)
async def test_a_probe_says_what_is_wrong(
    stage: OpenStage, options: dict[str, Any], kind: type[FootnoteError]
) -> None:
    with pytest.raises(kind):
        await REASONER.check(stage(**options).settings)


async def test_reasoners_of_one_process_share_a_client(stage: OpenStage) -> None:
    on = stage()
    async with open_claude(on.settings) as make:
        one, two = make(on.calls), make(on.calls)
        assert vars(one)["_opening"] is vars(two)["_opening"]


M = 1_000_000
UNPUBLISHED = {"claude-fable-5-2", "claude-mythos-5-2", "claude-mythos-preview"}


def reply(model: str, **tokens: Any) -> ModelReply:
    return ModelReply(model, (), "end_turn", **tokens)


@pytest.mark.parametrize(
    ("model", "tokens", "usd"),
    [
        ("claude-sonnet-5-5", {"input_tokens": M}, 2.0),
        ("claude-sonnet-5-5", {"output_tokens": M}, 10.0),
        ("claude-sonnet-5-5", {"cache_write_tokens": M}, 2.5),
        ("claude-sonnet-5-5", {"cache_read_tokens": M}, 0.1),
        ("claude-opus-5-5", {"input_tokens": 1_000, "output_tokens": 100}, 0.006),
        ("claude-haiku-5-5", {"input_tokens": 100_000, "output_tokens": 0}, 0.01),
        ("claude-haiku-5-5", {"input_tokens": 100_001, "output_tokens": 0}, 0.0500005),
        ("claude-haiku-5-5", {"cache_read_tokens": 200_000}, 0.01),
        ("claude-sonnet-5-5", {}, 0.0),
        ("claude-sonnet-5-5-20260901", {"input_tokens": M}, 2.0),
        # An hour in the cache costs twice the input; the rest of what was written, 1.25 times.
        ("claude-sonnet-5-5", {"cache_write_tokens": M, "hour_write_tokens": M}, 4.0),
        ("claude-opus-5", {"cache_write_tokens": M, "hour_write_tokens": M // 2}, 8.125),
        # In the US only, everything costs a tenth more.
        ("claude-sonnet-5-5", {"input_tokens": M, "geo": "us"}, 2.2),
        ("claude-sonnet-5-5", {"input_tokens": M, "geo": "global"}, 2.0),
    ],
)
def test_each_kind_of_token_has_its_price(model: str, tokens: dict[str, int], usd: float) -> None:
    assert claude_price(load_settings(), reply(model, **tokens)) == pytest.approx(usd)


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5-20250929",
        "anthropic/claude-sonnet-4-5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5@20250929",
        "Claude-Sonnet-4-5[1m]",
        "claude-sonnet-4-5",
        " claude-sonnet-4-5 ",
        "apac.anthropic.claude-sonnet-4-5-v1",
    ],
)
def test_a_model_is_known_however_a_platform_writes_it(name: str) -> None:
    assert plain_name(name) == "claude-sonnet-4-5"


@pytest.mark.parametrize("model", ["llama-4", "claude-sonnet-9", "", *sorted(UNPUBLISHED)])
def test_a_price_that_is_not_known_is_none(model: str) -> None:
    assert claude_price(load_settings(), reply(model, input_tokens=1)) is None


def test_every_model_of_the_sdk_has_a_price_or_is_known_to_have_none() -> None:
    models = {plain_name(name) for name in get_args(get_args(ModelParam)[0])}
    assert models - set(PRICES) == UNPUBLISHED


def test_attempts_that_broke_off_are_paid_for_each_by_itself() -> None:
    """Two prompts of 60,000 tokens are two short ones, not one long one."""
    settings, model = load_settings(), "claude-haiku-5-5"
    twice = reply(model, input_tokens=120_000, output_tokens=30, cut=(Tokens(60_000, 10),))
    alone = [reply(model, input_tokens=60_000, output_tokens=n) for n in (10, 20)]
    assert claude_price(settings, twice) == pytest.approx(
        sum(claude_price(settings, one) or 0.0 for one in alone)
    )


def test_settings_replace_and_extend_the_table() -> None:
    mine = {"input": 1.0, "output": 0.0, "cache_write": 0.0, "cache_read": 0.0}
    settings = load_settings(prices={"claude-sonnet-5-5": mine, "llama-4": mine})
    assert claude_price(settings, reply("claude-sonnet-5-5", input_tokens=M)) == 1.0
    assert claude_price(settings, reply("anthropic/claude-sonnet-5-5", input_tokens=M)) == 1.0
    assert claude_price(settings, reply("llama-4", input_tokens=M)) == 1.0


def test_a_price_of_an_hour_in_the_cache_may_be_set() -> None:
    mine = {"input": 1.0, "output": 0.0, "cache_write": 0.0, "cache_read": 0.0}
    kept = reply("m", cache_write_tokens=M, hour_write_tokens=M)
    assert claude_price(load_settings(prices={"m": mine}), kept) == 2.0
    priced = load_settings(prices={"m": {**mine, "cache_write_hour": 7.0}})
    assert claude_price(priced, kept) == 7.0


@pytest.mark.parametrize("wrong", [{"input": -1.0}, {"cache_writes": 1.0}, {"output": None}])
def test_a_price_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    fine = {"input": 1.0, "output": 0.0, "cache_write": 0.0, "cache_read": 0.0}
    with pytest.raises(InvalidSetting, match="FOOTNOTE_PRICES"):
        load_settings(prices={"m": {**fine, **wrong}})
