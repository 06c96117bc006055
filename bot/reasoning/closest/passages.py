"""Chooses the closest passages for a question, decides whether they answer it, and quotes them.

Passages are scored by ``bot.pages.bm25``, which search uses too. They are no answer if the
question has a name that no document has, if it does not say what it is about, or if the best
passage with its surroundings covers too little of the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from bot.core.lines import label, titled
from bot.core.reader import is_conversation, is_correction, is_document
from bot.pages.bm25 import BESIDE, relevance, weigh
from bot.pages.passages import HEADING_SEPARATOR, Passage, columns_in
from bot.reasoning.closest.excerpts import count_words, excerpt
from bot.reasoning.closest.unanswerable import folder_of, is_open, title_with_names, unknown
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Evidence, Judged, Source, TextDelta
from bot.reasoning.questions import Rewritten
from bot.rendering.verbatim import as_label, inline
from bot.search.conversation_search import day_in, said_at
from bot.text.names import names
from bot.text.orders import only_orders
from bot.text.sentences import sentences
from bot.text.terms import content_words, has_cjk, keywords, terms

MOST = 3  # passages
NEVER = datetime.min.replace(tzinfo=UTC)
WORDS = 245  # of all quotes together, with their headings
ENOUGH = 0.28  # share of the question's weight that the best passage must cover to be an answer
IN_HEADING, IN_TITLE = 0.8, 0.7  # shares of a word's weight outside the passage
NEAR = 0.8  # semantic relevance from which half of ENOUGH suffices
WORTH = 0.5  # of the best score, from which a further passage is quoted
LEADS, LEAD_WORDS = 2, 3  # queries for names of the best passage, words of the question in each
SAME = 0.8  # share of common terms (Jaccard) from which two passages count as equal
STALE = 0.8  # factor for a page that says it does not hold
BARE = 0.4  # factor for a line without a sentence, and for a table of contents
GAP = 300  # characters that may be between consecutive passages, such as a heading

_SENTENCE_END = re.compile(r"[.!?。！？…|:：]\W*$")


_STALE = re.compile(
    r"(?<![A-Za-z])(?:drafts?|obsolete|outdated|superseded|archived?|deprecated|old|entwurf|veraltet"
    r"|archiv)(?![A-Za-z])|草案|草稿|作废|作廢|废止|廢止|过期|過期",
    re.IGNORECASE,
)


def quoted(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
    """Return the quotes, each below its heading path; of a search, first the judgement."""
    deltas: list[AnswerDelta] = []
    weights: Mapping[str, float] = {}
    if question.kind in ("sources", "thread"):  # the first quote of each page cited earlier
        places = [(source, 0) for source in evidence.sources][:MOST]
    elif question.whole:
        places = openings(evidence.sources)
    else:
        weights = weighted(question.question, evidence)
        places, judged = choose(question.question, evidence)
        if question.kind == "search":
            deltas.append(judged)
            is_answer = judged.covered >= judged.enough and not judged.unknown
            places = places if is_answer else []
        else:
            places = places or openings(evidence.sources)
    left = WORDS
    titles = Counter({source.number: source.title for source, _ in places}.values())
    taken: set[str] = set()
    for number, (source, place) in enumerate(places):
        if source.passages[place].text in taken:
            continue
        heading = heading_path(source, source.passages[place].heading)
        if titles[source.title] > 1 and is_document(source.url):
            heading = f"{as_label(folder_of(source.url))}{HEADING_SEPARATOR}{heading}"
        left -= count_words(heading)
        quote = excerpt(source, place, weights, left // (len(places) - number), taken)
        left -= count_words(quote.text)
        taken.update(passage.text for passage in quote.passages)
        deltas += [
            TextDelta(f"#### {heading}\n\n", opens=True, has_marks=False),
            TextDelta(quote.text, opens=True, verbatim=True),
            *(CitationDelta(source.number, start, end) for start, end in quote.spans),
            TextDelta("\n\n"),
        ]
    return deltas


def heading_path(source: Source, heading: str = "") -> str:
    """Return the page's title with the sign of its kind and the headings above a passage, as one
    line of Markdown that shows them literally."""
    bare = source.title.replace("*", "")
    title, own = titled(source.url, bare), label(bare)
    path = [] if is_correction(source.url) else columns_in(heading)[0].split(HEADING_SEPARATOR)
    labels = [label(part.replace("*", "")).strip("# ") for part in path]
    parts = dict.fromkeys([title, *(each for each in labels if each not in ("", own))])
    return inline(HEADING_SEPARATOR.join(filter(None, parts))) or "?"


# ---------------------------------------------------------------- choosing


def choose(question: str, evidence: Evidence) -> tuple[list[tuple[Source, int]], Judged]:
    """Return the places of the passages closest to a question, the best first, and how well it
    answers the question."""
    weights, sources = weighted(question, evidence), evidence.sources
    total = sum(weights.values()) or 1.0
    covered = 0.0
    near = foreign = False
    rated: list[tuple[float, Source, int]] = []
    for source in sources:
        scores = _scores(weights, source)
        is_stale = _STALE.search(title_with_names(source)) and not _STALE.search(question)
        for place, passage in enumerate(source.passages):
            if only_orders(passage.text):
                continue
            score = scores[place] / total
            if passage.relevance is not None:  # half by words, half by meaning: ``meaning.fuse``
                score = (score + passage.relevance) / 2
                is_near = passage.relevance >= NEAR
                near = near or is_near
                foreign = foreign or (is_near and has_cjk(question) != has_cjk(passage.text))
            if is_bare(passage):
                score *= BARE
            rated.append((score * STALE if is_stale else score, source, place))
            covered = max(covered, _covered(weights, source, passage) / total)
    names = unknown(question, sources, evidence.rarity)
    enough = ENOUGH / 2 if near else ENOUGH
    if evidence.rarity and is_open(question, weights, evidence.rarity):
        enough = math.inf
    if foreign:
        names, enough = (), 0.0
    return _best(rated), Judged(covered, enough, names)


def _best(rated: Sequence[tuple[float, Source, int]]) -> list[tuple[Source, int]]:
    """Return the best passages of up to three pages, without neighbours of those chosen before;
    corrections come first."""
    chosen: list[tuple[Source, int]] = []
    best = max((score for score, _, _ in rated), default=0.0)
    while len(chosen) < MOST and best > 0:
        left = [
            (score, source, place)
            for score, source, place in rated
            if not any(_says_the_same(source, place, *other) for other in chosen)
        ]
        first = max(left, key=lambda each: (is_correction(each[1].url), each[0]), default=None)
        if first is None or first[0] < WORTH * best:
            break
        chosen.append(first[1:])
    return sorted(chosen, key=_said, reverse=True)


def _said(chosen: tuple[Source, int]) -> datetime:
    """Return the time of a message, whose latest comes first: it may revoke an earlier one. Other
    passages stay before them in their order."""
    source, place = chosen
    if not is_conversation(source.url):
        return datetime.max.replace(tzinfo=UTC)
    return said_at(source.passages[place].heading) or day_in(source.title) or NEVER


def _says_the_same(source: Source, place: int, other: Source, at: int) -> bool:
    """Return True for neighbours, and for nearly the same words with the same figures."""
    if source is other and abs(place - at) < 2:
        return True
    a = frozenset(term_tuple(source.passages[place].text))
    b = frozenset(term_tuple(other.passages[at].text))
    is_other = any(character.isdigit() for term in a ^ b for character in term)
    return len(a & b) >= SAME * len(a | b) and not is_other


def is_bare(passage: Passage) -> bool:
    """Return True if a passage has no sentence: a line of links, a caption, a heading."""
    text = passage.text
    is_line = len(text) < 80 and "\n" not in text and _SENTENCE_END.search(text) is None
    return is_line or passage.is_contents


def openings(sources: Sequence[Source]) -> list[tuple[Source, int]]:
    """Return the opening passages of the sections of pages."""
    found: list[list[tuple[Source, int]]] = []
    for source in sources:
        seen: set[str] = set()
        places = []
        for place, passage in enumerate(source.passages):
            section = HEADING_SEPARATOR.join(passage.heading.split(HEADING_SEPARATOR)[:2])
            if section not in seen and not is_bare(passage) and not only_orders(passage.text):
                seen.add(section)
                places.append((source, place))
        found.append(places)
    in_turn = [places[at] for at in range(MOST) for places in found if at < len(places)]
    return sorted(in_turn[:MOST], key=lambda one: sources.index(one[0]))


def leads(question: str, evidence: Evidence) -> tuple[str, ...]:
    """Return queries for the first names in the best passage that the question lacks: each with
    the words of the question that the passage lacks."""
    places, _ = choose(question, evidence)
    if not places:
        return ()
    source, place = places[0]
    text = source.passages[place].text
    known = {*terms(question), *terms(source.title)}
    said = known.intersection(terms(question)) & {*terms(text), *terms(source.title)}
    asked = [word for word in content_words(question) if said.isdisjoint(terms(word))]
    new: dict[str, None] = {}
    for sentence in sentences(text):
        for name in names(text[sentence.start : sentence.end], "en"):
            words = text[sentence.start + name.start : sentence.start + name.end]
            if not known.issuperset(terms(words)):
                new[" ".join(words.split())] = None
    return tuple(" ".join((name, *asked[:LEAD_WORDS])) for name in list(new)[:LEADS])


# ---------------------------------------------------------------- scores


def weighted(question: str, evidence: Evidence) -> dict[str, float]:
    """Return the weights of a question's terms: by their rarity in the documents searched if known,
    otherwise among the passages read, where absent words ("expensive") count as average, since
    pages may use synonyms."""
    if weights := weigh(question, evidence.rarity):
        return weights
    passages = [
        frozenset(term_tuple(f"{source.title}\n{passage.heading}\n{passage.text}"))
        for source in evidence.sources
        for passage in source.passages
    ]
    found = {term: sum(term in passage for passage in passages) for term in keywords(question)}
    rarity = {
        term: math.log(1 + (len(passages) - n + 0.5) / (n + 0.5)) for term, n in found.items() if n
    }
    average = sum(rarity.values()) / len(rarity) if rarity else 1.0
    return {term: (average + rarity.get(term, average)) / 2 for term in found}


def _scores(weights: Mapping[str, float], source: Source) -> list[float]:
    """Return the relevance of each passage of a page."""
    counts: list[Mapping[str, int]] = []
    headings: list[tuple[str, ...]] = []
    lengths: list[int] = []
    kept: list[int] = []
    for place, passage in enumerate(source.passages):
        before = source.passages[place - 1]
        if place and passage.start - before.end > GAP:  # text between them was left out
            counts += [{}] * len(BESIDE)
            headings += [()] * len(BESIDE)
            lengths += [0] * len(BESIDE)
        kept.append(len(counts))
        words = term_tuple(passage.text)
        counts.append(Counter(words))
        headings.append(term_tuple(passage.heading))
        lengths.append(len(words))
    rated = relevance(weights, counts, lengths, headings, term_tuple(title_with_names(source)))
    return [rated[at] for at in kept]


def _covered(weights: Mapping[str, float], source: Source, passage: Passage) -> float:
    """Return the weight of the question's terms that a passage has, with headings and title."""
    around = (
        (IN_TITLE, term_tuple(title_with_names(source))),
        (IN_HEADING, term_tuple(passage.heading)),
        (1.0, term_tuple(passage.text)),
    )
    found = {term: share for share, words in around for term in words}
    return sum(weight * found.get(term, 0.0) for term, weight in weights.items())


@lru_cache(maxsize=20_000)
def term_tuple(text: str) -> tuple[str, ...]:
    """Return ``terms``, cached: the same passages are scored and quoted."""
    return tuple(terms(text))
