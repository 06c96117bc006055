"""Workspaces known from the database: looked up seldom, with tokens that are exchanged in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Timing
from adapters.slack.installations import CHANNELS, Installations
from adapters.slack.teams import InstalledTeams, NotInstalled
from bot.core.errors import PlatformUnavailable
from bot.core.messages import Audience, RunOptions, Thread
from bot.core.posting import RunRef, Whereabouts
from bot.storage.database import Database, open_database
from bot.storage.encryption import Seal, new_key
from tests.contract.slack_harness import ADA, SlackHarness, slack_stage
from tests.fakes import sqlite
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_oauth import TOKEN_SECONDS
from tests.unit.adapters.slack.serving import MANIFEST
from tests.unit.samples import a_message

# slack_sdk (3.47) authenticates apps by what aiohttp (3.14) is about to rename.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

KEY = SecretStr(new_key())
HOUR = 3_600


class Counting(Installations):
    """Counts how often the database is asked."""

    asked = 0

    async def bot_of(self, workspace: str) -> Bot | None:
        self.asked += 1
        return await super().bot_of(workspace)


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(MANIFEST, installed=False) as slack:
        slack.oauth.rotating = True
        slack.add_user("U1", "ada")
        slack.add_channel("C1", "general", members=["U1"])
        yield slack


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(sqlite.migrated(tmp_path))
    yield database
    await database.close()


@pytest.fixture
def store(database: Database, slack: FakeSlack) -> Counting:
    return Counting(slack.oauth.client_id, database, Seal([KEY]))


@pytest.fixture
async def process(
    store: Counting, slack: FakeSlack
) -> AsyncIterator[Callable[..., InstalledTeams]]:
    """Makes what one process knows; several share the database."""
    made: list[InstalledTeams] = []

    def make(known_seconds: float = 60.0, installations: Counting = store) -> InstalledTeams:
        client = AsyncWebClient(base_url=slack.api_url, retry_handlers=[])
        rotator = AsyncTokenRotator(
            client_id=slack.oauth.client_id,
            client_secret=slack.oauth.client_secret,
            client=client,
        )
        made.append(InstalledTeams(installations, rotator, client, Timing(), known_seconds))
        return made[-1]

    yield make
    for teams in made:
        await teams.aclose()


async def install(store: Counting, slack: FakeSlack, left: float) -> str:
    """A token that is good for ``left`` seconds, as Slack gave it; returns it."""
    reply = slack.oauth._token(slack, slack.workspace.manifest.scopes)
    await store.async_save_bot(
        Bot(
            app_id=slack.app_id,
            team_id=slack.team,
            bot_token=reply["access_token"],
            bot_id=slack.bot_id,
            bot_user_id=slack.bot_user,
            bot_refresh_token=reply["refresh_token"],
            bot_token_expires_at=int(time.time() + left),
            installed_at=time.time(),
        )
    )
    return str(reply["access_token"])


async def test_a_workspace_is_looked_up_once_for_all_that_ask(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    token = await install(store, slack, 12 * HOUR)
    teams = process()
    found = await asyncio.gather(*(teams.of(slack.team) for _ in range(20)))
    assert len(set(found)) == 1
    assert found[0].calls.client.token == token
    assert store.asked == 1
    assert not slack.calls()  # least of all Slack
    assert token not in repr(await teams.installed(slack.team))


async def test_what_is_known_too_long_is_looked_up_again_and_learned_by_the_same_team(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    await install(store, slack, 12 * HOUR)
    teams = process(known_seconds=0.0)
    before = await teams.of(slack.team)
    token = await install(store, slack, 12 * HOUR)  # installed again, elsewhere
    assert await teams.of(slack.team) is before
    assert before.calls.client.token == token


async def test_where_it_is_not_installed_nobody_speaks(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    teams = process()
    with pytest.raises(NotInstalled, match="not installed in that Slack workspace"):
        await teams.of(slack.team)
    await install(store, slack, 12 * HOUR)
    assert await teams.of(slack.team)  # at once: that it was missing is not remembered


async def test_what_was_forgotten_is_another_team_when_it_comes_back(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    await install(store, slack, 12 * HOUR)
    teams = process()
    before = await teams.of(slack.team)
    await teams.forget(slack.team)
    assert await teams.of(slack.team) is not before


async def test_a_key_that_is_missing_lets_answers_wait(
    store: Counting, slack: FakeSlack, database: Database, process: Callable[..., InstalledTeams]
) -> None:
    await install(store, slack, 12 * HOUR)
    locked = Counting(slack.oauth.client_id, database, Seal([SecretStr(new_key())]))
    with pytest.raises(PlatformUnavailable, match="No key of FOOTNOTE_ENCRYPTION_KEYS"):
        await process(installations=locked).of(slack.team)


# ---------------------------------------------------------------- tokens that expire


async def stored(store: Counting, slack: FakeSlack) -> Bot:
    bot = await store.bot_of(slack.team)
    assert bot is not None
    return bot


async def test_a_token_with_time_left_is_kept(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    token = await install(store, slack, 3 * HOUR)
    assert (await process().of(slack.team)).calls.client.token == token
    assert not slack.oauth.exchanges


async def test_a_token_about_to_expire_is_exchanged_before_it_is_used(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    token = await install(store, slack, 60)
    team = await process().of(slack.team)
    fresh = await stored(store, slack)
    assert team.calls.client.token == fresh.bot_token != token
    assert fresh.bot_token_expires_at is not None
    assert fresh.bot_token_expires_at > time.time() + TOKEN_SECONDS - HOUR
    assert (await team.calls.once("auth.test"))["user_id"] == slack.bot_user
    (exchange,) = slack.oauth.exchanges
    assert exchange["grant_type"] == "refresh_token"


async def test_a_token_with_an_hour_left_is_exchanged_meanwhile(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    token = await install(store, slack, HOUR)
    slack.slow(0.2, "oauth.v2.access")
    team = await process().of(slack.team)
    assert team.calls.client.token == token  # nobody waited
    await slack.until(lambda: slack.oauth.exchanges)
    async with asyncio.timeout(60):
        while team.calls.client.token == token:
            await asyncio.sleep(0.01)
    assert (await stored(store, slack)).bot_token == team.calls.client.token
    slack.up()


async def test_two_processes_that_exchange_at_once_end_with_the_same_token(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    await install(store, slack, 60)
    one, two = process(0.0), process(0.0)
    await asyncio.gather(one.of(slack.team), two.of(slack.team))
    tokens = {(await teams.of(slack.team)).calls.client.token for teams in (one, two)}
    assert tokens == {(await stored(store, slack)).bot_token}


async def test_a_slack_that_is_away_keeps_the_token_and_lets_answers_wait(
    store: Counting, slack: FakeSlack, process: Callable[..., InstalledTeams]
) -> None:
    token = await install(store, slack, 60)
    slack.down("reset")
    teams = process()
    with pytest.raises(PlatformUnavailable):
        await teams.of(slack.team)
    assert (await stored(store, slack)).bot_token == token
    slack.up()
    assert (await teams.of(slack.team)).calls.client.token != token


async def test_a_refusal_to_exchange_leaves_what_there_is(
    store: Counting,
    slack: FakeSlack,
    process: Callable[..., InstalledTeams],
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = await install(store, slack, 60)
    slack.oauth._refreshing.clear()
    assert (await process().of(slack.team)).calls.client.token == token
    said = capsys.readouterr().out
    assert "invalid_refresh_token" in said
    assert token not in said


# ---------------------------------------------------------------- channels


TRAVEL = Thread("slack", "T1", "C7", "1700000000.000100")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackHarness]:
    async with slack_stage(tmp_path) as stage:
        stage.slack.add_channel("C7", "travel", members=[ADA], bot=False)
        stage.slack.add_channel("C8", "secret", kind="group", members=[ADA])
        stage.slack.with_scopes(CHANNELS, "groups:read", "mpim:read", "im:read")
        yield stage


async def located(
    stage: SlackHarness, thread: Thread, event_id: str = "", told: Audience = "channel"
) -> Whereabouts:
    event_id = event_id or f"{thread.channel}:{thread.thread}"
    message = a_message(thread=thread, event_id=event_id)

    async def nothing(_: object) -> None: ...

    run = RunRef("r1", message, RunOptions(audience=told), nothing, nothing)
    return await stage.poster().whereabouts(run)


async def test_a_public_channel_is_everybodys_and_has_a_name(stage: SlackHarness) -> None:
    where = await located(stage, TRAVEL)
    assert (where.channel_name, where.place) == ("travel", TRAVEL.home)
    assert where.url.endswith("/archives/C7/p1700000000000100")


async def test_a_question_that_a_button_asked_is_found_in_its_thread(stage: SlackHarness) -> None:
    where = await located(stage, TRAVEL, "r0:deeper:0a1b2c")
    assert where.url.endswith("/archives/C7/p1700000000000100")
    pending = replace(TRAVEL, thread="pending-1")
    assert (await located(stage, pending, "C7:command:1")).url == ""


async def test_one_that_was_public_once_is_not(stage: SlackHarness) -> None:
    thread = replace(TRAVEL, channel="C8")
    where = await located(stage, thread, told="workspace")
    assert where.place == thread.place


@pytest.mark.parametrize("channel", ["C8", "C404", "direct"])
async def test_nor_is_any_other(stage: SlackHarness, channel: str) -> None:
    id = stage.slack.im(ADA) if channel == "direct" else channel
    thread = replace(TRAVEL, channel=id)
    where = await located(stage, thread)
    assert where.place == thread.place
    assert where.url.endswith(f"/archives/{id}/p1700000000000100")


async def test_without_the_scope_the_event_decides(stage: SlackHarness) -> None:
    stage.slack.without_scopes(CHANNELS)
    for told in get_args(Audience):
        where = await located(stage, TRAVEL, told=told)
        place = TRAVEL.home if told == "workspace" else TRAVEL.place
        assert (where.channel_name, where.place) == ("", place)
    assert stage.slack.calls("conversations.info") == []
