"""The rules by which a question counts as found, quoted or refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.evaluation import scoring as matching
from tests.bench.documentation import rendering
from tests.bench.documentation.baseline import CJK, Found
from tests.bench.documentation.questions import Answerable

CHARACTERS_IN_CHINESE_WORD = 1.7

_TOKEN = re.compile(f"[{CJK}]|[^\\W{CJK}]+")
_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_FENCE = re.compile(r"(?:```+|~~~+)[\w+-]*")  # with the name of a language
_LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*+]|#+)\s+")
_LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*(?: \"[^\"]*\")?\)")
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_FOOTNOTE = re.compile(r"\[\d+\]")
_SPACED_WORD = re.compile(rf"[^\s{CJK}]*[^\W_{CJK}][^\s{CJK}]*")


@dataclass(frozen=True, slots=True)
class Answered:
    """An outcome of one answerable question: whether an expected page was cited and the expected
    words quoted from one, the same of the baseline's hits, and of all quotes how many there are
    and how many stand in their pages. ``length`` is in words, ``seconds`` those of the run."""

    id: str
    kind: str
    page: bool
    words: bool
    refused: bool
    plain_page: bool
    plain_words: bool
    quotes: int
    true_quotes: int
    length: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """An outcome of one question that the set does not answer."""

    id: str
    kind: str
    refused: bool
    length: float
    seconds: float


def answered(item: Answerable, said: dict[str, Any], root: Path, hits: list[Found]) -> Answered:
    """Score what ``footnote ask --json`` said, and the baseline's hits."""
    citations = _citations(said)
    quotes = [each["quote"] for each in citations if path_of(each["url"], root) in item.pages]
    chunks = [hit.text for hit in hits if hit.path in item.pages]
    return Answered(
        id=item.id,
        kind=item.kind,
        page=bool(quotes),
        words=holds(quotes, item.words),
        refused=said["status"] == "not_found",
        plain_page=bool(chunks),
        plain_words=holds(chunks, item.words),
        quotes=len(citations),
        true_quotes=len(citations) - len(false_quotes(said, root)),
        length=length(said["answer"]),
        seconds=said["usage"]["seconds"],
    )


def false_quotes(said: dict[str, Any], root: Path) -> list[str]:
    """The quotes that do not stand in the pages that they are said to be from."""
    return [
        each["quote"]
        for each in _citations(said)
        if not (path := path_of(each["url"], root)) or not stands(each["quote"], root / path)
    ]


def _citations(said: dict[str, Any]) -> list[dict[str, str]]:
    """Of an answer; what a refusal names is none."""
    return said["citations"] if said["status"] == "answered" else []


def path_of(url: str, root: Path) -> str:
    """The path in the set's root that a ``file://`` address means; "" for another address."""
    parts = urlsplit(url)
    file = Path(unquote(parts.path))
    inside = parts.scheme == "file" and file.is_relative_to(root)
    return file.relative_to(root).as_posix() if inside else ""


def holds(texts: Sequence[str], words: Iterable[Sequence[str]]) -> bool:
    """Return True if all pieces of one alternative stand in the texts, each in one of them."""
    plain = [matching.normal(text) for text in texts]
    return any(
        all(any(matching.holds(text, piece) for text in plain) for piece in alternative)
        for alternative in words
    )


def length(answer: str) -> float:
    """Words of an answer: its marks do not count, Chinese is counted by characters."""
    text = _FOOTNOTE.sub(" ", answer)
    chinese = len(_CJK_CHARACTER.findall(text)) / CHARACTERS_IN_CHINESE_WORD
    return len(_SPACED_WORD.findall(text)) + chinese


# ---------------------------------------------------------------- whether a quote stands


def stands(quote: str, file: Path) -> bool:
    """Return True if every line of a quote stands in the document word for word, and the lines in
    this order (between them there may be what the quote leaves out, such as rows of a table).

    Of a row of a table every cell must stand in the document: one that spans several rows is
    repeated in each.
    """
    text = _words_of(file)
    if file.suffix.lower() in rendering.MARKDOWN:
        quote = _LINK_TARGET.sub("", quote)
    place = 0
    for line in _FENCE.sub("\n", quote).splitlines():
        if line.lstrip().startswith("|"):
            if any(text.find(_spoken(cell)) < 0 for cell in line.split("|")):
                return False
            continue
        found = text.find(_spoken(_LIST_MARK.sub("", line)), place)
        if found < 0:
            return False
        place = found
    return True


def _spoken(line: str) -> str:
    """The words of a line between spaces; one space where there is none."""
    return f" {' '.join(words([line]))} ".replace("  ", " ")


@lru_cache(maxsize=64)
def _words_of(file: Path) -> str:
    """All words of a document in their order, each between two spaces."""
    found = rendering.read(file)
    return _spoken(found[1] if found else "")


def words(texts: Iterable[str]) -> Iterator[str]:
    """Runs of letters, digits and underscores, without case; a CJK character is a word.

    Underscores around a word do not count: they may be Markdown.
    """
    for text in texts:
        plain = unicodedata.normalize("NFKC", _NO_WIDTH.sub("", text)).casefold()
        yield from filter(None, (token.strip("_") for token in _TOKEN.findall(plain)))
