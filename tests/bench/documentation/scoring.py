"""The rules by which a question counts as found, quoted or refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.evaluation import questions
from tests.bench.documentation.baseline import CJK, Found
from tests.bench.documentation.questions import Answerable
from tests.bench.documentation.quotes import stands

CHARACTERS_IN_CHINESE_WORD = 1.7

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
    plain = [questions.normal(text) for text in texts]
    return any(
        all(any(questions.holds(text, piece) for text in plain) for piece in alternative)
        for alternative in words
    )


def length(answer: str) -> float:
    """Words of an answer: its marks do not count, Chinese is counted by characters."""
    text = _FOOTNOTE.sub(" ", answer)
    chinese = len(_CJK_CHARACTER.findall(text)) / CHARACTERS_IN_CHINESE_WORD
    return len(_SPACED_WORD.findall(text)) + chinese
