"""Finds other pages whose figure or date differs from a cited sentence's.

It prefers precision over completeness, since false alarms make readers distrust real ones. A
sentence of another page disagrees with a claim when it has nearly all of the claim's words, the
same unit or no unit, exactly one figure or year of that kind, and that page nowhere supports the
claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.pages.passages import Passage
from bot.reasoning.evidence import Source
from bot.text.facts import Fact, facts, missing_from
from bot.text.orders import is_order
from bot.text.sentences import sentences
from bot.text.terms import keywords, terms

SHARED = 0.8  # share of a claim's words, without figures, that the other sentence or its title has
FEWEST = 3  # words a claim must have for that to be meaningful
LONGEST = 400  # characters of a sentence that can state a single fact
_AFTER = re.compile(r"[\s-]{0,2}(%|[^\W\d_]+)")
_PARENTHESES = re.compile(r"[(（][^()（）]*[)）]")
_CURRENCY = re.compile(r"[$€£¥₩₹]\s?$")


@dataclass(frozen=True, slots=True)
class Dissent:
    """A contradicting ``sentence`` of a passage; ``start:end`` is its span in the page."""

    source: Source
    passage: Passage
    sentence: str
    start: int
    end: int


def dissent(claim: str, cited: Sequence[Source], sources: Sequence[Source]) -> Dissent | None:
    """Return the first sentence of an uncited page with a figure or date other than the claim's.

    ``claim`` is without footnote marks; ``cited`` are the pages it rests on.
    """
    if not any(character.isnumeric() for character in claim):
        return None
    measured = [fact for fact in facts(claim) if _is_measure(fact)]
    if len(measured) != 1:  # with several, it is unclear which one the other sentence is about
        return None
    fact = measured[0]
    words = _words(claim, measured)
    if len(words) < FEWEST:
        return None
    titles = [frozenset(keywords(_PARENTHESES.sub("", source.title))) for source in cited]
    numbers = {source.number for source in cited}
    for source, passage in _about(words, [s for s in sources if s.number not in numbers]):
        title = f"{source.title} {passage.heading}"
        for sentence in sentences(passage.text):
            said = passage.text[sentence.start : sentence.end]
            is_same_thing = _names_its_subject(claim, said) or any(
                about and about <= frozenset(terms(f"{title} {said}")) for about in titles
            )
            if (
                is_same_thing
                and not is_order(said)
                and _disagrees(claim, fact, words, said, title)
                and missing_from([fact], _all_of(source))
            ):
                start = passage.start + sentence.start
                return Dissent(source, passage, said, start, start + len(said))
    return None


def _about(words: frozenset[str], sources: Sequence[Source]) -> Iterator[tuple[Source, Passage]]:
    """Yield the passages with enough of the words to contain such a sentence."""
    for source in sources:
        for passage in source.passages:
            there = _terms_of(f"{source.title} {passage.heading} {passage.text}")
            if len(words & there) >= SHARED * len(words):
                yield source, passage


@lru_cache(maxsize=512)  # every claim is compared with the same passages
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _all_of(source: Source) -> str:
    return "\n".join(passage.text for passage in source.passages)


def _disagrees(claim: str, fact: Fact, words: frozenset[str], said: str, title: str) -> bool:
    if len(said) > LONGEST:
        return False
    there = frozenset(terms(said))
    around = there | frozenset(terms(title))
    if len(words & around) < SHARED * len(words) or len(words & there) < FEWEST - 1:
        return False
    if missing_from([other for other in facts(claim) if other.kind == "name"], f"{title}\n{said}"):
        return False
    others = [other for other in facts(said) if _is_measure(other)]
    if len(others) != 1 or others[0].kind != fact.kind:
        return False
    if fact.kind == "date":  # a year and a day of another year may both be right
        return len(others[0].values[0]) == len(fact.values[0])
    return _unit(claim, fact) == _unit(said, others[0])


def _names_its_subject(claim: str, said: str) -> bool:
    """Return True if a claim begins with a name that the other sentence has too."""
    named = [fact for fact in facts(claim) if fact.kind == "name"]
    opens = [fact for fact in named if 0 <= claim.find(fact.text) <= len("The ")]
    return bool(opens) and not missing_from(opens, said)


def _is_measure(fact: Fact) -> bool:
    return fact.kind == "date" or any(character.isdigit() for character in fact.text)


def _words(claim: str, measured: Sequence[Fact]) -> frozenset[str]:
    """Return the claim's keywords without the figures."""
    figures = {term for fact in measured for term in terms(fact.text)}
    return frozenset(word for word in keywords(claim) if word not in figures)


def _unit(sentence: str, fact: Fact) -> str:
    """Return the unit of a figure: ``m`` in "330 m", ``$`` in "$5", or ""."""
    at = sentence.find(fact.text)
    before = _CURRENCY.search(sentence[:at])
    if before is not None:
        return before.group().strip()
    after = _AFTER.match(sentence, at + len(fact.text))
    return "".join(terms(after[1])) or after[1] if after is not None else ""
