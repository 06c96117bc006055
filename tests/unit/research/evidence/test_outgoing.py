"""Queries of a run that has read documents: some go to the web, others are withheld."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import bot
from bot.core.answers import Citation
from bot.core.messages import Attachment, Entry, Transcript
from bot.reasoning.questions import SubQuestion
from bot.reasoning.workspace import Outcome, Read, Search
from bot.research.run import Run
from bot.research.strategies import iterate
from bot.research.working_set import Reading
from bot.search.provider import ProviderKind, Query
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun
from tests.unit.research.evidence.test_outgoing_exposure import DISGUISES, SECRETS
from tests.unit.samples import a_message, a_page

BOTH: frozenset[ProviderKind] = frozenset({"web", "knowledge"})
READING = Reading(shown=5, page_tokens=400)
MESSAGE = a_message("Which vendor do we use for payments?")
QUESTION = SubQuestion(MESSAGE.text, queries=("payments vendor",))
PLAN = "file:///docs/plan.md"
PERMALINK = "https://team.slack.example/files/U1/F1/plan.pdf"
WEB = "https://example.org/1"
TOWER = "https://example.org/tower"


def a_shelf_with(secret: str) -> Shelf:
    shelf = a_shelf("Vendors of payments: Adyen takes a fee.")
    plan = a_page(PLAN, f"Our payments vendor. Internal: {secret}. Do not share.")
    return replace(shelf, pages={**shelf.pages, PLAN: plan}, searchable=BOTH)


def told(shelf: Shelf) -> list[str]:
    """The queries that the web was asked."""
    return [
        text for text, kind in zip(shelf.searched, shelf.kinds, strict=True) if kind != "knowledge"
    ]


def cited(url: str, quote: str) -> Entry:
    citation = Citation(1, url, "Plan", quote, "h", 0, len(quote), "")
    return Entry("footnote", "Footnote", f"It says: {quote} [1].", ("Plan",), "?", (citation,))


async def loop(run: Run, *queries: str) -> list[Outcome]:
    """Read all that the first search finds, then search; what the reasoner is told of that."""
    reasoner = Scripted([[Read((1, 2))], *([Search((query,))] for query in queries)])
    await iterate(run, reasoner, QUESTION, READING, searches=len(queries) + 2)
    return [outcome for turn in reasoner.workspaces[-1].turns[1:] for outcome in turn.outcomes]


@pytest.mark.parametrize("secret", SECRETS)
async def test_a_loop_that_read_a_document_tells_the_web_nothing_of_it(
    open_run: OpenRun, secret: str
) -> None:
    shelf = a_shelf_with(SECRETS[secret])
    queries = [disguise(SECRETS[secret])[:200] for disguise in DISGUISES.values()]
    outcomes = await loop(await open_run(shelf, message=MESSAGE), *queries)
    assert len(outcomes) == len(queries)
    assert told(shelf) == ["payments vendor"]


async def test_the_reasoner_is_told_and_the_documents_are_searched_all_the_same(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf_with("Hooperco is the target")
    run = await open_run(shelf, message=MESSAGE)
    (outcome,) = await loop(run, "Hooperco vendor")
    (result,) = outcome.queries
    assert result.note.startswith("Not sent to the web: documents were read")
    assert '"hooperco"' in result.note
    assert result.note.endswith("The documents were searched.")
    assert PLAN in [hit.hit.url for hit in result.hits]
    assert ("Hooperco vendor", "knowledge") in list(zip(shelf.searched, shelf.kinds, strict=True))


async def test_words_of_people_and_of_web_pages_go_to_the_web(open_run: OpenRun) -> None:
    shelf = a_shelf_with("Hooperco is the target")
    await loop(await open_run(shelf, message=MESSAGE), "Adyen fee", "our payments")
    assert told(shelf) == ["payments vendor", "Adyen fee", "our payments"]


async def test_where_documents_may_be_told_their_names_go_to_the_web(open_run: OpenRun) -> None:
    shelf = a_shelf_with("Hooperco is the target")
    await loop(await open_run(shelf, message=MESSAGE, keeps_documents=False), "Hooperco vendor")
    assert "Hooperco vendor" in told(shelf)


@pytest.mark.parametrize("kinds", [{"web"}, {"knowledge"}])
async def test_with_one_kind_of_provider_there_is_nothing_to_keep_apart(
    open_run: OpenRun, kinds: set[ProviderKind]
) -> None:
    shelf = a_shelf("Vendors of payments: Hooperco takes a fee.")
    shelf = replace(shelf, searchable=frozenset(kinds))
    await loop(await open_run(shelf, message=MESSAGE), "Hooperco vendor")
    assert shelf.searched == ["payments vendor", "Hooperco vendor"]


async def test_a_query_kept_back_comes_out_the_same_on_the_next_attempt(open_run: OpenRun) -> None:
    shelf = a_shelf_with("Hooperco is the target")
    first = await loop(await open_run(shelf, message=MESSAGE), "Hooperco vendor")
    shelf.searched.clear()
    again = await open_run(shelf, message=MESSAGE)
    assert await loop(again, "Hooperco vendor") == first
    assert shelf.searched == []


async def test_nothing_that_was_kept_back_is_named_as_searched(open_run: OpenRun) -> None:
    """And where nothing at all was searched for it, the answer says why."""
    file = Attachment("plan.pdf", "text/plain", PERMALINK)
    shelf = replace(a_shelf("Vendors."), searchable=frozenset({"web"}))
    message = replace(MESSAGE, attachments=(file,))
    transcript = Transcript((cited(PERMALINK, "Hooperco is the target"),))
    run = await open_run(shelf, message=message, transcript=transcript)
    outcome = await run.search(Query("hooperco price"))
    assert (outcome.hits, outcome.problem) == ((), "")
    assert outcome.withheld.startswith("Not sent to the web")
    assert (shelf.searched, run.queries) == ([], [])
    assert list(run.notes) == [run.texts("queries-withheld")]


# ---------------------------------------------------------------- what was said before


@pytest.mark.parametrize(
    ("earlier", "may_tell"),
    [
        (cited(PLAN, "Hooperco is the target"), False),
        (cited("upload:1/plan.pdf", "Hooperco is the target"), False),
        (cited(PERMALINK, "Hooperco is the target"), False),
        (cited(TOWER, "Hooperco is the target"), True),
        (Entry("footnote", "Footnote", "Hooperco is the target"), True),
        (Entry("person", "Ada", "Hooperco is the target"), True),
    ],
)
async def test_a_follow_up_tells_the_web_no_word_of_an_answer_from_documents(
    open_run: OpenRun, earlier: Entry, may_tell: bool
) -> None:
    shelf = replace(a_shelf("Vendors."), searchable=BOTH)
    asked = Entry(
        "person", "Ada", "Read this.", files=(Attachment("plan.pdf", "x/pdf", PERMALINK),)
    )
    run = await open_run(shelf, message=MESSAGE, transcript=Transcript((asked, earlier)))
    outcome = await run.search(Query("Hooperco price"))
    assert told(shelf) == (["Hooperco price"] if may_tell else [])
    assert bool(outcome.withheld) is not may_tell


async def test_a_query_made_ahead_is_kept_back_too(open_run: OpenRun) -> None:
    shelf = replace(a_shelf("Vendors."), searchable=BOTH)
    transcript = Transcript((cited(PLAN, "Hooperco is the target"),))
    run = await open_run(shelf, message=MESSAGE, transcript=transcript, prefetch_pages=8)
    run.prefetcher.search([Query("Hooperco price"), Query("payments vendor")])
    assert await run.prefetcher.found(Query("Hooperco price"), None) is None
    assert await run.prefetcher.found(Query("payments vendor"), None) is not None
    assert told(shelf) == ["payments vendor"]
    await run.prefetcher.aclose()


async def test_the_hosts_of_a_search_are_words_as_well(open_run: OpenRun) -> None:
    shelf = replace(a_shelf("Vendors."), searchable=BOTH)
    transcript = Transcript((cited(PLAN, "Hooperco is the target"),))
    run = await open_run(shelf, message=MESSAGE, transcript=transcript)
    await run.search(Query("payments", domains=("hooperco.evil.example",)))
    await run.search(Query("payments", domains=("vendor.example",)))
    assert [
        query.domains
        for query, kind in zip(shelf.queries, shelf.kinds, strict=True)
        if kind != "knowledge"
    ] == [("vendor.example",)]


# ---------------------------------------------------------------- one way for all


def test_no_query_goes_another_way() -> None:
    """Every search of a run goes through ``Outgoing``: nothing else asks the library."""
    root = Path(bot.__file__).parent
    asking = {
        path.relative_to(root).as_posix()
        for folder in ("research", "reasoning")
        for path in (root / folder).rglob("*.py")
        if "library.search(" in path.read_text(encoding="utf-8")
    }
    assert asking == {"research/outgoing.py"}
