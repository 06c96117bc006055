"""Calls of chat platforms, counted over real sockets."""

from __future__ import annotations

from typing import cast

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from adapters.discord.client import method_of as of_discord
from adapters.slack.calls import method_of as of_slack
from adapters.slack.calls import new_session
from adapters.slack.settings import SlackSettings
from bot.core.measurements import FAILED, PlatformCalls
from bot.operation.configuration import load_settings
from tests.fakes.server import serve


async def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse("", status_code=int(request.query_params["status"]))


SETTINGS = cast(SlackSettings, load_settings())
APP = Starlette(routes=[Route("/api/{method}", answer, methods=["GET", "POST"])])


async def test_calls_are_counted_by_method_and_status() -> None:
    calls = PlatformCalls()
    with serve(APP) as url:
        async with new_session(SETTINGS, calls) as session:
            for status in (200, 200, 429):
                async with session.post(f"{url}/api/chat.postMessage?status={status}"):
                    pass
    assert calls.counts == {
        ("slack", "chat.postMessage", "200"): 2,
        ("slack", "chat.postMessage", "429"): 1,
    }
    assert calls.seconds["slack", "chat.postMessage"] > 0


REVOKED = '{"ok":false,"error":"token_revoked"}'


async def say(request: Request) -> PlainTextResponse:
    said = request.query_params["said"]
    return PlainTextResponse(said, status_code=int(request.query_params.get("status", "200")))


@pytest.mark.parametrize(
    ("said", "status", "refusals"),
    [
        (REVOKED, 200, 1),
        ('{"ok": false, "error": "invalid_auth"}', 200, 1),
        ('{"ok":false,"error":"channel_not_found"}', 200, 0),
        ('{"ok":true,"text":"\\"error\\": \\"token_revoked\\""}', 200, 0),
        ('"error" is no JSON', 200, 0),
        ("", 401, 1),
    ],
)
async def test_a_token_that_is_not_accepted_is_counted(
    said: str, status: int, refusals: int
) -> None:
    calls = PlatformCalls()
    with serve(Starlette(routes=[Route("/api/{method}", say)])) as url:
        async with new_session(SETTINGS, calls) as session:
            params = {"said": said, "status": str(status)}
            async with session.get(f"{url}/api/auth.test", params=params) as reply:
                await reply.read()
    assert calls.refusals["slack"] == refusals


async def test_a_call_that_gets_no_answer_is_counted_too() -> None:
    calls = PlatformCalls()
    async with aiohttp.ClientSession(trace_configs=[calls.trace("slack", of_slack)]) as session:
        with pytest.raises(aiohttp.ClientError):
            await session.get("http://127.0.0.1:1/api/auth.test")
    assert calls.counts == {("slack", "auth.test", FAILED): 1}


@pytest.mark.parametrize(
    ("url", "method"),
    [
        ("https://slack.com/api/chat.postMessage", "chat.postMessage"),
        ("https://slack.com/api/agents.sessions.setStatus?x=1", "agents.sessions.setStatus"),
        ("http://127.0.0.1:8080/gateway/api/users.info", "users.info"),
        ("https://hooks.slack.com/commands/T1/123/abc", "other"),
        ("wss://wss-primary.slack.com/link/?ticket=secret", "other"),
        ("https://files.slack.com/files-pri/T1-F1/a.pdf", "other"),
        ("https://slack.com/api/../../etc", "other"),
    ],
)
def test_slack_is_called_by_method(url: str, method: str) -> None:
    assert of_slack(url) == method


@pytest.mark.parametrize(
    ("url", "method"),
    [
        ("https://discord.com/api/v10/channels/123456789012345678/messages", "channels/*/messages"),
        (
            "https://discord.com/api/v10/webhooks/12345/aW50ZXJhY3Rpb24_TOKEN-1/messages/@original",
            "webhooks/*/*/messages/@original",
        ),
        (
            "https://discord.com/api/v10/interactions/1/Tok3n.A/callback",
            "interactions/*/*/callback",
        ),
        (
            "https://discord.com/api/v10/channels/1/messages/2/reactions/%F0%9F%91%8D/@me",
            "channels/*/messages/*/reactions/*",
        ),
        ("https://discord.com/api/v10/users/@me", "users/@me"),
        ("https://discord.com/api/v10/gateway/bot", "gateway/bot"),
        ("wss://gateway.discord.gg/?v=10", "gateway"),
    ],
)
def test_discord_is_called_by_resource_without_ids_or_tokens(url: str, method: str) -> None:
    assert of_discord(url) == method
