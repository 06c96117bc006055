"""Compares two answers to one question, to find what has changed in substance.

It compares the facts of cited sentences (figures, dates, names). A different wording, order or
footnote for the same claim is not a change; nor is a claim that the writer left out or added
although its page has not changed. A claim in other words with the same facts is ``undecided`` if
they are new on its page, or its page is new: a model judges whether it says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.core.messages import Answer, Change, Citation
from bot.pages.urls import dedupe_key
from bot.rendering.marks import as_marks, numbers_in, renumbered, without_marks
from bot.text.facts import Fact, facts, missing_from
from bot.text.sentences import blocks, sentences_of
from bot.text.terms import keywords, terms

ABOUT = 0.5  # share of words, facts aside, that two claims about the same thing have in common

Copies = Mapping[str, str]
"""The texts of the pages that a run has read, by ``dedupe_key`` of their address."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A cited sentence: as written, without marks (``words``), its facts, and its citations.
    ``about`` are its keywords without figures and dates; ``bare`` leaves out names too.
    """

    sentence: str
    words: str
    facts: tuple[Fact, ...]
    about: frozenset[str]
    bare: frozenset[str]
    rests_on: tuple[Citation, ...]

    def is_on(self, pages: Copies) -> bool | None:
        """Return True if a page has the quoted words or all facts of the claim; None if none of its
        pages was read."""
        texts = [text for text, _ in self._read(pages)]
        has_facts = any(self.facts and not missing_from(self.facts, text) for text in texts)
        return has_facts or self.is_quoted(pages)

    def is_quoted(self, pages: Copies) -> bool | None:
        """Return True if a page has the quoted words; None if none of its pages was read."""
        read = self._read(pages)
        return any(_flat(each.quote) in _flat(text) for text, each in read) if read else None

    def _read(self, pages: Copies) -> list[tuple[str, Citation]]:
        return [(pages[key], each) for each in self.rests_on if (key := _key(each)) in pages]


def changes(before: Answer, after: Answer, then: Copies, now: Copies) -> tuple[Change, ...]:
    """Return the claims that only ``after`` states, in its order, each with the old claim about the
    same thing, if any; then the claims that are gone.

    ``then`` and ``now`` are the pages read for the two answers.
    """
    old, new = _claims(before), _claims(after)
    old_words, new_words = _whole(old), _whole(new)
    gone = [one for one in old if missing_from(one.facts, new_words)]
    fresh = [one for one in new if missing_from(one.facts, old_words) and not one.is_on(then)]
    told: list[Change] = []
    left = list(gone)
    for one in fresh:
        was = _nearest(one, left)
        if was is not None:
            left.remove(was)
        told.append(Change(was.sentence if was else "", one.sentence))
    # A claim without a successor is gone only if its page was read again and no longer has it.
    dropped = [Change(one.sentence, "") for one in left if one.is_on(now) is False]
    return (*told, *dropped)


def undecided(before: Answer, after: Answer, then: Copies, now: Copies) -> tuple[Change, ...]:
    """Return claims in words that no page is known to have had then, in place of old ones that no
    page is known to have now, with the same facts: only a reader can decide whether that is a
    change. ``changes`` returns none of them for the same arguments."""
    old, new = _claims(before), _claims(after)
    old_words, new_words = _whole(old), _whole(new)
    found = []
    for one in new:
        was = _nearest(one, old)
        if was is None or _nearest(was, new) is not one or _bare(was.words) == _bare(one.words):
            continue
        has_other_facts = missing_from(one.facts, old_words) or missing_from(was.facts, new_words)
        if not (has_other_facts or one.is_quoted(then) or was.is_quoted(now)):
            found.append(Change(was.sentence, one.sentence))
    return tuple(found)


def in_order(after: Answer, found: Iterable[Change]) -> tuple[Change, ...]:
    """Sort changes in the order of ``after``; claims that it no longer has come last."""
    places = {claim.sentence: place for place, claim in enumerate(_claims(after))}
    return tuple(sorted(found, key=lambda one: places.get(one.after, len(places))))


def with_changes(
    answer: Answer, before: Answer, found: Sequence[Change], heading: str, labels: tuple[str, str]
) -> Answer:
    """Return the answer with its changes above it: each new sentence with the old one below it, and
    the footnotes of both. ``labels`` precede the new and the old sentence."""
    cited, shown = _old_citations(answer, before, found)
    now, was = labels
    lines: list[str] = []
    told = tuple(replace(one, before=renumbered(one.before, shown)) for one in found)
    for one in told:
        if one.after:
            lines.append(f"- **{now}** {_in_line(one.after)}")
            if one.before:
                lines.append(f"  - **{was}** {_in_line(one.before)}")
        else:
            lines.append(f"- **{was}** {_in_line(one.before)}")
    lead = f"**{heading}**\n\n" + "\n".join(lines) + "\n\n---\n\n"
    return replace(
        answer,
        text=lead + answer.text,
        lead=len(lead),
        changes=told,
        citations=(*answer.citations, *cited),
    )


def _old_citations(
    answer: Answer, before: Answer, found: Iterable[Change]
) -> tuple[list[Citation], dict[int, int]]:
    """Return the footnotes of the old sentences, and a map from their old to their new numbers."""
    wanted = dict.fromkeys(number for one in found for number in numbers_in(one.before))
    numbers = {_key(each): each.number for each in answer.citations}
    shown: dict[int, int] = {}
    kept: list[Citation] = []
    for cited in before.citations:
        if cited.number not in wanted:
            continue
        number = numbers.get(_key(cited))
        if number is None:
            taken = set(numbers.values())
            number = cited.number if cited.number not in taken else max(taken) + 1
            numbers[_key(cited)] = number
        shown[cited.number] = number
        moved = replace(cited, number=number)
        if moved not in answer.citations:
            kept.append(moved)
    return kept, shown


def _claims(answer: Answer) -> list[_Claim]:
    """Return the distinct cited sentences of an answer, without doubtful ones."""
    doubted = {doubt.sentence for doubt in answer.doubts}
    found: dict[str, _Claim] = {}
    for sentence, numbers in _cited(answer.current):
        if sentence in doubted:
            continue
        words = without_marks(sentence)
        claimed = tuple(facts(words))
        measured = {term for fact in claimed if fact.kind != "name" for term in terms(fact.text)}
        about = frozenset(keywords(words)) - measured
        bare = about - {term for fact in claimed for term in terms(fact.text)}
        rests_on = tuple(each for each in answer.citations if each.number in numbers)
        if not numbers_in(sentence):
            sentence += f" {as_marks(numbers)}"
        found.setdefault(words, _Claim(sentence, words, claimed, about, bare, rests_on))
    return list(found.values())


def _cited(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield sentences with their footnote numbers; one without any takes those of the next sentence
    in its paragraph that has some."""
    for block in blocks(text):
        waiting: list[str] = []
        for span in sentences_of(text, block):
            waiting.append(text[span.start : span.end])
            if numbers := numbers_in(waiting[-1]):
                yield from ((sentence, numbers) for sentence in waiting)
                waiting = []


def _nearest(claim: _Claim, among: Sequence[_Claim]) -> _Claim | None:
    """Return the most similar claim about the same thing, or None."""
    best = max(among, key=lambda other: _share(claim, other), default=None)
    return best if best is not None and _share(claim, best) >= ABOUT else None


def _share(one: _Claim, other: _Claim) -> float:
    """Return the share of the shorter claim's words that the other has, from 0 to 1.

    At least ``ABOUT`` for claims that differ only in names and figures: one name may have replaced
    another.
    """
    if one.bare and one.bare == other.bare:
        return max(ABOUT, len(one.about & other.about) / len(one.about | other.about))
    least = min(len(one.about), len(other.about))
    return len(one.about & other.about) / least if least else 0.0


def _whole(claims: Iterable[_Claim]) -> str:
    return "\n".join(claim.words for claim in claims)


def _key(cited: Citation) -> str:
    return dedupe_key(cited.url)


def _bare(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence)).casefold()


def _flat(text: str) -> str:
    return " ".join(text.split())


def _in_line(sentence: str) -> str:
    """Return a sentence as the text of a list item, without its own list or heading mark."""
    return " ".join(sentence.split()).lstrip("#-*+•> ").strip()
