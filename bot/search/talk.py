"""Messages of a chat as pages and footnotes, with headings of author, channel and time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time

from bot.core.lines import label
from bot.pages.page import Page
from bot.search.provider import Freshness, Query
from bot.text.terms import content_words, fold

_DAY = "%d %B %Y"
_HEADED = f"{_DAY} %H:%M"
_HEADING = re.compile(r"^([ \t]*)#")


def title_of(author: str, where: str, at: datetime) -> str:
    """The title of a message in a footnote, "Ann, #ops, 3 June 2026", or of a file: "Ann, Launch
    plan, 3 June 2026"."""
    return ", ".join(filter(None, (label(author), label(where), day_of(at))))


def day_of(at: datetime | date) -> str:
    """A day in the form used in titles: "3 June 2026"."""
    return f"{at.day} {at:%B %Y}"


def page_of(
    url: str,
    title: str,
    said: Sequence[tuple[str, datetime, str]],
    now: datetime,
    run_id: str,
) -> Page:
    """A thread as a page: one section per message, with author and time in its heading.

    ``said`` has each message's author, time and text as Markdown. The page belongs to this run
    only: its hash includes the run, so that no other run gets it from the store.
    """
    parts = []
    for author, at, words in said:
        # A heading inside a message would look like the heading of another message.
        body = "\n".join(_HEADING.sub(r"\1\\#", line) for line in words.split("\n"))
        parts.append(f"## {label(author)}, {day_of(at)} {at:%H:%M}\n\n{body.strip()}")
    text = "\n\n".join(parts)
    return Page(url, title, text, now, hashlib.sha256(f"{run_id} {text}".encode()).hexdigest())


DAYS: dict[Freshness, int] = {"day": 1, "week": 7, "month": 31, "year": 366}


def period_of(query: Query, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The start and end of the period for messages; None if it is open at that side."""
    talk, after, before = query.talk, None, None
    if talk.after:
        after = datetime.combine(date.fromisoformat(talk.after), clock_time(), UTC)
    elif days := DAYS.get(query.freshness):
        after = now - timedelta(days=days)
    if talk.before:
        before = datetime.combine(date.fromisoformat(talk.before), clock_time(), UTC)
        before += timedelta(days=1)
    return after, before


def words_of_topic(query: Query) -> str:
    """The words to search for in messages: without words that carry no meaning, and without the
    names of the people whose messages are wanted."""
    names = {fold(part) for name in query.talk.people for part in name.split()}
    kept = [word for word in content_words(query.text) if fold(word) not in names]
    return " ".join(kept) or query.text


def is_by(author: str, people: Sequence[str]) -> bool:
    """Return True if an author has one of these names, or if there are none."""
    known = set(author.casefold().split())
    named = (set(name.casefold().removeprefix("@").split()) for name in people)
    return not people or any(each and each <= known for each in named)


def said_at(heading: str) -> datetime | None:
    """The time of the message below a heading that ``page_of`` wrote; None for other headings."""
    return _time_of(heading, _HEADED)


def day_in(title: str) -> datetime | None:
    """The day at the end of a title that ``title_of`` gave; None for other titles."""
    return _time_of(title, _DAY)


def _time_of(name: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(name.rpartition(", ")[2], form).replace(tzinfo=UTC)
    except ValueError:
        return None
