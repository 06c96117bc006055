"""Converts a message to a standalone question with the thread's own words, without a model."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.messages import Message, Transcript
from bot.reasoning.extractive.chores import (
    is_chore,
    needs_model,
    reply_to,
    wants_other_form,
    wants_shorter,
    without_long_form,
)
from bot.reasoning.extractive.corrections import correction_in
from bot.reasoning.extractive.follow_ups import Turn, pronoun, standalone
from bot.reasoning.extractive.hops import LONGEST_QUERY, first_queries
from bot.reasoning.extractive.reading import (
    asks_to_read,
    requested_links,
    restricted_to,
    without_links,
)
from bot.reasoning.extractive.talk import talk_of, topic_of
from bot.reasoning.extractive.words import asks_by_relation
from bot.reasoning.questions import Rewritten, Scope
from bot.reasoning.recall import (
    last_answer,
    of_sources,
    pages_of,
    recalled,
    source_numbers,
    with_numbers,
    with_titles,
)
from bot.search.provider import Freshness
from bot.text.language import detect
from bot.text.listed import listed
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords

MOST = 4  # queries
ASPECT = 3  # words of the compared aspect in a query for one of the things

_WITHIN = r"(?:in|from|of|over|within|during)(?: the)? (?:last|past)"
_FRESH: dict[Freshness, re.Pattern[str]] = {
    "day": re.compile(
        rf"\b{_WITHIN} (?:24 hours|day)\b|\b(?:news|headlines|updates?|happened|announced)\b"
        r"[\w ,]{0,30}\btoday\b|\btoday's (?:news|headlines|updates?)\b"
        r"|今天的?(?:新闻|消息|动态)|今日(?:新闻|消息|の?ニュース)|오늘의? 뉴스",
        re.IGNORECASE,
    ),
    "week": re.compile(
        rf"\b{_WITHIN} (?:7 days|seven days|week)\b|\bthis week(?:'s)?\b|\bof the week\b"
        r"|(?:本|这|这一|最近一|过去一)(?:周|个星期|星期)|今週|이번 주",
        re.IGNORECASE,
    ),
    "month": re.compile(
        rf"\b{_WITHIN} (?:30 days|thirty days|four weeks|month)\b|\bthis month(?:'s)?\b"
        r"|本月|这个月|(?:最近|过去)一个月|今月|이번 달",
        re.IGNORECASE,
    ),
    "year": re.compile(
        rf"\b{_WITHIN} (?:12 months|twelve months|year)\b|\bthis year(?:'s)?\b"
        r"|今年|(?:最近|过去)一年|올해",
        re.IGNORECASE,
    ),
}
_PLACED = re.compile(
    r"(?:\b(?:on|from|at|in|within|via|by|according to)\s+(?:the\s+)?|site:\s*|[在从])"
    r"(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,6}(?:\s*上)?",
    re.IGNORECASE,
)
_THING = r"[^,;:?!，。？！]{2,60}?"
_IN_WHAT = r"(?P<aspect>\s+(?:in|on|by|for|regarding|in terms of|as to)\s[^?!.]{1,200})?"
_COMPARISONS = (
    re.compile(
        rf"\bcompar(?:e|ing|ison (?:of|between)) (?P<a>{_THING})\s+(?:and|with|to|against|versus"
        rf"|vs\.?)\s+(?P<b>{_THING}){_IN_WHAT}\s*[?!.]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bdifferences?(?P<of> in [\w -]{{1,60}}?)? between (?P<a>{_THING}) and (?P<b>{_THING})"
        rf"{_IN_WHAT}\s*[?!.]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:which|who|what)\b(?P<aspect>[^,?]{{1,60}}),\s+(?P<a>{_THING})\s+or\s+(?P<b>{_THING})"
        r"\s*\?+$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*(?:is|are|was|were|does|do|did|has|have)\s"
        rf"(?P<a>{_THING})\s+(?P<aspect>(?:more|less)\s\w+|(?:\w+\s)?\w+er)\s+"
        rf"(?:\w+\s)?than\s+(?P<b>{_THING})\s*[?!.]*$",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?P<a>{_THING})\s+(?:vs\.?|versus)\s+(?P<b>{_THING})\s*[?!.]*$", re.IGNORECASE),
    re.compile(
        r"(?:比较|比較|对比|對比)(?:一下)?(?P<a>[^，。？和与與跟]{1,20})[和与與跟](?P<b>[^，。？的]{1,20})"
        r"(?:的(?P<aspect>[^，。？]{1,20}))?[。？]?$"
    ),
    re.compile(
        r"^(?P<a>[^，。？和与與跟]{1,20})[和与與跟](?P<b>[^，。？的有哪谁誰之]{1,20})"
        r"(?:的(?P<aspect>[^，。？有哪谁誰]{1,10}))?(?:的|之间|之間|有什么|有什麼|有何|有哪些|哪个|哪個|谁|誰)*"
        r"(?:区别|區別|不同|差别|差別|差异|差異|(?P<of>[^，。？]{0,6})更\S{1,6})"
    ),
)


def scope_of(text: str) -> Scope:
    """Return the time and hosts to which a message restricts its search."""
    fresh = next((name for name, pattern in _FRESH.items() if pattern.search(text)), None)
    return Scope(freshness=fresh or "", domains=tuple(dict.fromkeys(_hosts(text))))


def queries_for(question: str) -> tuple[str, ...]:
    """Return up to 4 queries: for a comparison, one for each thing and one for all together."""
    said = _PLACED.sub(" ", question)
    for pattern in _FRESH.values():
        said = pattern.sub(" ", said)
    said = said if content_words(said) else question
    each = sides(said)
    # The names in a comparison are its sides, which already have queries.
    found = [*each, *first_queries(said)[: 1 if each else MOST]]
    return tuple(dict.fromkeys(query for query in found if query))[:MOST]


def sides(question: str) -> list[str]:
    """Return a query for each of the two things that a question compares; empty if it does not.

    "Compare the cost of X and Y": "X cost", "Y cost".
    """
    for pattern in _COMPARISONS:
        if match := pattern.search(question):
            groups = match.groupdict("")
            of, _, first = groups["a"].rpartition(" of ")
            things = [" ".join(content_words(side)) for side in (first, groups["b"])]
            told = f"{of} {groups.get('aspect', '')} {groups.get('of', '')}"
            aspect = [word for word in content_words(told) if fold(word) not in _NO_ASPECT][:ASPECT]
            if all(things) and fold(things[0]) != fold(things[1]):
                return [" ".join([thing, *aspect]) for thing in things]
    return []


def _hosts(text: str) -> list[str]:
    return [host.lower().removeprefix("www.") for host in restricted_to(text)]


_NO_ASPECT = STOP_WORDS | listed("main key general detail terms difference differences")


TURNS = 12  # of a thread, from which a follow-up may be completed
OPENING = 1_000  # characters of an earlier message, enough to show its topic
_REMARK = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|(?:many )?thanks|thank you|thx|great|cool|nice|perfect|interesting|wow"
    r"|got it|hi|hello|hey)\b(?: (?:a lot|very much|so much|there|footnote|all))?\s*[,.!;–-]+\s*)+"
    r"(?=\w)|^\W*(?:(?:好的?|谢谢|多谢|明白了?|你好)[，。！,.!]+)+(?=\w)",
    re.IGNORECASE,
)
"""A greeting or remark before a question in the same message."""


def rewrite(transcript: Transcript, message: Message) -> Rewritten:
    """See ``Reasoner.rewrite``. A standalone message is returned unchanged."""
    stated, asked = correction_in(transcript, message.text)
    if asked:
        return replace(_rewritten(transcript, replace(message, text=asked)), correction=stated)
    if stated:
        language = language_of(transcript, message)
        return Rewritten("chat", message.text, language=language, correction=stated)
    return _rewritten(transcript, message)


def _rewritten(transcript: Transcript, message: Message) -> Rewritten:
    reading = requested_links(transcript, message)
    said = without_links(message.text)
    language = language_of(transcript, message)
    if said == message.text.strip() and (
        about := recalled(transcript, message, language)
        or _about_answers(transcript, said, language)
    ):
        return about
    if not reading.links:
        if reply := reply_to(said, language):
            return Rewritten("chat", message.text, language=language, reply=reply)
        if is_chore(said):
            return Rewritten("chat", message.text, language=language, reply=needs_model(language))
    if reading.only_they:
        return Rewritten(
            "links",
            message.text.strip(),
            links=reading.links,
            language=language,
            whole=reading.whole,
        )
    bare = _REMARK.sub("", message.text.strip())
    question = standalone(bare, _turns(transcript))
    subject = without_long_form(question)
    searched = without_links(subject or question)
    talk = talk_of(question, message.at.date())
    if talk.first:
        searched = topic_of(searched)
    queries = queries_for(searched)
    beside = sides(searched) or (queries[1:] if asks_by_relation(searched) else ())
    if question == bare:
        question = message.text.strip()
    return Rewritten(
        "search",
        question,
        queries=queries,
        knowledge_queries=(" ".join(searched.split())[:LONGEST_QUERY], *beside),
        links=reading.links,
        language=language,
        long_form=subject is not None,
        scope=replace(scope_of(message.text), talk=talk),
    )


def _about_answers(transcript: Transcript, said: str, language: str) -> Rewritten | None:
    """Return the rewrite of a message about our last answer or about sources, or None."""
    last = last_answer(transcript)
    if last is not None and wants_shorter(said):
        return Rewritten(
            "links",
            last.question or said,
            links=pages_of([last]),
            language=language,
            earlier=last.text,
            recalled=(last,),
        )
    if last is not None and wants_other_form(said):
        return Rewritten("chat", said, language=language, reply=needs_model(language))
    meant = with_numbers(transcript, source_numbers(said))
    if not meant and asks_to_read(said):
        meant = with_titles(transcript, said)
    return of_sources(meant, said, language) if meant else None


def says_it_all(transcript: Transcript, message: Message) -> bool:
    """Return True if no word of a message shows that it depends on the thread."""
    said = _REMARK.sub("", message.text.strip())
    return pronoun(said) is None and standalone(said, _turns(transcript)) == said


def language_of(transcript: Transcript, message: Message) -> str:
    """The message's language, or that of the thread or the person if the message is too short."""
    said = without_links(message.text)
    has_words = any(char.isalpha() for char in said)
    if has_words and keywords(said) and (has_cjk(said) or len(said) > 3):
        return detect(said)
    spoken = [entry.text for entry in transcript.entries if entry.role == "person"]
    return detect(spoken[-1]) if spoken else message.locale.partition("-")[0] or "en"


# ---------------------------------------------------------------- what was said before


def _turns(transcript: Transcript) -> list[Turn]:
    """The questions of a thread with their answers; remarks between people count as questions."""
    turns: list[Turn] = []
    for entry in transcript.entries:
        if entry.role == "person":
            turns.append(Turn(without_links(entry.text[:OPENING])))
        elif turns:
            turns[-1] = replace(
                turns[-1],
                question=entry.question[:OPENING],
                answer=entry.text,
                sources=entry.sources,
            )
    return [turn for turn in turns if turn.text and not reply_to(turn.text, "en")][-TURNS:]
