"""Recognizes questions about what colleagues said: whose messages, and from which time."""

from __future__ import annotations

import re
from datetime import date, timedelta

from bot.search.provider import ANY_TALK, Talk
from bot.text.terms import content_words, keywords

_MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
]
_NAME = r"@?(?!We\b|I\b|You\b|They\b|The\b)[A-Z][\w'-]+(?: [A-Z][\w'-]+)?"

_TEAM = re.compile(
    r"\b(?:did|do|have|had) we (?:\w+ )?(?:decide|agree|say|said|discuss|settle|plan|choose|pick)"
    r"|\b(?:was|were|has been) (?:decided|agreed|discussed|settled)\b"
    r"|\bwho(?:'s| is| was| has been) (?:working|looking|responsible|on call)\b"
    r"|\b(?:has|have|did|does) (?:any(?:body|one)|some(?:body|one)) (?:\w+ )?(?:see|met|meet|know"
    r"|run into|tr(?:y|ied)|mention|ask|hear|notice)"
    r"|我们.{0,8}(?:决定|商定|说好|讨论|约定)|我們.{0,8}(?:決定|商定|說好|討論|約定)"
    r"|(?:有没有|有沒有|有)(?:人|谁|誰).{0,4}(?:遇到|见过|見過|知道|试过|試過|提到)"
    r"|[谁誰](?:正?在)?(?:做|负责|負責|处理|處理)",
    re.IGNORECASE,
)
_SAYS = re.compile(
    rf"\b(?i:what|when|where|why|how)\b.{{0,20}}\b(?i:did|does|has) (?P<a>{_NAME}) "
    r"(?i:say|said|write|written|decide|think|suggest|propose|mention|report)"
    rf"|\b(?i:according to) (?P<b>@[\w'-]+)"
)
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})(?: (?P<year>20\d\d))?"
_DAY = r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)? )?"
_ISO = r"(?P<iso>20\d\d-\d\d-\d\d)"
_SINCE = re.compile(
    rf"\b(?P<how>since|after|before|until|in|on) (?:the )?(?:{_ISO}|{_DAY}{_MONTH})\b",
    re.IGNORECASE,
)
_LATELY = re.compile(r"\b(?P<what>yesterday|last week|last month)\b", re.IGNORECASE)


def talk_of(text: str, today: date) -> Talk:
    """Return which conversations a question asks for; ``ANY_TALK`` if it does not ask for messages.

    A month without a year is the latest one.
    """
    named = _SAYS.search(text)
    if named is None and not _TEAM.search(text):
        return ANY_TALK
    people = tuple(filter(None, (named["a"] or named["b"],))) if named is not None else ()
    after, before = _period(text, today)
    return Talk(
        first=True,
        after=after.isoformat() if after else "",
        before=before.isoformat() if before else "",
        people=tuple(name.removeprefix("@") for name in people),
    )


def topic_of(text: str) -> str:
    """Return a question's subject, without the words that ask who said something and when."""
    bare = text
    for asking in (_SAYS, _TEAM, _SINCE, _LATELY):
        bare = asking.sub(" ", bare)
    return " ".join(content_words(bare)) if keywords(bare) else text


def _period(text: str, today: date) -> tuple[date | None, date | None]:
    """Return the first and the last day to which a text is restricted."""
    if found := _LATELY.search(text):
        what = found["what"].lower()
        if what == "yesterday":
            return today - timedelta(days=1), today - timedelta(days=1)
        if what == "last week":
            monday = today - timedelta(days=today.weekday() + 7)
            return monday, monday + timedelta(days=6)
        last = today.replace(day=1) - timedelta(days=1)
        return last.replace(day=1), last
    if (found := _SINCE.search(text)) is None:
        return None, None
    try:
        first, last = _named(found, today)
    except ValueError:  # not a calendar day
        return None, None
    return {
        "since": (first, None),
        "after": (last + timedelta(days=1), None),
        "before": (None, first - timedelta(days=1)),
        "until": (None, last),
    }.get(found["how"].lower(), (first, last))


def _named(found: re.Match[str], today: date) -> tuple[date, date]:
    """Return the first and the last day of a date or month. Raises ``ValueError``."""
    if found["iso"]:
        day = date.fromisoformat(found["iso"])
        return day, day
    month = _MONTHS.index(found["month"].lower()) + 1
    year = int(found["year"] or today.year)
    if not found["year"] and month > today.month:
        year -= 1
    if found["day"]:
        day = date(year, month, int(found["day"]))
        return day, day
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)
