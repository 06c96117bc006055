"""Questions: a message made standalone, a part of it for one loop, and when two ask the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.messages import Depth, Entry
from bot.reasoning.evidence import Finding
from bot.search.provider import ANY_TALK, Freshness, Talk
from bot.text.lazy_regex import lazy_regex
from bot.text.names import names
from bot.text.terms import fold, has_cjk, keywords, terms

Kind = Literal["chat", "search", "links", "sources", "thread"]
"""A reply without research; a search; pages to read; what sources of ours were; what our answers in
the thread have found so far."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Restrictions of a search; empty fields restrict nothing.

    As in ``search.provider.Query``: how long ago a page may have appeared, hosts, a country, what
    colleagues said.
    """

    freshness: Freshness = ""
    domains: tuple[str, ...] = ()
    region: str = ""
    talk: Talk = ANY_TALK


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
    ``correction`` is what the message states to correct our last answer, standalone, or "". One
    that asks nothing besides is ``chat``, without a reply.
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
    correction: str = ""


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


NEAR_REPEAT = 0.85  # Jaccard similarity of keywords from which on they are those of one question

THING = "what"  # what is asked for where nothing says so: "the population of Lyon"

# The thing asked for, by the words that ask for it. A longer word stands before one that it holds.
_ASKED_FOR = {
    "who": r"\bwho(?:m|ever)?\b|谁|誰|哪位|だれ|どなた|누구|누가",
    "whose": r"\bwhose\b",
    "when": r"\bwhen\b|什么时候|什麼時候|[何几幾][时時]|哪一?[年天日]|何[年日]|いつ|언제",
    "where": r"\bwhere\b|在?(?:什么地方|什麼地方|哪[里裡裏儿兒]|何[处處地])|在哪(?![一个個])"
    "|どこ|어디",
    "why": r"\bwhy\b|\bhow come\b|为什么|為什麼|为何|為何|何故|なぜ|どうして"
    "|(?<![\uac00-\ud7a3])왜(?![\uac00-\ud7a3])",
    "how many": r"\bhow (?:many|much)\b|多少|[几幾](?:[个個位名次年天人部本座条條])|いくつ|いくら"
    "|얼마|몇",
    "how often": r"\bhow often\b",
    "how": r"\bhow\b|怎么|怎麼|怎样|怎樣|如何|どうやって|どのように|어떻게",
    THING: r"\bwh(?:at|ich)\b|什么|什麼|哪|何|なに|どの|どれ|무엇|무슨|어느|어떤",
}
_ASKING = lazy_regex(
    "|".join(f"(?P<_{at}>{words})" for at, words in enumerate(_ASKED_FOR.values()))
)
_NAMES = tuple(_ASKED_FOR)


def asks_the_same(one: str, other: str) -> bool:
    """True if two questions ask the same: for the same kind of thing, in nearly the same keywords.

    Where each has a name or figure that the other lacks, they ask the same about different things.
    """
    if interrogatives(one) != interrogatives(other):
        return False
    words, others = _keywords(one), _keywords(other)
    if words == others:
        return True
    if len(words & others) < NEAR_REPEAT * len(words | others):
        return False
    only, only_other = words - others, others - words
    if has_cjk(one + other):  # where names are not marked
        return not (only and only_other)
    return not ((only & _special(one)) or (only_other & _special(other)))


def interrogatives(question: str) -> frozenset[str]:
    """The interrogatives of a question: "who", "when", "how many" and so on. Keywords do not tell.

    "What" and "which" are one, and so is a text that asks for nothing in particular.
    """
    found = {_NAMES[int(str(m.lastgroup)[1:])] for m in _ASKING.finditer(fold(question))}
    return frozenset(found or {THING})


def _keywords(question: str) -> frozenset[str]:
    if has_cjk(question):  # 什么时候 asks for no more than 何时, but has more bigrams
        question = _ASKING.sub(" ", fold(question))
    return frozenset(keywords(question))


def _special(question: str) -> frozenset[str]:
    """The terms of a question that are names or figures."""
    named = {t for n in names(question, "en") for t in terms(question[n.start : n.end])}
    return frozenset(named | {t for t in terms(question) if any(c.isdigit() for c in t)})
