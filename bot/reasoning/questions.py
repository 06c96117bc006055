"""A message as a question that stands alone, and a part of it that one loop has to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.messages import Depth
from bot.reasoning.evidence import Finding
from bot.search.provider import Freshness

Kind = Literal["chat", "search", "links"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the asker wants to have searched first; what is empty is not restricted.

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
    ``earlier`` is an answer of ours that is to be reworked ("shorter, please").
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


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """What one loop has to answer, with what is already known about it (findings handed down) and
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
