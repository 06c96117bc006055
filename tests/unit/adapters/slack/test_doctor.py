"""`footnote doctor` on Slack: everything that can be missing is named, with the place to fix it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from slack_sdk.oauth.installation_store import Bot

from adapters.slack.doctor import examine
from adapters.slack.installations import FOR_USER_GROUPS, SCOPES, open_installations
from adapters.slack.settings import SlackSettings
from bot.core.errors import CredentialsRefused, FootnoteError, InvalidSetting, PlatformUnavailable
from bot.core.readership import DocumentCollection
from bot.storage.encryption import new_key
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_workspace import Tenant
from tests.unit.adapters.slack.serving import slack_settings

SECRET = "0123456789abcdef0123456789abcdef"


async def test_what_works_is_told_in_one_sentence(slack: FakeSlack, tmp_path: Path) -> None:
    settings = slack_settings(slack, tmp_path, slack_signing_secret=SECRET)
    assert str(await examine(settings)) == (
        "@footnote is in Footnote Test. Socket Mode works. "
        "Events that arrive at /slack/events are verified."
    )


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_a_missing_scope_is_named(slack: FakeSlack, tmp_path: Path, scope: str) -> None:
    slack.workspace.scopes.discard(scope)
    by_group = DocumentCollection(name="People", paths=("people",), slack_groups=("S1",))
    with pytest.raises(InvalidSetting, match=rf"lacks the scope {scope}\. .*OAuth & Permissions"):
        await examine(slack_settings(slack, tmp_path, collections=(by_group,)))


async def test_it_says_which_messages_are_searched_or_what_that_lacks(
    slack: FakeSlack, tmp_path: Path
) -> None:
    settings = slack_settings(slack, tmp_path, providers=("conversations",))
    lacking = "not searched, because the app lacks the scope search:read.public."
    assert lacking in str(await examine(settings))
    slack.with_scopes("search:read.public", "search:read.im")
    told = str(await examine(settings))
    assert "searched (public channels, direct messages). Files are not searched, because" in told
    slack.with_scopes("search:read.files")
    assert "direct messages). Files are searched, too." in str(await examine(settings))


async def test_groups_are_only_read_where_rights_depend_on_them(
    slack: FakeSlack, tmp_path: Path
) -> None:
    slack.workspace.scopes.discard(FOR_USER_GROUPS)
    assert "is in Footnote Test" in str(await examine(slack_settings(slack, tmp_path)))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slack_bot_token": "xoxb-other"}, "SLACK_BOT_TOKEN .invalid_auth.*api.slack.com/apps"),
        ({"slack_app_token": "xapp-other"}, "SLACK_APP_TOKEN .invalid_auth.*api.slack.com/apps"),
    ],
)
async def test_a_token_slack_does_not_know_is_named(
    slack: FakeSlack, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(CredentialsRefused, match=told):
        await examine(slack_settings(slack, tmp_path, **given))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slack_bot_token": "xapp-1-swapped"}, "SLACK_BOT_TOKEN does not begin with xoxb-"),
        ({"slack_app_token": "xoxb-swapped"}, "SLACK_APP_TOKEN does not begin with xapp-"),
        ({"slack_signing_secret": "short"}, "SLACK_SIGNING_SECRET is not 32 hexadecimal digits"),
    ],
)
async def test_a_token_in_the_wrong_place_is_seen_without_asking(
    slack: FakeSlack, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidSetting, match=told):
        await examine(slack_settings(slack, tmp_path, **given))
    assert not slack.calls()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("missing_scope", "SLACK_APP_TOKEN lacks connections:write"),
        ("not_allowed", "Switch Socket Mode on"),
    ],
)
async def test_a_socket_that_does_not_open_is_explained(
    slack: FakeSlack, tmp_path: Path, error: str, told: str
) -> None:
    slack.refuse("apps.connections.open", error)
    with pytest.raises(FootnoteError, match=told):
        await examine(slack_settings(slack, tmp_path))


@pytest.mark.parametrize("how", ["reset", "503"])
async def test_a_slack_that_is_away_is_told_from_a_wrong_token(
    slack: FakeSlack, tmp_path: Path, how: str
) -> None:
    slack.down(how)
    with pytest.raises(PlatformUnavailable, match="FOOTNOTE_SLACK_API_URL"):
        await examine(slack_settings(slack, tmp_path))


async def test_no_secret_is_ever_told(slack: FakeSlack, tmp_path: Path) -> None:
    for token in ("xoxb-my-secret", "my-secret"):
        with pytest.raises(FootnoteError) as failure:
            await examine(slack_settings(slack, tmp_path, slack_bot_token=token))
        assert "my-secret" not in str(failure.value)


# ---------------------------------------------------------------- several workspaces

KEY = new_key()
PUBLIC = "https://footnote.example.com"
# slack_sdk (3.47) authenticates apps by what aiohttp (3.14) is about to rename.
basic = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")


def of_many(slack: FakeSlack, folder: Path, **given: Any) -> SlackSettings:
    return slack_settings(
        slack,
        folder,
        **{
            "slack_bot_token": None,
            "slack_client_id": slack.oauth.client_id,
            "slack_client_secret": slack.oauth.client_secret,
            "encryption_keys": KEY,
            "public_url": PUBLIC,
            **given,
        },
    )


async def installed(settings: SlackSettings, *tenants: FakeSlack) -> None:
    async with open_installations(settings) as installations:
        for slack in tenants:
            slack.granted(f"xoxb-{slack.team}", slack.workspace.manifest.scopes)
            await installations.async_save_bot(
                Bot(
                    app_id=slack.app_id,
                    team_id=slack.team,
                    team_name=slack.workspace.name,
                    bot_token=slack.bot_token,
                    bot_id=slack.bot_id,
                    bot_user_id=slack.bot_user,
                    installed_at=1.0,
                )
            )


@basic
async def test_it_tells_where_it_is_installed_and_where_it_can_be(
    slack: FakeSlack, tmp_path: Path
) -> None:
    settings = of_many(slack, tmp_path)
    told = str(await examine(settings))
    assert told.startswith("No workspace has installed the app yet. Install it at")
    assert (
        f" {PUBLIC}/slack/install; Slack then leads back to {PUBLIC}/slack/oauth_redirect." in told
    )
    with FakeSlack(beside=slack, tenant=Tenant("T2", "U2BOT", "B2", "Other")) as other:
        await installed(settings, slack, other)
        told = str(await examine(settings))
    assert told.startswith("2 workspaces have installed the app: Footnote Test, Other. ")


@basic
async def test_without_a_public_address_it_tells_the_one_it_listens_on(
    slack: FakeSlack, tmp_path: Path
) -> None:
    told = str(await examine(of_many(slack, tmp_path, public_url="")))
    assert "http://127.0.0.1:8080/slack/install" in told


@basic
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slack_client_id": "1.1"}, "SLACK_CLIENT_ID .invalid_client_id"),
        ({"slack_client_secret": "other"}, "SLACK_CLIENT_SECRET .bad_client_secret"),
    ],
)
async def test_an_app_slack_does_not_know_is_named(
    slack: FakeSlack, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(CredentialsRefused, match=told) as error:
        await examine(of_many(slack, tmp_path, **given))
    assert "other" not in error.value.sentence


@basic
async def test_a_key_that_does_not_fit_is_told(slack: FakeSlack, tmp_path: Path) -> None:
    await installed(of_many(slack, tmp_path), slack)
    with pytest.raises(InvalidSetting, match="No key of FOOTNOTE_ENCRYPTION_KEYS"):
        await examine(of_many(slack, tmp_path, encryption_keys=new_key()))


@basic
async def test_a_workspace_that_ended_its_token_is_named(slack: FakeSlack, tmp_path: Path) -> None:
    settings = of_many(slack, tmp_path)
    await installed(settings, slack)
    slack.revoke("account_inactive")
    with pytest.raises(CredentialsRefused, match=rf"of Footnote Test\. .*{PUBLIC}/slack"):
        await examine(settings)


@basic
async def test_a_workspace_that_lacks_a_scope_is_named(slack: FakeSlack, tmp_path: Path) -> None:
    settings = of_many(slack, tmp_path)
    await installed(settings, slack)
    slack.without_scopes("files:read")
    with pytest.raises(InvalidSetting, match="the scope files:read in Footnote Test"):
        await examine(settings)


async def test_a_bot_token_that_hides_several_workspaces_is_told(
    slack: FakeSlack, tmp_path: Path
) -> None:
    told = str(await examine(of_many(slack, tmp_path, slack_bot_token=slack.bot_token)))
    assert "SLACK_CLIENT_ID is not used while SLACK_BOT_TOKEN is set." in told
