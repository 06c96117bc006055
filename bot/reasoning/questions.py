"""Questions: a standalone message, a sub-question for one loop, and the comparison of questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.core.messages import Depth, Entry
from bot.reasoning.evidence import Finding
from bot.search.provider import ANY_TALK, Freshness, Talk
from bot.text.names import names
from bot.text.patterns import lazy_regex
from bot.text.terms import fold, has_cjk, keywords, terms

Kind = Literal["chat", "search", "links", "sources", "thread"]
"""A reply without research; a search; pages to read; what our sources were; what our answers in the
thread have found so far."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Restrictions of a search; empty fields mean no restriction.

    As in ``search.provider.Query``: the age of pages, hosts, a country, colleagues' messages.
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
    documents; ``links`` are URLs to read; ``whole`` is True if the question is about their whole
    content (a summary, a comparison), not one fact. ``scope`` restricts the first searches.
    ``language`` is a BCP 47 tag. ``reply`` is the finished answer when ``kind`` is ``chat``.
    ``recalled`` are our answers that the message is about, with the footnotes it refers to;
    ``earlier`` is the part of their text to be reworked ("shorter, please"). ``correction`` is the
    message's correction of our last answer as a standalone statement, or "". A mere correction is
    ``chat``, without a reply.
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
    """The question of one loop, with the findings already ``known`` and what was searched for but
    ``missing``.

    ``queries`` (for the web), ``knowledge_queries`` (for documents) and ``scope`` are for the first
    search; ``whole`` needs pages as a whole. See ``Rewritten``.
    """

    text: str
    language: str = "en"
    queries: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    scope: Scope = ANYWHERE
    whole: bool = False
    missing: tuple[str, ...] = ()


NEAR_REPEAT = 0.85  # Jaccard similarity of keywords from which two questions count as one

THING = "what"  # the default without an interrogative: "the population of Lyon"

# The kind of thing asked for, and the words that ask for it. Longer words come before their parts.
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
    """Return True if two questions ask for the same kind of thing, in nearly the same keywords.

    If each has a name or figure that the other lacks, they are about different things.
    """
    if interrogatives(one) != interrogatives(other):
        return False
    words, others = _keywords(one), _keywords(other)
    if words == others:
        return True
    if len(words & others) < NEAR_REPEAT * len(words | others):
        return False
    only, only_other = words - others, others - words
    if has_cjk(one + other):  # languages that do not mark names
        return not (only and only_other)
    return not ((only & _special(one)) or (only_other & _special(other)))


def interrogatives(question: str) -> frozenset[str]:
    """Return the interrogatives of a question: "who", "when", "how many" and so on, which are not
    keywords.

    "What" and "which" count as the same, also for a text without an interrogative.
    """
    found = {_NAMES[int(str(m.lastgroup)[1:])] for m in _ASKING.finditer(fold(question))}
    return frozenset(found or {THING})


def _keywords(question: str) -> frozenset[str]:
    if has_cjk(question):  # 什么时候 means the same as 何时, but has more bigrams
        question = _ASKING.sub(" ", fold(question))
    return frozenset(keywords(question))


def _special(question: str) -> frozenset[str]:
    """Return the terms of a question that are names or figures."""
    named = {t for n in names(question, "en") for t in terms(question[n.start : n.end])}
    return frozenset(named | {t for t in terms(question) if any(c.isdigit() for c in t)})
