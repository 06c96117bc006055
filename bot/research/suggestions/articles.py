"""Questions about the subjects of encyclopedic articles: who or what one is, and its history.

An article is a page that opens by defining what it is titled ("The **Bubye River** is a river in
Zimbabwe"). Only English ones and, for sections, Chinese ones are recognized.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.reasoning.evidence import Source
from bot.research.suggestions.wordings import LONGEST
from bot.text.listed import listed

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]$")  # "Mercury (planet)"
_SITE = re.compile(r"\s+[-–—|]\s+(?:[\w ]*Wikipedia.*|维基百科.*|維基百科.*)$")
_MARKS = re.compile(r"\*\*|__")
_IN_BRACKETS = re.compile(r"\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|（[^（）]*）)")
_LIFE = re.compile(
    r"\bborn\b|\b\d{3,4}\s*[–-]\s*(?:c\. )?(?:\d{1,2} \w+ |\w+ \d{1,2}, )?\d{3,4}\b",
    re.IGNORECASE,
)
_IS = re.compile(r",? (is|was|are|were) (?:an?|the|one of)\b(.{0,90})")

_AFTER_KIND = re.compile(r",|\b(?:of|from|for|in|at|by|who|that|which|known|born)\b")
_ROLES = listed("""
    actor actress architect artist astronaut astronomer author biologist bishop businessman
    businesswoman chemist coach composer cricketer critic dancer director economist emperor
    engineer entrepreneur explorer footballer general historian inventor journalist judge king
    lawyer mathematician minister missionary model monarch musician novelist officer painter
    philosopher photographer physician physicist playwright player poet politician pope
    president priest producer professor psychologist queen rapper scholar scientist sculptor
    singer soldier songwriter statesman swimmer theologian writer
""")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of an article: its name as it appears in a sentence ("the Bubye River")."""

    name: str
    verb: str  # is, was, are or were
    is_person: bool

    @property
    def question(self) -> str:
        """The question who or what it is."""
        return f"{'Who' if self.is_person else 'What'} {self.verb} {self.name}?"


def bare_title(title: str) -> str:
    """An article's title without its site's name and what tells it from its namesakes."""
    return _QUALIFIER.sub("", _SITE.sub("", title.strip()))


def opening_of(source: Source) -> str:
    """The first passage of a page that was read; "" where none was."""
    return min(source.passages, key=lambda each: each.start).text if source.passages else ""


def subject_of(title: str, opening: str) -> Subject | None:
    """The subject of a page whose opening defines its title; None for other pages.

    None also where a person cannot be told from a thing: dates of life without an occupation.
    """
    title = bare_title(title)
    opening = _MARKS.sub("", opening).lstrip("# ")
    if opening.startswith(title + "\n"):
        opening = opening.removeprefix(title).lstrip()
    article = "The " if opening.startswith(f"The {title}") and not title.startswith("The ") else ""
    if not title or not opening.startswith(article + title):
        return None
    rest = opening[len(article + title) :][:600]
    brackets = _IN_BRACKETS.match(rest)
    found = _IS.match(rest[brackets.end() :] if brackets else rest)
    if found is None:
        return None
    kind = _AFTER_KIND.split(found[2].lower(), maxsplit=1)[0]
    has_role = not _ROLES.isdisjoint(re.findall(r"[a-z]+", kind))
    has_life = brackets is not None and _LIFE.search(brackets[0]) is not None
    if has_life and not has_role:
        return None
    is_person = has_role and not article
    return Subject(article.lower() + title, found[1], is_person)


# ---------------------------------------------------------------- sections

_SECTIONS = {
    "history": "What is the history of {}?",
    "etymology": "Where does the name “{}” come from?",
    "name": "Where does the name “{}” come from?",
    "climate": "What is the climate of {} like?",
    "economy": "What is the economy of {} based on?",
    "demographics": "Who lives in {}?",
    "legacy": "What is the legacy of {}?",
    "reception": "How was {} received?",
    "critical reception": "How did critics receive {}?",
    "plot": "What happens in {}?",
    "symptoms": "What are the symptoms of {}?",
    "signs and symptoms": "What are the signs and symptoms of {}?",
    "causes": "What causes {}?",
    "diagnosis": "How is {} diagnosed?",
    "treatment": "How is {} treated?",
    "prevention": "How can {} be prevented?",
    "applications": "What is {} used for?",
    "uses": "What is {} used for?",
}
_OF_PERSONS = {
    "early life": "What was the early life of {} like?",
    "early years": "What was the early life of {} like?",
    "education": "Where was {} educated?",
    "death": "How did {} die?",
    "legacy": "What is the legacy of {}?",
    "awards": "Which awards did {} receive?",
    "personal life": "What is known about the personal life of {}?",
}
_CHINESE = {
    "历史": "{}的历史是怎样的？",
    "歷史": "{}的歷史是怎樣的？",
    "名称": "{}这个名字是怎么来的？",
    "名稱": "{}這個名字是怎麼來的？",
    "词源": "{}这个名字是怎么来的？",
    "詞源": "{}這個名字是怎麼來的？",
    "生平": "{}的生平是怎样的？",
    "气候": "{}的气候怎么样？",
    "氣候": "{}的氣候怎麼樣？",
    "症状": "{}有哪些症状？",
    "症狀": "{}有哪些症狀？",
    "用途": "{}有什么用途？",
}


def about_section(subject: Subject, heading: str) -> str:
    """The question that a section of an English article answers, or ""."""
    known = _OF_PERSONS if subject.is_person else _SECTIONS
    wording = known.get(heading.casefold(), "")
    question = wording.format(subject.name)
    return question if len(question) <= LONGEST else ""


def about_chinese_section(title: str, opening: str, heading: str) -> str:
    """The question that a section of a Chinese article answers, or ""."""
    title = bare_title(title)
    if len(title) < 2 or not _MARKS.sub("", opening).startswith(title):
        return ""
    return _CHINESE.get(heading, "").format(title)
