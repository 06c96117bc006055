"""Error messages for people, in their language where the catalogues have it."""

from __future__ import annotations

from bot.errors import Denied, FootnoteError, Invalid, StorageUnavailable
from bot.rendering.texts import DEFAULT, Texts, texts_for


def invalid(text_id: str, /, **values: str | int) -> Invalid:
    """The error whose sentence is a text of the catalogs."""
    return Invalid(texts_for(DEFAULT)(text_id, **values), text_id=text_id, values=values)


def sentence_for(error: FootnoteError, texts: Texts) -> str:
    """The error's sentence; in English where no catalog has it. Plain text."""
    if isinstance(error, Denied):
        return texts(error.text_id, **error.values)
    if isinstance(error, Invalid) and error.text_id:
        return texts(error.text_id, **error.values)
    if isinstance(error, StorageUnavailable):
        return texts("try-again")
    return error.sentence
