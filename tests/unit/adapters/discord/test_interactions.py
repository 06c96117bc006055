"""Commands and presses: acknowledged at once, then taken in; the outcome is told in private."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.discord.buttons import Button, encode
from bot.core.errors import StorageUnavailable
from bot.core.messages import Answer, Thread
from bot.core.texts import texts_for
from bot.service.buttons import Feedback, OnRun
from bot.storage.tables import feedback
from tests.fakes.discord_server import File, Interaction, Message, User
from tests.unit.adapters.discord.commands import HOW_TALL, answer_of, ask, registered
from tests.unit.adapters.discord.conftest import Open
from tests.unit.adapters.discord.way_in import Room, Running, SlowPoster
from tests.unit.samples import verdicts

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
    assert ask["name_localizations"] == {
        "de": "fragen",
        "es-ES": "preguntar",
        "es-419": "preguntar",
        "fr": "demander",
        "ja": "質問",
        "zh-CN": "提问",
        "zh-TW": "提問",
    }
    assert ask["description_localizations"]["zh-CN"].startswith("研究一个问题")
    question, depth, file = ask["options"]
    assert question["description_localizations"]["zh-TW"].startswith("想知道什麼")
    assert (file["type"], file["name"]) == (11, "file")
    assert [choice["value"] for choice in depth["choices"]] == [
        "auto",
        "quick",
        "standard",
        "deep",
        "exhaustive",
    ]
    assert depth["choices"][0]["name_localizations"]["zh-CN"] == "自动"
    assert menu["name_localizations"]["zh-TW"] == "研究一下"


def told(room: Room) -> int:
    return len(room.discord.requests("PUT", "/commands"))


@pytest.mark.parametrize("change", ["none left", "another", "one more", "another text"])
async def test_commands_that_another_program_replaced_are_registered_again(
    open_footnote: Open, room: Room, change: str
) -> None:
    async with open_footnote() as here:
        before = await registered(here)
    commands = room.discord.commands.by_scope[""]
    one = next(id for id, command in commands.items() if command["name"] == "ask")
    match change:
        case "none left":
            commands.clear()
        case "another":
            commands[one] = commands[one] | {"name": "play"}
        case "one more":
            commands["1"] = commands[one] | {"name": "play", "id": "1"}
        case _:
            options = [commands[one]["options"][0] | {"description": "Other"}]
            commands[one] = commands[one] | {"options": options}
    async with open_footnote() as here:
        await here.until(lambda: told(room) == 2)
        assert (await registered(here)).keys() == before.keys()


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


async def test_ask_inside_is_answered_there_in_the_askers_language(
    here: Running, room: Room
) -> None:
    await registered(here)
    thread = room.discord.people.start_thread(room.ada, room.general, "Towers")
    direct = room.discord.direct(room.ada)
    for place in (thread, direct):
        room.discord.people.slash(room.ada, place, "ask", {"question": HOW_TALL}, locale="zh-CN")
    replies = await here.asked(2)
    assert {reply.run.message.locale for reply in replies} == {"zh-CN"}
    assert {reply.run.message.thread for reply in replies} == {
        Thread("discord", room.guild.id, room.general.id, thread.id),
        Thread("discord", "@me", direct.id, direct.id),
    }


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


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_long_question_is_written_into_a_form_that_outlives_a_restart(
    open_footnote: Open, room: Room, restarted: bool
) -> None:
    question = "How tall is the tower?\n\n" + "It stands in Paris. " * 150
    file = File("tower.md", b"It is 330 m tall.", "text/markdown")
    async with open_footnote() as here:
        await registered(here)
        asked = room.discord.people.slash(room.ada, room.general, "ask", {"depth": "deep"})
        await opened(here, asked)
        if not restarted:
            await sent_and_taken_in(here, room, asked, question, file)
    if restarted:
        async with open_footnote() as here:
            await sent_and_taken_in(here, room, asked, question, file)


async def sent_and_taken_in(
    here: Running, room: Room, asked: Interaction, question: str, file: File
) -> None:
    sent = room.discord.people.submit(asked, {"text": question, "files": [file]})
    (reply,) = await here.asked()
    assert sent.response == 5
    assert reply.run.message.text == question.strip()
    assert reply.run.options.depth == "deep"
    assert [(each.name, each.media_type) for each in reply.run.message.attachments] == [
        ("tower.md", "text/markdown")
    ]
    assert reply.saved is not None
    assert reply.saved["interaction"]["id"] == sent.id


async def test_who_may_not_ask_gets_no_form(open_footnote: Open, room: Room) -> None:
    async with open_footnote(deny_users=room.ada.id) as here:
        await registered(here)
        asked = room.discord.people.slash(room.ada, room.general, "ask")
        assert "You are not on the list" in await answer_of(here, asked)
        assert asked.modal is None


async def test_a_command_may_bring_a_file(here: Running, room: Room) -> None:
    await ask(here, room, file=File("tower.txt", b"It is 330 m tall."))
    (reply,) = await here.asked()
    (file,) = reply.run.message.attachments
    assert (file.name, file.media_type) == ("tower.txt", "text/plain; charset=utf-8")
    assert "/attachments/" in file.url


async def test_a_file_without_a_question_is_asked_about(here: Running, room: Room) -> None:
    await registered(here)
    options = {"file": File("tower.txt", b"It is 330 m tall.")}
    room.discord.people.slash(room.ada, room.general, "ask", options)
    (reply,) = await here.asked()
    assert "tower.txt" in reply.run.message.text
    assert [file.name for file in reply.run.message.attachments] == ["tower.txt"]


# ---------------------------------------------------------------- Research this


@pytest.mark.parametrize(
    ("entry", "style"), [("Research this", "auto"), ("Check the facts", "check")]
)
async def test_a_message_can_be_researched_in_its_own_thread(
    here: Running, room: Room, entry: str, style: str
) -> None:
    await registered(here)
    said = room.discord.people.say(
        room.bob, room.general, f"Is <@{room.ada.id}> right? https://example.org/1"
    )
    pressed = room.discord.people.message_command(room.ada, entry, said)
    (reply,) = await here.asked()
    assert reply.run.options.style == style
    message = reply.run.message
    assert message.text == "Is @Ada right? https://example.org/1"
    assert message.links == ("https://example.org/1",)
    assert message.author.id == room.ada.id
    assert message.thread == Thread("discord", room.guild.id, room.general.id, said.id)
    assert reply.saved == {"message": said.id}
    assert said.id in await answer_of(here, pressed)
    assert pressed.replies[0].private_to is room.ada


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


# ---------------------------------------------------------------- what is stored

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


async def test_the_words_of_a_rule_ping_nobody(here: Running, room: Room) -> None:
    await registered(here)
    options = {"key": "tone", "value": f"as <@{room.bob.id}> " + "x" * 900}
    told = room.discord.people.slash(admin_of(room), room.general, "footnote set", options)
    await answer_of(here, told)
    assert f"<@{room.bob.id}>" in told.replies[-1].text
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
    assert (await answer_of(here, sure)).startswith("Done. I have deleted one message")
    assert sure.replies[-1].flags & 1 << 6, "for them alone"
    again = room.discord.people.slash(room.ada, room.general, "forget-me")
    assert await answer_of(here, again) == "I have stored nothing that you wrote."


# ---------------------------------------------------------------- standing questions


async def test_a_question_is_asked_and_watched_listed_and_stopped(
    here: Running, room: Room
) -> None:
    await registered(here)

    async def watch(**options: str) -> str:
        given = room.discord.people.slash(room.ada, room.general, "watch", options)
        return await answer_of(here, given)

    assert await watch() == "You have no standing questions yet."
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
    assert "You have no standing question with" in await watch(action="pause", id=id)


async def test_the_ids_of_ones_own_standing_questions_are_suggested(
    here: Running, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(whose: object) -> None:
        raise StorageUnavailable("The database is locked: try again.")

    await registered(here)
    people = room.discord.people
    people.slash(room.ada, room.general, "watch", {"question": HOW_TALL})
    await here.asked()
    (watch,) = await here.reception.standing.of_person(("discord", room.ada.id))

    async def suggested(user: User, typed: str) -> list[dict[str, Any]]:
        options = {"action": "stop", "id": typed}
        typing = people.type_in(user, room.general, "watch", options)
        await here.until(lambda: typing.choices is not None)
        return typing.choices or []

    (choice,) = await suggested(room.ada, "")
    assert choice["value"] == watch.id
    assert choice["name"].startswith(f"{watch.id}: {HOW_TALL}")
    assert await suggested(room.ada, "TOWER") == [choice]
    assert await suggested(room.ada, "bridge") == []
    assert await suggested(room.bob, "") == []
    monkeypatch.setattr(here.reception.standing, "of_person", unavailable)
    assert await suggested(room.ada, "") == []


# ---------------------------------------------------------------- presses


def with_button(here: Running, room: Room, action: Button) -> Message:
    message = here.post_as_bot(room.general, "An answer")
    button = {"type": 2, "id": 2, "style": 2, "label": "Press", "custom_id": encode(action)}
    message.components = [{"type": 1, "id": 1, "components": [button]}]
    return message


def press(room: Room, message: Message, **options: Any) -> Interaction:
    return room.discord.people.press(room.bob, message, "Press", **options)


async def opinions(here: Running) -> list[tuple[str, str, str]]:
    columns = feedback.c.verdict, feedback.c.reason, feedback.c.words
    async with here.app.store.database.read() as db:
        return [(*row,) for row in (await db.execute(sa.select(*columns))).all()]


async def test_feedback_is_kept_and_thanked_for_in_private(here: Running, room: Room) -> None:
    await ask(here, room)
    (reply,) = await here.asked()
    message = with_button(here, room, Feedback(reply.run.id, "good"))
    pressed = press(room, message, locale="zh-CN")
    await here.until(lambda: pressed.followups)
    assert pressed.response == 6
    assert pressed.followups[0].text.startswith("谢谢")
    assert pressed.followups[0].private_to is room.bob
    assert await verdicts(here.app.store.database, reply.run.id) == {room.bob.id: "good"}


async def opened(here: Running, asked: Interaction) -> dict[str, Any]:
    """The form that an interaction opened."""
    await here.until(lambda: asked.modal)
    assert asked.modal is not None
    return asked.modal


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (
            {"reason": "outdated", "words": "It was <@1> in 2019."},
            ("outdated", "It was <@1> in 2019."),
        ),
        ({"words": "No."}, ("", "No.")),
        ({}, ("", "")),
    ],
)
async def test_who_was_not_helped_may_say_why_in_a_form(
    here: Running, room: Room, written: dict[str, str], kept: tuple[str, str]
) -> None:
    await ask(here, room)
    (reply,) = await here.asked()
    pressed = press(room, with_button(here, room, Feedback(reply.run.id, "bad")), locale="zh-TW")
    form = await opened(here, pressed)
    assert form["title"] == "沒幫助"
    assert not here.client._connection._view_store._modals, "many are never sent"
    while not await opinions(here):
        await asyncio.sleep(0.005)
    assert await opinions(here) == [("bad", "", "")]
    assert pressed.followups == []
    sent = room.discord.people.submit(pressed, written)
    await here.until(lambda: sent.followups)
    assert sent.followups[0].text.startswith("謝謝")
    assert sent.followups[0].private_to is room.bob
    assert await opinions(here) == [("bad", *kept)]


async def test_a_suggestion_that_is_gone_is_explained(here: Running, room: Room) -> None:
    await ask(here, room)
    (first,) = await here.asked()
    message = here.post_as_bot(room.general, "An answer")
    id, options = f"footnote:follow-ups:{first.run.id}", [{"label": "Why?", "value": "9"}]
    menu = {"type": 3, "id": 2, "custom_id": id, "options": options}
    message.components = [{"type": 1, "id": 1, "components": [menu]}]
    pressed = room.discord.people.press(room.bob, message, id)
    await here.until(lambda: pressed.followups)
    assert "suggestion no longer exists" in pressed.followups[0].text


async def test_a_press_counts_when_the_response_to_its_deferral_is_lost(
    here: Running, room: Room
) -> None:
    await ask(here, room)
    (first,) = await here.asked()
    room.discord.cut(where="/callback")
    press(room, with_button(here, room, OnRun("deeper", first.run.id)))
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


@pytest.mark.parametrize("action", [Feedback("abcdef", "bad"), OnRun("deeper", "abcdef")])
async def test_a_run_that_nobody_knows_is_explained(
    here: Running, room: Room, action: OnRun | Feedback
) -> None:
    pressed = press(room, with_button(here, room, action))
    await here.until(lambda: pressed.followups)
    assert pressed.followups[0].private_to is room.bob
    assert "no longer exists" in pressed.followups[0].text


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
