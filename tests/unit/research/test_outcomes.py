"""Stored results and failures, how notes word them, and the health of providers."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from pydantic import TypeAdapter

from bot.core.errors import (
    AddressRefused,
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ModelUnavailable,
    PageUnreadable,
    Unavailable,
)
from bot.core.messages import Attachment
from bot.core.texts import said, texts_for
from bot.pages.urls import display_url
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Cut, Restart, Suggested, TextDelta
from bot.research.outcomes import Notes, ProviderHealth, StreamOutcome, health, keep
from bot.search.provider import Unread
from bot.storage.overview import StoredSearch
from tests.unit.samples import NOW

REPLY = ModelReply("m", (), "end_turn")
_outcome = TypeAdapter(StreamOutcome)


def kept(*deltas: AnswerDelta) -> list[AnswerDelta]:
    found: list[TextDelta | CitationDelta | Cut | Suggested] = []
    for delta in deltas:
        keep(found, delta)
    return list(found)


def test_text_of_one_block_is_joined_and_a_restart_forgets() -> None:
    assert kept(TextDelta("x"), Restart(), TextDelta("a"), TextDelta("b")) == [TextDelta("ab")]


def test_words_of_a_page_are_not_joined_with_those_of_the_reasoner() -> None:
    deltas = (TextDelta("- "), TextDelta("x[1]", verbatim=True), TextDelta("\n"))
    assert kept(*deltas) == list(deltas)


def test_every_kind_of_delta_comes_back_as_itself() -> None:
    deltas = (
        TextDelta("a", opens=True, verbatim=True),
        CitationDelta(1, 2, 3),
        Suggested(("Who built it?",)),
        TextDelta("b"),
        Cut(5),
    )
    stored = _outcome.dump_json(StreamOutcome(deltas, REPLY))
    assert _outcome.validate_json(stored).deltas == deltas


def test_what_was_kept_before_there_were_words_of_pages_is_read() -> None:
    stored = _outcome.dump_python(StreamOutcome((), REPLY), mode="json")
    stored["deltas"] = [{"text": "a", "opens": True}]
    assert _outcome.validate_python(stored).deltas == (TextDelta("a", opens=True),)


LINK = "https://example.org/a"
LONG = f"https://example.org/{'a' * 200}"
FILE = "https://files.example/1"
ATTACHMENTS = {FILE: Attachment("notes.pdf", "application/pdf", FILE)}


@pytest.mark.parametrize(
    ("url", "reason", "note"),
    [
        (LINK, f"{LINK} is empty.", f"I could not read {LINK}: it is empty."),
        (LONG, f"{display_url(LONG)} is empty.", f"I could not read {LONG}: it is empty."),
        (
            LINK,
            f"The address {LINK} cannot be read: it leads to this machine.",
            f"I could not read {LINK}: it leads to this machine.",
        ),
        (LINK, f"{LINK}/b is empty.", f"I could not read {LINK}: {LINK}/b is empty."),
        (LINK, "Try again.", f"I could not read {LINK}: Try again."),
        (FILE, "notes.pdf is empty.", "I could not read the file notes.pdf: it is empty."),
    ],
)
def test_what_could_not_be_read_is_named_once(url: str, reason: str, note: str) -> None:
    notes = Notes(texts_for("en"), ATTACHMENTS)
    assert notes.unread(url, reason) == note
    assert list(notes) == [note]


def test_in_another_language_it_is_told_in_that_and_named_once() -> None:
    notes = Notes(texts_for("zh-Hans"), ATTACHMENTS)
    reason = notes.of_page(PageUnreadable(said("unread-empty", name="notes.pdf")))
    assert notes.unread(FILE, reason) == "notes.pdf 是空的，没有可读的内容。"


def test_documents_that_lost_text_are_named_on_a_short_line() -> None:
    notes = Notes(texts_for("en"), {})
    notes.lacking(Unread(partly=("A. " + 30 * "long ", "B", "C", "D", "E")), ["file:///a.pdf"])
    (line,) = notes.unseen
    assert re.fullmatch(r"Part of this could not be read: A\. (long )+…; B; C; …\.", line)
    assert len(line) < 120


# ---------------------------------------------------------------- searches and pages that fail

DOWN = "wikipedia: The wiki at wiki.example cannot be reached: check the network."
RESTS = "It failed repeatedly and is left alone for {} s."


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (DOWN, DOWN),
        (f"{DOWN} {RESTS.format(30)}", DOWN),
        (f"No search provider answered. {DOWN} {RESTS.format(7)} brave: No. {RESTS.format(9)}",
         f"No search provider answered. {DOWN} brave: No."),
        (f"brave: {RESTS.format(30)}", f"brave: {RESTS.format(30)}"),
    ],
)  # fmt: skip
def test_one_trouble_of_a_provider_is_one_sentence_while_it_rests(told: str, said: str) -> None:
    assert Notes(texts_for("en"), {}).of_search(told) == said


@pytest.mark.parametrize("locale", ["zh-Hans", "zh-Hant"])
def test_a_search_that_failed_is_told_in_the_askers_language(locale: str) -> None:
    told = f"No search provider answered. {DOWN} brave: It is down."
    said = Notes(texts_for(locale), {}).of_search(told)
    assert "wikipedia, brave" in said
    assert not re.search("[A-Za-z]{2,}", said.replace("wikipedia", "").replace("brave", ""))


@pytest.mark.parametrize("locale", ["zh-Hans", "zh-Hant"])
@pytest.mark.parametrize(
    "error",
    [
        Unavailable("It cannot be reached."),
        AddressRefused("It is at a private address."),
        PageUnreadable("It is empty."),
    ],
)
def test_a_page_that_cannot_be_read_is_told_in_the_askers_language(
    locale: str, error: FootnoteError
) -> None:
    notes = Notes(texts_for(locale), {})
    said = notes.of_page(error)
    assert not re.search("[A-Za-z]", said)
    notes.worded[error.sentence] = said
    assert notes.unread(LINK, error.sentence).endswith(said)
    assert Notes(texts_for("en"), {}).of_page(error) == error.sentence


@pytest.mark.parametrize("locale", ["en", "zh-Hans"])
@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("Check the network."),
        CredentialsRefused("ANTHROPIC_API_KEY was not accepted."),
        InvalidSetting("Set FOOTNOTE_MODEL."),
    ],
)
def test_only_an_operator_is_told_what_to_set(locale: str, error: FootnoteError) -> None:
    texts = texts_for(locale)
    assert Notes(texts, {}).described(error) == texts("model-away")
    told = Notes(texts, {}, for_operator=True).described(error)
    assert told == (error.sentence if locale == "en" else texts("model-away"))


def a_search(
    *providers: str, failures: tuple[str, ...] = (), problem: str = "", ago: float = 0
) -> StoredSearch:
    hits = [
        {"title": "T", "url": f"https://e.org/{n}", "snippet": "", "provider": provider}
        for n, provider in enumerate(providers)
    ]
    kept = {"hits": hits, "failures": failures, "problem": problem}
    return StoredSearch(json.dumps(kept), NOW - timedelta(seconds=ago))


def test_hits_are_counted_for_the_provider_they_came_from() -> None:
    found = health([a_search("wikipedia", "brave", "wikipedia"), a_search("wikipedia")])
    assert found == (
        ProviderHealth("brave", found=1, hits=1),
        ProviderHealth("wikipedia", found=2, hits=3),
    )


def test_the_latest_failure_is_told_with_its_sentence() -> None:
    found = health(
        [
            a_search("wikipedia", failures=("searxng: It is down.",), ago=1),
            a_search("wikipedia", failures=("searxng: It was slow.",), ago=2),
        ]
    )
    assert found[0] == ProviderHealth(
        "searxng",
        failed=2,
        last_failure="It is down.",
        failed_at=NOW - timedelta(seconds=1),
    )


def test_when_all_fail_each_of_them_has_failed() -> None:
    problem = (
        "No search provider answered. wikipedia: It did not answer within 10 s: try again later. "
        "brave: The key is refused."
    )
    found = health([a_search(problem=problem)])
    assert [(one.name, one.failed, one.last_failure) for one in found] == [
        ("brave", 1, "The key is refused."),
        ("wikipedia", 1, "It did not answer within 10 s: try again later."),
    ]


def test_what_cannot_be_read_is_no_search() -> None:
    assert health([StoredSearch("{}", NOW), StoredSearch("not json", NOW)]) == ()
