"""Commands about what is stored: the rules of a channel, being forgotten, standing questions."""

from __future__ import annotations

import pytest

from tests.fakes.discord_server import User
from tests.unit.adapters.discord.commands import HOW_TALL, answer_of, ask, registered
from tests.unit.adapters.discord.conftest import Room
from tests.unit.adapters.discord.way_in import Running

# ---------------------------------------------------------------- rules of a channel


def admin_of(room: Room) -> User:
    role = room.discord.role(room.guild, "Admins", "MANAGE_GUILD")
    return room.discord.member(room.guild, "Admin", role)


async def test_admins_set_see_and_reset_the_rules_of_a_channel(here: Running, room: Room) -> None:
    await registered(here)
    admin = admin_of(room)

    async def run(sub: str, **options: str) -> str:
        told = room.discord.people.slash(admin, room.general, f"footnote {sub}", options)
        return await answer_of(here, told)

    assert "no rules of its own" in await run("show")
    assert "tone is now: short and dry" in await run("set", key="tone", value="short and dry")
    assert "depth is now: deep" in await run("set", key="depth", value="deep")
    assert "tone: short and dry" in await run("show")
    await ask(here, room)
    (reply,) = await here.asked()
    assert reply.run.options.depth == "deep"
    assert "short and dry" in reply.run.options.instructions
    assert "general settings apply" in await run("reset")
    assert "no rules of its own" in await run("show")


async def test_rules_are_set_and_shown_when_the_response_to_a_deferral_is_lost(
    here: Running, room: Room
) -> None:
    await registered(here)
    admin = admin_of(room)

    async def run(sub: str, **options: str) -> str:
        room.discord.cut(where="/callback")
        told = room.discord.people.slash(admin, room.general, f"footnote {sub}", options)
        return await answer_of(here, told)

    assert "depth is now: deep" in await run("set", key="depth", value="deep")
    assert "depth: deep" in await run("show")
    assert "general settings apply" in await run("reset")


async def test_the_words_of_a_rule_ping_nobody(here: Running, room: Room) -> None:
    await registered(here)
    options = {"key": "tone", "value": f"as <@{room.bob.id}> " + "x" * 900}
    told = room.discord.people.slash(admin_of(room), room.general, "footnote set", options)
    await answer_of(here, told)
    assert f"<@{room.bob.id}>" in told.replies[-1].content
    await here.until(lambda: room.discord.requests("PATCH", "/webhooks/"))
    (answered,) = room.discord.requests("PATCH", "/webhooks/")
    assert answered.body["allowed_mentions"]["parse"] == []


async def test_a_rule_that_cannot_be_is_explained(here: Running, room: Room) -> None:
    await registered(here)
    options = {"key": "depth", "value": "bottomless"}
    told = room.discord.people.slash(admin_of(room), room.general, "footnote set", options)
    assert "Possible: auto, quick" in await answer_of(here, told)


async def test_rules_are_offered_to_admins_alone(here: Running, room: Room) -> None:
    commands = await registered(here)
    with pytest.raises(LookupError):
        room.discord.people.slash(room.ada, room.general, "footnote show")
    # Whoever runs the server may offer them to others, who still are no admins of Footnote.
    commands["footnote"]["default_member_permissions"] = None
    options = {"key": "depth", "value": "deep"}
    told = room.discord.people.slash(room.ada, room.general, "footnote set", options)
    assert "Only an admin" in await answer_of(here, told)


# ---------------------------------------------------------------- being forgotten


async def test_whoever_asks_for_it_is_forgotten_once_they_say_yes(
    here: Running, room: Room
) -> None:
    await ask(here, room)
    await here.asked()
    forget = room.discord.people.slash(room.ada, room.general, "forget-me")
    said = await answer_of(here, forget)
    assert "one message" in said
    assert "/forget-me confirm:yes" in said
    sure = room.discord.people.slash(room.ada, room.general, "forget-me", {"confirm": "yes"})
    assert (await answer_of(here, sure)).startswith("Done. I have forgotten one message")
    assert sure.replies[-1].flags & 1 << 6, "for them alone"
    again = room.discord.people.slash(room.ada, room.general, "forget-me")
    assert await answer_of(here, again) == "I keep nothing that you wrote."


# ---------------------------------------------------------------- standing questions


async def test_a_question_is_asked_and_watched_listed_and_stopped(
    here: Running, room: Room
) -> None:
    await registered(here)

    async def watch(**options: str) -> str:
        given = room.discord.people.slash(room.ada, room.general, "watch", options)
        return await answer_of(here, given)

    assert await watch() == "You watch no question."
    room.discord.people.slash(
        room.ada, room.general, "watch", {"question": HOW_TALL, "every": "weekly"}
    )
    (reply,) = await here.asked()
    assert reply.run.message.text == HOW_TALL
    line = await watch()
    assert HOW_TALL in line
    assert "every week" in line
    id = line.split(":")[0]
    assert (await watch(action="stop", id=id)).endswith(HOW_TALL)
    assert "None of your standing questions" in await watch(action="pause", id=id)
