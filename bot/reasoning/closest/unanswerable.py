"""Recognizes questions that the documents searched cannot answer: with names that none of them has,
and without a topic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from bot.pages.relevance import compounds, unknown_names
from bot.reasoning.evidence import Source
from bot.rights.reader import is_document
from bot.text.terms import has_cjk, terms

EVERYDAY_WEIGHT = 1.5  # minimum weight of a meaningful term,
OF_RAREST = 0.2  # or this share of the rarest term's weight: with few documents all weights are low

_POINTS = re.compile(r"\b(?:it|this|that|they|them|these|those|there)\b|[它这這那]", re.IGNORECASE)
_DEFINES = re.compile(
    r"^\W*(?:what(?:'s| is| are| does)|explain|define|meaning of|what do)\b"
    r"|是什么|什么是|指什么|的含义|的意思|とは|무엇",
    re.IGNORECASE,
)


def unknown(
    question: str, sources: Sequence[Source], rarity: Mapping[str, float]
) -> tuple[str, ...]:
    """Return names in a question that occur neither in the documents nor in the pages read (which
    may be web pages). An identifier of several words counts as one name."""
    if not rarity:
        return ()
    names = dict.fromkeys([*unknown_names(question, rarity), *compounds(question)])
    if not names:
        return ()
    read = [
        spelled(f"{titled(source)}\n{passage.heading}\n{passage.text}")
        for source in sources
        for passage in source.passages
    ]
    return tuple(name for name in names if not any(spelled(name) in words for words in read))


def titled(source: Source) -> str:
    """Return a page's title; of a document with the names of its file and last folder, which may
    say what it is about."""
    if not is_document(source.url):
        return source.title
    name = unquote(urlsplit(source.url).path).rpartition("/")[2]
    return " ".join((source.title, folder_of(source.url), name))


def folder_of(url: str) -> str:
    """Return the name of the folder that a document is in."""
    return unquote(urlsplit(url).path).split("/")[-2]


def spelled(text: str) -> str:
    """Return the terms of a text, each surrounded by spaces, so that ``in`` finds whole terms."""
    return f" {' '.join(terms(text))} "


def is_open(question: str, weights: Mapping[str, float], rarity: Mapping[str, float]) -> bool:
    """Return True if a question does not say what it is about: a pronoun or no subject, and few
    words.

    Chinese, Japanese and Korean omit pronouns, except in "what is X".
    """
    least = min(EVERYDAY_WEIGHT, OF_RAREST * rarity[""])
    telling = [term for term, weight in weights.items() if weight > least]
    if len(telling) > 1:
        return False
    if _POINTS.search(question) is not None:
        return True
    return has_cjk(question) and not _DEFINES.search(question) and all(map(has_cjk, telling))
