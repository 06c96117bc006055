"""Decisions whether two files hold the same text or only look alike."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.twins import Side, form_of, is_enough, is_twin, keys_of, may_be_twins, order_of
from bot.text.listed import listed
from bot.text.terms import terms

WORDS = sorted(
    listed(
        "harbour tide lamp keeper storm vessel anchor rope signal flag coast pier cargo crew "
        "captain chart compass depth sail mast deck hull cabin engine fuel rudder buoy beacon fog"
    )
)


def prose(seed: int, words: int = 300) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) + (". " if i % 12 == 11 else "") for i in range(words))


def side(path: str, text: str, title: str = "Harbours") -> Side:
    return Side(f"file:///docs/{path}", title, text)


def found(worse: Side, better: Side) -> bool:
    """Compare as the index does: by a common key first, then by the texts."""
    mine, others = (
        set(keys_of(each.url, each.title, [" ".join(terms(each.text))])) for each in (worse, better)
    )
    return may_be_twins(worse.url, better.url, mine & others) and is_twin(worse, better)


# ---------------------------------------------------------------- order


def test_the_better_readable_file_comes_first_then_the_shorter_path() -> None:
    best_first = [
        "file:///d/bb.md",
        "file:///d/a.html",
        "file:///d/b.html",
        "file:///d/long/name/c.md",
        "file:///d/c.docx",
        "file:///d/c.rst",
        "file:///d/man1/c.1",
        "file:///d/_sources/c.rst.txt",
        "file:///d/c.txt",
        "file:///d/README",
        "file:///d/c.pdf",
    ]
    shuffled = random.Random(1).sample(best_first, len(best_first))
    assert sorted(shuffled, key=order_of) == best_first


@pytest.mark.parametrize(
    ("url", "stem", "page"),
    [
        ("file:///d/Guide.HTML", "guide", "file:///d/guide"),
        ("file:///d/_sources/deep/x.rst.txt", "x", "file:///d/deep/x"),
        ("file:///d/deep/x.html", "x", "file:///d/deep/x"),
        ("file:///d/deep/x/index.html", "x/index", "file:///d/deep/x"),
        ("file:///d/man1/npm-ci.1", "npm-ci", "file:///d/man1/npm-ci"),
        ("file:///d/policy.txt.gz", "policy", "file:///d/policy"),
        ("file:///d/README", "d/readme", "file:///d/readme"),
    ],
)
def test_a_name_tells_what_a_file_stands_for(url: str, stem: str, page: str) -> None:
    assert (form_of(url).stem, form_of(url).page) == (stem, page)


# ---------------------------------------------------------------- copies


def test_a_copy_under_another_name_is_one() -> None:
    text = f"# Harbours\n\n{prose(1)}"
    assert found(side("b/copy-of-it.md", text), side("a.md", text))


def test_a_copy_with_navigation_around_it_is_one() -> None:
    text = f"# Harbours\n\n{prose(1)}"
    other = f"Home Up Next\n\n{text}\n\nLast changed in spring"
    assert found(side("b/x.html", other), side("a.html", text))
    assert found(side("b/x.html", text), side("a.html", other))


def test_markup_and_line_breaks_make_no_difference() -> None:
    words = prose(1)
    other = words.replace(" ", "\n").replace("tide", "**tide**")
    assert found(side("b/x.md", other), side("a.md", words))


@pytest.mark.parametrize(
    ("one", "other"),
    [("is 30 seconds", "is 60 seconds"), ("is enabled", "is disabled"), ("directory", "target")],
)
@pytest.mark.parametrize("place", ["beginning", "middle", "end"])
def test_pages_of_one_template_that_differ_in_a_word_are_none(
    one: str, other: str, place: str
) -> None:
    words = prose(1)
    half = len(words) // 2
    around = {
        "beginning": ("# Options\n\nThe default ", words),
        "middle": (words[:half] + " The default ", words[half:]),
        "end": (words + " The default ", ""),
    }[place]
    first, second = f" {one} ".join(around), f" {other} ".join(around)
    assert not found(side("b/x.html", second), side("a.html", first))


def test_pages_of_equal_text_under_other_titles_are_none() -> None:
    text = prose(1)
    assert not found(side("b.html", text, "PRE_INSTALL"), side("a.html", text, "POST_INSTALL"))


def test_pages_of_a_site_with_one_title_are_told_apart_by_their_headings() -> None:
    first, second = (f"# Release {i}\n\n{prose(1)}" for i in (1, 2))
    assert not found(side("b.html", second, "Docs"), side("a.html", first, "Docs"))


def test_texts_without_words_are_twins_only_if_they_are_equal() -> None:
    assert not found(side("b.md", "[[[[", "b"), side("a.md", "****", "a"))
    assert is_twin(side("b.md", "****", "b"), side("a.md", "****", "a"))


# ---------------------------------------------------------------- conversions

SOURCE = """.. _harbours:

Harbours
========

.. contents:: :depth: 2

{}

.. seealso:: :ref:`tides <tide-tables>`
"""


def with_roles(words: str) -> str:
    return words.replace("tide", ":term:`tide`").replace("lamp", "``lamp``")


def test_a_page_and_its_source_are_twins() -> None:
    page = side(
        "html/harbours.html", f"# Harbours\n\n{prose(1)}\n\nSee also: tides", "Harbours — Docs"
    )
    source = side("src/harbours.rst", SOURCE.format(with_roles(prose(1))), ".. _harbours:")
    assert found(source, page)


def test_a_source_that_says_more_than_the_page_is_searched() -> None:
    page = side("html/harbours.html", f"# Harbours\n\n{prose(1, 100)}")
    source = side("src/harbours.rst", SOURCE.format(with_roles(prose(1, 400))))
    assert not found(source, page)


def test_a_namesake_of_another_text_is_none() -> None:
    page = side("npm/logging.html", f"# Logging\n\n{prose(1)}", "Logging")
    other = side("fastify/logging.rst", f"# Logging\n\n{prose(2)}", "Logging")
    assert not found(other, page)


def test_a_source_of_another_version_is_none() -> None:
    page = side("2.0/harbours.html", f"# Harbours\n\n{prose(1)}")
    source = side("1.0/harbours.rst", f"Harbours\n========\n\n{prose(1)}")
    assert not found(source, page)
    assert found(Side(source.url.replace("1.0", "2.0"), source.title, source.text), page)


def test_a_conversion_under_another_name_and_title_must_hold_nearly_all() -> None:
    page = side("out/p17.html", f"# Harbours\n\n{prose(1)}", "Page 17")
    assert found(side("notes.txt", f"Harbours\n\n{prose(1)}", "Harbours"), page)
    mixed = f"{prose(1, 200)} {prose(3, 100)}"
    assert not found(side("notes.txt", mixed, "Harbours"), page)


def test_what_sphinx_keeps_is_the_source_of_its_page_however_it_looks() -> None:
    page = side("html/api/json.html", f"# JSON\n\n{prose(1)}", "JSON — Docs")
    stub = side(
        "html/_sources/api/json.rst.txt", ".. automodule:: flask.json\n   :members:", "JSON"
    )
    assert found(stub, page)
    assert not found(stub, side("html/other/json.html", page.text, page.title))


@pytest.mark.parametrize(("page", "source", "enough"), [(50, 100, True), (49, 100, False)])
def test_a_page_is_enough_with_half_of_its_source(page: int, source: int, enough: bool) -> None:
    assert is_enough(page, source) is enough


# ---------------------------------------------------------------- whatever the text is


@given(st.text(max_size=400), st.sampled_from(["a.md", "b/a.html", "c.rst", "d"]))
def test_a_file_is_found_to_be_a_copy_of_itself(text: str, name: str) -> None:
    one, copy = side(f"x/{name}", text, "T"), side(f"a/longer/{name}", text, "T")
    assert found(copy, one)


@given(st.lists(st.sampled_from(WORDS), min_size=60, max_size=400), st.randoms())
def test_an_edited_page_is_never_taken_for_the_other(
    words: list[str], chance: random.Random
) -> None:
    """Replace one word, at any place of the text, by a word that is nowhere else in it."""
    edited = list(words)
    edited[chance.randrange(len(words))] = "zeppelin"
    one, other = side("a.html", " ".join(words)), side("b.html", " ".join(edited))
    assert not found(other, one)


@given(st.integers(0, 10_000), st.integers(100, 600), st.integers(0, 5))
def test_a_few_words_of_markup_hide_no_conversion(seed: int, length: int, more: int) -> None:
    """Every source has other names and titles, and some words that its page has not."""
    text = prose(seed, length)
    source = side("s/x.rst", text + " toctree maxdepth" * more, "Other")
    assert found(source, side("h/y.html", text)) is (2 * more <= 0.05 * (length + 2 * more))
