"""Recognizes questions that need no rewording, and rewordings that must not be used.

The rewrite would return a plain question unchanged, and costs seconds before anything is read. It
is only called if something needs judgement: what a word relative to the team or the time means
("our", "latest"), whether the message is a question at all, and how deep or long the answer should
be. The model also judges questions in languages whose question words are unknown here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.core.messages import Message, Transcript
from bot.pages.urls import hosts_in, links_said
from bot.reasoning.questions import Rewritten
from bot.reasoning.wording import goes_on, pronoun
from bot.text.language import detect
from bot.text.terms import keywords, terms

LONGEST = 300  # characters
FEWEST_KEYWORDS = 2

_PREPOSITION = r"(?:in|at|on|to|for|from|by|with|of|during|under)"
_YES_OR_NO = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|might|must)\b"
_ORDERS = (
    r"(?:please|write|list|tell|give|show|name|find|check|describe|make|draft|translate|say|ask"
    r"|look|search|help|suppose|imagine)\b"
)
_ASKS = {
    "en": re.compile(
        rf"\A(?:(?:{_PREPOSITION} )?"
        r"(?:who|whom|whose|what|which|when|where|how (?:many|much|long|old|tall|high|far|big|large"
        r"|deep|fast|often))\b"
        # Asked late, as in a quiz: "The Forth Bridge is painted in what colour?"
        rf"|(?!{_YES_OR_NO}|{_ORDERS})[^,:]* {_PREPOSITION} (?:what\b|which \w+ ?\?))",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"\A[^，。！；]*(?:谁|什么|哪|几|多少|多大|多高|多长|何时|何地)"),
}
_LEFT_TO_JUDGE = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|ours|you|your|yours|footnote|here|now|nowadays"
    r"|this (?:morning|afternoon|evening|day|week|weekend|month|quarter|season|year|decade|century)"
    r"|say|said|mention\w*|decided?|agreed|settled|discussed|according to"
    r"|(?:last|past) (?:day|week|month|year|\d+ (?:hours|days))|today"
    r"|tonight|tomorrow|yesterday|current(?:ly)?|latest|newest|recent(?:ly)?"
    r"|so far|still|ago"
    r"|news|next|upcoming|should|recommend\w*|compar\w*|differen\w*|versus|vs|than|pros|cons"
    r"|overview|summar\w*|detail\w*|thorough\w*|explain\w*|history)\b"
    r"|[我你您咱它他她]|[这本](?:周|个?星期|个?月|季|年)|现在|目前|今|昨|明天|最新|最近|比较|区别|不同|比|对比|总结|概述|详细|介绍",
    re.IGNORECASE,
)
_ONE_SENTENCE = re.compile(r"[^?？!！;；\n`]+[?？]\s*")


def plain_question(
    transcript: Transcript, message: Message, instructions: str = ""
) -> Rewritten | None:
    """Return the message as a standalone question, or None if a model must decide.

    It is searched verbatim: the model words queries once it has seen the results.
    """
    said = message.text.strip()
    if transcript.entries or message.attachments or instructions.strip() or len(said) > LONGEST:
        return None
    if not _ONE_SENTENCE.fullmatch(said) or _LEFT_TO_JUDGE.search(said):
        return None
    said = " ".join(said.split())
    language = detect(said)
    asks = _ASKS.get(language)
    is_plain = (
        asks is not None
        and asks.match(said) is not None
        and len(keywords(said)) >= FEWEST_KEYWORDS
        and not (message.links or links_said(said) or hosts_in(said))
        and pronoun(said) is None
        and goes_on(said) is None
    )
    if not is_plain:
        return None
    return Rewritten("search", said, queries=(said,), knowledge_queries=(said,), language=language)


_COMPARES = re.compile(
    r"\b(?:compar\w+|versus|vs|than|unlike|differ\w*|relative to|in contrast)\b", re.IGNORECASE
)
_PUTS_RIGHT = re.compile(r"\b(?:i|we) meant?\b|我们?(?:是)?(?:说|說|指)|我的意思", re.IGNORECASE)
_ENOUGH = 2  # keywords a text needs for its language to be detected


def is_taken(transcript: Transcript, message: Message, question: str) -> bool:
    """Return True if ``question``, a rewording of ``message``, is better than the message
    itself."""
    if not transcript.entries or _compares_unasked(transcript, message, question):
        return False
    return (
        _puts_right(message, question)
        or _is_in_another_language(transcript, message)
        or _takes_from(transcript, message, question)
    )


def _puts_right(message: Message, question: str) -> bool:
    """Return True if a message clarifies an earlier one ("No, I meant the office: when does it
    open?") and the rewording uses the message's own words."""
    return _PUTS_RIGHT.search(message.text) is not None and set(keywords(question)) <= set(
        terms(message.text)
    )


def _takes_from(transcript: Transcript, message: Message, question: str) -> bool:
    """Return True if the rewording has a content word of the thread (or of the message's
    attachments and links) that the message lacks."""
    added = set(keywords(question)).difference(terms(message.text))
    return any(not added.isdisjoint(terms(text)) for text in _around(transcript, message))


def _is_in_another_language(transcript: Transcript, message: Message) -> bool:
    """Return True if a message in the thread that may be meant is in another language."""
    said = (entry.text for entry in transcript.entries)
    return any(
        len(keywords(text)) >= _ENOUGH and detect(text) != detect(message.text) for text in said
    )


def _compares_unasked(transcript: Transcript, message: Message, question: str) -> bool:
    """Return True if a rewording only adds a comparison to a standalone message."""
    return (
        _COMPARES.search(question) is not None
        and _COMPARES.search(message.text) is None
        and set(terms(message.text)) <= set(terms(question))
        and detect(message.text) == "en"  # the language of _COMPARES
        and pronoun(message.text) is None
        and goes_on(message.text) is None
    )


def _around(transcript: Transcript, message: Message) -> Iterator[str]:
    for entry in transcript.entries:
        yield from (entry.name, entry.text, entry.question, *entry.sources)
    yield message.author.name
    yield from (attachment.name for attachment in message.attachments)
    yield from message.links
