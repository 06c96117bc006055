"""Scores passages for a question by their words.

Each word of the question is weighted by its rarity: in all documents searched if known
(``Evidence.rarity``), otherwise among the passages that were read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.pages.passages import HEADING_SEPARATOR, Passage
from bot.pages.relevance import BESIDE as NEIGHBOURS
from bot.pages.relevance import (
    compounds,
    literal_scores,
    pair_scores,
    pairs_in,
    relevance,
    unknown_names,
    weigh,
)
from bot.reasoning.evidence import Source
from bot.reasoning.extractive.words import (
    PLACEHOLDERS,
    asks_by_relation,
    named,
    term_tuple,
    title_terms,
)
from bot.text.akin import shares as shares_of
from bot.text.literals import literals
from bot.text.terms import has_cjk, keywords

# Shares of a word's weight that count as covered if only the surroundings have it.
IN_HEADING = 0.8
IN_TITLE = 0.7
BESIDE = 0.4  # the passage before or after

AGAIN = 0.3  # factor for a placeholder ("which country"), which the answer may not repeat
IN_A_TITLE = 1.5  # factor for a term in a page's title, if rarity is unknown
EVERYDAY_WEIGHT = 1.5  # minimum weight of a meaningful term,
OF_RAREST = 0.2  # or this share of the rarest term's weight: with few documents all weights are low
GAP = 300  # characters allowed between consecutive passages, such as a heading

_POINTS = re.compile(
    r"\b(?:it|this|that|they|them|these|those|there)\b|[它这這那]",
    re.IGNORECASE,
)
_LINK = re.compile(r"https?://\S+")
Cue = Literal["figure", "steps", "definition", "change"]
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
    "change": re.compile(
        r"\b(?:versions?|releases?|since|new|newer|chang(?:e|ed|es)|upgrad\w*|migrat\w*|deprecat\w*"
        r"|remov(?:ed|al)|introduced|renamed|no longer|used to|anymore|[vV]?\d+\.\d+)\b"
        r"|版本|更新|升级|变化|变更|新增|不再",
        re.IGNORECASE,
    ),
    "definition": re.compile(
        r"^\W*(?:what(?:'s| is| are| does)|explain|define|meaning of|what do)\b"
        r"|是什么|什么是|指什么|的含义|的意思|とは|무엇",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """A question as weighted terms, with adjacent terms, literals (see ``bot.text.literals``), and
    the kind of answer it wants.

    ``unknown`` are its names that neither the documents searched nor the pages read have;
    ``is_open`` is True if it refers to something it does not name ("How do I make it faster?"),
    ``by_relation`` if several pages together may answer it (see
    ``extractive.words.asks_by_relation``).
    """

    weights: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    cues: frozenset[Cue]
    unknown: tuple[str, ...] = ()
    is_open: bool = False
    is_cjk: bool = False
    by_relation: bool = False
    literals: tuple[str, ...] = ()

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights)

    @property
    def total(self) -> float:
        return sum(self.weights.values()) or 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that could be quoted, and its place on the page.

    ``shares`` maps the question's terms to the share of their weight that the passage covers.
    ``place`` is the passage's index in its source.
    """

    source: Source
    place: int
    shares: Mapping[str, float]

    @property
    def passage(self) -> Passage:
        return self.source.passages[self.place]

    def covered(self, asked: WeightedQuestion) -> float:
        """Return the share of the question's weight in the passage and its headings, 0 to 1."""
        return sum(asked.weights[term] * share for term, share in self.shares.items()) / asked.total


def wanted_terms(question: str) -> frozenset[str]:
    """Return the terms of a question, without those of its links."""
    return frozenset(keywords(_LINK.sub(" ", question)))


def asked_in(
    question: str, sources: Sequence[Source], rarity: Mapping[str, float]
) -> WeightedQuestion:
    """Return the terms of a question, weighted by the documents searched or the pages read."""
    text = _LINK.sub(" ", question)
    cues = frozenset(cue for cue, pattern in _CUES.items() if pattern.search(text))
    weights = _by_rarity(text, rarity) or _by_passages(text, wanted_terms(text), sources)
    return WeightedQuestion(
        weights,
        pairs_in(text),
        cues,
        _unknown(text, sources, rarity),
        bool(rarity) and _is_open(text, cues, weights, rarity),
        has_cjk(text),
        asks_by_relation(text, rarity),
        literals(text),
    )


def _unknown(
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
        spelled(f"{source.title}\n{passage.heading}\n{passage.text}")
        for source in sources
        for passage in source.passages
    ]
    return tuple(name for name in names if not any(spelled(name) in words for words in read))


def spelled(text: str) -> str:
    """Return the terms of a text, each surrounded by spaces, so that ``in`` finds whole terms."""
    return f" {' '.join(term_tuple(text))} "


def _is_open(
    question: str, cues: Collection[Cue], weights: Mapping[str, float], rarity: Mapping[str, float]
) -> bool:
    """Return True if a question does not say what it is about: a pronoun or no subject, and few
    words.

    Chinese, Japanese and Korean omit pronouns, except in "what is X".
    """
    least = min(EVERYDAY_WEIGHT, OF_RAREST * rarity[""])
    telling = [term for term, weight in weights.items() if weight > least]
    if len(telling) > 1 or "(" in question:  # brackets hold the topic added from a conversation
        return False
    if _POINTS.search(question) is not None:
        return True
    return has_cjk(question) and "definition" not in cues and all(map(has_cjk, telling))


def candidates(asked: WeightedQuestion, sources: Sequence[Source]) -> list[Candidate]:
    """Return every passage of the sources as a candidate, in order."""
    wanted = asked.terms
    found: list[Candidate] = []
    for source in sources:
        titled = of_terms(wanted, term_tuple(source.title), IN_TITLE)
        held = [of_terms(wanted, term_tuple(passage.text)) for passage in source.passages]
        for place, passage in enumerate(source.passages):
            shares = dict(titled)
            headed = of_terms(wanted, term_tuple(passage.heading), IN_HEADING)
            beside = (
                {term: BESIDE * share for term, share in held[other].items()}
                for other in (place - 1, place + 1)
                if follow(source, place, other)
            )
            for each in (headed, held[place], *beside):
                for term, share in each.items():
                    shares[term] = max(share, shares.get(term, 0.0))
            found.append(Candidate(source, place, shares))
    return found


def of_terms(
    wanted: Collection[str], words: Collection[str], whole: float = 1.0
) -> dict[str, float]:
    """Return the weights of the question's terms that a text has, itself or by a replacement."""
    return {term: share * whole for term, share in shares_of(wanted, frozenset(words)).items()}


def scores(
    asked: WeightedQuestion, weights: Mapping[str, float], sources: Sequence[Source]
) -> list[float]:
    """Return the relevance of each candidate, in order, as a share of the question's weight.

    ``weights`` replace the question's own: terms already quoted count less.
    """
    rated: list[float] = []
    for source in sources:
        counts: list[Mapping[str, int]] = []
        lengths: list[int] = []
        headings: list[tuple[str, ...]] = []
        kept: list[int] = []
        for place, passage in enumerate(source.passages):
            if place and not follow(source, place - 1, place):
                counts += [{}] * len(NEIGHBOURS)  # for omitted text between them
                headings += [()] * len(NEIGHBOURS)
            kept.append(len(counts))
            words = term_tuple(passage.text)
            counts.append(Counter(words))
            lengths += [0] * (len(counts) - 1 - len(lengths)) + [len(words)]
            headings.append(term_tuple(passage.heading))
        of_page = relevance(weights, counts, lengths, headings, term_tuple(source.title))
        bound = pair_scores(
            weights,
            asked.pairs,
            [
                term_tuple(f"{p.heading.rpartition(HEADING_SEPARATOR)[2]}\n{p.text}")
                for p in source.passages
            ],
        )
        exact = literal_scores(weights, asked.literals, [p.text for p in source.passages])
        rated += [(of_page[at] + bound[i] + exact[i]) / asked.total for i, at in enumerate(kept)]
    near = [passage.relevance for source in sources for passage in source.passages]
    if all(nearness is None for nearness in near):
        return rated
    # Half by words, half by meaning if known: see ``bot.search.meaning.fuse``.
    best = max(rated, default=0.0) or 1.0
    return [
        score if nearness is None else (score + nearness * best) / 2
        for score, nearness in zip(rated, near, strict=True)
    ]


def follow(source: Source, one: int, other: int) -> bool:
    """Return True if two of a source's passages are adjacent on the page."""
    if not (0 <= one < len(source.passages) and 0 <= other < len(source.passages)):
        return False
    a, b = source.passages[one], source.passages[other]
    return max(a.start, b.start) - min(a.end, b.end) <= GAP


def _by_rarity(question: str, rarity: Mapping[str, float]) -> dict[str, float]:
    """Return the weights by known rarity; empty if it is unknown."""
    return {
        term: weight * (AGAIN if term in PLACEHOLDERS else 1.0)
        for term, weight in weigh(question, rarity).items()
    }


def _by_passages(
    question: str, wanted: frozenset[str], sources: Sequence[Source]
) -> dict[str, float]:
    """Return weights by BM25's inverse document frequency, with passages as documents.

    A word in no passage would get the highest weight. That is right for a name: pages without it
    are about something else. Other absent words ("expensive") get the average weight, since pages
    may use synonyms. And since the pages were found by the question, its most important word may be
    the most frequent one, so all weights are moved towards the average. A title's term gets more
    weight.
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
