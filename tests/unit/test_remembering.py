"""Answered before: what is offered again, what is given, and what is neither."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from bot.answers import Answer
from bot.errors import PlatformUnavailable
from bot.messages import Attachment, RunOptions, Thread
from bot.pages.page import Page
from bot.posting import RunRef, Whereabouts
from bot.rendering.plan import earlier_run
from bot.storage.tables import runs
from bot.storage.workspaces import Opinion, Workspaces
from tests.fakes.poster import Remembered, RememberingPoster
from tests.fakes.reasoner import Scripted
from tests.unit.conftest import TURNS, OpenWorld, World
from tests.unit.samples import NOW, a_message, a_thread

QUESTION = "How tall is the tower?"


async def ask(world: World, text: str = QUESTION, thread: str = "t2", **options: Any) -> Remembered:
    message = a_message(text, a_thread(thread))
    return await world.work(await world.accept(message, RunOptions(**options)))


async def first(world: World, text: str = QUESTION, thread: str = "t1") -> Answer:
    (answer,) = (await ask(world, text, thread)).finished
    assert answer.before is None
    world.shelf.searched.clear()
    return answer


def date_of(answer: Answer) -> str:
    assert answer.before is not None
    at = answer.before.at
    return f"{at.day} {at:%B %Y}"


def change(world: World, text: str = "Tower is 331 m tall now.") -> None:
    url = "https://example.org/1"
    world.shelf.pages = {**world.shelf.pages, url: Page(url, "Tower", text, NOW)}


# ---------------------------------------------------------------- beside


async def test_an_earlier_answer_is_offered_at_once_while_research_goes_on(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="beside")
    earlier = await first(world)
    reply = await ask(world, "how tall is the tower")
    (answer,) = reply.finished
    assert world.shelf.searched == ["tower"]
    assert answer.before is not None
    assert (answer.before.run, answer.before.place) == (earlier.run, "")
    assert (answer.before.sources, answer.before.is_given) == ("same", False)
    (line,) = reply.plans[0].steps
    assert (line.kind, earlier_run(line)) == ("before", earlier.run)
    assert line.title.startswith(f"Already answered here on {date_of(answer)}. Checking")
    assert (line.detail, line.state) == ("Tower is 330 m tall.", "running")
    told = f"Already answered here on {date_of(answer)}, sources still the same."
    assert told in answer.notes
    assert told in [step.title for step in answer.steps]
    assert answer.text == earlier.text


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "-1100", "UTC+05:30", "", "Nowhere/At_all"])
async def test_the_day_is_that_of_the_clocks_where_the_asker_is(
    open_world: OpenWorld, zone: str
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="beside")
    earlier = await first(world)
    record = await world.store.run(earlier.run)
    assert record is not None
    (answer,) = (await ask(world, zone=zone)).finished
    hours = {"Pacific/Kiritimati": 14, "-1100": -11, "UTC+05:30": 5.5}.get(zone, 0)
    at = record.accepted_at.astimezone(UTC) + timedelta(hours=hours)
    assert answer.before is not None
    assert answer.before.sentence == (
        f"Already answered here on {at.day} {at:%B %Y}, sources still the same."
    )
    assert answer.before.sentence in answer.notes


async def test_sources_that_changed_are_told(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="beside")
    await first(world)
    change(world)
    (answer,) = (await ask(world)).finished
    assert answer.before is not None
    assert answer.before.sources == "changed"
    assert any("have changed since" in note for note in answer.notes)
    assert answer.text == "Tower is 331 m tall now [1]."


async def test_what_is_off_keeps_and_offers_nothing(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="off")
    await first(world)
    world = await open_world(Scripted(TURNS), answered_before="beside")
    (answer,) = (await ask(world)).finished
    assert answer.before is None


# ---------------------------------------------------------------- instead


async def test_an_earlier_answer_is_given_with_its_footnotes(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    earlier = await first(world)
    (answer,) = (await ask(world)).finished
    assert world.shelf.searched == []
    assert answer.text == (
        f"> Already answered here on {date_of(answer)}, sources still the same. Add “research "
        f"again” to the question for new research.\n\n{earlier.text}"
    )
    assert answer.current == earlier.text
    assert answer.citations == earlier.citations
    assert answer.run != earlier.run
    assert answer.before is not None
    assert answer.before.is_given
    assert answer.text.startswith(f"> {answer.before.sentence}")
    assert (answer.usage.searches, answer.usage.pages) == (0, 1)
    again = await world.store.run(answer.run)
    assert again is not None
    assert again.answer == answer


async def test_changed_sources_are_researched_anew(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    await first(world)
    change(world)
    (answer,) = (await ask(world)).finished
    assert world.shelf.searched == ["tower"]
    assert answer.text == "Tower is 331 m tall now [1]."
    assert any("have changed since" in note for note in answer.notes)


async def test_so_are_sources_that_are_gone(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    await first(world)
    world.shelf.pages = {"https://example.org/2": world.shelf.pages["https://example.org/2"]}
    (answer,) = (await ask(world)).finished
    assert world.shelf.searched == ["tower"]
    assert answer.before is not None
    assert answer.before.sources == "unread"


async def test_the_first_answer_is_given_each_time(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    earlier = await first(world)
    for thread in ("t2", "t3"):
        (answer,) = (await ask(world, thread=thread)).finished
        assert answer.before is not None
        assert answer.before.run == earlier.run


async def test_a_question_that_begins_a_thread_is_given_it_without_the_model(
    open_world: OpenWorld,
) -> None:
    reasoner = Scripted(TURNS)
    world = await open_world(reasoner, answered_before="instead")
    await first(world)
    reasoner.transcripts.clear()
    (answer,) = (await ask(world)).finished
    assert answer.before is not None
    assert reasoner.transcripts == []
    (again,) = (await ask(world)).finished  # which does not begin the thread
    assert again.before is not None
    assert len(reasoner.transcripts) == 1


@pytest.mark.parametrize("author", ["ada", "bob"])
async def test_what_may_depend_on_who_asks_is_given_to_the_same_person_only(
    open_world: OpenWorld, author: str
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    text = "How tall is my tower?"
    await first(world, text)
    message = a_message(text, a_thread("t2"))
    message = replace(message, author=replace(message.author, id=author))
    (answer,) = (await world.work(await world.accept(message))).finished
    assert answer.before is not None
    assert answer.before.is_given == (author == "ada")
    assert bool(answer.notes) == (author == "bob")


# ---------------------------------------------------------------- neither


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("How tall is the bridge?", {}),
        ("How tall was the tower?", {}),
        (QUESTION + " Research it again, please.", {}),
        (QUESTION, {"depth": "deep"}),
        (QUESTION, {"research_again": True}),
        (QUESTION, {"providers": ("wikipedia",)}),
        (QUESTION, {"instructions": "Rhyme."}),
    ],
)
async def test_another_question_or_another_way_is_researched(
    open_world: OpenWorld, text: str, options: dict[str, Any]
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    await first(world)
    (answer,) = (await ask(world, text, **options)).finished
    assert answer.before is None


async def test_new_research_takes_the_place_of_the_answer_before(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    await first(world)
    (anew,) = (await ask(world, f"{QUESTION} Research again.")).finished
    assert (anew.before, anew.question) == (None, QUESTION)
    (answer,) = (await ask(world, thread="t3")).finished
    assert answer.before is not None
    assert answer.before.run == anew.run


async def test_the_wish_alone_researches_the_last_question_of_the_thread(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    await first(world)
    await ask(world)
    (anew,) = (await ask(world, "Research again, please.")).finished
    assert (anew.before, anew.question) == (None, QUESTION)
    assert world.shelf.searched == ["tower"]


async def test_what_depends_on_the_day_is_always_researched(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    text = "How tall is the tower today?"
    await first(world, text)
    (answer,) = (await ask(world, text)).finished
    assert answer.before is None


async def test_a_question_with_a_file_is_about_the_file(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    await first(world)
    file = Attachment("a.txt", "text/plain", "https://files.example/a.txt")
    world.poster.files[file.url] = b"Tower is 5 m tall."
    message = replace(a_message(QUESTION, a_thread("t2")), attachments=(file,))
    (answer,) = (await world.work(await world.accept(message))).finished
    assert answer.before is None


@pytest.mark.parametrize("which", ["first", "given"])
async def test_an_answer_that_was_marked_not_helpful_is_not_given_again(
    open_world: OpenWorld, which: str
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    earlier = await first(world)
    (given,) = (await ask(world)).finished
    disliked = earlier if which == "first" else given
    opinion = Opinion("bad")
    assert await Workspaces(world.store.database).keep_feedback(disliked.run, "bob", opinion)
    (answer,) = (await ask(world, thread="t3")).finished
    assert answer.before is None


async def test_nor_one_that_is_not_whole(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(), answered_before="instead")
    await first(world)
    (answer,) = (await ask(world)).finished
    assert (answer.status, answer.before) == ("not_found", None)


class Chat(RememberingPoster):
    """A platform whose channel C1 every member may read, with threads that may be private."""

    threads_are_open = True
    is_away = False

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        if self.is_away:
            raise PlatformUnavailable("The platform is away.")
        thread = run.message.thread
        place = thread.home if thread.channel == "C1" else thread.place
        url = f"https://chat.example/{thread.thread}"
        return Whereabouts(url, "travel", place if self.threads_are_open else thread.key)


def in_chat(world: World) -> Chat:
    world.poster = Chat()
    world.service._posters["chat"] = world.poster  # type: ignore[index]
    return world.poster


async def ask_in(world: World, channel: str, thread: str, **parts: Any) -> Answer:
    message = a_message(QUESTION, Thread("chat", "T1", channel, thread))
    options = RunOptions(**parts)
    author = replace(message.author, guest=options.guest)
    run = await world.accept(replace(message, author=author), options)
    (answer,) = (await world.work(run)).finished
    return answer


@pytest.mark.parametrize(("thread", "is_open"), [("t1", False), ("t2", False), ("t2", True)])
async def test_an_answer_of_a_private_thread_stays_there(
    open_world: OpenWorld, thread: str, is_open: bool
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    in_chat(world).threads_are_open = is_open
    await ask_in(world, "C2", "t1")
    answer = await ask_in(world, "C2", thread)
    assert (answer.before is not None) == (thread == "t1" or is_open)


async def test_an_answer_of_a_channel_that_all_may_read_is_given_in_others(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    in_chat(world)
    await ask_in(world, "C1", "t1")
    answer = await ask_in(world, "C2", "t2")
    assert answer.before is not None
    assert answer.steps[0].link == answer.before.link
    assert (answer.before.place, answer.before.link) == ("#travel", "https://chat.example/t1")
    assert answer.text.startswith(
        f"> Already answered in #travel on {date_of(answer)}, sources still"
    )


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"channel": "C2"}, {"channel": "C1"}),
        ({"channel": "C1", "audience": "person"}, {"channel": "C2"}),
        ({"channel": "C1", "audience": "outsiders"}, {"channel": "C2"}),
        ({"channel": "C1"}, {"channel": "C2", "guest": True}),
        ({"channel": "C1"}, {"channel": "C2", "audience": "outsiders"}),
    ],
)
async def test_one_of_any_other_channel_or_for_guests_is_not(
    open_world: OpenWorld, before: dict[str, Any], now: dict[str, Any]
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    in_chat(world)
    await ask_in(world, thread="t1", **before)
    assert (await ask_in(world, thread="t2", **now)).before is None


async def test_nor_one_that_may_depend_on_the_place(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    in_chat(world)
    for channel, expected in (("C1", False), ("C2", False), ("C1", True)):
        text = "How tall is our tower?"
        thread = Thread("chat", "T1", channel, f"t{channel}{expected}")
        run = await world.accept(a_message(text, thread))
        (answer,) = (await world.work(run)).finished
        assert (answer.before is not None) == expected


async def test_nor_while_the_platform_does_not_tell(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    chat = in_chat(world)
    await ask_in(world, "C1", "t1")
    chat.is_away = True
    assert (await ask_in(world, "C2", "t2")).before is None


@pytest.mark.parametrize("changed", ["workspace", "channel", "platform"])
async def test_an_answer_of_another_place_is_not_offered(
    open_world: OpenWorld, changed: str
) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    world.service._posters["chat"] = world.poster  # type: ignore[index]
    await first(world)
    elsewhere = replace(a_thread("t2"), **{changed: "chat"})
    run = await world.accept(a_message(QUESTION, elsewhere))
    (answer,) = (await world.work(run)).finished
    assert answer.before is None


async def test_an_interrupted_run_offers_what_it_offered_before(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS), answered_before="instead")
    earlier = await first(world)
    message = a_message(QUESTION, a_thread("t2"))
    run = await world.accept(message)
    (answer,) = (await world.work(run)).finished
    reads = len(world.shelf.read_urls)
    async with world.store.database.write() as db:  # as if it had died before its answer was kept
        unfinished = {"state": "running", "answer": None, "lease_until": NOW}
        await db.execute(sa.update(runs).where(runs.c.id == run).values(**unfinished))
    (again,) = (await world.work(run)).finished
    assert again.text == answer.text
    assert again.before == answer.before
    assert len(world.shelf.read_urls) == reads
    assert earlier.run != again.run
