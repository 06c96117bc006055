"""Finding the literals of a question, and finding them in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.literals import has_literal, literals


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("what does html_logo do?", ("html_logo",)),
        ("Is `gate open` the same as --open-gate or -o?", ("gate open", "--open-gate", "-o")),
        ("%~ vs %/ in the prompt?", ("%~", "%/")),
        ('@app.route("/about") or @table?', ('@app.route("/about")', "@table")),
        (
            "the bodyLimit of conf.py, .env and isEmpty()",
            ("bodyLimit", "conf.py", ".env", "isEmpty"),
        ),
        ("select() fails with ENOENT (error=2)", ("select", "ENOENT", "error=2")),
        ("/etc/hosts 里的 RAID5 和 `--force`？", ("--force", "RAID5")),
        ("Why - and how... is it 100% wrong / right? 3.11 & #5", ()),
        ("Who leads the country where Buyende lies?", ()),
        ("", ()),
    ],
)
def test_what_is_meant_letter_by_letter(question: str, found: tuple[str, ...]) -> None:
    assert literals(question) == found


@pytest.mark.parametrize(
    ("text", "literal", "has"),
    [
        ("`html_logo`: a picture", "html_logo", True),
        ("the logo of the HTML pages", "html_logo", False),
        ("html_logo_url is another", "html_logo", False),
        ("use --force.", "--force", True),
        ("PS1 has %~ in it", "%~", True),
    ],
)
def test_a_text_has_a_literal_as_it_is_written(text: str, literal: str, has: bool) -> None:
    assert has_literal(text, literal) is has


@given(st.text())
def test_every_literal_stands_in_its_question(question: str) -> None:
    for literal in literals(question):
        assert literal in question
        assert has_literal(question, literal) or literal[0].isalnum() or literal[-1].isalnum()
