"""Follow-up questions about the answer that the asker has just read.

They are made without a model, from the section headings around citations, from options and subjects
mentioned in quotes, and from titles of other pages. A suggestion must match a pattern in
``wordings`` or ``articles`` and relate to the question: no suggestion is better than a poor one.
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
from bot.research.outcomes import Offer
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
SAME = 0.6  # share of common terms (Jaccard) from which two questions count as the same
TELLING = 0.3  # share of the rarest term's rarity from which a term of the question shows its topic
RAREST = 6.0  # terms rarer than this do not show a topic
ENOUGH = 1 / 2  # share of a heading's terms that the question has
NEAR = 3  # sections before and after the cited one that count as near
_SAMPLE = 1_000  # characters used to detect a page's language
_FROM_OFFERS = 2  # topic terms that a page's title must share with the question

_EASTERN = ("zh", "ja", "ko")
_OPTION = re.compile(r"^(?:[-*] )?`?(--[a-z][a-z-]+)", re.MULTILINE)
# Parts of mentions, links and markup. A pressed suggestion counts as written by the person, so it
# must not contain any.
_UNSAFE = re.compile(r"[<>@\[\]\n]|://|\bwww\.|\w\.[a-z]{2,}/", re.IGNORECASE)
_SITE = re.compile(
    r"(?<!\s)\s++[|·•»]\s++|(?<!\s)\s++[-–—]\s++(?=[^-–—|·•»]*+$)"
    r"|(?:(?<!\s)\s++)?(?:\||(?<=[^\x00-\x7f])_)\s*+(?=\S{1,20}$)"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A possible suggestion, its terms, and how closely it relates to the question and the
    quotes."""

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
    """Return up to ``limit`` standalone questions in the asker's language, the most related first.

    ``citations`` are those of the answer, ``further`` those of its further reading. The questions
    are about sections near or below the cited ones, about subjects mentioned in quotes and
    explained in ``sources``, and about ``offered`` pages. ``rarity`` maps the question's terms to
    their rarity in the documents searched. There are no suggestions for an answer without
    citations, and none that repeat the question, a cited section or another suggestion.
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
    """The parts of the question and the citations that suggestions depend on."""

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

        Only whole words match; with ``as_written``, capitals must match too.
        """
        wanted = " ".join(name.split())
        folded = wanted.casefold()
        if len(wanted) < 4 or folded in self._question:
            return False
        text = self._words if as_written else self._folded
        wanted = wanted if as_written else folded
        return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", text) is not None

    def has_answered(self, about: frozenset[str]) -> bool:
        """Return True if the question or the heading of a cited section covers all of these
        terms."""
        return any(about <= known for known in (self.asked, *self._sections))

    def shared(self, text: str) -> int:
        """Return the number of topic terms of the question in a text."""
        return len(self._telling.intersection(terms(_apart(text))))


def _leaf(heading: str) -> str:
    return cleaned(heading.rpartition(HEADING_SEPARATOR)[2])


def _parent(path: str) -> str:
    return path.rpartition(HEADING_SEPARATOR)[0]


def _terms_of(heading: str) -> frozenset[str]:
    """Return the terms of the thing a heading names: the last part of ``tempfile.mkdtemp()``, or an
    option."""
    if heading.startswith("-"):
        return frozenset({heading})
    return frozenset(keywords(_apart(re.sub(r"\b\w+\.(?=[a-z_])", "", heading))))


def _apart(text: str) -> str:
    """Return a text with the words inside names split: ``CacheMaxFileSize`` adds its four words."""
    return f"{text} {re.sub(r'(?<=[a-z])(?=[A-Z])|_', ' ', text)}"


# ---------------------------------------------------------------- cited pages


class _Page:
    """A cited page: the sections that were read, in order, and those cited."""

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
        # Sections near a cited one are of interest only if the cited one is on topic.
        self.topical = [one for one in self.sections if one and read.shared(one)]

    @cached_property
    def casing(self) -> Casing:
        return Casing.of(self.text)

    def is_cited(self, passage: Passage) -> bool:
        return any(passage.start <= citation.start < passage.end for citation in self.cited)


def _pages(read: _Read, sources: Sequence[Source]) -> Iterator[_Page]:
    for source in sources:
        if dedupe_key(source.url) in read.urls:  # further reading on other pages is less related
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
    """Return how closely a section relates to the question and the quotes; 0 for none."""
    path = page.paths[place]
    heading = _leaf(path)
    mentioned = 2.0 if read.mentions(name_in(heading)) else 0.0
    shared = read.shared(without_instruction(heading))
    if name_in(heading) != heading or about_identifier(heading):
        # Adjacent options are often unrelated.
        section = _parent(path)
        beside = any(one.startswith(section + HEADING_SEPARATOR) for one in page.sections)
        topical = HEADING_SEPARATOR in section and read.shared(_leaf(section))
        is_related = shared > 1 or (shared and beside and topical)
        return mentioned + shared if mentioned or is_related else 0.0
    below = any(path.startswith(one + HEADING_SEPARATOR) for one in page.topical)
    if shared < ENOUGH * len(keywords(heading)) or (shared == 1 and not page.is_first):
        shared = 0  # a neighbouring section may be about something else
    near = below or _nearness(read, page, place)
    if path in page.further:  # further reading was chosen for the question
        near = 1.0
    if not mentioned and not shared and heading.isascii() and path not in page.further:
        return 0.0
    return mentioned + 1.5 * shared + near


def _nearness(read: _Read, page: _Page, place: int) -> float:
    """Return the nearness of a section to a cited one under the same heading, 0 to 1.

    That heading must be below the title of the first cited page, or contain the question's topic.
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
    """Yield questions about people and things named in quotes that another page is about."""
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
    """Return a page's title without the name of its site."""
    line = " ".join(without_controls(title, " ").split())
    return cleaned(_SITE.split(line, maxsplit=1)[0])
