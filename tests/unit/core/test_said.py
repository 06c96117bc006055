"""Messages that are stored and sent before it is known who reads them."""

from __future__ import annotations

import pytest

from bot.core.said import Sentence, decoded, encoded, said


@pytest.mark.parametrize(
    "sentence",
    ["plain words", "", "{", said("unread-no-text"), said("unread-cannot", why=said("what-xml"))],
)
def test_a_sentence_is_restored_as_it_was(sentence: Sentence) -> None:
    assert decoded(encoded(sentence)) == sentence


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "no-such-message", "values": {}}',
        '{"id": "unread-cannot", "values": {}}',
        '{"id": "unread-cannot", "values": "why"}',
        '{"id": ["unread-cannot"], "values": {"why": ""}}',
        '{"id": "unread-cannot", "values": {"why": null}}',
        *('{"id": 7}', "[7]", "7", "[" * 100_000),
    ],
)
def test_what_is_no_message_is_told_as_it_is(text: str) -> None:
    """A process that a document has taken over may send anything."""
    assert decoded(text) == text
    assert str(decoded(text)) == text
