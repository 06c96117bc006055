"""The runner of replies: what it shows when, and how a reply ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from structlog.testing import capture_logs

from bot.core.errors import (
    FootnoteError,
    PlatformUnavailable,
    PostRefused,
    RunLost,
    StorageUnavailable,
)
from bot.core.messages import Answer, PlanView, RunOptions, Thread
from bot.core.posting import Delayed, PostState, Reply, RunRef
from bot.service.replying import LONGEST_WAIT, Display, Pace, View, open_reply
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.samples import a_message

PACE = Pace(between=1.0, backoff=0.5, first_sign=2.0)
ANSWER = Answer("answered", "It is 330 m tall.", "How tall is it?", "r1")


async def _save(state: PostState) -> None: ...


async def _move(thread: Thread) -> None: ...


RUN = RunRef("r1", a_message("How tall?"), RunOptions(), _save, _move)
NOTHING = View(PlanView("How tall?", ()))


@dataclass
class Wall(Display):
    """Remembers what it was to show, and when; ``fails`` are the outcomes of the next calls."""

    at_once: bool = False
    fails: list[BaseException] = field(default_factory=list)
    fails_to_begin: BaseException | None = None
    takes: float = 0.0  # seconds that each call takes
    begins_in: float = 0.0  # seconds
    waits: float = 0.0  # seconds until the next turn
    calls_of_a_view: int = 1
    shown: list[tuple[float, str]] = field(default_factory=list)  # after a show
    heard: list[str] = field(default_factory=list)
    ended: list[tuple[str, FootnoteError | None, str]] = field(default_factory=list)
    closed: int = 0

    async def begin(self, view: View) -> bool:
        await asyncio.sleep(self.begins_in)
        if self.fails_to_begin is not None:
            raise self.fails_to_begin
        return self.at_once

    def view_changed(self, view: View) -> None:
        self.heard.append(view.text)

    def due(self) -> float:
        wait, self.waits = self.waits, 0.0
        return wait

    async def show(self, view: View) -> bool:
        began = now()
        await asyncio.sleep(self.takes)
        if self.fails:
            raise self.fails.pop(0)
        self.shown.append((began - 1_000.0, view.text))
        return len(self.shown) % self.calls_of_a_view == 0

    async def finish(self, answer: Answer, error: FootnoteError | None, view: View) -> None:
        self.ended.append((answer.text, error, view.text))

    def close(self) -> None:
        self.closed += 1


async def write(reply: Reply, texts: Sequence[str], *, every: float) -> None:
    for text in texts:
        reply.stream(text)
        await asyncio.sleep(every)


# ---------------------------------------------------------------- while it works


@in_virtual_time
async def test_of_what_comes_faster_than_the_pace_the_latest_is_shown() -> None:
    wall = Wall()
    reply = await open_reply(RUN, wall, PACE)
    await write(reply, "abcdefghi", every=0.3)
    assert wall.shown == [(0.0, "a"), (1.0, "d"), (2.0, "g")]
    await reply.abandon()


@in_virtual_time
async def test_plan_and_text_are_whole_each_time() -> None:
    views: list[View] = []

    class Kept(Wall):
        def view_changed(self, view: View) -> None:
            views.append(view)

    reply = await open_reply(RUN, Kept(), PACE)
    plan = PlanView("The tower", ())
    reply.progress(plan)
    reply.stream("It is")
    reply.progress(PlanView("The bridge", ()))
    assert views == [View(plan), View(plan, "It is"), View(PlanView("The bridge", ()), "It is")]
    await reply.abandon()


@in_virtual_time
async def test_nothing_new_is_not_shown() -> None:
    wall = Wall()
    reply = await open_reply(RUN, wall, PACE)
    await asyncio.sleep(60)
    reply.stream("It is")
    await asyncio.sleep(60)
    assert wall.shown == [(60.0, "It is")]
    await reply.abandon()


@in_virtual_time
async def test_what_was_told_is_shown_again_where_time_is_shown() -> None:
    wall = Wall()
    reply = await open_reply(RUN, wall, Pace(1.0, 0.5, refresh=15.0))
    await asyncio.sleep(60)
    assert wall.shown == []
    reply.stream("It is")
    await asyncio.sleep(40)
    assert [at for at, _ in wall.shown] == [60.0, 75.0, 90.0]
    await reply.abandon()


@in_virtual_time
async def test_it_is_shown_only_when_all_that_was_told_is_visible() -> None:
    wall = Wall(at_once=True, takes=0.5, fails=[PlatformUnavailable("Away.")], calls_of_a_view=2)
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("It is")
    await asyncio.sleep(0.1)  # that is being shown
    reply.stream("It is 330 m tall.")
    assert isinstance(reply, Delayed)
    await reply.shown()
    assert [text for _, text in wall.shown][-2:] == ["It is 330 m tall."] * 2
    await reply.abandon()


@in_virtual_time
async def test_nothing_waits_for_a_platform_that_shows_nothing_more() -> None:
    reply = await open_reply(RUN, Wall(fails=[PostRefused("No.")]), PACE)
    reply.stream("It is")
    assert isinstance(reply, Delayed)
    await reply.shown()
    await reply.shown()
    await reply.abandon()


@in_virtual_time
async def test_a_view_that_takes_more_calls_gets_them() -> None:
    wall = Wall(calls_of_a_view=3)
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("long")
    await asyncio.sleep(60)
    assert wall.shown == [(0.0, "long"), (1.0, "long"), (2.0, "long")]
    await reply.abandon()


@in_virtual_time
async def test_the_platforms_own_turn_is_waited_for() -> None:
    wall = Wall(waits=7.0)
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("early")
    await asyncio.sleep(5)
    reply.stream("late")
    await asyncio.sleep(60)
    assert wall.shown == [(7.0, "late")]
    await reply.abandon()


@pytest.mark.parametrize("kind", [PlatformUnavailable, StorageUnavailable])
@in_virtual_time
async def test_what_is_away_is_asked_ever_less_often(kind: type[FootnoteError]) -> None:
    wall = Wall(fails=[kind("Away.") for _ in range(8)])
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("It is")
    await asyncio.sleep(120)
    # The first wait, of 0.5 s, is shorter than the pace.
    assert wall.shown == [(1 + 1 + 2 + 4 + 8 + 3 * LONGEST_WAIT, "It is")]
    await reply.abandon()


@in_virtual_time
async def test_a_platform_that_names_a_time_is_asked_then() -> None:
    wall = Wall(fails=[PlatformUnavailable("Wait.", retry_after=40.0)])
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("It is")
    await asyncio.sleep(120)
    assert wall.shown == [(40.0, "It is")]
    await reply.abandon()


@in_virtual_time
async def test_after_a_refusal_no_more_progress_is_shown_but_the_answer_is() -> None:
    wall = Wall(fails=[PostRefused("No.")])
    reply = await open_reply(RUN, wall, PACE)
    await write(reply, "abc", every=2.0)
    await reply.finish(ANSWER)
    assert wall.shown == []
    assert wall.heard == ["a"]
    assert wall.ended == [(ANSWER.text, None, "c")]


@in_virtual_time
async def test_a_display_that_breaks_costs_no_answer_and_is_logged() -> None:
    wall = Wall(fails=[KeyError("bug")])
    with capture_logs() as logs:
        reply = await open_reply(RUN, wall, PACE)
        await write(reply, "ab", every=2.0)
        await reply.finish(ANSWER)
    assert [text for text, _, _ in wall.ended] == [ANSWER.text]
    assert "bug" in str([line for line in logs if line["log_level"] == "error"])


# ---------------------------------------------------------------- its beginning


@pytest.mark.parametrize(
    ("wall", "seconds"),
    [
        (Wall(begins_in=0.5), 0.5),
        (Wall(begins_in=0.5, at_once=True, takes=0.5), 1.0),
        (Wall(begins_in=9.0), 2.0),
        (Wall(at_once=True, fails=[PlatformUnavailable("Away.")] * 9), 2.0),
    ],
)
@in_virtual_time
async def test_opening_waits_a_little_for_a_first_sign(wall: Wall, seconds: float) -> None:
    reply = await open_reply(RUN, wall, PACE)
    assert now() == 1_000.0 + seconds
    await reply.abandon()


@in_virtual_time
async def test_an_answer_that_is_written_is_not_shown_as_work() -> None:
    wall = Wall(at_once=True)
    reply = await open_reply(replace(RUN, is_written=True), wall, PACE)
    await asyncio.sleep(60)
    await reply.finish(ANSWER)
    assert wall.shown == []
    assert len(wall.ended) == 1


@pytest.mark.parametrize("error", [PostRefused("No."), RunLost("Lost."), PlatformUnavailable("A.")])
@in_virtual_time
async def test_what_keeps_a_reply_from_beginning_is_raised(error: FootnoteError) -> None:
    wall = Wall(fails_to_begin=error)
    with pytest.raises(type(error)):
        await open_reply(RUN, wall, PACE)
    assert wall.closed


@in_virtual_time
async def test_an_opening_that_is_cancelled_shows_nothing_more() -> None:
    wall = Wall(begins_in=1.0, at_once=True)
    opening = asyncio.create_task(open_reply(RUN, wall, PACE))
    await asyncio.sleep(0.5)
    opening.cancel()
    await asyncio.wait({opening})
    await asyncio.sleep(60)
    assert wall.shown == []
    assert wall.closed


# ---------------------------------------------------------------- its end


@in_virtual_time
async def test_the_answer_waits_for_a_show_under_way_and_for_no_other() -> None:
    wall = Wall(takes=3.0)
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("a")
    await asyncio.sleep(1)
    reply.stream("b")
    await reply.finish(ANSWER)
    assert now() == 1_003.0
    assert wall.shown == [(0.0, "a")]
    assert wall.ended == [(ANSWER.text, None, "b")]


@in_virtual_time
async def test_the_answer_does_not_wait_for_a_platform_that_was_away() -> None:
    wall = Wall(fails=[PlatformUnavailable("Away.", retry_after=3_600.0)])
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("a")
    await asyncio.sleep(1)
    await reply.finish(ANSWER)
    assert now() == 1_001.0


@in_virtual_time
async def test_a_finished_reply_may_be_finished_again_and_shows_no_progress() -> None:
    wall = Wall()
    reply = await open_reply(RUN, wall, PACE)
    error = FootnoteError("No provider.")
    await reply.fail(ANSWER, error)
    reply.stream("late")
    await asyncio.sleep(60)
    await reply.finish(ANSWER)
    assert wall.shown == []
    assert [ended for _, ended, _ in wall.ended] == [error, None]


@in_virtual_time
async def test_an_attempt_that_lost_its_run_while_it_showed_it_ends_nothing() -> None:
    wall = Wall(fails=[RunLost("Taken over.")])
    reply = await open_reply(RUN, wall, PACE)
    await write(reply, "a", every=1.0)
    assert wall.closed
    with pytest.raises(RunLost):
        await reply.finish(ANSWER)
    assert wall.ended == []


@in_virtual_time
async def test_an_abandoned_reply_breaks_off_and_shows_nothing_more() -> None:
    wall = Wall(takes=30.0)
    reply = await open_reply(RUN, wall, PACE)
    reply.stream("a")
    await asyncio.sleep(1)
    await reply.abandon()
    assert now() == 1_001.0
    reply.stream("b")
    await asyncio.sleep(60)
    assert (wall.shown, wall.heard, wall.closed) == ([], ["a"], 1)
