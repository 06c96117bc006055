"""Language, region and script of a query."""

from __future__ import annotations

import pytest

from bot.search.provider import Query, is_traditional_chinese, language, region


@pytest.mark.parametrize(
    ("tag", "own", "expected"),
    [
        ("de", "", ("de", "", False)),
        ("de-AT", "", ("de", "AT", False)),
        ("de_at", "", ("de", "AT", False)),
        ("de-AT", "ch", ("de", "CH", False)),
        ("", "FR", ("", "FR", False)),
        ("", "", ("", "", False)),
        ("EN", "", ("en", "", False)),
        ("zh", "", ("zh", "", False)),
        ("zh-Hans", "", ("zh", "", False)),
        ("zh-Hant", "", ("zh", "", True)),
        ("zh-Hant-HK", "", ("zh", "HK", True)),
        ("zh-TW", "", ("zh", "TW", True)),
        ("zh", "HK", ("zh", "HK", True)),
        ("zh-Hans", "TW", ("zh", "TW", False)),
        ("de", "TW", ("de", "TW", False)),
        ("haw", "", ("haw", "", False)),
        ("klingon", "", ("", "", False)),
        ("日本", "", ("", "", False)),
        ("e1", "??", ("", "", False)),
        ("-", "U", ("", "", False)),
    ],
)
def test_a_tag_is_taken_apart(tag: str, own: str, expected: tuple[str, str, bool]) -> None:
    query = Query("q", 5, language=tag, region=own)
    assert (language(query), region(query), is_traditional_chinese(query)) == expected
