"""Expected words and pages are found whatever their dress, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.scoring import holds, is_page, normal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It takes 90 days.", "90 days"),
        ("It takes **90**\n days.", "90 days"),
        ("Approved by Maria KELLER, the director", "maria keller"),
        ("the “master” key", 'the "master" key'),
        ("the range 1–3", "1-3"),
        ("财务总监批准", "财务总监"),
        ("set `--docs PATH` first", "--docs PATH"),
        ("用了90天", "90"),
    ],
)
def test_words_are_found(text: str, words: str) -> None:
    assert holds(normal(text), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It began in 1990.", "90"),
        ("The towers stand.", "tower"),
        ("90 or so days", "90 days"),
        ("", "90"),
    ],
)
def test_parts_of_words_and_other_orders_are_not_found(text: str, words: str) -> None:
    assert not holds(normal(text), words)


@given(st.text(), st.text(), st.text())
def test_words_stand_in_a_text_that_holds_them_between_spaces(
    before: str, words: str, after: str
) -> None:
    if normal(words).strip():
        assert holds(normal(f"{before} {words} {after}"), words)


@pytest.mark.parametrize(
    ("wanted", "url", "title"),
    [
        ("keys.md", "file:///docs/keys.md", ""),
        ("./food/canteen.txt", "file:///docs/food/canteen.txt", ""),
        ("two words.md", "file:///docs/two%20words.md", ""),
        ("keys.md#rotation", "file:///docs/keys.md", ""),
        ("Eiffel tower", "https://en.wikipedia.org/wiki/Eiffel_Tower", "Eiffel Tower"),
        (
            "http://www.example.org/a/#top",
            "https://example.org/a",
            "",
        ),
    ],
)
def test_a_page_is_named_by_its_address_the_end_of_it_or_its_title(
    wanted: str, url: str, title: str
) -> None:
    assert is_page(wanted, url, title)


@pytest.mark.parametrize(
    ("wanted", "url"),
    [
        ("keys.md", "file:///docs/monkeys.md"),
        ("keys.md", "file:///docs/keys.md.bak"),
        ("https://example.org/a", "https://example.org/b"),
        ("#top", "file:///docs/keys.md"),
    ],
)
def test_another_page_is_another_page(wanted: str, url: str) -> None:
    assert not is_page(wanted, url, "Keys")
