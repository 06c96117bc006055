"""Settings of the endpoint: its address, its secrets, and whether it can be reached."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
)
from bot.reasoning.claude import REASONER, claude_service
from tests.fakes.claude import Fail
from tests.fakes.claude_stage import KEY, OpenStage, claude_settings, open_claude
from tests.unit.reasoning.claude.test_endpoint import REQUEST, ask, error_of

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
    assert await REASONER.check(on.settings) == "claude-sonnet-5-5 and claude-haiku-5-5 answered"
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
