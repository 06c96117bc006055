"""Passages found by their words, rated anew with what stands around them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

from bot.pages.passages import split
from bot.search.index_file import pack_spans
from bot.search.local_documents import Headings, OpenedPage, rate_matches
from bot.search.vectors import Match
from tests.unit.pages.test_passages import PAGES

WEIGHTS = {"harbour": 3.0, "fee": 2.0, "bell": 1.0}
FOG = "\n\n".join("Fog lies on the sea. " * 20 for _ in range(4))


def a_page(text: str, title: str = "") -> OpenedPage:
    return OpenedPage(title, text, pack_spans(split(text)))


def order(pages: Mapping[int, OpenedPage], *matches: tuple[int, int]) -> list[str]:
    """The passages of the matches (file, place), best first."""
    found = rate_matches(
        WEIGHTS,
        [Match(file, f"file:///{file}", place, 0.0) for file, place in matches],
        pages,
    )
    return [pages[match.file].passage(match.place) for match in found]


def test_passages_are_those_that_were_indexed() -> None:
    page = a_page("# A\n\nOne.\n\n# B\n\nTwo.")
    assert [page.passage(place) for place in range(-1, 3)] == ["", "One.", "Two.", ""]


def test_a_short_passage_gains_by_the_words_beside_it() -> None:
    text = f"# Bells\n\nA fee.\n\n{FOG}\n\n# Fees\n\nThe harbour.\n\n## Amount\n\nA fee."
    page = a_page(text)
    last = len(split(text)) - 1
    found = rate_matches(
        WEIGHTS,
        [Match(1, "file:///1", 0, 9.0), Match(1, "file:///1", last, 1.0)],
        {1: page},
    )
    assert [match.place for match in found] == [last, 0]
    assert found[0].score > found[1].score > 0


@pytest.mark.parametrize(
    "better", [a_page("A fee.", "Harbour"), a_page("# Harbour\n\nA fee."), a_page("A harbour fee.")]
)
def test_the_title_and_the_headings_count(better: OpenedPage) -> None:
    pages = {1: a_page("A fee."), 2: better}
    assert order(pages, (1, 0), (2, 0))[0] == better.passage(0)


def test_matches_that_are_equal_stay_in_their_order() -> None:
    pages = {n: a_page("A harbour.") for n in (1, 2, 3)}
    found = rate_matches(WEIGHTS, [Match(n, f"file:///{n}", 0, 0.0) for n in (2, 3, 1)], pages)
    assert [match.file for match in found] == [2, 3, 1]


@given(PAGES)
def test_all_matches_come_back_best_first(text: str) -> None:
    pages = {1: a_page(text), 2: a_page("The harbour bell.")}
    matches = [Match(1, "file:///1", place, 0.0) for place in range(len(split(text)))]
    matches.append(Match(2, "file:///2", 0, 0.0))
    found = rate_matches(WEIGHTS, matches, pages)
    assert sorted((m.file, m.place) for m in found) == sorted((m.file, m.place) for m in matches)
    assert [m.score for m in found] == sorted((m.score for m in found), reverse=True)


# ---------------------------------------------------------------- headings

TEXT = """# Harbour

Lead.

## Fees

### Boats

Ten kroner.

## Rules

```sh
# Open the gate
harbour open
```

No fires."""


@pytest.mark.parametrize(
    ("words", "headings"),
    [
        ("# Harbour", []),
        ("Lead.", ["Harbour"]),
        ("Ten kroner.", ["Boats", "Fees", "Harbour"]),
        ("No fires.", ["Rules", "Harbour"]),
        ("harbour open", ["Rules", "Harbour"]),
    ],
)
def test_headings_above_are_of_rising_rank_and_nearest_first(
    words: str, headings: list[str]
) -> None:
    assert Headings(TEXT).above(TEXT.index(words)) == headings


@given(PAGES)
def test_headings_above_a_passage_are_those_of_its_path(text: str) -> None:
    for passage in split(text):
        if not passage.text.lstrip().startswith("#"):
            for heading in Headings(text).above(passage.start):
                assert heading in passage.heading or not heading
