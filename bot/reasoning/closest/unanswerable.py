"""Recognizes questions that the documents searched cannot answer: with names that none of them has,
and without a topic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from bot.core.reader import is_document
from bot.pages.bm25 import is_unknown
from bot.reasoning.evidence import Source
from bot.text.language import detect
from bot.text.terms import STOP_WORDS, fold, has_cjk, terms

EVERYDAY_WEIGHT = 1.5  # minimum weight of a meaningful term,
OF_RAREST = 0.2  # or this share of the rarest term's weight: with few documents all weights are low

_CAPITALIZED = re.compile(r"(?<=[^\s.?!:] )[A-Z][A-Za-z]{2,}(?![\w(])")  # inside a sentence
_IDENTIFIERS_ALONE = re.compile(
    r"(?<![\w./-])(?:[A-Za-z][A-Za-z0-9]*[_.][A-Za-z]\w*|[a-z]+[A-Z]\w*"
    r"|[A-Z]\w*[a-z0-9][A-Z]\w*|[a-z]+\d+[a-z]\w*)"
)
"""Identifiers that cannot be ordinary words: ``try_files``, ``conanfile.txt``, ``bodyLimit``."""
_LATIN = re.compile(r"(?<![A-Za-z0-9_./-])[A-Za-z][A-Za-z+-]{2,}(?![A-Za-z0-9_./-])")
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
    may be web pages)."""
    names = unknown_names(question, rarity) if rarity else []
    read = [
        spelled(f"{title_with_names(source)}\n{passage.heading}\n{passage.text}")
        for source in sources
        for passage in source.passages
    ]
    return tuple(name for name in names if not any(spelled(name) in words for words in read))


def unknown_names(question: str, rarity: Mapping[str, float]) -> list[str]:
    """Names in a question, as written, whose longest word is in none of the searched documents.

    A name is a capitalized word inside a sentence, an identifier or, in Chinese, Japanese or Korean
    text, any word in Latin letters. In German, where all nouns are capitalized, a capital does not
    make a name. Empty if rarity is unknown.
    """
    if has_cjk(question):
        found = _LATIN.findall(question)
    else:
        found = _IDENTIFIERS_ALONE.findall(question)
        if detect(question) != "de":
            found += _CAPITALIZED.findall(question)
    named = (name for name in dict.fromkeys(found) if fold(name) not in STOP_WORDS)
    return [name for name in named if is_unknown(max(terms(name), key=len, default=""), rarity)]


def title_with_names(source: Source) -> str:
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
