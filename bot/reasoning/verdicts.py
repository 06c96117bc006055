"""Verdicts of a model on the sentences of an answer and the quotes that each of them cites."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answers import Judgement


@dataclass(frozen=True, slots=True)
class Claim:
    """A cited sentence of an answer, without marks, and the words that it cites.

    ``places`` tells of each quote on what page and under which headings it stands; () if that is
    not known.
    """

    text: str
    quotes: tuple[str, ...]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """``words`` are those of the sentence that its quotes do not say, if it is supported partly
    or not at all."""

    judgement: Judgement
    words: str = ""
