"""Error messages for people."""

from __future__ import annotations

import pytest

from bot.core.errors import (
    Denied,
    FootnoteError,
    Invalid,
    InvalidQuestion,
    PlatformUnavailable,
    StorageUnavailable,
)
from bot.core.texts import LOCALES, invalid, sentence_for, texts_for


def test_an_error_of_the_catalogs_is_english_for_whoever_knows_no_locale() -> None:
    error = invalid("rules-invalid", key="depth", value="profound", allowed="quick, deep")
    assert error.sentence == "“profound” does not work for depth. Possible: quick, deep"
    assert str(error) == error.sentence


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("error", "id", "values"),
    [
        (invalid("suggestion-gone"), "suggestion-gone", {}),
        (
            invalid("rules-unknown", key="tones", known="tone"),
            "rules-unknown",
            {"key": "tones", "known": "tone"},
        ),
        (Denied("denied-user", "No."), "denied-user", {}),
        (InvalidQuestion("Empty.", text_id="no-question"), "no-question", {}),
        (StorageUnavailable("Locked."), "try-again", {}),
    ],
)
def test_people_are_told_in_their_language(
    locale: str, error: FootnoteError, id: str, values: dict[str, str]
) -> None:
    texts = texts_for(locale)
    assert sentence_for(error, texts) == texts(id, **values)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("error", [Invalid("Ask so."), PlatformUnavailable("Away: ask later.")])
def test_what_no_catalog_has_is_told_as_it_is(locale: str, error: FootnoteError) -> None:
    assert sentence_for(error, texts_for(locale)) == error.sentence
