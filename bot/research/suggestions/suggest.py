"""Follow-up questions about what the asker has just read.

Made without a model, of the section headings around what was cited, of options and subjects that
the quoted words mention, and of titles of other pages. Only what fits a pattern of
``question_wordings`` or ``articles`` and has to do with the question is suggested: no suggestion
is better than a poor one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.answers import Citation
from bot.pages.passages import HEADING_SEPARATOR, Passage
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Source
from bot.research.suggestions.articles import (
    about_chinese_section,
    about_section,
    bare_title,
    in_eastern,
    opening_of,
    subject_of,
)
from bot.research.suggestions.wordings import (
    Casing,
    about_identifier,
    about_option,
    cleaned,
    in_english,
    is_skipped,
    name_in,
    without_instruction,
)
from bot.text.control import without_controls
from bot.text.language import detect
from bot.text.terms import keywords, terms

MOST = 3
SAME = 0.6  # share of common terms (Jaccard) from which two questions ask the same
TELLING = 0.3  # share of the rarest term's rarity from which a term of the question tells its topic
RAREST = 6.0  # what is rarer in documents than that is not what they are about
ENOUGH = 1 / 2  # share of a heading's terms that the question has
NEAR = 3  # sections before and after the cited one that stand beside it
_SAMPLE = 1_000  # characters of a page that tell its language
_FROM_OFFERS = 2  # telling terms that the title of a page shares with the question

_EASTERN = ("zh", "ja", "ko")
_OPTION = re.compile(r"^(?:[-*] )?`?(--[a-z][a-z-]+)", re.MULTILINE)
# No part of a question, but of mentions, links and markup: who presses one has written it, and what
# people write is read.
_UNSAFE = re.compile(r"[<>@\[\]\n]|://|\bwww\.|\w\.[a-z]{2,}/", re.IGNORECASE)
_SITE = re.compile(
    r"\s+[|·•»]\s+|\s+[-–—]\s+(?=[^-–—|·•»]*$)|\s*(?:\||(?<=[^\x00-\x7f])_)\s*(?=\S{1,20}$)"
)


@dataclass(frozen=True, slots=True)
class Offer:
    """A page that a search found, and what it showed of it."""

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question that could be suggested, its terms, and how much it has to do with what was
    asked and quoted."""

    question: str
    about: frozenset[str]
    relation: float


def suggest(
    question: str,
    answer_text: str,
    citations: Sequence[Citation],
    offered: Sequence[Offer],
    sources: Sequence[Source] = (),
    further: Sequence[Citation] = (),
    rarity: Mapping[str, float] | None = None,
    limit: int = MOST,
) -> tuple[str, ...]:
    """Up to ``limit`` standalone questions in the asker's language, the most related first.

    ``citations`` are those of the answer, ``further`` those of its further reading. The questions
    are about sections of the cited pages beside or below what was cited, about what the quoted
    words mention and ``sources`` explain, and about ``offered`` pages. ``rarity`` has for terms of
    the question how rare they are in the documents searched. Nothing is suggested after an answer
    without citations, nor what repeats the question, a cited section or another suggestion.
    """
    if not citations or limit < 1:
        return ()
    read = _Read(question, answer_text, citations, further, rarity or {})
    candidates = [
        *(candidate for page in _pages(read, sources) for candidate in _of_page(read, page)),
        *_of_subjects(read, offered, sources),
        *_of_offers(read, offered),
    ]
    chosen: list[_Candidate] = []
    taken = [read.asked]
    for candidate in sorted(candidates, key=lambda each: -each.relation):
        if len(chosen) >= limit:
            break
        if _UNSAFE.search(candidate.question) or read.has_answered(candidate.about):
            continue
        if any(_alike(candidate.about, one) for one in taken):
            continue
        taken.append(candidate.about)
        chosen.append(candidate)
    return tuple(candidate.question for candidate in chosen)


def _alike(about: frozenset[str], other: frozenset[str]) -> bool:
    return len(about & other) >= SAME * len(about | other)


# ---------------------------------------------------------------- what was read


class _Read:
    """The question and the cited words, as far as suggestions depend on them."""

    def __init__(
        self,
        question: str,
        answer_text: str,
        citations: Sequence[Citation],
        further: Sequence[Citation],
        rarity: Mapping[str, float],
    ) -> None:
        self.language = detect(question)
        self.asked = frozenset(keywords(question))
        self.citations = citations
        self.further = {(dedupe_key(each.url), each.heading) for each in further}
        self.first = dedupe_key(citations[0].url)
        self.urls = {dedupe_key(citation.url) for citation in citations}
        self._sections = [
            frozenset(keywords(_leaf(citation.heading)))
            for citation in citations
            if citation.heading
        ]
        self._question = question.casefold()
        self._words = " ".join((answer_text, *(citation.quote for citation in citations)))
        rarest = min(max((rarity.get(term, 0.0) for term in self.asked), default=0.0), RAREST)
        self._telling = frozenset(
            term for term in self.asked if rarity.get(term, rarest) >= TELLING * rarest
        )

    @cached_property
    def _folded(self) -> str:
        return " ".join(self._words.casefold().split())

    def mentions(self, name: str, *, as_written: bool = False) -> bool:
        """Return True if the answer or a quote has a name that the question lacks.

        The name counts as whole words; ``as_written`` with its capitals.
        """
        wanted = " ".join(name.split())
        folded = wanted.casefold()
        if len(wanted) < 4 or folded in self._question:
            return False
        text = self._words if as_written else self._folded
        wanted = wanted if as_written else folded
        return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", text) is not None

    def has_answered(self, about: frozenset[str]) -> bool:
        """True if the question or the heading of a cited section says all that is asked about."""
        return any(about <= known for known in (self.asked, *self._sections))

    def shared(self, text: str) -> int:
        """The number of terms of the question's topic that a text has."""
        return len(self._telling.intersection(terms(_apart(text))))


def _leaf(heading: str) -> str:
    return cleaned(heading.rpartition(HEADING_SEPARATOR)[2])


def _parent(path: str) -> str:
    return path.rpartition(HEADING_SEPARATOR)[0]


def _terms_of(heading: str) -> frozenset[str]:
    """The terms of what a heading names: the last part of ``tempfile.mkdtemp()``, an option."""
    if heading.startswith("-"):
        return frozenset({heading})
    return frozenset(keywords(_apart(re.sub(r"\b\w+\.(?=[a-z_])", "", heading))))


def _apart(text: str) -> str:
    """A text with the words inside of names apart: ``CacheMaxFileSize`` adds its four words."""
    return f"{text} {re.sub(r'(?<=[a-z])(?=[A-Z])|_', ' ', text)}"


# ---------------------------------------------------------------- cited pages


class _Page:
    """A cited page: its sections that were read, in their order, and those cited."""

    def __init__(self, source: Source, read: _Read) -> None:
        url = dedupe_key(source.url)
        self.source = source
        self.further = {heading for one, heading in read.further if one == url}
        self.is_first = url == read.first
        self.paths = list(dict.fromkeys(passage.heading for passage in source.passages))
        self.text = "\n".join(passage.text for passage in source.passages)
        self.language = detect(self.text[:_SAMPLE])
        self.cited = [c for c in read.citations if dedupe_key(c.url) == url]
        self.sections = list(dict.fromkeys(citation.heading for citation in self.cited))
        # What stands beside a cited section is of interest only where that was the right one.
        self.topical = [one for one in self.sections if one and read.shared(one)]

    @cached_property
    def casing(self) -> Casing:
        return Casing.of(self.text)

    def is_cited(self, passage: Passage) -> bool:
        return any(passage.start <= citation.start < passage.end for citation in self.cited)


def _pages(read: _Read, sources: Sequence[Source]) -> Iterator[_Page]:
    for source in sources:
        if dedupe_key(source.url) in read.urls:  # further reading elsewhere is less related
            page = _Page(source, read)
            if page.language == read.language and not is_skipped(_name(source.title)):
                yield page


def _of_page(read: _Read, page: _Page) -> Iterator[_Candidate]:
    subject = (
        subject_of(page.source.title, opening_of(page.source)) if page.language == "en" else None
    )
    for place, path in enumerate(page.paths):
        heading = _leaf(path)
        if (
            path in page.sections
            or not heading
            or any(map(is_skipped, path.split(HEADING_SEPARATOR)))
        ):
            continue
        if page.language in _EASTERN:
            asked = in_eastern(heading) or about_chinese_section(
                page.source.title, opening_of(page.source), heading
            )
        else:
            asked = _in_english(heading, page) if page.language == "en" else ""
        relation = _relation(read, page, place)
        if subject is not None and not asked:
            asked, relation = about_section(subject, heading), 1.0
        if asked and relation:
            yield _Candidate(asked, _terms_of(heading), relation + page.is_first)
    for passage in page.source.passages:
        for option in _OPTION.findall(passage.text):
            asked = about_option(option, _name(page.source.title))
            is_read = page.is_cited(passage) or any(option in _leaf(one) for one in page.sections)
            if asked and not is_read and read.mentions(option):
                yield _Candidate(asked, _terms_of(option), 1.5 + page.is_first)


def _in_english(heading: str, page: _Page) -> str:
    if heading.startswith("-"):
        return about_option(heading, _name(page.source.title))
    return in_english(heading, page.casing)


def _relation(read: _Read, page: _Page, place: int) -> float:
    """The relation of a section to what was asked and quoted; 0 for none."""
    path = page.paths[place]
    heading = _leaf(path)
    mentioned = 2.0 if read.mentions(name_in(heading)) else 0.0
    shared = read.shared(without_instruction(heading))
    if name_in(heading) != heading or about_identifier(heading):
        # Options beside each other have little to do with each other.
        section = _parent(path)
        beside = any(one.startswith(section + HEADING_SEPARATOR) for one in page.sections)
        topical = HEADING_SEPARATOR in section and read.shared(_leaf(section))
        is_related = shared > 1 or (shared and beside and topical)
        return mentioned + shared if mentioned or is_related else 0.0
    below = any(path.startswith(one + HEADING_SEPARATOR) for one in page.topical)
    if shared < ENOUGH * len(keywords(heading)) or (shared == 1 and not page.is_first):
        shared = 0  # a neighbour of what was read may still be about another matter
    near = below or _nearness(read, page, place)
    if path in page.further:  # further reading was chosen for the question
        near = 1.0
    if not mentioned and not shared and heading.isascii() and path not in page.further:
        return 0.0
    return mentioned + 1.5 * shared + near


def _nearness(read: _Read, page: _Page, place: int) -> float:
    """The nearness of a section to a cited one under the same heading, 0 to 1.

    That heading must be below the title of the first cited page, or speak of the question's topic.
    """
    parent = _parent(page.paths[place])
    if not parent or not page.is_first:
        return 0.0
    if HEADING_SEPARATOR not in parent and not read.shared(parent):
        return 0.0
    places = [
        page.paths.index(one)
        for one in page.topical
        if one in page.paths and _parent(one) == parent
    ]
    distance = min((abs(place - one) for one in places), default=NEAR + 1)
    return max(0.0, 1 - (distance - 1) / NEAR)


# ---------------------------------------------------------------- other pages


def _of_subjects(
    read: _Read, offered: Sequence[Offer], sources: Sequence[Source]
) -> Iterator[_Candidate]:
    """Questions about the people and things that the quotes name and another page is about."""
    if read.language != "en":
        return
    openings = {dedupe_key(offer.url): (offer.title, offer.snippet) for offer in offered}
    openings |= {dedupe_key(each.url): (each.title, opening_of(each)) for each in sources}
    for url, (title, opening) in openings.items():
        if url not in read.urls and read.mentions(bare_title(title), as_written=True):
            subject = subject_of(title, opening)
            if subject is not None:
                yield _Candidate(subject.question, frozenset(keywords(subject.name)), 1.5)


def _of_offers(read: _Read, offered: Sequence[Offer]) -> Iterator[_Candidate]:
    for offer in offered:
        if dedupe_key(offer.url) in read.urls:
            continue
        title = _name(offer.title)
        if read.language == "en":
            asked = in_english(title)
        else:
            asked = in_eastern(title) if detect(title) == read.language else ""
        shared = read.shared(title)
        if asked and shared >= _FROM_OFFERS:
            yield _Candidate(asked, _terms_of(title), 1.0 * shared)


def _name(title: str) -> str:
    """A page's title without the name of its site."""
    line = " ".join(without_controls(title, " ").split())
    return cleaned(_SITE.split(line, maxsplit=1)[0])
