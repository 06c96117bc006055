"""Where a reply goes in Discord, and that there is exactly one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.fakes.discord_server import Channel, FakeDiscord, Guild, User
from tests.unit.adapters.discord.way_out import (
    Stage,
    a_plan,
    a_stage,
    an_answer,
    fake_discord,
)


@pytest.fixture
def fake() -> Iterator[FakeDiscord]:
    with fake_discord() as fake:
        yield fake


@pytest.fixture
async def stage(fake: FakeDiscord) -> AsyncIterator[Stage]:
    async with a_stage(fake) as stage:
        yield stage


@pytest.fixture
def guild(fake: FakeDiscord) -> Guild:
    return fake.guild("Reading room")


@pytest.fixture
def ada(fake: FakeDiscord, guild: Guild) -> User:
    return fake.member(guild, "Ada")


@pytest.fixture
def general(fake: FakeDiscord, guild: Guild) -> Channel:
    return fake.text(guild, "general")


# ---------------------------------------------------------------- places


async def test_a_mention_is_answered_in_a_thread_made_from_it(
    fake: FakeDiscord, stage: Stage, ada: User, general: Channel
) -> None:
    said = fake.people.say(ada, general, "Why is the sky blue?", mentions_bot=True)
    await stage.answer(stage.mention(said))
    thread = fake.thread_of(said)
    assert thread is not None
    assert thread.name == "Why is the sky blue?"
    assert [post.content for post in fake.posts(thread)] == [
        "It is blue [[1]](<https://example.org/1>)."
    ]
    assert fake.posts(general) == []


async def test_a_direct_message_is_answered_in_place_as_a_reply(
    fake: FakeDiscord, stage: Stage, ada: User
) -> None:
    said = fake.people.say(ada, fake.direct(ada), "Why is the sky blue?")
    await stage.answer(stage.mention(said))
    (post,) = fake.posts(fake.direct(ada))
    assert post.reply_to == said.id


async def test_a_message_in_a_thread_is_answered_there(
    fake: FakeDiscord, stage: Stage, ada: User, general: Channel
) -> None:
    thread = fake.people.start_thread(ada, general, "Physics")
    said = fake.people.say(ada, thread, "Why is the sky blue?", mentions_bot=True)
    await stage.answer(stage.mention(said))
    (post,) = fake.posts(thread)
    assert post.reply_to == said.id


async def test_a_forum_post_is_answered_inside(
    fake: FakeDiscord, stage: Stage, ada: User, guild: Guild
) -> None:
    forum = fake.forum(guild, "questions")
    thread, first = fake.people.forum_post(ada, forum, "Sky", "Why blue?", mentions_bot=True)
    kept = stage.mention(first)
    assert kept.message.thread.thread == first.id == thread.id
    await stage.answer(kept)
    assert len(fake.posts(thread)) == 1


async def test_a_command_becomes_its_question_and_a_thread(
    fake: FakeDiscord, stage: Stage, ada: User, general: Channel
) -> None:
    kept, _ = await stage.ask(ada, general, "Why is the *sky* blue?")
    await stage.answer(kept)
    (echo,) = fake.posts(general)
    assert "Ada" in echo.content
    assert "Why is the \\*sky\\* blue?" in echo.content
    assert not echo.loading
    thread = fake.thread_of(fake.message(general, echo))
    assert thread is not None
    assert kept.message.thread.thread == thread.id
    assert len(fake.posts(thread)) == 1


async def test_a_command_in_a_thread_is_answered_there(
    fake: FakeDiscord, stage: Stage, ada: User, general: Channel
) -> None:
    thread = fake.people.start_thread(ada, general, "Physics")
    kept, _ = await stage.ask(ada, thread, "Why is the sky blue?")
    await stage.answer(kept)
    echo, post = fake.posts(thread)
    assert "Why is the sky blue?" in echo.content
    assert post.content.startswith("It is blue")


async def test_a_command_in_a_direct_message_is_answered_there(
    fake: FakeDiscord, stage: Stage, ada: User
) -> None:
    kept, _ = await stage.ask(ada, fake.direct(ada), "Why is the sky blue?")
    await stage.answer(kept)
    _, post = fake.posts(fake.direct(ada))
    assert post.content.startswith("It is blue")


async def test_where_the_bot_is_no_member_the_command_itself_is_answered(
    fake: FakeDiscord, stage: Stage
) -> None:
    elsewhere = fake.guild("Elsewhere", installed=False)
    bob = fake.member(elsewhere, "Bob")
    lobby = fake.text(elsewhere, "lobby")
    kept, asked = await stage.ask(bob, lobby, "Why is the sky blue?")
    reply = await stage.open(kept)
    reply.progress(a_plan("sky"))
    await reply.finish(an_answer(kept))
    (post,) = asked.replies
    assert "Why is the sky blue?" in post.content
    assert "It is blue" in post.content
    assert "not a member" in str(post.embeds)


async def test_an_archived_thread_is_opened_again(
    fake: FakeDiscord, stage: Stage, ada: User, general: Channel
) -> None:
    thread = fake.people.start_thread(ada, general, "Physics")
    said = fake.people.say(ada, thread, "Why is the sky blue?", mentions_bot=True)
    kept = stage.mention(said)
    fake.people.archive(thread)
    reply = await stage.open(kept)
    fake.people.archive(thread)
    await reply.finish(an_answer(kept))
    assert not thread.archived
    (post,) = fake.posts(thread)
    assert post.content.startswith("It is blue")
