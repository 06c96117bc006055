"""Buttons that are pressed: what becomes of each, and who is told."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from adapters.discord.buttons import Button, encode
from bot.service.buttons import Deeper, Feedback
from bot.storage.tables import feedback
from tests.fakes.discord_server import Interaction, Message
from tests.unit.adapters.discord.commands import HOW_TALL, answer_of, ask, registered
from tests.unit.adapters.discord.conftest import Room
from tests.unit.adapters.discord.way_in import Running
from tests.unit.samples import verdicts


def with_button(here: Running, room: Room, action: Button) -> Message:
    message = here.post_as_bot(room.general, "An answer")
    button = {"type": 2, "id": 2, "style": 2, "label": "Press", "custom_id": encode(action)}
    message.components = [{"type": 1, "id": 1, "components": [button]}]
    return message


def press(room: Room, message: Message, **options: Any) -> Interaction:
    return room.discord.people.press(room.bob, message, "Press", **options)


async def reasons(here: Running) -> list[tuple[str, str]]:
    async with here.app.store.database.read() as db:
        rows = (await db.execute(sa.select(feedback.c.verdict, feedback.c.reason))).all()
    return [(row.verdict, row.reason) for row in rows]


async def test_feedback_is_kept_and_thanked_for_in_private(here: Running, room: Room) -> None:
    await ask(here, room)
    (reply,) = await here.asked()
    message = with_button(here, room, Feedback(reply.run.id, "good"))
    pressed = press(room, message, locale="zh-CN")
    await here.until(lambda: pressed.followups)
    assert pressed.response == 6
    assert pressed.followups[0].content.startswith("谢谢")
    assert pressed.followups[0].private_to is room.bob
    assert await verdicts(here.app.store.database, reply.run.id) == {room.bob.id: "good"}


async def test_who_was_not_helped_may_say_why(here: Running, room: Room) -> None:
    await ask(here, room)
    (reply,) = await here.asked()
    pressed = press(room, with_button(here, room, Feedback(reply.run.id, "bad")))
    await here.until(lambda: pressed.followups)
    question = pressed.followups[0]
    assert question.private_to is room.bob
    assert "What is wrong" in question.content
    assert await reasons(here) == [("bad", "")]

    chosen = room.discord.people.press(room.bob, question, f"footnote:why:{reply.run.id}")
    await here.until(lambda: "What is wrong" not in question.content)
    assert question.content.startswith("Thank you.")
    assert (question.components, chosen.followups) == ([], [])
    assert await reasons(here) == [("bad", "wrong")]  # the menu's first


async def test_a_suggestion_that_is_gone_is_explained(here: Running, room: Room) -> None:
    await ask(here, room)
    (first,) = await here.asked()
    message = here.post_as_bot(room.general, "An answer")
    id, options = f"footnote:follow-ups:{first.run.id}", [{"label": "Why?", "value": "9"}]
    menu = {"type": 3, "id": 2, "custom_id": id, "options": options}
    message.components = [{"type": 1, "id": 1, "components": [menu]}]
    pressed = room.discord.people.press(room.bob, message, id)
    await here.until(lambda: pressed.followups)
    assert "suggestion no longer exists" in pressed.followups[0].content


async def test_a_press_counts_when_the_response_to_its_deferral_is_lost(
    here: Running, room: Room
) -> None:
    await ask(here, room)
    (first,) = await here.asked()
    room.discord.cut(where="/callback")
    press(room, with_button(here, room, Deeper(first.run.id)))
    (_, second) = await here.asked(2)
    assert second.run.options.depth == "deep"


async def test_a_press_that_came_too_late_is_dropped(here: Running, room: Room) -> None:
    await ask(here, room)
    (reply,) = await here.asked()
    message = with_button(here, room, Feedback(reply.run.id, "good"))
    here.discord.gateway.drop()
    with room.discord.world.lock:
        late = press(room, message)
        room.discord.clock.advance(4)
    await here.until(lambda: room.discord.requests("POST", f"/interactions/{late.id}"))
    await here.client.finish_work(10)
    assert await verdicts(here.app.store.database, reply.run.id) == {}
    assert late.followups == []


@pytest.mark.parametrize("action", [Feedback("abcdef", "bad"), Deeper("abcdef")])
async def test_a_run_that_nobody_knows_is_explained(
    here: Running, room: Room, action: Deeper | Feedback
) -> None:
    pressed = press(room, with_button(here, room, action))
    await here.until(lambda: pressed.followups)
    assert pressed.followups[0].private_to is room.bob
    assert "no longer exists" in pressed.followups[0].content


async def test_a_broken_command_is_a_sentence(
    here: Running, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    await registered(here)

    async def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("a slip")

    monkeypatch.setattr(here.reception, "receive", broken)
    asked = room.discord.people.slash(room.ada, room.general, "ask", {"question": HOW_TALL})
    said = await answer_of(here, asked)
    assert said == "That did not work. Please try again in a minute."
