"""Chooses which passages to quote."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.pages.choosing import representatives
from bot.pages.passages import HEADING_SEPARATOR, Passage
from bot.reasoning.evidence import Finding, Source
from bot.reasoning.extractive.relevance import (
    Candidate,
    WeightedQuestion,
    asked_in,
    candidates,
    follow,
    scores,
)
from bot.reasoning.extractive.words import (
    PLACEHOLDERS,
    name_terms,
    named,
    term_tuple,
    title_terms,
)
from bot.text.terms import content_words, has_cjk

MOST_QUOTES = 6
EARLY_READ = 0.15  # bonus for a passage of the page read first, half of it for the second, ...
NEAR = 0.8  # semantic relevance from which it counts for a passage; 1 is the nearest of all
FOREIGN = 0.05  # share of the question's weight below which documents use other words
CODE = 0.8  # factor for a passage of code only, if the question does not ask how to do something
NEWS = 0.7  # factor for a page about changes, if the question does not ask for them
BARE = 0.4  # factor for a heading or a line that is not a sentence
CUED = 0.06  # of the question's weight is added to a passage of the kind asked for
WORTH_QUOTING = 0.08  # share of the question's weight that a quote must add
ENOUGH = 0.33  # share of it that one passage with its headings must have to be an answer
SAME = 0.8  # share of common terms (Jaccard) from which two passages count as equal
LONGEST_QUOTE = 1_500  # characters of passages that are quoted together
AFTER = 2  # passages that can be quoted with the one before them
OPENINGS = 3  # passages quoted from the top of a page that shares no word with the question
LEAST_OF_PAGE = 2  # quotes from each page that is needed as a whole

_SENTENCE_END = re.compile(r"[.!?。！？…|:：]\W*$")
_LINK = re.compile(r"https?://\S+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+")
_SECTION = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\d{1,2}(?:\.\d{1,3})+\.?[ \t]+\S")
_NEWS = re.compile(
    r"release notes|release history|change ?log|what[’']s new|new features|upgrading|migration"
    r"|^news\b|changes in|更新日志|发布说明|升级说明",
    re.IGNORECASE,
)
_FENCED = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_DIGIT = re.compile(r"\d")
_CODE_OR_STEP = re.compile(r"^(?: {0,3}(?:`{3,}|~{3,})|[ \t]*\d{1,2}[.)] )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Manner:
    """The weights that balance new content against repetition among quotes.

    ``again`` is the factor for a term's weight if an earlier quote has it, ``same_page`` the factor
    for a passage whose page is already quoted, and ``taken_up``, for questions by relation, the
    factor for a passage with a name from an earlier quote.
    """

    again: float
    same_page: float
    taken_up: float


# If one passage can answer a question, each quote is another attempt; for a question by relation,
# each must add what is missing. Chosen on the tuning half of the documentation bench, and on the
# questions of tests/bench/multihop.py.
_TRIES = _Manner(again=0.65, same_page=0.85, taken_up=1.0)
_STEPS = _Manner(again=0.3, same_page=0.7, taken_up=1.5)


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage to be quoted, with neighbouring passages that continue it.

    ``passages`` are consecutive, in page order; ``passage`` is the most relevant of them. ``gain``
    is what the quote adds to those before it, as a share of the question's weight.
    """

    source: Source
    passage: Passage
    passages: tuple[Passage, ...]
    gain: float = 0.0

    @property
    def text(self) -> str:
        return self.passage.text


@dataclass(frozen=True, slots=True)
class Choice:
    """The quotes for a question, most relevant first, and how well they answer it.

    ``covered`` is the share of the question's weight in the best passage with its headings, 0 to 1;
    below ``enough`` it is not an answer. Nor is it if the question has names that the documents
    lack (``unknown``).
    """

    quotes: tuple[Quote, ...]
    covered: float = 0.0
    enough: float = ENOUGH
    unknown: tuple[str, ...] = ()

    @property
    def answers(self) -> bool:
        return bool(self.quotes) and self.covered >= self.enough and not self.unknown


def choose(
    question: str, sources: Sequence[Source], rarity: Mapping[str, float] | None = None
) -> list[Quote]:
    """The passages that together cover most of a question; empty if they do not answer it."""
    choice = choice_of(asked_in(question, sources, rarity or {}), sources)
    return list(choice.quotes) if choice.answers else []


def choice_of(asked: WeightedQuestion, sources: Sequence[Source]) -> Choice:
    """Return the passages that together cover most of a question, most relevant first.

    It covers the question's weighted terms greedily: each next quote is the one that adds most (Lin
    and Bilmes, A Class of Submodular Functions for Document Summarization, ACL 2011). For questions
    by relation, a passage about a name from an earlier quote counts more: it may be the next hop.
    """
    left = candidates(asked, sources)
    manner = _STEPS if asked.by_relation else _TRIES
    best_covered = max((each.covered(asked) for each in left), default=0.0)
    weights = dict(asked.weights)
    brought_up: set[str] = set()
    order = {url: place for place, url in enumerate(dict.fromkeys(s.url for s in sources))}
    cued = [_cued(each, asked) for each in left]
    worth = [
        _form(each, asked) * (1.0 + EARLY_READ / (1 + order[each.source.url])) for each in left
    ]
    chosen: list[Quote] = []
    taken: set[int] = set()
    pages: set[str] = set()
    while len(taken) < len(left) and len(chosen) < MOST_QUOTES:
        gains = [
            (score + cued[i])
            * worth[i]
            * (manner.same_page if each.source.url in pages else 1.0)
            * (manner.taken_up if _has_name(each, brought_up) else 1.0)
            for i, (each, score) in enumerate(
                zip(left, scores(asked, weights, sources), strict=True)
            )
        ]
        best = max((i for i in range(len(left)) if i not in taken), key=lambda i: (gains[i], -i))
        if gains[best] < WORTH_QUOTING:
            break
        taken.add(best)
        each = left[best]
        if any(_says_the_same(each.passage, quote.passage) for quote in chosen):
            continue
        if asked.by_relation:
            brought_up |= _names_of(each) - asked.terms
        for term, share in each.shares.items():
            weights[term] = min(
                weights[term], asked.weights[term] * (1 - share * (1 - manner.again))
            )
        pages.add(each.source.url)
        quote = _with_neighbours(each, taken, best - each.place)
        chosen.append(replace(quote, gain=gains[best]))
    unknown = asked.unknown
    enough = _enough(asked, chosen)
    if chosen and _is_foreign(asked, chosen[0], best_covered):
        unknown, enough = (), 0.0
    return Choice(tuple(chosen), best_covered, enough, unknown)


def _enough(asked: WeightedQuestion, chosen: Sequence[Quote]) -> float:
    """Return the share of the question's weight that the first quote must cover to be an answer.

    Half of it is enough for a quote that is also semantically close to the question.
    """
    if asked.is_open:
        return math.inf  # a question without a topic has no answer
    near = chosen[0].passage.relevance if chosen else None
    return ENOUGH / 2 if near is not None and near >= NEAR else ENOUGH


def _is_foreign(asked: WeightedQuestion, quote: Quote, covered: float) -> bool:
    """Return True if a quote is in another script than the question but semantically close, so that
    shared words do not matter."""
    near = quote.passage.relevance
    others = asked.is_cjk != has_cjk(quote.passage.text)
    return others and covered < FOREIGN and near is not None and near >= NEAR


def gist(sources: Sequence[Source]) -> list[Quote]:
    """Return passages from all parts of each page, to quote if whole pages were asked for."""
    share = max(LEAST_OF_PAGE, MOST_QUOTES // max(1, len(sources)))
    quotes: list[Quote] = []
    for source in sources:
        telling = [passage for passage in source.passages if not is_bare(passage)]
        quotes += [
            Quote(source, passage, (passage,))
            for passage in representatives(telling or source.passages, share)
        ]
    return quotes


def openings(sources: Sequence[Source]) -> list[Quote]:
    """Return the first passages of each page, to quote if the message only asks to read it."""
    return [
        Quote(source, passage, (passage,))
        for source in sources
        for passage in source.passages[:OPENINGS]
    ]


def findings(
    question: str, sources: Sequence[Source], rarity: Mapping[str, float] | None = None
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return the quotes as findings, and the words of the question that no page has."""
    found = tuple(
        Finding(" ".join(quote.text.split()), (quote.source.number,))
        for quote in choose(question, sources, rarity)
    )
    read = {
        term
        for source in sources
        for text in (source.title, *(f"{p.heading}\n{p.text}" for p in source.passages))
        for term in term_tuple(text)
    }
    missing: list[str] = []
    for words in (*named(question), *content_words(_LINK.sub(" ", question))):
        terms = frozenset(term_tuple(words))
        is_new = not any(words in earlier for earlier in missing)
        if is_new and terms and terms.isdisjoint(read | PLACEHOLDERS):
            missing.append(words)
    return found, tuple(missing)


def _form(candidate: Candidate, asked: WeightedQuestion) -> float:
    """Return the factor by which a passage's form reduces its score."""
    passage = candidate.passage
    if is_bare(passage) or passage.is_contents or _is_contents(passage):
        return BARE
    worth = 1.0
    if "steps" not in asked.cues and (passage.in_code or _FENCED.match(passage.text)):
        worth *= CODE
    if "change" not in asked.cues and _NEWS.search(f"{candidate.source.title}\n{passage.heading}"):
        worth *= NEWS
    return worth


def _is_contents(passage: Passage) -> bool:
    """Return True if a passage is a table of contents: numbers of sections, or short list items
    without a sentence."""
    lines = [line for line in passage.text.split("\n") if line.strip()]
    if len(lines) >= 3 and sum(map(bool, map(_SECTION.match, lines))) > len(lines) / 2:
        return True
    items = [line for line in lines if _ITEM.match(line)]
    short = all(len(line) <= 70 and not _SENTENCE_END.search(line) for line in items)
    return len(items) >= 4 and len(items) == len(lines) and short and ": " not in passage.text


def is_bare(passage: Passage) -> bool:
    """Return True if a passage has no sentence: a line of links, a caption, a heading."""
    text = passage.text
    return len(text) < 80 and "\n" not in text and _SENTENCE_END.search(text) is None


def _with_neighbours(candidate: Candidate, taken: set[int], first: int) -> Quote:
    """Return a candidate with its neighbours under the same heading or a lower one, while there is
    room: ``AFTER`` after it and one before, because a description follows the name.

    Added passages are recorded in ``taken`` and not quoted again; ``first`` is the number of the
    source's first candidate.
    """
    source, low, high = candidate.source, candidate.place, candidate.place
    size = len(candidate.passage.text)
    after = range(candidate.place + 1, candidate.place + AFTER + 1)
    for other in (*after[:1], candidate.place - 1, *after[1:]):
        if other > high + 1 or not follow(source, min(other, high), max(other, low)):
            continue
        size_with = size + len(source.passages[other].text)
        heading = source.passages[other].heading
        is_part = f"{heading}{HEADING_SEPARATOR}".startswith(
            f"{candidate.passage.heading}{HEADING_SEPARATOR}"
        )
        if is_part and size_with <= LONGEST_QUOTE and first + other not in taken:
            low, high, size = min(low, other), max(high, other), size_with
            taken.add(first + other)
    return Quote(source, candidate.passage, source.passages[low : high + 1])


def _has_name(candidate: Candidate, brought_up: Collection[str]) -> bool:
    return bool(brought_up) and not _names_of(candidate).isdisjoint(brought_up)


def _names_of(candidate: Candidate) -> frozenset[str]:
    """Return the terms of the names in a passage and in its page's title."""
    return name_terms(candidate.passage.text).union(title_terms(candidate.source.title))


def _says_the_same(one: Passage, other: Passage) -> bool:
    a, b = frozenset(term_tuple(one.text)), frozenset(term_tuple(other.text))
    return len(a & b) >= SAME * len(a | b)


def _cued(candidate: Candidate, asked: WeightedQuestion) -> float:
    """The bonus for a passage with the kind of content asked for: a figure, code or steps."""
    text = candidate.passage.text
    has_figure = "figure" in asked.cues and _DIGIT.search(text) is not None
    has_steps = "steps" in asked.cues and _CODE_OR_STEP.search(text) is not None
    return CUED * (has_figure + has_steps)
