"""Messages of other channels that the asker may read: a failure there costs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.discord.conversations import READING, DiscordConversations, Servers
from adapters.discord.rest import DiscordRefused
from bot.core.errors import PlatformUnavailable
from bot.core.messages import RunOptions, Thread
from bot.core.posting import PostState, RunRef
from bot.core.reader import Reader
from bot.search.provider import Query
from tests.unit.samples import a_message

GUILD, ALL, BOARD, ADA = "1", "11", "12", "21"
REFUSED = DiscordRefused(403, 50013, "Missing Permissions")
AWAY = PlatformUnavailable("Discord is away.")


class Server:
    """A server of two channels, of which not everybody may read one: what it is asked, and what it
    fails at."""

    user_id = "9"

    def __init__(self, *failing: tuple[str, Exception]) -> None:
        self._failing = dict(failing)
        self.sent: list[str] = []

    async def request(self, method: str, path: str, **given: Any) -> Any:
        what = path.rpartition("/")[2]
        if what == "search":
            what = f"search of {given['query']['channel_id'][0]}"
        if what in self._failing:
            raise self._failing[what]
        match what:
            case "{guild_id}":
                return {"owner_id": "99", "roles": [{"id": GUILD, "permissions": str(READING)}]}
            case "channels" if "guild_id" in given:
                shut = [{"id": GUILD, "type": 0, "allow": "0", "deny": str(READING)}]
                shut.append({"id": ADA, "type": 1, "allow": str(READING), "deny": "0"})
                named = [{"id": ALL, "type": 0, "name": "ops"}]
                return [*named, {"id": BOARD, "type": 0, "permission_overwrites": shut}]
            case "{user_id}":
                return {"roles": []}
            case "channels":
                return {"id": "31"}
            case "messages":
                self.sent.append(given["json"]["content"])
                return {"id": "41", **given["json"]}
            case _:
                where = given["query"]["channel_id"][0]
                author = {"id": "22", "username": "ben"}
                said = {"id": f"5{where}", "channel_id": where, "type": 0, "author": author}
                return {"messages": [[{**said, "content": "The launch is in May."}]]}


async def nothing(given: PostState | Thread) -> None:
    """Nothing of this is kept."""


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        ((), 1),
        ((("{user_id}", AWAY),), 0),
        (((f"search of {BOARD}", REFUSED),), 0),
        (((f"search of {BOARD}", AWAY),), 0),
        ((("messages", REFUSED),), 0),
    ],
)
async def test_what_was_found_stands_whatever_becomes_of_the_offer(
    failing: tuple[tuple[str, Exception], ...], told: int
) -> None:
    server: Any = Server(*failing)
    message = a_message("When is the launch?", Thread("discord", GUILD, ALL, "61"))
    message = replace(message, author=replace(message.author, id=ADA))
    run = RunRef("r1", message, RunOptions(), nothing, nothing)
    talk = DiscordConversations(server, Servers(server), run, Reader("channel"))
    for _ in range(2):  # once a question
        found = await talk.search(Query("launch", 5))
        assert [hit.url.rpartition("/")[2] for hit in found] == [f"5{ALL}"]
    await talk.answer_posted()
    assert len(server.sent) == told
