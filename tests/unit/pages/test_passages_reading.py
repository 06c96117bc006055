"""The text read is the file's text: no word lost, added or moved, and code as it stands."""

from __future__ import annotations

import re

from hypothesis import given

from bot.pages.extract import from_bytes
from bot.pages.passages import split
from tests.unit.pages.documents import WORD, Document, documents


@given(documents())
def test_every_word_of_the_content_is_read_once_and_in_its_place(document: Document) -> None:
    read = from_bytes(document.html.encode(), "text/html", "x.html")
    assert tuple(WORD.findall(read.text)) == document.words
    assert read.kept > 0.99


@given(documents())
def test_the_words_of_every_passage_stand_in_that_order_in_the_document(document: Document) -> None:
    read = from_bytes(document.html.encode(), "text/html", "x.html")
    at = 0
    for passage in split(read.text):
        words = tuple(WORD.findall(passage.text))
        if not words:
            continue
        at = document.words.index(words[0], at)
        assert document.words[at : at + len(words)] == words
        at += len(words)


@given(documents())
def test_code_is_kept_character_by_character(document: Document) -> None:
    """But for white space at the end of lines, and more than one empty line."""
    read = from_bytes(document.html.encode(), "text/html", "x.html")
    for code in document.code:
        lines = [line.rstrip() for line in code.strip("\n").rstrip().split("\n")]
        assert re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) in read.text
