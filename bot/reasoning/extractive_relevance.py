"""How much a passage says about a question, by words alone.

Each word of the question weighs as much as it is rare: in all documents searched where that is
known (``Evidence.rarity``), else among the passages that were read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bot.pages.passages import HEADING_SEPARATOR, Passage
from bot.reasoning.evidence import Source
from bot.reasoning.extractive_words import PLACEHOLDERS, named, term_tuple, title_terms
from bot.text.listed import listed
from bot.text.terms import fold, has_cjk, keywords, terms

# Shares of a word's weight that count when only the passage's surroundings have it.
IN_HEADING = 0.8
IN_TITLE = 0.7
BESIDE = 0.4  # the passage before or after, under the same heading

PAIR = 0.3  # of the lesser weight is added when two neighbours in the question are neighbours here
GENERAL = 0.3  # of a word's weight is left to one that asks rather than names
AGAIN = 0.3  # of a placeholder's weight is left ("which country"): it is what is asked for
IN_A_TITLE = 1.5  # times the weight of a term that titles a page, where rarity is not known

_LINK = re.compile(r"https?://\S+")
_GENERAL = frozenset(
    term
    for word in listed(
        "mean means work works happen happens use used using need needed want possible way "
        "difference differences different between example kind type purpose reason explain "
        "describe show find get make set exactly actually currently normally usually simply "
        "thing things someone something anything anyone people know"
    )
    for term in terms(word)
)
_PARTICLES = listed("up down in out on off over back through away")
"""Small words that make another one of the verb before them: back up, log in, turn off."""

Cue = Literal["figure", "steps", "definition"]
_CUES: dict[Cue, re.Pattern[str]] = {
    "figure": re.compile(
        r"\bhow (?:many|much|long|large|big|often|old|fast|far|high|deep|wide)\b|\bwhen\b|\bwhat "
        r"(?:version|year|date|port|number|size|percentage|age)\b|\bwhich (?:version|year|port)\b"
        r"|\b(?:maximum|minimum|limit|default)\b|多少|几|何时|哪年|哪一年|多久|多大|版本|默认",
        re.IGNORECASE,
    ),
    "steps": re.compile(
        r"\bhow (?:do|can|should|would|to|does one|could)\b|\bway to\b|\bcommand\b"
        r"|如何|怎么|怎样|怎麼|命令|どうやって|方法|어떻게",
        re.IGNORECASE,
    ),
    "definition": re.compile(
        r"^\W*(?:what(?:'s| is| are| does)|explain|define|meaning of|what do)\b"
        r"|是什么|什么是|指什么|的含义|的意思|とは|무엇",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as its terms: each with its weight, those that stand side by side, and what kind
    of answer it wants."""

    weights: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    cues: frozenset[Cue]

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights)

    @property
    def total(self) -> float:
        return sum(self.weights.values()) or 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that could be quoted.

    ``shares`` has for each of the question's terms how much of its weight the passage counts for,
    ``pairs`` the neighbours of the question that are neighbours here.
    """

    source: Source
    passage: Passage
    shares: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]

    def covered(self, asked: Asked) -> float:
        """The share of the question's weight that the passage and its headings have, 0 to 1."""
        return sum(asked.weights[term] * share for term, share in self.shares.items()) / asked.total

    def bound(self, asked: Asked) -> float:
        """What neighbouring words add, as a share of the question's weight."""
        weights = asked.weights
        found = (min(weights.get(a, math.inf), weights.get(b, math.inf)) for a, b in self.pairs)
        return PAIR * sum(weight for weight in found if weight < math.inf) / asked.total


def wanted_terms(question: str) -> frozenset[str]:
    """The terms of a question, without those of its links."""
    return frozenset(keywords(_LINK.sub(" ", question)))


def asked_in(question: str, sources: Sequence[Source], rarity: Mapping[str, float]) -> Asked:
    """What a question asks, weighed against what was searched, or against what was read."""
    text = _LINK.sub(" ", question)
    wanted = list(dict.fromkeys(keywords(text)))
    weights = _by_rarity(wanted, rarity) or _by_passages(text, frozenset(wanted), sources)
    return Asked(
        weights,
        frozenset(_pairs(text, frozenset(wanted))),
        frozenset(cue for cue, pattern in _CUES.items() if pattern.search(text)),
    )


def candidates(asked: Asked, sources: Sequence[Source]) -> list[Candidate]:
    """Every passage of the sources as a candidate, in their order."""
    wanted = asked.terms
    found: list[Candidate] = []
    for source in sources:
        titled = wanted.intersection(term_tuple(source.title))
        held = [wanted.intersection(term_tuple(p.text)) for p in source.passages]
        for place, passage in enumerate(source.passages):
            beside: set[str] = set()
            for other in (place - 1, place + 1):
                if 0 <= other < len(held) and _are_neighbours(passage, source.passages[other]):
                    beside |= held[other]
            shares = dict.fromkeys(beside, BESIDE)
            shares |= dict.fromkeys(titled, IN_TITLE)
            shares |= dict.fromkeys(wanted.intersection(term_tuple(passage.heading)), IN_HEADING)
            shares |= dict.fromkeys(held[place], 1.0)
            words = term_tuple(
                f"{passage.heading.rpartition(HEADING_SEPARATOR)[2]}\n{passage.text}"
            )
            pairs = asked.pairs.intersection(pairwise(words))
            found.append(Candidate(source, passage, shares, frozenset(pairs)))
    return found


def _are_neighbours(one: Passage, other: Passage) -> bool:
    """Whether one passage follows the other on its page, under the same heading."""
    gap = max(one.start, other.start) - min(one.end, other.end)
    return one.heading == other.heading and gap <= 4  # characters: an empty line, an indent


def _by_rarity(wanted: Sequence[str], rarity: Mapping[str, float]) -> dict[str, float]:
    """The weights where it is known how rare the terms are; empty where it is not."""
    if not rarity:
        return {}
    rarest = max(rarity.values())
    return {
        term: rarity.get(term, rarest)
        * (GENERAL if term in _GENERAL else AGAIN if term in PLACEHOLDERS else 1.0)
        for term in wanted
    }


def _by_passages(
    question: str, wanted: frozenset[str], sources: Sequence[Source]
) -> dict[str, float]:
    """BM25's inverse document frequency, passages being the documents.

    By it a word that no passage has would weigh most. That is right for a name: pages without it
    are about something else. Another word ("expensive") counts like an average one of those found:
    pages say things in words of their own. And since the pages were chosen for the question, its
    most important word may well be the most frequent one: all weights are drawn to the average.
    A title's term tells more than others.
    """
    in_names = frozenset(term for name in named(question) for term in term_tuple(name))
    passages = [
        wanted.intersection(term_tuple(f"{source.title}\n{passage.heading}\n{passage.text}"))
        for source in sources
        for passage in source.passages
    ]
    found_in = Counter(term for passage in passages for term in passage)
    weights = {
        term: math.log(1 + (len(passages) - found_in[term] + 0.5) / (found_in[term] + 0.5))
        * (AGAIN if term in PLACEHOLDERS else 1.0)
        for term in wanted
    }
    found = [weights[term] for term in wanted if found_in[term]]
    average = sum(found) / len(found) if found else 0.0
    titles = {term for source in sources for term in title_terms(source.title)}
    return {
        term: (average + (weight if found_in[term] or term in in_names else min(weight, average)))
        / 2
        * (IN_A_TITLE if term in titles else 1.0)
        for term, weight in weights.items()
    }


def _pairs(question: str, wanted: frozenset[str]) -> set[tuple[str, str]]:
    """Words that stand side by side in a question; "back up", not "back the"."""
    if has_cjk(question):
        return set()  # its terms are pairs of characters already
    words = terms(fold(question))
    return {
        (one, other)
        for one, other in pairwise(words)
        if one in wanted and (other in wanted or other in _PARTICLES)
    }
