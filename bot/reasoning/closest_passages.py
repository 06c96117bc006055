"""Chooses the closest passages for a question, decides whether they answer it, and quotes them.

Passages are scored by ``bot.pages.bm25``, which search uses too. They are no answer if the
question has a name that no document has, if it does not say what it is about, or if the best
passage with its surroundings covers too little of the question.

A passage is a piece of a page of about 70 words, so a paragraph, list or table is often several. It
is quoted whole: with what continues it, or cut around the question's words if it is long.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from bot.core.lines import label, titled
from bot.core.reader import is_conversation, is_correction, is_document
from bot.pages.bm25 import BESIDE, asked_words, is_unknown, relevance, weigh
from bot.pages.passages import HEADING_SEPARATOR, Passage, columns_in
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Evidence,
    Judged,
    Rewritten,
    Source,
    TextDelta,
)
from bot.rendering.verbatim import as_label, inline
from bot.search.conversation_search import day_in, said_at
from bot.text.figures import dates
from bot.text.language import detect
from bot.text.names import names
from bot.text.orders import is_order, only_orders
from bot.text.patterns import lazy_regex
from bot.text.sentences import Sentence, sentences
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords, terms

MOST, MOST_VALUES = 3, 5  # passages; with those of other pages that say another value
NEVER = datetime.min.replace(tzinfo=UTC)
WORDS = 245  # of all quotes together, with their headings
ENOUGH = 0.28  # share of the question's weight that the best passage must cover to be an answer
IN_HEADING, IN_TITLE = 0.8, 0.7  # shares of a word's weight outside the passage
NEAR = 0.8  # semantic relevance from which half of ENOUGH suffices
WORTH = 0.5  # of the best score, from which a further passage is quoted
LEADS, LEAD_WORDS = 2, 3  # queries for names of the best passage, words of the question in each
SAME = 0.8  # share of common terms (Jaccard) from which two passages count as equal
AS_GOOD, GOOD = 0.95, 0.6  # of the best score, from which the newer page is first; if asked for
INVALID = 0.6  # factor for a page that says it does not hold,
STALE = 0.8  # or whose title or name only has such a word
BARE = 0.4  # factor for a line without a sentence, and for a table of contents
GAP = 300  # characters that may be between consecutive passages, such as a heading

_SENTENCE_END = re.compile(r"[.!?。！？…|:：]\W*$")
_POINT = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+\S+){4}")  # of a list


_STALE = re.compile(
    r"(?<![A-Za-z])(?:drafts?|obsolete|outdated|superseded|archived?|deprecated|old|entwurf|veraltet"
    r"|archiv)(?![A-Za-z])|草案|草稿|作废|作廢|废止|廢止|过期|過期",
    re.IGNORECASE,
)
_CURRENT = lazy_regex(
    r"\b(?P<word>current(?:ly)?(?! (?:of|in|at|through|draw|flow)\b)|now|nowadays|latest|newest"
    r"|aktuell(?:e[mnrs]?)?|derzeit(?:ig\w*)?|momentan\w*|jetzt|heute|actuel(?:le)?s?|actuellement"
    r"|actualmente)\b|(?P<characters>现行|現行|目前|当前|當前|最新|现在|現在)"
    r"|\b(?:valid|in force|gültig\w*|gilt|gelten|en vigueur|vigentes?)\b|有效",
    re.IGNORECASE,
)
"""What asks for the newest page; the words alone say nothing about the subject."""
_VALUE = re.compile(r"([$€£¥]?) ?(?<![\w.,-])(\d+(?:[.,]\d+)*+) ?([%$€£¥°]|[^\W\d_]+)?")


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
        first = {dedupe_key(url) for url in question.first}
        given = tuple(each for each in evidence.sources if dedupe_key(each.url) in first)
        places, judged = choose(question.question, replace(evidence, sources=given))
        if not (given and _is_answer(judged)):
            places, judged = choose(question.question, evidence)
        if question.kind == "search":
            if judged.enough >= ENOUGH and _is_off_topic(question.own, evidence):
                judged = replace(judged, unknown=tuple(asked_words(question.own)))
            deltas.append(judged)
            places = places if _is_answer(judged) else []
        else:
            places = places or openings(evidence.sources)
    left = WORDS
    titles = Counter({source.number: source.title for source, _ in places}.values())
    values = [each for each in places[1:] if _is_other_value(places[:1], *each, weights)]
    taken: set[str] = set()
    for number, (source, place) in enumerate(places):
        if source.passages[place].text in taken:
            continue
        heading = heading_path(source, source.passages[place].heading)
        if titles[source.title] > 1 and is_document(source.url):
            heading = f"{as_label(folder_of(source.url))}{HEADING_SEPARATOR}{heading}"
        if values and (source, place) in (places[0], *values):
            heading += f" ({as_label(_file_and_date(source))})"
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


def _is_answer(judged: Judged) -> bool:
    return judged.covered >= judged.enough and not judged.unknown


def _is_off_topic(own: str, evidence: Evidence) -> bool:
    """Return True if neither documents nor pages read have any of a short message's own words. A
    single one may be a synonym: "How expensive?"."""
    words = dict.fromkeys(keywords(own), 1.0)
    if len(words) < 2 or not all(is_unknown(word, evidence.rarity) for word in words):
        return False
    return not any(_covered(words, page, one) for page in evidence.sources for one in page.passages)


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
    weights = _without_current(question, weighted(question, evidence))
    sources = evidence.sources
    total = sum(weights.values()) or 1.0
    covered = 0.0
    near = foreign = False
    rated: list[tuple[float, Source, int]] = []
    for source in sources:
        scores = _scores(weights, source)
        staleness = _staleness(question, source)
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
            rated.append((score * staleness, source, place))
            covered = max(covered, _covered(weights, source, passage) / total)
    names = unknown(question, sources, evidence.rarity)
    enough = ENOUGH / 2 if near else ENOUGH
    if evidence.rarity and is_open(question, weights, evidence.rarity):
        enough = math.inf
    if foreign:
        names, enough = (), 0.0
    if not dates(question):
        rated = _newest_first(rated, GOOD if _CURRENT.search(question) else AS_GOOD)
    return _best(rated, weights), Judged(covered, enough, names)


def _without_current(question: str, weights: Mapping[str, float]) -> Mapping[str, float]:
    """Return weights without words such as "current", if there are others."""
    said = (match["word"] or match["characters"] or "" for match in _CURRENT.finditer(question))
    words = frozenset(terms(" ".join(said)))
    return {term: weight for term, weight in weights.items() if term not in words} or weights


def _newest_first(
    rated: Sequence[tuple[float, Source, int]], share: float
) -> list[tuple[float, Source, int]]:
    """Return passages so that of pages with a share of the best score, the newest comes first."""
    tops: dict[int, float] = {}
    for score, source, _ in rated:
        tops[source.number] = max(score, tops.get(source.number, 0.0))
    best = max(tops.values(), default=0.0)
    good = {
        source.number: source.validity.age
        for _, source, _ in rated
        if tops[source.number] >= share * best and not source.validity.state
    }
    ages = sorted({age for age in good.values() if any(age)})
    lifts = {
        number: best * (1 + ages.index(age) / 100 / len(ages)) - tops[number]
        for number, age in good.items()
        if any(age)
    }
    return [(score + lifts.get(source.number, 0.0), source, at) for score, source, at in rated]


def _staleness(question: str, source: Source) -> float:
    """Return the factor for a page that does not hold, unless the question asks for such a one."""
    if _STALE.search(question) or source.validity.is_asked:
        return 1.0
    if source.validity.state:
        return INVALID
    return STALE if _STALE.search(source.named) else 1.0


def _best(
    rated: Sequence[tuple[float, Source, int]], weights: Mapping[str, float]
) -> list[tuple[Source, int]]:
    """Return the best passages of up to three pages, without neighbours of those chosen before, and
    those of other pages with another value for the same; corrections come first."""
    chosen: list[tuple[Source, int]] = []
    best = max((score for score, _, _ in rated), default=0.0)
    while len(chosen) < MOST_VALUES and best > 0:
        left = [
            (score, source, place)
            for score, source, place in rated
            if not any(_says_the_same(source, place, *other) for other in chosen)
            and (
                (score >= WORTH * best and len(chosen) < MOST)
                or (score > 0 and chosen and _is_other_value(chosen, source, place, weights))
            )
        ]
        first = max(left, key=lambda each: (is_correction(each[1].url), each[0]), default=None)
        if first is None:
            break
        chosen.append(first[1:])
    return sorted(chosen, key=_said, reverse=True)


def _is_other_value(
    chosen: Sequence[tuple[Source, int]], source: Source, place: int, weights: Mapping[str, float]
) -> bool:
    """Return True if a page not chosen has, for what is asked, another figure in the same unit as
    the best passage: "3.5 bar", not "4.2 bar". What is in the title or headings of the best one
    only was asked for."""
    if any(source.number == other.number for other, _ in chosen):
        return False
    best, at = chosen[0]
    own, words = _value(best.passages[at].text, weights)
    other, others = _value(source.passages[place].text, weights)
    around = terms(f"{best.named}\n{best.passages[at].heading}")
    lacks = {term for term in weights if term in words or term in around} - others
    lacks -= set(terms(f"{source.named}\n{source.passages[place].heading}"))
    return (
        own.keys() == other.keys() != set()
        and not any(own.items() & _figures(each.text) for each in source.passages)
        and bool(words & others)
        and lacks.isdisjoint(around)
        and (all(own) or not lacks)
        and not any(term.isdigit() for term in lacks)
    )


def _value(text: str, weights: Mapping[str, float]) -> tuple[dict[str, str], set[str]]:
    """Return the figures by unit of the sentence closest to the question, and its words of it."""
    parts = [text[each.start : each.end] for each in sentences(text)]
    closest = max(parts, key=lambda part: _rate(part, weights), default="")
    return dict(_figures(closest)), weights.keys() & set(terms(closest))


def _figures(text: str) -> set[tuple[str, str]]:
    """Return the figures of a text, each with its unit before it."""
    return {(before or unit, figure) for before, figure, unit in _VALUE.findall(text)}


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
    """Return True if a passage has no sentence: a line of links, a caption, a heading. A point of a
    list with several words counts as one."""
    text = passage.text
    is_line = len(text) < 80 and "\n" not in text and _SENTENCE_END.search(text) is None
    return (is_line and _POINT.match(text) is None) or passage.is_contents


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
    rated = relevance(weights, counts, lengths, headings, term_tuple(source.named))
    return [rated[at] for at in kept]


def _covered(weights: Mapping[str, float], source: Source, passage: Passage) -> float:
    """Return the weight of the question's terms that a passage has, with headings and title."""
    around = (
        (IN_TITLE, term_tuple(source.named)),
        (IN_HEADING, term_tuple(passage.heading)),
        (1.0, term_tuple(passage.text)),
    )
    found = {term: share for share, words in around for term in words}
    return sum(weight * found.get(term, 0.0) for term, weight in weights.items())


@lru_cache(maxsize=20_000)
def term_tuple(text: str) -> tuple[str, ...]:
    """Return ``terms``, cached: the same passages are scored and quoted."""
    return tuple(terms(text))


EVERYDAY_WEIGHT = 1.5  # minimum weight of a meaningful term,
OF_RAREST = 0.2  # or this share of the rarest term's weight: with few documents all weights are low
FEW = 3.0  # weight of the rarest term in ten passages; in fewer, weights say nothing of words

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
        spelled(f"{source.named}\n{passage.heading}\n{passage.text}")
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


def _file_and_date(source: Source) -> str:
    """Return the name of a document's file or of a page's host, and the date of the page."""
    parts = urlsplit(source.url)
    name = parts.hostname or unquote(parts.path).rpartition("/")[2]
    return ", ".join(filter(None, (name, source.validity.dated)))


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
    least = min(EVERYDAY_WEIGHT, OF_RAREST * rarity[""]) if rarity[""] > FEW else 0.0
    telling = [term for term, weight in weights.items() if weight > least]
    if len(telling) > 1:
        return False
    if _POINTS.search(question) is not None:
        return True
    return has_cjk(question) and not _DEFINES.search(question) and all(map(has_cjk, telling))


LONGEST = 90  # words
CJK_CHARACTERS = 1.7  # counted as one word
BETWEEN = 8  # characters between passages that can be quoted together

_WORD = re.compile(r"(?<!\S)[^\w\s]*+\w\S*+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINE_BEGINS = re.compile(r"[ \t]*(?:\||[-*+•‣◦][ \t]|\d{1,3}[.)][ \t]|`{3}|~{3})")
_DIVIDER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The words quoted, the passages that they are from, and their spans in the page."""

    text: str
    passages: tuple[Passage, ...]
    spans: tuple[tuple[int, int], ...]


def count_words(text: str) -> int:
    """Count words; in Chinese, Japanese and Korean, ``CJK_CHARACTERS`` characters count as one."""
    if not has_cjk(text):
        return len(_WORD.findall(text))
    others = _WORD.findall("".join(" " if has_cjk(mark) else mark for mark in text))
    return round(sum(map(has_cjk, text)) / CJK_CHARACTERS) + len(others)


def excerpt(
    source: Source,
    place: int,
    weights: Mapping[str, float],
    room: int,
    taken: Collection[str] = (),
) -> Excerpt:
    """Return the passage at a place, in at most about ``LONGEST`` words, or ``room`` if less, with
    what continues it except passages already ``taken``."""
    most = min(LONGEST, room)
    passage = source.passages[place]
    if count_words(passage.text) > most:
        return _cut(passage, weights, most)
    first = last = place
    spent = count_words(passage.text)
    while True:
        grown = next(
            (
                at
                for at, before, after in ((last + 1, last, last + 1), (first - 1, first - 1, first))
                if 0 <= at < len(source.passages)
                and source.passages[at].text not in taken
                and _goes_on(source.passages[before], source.passages[after])
                and spent + count_words(source.passages[at].text) <= most
            ),
            None,
        )
        if grown is None:
            break
        spent += count_words(source.passages[grown].text)
        first, last = min(first, grown), max(last, grown)
    kept = source.passages[first : last + 1]
    return Excerpt(_joined(kept), kept, tuple((each.start, each.end) for each in kept))


def _goes_on(one: Passage, other: Passage) -> bool:
    """Return True if a passage continues another in the same section."""
    if other.start - one.end > BETWEEN or _has_orders(one) or _has_orders(other):
        return False
    above, below = sorted((f"{each.heading}{HEADING_SEPARATOR}" for each in (one, other)), key=len)
    return below.startswith(above)


def _has_orders(passage: Passage) -> bool:
    return any(is_order(passage.text[s.start : s.end]) for s in sentences(passage.text))


def _joined(passages: Sequence[Passage]) -> str:
    text = _fenced(passages[0])
    for before, passage in pairwise(passages):
        is_line = _LINE_BEGINS.match(passage.text) is not None
        space = " " if passage.start - before.end < 2 else "\n\n"
        text += ("\n" if is_line and space == " " else space) + _fenced(passage)
    return text


def _fenced(passage: Passage) -> str:
    return f"```\n{passage.text}" if passage.in_code else passage.text


# ---------------------------------------------------------------- long passages


def _cut(passage: Passage, weights: Mapping[str, float], most: int) -> Excerpt:
    """Return consecutive sentences, items, rows or lines around the ones closest to the question;
    rows below the table's head if the passage has it."""
    parts = [part for each in sentences(passage.text) for part in _lines(passage, each)]
    rated = [_rate(passage.text[part.start : part.end], weights) for part in parts]
    sizes = [count_words(passage.text[part.start : part.end]) for part in parts]
    first = last = max(range(len(parts)), key=lambda at: (rated[at], -at))
    spent = sizes[first]
    while True:
        sides = [at for at in (last + 1, first - 1) if 0 <= at < len(parts)]
        sides = [at for at in sides if spent + sizes[at] <= most]
        if not sides:
            break
        at = max(sides, key=lambda at: rated[at])
        spent += sizes[at]
        first, last = min(first, at), max(last, at)
    start, end = parts[first].start, parts[last].end
    text = passage.text[start:end]
    spans = [(passage.start + start, passage.start + end)]
    if parts[first].kind == "code" and not _FENCE.match(text):
        text = f"```\n{text}"
    top = _head(passage.text, parts) if parts[first].kind == "row" else 0
    if first and 0 < top <= start:
        text = f"{passage.text[parts[0].start : top]}\n{text}"
        spans.insert(0, (passage.start + parts[0].start, passage.start + top))
    return Excerpt(text, (passage,), tuple(spans))


def _lines(passage: Passage, part: Sentence) -> list[Sentence]:
    """Return a sentence as it is, and code as its lines."""
    if not (passage.in_code or part.kind == "code"):
        return [part]
    found, at = [], part.start
    for line in passage.text[part.start : part.end].split("\n"):
        found.append(Sentence(at, at + len(line), "code"))
        at += len(line) + 1
    return found


def _rate(text: str, weights: Mapping[str, float]) -> float:
    if is_order(text):
        return -1.0
    return sum(weights.get(term, 0.0) for term in set(terms(text)))


def _head(text: str, parts: Sequence[Sentence]) -> int:
    """Return the end of the head that a table begins with; 0 if there is none."""
    heads = parts[1:2]
    return next((p.end for p in heads if _DIVIDER.fullmatch(text[p.start : p.end])), 0)
