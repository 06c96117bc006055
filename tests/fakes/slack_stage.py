"""Set-ups for the fake Slack: a furnished workspace, the SDK's client, an admin's browser."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth import OAuthStateUtils
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_oauth import SIGNED_IN
from tests.fakes.slack_workspace import Json

ADA, BOB = "U1ADA", "U2BOB"
GENERAL, SECRET, ELSEWHERE = "C1GENERAL", "G1SECRET", "C9ELSEWHERE"


@contextmanager
def furnished(*args: Any, **options: Any) -> Iterator[FakeSlack]:
    """Yield a workspace with two people, a public and a private channel with the app, and one
    channel without it."""
    with FakeSlack(*args, **options) as slack:
        slack.add_user(ADA, "ada")
        slack.add_user(BOB, "bob", locale="zh-CN")
        slack.add_channel(GENERAL, "general", members=[ADA, BOB])
        slack.add_channel(SECRET, "secret", "group", members=[ADA])
        slack.add_channel(ELSEWHERE, "elsewhere", members=[ADA], bot=False)
        slack.im(ADA)
        yield slack


def client_of(slack: FakeSlack, token: str | None = None) -> AsyncWebClient:
    token = slack.bot_token if token is None else token
    # By default the SDK repeats a call whose connection broke.
    return AsyncWebClient(token=token, base_url=slack.api_url, retry_handlers=[])


async def call(slack: FakeSlack, method: str, **args: Any) -> Json:
    """Make a JSON call and return the response. Raises ``SlackApiError``."""
    reply = await client_of(slack).api_call(method, json=args)
    assert isinstance(reply.data, dict)
    return reply.data


async def refusal(work: Awaitable[Any]) -> Json:
    """Return the response of a refused call; fail if the call is not refused."""
    with pytest.raises(SlackApiError) as refused:
        await work
    reply = refused.value.response.data
    assert isinstance(reply, dict)
    return reply


@dataclass
class Browser:
    """A browser signed in to ``slack`` as ``user``. It keeps secure cookies, as behind a proxy that
    terminates TLS.

    It does not follow redirects by itself. Not for use on the event loop of the app.
    """

    slack: FakeSlack
    user: str
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, url: str) -> httpx.Response:
        at_slack = url.startswith(self.slack.base)
        cookies = {SIGNED_IN: f"{self.slack.team}-{self.user}"} if at_slack else self.cookies
        header = "; ".join(f"{name}={value}" for name, value in cookies.items())
        answer = httpx.get(url, headers={"Cookie": header}, trust_env=False)
        if not at_slack:
            self.cookies |= dict(answer.cookies)
        return answer

    def to_slack(self, app: str) -> str:
        """Return the URL to which the app's /slack/install redirects."""
        begun = self.get(f"{app}/slack/install")
        assert begun.status_code == 302, begun.text
        return str(begun.headers["Location"])

    def back(self, authorize_url: str) -> str:
        """Return the URL to which Slack redirects once the browser's owner has agreed."""
        agreed = self.get(authorize_url)
        assert agreed.status_code == 302, agreed.text
        return str(agreed.headers["Location"])

    def install(self, app: str) -> str:
        """Go through the whole installation; return the last URL."""
        address = self.back(self.to_slack(app))
        done = self.get(address)
        assert done.status_code == 200, done.text
        assert "Thank you" in done.text
        return address

    def state_of(self, address: str) -> dict[str, str]:
        """Return the cookie for the state in a URL, as it was before the state was used."""
        state = dict(parse_qsl(urlsplit(address).query))["state"]
        return {OAuthStateUtils.default_cookie_name: state}
