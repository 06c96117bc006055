"""The fake's OAuth refuses what Slack's refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_oauth import CODE_SECONDS, OAuth
from tests.fakes.slack_stage import call, client_of, refusal
from tests.fakes.slack_workspace import Tenant

# slack_sdk (3.47) authenticates apps by what aiohttp (3.14) is about to rename.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

BACK = "https://app.example/slack/oauth_redirect"
SCOPE = "chat:write,commands"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(installed=False) as slack:
        slack.add_user("U1", "ada")
        slack.oauth.redirect_urls = [BACK]
        yield slack


def ask(oauth: OAuth, cookie: str = "T0FOOTNOTE-U1", **query: str) -> tuple[int, str]:
    given = {"client_id": oauth.client_id, "scope": SCOPE, "state": "s1", **query}
    page = oauth.page(given, {"d": cookie})
    return page.status, page.location or page.text


def code(oauth: OAuth, **query: str) -> str:
    return ask(oauth, **query)[1].partition("code=")[2].partition("&")[0]


async def access(slack: FakeSlack, **given: Any) -> Any:
    app = {"client_id": slack.oauth.client_id, "client_secret": slack.oauth.client_secret}
    client = AsyncWebClient(base_url=slack.api_url, retry_handlers=[])
    return (await client.oauth_v2_access(**{**app, **given})).data


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ({"cookie": ""}, "Sign in"),
        ({"cookie": "T0FOOTNOTE-U9"}, "Sign in"),
        ({"client_id": "other"}, "invalid_client_id"),
        ({"scope": ""}, "invalid_scope"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"redirect_uri": "https://evil.example/"}, "bad_redirect_uri"),
    ],
)
def test_the_page_refuses(slack: FakeSlack, query: dict[str, str], answer: str) -> None:
    status, text = ask(slack.oauth, **query)
    assert status != 302
    assert answer in text


async def test_a_code_gives_a_token_of_its_workspace_once(slack: FakeSlack) -> None:
    with FakeSlack(beside=slack, tenant=Tenant("T2", "U2BOT", "B2", "Other")) as other:
        other.add_user("U7", "eve")
        given = code(slack.oauth, cookie="T2-U7")
        reply = await access(slack, code=given)
        assert (reply["team"]["id"], reply["authed_user"]["id"]) == ("T2", "U7")
        assert reply["scope"] == SCOPE
        me = await client_of(other).auth_test()
        assert (me["team_id"], me["bot_id"]) == ("T2", "B2")
        assert not slack.installed
        assert (await refusal(access(slack, code=given)))["error"] == "invalid_code"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"client_id": "other"}, "invalid_client_id"),
        ({"client_secret": "other"}, "bad_client_secret"),
        ({"code": "1.invented"}, "invalid_code"),
        ({"redirect_uri": f"{BACK}/other"}, "bad_redirect_uri"),
        ({"grant_type": "password"}, "invalid_grant_type"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, "invalid_refresh_token"),
    ],
)
async def test_an_exchange_is_refused(slack: FakeSlack, given: dict[str, str], error: str) -> None:
    fresh = code(slack.oauth)
    assert (await refusal(access(slack, **{"code": fresh, **given})))["error"] == error
    assert not slack.installed


async def test_a_redirect_uri_that_was_asked_for_must_be_told_again(slack: FakeSlack) -> None:
    fresh = code(slack.oauth, redirect_uri=BACK)
    assert (await refusal(access(slack, code=fresh)))["error"] == "bad_redirect_uri"
    fresh = code(slack.oauth, redirect_uri=BACK)
    assert (await access(slack, code=fresh, redirect_uri=BACK))["ok"]


async def test_a_code_is_good_for_ten_minutes(slack: FakeSlack) -> None:
    fresh = code(slack.oauth)
    slack.advance(CODE_SECONDS + 1)
    assert (await refusal(access(slack, code=fresh)))["error"] == "invalid_code"


async def test_a_refresh_token_is_good_once(slack: FakeSlack) -> None:
    slack.oauth.rotating = True
    first = await access(slack, code=code(slack.oauth))
    given = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = await access(slack, **given)
    assert second["access_token"] == slack.bot_token != first["access_token"]
    assert (await refusal(access(slack, **given)))["error"] == "invalid_refresh_token"


async def test_a_removed_app_is_refused_and_told_nothing(slack: FakeSlack) -> None:
    await access(slack, code=code(slack.oauth))
    assert [one.event["type"] for one in slack.uninstall()] == ["tokens_revoked", "app_uninstalled"]
    assert (await refusal(call(slack, "auth.test")))["error"] == "account_inactive"
    slack.add_channel("C1", "general", members=["U1"])
    assert not slack.say("U1", "C1", "hello?").deliveries
