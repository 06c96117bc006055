"""The rights to what Footnote derives from documents: derived kind × place × withdrawal.

Answers, corrections, comparisons, suggestions, questions and titles repeat words of the documents
they were made from. Each is told only where all of those may be read, by the rights of today.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.messages import Message, Thread, Transcript
from bot.reasoning.questions import Rewritten
from bot.search.indexer import Indexer
from bot.storage.records import RunRecord
from tests.contract.rights_stage import (
    PEOPLE,
    QUESTION,
    VISITORS,
    Parrot,
    Person,
    Stage,
    documents_of,
    open_stage,
    secrets_in,
    toml,
    write_documents,
)
from tests.fakes import sqlite

OUTDATED = "No, that is out of date."
IN_CHARGE = next(each for each in VISITORS if each.id == "root")


def named(name: str) -> Person:
    return next(each for each in PEOPLE if each.name == name)


class Restating(Parrot):
    """Puts what it read in the thread into everything that it words, as a model does: corrections,
    standalone questions and queries."""

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        heard = " ".join(sorted(set(re.findall(r"kiwi\w+", repr(transcript)))))
        if message.text == OUTDATED:
            stated = f"The passphrase of the gate is no longer {heard}."
            return Rewritten("chat", message.text, correction=stated)
        if message.text == "And since when?":
            question = f"Since when is the passphrase of the gate {heard}?"
            return Rewritten("search", question, (question,), (question,))
        return await super().rewrite(transcript, message, instructions)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The documents and the data folder with their index."""
    root = tmp_path_factory.mktemp("derived").resolve()
    docs, data = root / "docs", root / "data"
    write_documents(docs)
    data.mkdir()
    Indexer(data / "index.sqlite").index([docs])
    return docs, data


@pytest.fixture
async def stage(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    docs, data = folders
    monkeypatch.chdir(tmp_path)
    Path("footnote.toml").write_text(toml(docs), encoding="utf-8")
    async with open_stage(docs, data, sqlite.migrated(tmp_path)) as stage:
        stage.app.service._reasoner = Restating
        yield stage


def withdraw(stage: Stage) -> None:
    """Take every list of readers away: what is left is for everybody."""
    text = toml(stage.docs, only='people = ["UNOBODY"]', tools="UNOBODY")
    lists = r"^(channels|people|console_users) = .*$"
    Path("footnote.toml").write_text(
        re.sub(lists, r'\1 = ["nobody"]', text, flags=re.MULTILINE), encoding="utf-8"
    )


def left_to(person: Person) -> frozenset[str]:
    """The documents that a person may be told about after ``withdraw``."""
    return person.may if person.platform == "terminal" else person.may & {"open", "loose"}


# Where something is derived from documents that others may not read, and by whom.
MAKERS = [
    "anybody in the channel of eng",
    "anybody in the Discord channel of eng",
    "a person of hr in private",
    "a person of hr in private on Discord",
    "a user of hr in the console",
]


async def told(stage: Stage, run: RunRecord, person: Person) -> frozenset[str]:
    """The documents whose words somebody was told by the reply to a question, and in its record."""
    current = await stage.app.store.run(run.id)
    assert current is not None
    return secrets_in(stage.shown(person, run.id) + repr(current.answer))


# ---------------------------------------------------------------- corrections


async def outdated(stage: Stage, maker: Person) -> Thread:
    """Somebody says, of an answer with all that may be read in a place, that it is out of date."""
    thread = stage.thread(maker)
    first = await stage.ask(maker, thread=thread)
    assert first.answer is not None
    said = await stage.ask(maker, OUTDATED, thread=thread)
    assert said.answer is not None
    assert said.answer.corrects
    assert secrets_in(said.answer.text) - {"open", "loose"}, "the model repeated nothing"
    return thread


@pytest.mark.parametrize("maker", MAKERS)
async def test_a_correction_repeats_documents_only_where_all_of_them_may_be_read(
    stage: Stage, maker: str
) -> None:
    await outdated(stage, named(maker))
    met = {}
    for person in PEOPLE:
        run = await stage.ask(person)
        assert await told(stage, run, person) <= person.may, person.name
        met[person.name] = "no longer" in stage.shown(person, run.id)
    assert met[maker]  # there it is told as a whole


@pytest.mark.parametrize("maker", MAKERS)
async def test_a_correction_is_told_no_more_once_its_documents_are_taken_away(
    stage: Stage, maker: str
) -> None:
    by = named(maker)
    thread = await outdated(stage, by)
    used = await stage.ask(by)  # an answer that was made from the correction
    assert "no longer" in stage.shown(by, used.id)
    withdraw(stage)
    for person in (*PEOPLE, by):
        for text in (QUESTION, "Repeat what you said."):
            for where in (None, thread, used.message.thread) if person is by else (None,):
                run = await stage.ask(person, text, thread=where)
                assert await told(stage, run, person) <= left_to(person), (person.name, text)
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            for path in ("/corrections", f"/runs/{used.id}", f"/api/runs/{used.id}"):
                said = secrets_in((await browser.get(path)).text)
                assert said <= left_to(visitor), (visitor.name, path)


async def test_what_an_answer_took_from_a_correction_has_its_documents(stage: Stage) -> None:
    eng = named("anybody in the channel of eng")
    await outdated(stage, eng)
    run = await stage.ask(eng)
    # Its own search finds all of them too, so one that finds nothing but the correction is asked.
    assert run.answer is not None
    alone = await stage.ask(eng, "What is no longer the passphrase of the gate?")
    assert alone.answer is not None
    assert any(url.startswith("correction:") for url in alone.answer.rests_on)
    assert {"eng", "inner"} <= documents_of(stage.docs, alone.answer)


async def test_the_list_of_corrections_has_the_authors_own_words_for_other_visitors(
    stage: Stage,
) -> None:
    for maker in MAKERS:
        await outdated(stage, named(maker))
    listed = {}
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            page = (await browser.get("/corrections")).text
        assert secrets_in(page) <= visitor.may, visitor.name
        listed[visitor.id] = page.count(f">{OUTDATED}<"), page.count(">The passphrase")
    assert listed.pop("ann") == (0, 1)  # made by her
    assert listed.pop("root") == (len(MAKERS), 0)
    assert set(listed.values()) == {(0, 0)}
