"""Synonyms between questions and documents."""

from __future__ import annotations

import pytest

from bot.text.akin import _GROUPS, AKIN, akin, shares
from bot.text.terms import terms


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("throw", "deleted"),
        ("leave", "preserves"),
        ("asterisks", "star"),
        ("licence", "license"),
        ("残留", "遗留"),
        ("configure", "configuration"),
        ("delete", "deletions"),
        ("managed", "management"),
        ("compress", "compression"),
    ],
)
def test_a_word_has_others_in_its_place_and_they_have_it(asked: str, written: str) -> None:
    (one,), (other,) = terms(asked), terms(written)
    assert other in akin(one)
    assert one in akin(other)
    assert one not in akin(one)


def test_akin_does_not_pass_from_group_to_group() -> None:
    (folder,), (wiki,) = terms("folder"), terms("wiki")
    assert set(terms("directory")) <= akin(folder)
    assert set(terms("delete")).isdisjoint(akin(wiki))
    (leave,), (vacation,), (ignore,) = terms("leave"), terms("vacation"), terms("ignore")
    assert {vacation, ignore} <= akin(leave)
    assert ignore not in akin(vacation)


@pytest.mark.parametrize(
    ("one", "other"), [("port", "portal"), ("form", "format"), ("mess", "message"), ("8", "8er")]
)
def test_short_words_have_no_family(one: str, other: str) -> None:
    (first,), (second,) = terms(one), terms(other)
    assert second not in akin(first)
    assert first not in akin(second)


def test_a_word_itself_counts_more_than_another_in_its_place() -> None:
    wanted = terms("throw folder wiki")
    assert shares(wanted, terms("delete the folder")) == {"throw": AKIN, "folder": 1.0}
    assert shares(wanted, ()) == {}


def test_no_group_is_written_twice() -> None:
    groups = [frozenset(group.split()) for group in _GROUPS]
    assert len(set(groups)) == len(groups)
    assert all(len(group) > 1 for group in groups)
