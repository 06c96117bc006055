"""Notes of an answer on its own run."""

from __future__ import annotations

import re

import pytest

from bot.core.errors import AddressRefused, FootnoteError, PageUnreadable, Unavailable
from bot.core.messages import Attachment
from bot.core.texts import texts_for
from bot.pages.urls import display_url
from bot.research.outcomes import Notes

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


def test_it_is_named_once_in_chinese_too() -> None:
    note = Notes(texts_for("zh-Hans"), {}).unread(LINK, f"{LINK} is empty.")
    assert note.count(LINK) == 1


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
