"""A message as a question that stands alone, and a part of it that one loop has to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.messages import Depth, Entry
from bot.reasoning.evidence import Finding
from bot.search.provider import Freshness

Kind = Literal["chat", "search", "links", "sources", "thread"]
"""A reply without research; a search; pages to read; what sources of ours were; what our answers in
the thread have found so far."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Restrictions of a search; empty fields restrict nothing.

    As in ``search.provider.Query``: how long ago a page may have appeared, hosts, a country.
    """

    freshness: Freshness = ""
    domains: tuple[str, ...] = ()
    region: str = ""


ANYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message as a standalone question.

    ``queries`` are short keyword queries for the web, ``knowledge_queries`` the same for local
    documents; ``links`` are URLs to read; ``whole`` says that what they say as a whole is asked
    for (a summary, a comparison), not one fact. ``scope`` restricts the first searches.
    ``language`` is a BCP 47 tag. ``reply`` is the finished answer when ``kind`` is ``chat``.
    ``recalled`` are answers of ours that the message is about, with those of their footnotes that
    it means; ``earlier`` is what of their text is to be reworked ("shorter, please").
    """

    kind: Kind
    question: str
    queries: tuple[str, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    language: str = "en"
    depth: Depth = "standard"
    long_form: bool = False
    reply: str = ""
    whole: bool = False
    scope: Scope = ANYWHERE
    earlier: str = ""
    recalled: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """The question of one loop, with what is already known about it (findings handed down) and
    ``missing``, what was looked for before and not found.

    ``queries`` (for the web), ``knowledge_queries`` (for documents) and ``scope`` are of the first
    search; ``whole`` asks for pages as a whole. See ``Rewritten``.
    """

    text: str
    language: str = "en"
    queries: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    scope: Scope = ANYWHERE
    whole: bool = False
    missing: tuple[str, ...] = ()
