"""Messages of people on Discord, and what Footnote takes from them; over real sockets."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from bot.core.messages import Entry, Thread
from bot.core.reader import Reader
from bot.rights.rights import Rights
from bot.service import access
from tests.fakes.discord_server import File
from tests.fakes.poster import Remembered
from tests.unit.adapters.discord.conftest import Open
from tests.unit.adapters.discord.way_in import HOW_TALL, Room, Running, SlowPoster, a_thread

# ---------------------------------------------------------------- what is a question


async def test_a_mention_in_a_channel_opens_the_thread_that_has_its_id(
    here: Running, room: Room
) -> None:
    said = room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
    (reply,) = await here.asked()
    message = reply.run.message
    assert message.text == HOW_TALL
    assert message.event_id == said.id
    assert message.thread == Thread("discord", room.guild.id, room.general.id, said.id)
    assert (message.author.id, message.author.name) == (room.ada.id, "Ada")
    assert reply.saved == {"message": said.id}
    assert room.discord.requests("POST", f"/channels/{room.general.id}/typing")


async def test_a_message_is_taken_in_as_people_see_it(here: Running, room: Room) -> None:
    text = f"Ask <@{room.bob.id}> in <#{room.general.id}> `<@1>` <https://example.org/1>"
    files = [File("notes.md", b"# Notes", "text/markdown"), File("a.png", b"", "image/png")]
    room.discord.people.say(room.ada, room.general, text, mentions_bot=True, attachments=files)
    (reply,) = await here.asked()
    message = reply.run.message
    assert message.text == "Ask @Bob in #general `<@1>` https://example.org/1"
    assert message.links == ("https://example.org/1",)
    assert [(file.name, file.media_type) for file in message.attachments] == [
        ("notes.md", "text/markdown"),
        ("a.png", "image/png"),
    ]
    assert all(file.url.startswith("http") for file in message.attachments)


async def test_direct_messages_can_be_switched_off(open_footnote: Open, room: Room) -> None:
    async with open_footnote(direct_messages=False) as here:
        direct = room.discord.direct(room.ada)
        room.discord.people.say(room.ada, direct, "这座塔有多高？")
        await here.until(lambda: room.discord.posts(direct))
        assert room.discord.posts(direct)[0].content.startswith("Footnote 不接受私信")
        assert here.questions == []


async def test_a_mention_in_a_thread_stays_there(here: Running, room: Room) -> None:
    thread = await a_thread(here, room)
    (reply,) = here.poster.replies
    assert reply.run.message.thread == Thread("discord", room.guild.id, room.general.id, thread.id)


async def test_a_forum_post_is_a_thread(here: Running, room: Room) -> None:
    forum = room.discord.forum(room.guild, "questions")
    thread, said = room.discord.people.forum_post(
        room.ada, forum, "Tower", HOW_TALL, mentions_bot=True
    )
    (reply,) = await here.asked()
    assert reply.run.message.thread == Thread("discord", room.guild.id, forum.id, thread.id)
    assert reply.saved == {"message": said.id, "place": thread.id}, "no thread is to be made"


@pytest.mark.parametrize("archived", [False, True])
async def test_a_thread_of_ours_needs_no_mention(here: Running, room: Room, archived: bool) -> None:
    thread = await a_thread(here, room)
    if archived:
        room.discord.people.archive(thread)
    room.discord.people.say(room.bob, thread, "And how old is it?")
    await here.asked(2)
    assert here.questions == [HOW_TALL, "And how old is it?"]


async def test_with_followups_by_mention_a_thread_of_ours_needs_one(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote(followups="mention") as here:
        thread = await a_thread(here, room)
        room.discord.people.say(room.bob, thread, "I wonder how old it is.")
        room.discord.people.say(room.bob, thread, "How old is it?", mentions_bot=True)
        await here.asked(2)
        assert here.questions == [HOW_TALL, "How old is it?"]


async def test_what_people_say_to_each_other_is_heard_but_no_question(
    here: Running, room: Room
) -> None:
    thread = await a_thread(here, room)
    said = room.discord.people.say(room.bob, thread, f"<@{room.ada.id}> it looks taller")
    room.discord.people.say(room.ada, thread, "No", reply_to=said)
    room.discord.people.say(room.ada, thread, "@everyone look")
    await here.barrier(room.ada, thread)
    assert here.questions == [HOW_TALL, "Barrier?"]
    transcript = await here.app.store.transcript(
        (await here.run_record(here.poster.replies[1])).message
    )
    heard = [entry.text for entry in transcript.entries if entry.role == "person"]
    assert heard == [HOW_TALL, "@Ada it looks taller", "No", "@everyone look"]


@pytest.mark.parametrize(
    "text", ["@everyone look at this", "Nothing for you", "<@1> hello", "a reply", "a robot's"]
)
async def test_a_channel_is_not_listened_to(here: Running, room: Room, text: str) -> None:
    people = room.discord.people
    if text == "a reply":  # it pings its author by itself
        ours = here.post_as_bot(room.general, "An answer.")
        people.say(room.ada, room.general, text, reply_to=ours)
    elif text == "a robot's":
        robot = room.discord.world.user("Robot", bot=True)
        room.discord.join(room.guild, robot)
        people.say(robot, room.general, HOW_TALL, mentions_bot=True)
    else:
        people.say(room.ada, room.general, text)
    await here.barrier(room.ada, room.general)
    assert here.questions == ["Barrier?"]


async def test_the_role_that_came_with_the_bot_is_the_bot(here: Running, room: Room) -> None:
    role = room.guild.members[room.discord.bot.id].roles[0]
    room.discord.people.say(room.ada, room.general, f"<@&{role.id}> {HOW_TALL}")
    # Without a mention of the user the text is only shown with the message-content intent.
    await here.asked()
    assert here.questions == [HOW_TALL]


async def test_the_notices_that_come_with_threads_are_no_questions(
    here: Running, room: Room
) -> None:
    said = room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
    await here.asked()
    room.discord.people.start_thread(room.bob, room.general, "Towers", source=said)
    room.discord.people.start_thread(room.bob, room.general, "Bridges")
    await here.barrier(room.ada, room.general)
    assert len(here.questions) == 2


async def test_a_flood_loses_and_doubles_nothing_and_stays_in_order(
    here: Running, room: Room
) -> None:
    asked = [f"Question {number}?" for number in range(30)]
    for text in asked:
        room.discord.people.say(room.ada, room.general, text, mentions_bot=True)
    await here.asked(30)
    accepted = sorted(here.poster.replies, key=lambda reply: int(reply.run.message.event_id))
    assert [reply.run.message.text for reply in accepted] == asked


# ---------------------------------------------------------------- what becomes of it


async def test_a_mention_that_an_edit_adds_is_a_question(here: Running, room: Room) -> None:
    said = room.discord.people.say(room.ada, room.general, HOW_TALL)
    room.discord.people.edit(said, f"<@{room.discord.bot.id}> {HOW_TALL}")
    (reply,) = await here.asked()
    message = reply.run.message
    assert (message.text, message.event_id, message.thread.thread) == (HOW_TALL, said.id, said.id)
    assert reply.saved == {"message": said.id}


async def test_words_to_others_become_a_question_by_an_edit(here: Running, room: Room) -> None:
    thread = await a_thread(here, room)
    said = room.discord.people.say(room.bob, thread, f"<@{room.ada.id}> how old is it?")
    await here.barrier(room.ada, thread)
    room.discord.people.edit(said, f"<@{room.discord.bot.id}> how old is it?")
    await here.asked(3)
    assert here.questions == [HOW_TALL, "Barrier?", "how old is it?"]


@pytest.mark.parametrize(
    ("first", "edits"),
    [
        (HOW_TALL, ["How old is the tower?"]),
        (f"ME {HOW_TALL}", [HOW_TALL, f"ME {HOW_TALL}", f"ME   {HOW_TALL}"]),
        ("ME Sum up https://example.org/1", ["preview"]),
    ],
    ids=["still no mention", "the same words", "a link preview"],
)
async def test_an_edit_that_says_nothing_new_is_no_question(
    here: Running, room: Room, first: str, edits: list[str]
) -> None:
    me, people = f"<@{room.discord.bot.id}>", room.discord.people
    said = people.say(room.ada, room.general, first.replace("ME", me))
    before = [first.removeprefix("ME ")] if "ME" in first else []
    await here.asked(len(before))
    for edit in edits:
        if edit == "preview":
            people.resolve_embed(said, "https://example.org/1")
        else:
            people.edit(said, edit.replace("ME", me))
    await here.barrier(room.ada, room.general)
    assert here.questions == [*before, "Barrier?"]


async def test_a_preview_for_an_old_edit_is_no_question(
    here: Running, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.listener.RECENT_EDIT", timedelta())
    said = room.discord.people.say(room.ada, room.general, HOW_TALL)
    room.discord.people.edit(said, f"<@{room.discord.bot.id}> {HOW_TALL}")
    await here.barrier(room.ada, room.general)
    assert here.questions == ["Barrier?"]


async def test_a_question_that_was_refused_is_refused_once_for_each_edit(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote(deny_users=room.bob.id) as here:
        said = room.discord.people.say(room.bob, room.general, "Sum up https://example.org/1")
        mentioned = f"<@{room.discord.bot.id}> Sum up https://example.org/1"
        room.discord.people.edit(said, mentioned)
        direct = room.discord.direct(room.bob)
        await here.until(lambda: room.discord.posts(direct))
        room.discord.people.resolve_embed(said, "https://example.org/1")
        await here.barrier(room.ada, room.general)
        assert len(room.discord.posts(direct)) == 1


async def test_an_edit_never_overtakes_its_question(here: Running, room: Room) -> None:
    said = room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
    room.discord.people.edit(said, f"<@{room.discord.bot.id}> How old is the tower?")
    await here.until(lambda: here.poster.replies and here.poster.replies[-1].finished)
    await here.until(lambda: here.questions[-1] == "How old is the tower?")


@pytest.mark.parametrize(
    "how",
    [
        "🛑",
        "✋",
        "❌",
        "a sign on our reply",
        "a sign on our reply in the channel",
        "word",
        "deleted",
    ],
)
async def test_what_stops_a_question(
    open_footnote: Open, room: Room, slow_poster: SlowPoster, how: str
) -> None:
    people = room.discord.people
    async with open_footnote(poster=slow_poster) as here:
        thread = people.start_thread(room.ada, room.general, "Towers")
        place = room.general if "channel" in how else thread
        said = people.say(room.ada, place, HOW_TALL, mentions_bot=True)
        await here.until(lambda: slow_poster.replies)
        match how:
            case "word":
                stop = people.say(room.bob, thread, "Stop!")
                await here.until(lambda: stop.reactions)
            case "deleted":
                people.delete_channel(thread)
            case "a sign on our reply" | "a sign on our reply in the channel":
                ours = here.post_as_bot(place, "Researching…", replies_to=said)
                people.react(room.bob, ours, "🛑")
            case sign:
                people.react(room.bob, said, "👍")
                people.react(room.bob, said, sign)
        await here.stop_requested(slow_poster.replies[0])
        slow_poster.go_on.set()
        (reply,) = await here.asked()
        assert reply.finished[0].status == "stopped"


async def test_stop_where_nothing_runs_says_so(here: Running, room: Room) -> None:
    thread = await a_thread(here, room)
    room.discord.people.say(room.bob, thread, "stop")  # perhaps to somebody else
    stop = room.discord.people.say(room.bob, thread, "stop", mentions_bot=True)
    await here.until(lambda: room.discord.posts(thread))
    (post,) = room.discord.posts(thread)
    assert "Nothing is running here" in post.content
    assert post.reply_to == stop.id
    assert not post.pings


# ---------------------------------------------------------------- who may ask


async def test_denial_is_a_direct_message(open_footnote: Open, room: Room) -> None:
    async with open_footnote(deny_users=room.ada.id) as here:
        room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
        direct = room.discord.direct(room.ada)
        await here.until(lambda: room.discord.posts(direct))
        (post,) = room.discord.posts(direct)
        assert "You are not on the list" in post.content
        assert here.poster.replies == []
        assert room.discord.posts(room.general) == []


async def test_where_direct_messages_are_closed_denial_is_a_passing_reply(
    open_footnote: Open, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.listener.PRIVATE_SECONDS", 0.05)
    room.ada.accepts_direct = False
    async with open_footnote(deny_channels=room.general.id) as here:
        said = room.discord.people.say(room.ada, room.general, "铁塔有多高？", mentions_bot=True)
        await here.until(lambda: room.discord.requests("DELETE", "/messages/"))
        posted = room.discord.requests("POST", f"/channels/{room.general.id}/messages")
        assert posted[0].body["content"].startswith("Footnote 不在这个频道回答问题")
        assert posted[0].body["message_reference"]["message_id"] in (said.id, int(said.id))
        await here.until(lambda: not room.discord.posts(room.general))


async def test_who_was_not_speaking_to_footnote_is_told_once(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote(deny_users=room.bob.id) as here:
        thread = await a_thread(here, room)
        for text in ("One?", "Two?", "Three?"):
            room.discord.people.say(room.bob, thread, text)
        await here.barrier(room.ada, thread)
        await here.until(lambda: room.discord.posts(room.discord.direct(room.bob)))
        assert len(room.discord.posts(room.discord.direct(room.bob))) == 1


@pytest.mark.parametrize("text", ["", "?!", "…"])
async def test_a_mention_without_a_question_is_told_how_to_ask(
    here: Running, room: Room, text: str
) -> None:
    room.discord.people.say(room.ada, room.general, text, mentions_bot=True)
    await here.until(lambda: room.discord.posts(room.general))
    assert "Write your question" in room.discord.posts(room.general)[0].content


async def test_a_sticker_or_a_smile_in_a_thread_is_no_question(here: Running, room: Room) -> None:
    thread = await a_thread(here, room)
    room.discord.people.say(room.bob, thread, "👍")
    room.discord.people.say(room.bob, thread, "", attachments=[File("a.png", b"", "image/png")])
    await here.barrier(room.ada, thread)
    assert len(here.questions) == 2
    assert room.discord.posts(thread) == []


async def test_a_question_waits_for_storage_and_is_kept(here: Running, room: Room) -> None:
    here.reception.failures = 2
    room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
    await here.asked()
    assert here.questions == [HOW_TALL]


async def test_a_question_that_cannot_be_kept_is_given_back(
    here: Running, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.listener.PATIENCE_SECONDS", 0.05)
    here.reception.failures = 1_000
    room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
    await here.until(lambda: room.discord.posts(room.general))
    assert "ask it again" in room.discord.posts(room.general)[0].content


# ---------------------------------------------------------------- what a message refers to

RELEASE = {"title": "Release 2.0", "description": "It needs Python 3.12."}
DAY = r"\d{4}-\d\d-\d\d"


async def entries(here: Running, reply: Remembered) -> list[Entry]:
    """What a reasoner sees of the conversation before a question."""
    return list((await here.app.store.transcript((await here.run_record(reply)).message)).entries)


async def test_the_message_that_a_question_replies_to_is_known(here: Running, room: Room) -> None:
    news = room.discord.app_user("News")
    target = room.discord.people.say_as_app(news, room.general, embeds=[RELEASE])
    room.discord.people.say(
        room.ada, room.general, "Is that so?", mentions_bot=True, reply_to=target
    )
    (reply,) = await here.asked()
    assert reply.run.message.text == "Is that so?"
    (entry,) = await entries(here, reply)
    assert (entry.name, entry.text) == ("news", "Release 2.0\n\nIt needs Python 3.12.")


async def test_the_target_of_a_later_reply_in_a_thread_is_known_too(
    here: Running, room: Room
) -> None:
    thread = await a_thread(here, room)
    news = room.discord.app_user("News")
    target = room.discord.people.say_as_app(news, thread, embeds=[RELEASE])
    room.discord.people.say(room.ada, thread, "Is that so?", mentions_bot=True, reply_to=target)
    *_, reply = await here.asked(2)
    assert [each.name for each in await entries(here, reply)] == ["Ada", "Footnote", "news"]


async def test_who_may_not_ask_leaves_no_trace_of_what_they_reply_to(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote(deny_users=[room.ada.id]) as here:
        target = room.discord.people.say(room.bob, room.general, "Secret.")
        question = room.discord.people.say(
            room.ada, room.general, "So?", mentions_bot=True, reply_to=target
        )
        direct = room.discord.direct(room.ada)
        await here.until(lambda: room.discord.posts(direct))
        assert not await here.reception._conversations.knows("discord", target.id)
        assert not await here.reception._conversations.knows("discord", question.id)


async def test_the_files_of_a_replys_target_are_read(here: Running, room: Room) -> None:
    notes = File("notes.md", b"# Notes", "text/markdown")
    target = room.discord.people.say(room.bob, room.general, "My notes", attachments=[notes])
    room.discord.people.say(
        room.ada, room.general, "What do they say?", mentions_bot=True, reply_to=target
    )
    (reply,) = await here.asked()
    (file,) = reply.run.message.attachments
    assert (file.name, file.again) == ("notes.md", True)


async def test_a_bare_mention_as_a_reply_asks_what_was_said(here: Running, room: Room) -> None:
    target = room.discord.people.say(room.bob, room.general, HOW_TALL)
    room.discord.people.say(room.ada, room.general, mentions_bot=True, reply_to=target)
    (reply,) = await here.asked()
    assert re.fullmatch(rf"> Bob, {DAY}:\n> {re.escape(HOW_TALL)}", reply.run.message.text)
    assert reply.run.message.author.name == "Ada"
    assert reply.finished[0].queries == (HOW_TALL,)


async def test_a_bare_mention_in_a_thread_asks_what_stands_above(here: Running, room: Room) -> None:
    first = room.discord.people.say(room.bob, room.general, HOW_TALL)
    thread = room.discord.people.start_thread(room.bob, room.general, "Towers", source=first)
    room.discord.people.say(room.ada, thread, mentions_bot=True)
    (reply,) = await here.asked()
    assert reply.run.message.text.endswith(f":\n> {HOW_TALL}")


@pytest.mark.parametrize("inside", [False, True])
async def test_a_bare_mention_below_nothing_is_asked_back(
    here: Running, room: Room, inside: bool
) -> None:
    room.discord.people.say(room.bob, room.general, "Lunch?")
    channel = room.general
    if inside:
        channel = await a_thread(here, room)
        here.post_as_bot(channel, "It is 330 m.")
    room.discord.people.say(room.ada, channel, mentions_bot=True)
    await here.until(lambda: room.discord.posts(channel)[inside:])
    assert room.discord.posts(channel)[-1].content.startswith("What would you like to know?")


async def test_a_bare_mention_with_a_file_asks_what_it_says(here: Running, room: Room) -> None:
    notes = File("notes.md", b"# Notes", "text/markdown")
    room.discord.people.say(room.ada, room.general, mentions_bot=True, attachments=[notes])
    (reply,) = await here.asked()
    assert "notes.md" in reply.run.message.text
    assert [file.name for file in reply.run.message.attachments] == ["notes.md"]


async def test_a_file_that_is_sent_in_a_thread_is_known_later(here: Running, room: Room) -> None:
    thread = await a_thread(here, room)
    notes = File("notes.md", b"# Notes", "text/markdown")
    room.discord.people.say(room.bob, thread, attachments=[notes])
    room.discord.people.say(room.ada, thread, "What do they say?", mentions_bot=True)
    *_, reply = await here.asked(2)
    assert here.questions == [HOW_TALL, "What do they say?"]
    assert [[f.name for f in each.files] for each in await entries(here, reply)][-1] == ["notes.md"]


@pytest.mark.parametrize("comment", ["", "is that so?"])
async def test_a_comment_on_a_forward_asks_about_it(
    here: Running, room: Room, comment: str
) -> None:
    origin = room.discord.people.say(room.bob, room.general, "The tower is 330 m tall.")
    elsewhere = room.discord.text(room.guild, "elsewhere")
    text = f"{room.discord.bot.mention} {comment}".strip()
    room.discord.people.forward(room.ada, origin, elsewhere, text)
    (reply,) = await here.asked()
    if comment:
        assert reply.run.message.text == comment
        (entry,) = await entries(here, reply)
        assert re.fullmatch(rf"> #general, {DAY}:\n> The tower is 330 m tall\.", entry.text)
    else:
        assert "The tower is 330 m tall." in reply.run.message.text


async def test_a_forward_to_footnote_is_a_question(here: Running, room: Room) -> None:
    origin = room.discord.people.say(room.bob, room.general, HOW_TALL)
    room.discord.people.forward(room.ada, origin, room.discord.direct(room.ada))
    (reply,) = await here.asked()
    assert reply.run.message.text.endswith(f"> {HOW_TALL}")


async def test_a_long_paste_is_the_question(here: Running, room: Room) -> None:
    paste = "Why does this fail?\n\n" + "Traceback: <@1> x\n" * 200
    file = File("message.txt", paste.encode(), "text/plain; charset=utf-8")
    room.discord.people.say(room.ada, room.discord.direct(room.ada), attachments=[file])
    (reply,) = await here.asked()
    assert reply.run.message.text == paste.strip()
    assert reply.run.message.attachments == ()


async def test_a_paste_that_no_question_can_be_is_a_file(here: Running, room: Room) -> None:
    file = File("message.txt", b"word " * 5_000, "text/plain; charset=utf-8")
    room.discord.people.say(room.ada, room.discord.direct(room.ada), attachments=[file])
    (reply,) = await here.asked()
    assert "message.txt" in reply.run.message.text
    assert [each.name for each in reply.run.message.attachments] == ["message.txt"]


async def test_the_title_and_tags_of_a_forum_post_belong_to_the_question(
    here: Running, room: Room
) -> None:
    forum = room.discord.forum(room.guild, "questions", "towers", "old")
    room.discord.people.forum_post(
        room.ada, forum, "How tall is it?", "The tower.", mentions_bot=True, tags=("old",)
    )
    (reply,) = await here.asked()
    assert reply.run.message.text == "How tall is it? (old)\n\nThe tower."


# ---------------------------------------------------------------- people through apps


async def test_a_person_who_writes_through_a_proxy_is_answered(here: Running, room: Room) -> None:
    app, hook = room.discord.app_user("PluralKit"), room.discord.app_user("Robin")
    said = room.discord.people.say(room.ada, room.general, f"r: {HOW_TALL}", mentions_bot=True)
    await here.asked()
    text = f"{room.discord.bot.mention} {HOW_TALL}"
    again = room.discord.people.proxy(app, hook, said, text)
    await here.until(lambda: here.poster.removed)
    first, second = await here.asked(2)
    assert here.poster.removed[0][0] == first.run.id
    assert (second.run.message.event_id, second.run.message.text) == (again.id, HOW_TALL)
    assert second.run.message.author.name == "Robin"


async def test_proxies_ask_so_often_and_no_more(
    here: Running, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "APP_QUESTIONS", 1)
    app, hook = room.discord.app_user("PluralKit"), room.discord.app_user("Robin")
    for question in ("One?", "Two?"):
        said = room.discord.people.say(room.ada, room.general, "x")
        room.discord.people.proxy(app, hook, said, f"{room.discord.bot.mention} {question}")
    await here.barrier(room.bob, room.general)
    assert here.questions == ["One?", "Barrier?"]


# ---------------------------------------------------------------- where there are no threads


async def test_a_reply_to_an_answer_in_the_channel_continues_it(here: Running, room: Room) -> None:
    said = room.discord.people.say(room.ada, room.general, HOW_TALL, mentions_bot=True)
    await here.asked()
    ours = here.post_as_bot(room.general, "It is 330 m.", said)
    follow = room.discord.people.say(room.bob, room.general, "And how old?", reply_to=ours)
    *_, reply = await here.asked(2)
    assert reply.run.message.text == "And how old?"
    assert reply.run.message.thread.thread == said.id
    assert reply.saved == {"message": follow.id, "place": room.general.id}
    room.discord.people.say(room.bob, room.general, "Thanks", reply_to=said)
    await here.barrier(room.bob, room.general)
    assert here.questions == [HOW_TALL, "And how old?", "Barrier?"]


# ---------------------------------------------------------------- strangers


@pytest.mark.parametrize(
    ("strangers", "who", "guest"),
    [("off", "member", False), ("off", "stranger", True), ("on", "stranger", False)],
)
async def test_who_is_in_no_server_of_ours_is_a_guest(
    open_footnote: Open, room: Room, strangers: str, who: str, guest: bool
) -> None:
    asker = room.ada if who == "member" else room.discord.user("Eve")
    async with open_footnote(discord_strangers=strangers) as here:
        room.discord.people.say(asker, room.discord.direct(asker), HOW_TALL)
        (reply,) = await here.asked()
        record = await here.run_record(reply)
        assert record.options.guest is guest
        reader = Reader.of_stored(record.message, record.options)
        assert Rights(here.reception.settings).reach(reader).allows("file:///notes.md") is not guest


async def test_who_cannot_be_looked_up_sees_what_guests_see(
    open_footnote: Open, room: Room
) -> None:
    async with open_footnote() as here:
        room.discord.down(where="/users/@me/guilds")
        room.discord.people.say(room.ada, room.discord.direct(room.ada), HOW_TALL)
        (reply,) = await here.asked()
        assert (await here.run_record(reply)).options.guest is None
