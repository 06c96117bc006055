"""Replies in Discord: their places, the substitutes where one is forbidden, and their removal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from yarl import URL

from adapters.discord import limits
from adapters.discord.buttons import encode
from bot.core.errors import FootnoteError, PageUnreadable, PlatformUnavailable, PostRefused
from bot.core.messages import Attachment
from bot.service.buttons import OnRun
from tests.fakes.discord_server import Channel, File, Interaction, Message, Seen, User
from tests.unit.adapters.discord.way_out import Kept, Stage, a_plan, a_stage, an_answer

BLUE = "It is blue [[1]](<https://example.org/1>)."
SOURCES = "-# \\[1\\] [Page 1](<https://example.org/1>)"
CITED = f"{BLUE}\n{SOURCES}"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with a_stage() as stage:
        yield stage


def shown(stage: Stage, channel: Channel) -> list[Seen]:
    return stage.fake.posts(channel)


# ---------------------------------------------------------------- where it goes


async def test_a_mention_is_answered_in_a_thread_made_from_it(stage: Stage) -> None:
    said, kept = stage.asked()
    await stage.answer(kept)
    thread = stage.thread(said)
    assert thread.name == "Why is the sky blue?"
    assert [post.content for post in shown(stage, thread)] == [CITED]
    assert shown(stage, stage.general) == []


async def test_a_thread_that_is_there_already_is_used(stage: Stage) -> None:
    said, kept = stage.asked()
    thread = stage.fake.people.start_thread(stage.ada, stage.general, "Sky", source=said)
    await stage.answer(kept)
    assert [post.content for post in shown(stage, thread)] == [CITED]


@pytest.fixture(params=["direct", "thread"])
def inside(request: pytest.FixtureRequest, stage: Stage) -> Channel:
    """A place in which the answer stands beside its question."""
    if request.param == "direct":
        return stage.fake.direct(stage.ada)
    return stage.fake.people.start_thread(stage.ada, stage.general, "Physics")


async def test_a_message_is_answered_in_place_as_a_reply(stage: Stage, inside: Channel) -> None:
    said = stage.fake.people.say(stage.ada, inside, "Why is the sky blue?", mentions_bot=True)
    await stage.answer(stage.mention(said))
    (post,) = shown(stage, inside)
    assert (post.content, post.reply_to) == (CITED, said.id)


async def test_a_command_is_answered_in_place_below_its_question(
    stage: Stage, inside: Channel
) -> None:
    kept, _ = await stage.ask(stage.ada, inside, "Why is the sky blue?")
    await stage.answer(kept)
    echo, post = shown(stage, inside)
    assert "Why is the sky blue?" in echo.content
    assert post.content == CITED


async def test_a_forum_post_is_answered_inside(stage: Stage) -> None:
    forum = stage.fake.forum(stage.guild, "questions")
    post = stage.fake.people.forum_post
    thread, first = post(stage.ada, forum, "Sky", "Why blue?", mentions_bot=True)
    kept = stage.mention(first)
    assert kept.message.thread.thread == first.id == thread.id
    kept.state = {"message": first.id, "place": thread.id}  # as the listener gives it
    await stage.answer(kept)
    assert len(shown(stage, thread)) == 1
    assert not stage.fake.requests("POST", "/threads"), "it is a thread already"
    await stage.poster.remove(kept.run, kept.state)
    assert not thread.archived


async def test_a_command_becomes_its_question_and_a_thread(stage: Stage) -> None:
    kept, _ = await stage.ask(stage.ada, stage.general, "Why is the *sky* blue?")
    await stage.answer(kept)
    (echo,) = shown(stage, stage.general)
    assert "Ada" in echo.content
    assert "Why is the \\*sky\\* blue?" in echo.content
    assert not echo.loading
    thread = stage.thread(stage.fake.message(stage.general, echo))
    assert kept.message.thread.thread == thread.id
    assert [post.content for post in shown(stage, thread)] == [CITED]


async def test_a_command_that_waited_more_than_15_minutes_is_still_answered(stage: Stage) -> None:
    kept, _ = await stage.ask(stage.ada, stage.general, "Why is the sky blue?")
    stage.fake.clock.advance(16 * 60)
    await stage.answer(kept)
    _, echo = shown(stage, stage.general)  # the first one stays "thinking": Discord ends that
    assert "Why is the sky blue?" in echo.content
    thread = stage.thread(stage.fake.message(stage.general, echo))
    assert [post.content for post in shown(stage, thread)] == [CITED]


@pytest.mark.parametrize("place", ["server", "private"])
async def test_where_the_bot_is_no_member_the_command_itself_is_answered(
    stage: Stage, place: str
) -> None:
    if place == "server":
        elsewhere = stage.fake.guild("Elsewhere", installed=False)
        bob = stage.fake.member(elsewhere, "Bob")
        there = stage.fake.text(elsewhere, "lobby")
    else:
        bob = stage.fake.user("Bob")
        there = stage.fake.private(stage.ada, bob)
    kept, asked = await stage.ask(bob, there, "Why is the sky blue?")
    reply = await stage.open(kept)
    reply.progress(a_plan("sky"))
    await reply.finish(an_answer(kept))
    (post,) = asked.replies
    for part in ("Why is the sky blue?", BLUE, SOURCES, "not a member"):
        assert part in post.text


LONG = "\n\n".join(f"Part {number} {'word ' * 280}" for number in range(24))


async def elsewhere(stage: Stage) -> tuple[User, Kept, Interaction]:
    """Bob asks in a server that the bot is not a member of."""
    guild = stage.fake.guild("Elsewhere", installed=False)
    bob = stage.fake.member(guild, "Bob")
    return bob, *(await stage.ask(bob, stage.fake.text(guild, "lobby"), "Why?"))


def files_of(stage: Stage, message: Message) -> list[str]:
    stored = stage.fake.world.files
    return [stored[URL(each["url"]).path][1].decode() for each in message.attachments]


async def test_where_the_bot_is_no_member_all_of_a_long_answer_is_there(stage: Stage) -> None:
    _, kept, asked = await elsewhere(stage)
    reply = await stage.open(kept)
    await reply.finish(an_answer(kept, LONG))
    *parts, last, file = asked.replies
    assert len(parts) == 4
    assert last.components
    assert file.content.startswith("The answer is too long for a message")
    (text,) = files_of(stage, file)
    assert [f"Part {number} " in text for number in range(24)] == [True] * 24
    await reply.finish(an_answer(kept, LONG.replace("Part 11", "Part eleven")))
    assert len(asked.replies) == 6
    (text,) = files_of(stage, file)
    assert "Part eleven" in text
    await stage.poster.remove(kept.run, kept.state)
    assert asked.replies == []


async def test_what_takes_too_long_for_an_interaction_comes_directly(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, kept, asked = await elsewhere(stage)
    reply = await stage.open(kept)
    monkeypatch.setattr(limits, "RESPONSE_SECONDS", 0.0)
    reply.progress(a_plan("sky"))
    direct = stage.fake.direct(bob)
    await stage.fake.until(lambda: asked.replies[0].text.endswith("as a direct message."))
    await reply.finish(an_answer(kept))
    (post,) = shown(stage, direct)
    assert BLUE in post.content
    assert "only 15 minutes" in post.content
    assert len(asked.replies) == 1


async def test_what_took_too_long_for_an_interaction_comes_directly(stage: Stage) -> None:
    bob, kept, _ = await elsewhere(stage)
    reply = await stage.open(kept)
    stage.fake.clock.advance(16 * 60)
    await reply.finish(an_answer(kept))
    (post,) = shown(stage, stage.fake.direct(bob))
    assert BLUE in post.content
    assert "only 15 minutes" in post.content


async def test_who_takes_no_direct_messages_is_told_in_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, kept, asked = await elsewhere(stage)
    bob.accepts_direct = False
    reply = await stage.open(kept)
    monkeypatch.setattr(limits, "RESPONSE_SECONDS", 0.0)
    reply.progress(a_plan("sky"))
    await stage.fake.until(lambda: "I cannot send you" in asked.replies[0].text)
    await reply.abandon()


async def test_an_interaction_without_follow_ups_left_is_answered_directly(stage: Stage) -> None:
    bob, kept, asked = await elsewhere(stage)
    reply = await stage.open(kept)
    await reply.finish(an_answer(kept, LONG[:20_000]))
    for message in asked.replies[2:]:
        stage.fake.people.delete(message)
    await reply.finish(an_answer(kept, LONG[:20_000]))
    posts = shown(stage, stage.fake.direct(bob))
    assert "only a few messages" in posts[-1].content
    assert "Part 0 " in posts[0].content


# ---------------------------------------------------------------- where it may not go


@pytest.mark.parametrize(
    ("denied", "is_reply"),
    [
        (("CREATE_PUBLIC_THREADS",), True),
        (("SEND_MESSAGES_IN_THREADS",), True),
        (("CREATE_PUBLIC_THREADS", "READ_MESSAGE_HISTORY"), False),
    ],
)
async def test_without_a_thread_it_answers_in_the_channel_and_says_so(
    stage: Stage, denied: tuple[str, ...], is_reply: bool
) -> None:
    stage.fake.deny(stage.general, *denied)
    said, kept = stage.asked()
    await stage.answer(kept)
    (post,) = shown(stage, stage.general)
    assert post.content.startswith(BLUE)
    assert "not allowed to open a thread" in post.content
    assert post.content.endswith(SOURCES)
    assert post.reply_to == (said.id if is_reply else None)


async def test_an_answer_needs_no_permission_for_embeds(stage: Stage) -> None:
    said, kept = stage.asked()
    stage.fake.deny(stage.general, "EMBED_LINKS")
    reply = await stage.open(kept)
    reply.progress(a_plan("sky"))
    (post,) = shown(stage, stage.thread(said))
    assert "Researching" in post.content
    await reply.finish(an_answer(kept))
    (post,) = shown(stage, stage.thread(said))
    assert post.content == CITED


@pytest.mark.parametrize("place", ["a closed channel", "a locked thread"])
async def test_where_the_bot_may_not_write_a_command_is_answered_as_its_response(
    stage: Stage, place: str
) -> None:
    there = stage.general
    if place == "a locked thread":
        there = stage.fake.people.start_thread(stage.ada, there, "Physics")
    kept, asked = await stage.ask(stage.ada, there, "Why is the sky blue?")
    if place == "a locked thread":
        stage.fake.people.archive(there, locked=True)
    else:
        stage.fake.deny(there, "VIEW_CHANNEL")
    await stage.answer(kept)
    (post,) = asked.replies
    assert BLUE in post.text


async def test_what_follows_an_answer_in_the_channel_stands_there_too(stage: Stage) -> None:
    stage.fake.deny(stage.general, "CREATE_PUBLIC_THREADS")
    said, kept = stage.asked()
    await stage.answer(kept)
    deeper = Kept(replace(kept.message, event_id=f"{kept.id}:deeper"), None)
    await stage.answer(deeper)
    assert [post.reply_to for post in shown(stage, stage.general)] == [said.id, said.id]


async def test_where_nothing_can_be_posted_the_asker_is_told_in_private(stage: Stage) -> None:
    stage.fake.deny(
        stage.general, "CREATE_PUBLIC_THREADS", "SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"
    )
    _, kept = stage.asked()
    with pytest.raises(PostRefused, match="not allowed to write"):
        await stage.open(kept)
    (told,) = shown(stage, stage.fake.direct(stage.ada))
    assert "not allowed to write" in told.content


async def test_who_takes_no_direct_messages_is_not_told_and_nothing_breaks(stage: Stage) -> None:
    stage.fake.deny(stage.general, "VIEW_CHANNEL")
    _, kept = stage.asked()
    stage.ada.accepts_direct = False
    with pytest.raises(PostRefused):
        await stage.open(kept)


async def test_a_channel_that_vanishes_meanwhile_is_refused_with_a_word_to_the_asker(
    stage: Stage,
) -> None:
    _, kept = stage.asked()
    reply = await stage.open(kept)
    thread = stage.fake.world.channels[kept.message.thread.thread]
    stage.fake.people.delete_channel(thread)
    with pytest.raises(PostRefused):
        await reply.finish(an_answer(kept))
    assert len(shown(stage, stage.fake.direct(stage.ada))) == 1


async def test_a_deleted_question_is_refused(stage: Stage) -> None:
    said, kept = stage.asked()
    stage.fake.people.delete(said)
    with pytest.raises(PostRefused):
        await stage.open(kept)


async def test_an_archived_thread_is_opened_again(stage: Stage) -> None:
    thread = stage.fake.people.start_thread(stage.ada, stage.general, "Physics")
    said = stage.fake.people.say(stage.ada, thread, "Why is the sky blue?", mentions_bot=True)
    kept = stage.mention(said)
    stage.fake.people.archive(thread)
    reply = await stage.open(kept)
    stage.fake.people.archive(thread)
    await reply.finish(an_answer(kept))
    assert not thread.archived
    assert [post.content for post in shown(stage, thread)] == [CITED]


async def test_a_locked_thread_refuses_a_message_and_the_asker_is_told(stage: Stage) -> None:
    thread = stage.fake.people.start_thread(stage.ada, stage.general, "Physics")
    said = stage.fake.people.say(stage.ada, thread, "Why is the sky blue?", mentions_bot=True)
    stage.fake.people.archive(thread, locked=True)
    with pytest.raises(PostRefused):
        await stage.open(stage.mention(said))
    assert len(shown(stage, stage.fake.direct(stage.ada))) == 1


# ---------------------------------------------------------------- waiting


async def test_a_question_that_waits_is_told_so_and_that_message_becomes_its_reply(
    stage: Stage,
) -> None:
    direct = stage.fake.direct(stage.ada)
    kept = stage.mention(stage.fake.people.say(stage.ada, direct, "And at night?"))
    await stage.poster.queued(kept.run, 2)
    (waiting,) = shown(stage, direct)
    assert "2 questions are ahead" in waiting.content
    reply = await stage.open(kept)
    assert "Researching" in shown(stage, direct)[0].content
    await reply.finish(an_answer(kept))
    (post,) = shown(stage, direct)
    assert (post.id, post.content) == (waiting.id, CITED)


async def test_a_question_that_waited_long_still_has_one_reply(stage: Stage) -> None:
    direct = stage.fake.direct(stage.ada)
    kept = stage.mention(stage.fake.people.say(stage.ada, direct, "And at night?"))
    await stage.poster.queued(kept.run, 1)
    stage.fake.clock.advance(3600)
    long_ago = kept.message.at.replace(year=kept.message.at.year - 1)
    kept.message = replace(kept.message, at=long_ago)
    await stage.answer(kept)
    assert [post.content for post in shown(stage, direct)] == [CITED]


async def test_a_late_notice_of_waiting_leaves_the_answer_alone(stage: Stage) -> None:
    said, kept = stage.asked()
    await stage.answer(kept)
    await stage.poster.queued(kept.run, 1)
    assert [post.content for post in shown(stage, stage.thread(said))] == [CITED]


async def test_a_notice_of_waiting_whose_response_was_lost_leaves_the_answer_alone(
    stage: Stage,
) -> None:
    direct = stage.fake.direct(stage.ada)
    kept = stage.mention(stage.fake.people.say(stage.ada, direct, "And at night?"))
    stage.fake.cut(where="/messages")
    queued = asyncio.create_task(stage.poster.queued(kept.run, 1))
    await stage.fake.until(lambda: shown(stage, direct))
    await stage.answer(kept)
    await queued
    assert len(stage.fake.requests("POST", f"/channels/{direct.id}/messages")) >= 2
    assert [post.content for post in shown(stage, direct)] == [CITED]


# ---------------------------------------------------------------- leaving


async def test_removing_takes_the_reply_and_the_thread_that_was_made_for_it(stage: Stage) -> None:
    stage.fake.allow(stage.general, "MANAGE_THREADS")
    said, kept = stage.asked()
    await stage.answer(kept, an_answer(kept, "\n\n".join(["word " * 700] * 3)))
    thread = stage.thread(said)
    stage.fake.people.delete(said)
    await stage.poster.remove(kept.run, kept.state)
    assert thread.id not in stage.fake.world.channels


async def test_a_thread_in_which_others_wrote_stays(stage: Stage) -> None:
    stage.fake.allow(stage.general, "MANAGE_THREADS")
    said, kept = stage.asked()
    await stage.answer(kept)
    thread = stage.thread(said)
    stage.fake.people.say(stage.ada, thread, "Thank you")
    await stage.poster.remove(kept.run, kept.state)
    assert thread.id in stage.fake.world.channels
    assert shown(stage, thread) == []


async def test_without_permission_for_it_the_empty_thread_is_archived(stage: Stage) -> None:
    said, kept = stage.asked()
    await stage.answer(kept)
    await stage.poster.remove(kept.run, kept.state)
    thread = stage.thread(said)
    assert shown(stage, thread) == []
    assert thread.archived


async def test_a_thread_that_others_made_stays(stage: Stage) -> None:
    stage.fake.allow(stage.general, "MANAGE_THREADS")
    thread = stage.fake.people.start_thread(stage.ada, stage.general, "Physics")
    said = stage.fake.people.say(stage.ada, thread, "Why is the sky blue?", mentions_bot=True)
    kept = stage.mention(said)
    await stage.answer(kept)
    stage.fake.people.delete(said)
    await stage.poster.remove(kept.run, kept.state)
    assert thread.id in stage.fake.world.channels


@pytest.mark.parametrize("gone", ["never posted", "posts", "thread"])
async def test_removing_what_is_gone_already_is_fine(stage: Stage, gone: str) -> None:
    said, kept = stage.asked()
    if gone != "never posted":
        await stage.answer(kept)
        thread = stage.thread(said)
        for post in shown(stage, thread):
            stage.fake.people.delete(stage.fake.message(thread, post))
        if gone == "thread":
            stage.fake.people.delete_channel(thread)
    await stage.poster.remove(kept.run, kept.state)


# ---------------------------------------------------------------- what was said before


async def test_the_history_of_a_thread_is_what_others_said_in_it(stage: Stage) -> None:
    people = stage.fake.people
    opener = people.say(stage.ada, stage.general, "Rayleigh was a physicist.")
    thread = people.start_thread(stage.ada, stage.general, "Physics", source=opener)
    people.say(stage.ada, thread, f"{stage.ada.mention} likes him, see <https://example.org/r>.")
    earlier = people.say(stage.ada, thread, "Who was he?", mentions_bot=True)
    await stage.answer(stage.mention(earlier))
    said = people.say(stage.ada, thread, "And when?", mentions_bot=True)
    people.say(stage.ada, thread, "This comes later.")
    kept = stage.mention(said)
    told = await stage.poster.history(kept.run)
    assert [message.text for message in told] == [
        "Rayleigh was a physicist.",
        "@Ada likes him, see https://example.org/r.",
        "Who was he?",
    ]
    assert told[0].author.name == "Ada"
    assert told[1].links == ("https://example.org/r",)
    assert {message.thread for message in told} == {kept.message.thread}


async def test_the_history_of_a_forum_post_has_its_title_and_files(stage: Stage) -> None:
    forum = stage.fake.forum(stage.guild, "questions")
    thread, _ = stage.fake.people.forum_post(stage.ada, forum, "How tall is it?", "The tower.")
    shot = File("shot.png", b"x", "image/png")
    stage.fake.people.say(stage.ada, thread, attachments=[shot])
    said = stage.fake.people.say(stage.ada, thread, "Who knows?", mentions_bot=True)
    told = await stage.poster.history(stage.mention(said).run)
    assert [message.text for message in told] == ["How tall is it?\n\nThe tower.", "shot.png"]
    assert [file.media_type for file in told[1].attachments] == ["image/png"]


async def test_a_history_that_may_not_be_read_is_told_in_the_askers_language(
    stage: Stage,
) -> None:
    thread = stage.fake.people.start_thread(stage.ada, stage.general, "Physics")
    said = stage.fake.people.say(stage.ada, thread, "为什么？", mentions_bot=True)
    stage.fake.deny(stage.general, "READ_MESSAGE_HISTORY")
    with pytest.raises(FootnoteError, match="看不到这里之前的消息"):
        await stage.poster.history(stage.mention(said, locale="zh-CN").run)


async def test_only_the_latest_hundred_messages_are_read(stage: Stage) -> None:
    thread = stage.fake.people.start_thread(stage.ada, stage.general, "Physics")
    for number in range(150):
        stage.fake.people.say(stage.ada, thread, f"Message {number}")
    said = stage.fake.people.say(stage.ada, thread, "So?", mentions_bot=True)
    told = await stage.poster.history(stage.mention(said).run)
    assert [told[0].text, told[-1].text, len(told)] == ["Message 51", "Message 149", 99]


# ---------------------------------------------------------------- where it is found again


def link(*ids: str) -> str:
    return "/".join(("https://discord.com/channels", *ids))


async def test_an_answer_in_a_thread_is_located_there(stage: Stage) -> None:
    said, kept = stage.asked()
    await stage.answer(kept)
    where = await stage.poster.whereabouts(kept.run)
    assert where.url == link(stage.guild.id, said.id, said.id)
    assert (where.channel_name, where.place) == ("general", kept.message.thread.home)


async def test_an_answer_in_a_direct_message_is_located_there(stage: Stage) -> None:
    direct = stage.fake.direct(stage.ada)
    kept = stage.mention(said := stage.fake.people.say(stage.ada, direct, "Why?"))
    await stage.answer(kept)
    where = await stage.poster.whereabouts(kept.run)
    assert where.url == link("@me", direct.id, said.id)
    assert (where.channel_name, where.place) == ("", kept.message.thread.place)


@pytest.mark.parametrize("kind", ["the chat of a voice channel", "no right to open threads"])
async def test_an_answer_without_a_thread_is_located_in_the_channel(
    stage: Stage, kind: str
) -> None:
    channel = stage.fake.voice(stage.guild, "Talk") if "voice" in kind else stage.general
    stage.fake.deny(channel, "CREATE_PUBLIC_THREADS")
    kept = stage.mention(said := stage.fake.people.say(stage.ada, channel, "Why?"))
    await stage.answer(kept)
    assert len(shown(stage, channel)) == 1
    where = await stage.poster.whereabouts(kept.run)
    assert where.url == link(stage.guild.id, channel.id, said.id)
    home = kept.message.thread.home
    is_open = channel is stage.general
    assert where.place == (home if is_open else kept.message.thread.place)
    later = stage.fake.people.say(stage.ada, channel, "And why?")
    follow_up = replace(kept.message, event_id=later.id)
    await stage.poster.queued(Kept(follow_up, None).run, 1)
    assert shown(stage, channel)[-1].content.startswith("Queued.")


# ---------------------------------------------------------------- files


def attached(stage: Stage, data: bytes) -> Attachment:
    said = stage.fake.people.say(
        stage.ada, stage.general, "See", attachments=[File("notes.txt", data)]
    )
    url = stage.fake.world.sign(said.attachments[0]["url"])
    return Attachment("notes.txt", "text/plain", url)


async def test_a_file_that_is_gone_is_told_so(stage: Stage) -> None:
    _, kept = stage.asked()
    file = attached(stage, b"blue")
    gone = replace(file, url=file.url.replace("notes", "gone"))
    with pytest.raises(PageUnreadable, match="no longer there"):
        await stage.poster.download(kept.run, gone, 100)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/attachments/1/2/notes.txt",
        "http://cdn.discordapp.com/attachments/1/2/notes.txt",
        "https://cdn.discordapp.com.example.org/notes.txt",
        "https://cdn.discordapp.com@example.org/notes.txt",
        "http://127.0.0.1:1/notes.txt",
        "file:///etc/passwd",
        "notes.txt",
    ],
)
async def test_files_are_fetched_from_discord_only(stage: Stage, url: str) -> None:
    _, kept = stage.asked()
    with pytest.raises(PageUnreadable, match="not on Discord's servers"):
        await stage.poster.download(kept.run, Attachment("notes.txt", "text/plain", url), 100)


# ---------------------------------------------------------------- Discord is away


async def test_a_revoked_token_is_no_refusal_of_the_answer(stage: Stage) -> None:
    _, kept = stage.asked()
    reply = await stage.open(kept)
    stage.fake.app.token = "another"
    with pytest.raises(PlatformUnavailable):
        await reply.finish(an_answer(kept))


async def test_a_closed_client_counts_as_away(stage: Stage) -> None:
    _, kept = stage.asked()
    await stage.client.close()
    with pytest.raises(PlatformUnavailable):
        await stage.open(kept)


# ---------------------------------------------------------------- nobody is bothered


async def test_nothing_ever_pings(stage: Stage) -> None:
    hostile = f"@everyone <@{stage.ada.id}> <@&{stage.guild.id}> @here"
    said, kept = stage.asked(hostile)
    reply = await stage.open(kept)
    reply.progress(a_plan(hostile))
    reply.stream(hostile)
    await reply.finish(an_answer(kept, hostile, notes=(hostile,), suggestions=(hostile,)))
    asked, _ = await stage.ask(stage.ada, stage.general, hostile)
    await stage.answer(asked)
    assert stage.fake.pings() == []
    for request in stage.fake.requests("POST", "/messages") + stage.fake.requests("PATCH", "/"):
        if "components" in request.body:
            assert request.body["allowed_mentions"] == {"parse": []}
    assert stage.thread(said)


async def test_every_post_has_a_nonce_that_is_enforced(stage: Stage) -> None:
    _, kept = stage.asked()
    await stage.answer(kept, an_answer(kept, "\n\n".join(["word " * 700] * 3)))
    posts = [r.body for r in stage.fake.requests("POST") if r.path.endswith("/messages")]
    assert len(posts) == 3
    assert all(body["enforce_nonce"] for body in posts)
    assert len({body["nonce"] for body in posts}) == 3


async def test_deep_runs_do_not_offer_to_dig_deeper(stage: Stage) -> None:
    ids = []
    for depth in ("auto", "deep", "exhaustive"):
        said, kept = stage.asked()
        kept.options = replace(kept.options, depth=depth)
        await stage.answer(kept)
        (post,) = shown(stage, stage.thread(said))
        ids.append(encode(OnRun("deeper", kept.id)) in [button[1] for button in post.buttons])
    assert ids == [True, False, False]
