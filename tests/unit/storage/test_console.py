"""The console's conversations: listed, found by their words, named, shared; its sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.core.messages import CONSOLE, Answer, Author, Message, RunOptions, Thread
from bot.storage.console import History, Identity, SignIns
from bot.storage.conversations import Conversations
from bot.storage.database import Database, open_database
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.store import Store, open_store
from bot.storage.tables import found_words, runs, shares, sign_ins
from bot.storage.word_search import FoundWords, terms_of
from tests.fakes import sqlite
from tests.unit.samples import NOW

ADA = Author("ada", "Ada")
LATER = NOW + timedelta(days=1)


def a_thread(name: str, channel: str = "local") -> Thread:
    return Thread("web", "console", channel, name)


@dataclass
class Shelf:
    """A console's store."""

    store: Store

    def __post_init__(self) -> None:
        self.history = History(self.store.database)
        self.words = FoundWords(self.store.database)
        self.conversations = Conversations(self.store.database)

    async def asked(
        self,
        name: str,
        question: str,
        said: str = "",
        *,
        channel: str = "local",
        at: datetime = NOW,
    ) -> str:
        """A question in a conversation; with its answer if ``said``. The id of its run."""
        run = f"{name}{abs(hash((name, question, at))) % 10**8}"
        message = Message(run, a_thread(name, channel), ADA, question, at)
        await self.store.accept(run, message, RunOptions(), at)
        if said:
            await self.answered(run, said)
        return run

    async def answered(self, run: str, said: str) -> None:
        record = await self.store.claim(run, "me", LATER, timedelta(seconds=60))
        assert record is not None
        answer = Answer("answered", said, record.message.text, run)
        await self.store.save_answer(run, record.attempt, answer)
        await self.store.end(run, record.attempt, "answered", LATER)

    async def remove(self, run: str) -> None:
        await self.conversations.remove("web", run, LATER, owner=None, lease=timedelta())

    async def found(self, text: str, channel: str | None = None) -> set[str]:
        while await self.words.index():
            pass
        return {
            each.thread_key.rpartition(":")[2]
            for each in await self.words.search(text, channel, 50)
        }

    async def rows(self) -> int:
        async with self.store.database.read() as db:
            return int(await db.scalar(sa.select(sa.func.count()).select_from(found_words)) or 0)


@pytest.fixture
def shelf(store: Store) -> Shelf:
    return Shelf(store)


async def test_conversations_are_listed_in_parts_the_latest_first(shelf: Shelf) -> None:
    for name in "abc":
        await shelf.asked(name, f"Question {name}?")
    await shelf.asked("a", "And then?", at=LATER)
    first = await shelf.history.latest(None, 2)
    assert [(one.thread.thread, one.name, one.questions) for one in first] == [
        ("a", "Question a?", 2),
        ("c", "Question c?", 1),
    ]
    assert first[0].last_at == LATER
    rest = await shelf.history.latest(None, 2, before=first[-1].place)
    assert [one.thread.thread for one in rest] == ["b"]


async def test_only_the_own_channel_is_listed_and_searched(shelf: Shelf) -> None:
    await shelf.asked("a", "The tower?", "330 m.", channel="ada")
    await shelf.asked("b", "The tower?", "330 m.", channel="ben")
    assert [one.thread.thread for one in await shelf.history.latest("ada", 9)] == ["a"]
    assert await shelf.found("tower", "ada") == {"a"}
    assert await shelf.found("tower") == {"a", "b"}


async def test_pinned_ones_are_listed_apart(shelf: Shelf) -> None:
    await shelf.asked("a", "One?")
    await shelf.asked("b", "Two?")
    await shelf.history.pin(a_thread("a"), True)
    assert [one.thread.thread for one in await shelf.history.pinned(None)] == ["a"]
    assert [one.thread.thread for one in await shelf.history.latest(None, 9)] == ["b"]


async def test_a_name_given_stays_and_one_not_given_follows_the_first_question(
    shelf: Shelf,
) -> None:
    first = await shelf.asked("a", "How tall?")
    await shelf.asked("a", "How old?")
    edit = {"owner": None, "lease": timedelta()}
    await shelf.conversations.edit("web", first, "How wide?", (), LATER, **edit)  # type: ignore[arg-type]
    assert (await shelf.history.latest(None, 1))[0].name == "How wide?"
    await shelf.history.rename(a_thread("a"), "The tower", "ada")
    await shelf.conversations.edit("web", first, "How deep?", (), LATER, **edit)  # type: ignore[arg-type]
    assert (await shelf.history.latest(None, 1))[0].name == "The tower"
    assert await shelf.history.called(["tower"], None, 9) == [a_thread("a").key]
    await shelf.history.rename(a_thread("a"), "", "ada")
    await shelf.remove(first)
    assert (await shelf.history.latest(None, 1))[0].name == "How old?"


async def test_a_conversation_without_a_question_is_gone_with_its_name_and_link(
    shelf: Shelf,
) -> None:
    run = await shelf.asked("a", "How tall?", "330 m.")
    token = await shelf.history.share(a_thread("a"), "ada")
    await shelf.history.rename(a_thread("a"), "The tower", "ada")
    await shelf.remove(run)
    assert await shelf.history.latest(None, 9) == []
    assert await shelf.history.shared(token) is None
    assert await shelf.history.called(["tower"], None, 9) == []


async def test_conversations_are_found_by_their_words(shelf: Shelf) -> None:
    await shelf.asked("en", "How tall is the Eiffel tower? It's tall.", "It is 330 m high.")
    await shelf.asked("zh", "怎么个人报税", "请在网上填表。")
    expected: dict[str, set[str]] = {
        "tower tall": {"en"},
        "330 towers": {"en"},  # of the question and of its answer; stems
        "tow": {"en"},  # the beginning of the last word
        "tow 330": set(),
        "报税": {"zh"},
        "税": {"zh"},  # at the end of a run of characters
        "个人报税": {"zh"},
        "报销": set(),
        "Éiffel": {"en"},
        '"tower" OR NEAR(': set(),  # nothing is syntax
        "it's tall": {"en"},
        "?!": set(),
    }
    assert {text: await shelf.found(text) for text in expected} == expected


async def test_what_changes_is_found_by_its_new_words_alone(shelf: Shelf) -> None:
    run = await shelf.asked("a", "How tall?", "330 m.")
    assert await shelf.found("tall") == {"a"}
    again = await shelf.conversations.edit(
        "web", run, "How wide?", (), LATER, owner=None, lease=timedelta()
    )
    assert again is not None
    assert await shelf.rows() == 0
    await shelf.answered(run, "125 m.")
    assert await shelf.found("tall") == set()
    assert await shelf.found("wide 125") == {"a"}
    await shelf.remove(run)
    assert await shelf.rows() == 0


async def test_words_in_the_question_are_told_from_those_in_the_answer(shelf: Shelf) -> None:
    await shelf.asked("a", "How tall?", "330 m.")
    await shelf.words.index()
    (found,) = await shelf.words.search("tall", None, 9)
    assert found.in_question
    (found,) = await shelf.words.search("330", None, 9)
    assert not found.in_question


async def test_another_process_finds_what_ended_by_a_slow_clock_and_what_was_edited(
    shelf: Shelf,
) -> None:
    first = await shelf.asked("a", "How tall?", "330 m.")
    assert await shelf.found("tall") == {"a"}
    slow = await shelf.asked("b", "How wide?", "125 m.")
    async with shelf.store.database.write() as db:
        late = sa.update(runs).where(runs.c.id == slow).values(ended_at=LATER - timedelta(hours=1))
        await db.execute(late)
    await shelf.conversations.edit(
        "web", first, "How deep?", (), LATER, owner=None, lease=timedelta()
    )
    await shelf.answered(first, "12 m.")
    other = Shelf(shelf.store)
    assert await other.found("wide") == {"b"}
    assert await other.found("deep") == {"a"}
    assert await other.found("tall") == set()


async def test_a_person_is_forgotten_with_the_names_and_links_they_gave(shelf: Shelf) -> None:
    await shelf.asked("a", "How tall?")
    await shelf.history.rename(a_thread("a"), "Of Ben", "ben")
    token = await shelf.history.share(a_thread("a"), "ben")
    forgetting = Forgetting(shelf.store.database)
    await forgetting.remove(await forgetting.ask(Subject("person", "web", "ben"), LATER))
    assert (await shelf.history.latest(None, 1))[0].name == "How tall?"
    assert await shelf.history.shared(token) is None


async def test_a_link_is_one_until_it_is_taken_back(shelf: Shelf) -> None:
    await shelf.asked("a", "How tall?")
    thread = a_thread("a")
    token = await shelf.history.share(thread, "ada")
    assert await shelf.history.share(thread, "ben") == token
    assert await shelf.history.shared(token) == thread
    assert await shelf.history.token_of(thread) == token
    await shelf.history.unshare(thread)
    assert await shelf.history.shared(token) is None
    assert await shelf.history.share(thread, "ada") != token
    async with shelf.store.database.read() as db:
        assert await db.scalar(sa.select(sa.func.count()).select_from(shares)) == 1


@pytest.fixture
async def on_disk(tmp_path: Path) -> AsyncIterator[tuple[Shelf, Path]]:
    store = await open_store(sqlite.migrated(tmp_path))
    yield Shelf(store), tmp_path
    await store.close()


async def test_forgotten_words_do_not_stay_in_the_file(on_disk: tuple[Shelf, Path]) -> None:
    shelf, folder = on_disk
    await shelf.asked("a", "How tall is the zanzibarian tower?", "330 m.")
    await shelf.asked("b", "How tall?", "330 m.")
    await shelf.words.index()
    forgetting = Forgetting(shelf.store.database)
    await forgetting.remove(
        await forgetting.ask(Subject("thread", "web", a_thread("a").key), datetime.now(UTC))
    )
    await shelf.store.close()
    (file,) = folder.glob("*.sqlite")
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"zanzibar" not in file.read_bytes()
    assert terms_of("zanzibarian")[0].encode()[:8] == b"zanzibar"


IDENTITY = Identity("ada", "Ada", ("hr", "all"), "a.b.c")
HOUR = timedelta(hours=1)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(sqlite.migrated(tmp_path))
    yield database
    await database.close()


async def rows(database: Database) -> list[str]:
    async with database.read() as db:
        return list((await db.scalars(sa.select(sign_ins.c.digest))).all())


async def signed_in(database: Database) -> set[str]:
    async with database.read() as db:
        return set((await db.scalars(sa.select(sign_ins.c.person))).all())


async def test_a_session_is_found_by_its_secret_in_every_process(database: Database) -> None:
    secret = await SignIns(database, HOUR).begin(IDENTITY)
    found = await SignIns(database, HOUR).find(secret)
    assert found is not None
    assert replace(found, session="") == IDENTITY
    assert await SignIns(database, HOUR).find(f"{secret}x") is None
    assert await SignIns(database, HOUR).find("") is None


async def test_no_row_opens_anything(database: Database) -> None:
    ours = SignIns(database, HOUR)
    secret = await ours.begin(IDENTITY)
    (stored,) = await rows(database)
    assert secret not in stored
    assert await ours.find(stored) is None


async def test_what_is_over_goes_when_somebody_signs_in(database: Database) -> None:
    late = SignIns(database, -HOUR)
    secret = await late.begin(IDENTITY)
    assert await late.find(secret) is None
    assert len(await rows(database)) == 1
    await SignIns(database, HOUR).begin(IDENTITY)
    assert len(await rows(database)) == 1


async def test_a_person_who_is_forgotten_is_signed_out(database: Database) -> None:
    ours = SignIns(database, HOUR)
    await ours.begin(IDENTITY)
    await ours.begin(Identity("bob", "Bob", (), ""))
    forgetting = Forgetting(database)
    for platform, left in (("slack", {"ada", "bob"}), (CONSOLE, {"bob"})):
        wish = await forgetting.ask(Subject("person", platform, "ada"), datetime.now(UTC))
        await forgetting.remove(wish)
        assert await signed_in(database) == left
