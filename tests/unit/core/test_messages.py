"""Values of messages: answers of earlier versions still load, quoted words keep their lines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from bot.core.messages import (
    UPLOADED,
    Answer,
    Attachment,
    Citation,
    Entry,
    quotation,
    unquoted,
)

CITED = Citation(1, "https://e.org/t", "Tower", "330 m", "hash", 0, 5)
_adapter = TypeAdapter(Answer)


def test_an_answer_of_an_earlier_version_loads() -> None:
    stored = _adapter.dump_python(Answer("answered", "It is tall [1].", "?", "r1", (CITED,)))
    del stored["linked"]
    found = _adapter.validate_python(stored)
    assert (found.linked, found.text) == ((), "It is tall [1].")


def test_an_answer_comes_back_from_json_as_it_was() -> None:
    answer = Answer("answered", "Tall [1].", "?", "r1", (CITED,), linked=((2, "file:///a"),))
    assert _adapter.validate_json(_adapter.dump_json(answer)) == answer
    assert answer.targets == {1: "https://e.org/t", 2: "file:///a"}


def test_quoted_words_are_a_block_quote_headed_by_who_wrote_them_where_and_when() -> None:
    quoted = quotation("One\n\nTwo\n", author="Ada", place="#general", at="2026-03-04")
    assert quoted == "> Ada, #general, 2026-03-04:\n> One\n>\n> Two"
    assert quotation("One") == "> One"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("How tall?", "How tall?"),
        (quotation("How tall?\n\nAnd wide?", author="Ada"), "How tall?\n\nAnd wide?"),
        (quotation(quotation("No.", author="Bo"), author="Ada"), "No."),
        (f"Is it?\n\n{quotation('It is.', place='#ops')}", "Is it?\n\nIt is."),
        ("> Prices:", "> Prices:"),
    ],
)
def test_a_search_takes_the_words_of_a_quotation_alone(text: str, plain: str) -> None:
    assert unquoted(text) == plain


def test_files_at_hand_are_readable_and_not_the_consoles() -> None:
    sent = Attachment("a.txt", "text/plain", "https://files.example/a.txt")
    gone = replace(sent, unread="file-gone")
    uploaded = replace(sent, url=f"{UPLOADED}1/a.txt")
    assert Entry("person", "Ada", "See:", files=(gone, sent, uploaded)).at_hand == (sent,)
