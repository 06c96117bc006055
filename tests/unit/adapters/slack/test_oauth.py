"""Several workspaces: how they install the app, whose events are whose, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from adapters.slack.installations import SCOPES, SEARCH_SCOPES, workspace_of
from bot.core.errors import InvalidSetting
from bot.storage.encryption import new_key
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import EVENT, Delivery
from tests.fakes.slack_events import callback, endings
from tests.fakes.slack_stage import Browser
from tests.fakes.slack_workspace import Tenant
from tests.unit.adapters.slack.serving import MANIFEST, Served, open_door, served

# slack_sdk (3.47) authenticates apps by what aiohttp (3.14) is about to rename.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

KEY = new_key()
OTHER = Tenant("T0OTHER", "U0OTHERBOT", "B0OTHERBOT", "Other Company", "other")
WHOLE = Tenant("T0PART", "U0ORGBOT", "B0ORGBOT", "Whole Org", "org", "E0ORG", whole=True)
BRISK: dict[str, Any] = {"ack_seconds": 0.8, "redelivery": (0.0, 0.05, 0.05)}


def furnish(slack: FakeSlack) -> None:
    slack.add_user("U1", "ada")
    slack.add_channel("C1", "general", members=["U1"])


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(MANIFEST, installed=False, **BRISK) as slack:
        furnish(slack)
        yield slack


@pytest.fixture
def other(slack: FakeSlack) -> Iterator[FakeSlack]:
    with FakeSlack(beside=slack, tenant=OTHER, **BRISK) as other:
        furnish(other)
        yield other


@pytest.fixture
def organisation(slack: FakeSlack) -> Iterator[FakeSlack]:
    with FakeSlack(beside=slack, tenant=WHOLE, **BRISK) as organisation:
        furnish(organisation)
        yield organisation


@dataclass
class Many:
    """A served app that can be installed at ``http``; events come by Socket Mode."""

    bot: Served
    http: str

    async def install(self, slack: FakeSlack) -> None:
        await asyncio.to_thread(Browser(slack, "U1").install, self.http)


@asynccontextmanager
async def serving_many(
    slack: FakeSlack, folder: Path, *, post: bool = False, **settings: Any
) -> AsyncIterator[Many]:
    given = {
        "slack_bot_token": None,
        "slack_client_id": slack.oauth.client_id,
        "slack_client_secret": slack.oauth.client_secret,
        "slack_signing_secret": slack.signing_secret,
        "encryption_keys": KEY,
        **settings,
    }
    if post:
        given["answering"] = lambda platform, _: platform.poster
    async with served(slack, folder, **given) as bot, open_door(bot) as address:
        http = address.removesuffix("/slack/events")
        slack.oauth.redirect_urls = [f"{http}/slack/oauth_redirect"]
        yield Many(bot, http)


@pytest.fixture
async def many(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Many]:
    async with serving_many(slack, tmp_path) as many:
        yield many


# ---------------------------------------------------------------- installing


async def test_slack_is_asked_for_the_scopes_of_the_manifest(many: Many, slack: FakeSlack) -> None:
    url = await asyncio.to_thread(Browser(slack, "U1").to_slack, many.http)
    asked = dict(parse_qsl(urlsplit(url).query))
    assert url.startswith(f"{slack.base}/oauth/v2/authorize?")
    assert set(asked["scope"].split(",")) == SCOPES
    assert asked["client_id"] == slack.oauth.client_id
    assert "user_scope" not in asked
    assert "redirect_uri" not in asked  # Slack takes the app's first


async def test_scopes_for_searching_messages_are_asked_for_where_the_operator_says_so(
    slack: FakeSlack, tmp_path: Path
) -> None:
    searched: dict[str, Any] = {"providers": "wikipedia,conversations", "conversations": True}
    async with serving_many(slack, tmp_path, **searched) as many:
        url = await asyncio.to_thread(Browser(slack, "U1").to_slack, many.http)
        asked = dict(parse_qsl(urlsplit(url).query))
        assert set(asked["scope"].split(",")) == SCOPES | set(SEARCH_SCOPES)
        await many.install(slack)
        assert set(SEARCH_SCOPES) <= slack.workspace.scopes


async def test_the_public_address_is_where_slack_sends_back_to(
    slack: FakeSlack, tmp_path: Path
) -> None:
    async with serving_many(slack, tmp_path, public_url="https://footnote.example.com/") as many:
        url = await asyncio.to_thread(Browser(slack, "U1").to_slack, many.http)
        asked = dict(parse_qsl(urlsplit(url).query))
        assert asked["redirect_uri"] == "https://footnote.example.com/slack/oauth_redirect"


async def test_the_state_is_bound_to_one_browser_and_good_once(
    many: Many, slack: FakeSlack
) -> None:
    def try_all() -> list[tuple[int, str]]:
        browser = Browser(slack, "U1")
        address = browser.back(browser.to_slack(many.http))
        cookie = dict(browser.cookies)
        forged = address.replace("state=", "state=x")
        tries = [
            (Browser(slack, "U1"), address),  # another browser
            (Browser(slack, "U1", dict(cookie)), forged),
            (browser, address),
            (Browser(slack, "U1", dict(cookie)), address),  # once more
        ]
        answers = [one.get(url) for one, url in tries]
        reasons = ("invalid_browser", "invalid_state", "Thank you")
        return [
            (answer.status_code, next(one for one in reasons if one in answer.text))
            for answer in answers
        ]

    assert await asyncio.to_thread(try_all) == [
        (400, "invalid_browser"),
        (400, "invalid_browser"),
        (200, "Thank you"),
        (401, "invalid_state"),
    ]
    assert len(slack.oauth.exchanges) == 1


async def test_an_admin_who_says_no_is_told_so(many: Many, slack: FakeSlack) -> None:
    def say_no() -> str:
        browser = Browser(slack, "U1")
        return browser.get(slack.oauth.refuse(browser.to_slack(many.http))).text

    assert "access_denied" in await asyncio.to_thread(say_no)
    assert not slack.installed


@pytest.mark.parametrize("trouble", ["secret", "away", "storage"])
async def test_what_goes_wrong_is_a_page_and_nothing_is_kept(
    many: Many, slack: FakeSlack, trouble: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def try_it() -> tuple[int, str]:
        browser = Browser(slack, "U1")
        address = browser.back(browser.to_slack(many.http))
        if trouble == "secret":
            slack.oauth.client_secret = "changed"
        if trouble == "away":
            slack.down("reset")
        answer = browser.get(address)
        slack.up()
        return answer.status_code, answer.text

    if trouble == "storage":
        async with many.bot.store.database.write() as db:
            await db.exec_driver_sql("DROP TABLE slack_bots")
    status, text = await asyncio.to_thread(try_it)
    assert (status, "Something Went Wrong" in text) == (500 if trouble == "storage" else 401, True)
    assert "not installed" in capsys.readouterr().out or trouble == "secret"


# ---------------------------------------------------------------- whose is whose


async def test_a_mention_of_the_bot_of_another_workspace_is_none(
    many: Many, slack: FakeSlack, other: FakeSlack
) -> None:
    await many.install(slack)
    await many.install(other)
    await slack.say("U1", "C1", f"{other.mention} are you there?").acknowledged()
    await slack.say("U1", "C1", f"{slack.mention} and you?").acknowledged()
    assert [one.text for one in await many.bot.questions(1)] == ["and you?"]


async def test_answers_commands_files_and_homes_go_by_the_workspace(
    slack: FakeSlack, other: FakeSlack, tmp_path: Path
) -> None:
    async with serving_many(slack, tmp_path, post=True) as many:
        await many.install(slack)
        await many.install(other)
        before = len(slack.calls())
        file = other.add_file("U1", "tower.txt", b"The tower is 330 m tall.")
        said = await other.say(
            "U1", "C1", f"{other.mention} how tall?", files=[file]
        ).acknowledged()
        await other.command("U1", "C1", "/ask", "how tall is the tower?").acknowledged()
        await other.open_home("U1").acknowledged()
        await other.until(lambda: other.home("U1"))
        assert await many.bot.ended(2) == ["answered", "answered"]
        assert other.replies("C1", said.ts)
        assert len(slack.calls()) == before


async def test_an_organisation_is_one_workspace_wherever_its_people_are(
    slack: FakeSlack, organisation: FakeSlack, tmp_path: Path
) -> None:
    async with serving_many(slack, tmp_path, post=True) as many:
        await many.install(organisation)
        said = await organisation.say(
            "U1", "C1", f"{organisation.mention} how tall is the tower?"
        ).acknowledged()
        assert await many.bot.ended(1) == ["answered"]
        assert organisation.replies("C1", said.ts)
        async with many.bot.store.database.read() as db:
            keys = (await db.exec_driver_sql("SELECT workspace FROM threads")).scalars().all()
        assert keys == ["E0ORG"]
        follow_up = organisation.say("U1", "C1", "and in 1900?", thread_ts=said.ts)
        await follow_up.acknowledged()
        assert len(await many.bot.ended(2)) == 2


# ---------------------------------------------------------------- without an installation


async def test_an_event_of_a_stranger_is_acknowledged_and_told_in_one_line(
    many: Many, slack: FakeSlack, other: FakeSlack, capsys: pytest.CaptureFixture[str]
) -> None:
    other.installed = True  # Slack thinks so
    capsys.readouterr()
    said = await other.say("U1", "C1", "hello?").acknowledged()
    assert [len(one.attempts) for one in said.deliveries] == [1]
    lines = [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert len(lines) == 1
    assert "T0OTHER" in lines[0]
    assert not await many.bot.rows("messages")


async def test_a_command_of_a_stranger_is_told_to_install_it(
    many: Many, slack: FakeSlack, other: FakeSlack
) -> None:
    other.installed = True
    doing = await other.command("U1", "C1", "/ask", "how tall is it?").acknowledged()
    (told,) = await other.until(lambda: other.response_urls.received(str(doing.response_url)))
    assert "not installed in this workspace" in told["text"]


async def test_an_event_is_to_come_again_while_the_database_is_away(
    slack: FakeSlack, tmp_path: Path
) -> None:
    async with serving_many(slack, tmp_path, slack_app_token=None) as many:
        slack.deliver_to(f"{many.http}/slack/events")
        await many.install(slack)
        async with many.bot.store.database.write() as db:
            await db.exec_driver_sql("ALTER TABLE slack_bots RENAME TO away")
        lost = slack.say("U1", "C1", "hello?").deliveries[0]
        await lost.over()
        assert [attempt.status for attempt in lost.attempts] == [500] * 4
        async with many.bot.store.database.write() as db:
            await db.exec_driver_sql("ALTER TABLE away RENAME TO slack_bots")
        await slack.say("U1", "C1", f"{slack.mention} and now?").acknowledged()
        await many.bot.questions(1)


# ---------------------------------------------------------------- the end of an installation


async def ends(delivered: list[Delivery]) -> None:
    for delivery in delivered:
        await delivery.acknowledged()


async def test_what_was_removed_is_deleted_and_can_be_installed_again(
    many: Many, slack: FakeSlack, other: FakeSlack
) -> None:
    await many.install(slack)
    await many.install(other)
    await slack.say("U1", "C1", f"{slack.mention} one?").acknowledged()
    await ends(slack.uninstall())
    async with many.bot.store.database.read() as db:
        left = (await db.exec_driver_sql("SELECT team_id FROM slack_installations")).scalars().all()
    assert left == [other.team]
    await many.install(slack)
    await slack.say("U1", "C1", f"{slack.mention} two?").acknowledged()
    asked = await many.bot.questions(2)
    assert [one.text for one in asked] == ["one?", "two?"]


async def test_a_removed_organisation_is_deleted(
    many: Many, slack: FakeSlack, organisation: FakeSlack
) -> None:
    await many.install(organisation)
    await ends(organisation.uninstall())
    assert not await many.bot.platform.teams._store.places()  # type: ignore[union-attr]


async def test_what_other_processes_were_told_is_learned_from_the_database(
    many: Many, slack: FakeSlack
) -> None:
    slack.add_user("U2", "grace")
    slack.workspace.channels["C1"].members.add("U2")
    await many.install(slack)
    await slack.say("U1", "C1", f"{slack.mention} one?").acknowledged()
    teams: Any = many.bot.platform.teams
    slack.end_tokens()
    await teams._store.uninstall(slack.team, datetime.now(UTC))
    teams._known.clear()  # as after a minute
    await slack.say("U2", "C1", f"{slack.mention} two?").acknowledged()
    await many.install(slack)
    await slack.say("U2", "C1", f"{slack.mention} three?").acknowledged()
    asked = await many.bot.questions(2)
    assert [(one.text, one.author.name) for one in asked] == [("one?", "ada"), ("three?", "grace")]


async def test_a_late_word_of_an_earlier_removal_ends_nothing(many: Many, slack: FakeSlack) -> None:
    await many.install(slack)
    payloads = [callback(slack.workspace, event) for event in endings(slack.workspace)]
    for payload in payloads:
        payload["event_time"] -= 3_600
        await slack.deliver(Delivery(EVENT, payload)).acknowledged()
    await slack.say("U1", "C1", f"{slack.mention} still here?").acknowledged()
    await many.bot.questions(1)


async def test_a_persons_token_that_ends_ends_nothing(many: Many, slack: FakeSlack) -> None:
    await many.install(slack)
    event = endings(slack.workspace)[0] | {"tokens": {"oauth": ["U1"], "bot": []}}
    told = slack.tell(event)
    assert told is not None
    await told.acknowledged()
    await slack.say("U1", "C1", f"{slack.mention} still here?").acknowledged()
    await many.bot.questions(1)


# ---------------------------------------------------------------- starting


async def test_a_wrong_key_ends_the_start_with_a_sentence(slack: FakeSlack, tmp_path: Path) -> None:
    async with serving_many(slack, tmp_path) as many:
        await many.install(slack)
    with pytest.raises(InvalidSetting, match="No key of FOOTNOTE_ENCRYPTION_KEYS"):
        async with serving_many(slack, tmp_path, encryption_keys=new_key()):
            pass


async def test_slack_may_be_away_at_the_start(slack: FakeSlack, tmp_path: Path) -> None:
    slack.down("reset")
    async with serving_many(slack, tmp_path, slack_app_token=None) as many:
        assert not many.bot.running.done()
        slack.up()


async def test_nothing_secret_is_logged(
    slack: FakeSlack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving_many(slack, tmp_path, post=True, log_level="debug") as many:
        await many.install(slack)
        await slack.say("U1", "C1", f"{slack.mention} what is my hobby?").acknowledged()
        await many.bot.ended(1)
        await ends(slack.uninstall())
    captured = capsys.readouterr()
    secrets = (slack.bot_token, slack.oauth.client_secret, KEY, "my hobby")
    assert not [one for one in secrets if one in captured.out + captured.err]


@pytest.mark.parametrize(
    ("whole", "enterprise", "team", "workspace"),
    [
        (False, None, "T1", "T1"),
        (False, "E1", "T1", "T1"),
        (True, "E1", "T1", "E1"),
        (True, "E1", None, "E1"),
        (None, "E1", None, "E1"),
        (None, None, None, ""),
    ],
)
def test_an_installation_is_known_by_one_id(
    whole: bool | None, enterprise: str | None, team: str | None, workspace: str
) -> None:
    assert workspace_of(whole, enterprise, team) == workspace
