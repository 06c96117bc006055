"""The labelled sentences of the check: read from ``check_sets``, resolved from the shared data.

A set holds no text of pages: a quote names its page and a span of characters, with the first
digits of the SHA-256 of the span's UTF-8, so that a changed page is noticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tests.bench.frame import SHARED

FOLDER = Path(__file__).parent / "check_sets"
LANGUAGES = ("en", "zh")
HALVES = ("tune", "held")
DIGITS = 16  # of the SHA-256 of a quote

TRUE_KINDS = {
    "close": "close paraphrase",
    "free": "free paraphrase",
    "arithmetic": "arithmetic on quoted figures",
    "rounding": "rounded to the precision given",
    "units": "unit converted or abbreviated",
    "elapsed": "years between two dates",
    "age": "age at a date",
    "period": "decade or century",
    "range": "range of figures or years",
    "numerals": "numeral in another script",
    "names": "abbreviated or derived name",
    "two": "from two quotes",
    "list": "list",
    "row": "rows of a table",
    "negation": "negation kept",
    "hedged": "uncertainty kept",
}
FALSE_KINDS = {
    "figure": "wrong figure",
    "date": "wrong date",
    "name": "wrong name",
    "unit": "wrong unit",
    "precision": "precision that the quote lacks",
    "sum": "wrong arithmetic",
    "roles": "swapped roles",
    "negated": "negated",
    "opposite": "opposite verb or adjective",
    "attribution": "true of something else in the quote",
    "added": "fact that the quote lacks",
    "general": "some made all, few made many",
    "modality": "planned or possible told as a fact",
    "comparison": "wrong comparison",
    "cause": "wrong cause",
    "order": "wrong order in time",
}

Half = Literal["tune", "held"]


@dataclass(frozen=True, slots=True)
class Quote:
    """The words ``page[start:end]`` of a page; ``data`` and ``title`` name the page."""

    data: str
    title: str
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence, the quotes it cites, and whether these bear it out.

    ``kind`` is a key of ``TRUE_KINDS`` or ``FALSE_KINDS``, as ``label`` is. ``id`` tells nothing of
    the label.
    """

    id: str
    claim: str
    question: str
    label: bool
    kind: str
    quotes: tuple[Quote, ...]
    language: str
    half: str


def items(language: str, half: str) -> list[Item]:
    """The items of one file."""
    path = FOLDER / f"{language}.{half}.json"
    return [
        Item(
            id=each["id"],
            claim=each["claim"],
            question=each["question"],
            label=each["label"],
            kind=each["kind"],
            quotes=tuple(Quote(**quote) for quote in each["quotes"]),
            language=language,
            half=half,
        )
        for each in json.loads(path.read_text(encoding="utf-8"))
    ]


def words_of(quote: Quote) -> str:
    """The quoted words. Raises ``ValueError`` where the page or its words have changed."""
    page = page_of(quote)
    words = page[quote.start : quote.end]
    if hashlib.sha256(words.encode()).hexdigest()[:DIGITS] != quote.sha256:
        raise ValueError(f"{quote.title!r} of {quote.data!r} has other words in {quote}")
    return words


def page_of(quote: Quote) -> str:
    """The text of a quote's page. Raises ``ValueError`` where there is no such page."""
    try:
        return pages(quote.data)[quote.title]
    except KeyError:
        raise ValueError(f"{quote.data!r} has no page {quote.title!r}") from None


@cache
def pages(data: str) -> Mapping[str, str]:
    """The pages of a data set, by title. Raises ``KeyError`` for the name of no data set."""
    return {
        "multihop": _multihop,
        "xquad.en": lambda: _xquad("en"),
        "xquad.zh": lambda: _xquad("zh"),
        "statutes.zh": _statutes,
        "aws.en": _aws,
    }[data]()


def _multihop() -> dict[str, str]:
    return dict(json.loads((SHARED / "multihop" / "pages.json").read_text(encoding="utf-8")))


def _xquad(language: str) -> dict[str, str]:
    """Each paragraph is a page, titled by its article and its number in it from 1."""
    path = SHARED / "chinese" / f"xquad.{language}.json"
    return {
        f"{article['title']} {number}": paragraph["context"]
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]
        for number, paragraph in enumerate(article["paragraphs"], start=1)
    }


def _statutes() -> dict[str, str]:
    path = SHARED / "own-words" / "statutes.zh.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["documents"])


def _aws() -> dict[str, str]:
    path = SHARED / "own-words" / "aws.en.json"
    documents = json.loads(path.read_text(encoding="utf-8"))["documents"]
    return {each["title"]: each["text"] for each in documents.values()}
