"""Titles that a text names."""

from __future__ import annotations

import pytest

from bot.text.names import name_in


@pytest.mark.parametrize(
    ("title", "text", "named"),
    [
        ("Hello Love (song)", "'Hello Love' performer", True),
        ("Norris Mountain (Montana)", "the range that Norris mountain is part of", True),
        ("Midway (near Plains), White County", "In which country is Midway, near McRae?", True),
        ("McRae, Arkansas", "Is McRae in the county of Midway?", True),
        ("McRae, Arkansas", "mcrae population", False),
        ("Pocahontas, Arkansas", "the state where Pocahontas Mounds is", False),
        ("Van Helsing (film)", "Who is from the book of Abraham Van Helsing?", False),
        ("Will to Love", "Hello Love performer", False),
        ("(song)", "a song", True),
        ("", "a song", False),
    ],
)
def test_a_title_is_named_without_what_tells_namesakes_apart(
    title: str, text: str, named: bool
) -> None:
    assert bool(name_in(title, text)) is named
