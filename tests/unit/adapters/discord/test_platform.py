"""Discord as a platform: logging in, losing the connection, coming back, ending; the doctor."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import aiohttp
import discord
import pytest
from discord.gateway import DiscordWebSocket
from structlog.testing import capture_logs

from adapters.discord.client import FootnoteClient
from adapters.discord.platform import (
    PERMISSIONS,
    examine,
    invitation,
    needed_permissions,
    open_discord,
)
from adapters.discord.settings import DiscordSettings
from bot.core.errors import CredentialsRefused, FootnoteError, InvalidSetting, PlatformUnavailable
from bot.core.measurements import Observed
from bot.core.messages import RunOptions, Thread
from bot.core.posting import PostState, RunRef
from bot.operation.configuration import load_settings
from bot.storage.store import open_store
from bot.storage.workspaces import Workspaces
from tests.fakes.egress_proxy import egress_proxy
from tests.unit.adapters.discord.conftest import Open
from tests.unit.adapters.discord.way_in import HOW_TALL, Room, Running, a_thread, settings_of
from tests.unit.samples import a_message

MESSAGE_CONTENT = 1 << 15


async def test_requests_and_the_gateway_come_through_the_proxy(
    open_footnote: Open, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    port = urlsplit(room.discord.url).port or 0
    async with egress_proxy("honest", port, "hunter2") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url_with_password)
        async with open_footnote() as here:
            room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
            await here.asked()
    asked = [urlsplit(each.split(" ")[1]) for each in proxy.asked]
    assert any(each.path.endswith("/users/@me") for each in asked)
    assert any("encoding=json" in each.query for each in asked)  # the gateway


# ---------------------------------------------------------------- logging in


async def test_it_asks_for_the_least_that_works(here: Running, room: Room) -> None:
    intents = discord.Intents.none()
    intents.value = room.discord.gateway.identified[0]["intents"]
    assert {name for name, on in intents if on} == {
        "guilds",
        "guild_messages",
        "dm_messages",
        "guild_reactions",
        "dm_reactions",
        "message_content",
    }
    assert list(here.client.cached_messages) == []
    assert here.client.guilds[0].member_count is not None
    assert [m.id for m in here.client.guilds[0].members] in ([], [here.client.application_id])


async def test_it_runs_as_many_shards_as_discord_says(open_footnote: Open, room: Room) -> None:
    room.discord.gateway.shards = 2
    async with open_footnote() as here:
        assert here.client.shard_count == 2
        assert [identified["shard"] for identified in room.discord.gateway.identified] == [
            [0, 2],
            [1, 2],
        ]
        await here.barrier(room.ada, room.general)
        room.discord.people.say(room.ada, room.discord.direct(room.ada), HOW_TALL)
        await here.asked(2)


async def test_every_call_is_counted_with_its_resource_and_status(
    room: Room, tmp_path: Path
) -> None:
    observed = Observed()
    for token in (room.discord.token, "wrong"):
        settings = settings_of(room.discord, tmp_path, discord_token=token)
        async with open_discord(settings, None, observed) as platform:  # type: ignore[arg-type]
            with suppress(CredentialsRefused):
                await platform.reach()
    calls = observed.calls
    assert calls.counts["discord", "users/@me", "200"] == 1
    assert calls.counts["discord", "users/@me", "401"] == 1


async def test_a_refused_token_is_named(room: Room, tmp_path: Path) -> None:
    settings = settings_of(room.discord, tmp_path, discord_token="wrong")
    store = await open_store(settings.database)
    async with open_discord(settings, Workspaces(store.database)) as platform:
        with pytest.raises(CredentialsRefused, match="DISCORD_TOKEN") as refused:
            await platform.run(None, lambda: None)  # type: ignore[arg-type]
        assert "wrong" not in str(refused.value)
    await store.close()


async def test_a_token_that_is_reset_while_it_runs_is_named(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote() as here:
        room.discord.app.token = "another"
        room.discord.gateway.forget_sessions()
        room.discord.gateway.close(4004)
        with pytest.raises(CredentialsRefused, match="DISCORD_TOKEN"):
            await here.listening


async def test_while_discord_is_away_it_keeps_trying(
    open_footnote: Open, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.client.FIRST_WAIT", 0.01)
    room.discord.down("reset", where="/users/@me", times=5)
    with capture_logs() as logs:
        async with open_footnote() as here:
            await here.barrier(room.ada, room.general)
    away = [line for line in logs if line["event"] == "discord not reached"]
    assert away
    assert all("\n" not in line["error"] for line in away)


async def test_a_reply_waits_for_the_login_and_then_counts_discord_as_away(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.limits.LOGIN_SECONDS", 0.05)
    room.discord.down("reset", where="/users/@me")
    settings = settings_of(room.discord, tmp_path)
    store = await open_store(settings.database)
    async with open_discord(settings, Workspaces(store.database)) as platform:
        with pytest.raises(PlatformUnavailable):
            await platform.poster.open(a_run(room), None)
    await store.close()


def a_run(room: Room) -> RunRef:
    async def save(state: PostState) -> None: ...

    async def move(thread: Thread) -> None: ...

    thread = Thread("discord", room.guild.id, room.general.id, "5")
    return RunRef("r1", a_message(thread=thread), RunOptions(), save, move)


async def test_the_api_of_the_settings_is_used_for_as_long_as_it_is_open(
    open_footnote: Open, room: Room
) -> None:
    base, gateway = discord.http.Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with open_footnote():
        assert room.discord.url == discord.http.Route.BASE
        assert str(DiscordWebSocket.DEFAULT_GATEWAY).startswith(room.discord.gateway.url)
    assert (base, gateway) == (discord.http.Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)


# ---------------------------------------------------------------- the message-content intent


async def test_without_the_content_intent_mentions_and_direct_messages_still_work(
    open_footnote: Open, room: Room
) -> None:
    room.discord.app.content_intent = False
    with capture_logs() as logs:
        async with open_footnote() as here:
            assert not room.discord.gateway.identified[0]["intents"] & MESSAGE_CONTENT
            thread = await a_thread(here, room)
            room.discord.people.say(room.bob, thread, "I am not shown to anybody.")
            room.discord.people.say(room.ada, room.discord.direct(room.ada), "In private?")
            await here.asked(2)
            room.discord.people.say(room.bob, thread, "And how old?", mentions_bot=True)
            await here.asked(3)
            assert here.questions == [HOW_TALL, "In private?", "And how old?"]
    (line,) = [line for line in logs if line["event"] == "no message content"]
    assert "follow-ups need a mention" in line["hint"]


async def test_a_content_intent_that_is_switched_off_later_is_done_without(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote() as here:
        await a_thread(here, room)
        room.discord.app.content_intent = False
        room.discord.gateway.forget_sessions()
        room.discord.gateway.drop()
        await here.until(
            lambda: not room.discord.gateway.identified[-1]["intents"] & MESSAGE_CONTENT
        )
        await here.until(lambda: room.discord.gateway.connected)
        await here.barrier(room.ada, room.general)
        assert not here.client.intents.message_content


# ---------------------------------------------------------------- losing the connection


@pytest.mark.parametrize("how", ["drop", "close", "ask_to_reconnect"])
async def test_a_resumed_session_loses_and_doubles_nothing(
    here: Running, room: Room, how: str
) -> None:
    thread = await a_thread(here, room)
    gateway = room.discord.gateway
    if how == "ask_to_reconnect":
        gateway.ask_to_reconnect()
    elif how == "close":
        gateway.close(4000)
    else:
        gateway.drop()
    for number in range(5):
        room.discord.people.say(room.bob, thread, f"Question {number}?", mentions_bot=True)
    await here.until(lambda: gateway.resumes)
    await here.asked(6)
    await here.barrier(room.ada, thread)
    assert here.questions == [HOW_TALL, *(f"Question {n}?" for n in range(5)), "Barrier?"]


async def test_what_was_said_before_a_new_session_is_read(here: Running, room: Room) -> None:
    thread = await a_thread(here, room)
    direct = room.discord.direct(room.ada)
    room.discord.people.say(room.ada, direct, "In private?")
    await here.asked(2)
    gateway = room.discord.gateway
    gateway.refuse_connections()
    gateway.forget_sessions()
    gateway.drop()
    room.discord.people.say(room.bob, thread, "While you were away?", mentions_bot=True)
    room.discord.people.say(room.bob, thread, f"<@{room.ada.id}> hello")
    room.discord.people.say(room.ada, direct, "Are you there?")
    gateway.refuse_connections(False)
    await here.asked(4)
    await here.barrier(room.ada, thread)
    assert sorted(here.questions) == sorted(
        [HOW_TALL, "In private?", "While you were away?", "Are you there?", "Barrier?"]
    )


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_mention_in_a_channel_is_read_after_a_gap(
    open_footnote: Open, room: Room, restarted: bool
) -> None:
    gateway = room.discord.gateway
    quiet = room.discord.text(room.guild, "quiet")
    room.discord.people.say(room.bob, quiet, f"<@{room.discord.app.id}> Before your time?")
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(open_footnote())
        await here.barrier(room.ada, room.general)
        if restarted:
            await stack.aclose()
        else:
            gateway.refuse_connections()
            gateway.forget_sessions()
            gateway.drop()
        busy = room.discord.text(room.guild, "busy")
        for number in range(120):  # more than a page of its history holds
            room.discord.people.say(room.bob, busy, f"Chatter {number}")
        room.discord.people.say(room.bob, busy, f"<@{room.discord.app.id}> In a channel?")
        room.discord.people.say(room.bob, room.general, f"<@{room.discord.app.id}> In another?")
        if restarted:
            here = await stack.enter_async_context(open_footnote())
        else:
            gateway.refuse_connections(False)
        asked = ["In a channel?", "In another?"]
        await here.asked(2 if restarted else 3)
        await here.barrier(room.ada, room.general)
        barriers = ["Barrier?"] if restarted else ["Barrier?", "Barrier?"]
        assert sorted(here.questions) == sorted([*asked, *barriers])
        assert not room.discord.requests("GET", f"/channels/{quiet.id}/messages")


async def test_what_was_said_between_two_processes_is_read(open_footnote: Open, room: Room) -> None:
    async with open_footnote() as here:
        thread = await a_thread(here, room)
    room.discord.people.say(room.bob, thread, "While you were away?", mentions_bot=True)
    async with open_footnote() as here:
        await here.asked()
        assert here.questions == ["While you were away?"]
    async with open_footnote() as here:
        await here.barrier(room.ada, thread)
        assert here.questions == ["Barrier?"]


async def test_an_old_stop_stops_nothing_new(open_footnote: Open, room: Room) -> None:
    async with open_footnote() as here:
        thread = await a_thread(here, room)
        room.discord.people.say(room.bob, thread, "stop", mentions_bot=True)
        await here.until(lambda: room.discord.posts(thread))
        facts = await here.workspaces.facts("discord", room.discord.app.id)
        assert int(facts["places"][0][2]) >= int(room.discord.posts(thread)[0].reply_to or 0)


async def test_a_question_waits_until_its_channel_could_be_asked_for(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote() as here:
        thread = await a_thread(here, room)
    room.discord.people.say(room.bob, thread, "While you were away?", mentions_bot=True)
    room.discord.people.archive(thread)  # a new session is not told about archived threads
    asked: list[str] = []

    def lose_two(request: str, done: bool) -> bool:
        if done or not request.endswith(f"/channels/{thread.id}"):
            return True
        asked.append(request)
        return len(asked) > 2

    room.discord.watch(lose_two)
    async with open_footnote() as here:
        await here.asked()
        assert here.questions == ["While you were away?"]
    assert len(asked) == 3


async def test_a_question_waits_until_the_roles_of_its_author_could_be_asked_for(
    open_footnote: Open, room: Room
) -> None:
    role = room.discord.role(room.guild, "Researchers")
    room.discord.join(room.guild, room.ada, role)
    async with open_footnote(allow_roles=role.id) as here:
        thread = await a_thread(here, room)
    room.discord.people.say(room.ada, thread, "While you were away?", mentions_bot=True)
    room.discord.cut(where="/members/", times=2)  # aiohttp itself comes again once
    async with open_footnote(allow_roles=role.id) as here:
        await here.asked()
        assert here.questions == ["While you were away?"]
    assert len(room.discord.requests("GET", "/members/")) == 3


async def test_a_thread_that_is_gone_is_not_asked_again(open_footnote: Open, room: Room) -> None:
    async with open_footnote() as here:
        thread = await a_thread(here, room)
    room.discord.people.delete_channel(thread)
    async with open_footnote() as here:
        await here.until(lambda: room.discord.requests("GET", f"/channels/{thread.id}"))
        await here.barrier(room.ada, room.general)
    before = len(room.discord.requests("GET", f"/channels/{thread.id}"))
    async with open_footnote() as here:
        await here.barrier(room.ada, room.general)
    assert len(room.discord.requests("GET", f"/channels/{thread.id}")) == before


# ---------------------------------------------------------------- ending


async def test_answers_can_be_posted_after_it_stopped_listening(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote() as here:
        here.listening.cancel()
        with suppress(asyncio.CancelledError):
            await here.listening
        await here.until(lambda: not room.discord.gateway.connected)
        channel = here.client.get_partial_messageable(int(room.general.id))
        await channel.send("Still here")
    assert room.discord.posts(room.general)[0].content == "Still here"


async def test_it_leaves_nothing_open_even_if_it_never_ran(room: Room, tmp_path: Path) -> None:
    settings = settings_of(room.discord, tmp_path)
    async with open_discord(settings, None) as platform:  # type: ignore[arg-type]
        client = platform._client
    assert client.is_closed()
    with pytest.raises((RuntimeError, aiohttp.ClientError)):
        await client.application_info()


def test_a_client_keeps_no_secret_in_its_looks() -> None:
    assert "token" not in repr(FootnoteClient())


# ---------------------------------------------------------------- the check


async def test_a_sound_application_is_told_with_its_invitation(room: Room, tmp_path: Path) -> None:
    told = str(await examine(settings_of(room.discord, tmp_path)))
    assert told.startswith("footnote is in one server. Add it to a server at https://")
    assert invitation(int(room.discord.app.id)) in told


async def test_a_missing_intent_is_named_with_its_place(room: Room, tmp_path: Path) -> None:
    room.discord.app.content_intent = False
    with pytest.raises(FootnoteError, match="Message Content Intent under Bot") as missing:
        await examine(settings_of(room.discord, tmp_path))
    assert "client_id" in missing.value.sentence


async def test_a_refused_token_is_named_and_not_shown(room: Room, tmp_path: Path) -> None:
    with pytest.raises(CredentialsRefused, match="DISCORD_TOKEN") as refused:
        await examine(settings_of(room.discord, tmp_path, discord_token="a-wrong-token"))
    assert "a-wrong-token" not in str(refused.value)


async def test_an_absent_discord_is_no_wrong_token(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.platform.LOGIN_SECONDS", 0.5)
    room.discord.down("reset")
    with pytest.raises(PlatformUnavailable, match="cannot be reached"):
        await examine(settings_of(room.discord, tmp_path))


@pytest.mark.parametrize(
    ("settings", "installable", "warned"),
    [
        ({"discord_strangers": "on"}, True, "FOOTNOTE_DISCORD_STRANGERS=on lets them"),
        ({"guests": "members"}, True, "FOOTNOTE_GUESTS=members lets them"),
        ({"discord_strangers": "on"}, False, ""),
        ({}, True, ""),
    ],
)
async def test_the_doctor_warns_of_documents_for_strangers(
    room: Room, tmp_path: Path, settings: dict[str, str], installable: bool, warned: str
) -> None:
    room.discord.app.user_installable = installable
    told = str(await examine(settings_of(room.discord, tmp_path, **settings)))
    assert ("lets them search documents" in told) == bool(warned)
    assert warned in told


async def test_without_a_token_there_is_nothing_to_examine() -> None:
    with pytest.raises(InvalidSetting, match="DISCORD_TOKEN"):
        await examine(cast(DiscordSettings, load_settings()))


def test_the_invitation_asks_for_what_is_needed_and_nothing_else() -> None:
    query = parse_qs(urlsplit(invitation(12)).query)
    assert query["client_id"] == ["12"]
    assert set(query["scope"][0].split()) == {"bot", "applications.commands"}
    asked = discord.Permissions(int(query["permissions"][0]))
    assert asked == needed_permissions()
    assert all(getattr(asked, name) for name in PERMISSIONS)
    assert asked.value.bit_count() == len(PERMISSIONS)


@pytest.mark.parametrize("never", ["administrator", "manage_guild", "mention_everyone"])
def test_no_power_is_asked_for(never: str) -> None:
    assert not getattr(needed_permissions(), never)
