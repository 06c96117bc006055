"""Earlier answers as a source: whose pages are found, by what, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from bot.core.errors import PlatformUnavailable
from bot.core.messages import Citation, Provenance, RunOptions, StepView, Thread
from bot.core.posting import RunRef, Whereabouts
from bot.core.reader import EVERYTHING, Reach, attached, correction_address, found_in
from bot.reasoning.evidence import Read, Search
from bot.search.earlier_answers import MOST_ANSWERS, QUOTED, EarlierAnswers
from bot.search.provider import Hit, ProviderKind, Query, Talk
from bot.storage.audit_log import Actor
from bot.storage.store import RunRecord
from bot.storage.tables import as_answer, runs
from bot.storage.word_search import Correction, Corrections
from bot.storage.workspaces import Opinion, Workspaces
from tests.fakes.poster import RememberingPoster
from tests.fakes.reasoner import Scripted
from tests.unit.conftest import TURNS, OpenWorld, World
from tests.unit.samples import NOW, a_message, a_thread

QUESTION = "How tall is the tower of Paris?"
PAGE = "https://example.org/1"
QUERY = Query("tall tower")
TALL = "Tower is 330 m tall [1]."


async def asked(
    world: World, text: str = QUESTION, thread: Thread | str = "t1", **options: Any
) -> RunRecord:
    """A question and the end of its run."""
    place = a_thread(thread) if isinstance(thread, str) else thread
    chosen = RunOptions(**options)
    author = replace(a_message().author, guest=chosen.guest)
    id = await world.accept(replace(a_message(text, place), author=author), chosen)
    await world.work(id)
    record = await world.store.run(id)
    assert record is not None
    return record


async def answered(world: World, thread: Thread | str = "t1", **changes: Any) -> RunRecord:
    """A run whose answer is changed after it ended."""
    record = await asked(world, thread=thread)
    assert record.answer is not None
    answer = as_answer.dump_python(replace(record.answer, **changes), mode="json")
    async with world.store.database.write() as db:
        await db.execute(sa.update(runs).values(answer=answer).where(runs.c.id == record.id))
    return record


async def found(
    world: World, query: Query = QUERY, thread: Thread | str = "t2", **more: Any
) -> list[Hit]:
    """What a further question finds."""
    kind: ProviderKind | None = more.pop("kind", None)
    earlier = await opened(world, await asked(world, "What else is there?", thread, **more))
    assert earlier is not None
    return await earlier.search(query, kind)


async def opened(world: World, record: RunRecord) -> EarlierAnswers | None:
    reader = await world.service._rights.reader(record.message, record.options)
    return world.service._earlier_answers(record, reader)


@pytest.fixture
async def world(open_world: OpenWorld) -> World:
    return await open_world(Scripted(TURNS))


# ---------------------------------------------------------------- what is found


async def test_a_hit_is_the_page_with_its_quote_and_when_and_where_it_was_asked(
    world: World,
) -> None:
    record = await asked(world)
    (hit,) = await found(world)
    day = f"{record.accepted_at.day} {record.accepted_at:%B %Y}"
    assert (hit.title, hit.url, hit.provider) == ("Tower", PAGE, "answers")
    assert hit.snippet == f"Asked here on {day}: “{QUESTION}”. Tower is 330 m tall."


async def test_a_new_answer_cites_the_page(open_world: OpenWorld) -> None:
    world = await open_world(Scripted([[Search(("tall tower",))], [Read((1,))]]))
    await asked(world)
    world.shelf.urls = {"tall tower": []}  # no other search finds it
    answer = (await asked(world, "Is it taller than others?", "t2")).answer
    assert answer is not None
    assert (answer.text, [each.url for each in answer.citations]) == (TALL, [PAGE])


@pytest.mark.parametrize("text", ["tower", "the of", "tower height of Rome", "gate passphrase"])
async def test_fewer_or_other_words_find_none(world: World, text: str) -> None:
    await asked(world)
    assert await found(world, Query(text)) == []


@pytest.mark.parametrize(
    "text", ["tower Paris", "how tall is the tower", "TOWERS tall", "330 tall"]
)
async def test_its_words_in_the_question_or_the_answer_find_it(world: World, text: str) -> None:
    await asked(world)
    assert [hit.url for hit in await found(world, Query(text))] == [PAGE]


@pytest.mark.parametrize(
    "query",
    [
        replace(QUERY, freshness="week"),
        replace(QUERY, domains=("example.org",)),
        replace(QUERY, talk=Talk(first=True)),
    ],
)
async def test_a_query_for_something_special_finds_none(world: World, query: Query) -> None:
    await asked(world)
    assert await found(world, query) == []


def cited(url: str, quote: str = "It is tall.", number: int = 1) -> Citation:
    return Citation(number, url, "Tower", quote, "hash", 0, len(quote))


FILE = "file:///docs/a.md"


@pytest.mark.parametrize(
    ("kind", "urls"), [(None, [PAGE, FILE]), ("web", [PAGE]), ("knowledge", [FILE])]
)
async def test_a_search_of_one_kind_finds_pages_of_that_kind(
    world: World, kind: ProviderKind | None, urls: list[str]
) -> None:
    await answered(world, citations=(cited(PAGE), cited(FILE, number=2), cited(f"{PAGE}#x")))
    hits = await found(world, kind=kind)
    assert [hit.url for hit in hits] == urls
    assert {hit.made_from.urls for hit in hits} == {(FILE,)}


@pytest.mark.parametrize(
    "url",
    [
        attached("https://acme.slack.com/files/U1/F1/a.pdf"),
        "upload:0123456789abcdef",
        correction_address("chat:T1", "r9"),
    ],
)
async def test_what_no_other_run_can_read_is_no_hit(world: World, url: str) -> None:
    await answered(world, citations=(cited(PAGE), cited(url, number=2)))
    assert [hit.url for hit in await found(world)] == [PAGE]


async def test_so_many_answers_with_short_quotes(world: World) -> None:
    for number in range(MOST_ANSWERS + 2):
        await answered(
            world, f"n{number}", citations=(cited(f"https://e.org/{number}", "tall " * 500),)
        )
    hits = await found(world)
    assert [hit.url for hit in hits] == [f"https://e.org/{n}" for n in (4, 3, 2)]
    assert all(len(hit.snippet) < QUOTED + 200 for hit in hits)


# ---------------------------------------------------------------- what is left out


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "partial"},
        {"citations": ()},
        {"documents": ("https://acme.slack.com/archives/C1/p1",)},
        {"documents": (found_in("chat:T1:C1"),)},
        {"steps": (StepView("s", "read", "x", "done", sources=("https://acme.slack.com/archives/C1/p1",)),)},
    ],
)  # fmt: skip
async def test_no_answer_that_is_not_whole_or_rests_on_what_people_said(
    world: World, changes: dict[str, Any]
) -> None:
    record = await answered(world, **changes)
    if "status" in changes:
        async with world.store.database.write() as db:
            values = sa.update(runs).values(state=changes["status"])
            await db.execute(values.where(runs.c.id == record.id))
    assert await found(world) == []


async def test_none_of_the_same_thread(world: World) -> None:
    await asked(world)
    assert await found(world, thread="t1") == []


async def test_none_that_was_marked_not_helpful(world: World) -> None:
    record = await asked(world)
    workspaces = Workspaces(world.store.database)
    assert await workspaces.keep_feedback(record.id, "bob", Opinion("good"))
    assert len(await found(world)) == 1
    assert await workspaces.keep_feedback(record.id, "bob", Opinion("bad"))
    assert await found(world) == []


@pytest.mark.parametrize(("thread", "expected"), [("t1", 0), ("t9", 1)])
async def test_none_that_was_corrected_in_its_thread(
    world: World, thread: str, expected: int
) -> None:
    await asked(world)
    id = await world.accept(a_message("No, it is 312 m.", a_thread(thread)))
    later = await world.store.run(id)
    assert later is not None
    said, place = "The tower is 312 m tall.", later.message.thread.place
    correction = Correction(
        later.id, later.message.thread, later.message.author, NOW, said, said, "", place, "", "", ""
    )
    corrections = Corrections(world.store.database)
    assert await corrections.keep(correction, later.attempt, NOW, 5)
    assert len(await found(world)) == expected
    await corrections.remove(correction, Actor("", "", ""))
    assert len(await found(world)) == 1


@pytest.mark.parametrize(("reach", "expected"), [(EVERYTHING, 1), (Reach(others=False), 0)])
async def test_none_that_rests_on_what_these_readers_may_not_read(
    world: World, reach: Reach, expected: int
) -> None:
    await answered(world, documents=(FILE,))
    assert len(await found(world, replace(QUERY, reach=reach))) == expected


async def test_none_where_it_is_off_for_standing_questions_and_without_a_model(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS), earlier_answers=False)
    record = await asked(world)
    assert await opened(world, record) is None
    world = await open_world(Scripted(TURNS))
    watched = replace(record, options=replace(record.options, watch="w1"))
    assert await opened(world, watched) is None
    world.service._fallback = world.service._reasoner
    assert await opened(world, record) is None


# ---------------------------------------------------------------- places


class Chat(RememberingPoster):
    """A platform whose channel C1 every member may read, with threads that may be private."""

    threads_are_open = True
    is_away = False

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        if self.is_away:
            raise PlatformUnavailable("The platform is away.")
        thread = run.message.thread
        place = thread.home if thread.channel == "C1" else thread.place
        return Whereabouts("", "travel", place if self.threads_are_open else thread.key)


def chat(channel: str, thread: str, workspace: str = "T1") -> Thread:
    return Thread("chat", workspace, channel, thread)


@pytest.fixture
def room(world: World) -> Chat:
    world.poster = Chat()
    world.service._posters["chat"] = world.poster  # type: ignore[index]
    return world.poster


async def test_one_of_a_channel_that_all_may_read_is_found_in_others(
    world: World, room: Chat
) -> None:
    await asked(world, thread=chat("C1", "t1"))
    (hit,) = await found(world, thread=chat("C2", "t2"))
    assert hit.snippet.startswith("Asked in #travel on ")


@pytest.mark.parametrize("is_open", [True, False])
async def test_one_of_a_private_thread_is_not_found_elsewhere_in_its_channel(
    world: World, room: Chat, is_open: bool
) -> None:
    room.threads_are_open = is_open
    await asked(world, thread=chat("C2", "t1"))
    assert len(await found(world, thread=chat("C2", "t2"))) == is_open


@pytest.mark.parametrize(
    ("there", "here", "told", "asking"),
    [
        (chat("C2", "t1"), chat("C1", "t2"), {}, {}),
        (chat("C2", "t1"), chat("C3", "t2"), {}, {}),
        (chat("C1", "t1"), chat("C2", "t2", "T2"), {}, {}),
        (chat("C1", "t1"), chat("C2", "t2"), {"audience": "person"}, {}),
        (chat("C1", "t1"), chat("C2", "t2"), {"audience": "outsiders"}, {}),
        (chat("C1", "t1"), chat("C2", "t2"), {}, {"guest": True}),
        (chat("C1", "t1"), chat("C2", "t2"), {}, {"audience": "outsiders"}),
    ],
)
async def test_one_of_any_other_place_is_not(
    world: World,
    room: Chat,
    there: Thread,
    here: Thread,
    told: dict[str, Any],
    asking: dict[str, Any],
) -> None:
    await asked(world, thread=there, **told)
    assert await found(world, thread=here, **asking) == []


async def test_nor_while_the_platform_does_not_tell(world: World, room: Chat) -> None:
    await asked(world, thread=chat("C1", "t1"))
    room.is_away = True
    assert await found(world, thread=chat("C2", "t2")) == []


async def test_a_question_that_footnote_worded_is_not_told(world: World) -> None:
    message = replace(
        a_message("What is the secret 4711 of the tall tower?", a_thread("t1")),
        made_from=Provenance((FILE,)),
    )
    await world.work(await world.accept(message))
    (hit,) = await found(world)
    assert "“…”" in hit.snippet
