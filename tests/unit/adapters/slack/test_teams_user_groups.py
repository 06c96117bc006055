"""The members of user groups: asked of Slack seldom, and forgotten within a minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.slack.calls import Calls
from adapters.slack.teams import GROUPS_SECONDS, OneTeam, UserGroups
from bot.core.messages import Author, Thread
from tests.contract.slack_harness import ADA, BOB, QUICK, SlackHarness, slack_stage
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_workspace import Tenant

METHOD = "usergroups.users.list"


class Clock:
    """A clock that a test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackHarness]:
    async with slack_stage(tmp_path) as stage:
        stage.slack.workspace.user_groups = {"SHR": {ADA}, "SENG": {ADA, BOB}}
        yield stage


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def groups(stage: SlackHarness, clock: Clock) -> UserGroups:
    return UserGroups(Calls(stage.client, QUICK), clock)


def asked(stage: SlackHarness) -> list[str]:
    """The groups that Slack was asked for."""
    return [call.args["usergroup"] for call in stage.slack.calls(METHOD)]


async def test_those_of_the_groups_are_told_that_somebody_is_in(groups: UserGroups) -> None:
    assert await groups.groups_held(ADA, {"SHR", "SENG"}) == {"SHR", "SENG"}
    assert await groups.groups_held(BOB, {"SHR", "SENG"}) == {"SENG"}
    assert await groups.groups_held("U404", {"SHR", "SENG"}) == frozenset()
    assert await groups.groups_held(ADA, ()) == frozenset()


async def test_only_the_groups_in_question_are_asked_for(
    stage: SlackHarness, groups: UserGroups
) -> None:
    await groups.groups_held(ADA, {"SHR"})
    assert asked(stage) == ["SHR"]


# ---------------------------------------------------------------- seldom


async def test_a_group_is_asked_for_once_a_minute_whoever_is_meant(
    stage: SlackHarness, groups: UserGroups, clock: Clock
) -> None:
    for person in (ADA, BOB, ADA):
        await groups.groups_held(person, {"SHR", "SENG"})
    assert asked(stage) == ["SENG", "SHR"]
    clock.advance(GROUPS_SECONDS + 0.1)
    await groups.groups_held(ADA, {"SHR"})
    assert asked(stage) == ["SENG", "SHR", "SHR"]


async def test_many_who_ask_at_once_share_one_call(stage: SlackHarness, groups: UserGroups) -> None:
    stage.slack.slow(0.05, METHOD)
    held = await asyncio.gather(*(groups.groups_held(ADA, {"SHR", "SENG"}) for _ in range(20)))
    assert held == [{"SHR", "SENG"}] * 20
    assert sorted(asked(stage)) == ["SENG", "SHR"]


@pytest.mark.parametrize("group", ["SHR", "SGONE"])
async def test_nobody_is_in_a_group_that_slack_limits_or_does_not_know(
    stage: SlackHarness, groups: UserGroups, group: str
) -> None:
    """It is asked for again with the next question."""
    await groups.groups_held(ADA, {"SENG"})
    if group == "SHR":
        stage.slack.storm(METHOD, 1)
    assert await groups.groups_held(ADA, {group, "SENG"}) == {"SENG"}
    stage.slack.workspace.user_groups["SGONE"] = {ADA}
    assert await groups.groups_held(ADA, {group, "SENG"}) == {group, "SENG"}
    assert asked(stage).count("SENG") == 1


# ---------------------------------------------------------------- never more than Slack tells


@pytest.mark.parametrize("what", ["deleted", "scope", "limited", "503", "reset"])
async def test_what_was_known_does_not_outlive_its_minute_when_slack_tells_no_more(
    stage: SlackHarness,
    groups: UserGroups,
    clock: Clock,
    what: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert await groups.groups_held(ADA, {"SHR"}) == {"SHR"}
    match what:
        case "deleted":
            del stage.slack.workspace.user_groups["SHR"]
        case "scope":
            stage.slack.workspace.scopes.discard("usergroups:read")
        case "limited":
            stage.slack.storm(METHOD, 10)
        case _:
            stage.slack.down(what)
    assert await groups.groups_held(ADA, {"SHR"}) == {"SHR"}  # still of the last minute
    clock.advance(GROUPS_SECONDS + 0.1)
    capsys.readouterr()
    assert await groups.groups_held(ADA, {"SHR"}) == frozenset()
    told = capsys.readouterr().out
    assert "user group not looked up" in told
    assert "SHR" in told


async def test_a_missing_scope_is_named(
    stage: SlackHarness, groups: UserGroups, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.slack.workspace.scopes.discard("usergroups:read")
    assert await groups.groups_held(ADA, {"SHR"}) == frozenset()
    assert "usergroups:read" in capsys.readouterr().out


# ---------------------------------------------------------------- by the poster


async def test_the_poster_tells_the_groups_of_a_messages_author(stage: SlackHarness) -> None:
    ours = stage.ask("How tall is it?")
    bobs = stage.ask_in(ours, "And how old?")
    poster = stage.poster()
    assert await poster.groups(ours, {"SHR", "SENG"}) == {"SHR", "SENG"}
    assert await poster.groups(bobs, {"SHR", "SENG"}) == {"SENG"}
    assert all("team_id" not in call.args for call in stage.slack.calls(METHOD))


async def test_in_an_organisation_the_groups_of_the_authors_workspace_are_meant(
    stage: SlackHarness, tmp_path: Path
) -> None:
    tenant = Tenant(team="T0PART", enterprise="E0ORG", whole=True)
    with FakeSlack(tenant=tenant) as slack:
        slack.add_user(ADA, "ada")
        slack.workspace.user_groups = {"SHR": {ADA}}
        client = stage.client
        client.base_url, client.token = slack.api_url, slack.bot_token
        team = OneTeam(client, QUICK).team
        message = replace(
            stage.ask("How tall is it?"),
            thread=Thread("slack", "E0ORG", "C1", "1700000000.000100"),
            author=Author(ADA, "ada"),
        )
        assert await team.groups_of_author(message, {"SHR"}) == {"SHR"}
        (call,) = slack.calls(METHOD)
        assert call.args["team_id"] == "T0PART"
        await team.aclose()
