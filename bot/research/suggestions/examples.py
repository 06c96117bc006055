"""Example questions that the documents answer, for people who have not asked anything yet.

They are made without a model, from the documents' own headings and titles, in their language. Each
is tried first: it is offered only if a search for it finds its document.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from bot.pages.page import Page
from bot.pages.passages import HEADING_SEPARATOR, Passage, split
from bot.research.suggestions.articles import (
    about_chinese_section,
    about_section,
    in_eastern,
    subject_of,
)
from bot.research.suggestions.wordings import Casing, cleaned, in_english, is_plain, is_skipped
from bot.rights.reader import EVERYTHING, Reach
from bot.search.provider import Hit, Query
from bot.text.control import without_controls
from bot.text.language import detect
from bot.text.terms import keywords

LOOKED_AT = 24  # documents
FROM_ONE = 3  # questions tried per document
LARGEST = 100_000  # characters of a document that are examined
_SAMPLE = 2_000  # characters used to detect a document's language
_FEWEST = 120  # characters below a heading needed to answer a question
_FEWEST_EASTERN = 40  # the same in Chinese, Japanese and Korean
_LONGEST_TITLE = 60
# Words that make a heading meaningful on its own page only.
_POINTS = re.compile(r"\bthere\b", re.IGNORECASE)

# For documents without usable headings, in languages where a title fits into a sentence unchanged.
_ABOUT = {
    "en": "What is said about {}?",
    "de": "Was steht über „{}“ in den Dokumenten?",
    "fr": "Que disent les documents sur « {} » ?",
    "es": "¿Qué dicen los documentos sobre «{}»?",
    "it": "Che cosa dicono i documenti su «{}»?",
    "pt": "O que dizem os documentos sobre «{}»?",
    "nl": "Wat staat er over ‘{}’ in de documenten?",
    "zh": "关于“{}”，文档里是怎么说的？",
    "ja": "「{}」について何が書かれていますか？",
    "ko": "‘{}’에 대해 무엇이 쓰여 있나요?",
}
_ABOUT_TRADITIONAL = "關於「{}」，文件裡是怎麼說的？"
_TRADITIONAL = frozenset("個們這為說學時過來對會國後開關於應該與無")


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and the title of its document."""

    question: str
    title: str


class Documents(Protocol):
    """The part of ``search.local.LocalDocuments`` used here."""

    async def sample(self, most: int, shift: int, reach: Reach = EVERYTHING) -> list[Page]: ...

    async def search(self, query: Query) -> list[Hit]: ...


async def examples(
    documents: Documents, reach: Reach, limit: int, shift: int = 0
) -> tuple[Example, ...]:
    """Return up to ``limit`` questions, from as many documents as possible; another ``shift`` gives
    different ones.

    Questions from headings about the topic of their document come first, those from titles last.
    Raises ``ProviderUnavailable``.
    """
    pages = await documents.sample(LOOKED_AT, shift, reach)
    found: dict[str, Example] = {}  # by the address of their documents
    for made_of in (_of_its_topic, of_headings, of_title):
        for page in pages:
            if len(found) == limit:
                break
            asked = [] if page.url in found else await asyncio.to_thread(_first, made_of, page)
            for question in asked:
                if await _finds(documents, question, page, reach):
                    found[page.url] = Example(question, page.title)
                    break
    return tuple(found.values())


def _first(made_of: Callable[[Page], Iterator[str]], page: Page) -> list[str]:
    questions = (each for each in made_of(page) if not _POINTS.search(each))
    return list(islice(questions, FROM_ONE))


async def _finds(documents: Documents, question: str, page: Page, reach: Reach) -> bool:
    hits = await documents.search(Query(question, 1, reach=reach))
    return [hit.url for hit in hits] == [page.url]


def of_headings(page: Page) -> Iterator[str]:
    """Yield the questions that sections of a document answer."""
    text = page.text[:LARGEST]
    language = detect(text[:_SAMPLE])
    title = _title(page)
    if is_skipped(title):
        return
    passages = split(text)
    casing = Casing.of(text) if language == "en" else Casing()
    opening = passages[0].text if passages else ""
    subject = subject_of(title, opening) if language == "en" else None
    fewest = _FEWEST_EASTERN if language in ("zh", "ja", "ko") else _FEWEST
    if subject is not None:
        yield subject.question
    for path, below in _sections(passages).items():
        heading = cleaned(path.rpartition(HEADING_SEPARATOR)[2])
        if below < fewest or any(map(is_skipped, path.split(HEADING_SEPARATOR))):
            continue
        if language == "en":
            asked = in_english(heading, casing)
            asked = asked or (about_section(subject, heading) if subject else "")
        else:
            asked = in_eastern(heading) or about_chinese_section(title, opening, heading)
        if asked:
            yield asked


def _of_its_topic(page: Page) -> Iterator[str]:
    """Yield the questions from headings that share a word with the document's title: they make
    sense without context."""
    topic = frozenset(keywords(_title(page)))
    return (each for each in of_headings(page) if not topic.isdisjoint(keywords(each)))


def of_title(page: Page) -> Iterator[str]:
    """Yield the question what is said about a document's title."""
    language = detect(page.text[:_SAMPLE])
    title = _title(page)
    wording = _ABOUT.get(language, "")
    if language == "zh" and not _TRADITIONAL.isdisjoint(page.text[:_SAMPLE]):
        wording = _ABOUT_TRADITIONAL
    is_telling = title != page.url.rpartition("/")[2] and keywords(title)
    if wording and is_telling and len(title) <= _LONGEST_TITLE and is_plain(title):
        yield wording.format(title)


def _title(page: Page) -> str:
    return cleaned(" ".join(without_controls(page.title, " ").split()))


def _sections(passages: list[Passage]) -> dict[str, int]:
    """Return the paths of headings, with the number of characters below each."""
    found: dict[str, int] = {}
    for passage in passages:
        if passage.heading and not passage.is_contents:
            found[passage.heading] = found.get(passage.heading, 0) + len(passage.text)
    return found
