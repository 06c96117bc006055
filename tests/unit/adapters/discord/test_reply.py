"""One reply: its progress, its parts, and that it is there exactly once whatever happens."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from adapters.discord.reply import nonce_of
from bot.core.errors import PlatformUnavailable
from tests.fakes.discord_server import Channel, Seen
from tests.unit.adapters.discord.way_out import (
    Kept,
    Stage,
    a_plan,
    a_stage,
    an_answer,
)

LONG = "\n\n".join(f"Paragraph {n}. " + "word " * 700 for n in range(4))


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with a_stage() as stage:
        yield stage


@pytest.fixture
def direct(stage: Stage) -> Channel:
    return stage.fake.direct(stage.ada)


@pytest.fixture
def kept(stage: Stage, direct: Channel) -> Kept:
    return stage.mention(stage.fake.people.say(stage.ada, direct, "Why is the sky blue?"))


def shown(stage: Stage, channel: Channel) -> list[Seen]:
    return stage.fake.posts(channel)


# ---------------------------------------------------------------- while it works


async def test_of_a_long_text_the_beginning_is_shown_to_be_read(
    stage: Stage, kept: Kept, direct: Channel
) -> None:
    reply = await stage.open(kept)
    reply.stream("```python\nprint('the beginning')\n" + "print()\n" * 400)
    await stage.fake.until(lambda: "the beginning" in shown(stage, direct)[0].content)
    assert "```\n\n…\n**Researching" in shown(stage, direct)[0].content
    await reply.abandon()


async def test_footnotes_are_links_as_soon_as_their_pages_have_numbers(
    stage: Stage, kept: Kept, direct: Channel
) -> None:
    reply = await stage.open(kept)
    reply.progress(replace(a_plan("sky"), numbered=((1, "https://example.org/1"),)))
    reply.stream("It is blue [1], they say [2]")
    linked = "It is blue [[1]](<https://example.org/1>), they say [2]"
    await stage.fake.until(lambda: shown(stage, direct)[0].content.startswith(f"{linked}\n"))
    await reply.abandon()


async def test_a_progress_message_that_somebody_deletes_comes_back_as_the_answer(
    stage: Stage, kept: Kept, direct: Channel
) -> None:
    reply = await stage.open(kept)
    stage.fake.people.delete(stage.fake.message(direct, shown(stage, direct)[0]))
    await reply.finish(an_answer(kept))
    assert len(shown(stage, direct)) == 1


# ---------------------------------------------------------------- its end


# ---------------------------------------------------------------- anew


async def test_an_edited_question_may_be_answered_at_greater_length(
    stage: Stage, kept: Kept, direct: Channel
) -> None:
    await stage.answer(kept, an_answer(kept, LONG))
    reply = await stage.open(kept)
    await reply.finish(an_answer(kept, LONG.replace("word", "term")))
    posts = shown(stage, direct)
    assert len(posts) == 4
    assert not any("word" in post.content for post in posts)
    # Discord may remember the nonce of a message that was deleted, and give that back.
    nonces = [r.body["nonce"] for r in stage.fake.requests("POST", "/messages")]
    assert len(nonces) == len(set(nonces))


# ---------------------------------------------------------------- exactly once


async def test_limits_as_discords_are_kept(stage: Stage, kept: Kept, direct: Channel) -> None:
    stage.fake.traffic.limit("POST", "/channels/{channel_id}/messages", 2, 0.3)
    stage.fake.traffic.limit("PATCH", "/channels/{channel_id}/messages/{message_id}", 2, 0.3)
    reply = await stage.open(kept)
    for number in range(20):
        reply.progress(a_plan(f"query {number}"))
        await asyncio.sleep(0.02)
    await reply.finish(an_answer(kept, LONG))
    assert len(shown(stage, direct)) == 4
    assert all(request.status != 429 for request in stage.fake.requests())


async def test_too_much_of_it_is_told_as_being_away(stage: Stage, kept: Kept) -> None:
    reply = await stage.open(kept)
    stage.fake.storm(100, 0.01, where="PATCH")
    with pytest.raises(PlatformUnavailable) as away:
        await reply.finish(an_answer(kept))
    assert away.value.retry_after is not None


class Killed(BaseException):
    """The process dies here."""


class Dying(Kept):
    """A run whose process dies at the ``nth`` save, before or after it is kept."""

    nth: int = -1
    after: bool = False

    async def save(self, state: dict[str, Any]) -> None:
        self.nth -= 1
        if self.nth == 0 and not self.after:
            raise Killed
        await super().save(state)
        if self.nth == 0:
            raise Killed


@pytest.mark.parametrize("minutes", [0, 20], ids=["at once", "after 20 minutes"])
@pytest.mark.parametrize("after", [False, True], ids=["before saving", "after saving"])
@pytest.mark.parametrize("nth", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize(
    "kind",
    ["mention", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("direct", "command"))],
)
async def test_dying_at_any_save_leaves_one_answer(
    stage: Stage, kind: str, nth: int, after: bool, minutes: int
) -> None:
    if kind == "command":
        plain, _ = await stage.ask(stage.ada, stage.general, "Why is the sky blue?")
    elif kind == "mention":
        _, plain = stage.asked()
    else:
        direct = stage.fake.direct(stage.ada)
        plain = stage.mention(stage.fake.people.say(stage.ada, direct, "Why is the sky blue?"))
    kept = Dying(plain.message, plain.state)
    kept.nth, kept.after = nth, after
    answer = an_answer(kept, LONG)
    with pytest.raises(Killed):
        await stage.answer(kept, answer)
    kept.nth = -1
    stage.fake.clock.advance(minutes * 60)
    if minutes:
        kept.message = replace(kept.message, at=kept.message.at.replace(year=2020))
    await stage.answer(kept, answer)
    seen = [
        post.content
        for channel in list(stage.fake.world.channels.values())
        for post in stage.fake.posts(channel)
        if "Question from" not in post.content
    ]
    assert [content[:11] for content in seen] == [f"Paragraph {n}" for n in range(4)]


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_breaks_there_is_one_answer_in_the_end(stage: Stage, seed: int) -> None:
    dice = random.Random(seed)
    said, kept = stage.asked()
    answer = an_answer(kept, LONG)
    for _ in range(6):
        for _ in range(dice.randrange(3)):
            where = dice.choice(["POST /channels", "PATCH /channels", "/threads", "DELETE"])
            trouble = dice.choice(["cut", "reset", "503", "storm"])
            if trouble == "cut":
                stage.fake.cut(where=where, times=dice.randrange(1, 3))
            elif trouble == "storm":
                stage.fake.storm(dice.randrange(1, 4), 0.01, where=where)
            else:
                stage.fake.down(trouble, where=where, times=dice.randrange(1, 4))  # type: ignore[arg-type]
        attempt = asyncio.create_task(stage.answer(kept, answer))
        await asyncio.wait({attempt}, timeout=dice.random() * 0.08)
        attempt.cancel()  # the process is killed at some moment
        await asyncio.wait({attempt})
        if dice.random() < 0.3:
            stage.fake.clock.advance(600)
            kept.message = replace(kept.message, at=kept.message.at.replace(year=2020))
        stage.fake.up()
    await stage.answer(kept, answer)
    assert [post.content[:11] for post in shown(stage, stage.thread(said))] == [
        f"Paragraph {n}" for n in range(4)
    ]


# ---------------------------------------------------------------- nonces


def test_a_nonce_fits_and_differs_by_run_turn_and_part() -> None:
    nonces = {
        nonce_of(run, turn, part) for run in ("a" * 64, "b") for turn in (0, 1) for part in (0, 1)
    }
    assert len(nonces) == 8
    assert all(len(nonce) <= 25 for nonce in nonces)
