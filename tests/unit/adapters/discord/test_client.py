"""The gateway client: events that cannot be parsed, and what of the library goes to the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.discord.client import SafeParsers, library_log
from tests.fakes.discord_shapes import event_message_json, guild_create_json
from tests.unit.adapters.discord.way_in import Room, Running
from tests.unit.adapters.discord.way_out import a_stage, an_answer

TOKEN = "MTIzNDU2Nzg5.Gabcde.bot-secret"


def told(message: str, *args: object, error: BaseException | None = None) -> dict[str, object]:
    """The line that becomes of one of discord.py's."""
    library_log(TOKEN)
    with capture_logs() as lines:
        logging.getLogger("discord.http").warning(message, *args, exc_info=error)
    (line,) = lines
    return dict(line)


async def test_the_token_of_an_interaction_stands_in_no_log() -> None:
    async with a_stage() as stage:
        kept, asked = await stage.ask(stage.ada, stage.general, "Why?")
        stage.fake.storm(2, 0.01, where="PATCH")
        library_log(stage.fake.token)
        with capture_logs() as lines:
            await stage.answer(kept, an_answer(kept))
        limited = [line["event"] for line in lines if "rate limited" in line["event"]]
        assert any("/webhooks/" in line for line in limited)
        assert asked.token not in str(lines)


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        (
            "PATCH https://discord.com/api/v10/webhooks/12/aW50ZXJ-x_y.z/messages/34 says 429",
            "PATCH https://discord.com/api/v10/webhooks/12/***/messages/34 says 429",
        ),
        ("POST /webhooks/12/secret?wait=true", "POST /webhooks/12/***?wait=true"),
        ("POST /interactions/12/secret/callback", "POST /interactions/12/***/callback"),
        (f"Authorization: Bot {TOKEN}", "Authorization: Bot ***"),
        ("GET /channels/12/messages says 429", "GET /channels/12/messages says 429"),
    ],
)
def test_secrets_in_what_the_library_says_are_masked(said: str, masked: str) -> None:
    assert told("%s", said)["event"] == masked
    assert told("failed", error=OSError(said))["event"] == f"failed: {masked}"


def test_only_the_first_line_of_a_message_is_told_and_an_empty_one_is_no_error() -> None:
    assert told("one\ntwo")["event"] == "one"
    assert told("")["event"] == ""


# ---------------------------------------------------------------- events

Json = dict[str, Any]
BROKEN: list[tuple[str, Any]] = [
    ("MESSAGE_CREATE", {}),
    ("MESSAGE_CREATE", []),
    ("MESSAGE_CREATE", {"id": "x", "channel_id": None, "author": {}}),
    ("MESSAGE_UPDATE", {"id": "1"}),
    ("MESSAGE_DELETE", {"id": {}}),
    ("MESSAGE_REACTION_ADD", {"user_id": "1", "emoji": {"name": "x"}}),
    ("GUILD_CREATE", {"id": "5", "channels": [{"type": 2}], "emojis": [{"id": "1"}]}),
    ("GUILD_UPDATE", {"id": "5"}),
    ("GUILD_ROLE_CREATE", {"guild_id": "x", "role": 1}),
    ("CHANNEL_CREATE", {"type": 0}),
    ("CHANNEL_UPDATE", {"type": "voice"}),
    ("THREAD_CREATE", {"guild_id": "1"}),
    ("THREAD_LIST_SYNC", {"threads": None}),
    ("INTERACTION_CREATE", {"type": 2, "data": None}),
    ("USER_UPDATE", {}),
    ("GUILD_EMOJIS_UPDATE", {"guild_id": "x"}),
]


def send(room: Room, event: str, data: Any) -> None:
    assert room.discord.gateway.emit_to_app(event, data, room.guild)


@pytest.mark.parametrize(("event", "data"), BROKEN)
async def test_an_event_that_cannot_be_parsed_costs_no_connection(
    here: Running, room: Room, event: str, data: Any
) -> None:
    for _ in range(3):
        send(room, event, data)
    room.discord.people.say(room.ada, room.general, "How tall is it?", mentions_bot=True)
    await here.asked()
    assert here.questions == ["How tall is it?"]
    assert len(room.discord.gateway.identified) == 1


async def test_a_question_is_read_without_what_is_not_needed(here: Running, room: Room) -> None:
    first = room.discord.people.say(room.ada, room.general, "How tall is it?", mentions_bot=True)
    await here.asked()
    told = event_message_json(first, room.discord.world, sees_content=True)
    roles = [{"id": "7", "name": "readers"}]
    odd = {"mention_roles": roles, "embeds": [3], "components": [{"type": "?"}], "poll": 1}
    for number, (name, value) in enumerate(odd.items(), start=1):
        again = {"id": str(int(first.id) + number), name: value}
        send(room, "MESSAGE_CREATE", told | again)
    await here.asked(1 + len(odd))


async def test_a_server_is_known_though_a_channel_of_it_cannot_be_parsed(
    here: Running, room: Room
) -> None:
    told = guild_create_json(room.guild, room.discord.world, all_members=False)
    voice = {"id": "77", "type": 2, "name": "Talks", "position": 1, "permission_overwrites": []}
    told["channels"] = [*told["channels"], voice]  # a voice channel without a bitrate
    told["emojis"] = [{"id": "78", "name": "smile"}]
    told["name"] = "Renamed room"
    send(room, "GUILD_CREATE", told)
    await here.until(lambda: "Renamed room" in [guild.name for guild in here.client.guilds])


def test_an_error_is_told_once_of_each_kind() -> None:
    def parse(data: Any) -> None:
        raise KeyError(data["what"])

    parser = SafeParsers().wrapped({"TYPING_START": parse, "READY": parse})
    with capture_logs() as logs:
        for _ in range(50):
            parser["TYPING_START"]({"what": "animated"})
        parser["TYPING_START"]({"what": "bitrate"})
    assert [log["error"] for log in logs] == ["KeyError: 'animated'", "KeyError: 'bitrate'"]
    with pytest.raises(KeyError):
        parser["READY"]({"what": "user"})
