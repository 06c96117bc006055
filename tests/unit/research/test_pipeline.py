"""The pipeline of a question: what happens while the model thinks, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from bot.core.errors import ModelUnavailable
from bot.core.messages import (
    UPLOADED,
    Attachment,
    Citation,
    Entry,
    Message,
    Transcript,
)
from bot.core.posting import Unseen
from bot.core.reader import Reach
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import Finish, Read, Rewritten, Search, SubQuestion, Turn, Workspace
from bot.reasoning.reasoner import OnAnswer
from bot.research.pipeline import GUESSED, Pipeline
from bot.research.run import Run
from bot.search.filters import Filter
from bot.search.provider import Unread
from bot.storage.spending import Amount
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun
from tests.unit.samples import NOW, a_message


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)


@dataclass
class Slow(Scripted):
    """Rewrites only once something was searched, and chooses only once pages were read."""

    shelf: Shelf = field(default_factory=a_shelf)
    query: str = ""

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        await until(lambda: self.shelf.searched)
        return Rewritten("search", message.text, queries=(self.query,))

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        if not workspace.turns:
            await until(lambda: len(self.shelf.read_urls) >= 2)
            return Turn((Read((1,)),))
        return Turn((Finish(),))


def a_pipeline(run: Run, reasoner: Slow) -> Pipeline:
    return Pipeline(run, reasoner, Closest(run.calls), Transcript(), load_settings(), Unseen())


async def test_the_question_is_searched_and_pages_are_read_while_the_model_thinks(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf("Eiffel tower is 330 m tall.", "Tower that is tall.", "Tall.")
    run = await open_run(shelf, prefetch_pages=3)
    answer = await a_pipeline(run, Slow(shelf=shelf, query="so tall")).research()
    assert answer.status == "answered"
    assert len(shelf.searched) == 1  # the rewrite's query has the words that were searched ahead
    assert answer.queries == ("so tall",)
    assert (answer.usage.searches, answer.usage.pages) == (1, 1)
    assert [step.kind for step in answer.steps] == ["search", "read"]


async def test_a_guess_that_was_wrong_changes_nothing_but_the_caches(open_run: OpenRun) -> None:
    shelf = a_shelf("Bridge of Brooklyn is long.", "Eiffel tower is 330 m tall.", "Tall.")
    run = await open_run(shelf, prefetch_pages=3)
    answer = await a_pipeline(run, Slow(shelf=shelf, query="brooklyn bridge")).research()
    assert answer.queries == ("brooklyn bridge",)
    assert [citation.title for citation in answer.citations] == ["Bridge"]
    assert answer.usage.searches == 1


@dataclass
class Prompt(Slow):
    """Rewrites at once."""

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        return Rewritten("search", message.text, queries=(self.query,))


class Counted(Closest):
    """Counts the messages it is asked to rewrite."""

    asked = 0

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        self.asked += 1
        return await super().rewrite(transcript, message, instructions)


@pytest.mark.parametrize(("characters", "guesses"), [(GUESSED, 1), (GUESSED + 1, 0)])
async def test_a_long_message_is_not_guessed_at(
    open_run: OpenRun, characters: int, guesses: int
) -> None:
    shelf = a_shelf("Eiffel tower is 330 m tall.", "Tower that is tall.", "Tall.")
    run = await open_run(shelf, prefetch_pages=3)
    run.message = a_message("How tall is the tower? ".ljust(characters, "x"))
    fallback = Counted(run.calls)
    reasoner = Prompt(shelf=shelf, query="so tall")
    pipeline = Pipeline(run, reasoner, fallback, Transcript(), load_settings(), Unseen())
    assert (await pipeline.research()).status == "answered"
    assert fallback.asked == guesses


@pytest.mark.parametrize("attached", [False, True], ids=["alone", "beside a file"])
async def test_without_a_model_a_long_question_is_no_source_for_itself(
    open_run: OpenRun, attached: bool
) -> None:
    shelf = a_shelf("Tower opening was in 1889, in spring.", "Canteen.")
    said = "When was the tower opening, in what year? " + "We need it for the guide. " * 300
    file = Attachment("notes.txt", "text/plain", f"{UPLOADED}x/notes.txt")
    message = replace(a_message(said), attachments=(file,) if attached else ())
    run = await open_run(shelf, message=message)

    async def notes(attachment: Attachment, largest: int) -> bytes:
        return b"The tower opening was in the year 1889, when the guide was printed."

    run._download = notes
    quoting = Closest(run.calls)
    pipeline = Pipeline(run, quoting, quoting, Transcript(), load_settings(), Unseen())
    answer = await pipeline.research()
    cited = {citation.url.rpartition("/")[2] for citation in answer.citations}
    assert answer.citations
    assert "message.txt" not in f"{answer.text} {cited}"
    assert ("notes.txt" in cited) is attached


class Lost(Prompt):
    """Is away once the pages were read."""

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        raise ModelUnavailable("The model is away.")


async def test_a_long_question_that_a_model_has_read_is_not_quoted_either(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf("Tower opening was in 1889, in spring.", "Canteen.")
    said = "When was the tower opening, in what year? " + "We need it for the guide. " * 300
    run = await open_run(shelf, message=a_message(said))
    answer = await a_pipeline(run, Lost(shelf=shelf, query="tower opening")).research()
    assert any(source.url.endswith("message.txt") for source in run.sources)
    assert [citation.url for citation in answer.citations] == ["https://example.org/1"]


async def test_a_question_about_a_source_reads_what_came_with_it_and_no_earlier_file(
    open_run: OpenRun,
) -> None:
    sent, earlier = (
        Attachment(name, "text/plain", f"{UPLOADED}x/{name}", again=again)
        for name, again in (("offer.txt", False), ("plan.txt", True))
    )
    said = "Does [1] agree with this offer?"
    message = replace(a_message(said), attachments=(sent, earlier))
    run = await open_run(a_shelf("Tower tickets cost 20 euros."), message=message)

    async def download(attachment: Attachment, largest: int) -> bytes:
        return b"Tower tickets cost 18 euros."

    run._download = download
    page = "https://example.org/1"
    cited = Citation(1, page, "Tower", "20 euros", "h", 0, 8)
    answer = Entry("footnote", "Footnote", "20 euros [1].", cited=(cited,))
    asked = Rewritten("links", said, links=(page,), recalled=(answer,))
    reasoner = Scripted(rewritten=asked)
    fallback = Closest(run.calls)
    await Pipeline(run, reasoner, fallback, Transcript(), load_settings(), Unseen()).research()
    assert {source.url for source in run.sources} == {sent.url, page}


# ---------------------------------------------------------------- what could not be read

LACKING = Unread(15, ((".psd", 2), (".dwg", 1)), ("Fleet",), ("deed.pdf", "a.zip"))
FAILED = "These files could not be read: deed.pdf; a.zip."
OTHERS = "3 of 15 files here are of kinds that are not read (.psd 2, .dwg 1)."
PARTLY = "Part of this could not be read: Fleet."


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize(
    ("asked", "url", "noted"),
    [
        ("How tall is the tower?", "file:///fleet.xlsx", PARTLY),
        ("How tall is the tower?", "https://example.org/1", None),
        ("Who owns the boat?", "file:///fleet.xlsx", OTHERS),
    ],
)
async def test_an_answer_says_what_could_not_be_read(
    open_run: OpenRun, with_model: bool, asked: str, url: str, noted: str | None
) -> None:
    page = Page(url, "Fleet", "The tower is 330 m tall.", NOW)
    shelf = Shelf({url: page}, lacking=LACKING, searchable=frozenset({"knowledge"}))
    run = await open_run(shelf, message=a_message(asked))
    quoting = Closest(run.calls)
    reasoner = Scripted([[Search((asked,))], [Read((1,))]]) if with_model else quoting
    pipeline = Pipeline(run, reasoner, quoting, Transcript(), load_settings(), Unseen())
    answer = await pipeline.research()
    assert bool(answer.citations) is (noted != OTHERS)
    assert [note for note in answer.notes if note in (OTHERS, PARTLY)] == [noted] * bool(noted)
    said = (FAILED, OTHERS) if noted == OTHERS else (noted,) * bool(noted)
    assert answer.unread == said
    assert (FAILED in answer.notes) is (noted == OTHERS)


# ---------------------------------------------------------------- documents that a question names


class Narrow(Shelf):
    """Has documents that every filter means, and that have nothing."""

    async def narrowed(self, only: Filter, reach: Reach) -> tuple[Filter, bool]:
        return only, False

    async def matched(self, only: Filter, reach: Reach) -> tuple[bool, tuple[str, ...]]:
        return True, ()


@pytest.mark.parametrize(
    ("with_model", "url", "widened"),
    [
        (True, "https://example.org/1", False),
        (True, "", True),
        (False, "https://example.org/1", True),
        (False, "file:///a.md", False),
    ],
)
async def test_a_question_is_gathered_again_if_the_documents_it_names_have_nothing(
    open_run: OpenRun, with_model: bool, url: str, widened: bool
) -> None:
    asked = "How tall is the tower in the travel handbook?"
    pages = {url: Page(url, "Fleet", "The tower is 330 m tall.", NOW)} if url else {}
    shelf = Narrow(pages, searchable=frozenset({"knowledge"}))
    run = await open_run(shelf, message=a_message(asked))
    quoting = Closest(run.calls)
    meant = Rewritten("search", asked, only=Filter(("travel handbook",)))
    model = Scripted([[Search((asked,))], [Read((1,))]], rewritten=meant)
    reasoner = model if with_model else quoting
    pipeline = Pipeline(run, reasoner, quoting, Transcript(), load_settings(), Unseen())
    answer = await pipeline.research()
    again = "Nothing found in these documents: travel handbook. I searched all documents."
    within = "Searched only in: travel handbook"
    assert (again in answer.notes, within in answer.notes) == (widened, not widened)
    if with_model:
        assert len(model.evidence) == 1, "it writes once, whatever was gathered"


@pytest.mark.parametrize(("calls", "named"), [(0, "closest"), (1, "scripted")])
async def test_an_answer_that_was_stopped_names_its_filter_and_the_model_that_it_paid(
    open_run: OpenRun, calls: int, named: str
) -> None:
    asked = "How tall is the tower in the travel handbook?"
    run = await open_run(Narrow({}), message=a_message(asked))
    meant = Rewritten("search", asked, only=Filter(("travel handbook",)))
    stop = asyncio.Event()

    class Stopped(Scripted):
        async def next_turn(self, *args: object) -> Turn:
            run.account.pay(Amount(model_calls=calls))
            stop.set()
            return await asyncio.Future()

    quoting = Closest(run.calls)
    settings, model = load_settings(), Stopped([], rewritten=meant)
    pipeline = Pipeline(run, model, quoting, Transcript(), settings, Unseen())
    answer, _ = await pipeline.answer(stop)
    assert answer.status == "stopped"
    assert answer.reasoner == named
    assert "Searched only in: travel handbook" in answer.unread
