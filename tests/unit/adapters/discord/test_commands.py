"""Commands: registered when they changed, acknowledged at once, then taken in."""

from __future__ import annotations

import pytest

from bot.core.messages import Answer, Thread
from bot.core.texts import texts_for
from tests.unit.adapters.discord.commands import HOW_TALL, answer_of, ask, registered
from tests.unit.adapters.discord.conftest import Open, Room
from tests.unit.adapters.discord.way_in import Running, SlowPoster

# ---------------------------------------------------------------- registering


async def test_commands_are_offered_everywhere_and_rules_to_admins(here: Running) -> None:
    commands = await registered(here)
    assert set(commands) == {
        "ask",
        "watch",
        "stop",
        "forget-me",
        "footnote",
        "Research this",
        "Check the facts",
    }
    for name in ("ask", "watch", "stop", "forget-me", "Research this"):
        assert commands[name]["integration_types"] == [0, 1]
        assert sorted(commands[name]["contexts"]) == [0, 1, 2]
    rules = commands["footnote"]
    assert (rules["integration_types"], rules["contexts"]) == ([0], [0])
    assert rules["default_member_permissions"] == str(1 << 5), "manage server"


async def test_commands_speak_the_languages_of_the_catalogs(here: Running) -> None:
    commands = await registered(here)
    ask, menu = commands["ask"], commands["Research this"]
    assert ask["name_localizations"] == {"zh-CN": "提问", "zh-TW": "提問"}
    assert ask["description_localizations"]["zh-CN"].startswith("研究一个问题")
    question, depth = ask["options"]
    assert question["description_localizations"]["zh-TW"] == "想知道什麼"
    assert [choice["value"] for choice in depth["choices"]] == [
        "auto",
        "quick",
        "standard",
        "deep",
    ]
    assert depth["choices"][0]["name_localizations"]["zh-CN"] == "自动"
    assert menu["name_localizations"]["zh-TW"] == "研究一下"


async def test_commands_are_registered_only_when_they_changed(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote() as here:
        await registered(here)
        await here.commands_known()
    async with open_footnote() as here:
        await here.barrier(room.ada, room.general)
        assert len(room.discord.requests("PUT", "/commands")) == 1
    # What Discord was told was something else.
    async with open_footnote() as here:
        await here.workspaces.remember("discord", room.discord.app.id, "commands", "other")
    async with open_footnote():
        await room.discord.until(lambda: len(room.discord.requests("PUT", "/commands")) == 2)


async def test_commands_that_cannot_be_registered_hinder_nothing(
    open_footnote: Open, room: Room
) -> None:
    room.discord.down("500", where="/commands")
    async with open_footnote() as here:
        await here.barrier(room.ada, room.general)


# ---------------------------------------------------------------- asking


async def test_ask_is_deferred_and_waits_for_its_thread(here: Running, room: Room) -> None:
    asked = await ask(here, room, depth="deep")
    (reply,) = await here.asked()
    assert asked.response == 5
    message = reply.run.message
    assert (message.text, message.event_id) == (HOW_TALL, asked.id)
    assert message.thread == Thread(
        "discord", room.guild.id, room.general.id, f"pending-{asked.id}"
    )
    assert reply.run.options.depth == "deep"
    assert reply.saved == {
        "interaction": {
            "id": asked.id,
            "token": asked.token,
            "application_id": room.discord.app.id,
        }
    }


async def test_ask_in_a_thread_is_answered_there(here: Running, room: Room) -> None:
    await registered(here)
    thread = room.discord.people.start_thread(room.ada, room.general, "Towers")
    room.discord.people.slash(room.ada, thread, "ask", {"question": HOW_TALL})
    (reply,) = await here.asked()
    assert reply.run.message.thread == Thread("discord", room.guild.id, room.general.id, thread.id)


async def test_ask_in_a_direct_message_is_answered_there(here: Running, room: Room) -> None:
    await registered(here)
    direct = room.discord.direct(room.ada)
    room.discord.people.slash(room.ada, direct, "ask", {"question": HOW_TALL}, locale="zh-CN")
    (reply,) = await here.asked()
    assert reply.run.message.thread == Thread("discord", "@me", direct.id, direct.id)
    assert reply.run.message.locale == "zh-CN"


async def test_ask_works_where_only_the_asker_brought_the_app(here: Running, room: Room) -> None:
    await registered(here)
    elsewhere = room.discord.guild("Elsewhere", installed=False)
    channel = room.discord.text(elsewhere, "talk")
    room.discord.join(elsewhere, room.ada)
    friends = room.discord.private(room.ada, room.bob)
    for place in (channel, friends):
        room.discord.people.slash(room.ada, place, "ask", {"question": HOW_TALL})
    first, second = await here.asked(2)
    assert {reply.run.message.thread.workspace for reply in (first, second)} == {
        elsewhere.id,
        "@me",
    }


async def test_it_is_deferred_before_the_question_is_kept(here: Running, room: Room) -> None:
    await registered(here)
    here.reception.held.clear()
    asked = room.discord.people.slash(room.ada, room.general, "ask", {"question": HOW_TALL})
    await here.until(lambda: asked.acknowledged)
    assert here.questions == []
    here.reception.held.set()
    await here.asked()


async def test_a_question_that_storage_cannot_take_becomes_a_sentence(
    here: Running, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.listener.PATIENCE_SECONDS", 0.05)
    await registered(here)
    here.reception.failures = 1_000
    asked = room.discord.people.slash(
        room.ada, room.general, "ask", {"question": HOW_TALL}, locale="zh-TW"
    )
    assert (await answer_of(here, asked)).startswith(texts_for("zh-TW")("try-again"))


async def test_denial_is_for_the_asker_alone(open_footnote: Open, room: Room) -> None:
    async with open_footnote(deny_users=room.ada.id) as here:
        asked = await ask(here, room)
        assert "You are not on the list" in await answer_of(here, asked)
        assert asked.response == 4
        assert asked.replies[0].private_to is room.ada
        assert here.questions == []


async def test_an_empty_question_is_told_how_to_ask(here: Running, room: Room) -> None:
    asked = await ask(here, room, "?!")
    assert "Write your question" in await answer_of(here, asked)
    assert asked.replies[0].private_to is room.ada


async def test_an_interaction_that_came_too_late_is_no_question(here: Running, room: Room) -> None:
    await registered(here)
    here.discord.gateway.drop()
    with room.discord.world.lock:
        asked = room.discord.people.slash(room.ada, room.general, "ask", {"question": HOW_TALL})
        room.discord.clock.advance(4)
    await here.until(lambda: room.discord.requests("POST", "/callback"))
    await here.barrier(room.ada, room.general)
    assert here.questions == ["Barrier?"], "Discord has told the asker that it failed"
    assert not asked.acknowledged


# ---------------------------------------------------------------- Research this


async def test_a_message_can_be_researched_in_its_own_thread(here: Running, room: Room) -> None:
    await registered(here)
    said = room.discord.people.say(
        room.bob, room.general, f"Is <@{room.ada.id}> right? https://example.org/1"
    )
    pressed = room.discord.people.message_command(room.ada, "Research this", said)
    (reply,) = await here.asked()
    message = reply.run.message
    assert message.text == "Is @Ada right? https://example.org/1"
    assert message.links == ("https://example.org/1",)
    assert message.author.id == room.ada.id
    assert message.thread == Thread("discord", room.guild.id, room.general.id, said.id)
    assert reply.saved == {"message": said.id}
    assert said.id in await answer_of(here, pressed)
    assert pressed.replies[0].private_to is room.ada


async def test_the_facts_of_a_message_are_checked_in_its_own_thread(
    here: Running, room: Room
) -> None:
    await registered(here)
    said = room.discord.people.say(room.bob, room.general, "The tower is 300 m tall.")
    room.discord.people.message_command(room.ada, "Check the facts", said)
    (reply,) = await here.asked()
    assert reply.run.options.style == "check"
    assert reply.run.message.text == "The tower is 300 m tall."
    assert reply.run.message.thread.thread == said.id


async def test_what_footnote_posted_is_researched_with_what_it_was_made_from(
    here: Running, room: Room
) -> None:
    await registered(here)
    first = room.discord.people.say(room.bob, room.general, "The tower is 300 m tall.")
    room.discord.people.message_command(room.ada, "Research this", first)
    (reply,) = await here.asked()
    await here.app.dispatcher.wait(reply.run.id)
    answer = Answer("answered", "330 m", "?", reply.run.id, documents=("file:///hr/tower.md",))
    await here.app.store.save_answer(reply.run.id, 1, answer)
    ours = room.discord.people.say(room.discord.bot, room.general, "330 m")
    room.discord.people.message_command(room.ada, "Research this", ours)
    again = (await here.asked(2))[1]
    assert again.run.message.made_from.urls == answer.documents
    assert reply.run.message.made_from.urls == ()


async def test_a_message_elsewhere_is_researched_as_a_response(here: Running, room: Room) -> None:
    await registered(here)
    friends = room.discord.private(room.ada, room.bob)
    said = room.discord.people.say(room.bob, friends, HOW_TALL)
    pressed = room.discord.people.message_command(room.ada, "Research this", said)
    (reply,) = await here.asked()
    assert reply.saved is not None
    assert reply.saved["interaction"]["id"] == pressed.id


async def test_a_message_without_words_cannot_be_researched(here: Running, room: Room) -> None:
    await registered(here)
    said = room.discord.people.say(room.bob, room.general, "👍")
    pressed = room.discord.people.message_command(room.ada, "Research this", said)
    assert await answer_of(here, pressed)
    assert here.questions == []


# ---------------------------------------------------------------- stopping


async def test_stop_stops_the_thread_and_says_how_much(
    open_footnote: Open, room: Room, slow_poster: SlowPoster
) -> None:
    async with open_footnote(poster=slow_poster) as here:
        await registered(here)
        thread = room.discord.people.start_thread(room.ada, room.general, "Towers")
        for text in (HOW_TALL, "And how old?"):
            room.discord.people.say(room.ada, thread, text, mentions_bot=True)
        await here.until(lambda: slow_poster.waiting)
        stop = room.discord.people.slash(room.bob, thread, "stop")
        assert await answer_of(here, stop) == "Stopping 2 questions…"
        assert stop.replies[0].private_to is room.bob
        slow_poster.go_on.set()
        # The second one may end first: it was not begun yet.
        await here.until(lambda: slow_poster.replies[0].finished)
        replies = await here.asked()
        assert replies[0].finished[0].status == "stopped"


async def test_stop_where_nothing_runs_says_so(here: Running, room: Room) -> None:
    await registered(here)
    stop = room.discord.people.slash(room.bob, room.general, "stop")
    assert "Nothing is running" in await answer_of(here, stop)


@pytest.mark.parametrize("trouble", ["its response is lost", "it never arrives"])
async def test_stop_stops_whatever_becomes_of_its_deferral(
    open_footnote: Open, room: Room, slow_poster: SlowPoster, trouble: str
) -> None:
    async with open_footnote(poster=slow_poster) as here:
        await registered(here)
        thread = room.discord.people.start_thread(room.ada, room.general, "Towers")
        room.discord.people.say(room.ada, thread, HOW_TALL, mentions_bot=True)
        await here.until(lambda: slow_poster.replies)
        if trouble == "its response is lost":
            room.discord.cut(where="/callback")
        else:
            room.discord.down("reset", where="/callback", times=1)
        stop = room.discord.people.slash(room.bob, thread, "stop")
        assert "Stopping" in await answer_of(here, stop)
        slow_poster.go_on.set()
        (reply,) = await here.asked()
        assert reply.finished[0].status == "stopped"
