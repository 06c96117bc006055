"""What a run may send to the web, and what it sends ahead."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot
from bot.core.messages import Attachment, Citation, Entry, Transcript
from bot.pages.page import Page
from bot.reasoning.evidence import Outcome, Read, Search, SubQuestion
from bot.research.library import Library
from bot.research.outgoing import (
    LONGEST,
    RUN,
    Exposure,
    Outgoing,
    Prefetcher,
    is_opaque,
    of_hosts,
    squeeze,
)
from bot.research.run import Run
from bot.research.strategies import iterate
from bot.research.working_set import Reading
from bot.search.provider import ProviderKind, Query
from tests.fakes.library import Shelf, a_library, a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun
from tests.unit.samples import a_message, a_page

ASKED_WORDS = "Which vendor do we use for payments, and is its price fair?"
PUBLIC = "Payment vendors compared: Adyen and Stripe charge a fee of 1.4 % for a card payment."
SECRETS = {
    "key": "sk_live_51H8xQ2eZvKYlo2CvT9fRn4b",
    "iban": "DE89 3704 0044 0532 0130 00",
    "card": "4929 1234 5678 9012",
    "token": "AKIA7Q3XK2M5TJ8WZ1RB",
    "hash": "5f4dcc3b5aa765d61d8327deb882cf99",
    "passphrase": "correct horse battery staple",
    "plan": (
        "Wibbleton will acquire Hooperco for ninety million in March, announced after the fair in "
        "Leipzig by both boards and paid in shares"
    ),
}
KEYS = ("key", "iban", "card", "token", "hash")
Disguise = Callable[[str], str]
DISGUISES: dict[str, Disguise] = {
    "as it is": lambda secret: secret,
    "in a question": lambda secret: f"what is {secret} price",
    "upper case": str.upper,
    "without spaces": lambda secret: secret.replace(" ", ""),
    "by hyphens": lambda secret: "-".join(pieces(secret, 4)),
    "by dots and slashes": lambda secret: "./".join(pieces(secret, 3)),
    "in pieces": lambda secret: " ".join(pieces(secret, 4)),
    "letter by letter": lambda secret: " ".join(squeeze(secret)),
    "in full-width letters": lambda secret: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in secret
    ),
    "with invisible characters": lambda secret: "\u200b".join(secret),
    "backwards": lambda secret: secret[::-1],
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 in pieces": lambda secret: " ".join(
        pieces(base64.b64encode(secret.encode()).decode(), 8)
    ),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "hexadecimal": lambda secret: binascii.hexlify(secret.encode()).decode(),
    "percent-encoded": lambda secret: "".join(f"%{ord(c):02x}" for c in secret),
    "in an address": lambda secret: f"evil.example/?d={quote(secret)}",
    "as a host": lambda secret: of_hosts([f"{squeeze(secret)}.evil.example"]),
}


def pieces(text: str, size: int) -> list[str]:
    bare = text.replace(" ", "")
    return [bare[at : at + size] for at in range(0, len(bare), size)]


def an_exposure(*private: str, keeps: bool = True, is_document: bool = True) -> Exposure:
    exposure = Exposure(keeps_documents=keeps)
    exposure.people.add(ASKED_WORDS)
    exposure.public.add(PUBLIC)
    for text in private:
        exposure.private.add(f"Internal. {text}. Do not share.")
    exposure.has_document = is_document and bool(private)
    return exposure


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_of_a_document_is_told(secret: str, disguise: str) -> None:
    told = DISGUISES[disguise](SECRETS[secret])
    assert an_exposure(SECRETS[secret]).objection(told)


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("secret", KEYS)
@pytest.mark.parametrize("is_document", [True, False])
def test_keys_and_numbers_are_told_by_no_setting(
    secret: str, disguise: str, is_document: bool
) -> None:
    """Neither where documents may be told, nor when only an earlier answer has it."""
    exposure = an_exposure(SECRETS[secret], keeps=not is_document, is_document=is_document)
    assert exposure.objection(DISGUISES[disguise](SECRETS[secret]))


def test_a_secret_of_plain_words_is_told_only_where_documents_may_be() -> None:
    """The handbook says so: nothing but its words tells it from any other query."""
    assert an_exposure(SECRETS["passphrase"]).objection(SECRETS["passphrase"])
    assert not an_exposure(SECRETS["passphrase"], keeps=False).objection(SECRETS["passphrase"])


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("size", [4, 5, 8, 10])
@pytest.mark.parametrize("secret", KEYS)
def test_a_key_spread_over_several_queries_does_not_get_through_whole(
    secret: str, size: int, keeps: bool
) -> None:
    exposure = an_exposure(SECRETS[secret], keeps=keeps)
    parts = pieces(SECRETS[secret], size)
    sent = [part for part in parts if not exposure.objection(f"payments {part}")]
    assert len(sent) < len(parts)
    assert not keeps or not sent


@pytest.mark.parametrize("spread", [1, 2, 3])
def test_a_passage_is_not_told_in_one_query_nor_in_several(spread: int) -> None:
    words = SECRETS["plan"].replace(",", "").split()
    exposure = an_exposure(SECRETS["plan"], keeps=False)
    size = -(-len(words) // spread)
    parts = [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
    assert any(exposure.objection(part) for part in parts)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Hooperco price", ['"hooperco"']),
        ("Adyen Wibbleton fee", ['"wibbleton"']),
        ("remuneration of suppliers", ['"remuneration"', '"supplier"']),
        ("payments 2031", ['"2031"']),
        ("付款 供应商", ['"付款"']),
    ],
)
def test_words_that_only_documents_may_have_are_named(query: str, named: Sequence[str]) -> None:
    objection = an_exposure(SECRETS["plan"]).objection(query)
    assert all(name in objection for name in named)
    assert not an_exposure(SECRETS["plan"], keeps=False).objection(query)


@pytest.mark.parametrize(
    "query",
    [
        ASKED_WORDS,
        "vendor payments price",
        "Stripe card payment fee",
        "Adyen or Stripe: fair prices?",
        "payment vendors 1.4 %",
        "PAYMENTS—vendor",
    ],
)
def test_words_of_people_and_of_web_pages_are_told(query: str) -> None:
    assert not an_exposure(*SECRETS.values()).objection(query)


@pytest.mark.parametrize("secret", SECRETS.values())
def test_what_a_person_wrote_is_told(secret: str) -> None:
    exposure = an_exposure(secret)
    exposure.people.add(f"Is {secret} known?")
    assert not exposure.objection(secret)


@pytest.mark.parametrize(
    "query",
    [
        "CVE-2021-44228 log4j",
        "arXiv 1706.03762 authors",
        "ISO/IEC 27001:2022 changes",
        "asyncio.loop.set_default_executor thread pool",
        "PyObject_CallFunctionObjArgs",
        "population 1990 2000 2010 2020",
        "iPhone 15 Pro Max battery mAh",
        "Rindfleischetikettierungsüberwachungsgesetz",
        "B-52H Stratofortress 1961",
        "Boeing 737 MAX 8 MCAS 2018 2019",
        "2-(2,4-dichlorophenoxy)acetic acid",
        "International Convention for the Regulation of Whaling 1946",
    ],
)
def test_names_and_numbers_of_ordinary_queries_are_no_keys(query: str) -> None:
    assert not an_exposure("Nothing of that.", keeps=False).objection(query)


def test_nothing_is_refused_before_anything_was_shown() -> None:
    exposure = Exposure()
    exposure.people.add(ASKED_WORDS)
    exposure.public.add(PUBLIC)
    assert not exposure.objection(SECRETS["key"])


def test_words_of_queries_from_before_a_document_was_shown_are_told_after() -> None:
    """Those queries were written without knowledge of the document: the question in other words."""
    exposure = an_exposure()
    assert not exposure.objection("remuneration of suppliers")
    exposure.private.add(SECRETS["plan"])
    exposure.has_document = True
    assert not exposure.objection("suppliers remuneration fair")
    assert exposure.objection("suppliers hooperco")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_secret_is_spelled_with_syllables_that_a_page_lists(secret: str, size: int) -> None:
    exposure = an_exposure(SECRETS[secret])
    spelled = " ".join(pieces(SECRETS[secret].replace(",", ""), size)[: LONGEST // (size + 1)])
    exposure.public.add(" ".join("abcdefghijklmnopqrstuvwxyz0123456789"))
    assert exposure.objection(spelled)


@pytest.mark.parametrize("piece", ["en", "dor", "w", "endo"])
def test_a_part_of_a_word_is_no_word_that_people_wrote(piece: str) -> None:
    assert an_exposure("private").objection(piece)


def test_a_long_query_is_refused_unless_people_wrote_it() -> None:
    words = " ".join(["payments vendor"] * LONGEST)
    exposure = an_exposure()
    assert str(LONGEST) in exposure.objection(words)
    exposure.people.add(words)
    assert not exposure.objection(words)


@given(st.text(min_size=RUN, max_size=RUN + 8), st.integers(0, 40), st.sampled_from(["", " ", "-"]))
def test_a_run_of_private_text_is_never_told(text: str, at: int, between: str) -> None:
    exposure = an_exposure(text, keeps=False)
    bare = squeeze(text)[at:]
    objection = exposure.objection(between.join(bare))
    assert objection or len(bare) < RUN


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    exposure = an_exposure("private")
    assert isinstance(exposure.objection(text), str)
    assert is_opaque("") is False


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
    return Entry("footnote", "Footnote", f"It says: {quote} [1].", "?", (citation,))


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


TOWER_URL = Query("eiffel tower height", 10, "en")


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)


def an_ahead(library: Library, pages: int) -> Prefetcher:
    outgoing = Outgoing(library, a_message(), Transcript(), (), keeps_documents=True)
    return Prefetcher(library, outgoing, pages)


@pytest.fixture
def shelf() -> Shelf:
    return a_shelf(*(f"Tower{n} eiffel tower height." for n in range(1, 9)))


async def test_a_guessed_search_answers_the_query_it_guessed(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER_URL])
    found = await ahead.found(replace(TOWER_URL, text="Eiffel Tower: height"), None)
    assert found is not None
    assert len(found.hits) == 8
    assert shelf.searched == [TOWER_URL.text]
    await ahead.aclose()


@pytest.mark.parametrize(
    "query",
    [
        replace(TOWER_URL, text="height of the blackpool tower"),
        replace(TOWER_URL, language="fr"),
        replace(TOWER_URL, freshness="week"),
        replace(TOWER_URL, domains=("example.org",)),
        replace(TOWER_URL, limit=30),
    ],
)
async def test_it_answers_no_query_that_asks_for_something_else(shelf: Shelf, query: Query) -> None:
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER_URL])
    assert await ahead.found(query, None) is None
    await ahead.aclose()


async def test_it_answers_no_query_of_another_kind(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER_URL], "web")
    assert await ahead.found(TOWER_URL, "knowledge") is None
    assert await ahead.found(TOWER_URL, "web") is not None
    await ahead.aclose()


async def test_the_best_pages_of_a_guess_are_read_already(shelf: Shelf) -> None:
    library = a_library(shelf)
    ahead = an_ahead(library, pages=4)
    ahead.search([TOWER_URL])
    await until(lambda: len(shelf.read_urls) == 2)
    await library.read("https://example.org/1")
    assert shelf.read_urls == ["https://example.org/1", "https://example.org/2"]
    await ahead.aclose()


async def test_no_more_pages_are_read_than_allowed_and_none_twice(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=3)
    ahead.read([f"https://example.org/{n}" for n in (1, 1, 2)])
    ahead.read([f"https://example.org/{n}" for n in (2, 3, 4, 5)])
    await until(lambda: len(shelf.read_urls) == 3)
    await ahead.aclose()
    assert shelf.read_urls == [f"https://example.org/{n}" for n in (1, 2, 3)]


async def test_nothing_is_done_ahead_where_that_is_switched_off(shelf: Shelf) -> None:
    ahead = an_ahead(a_library(shelf), pages=0)
    ahead.search([TOWER_URL])
    ahead.read(["https://example.org/1"])
    assert await ahead.found(TOWER_URL, None) is None
    await ahead.aclose()
    assert (shelf.searched, shelf.read_urls) == ([], [])


async def test_a_failed_guess_and_an_unreadable_page_are_left_to_the_run() -> None:
    shelf = a_shelf("Tower eiffel.", broken=frozenset([TOWER_URL.text]))
    ahead = an_ahead(a_library(shelf), pages=4)
    ahead.search([TOWER_URL])
    ahead.read(["https://example.org/404"])
    assert await ahead.found(TOWER_URL, None) is None
    await until(lambda: shelf.read_urls)
    await ahead.aclose()


async def test_closing_ends_a_fetch_unless_another_run_waits_for_it() -> None:
    web = _SlowWeb()
    library = a_library(web)
    mine, other = an_ahead(library, pages=4), an_ahead(library, pages=4)
    mine.read(["https://example.org/mine", "https://example.org/both"])
    other.read(["https://example.org/both"])
    await until(lambda: len(web.begun) == 2)
    await mine.aclose()
    assert web.ended == ["https://example.org/mine"]
    await other.aclose()
    assert web.ended == ["https://example.org/mine", "https://example.org/both"]


class _SlowWeb(Shelf):
    """A web whose pages never come."""

    def __init__(self) -> None:
        super().__init__({})
        self.begun: list[str] = []
        self.ended: list[str] = []

    async def read(self, url: str) -> Page | None:
        self.begun.append(url)
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(url)
        raise AssertionError("unreachable")
