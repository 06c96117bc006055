"""Messages of a chat as pages and footnotes, headed by author, channel and time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time

from bot.pages.page import Page
from bot.search.provider import Freshness, Query
from bot.text.terms import content_words, fold

_DAY = "%d %B %Y"
_HEADED = f"{_DAY} %H:%M"


def title_of(author: str, where: str, at: datetime) -> str:
    """The name of a message in a footnote, "Ann, #ops, 3 June 2026", or of a file: "Ann, Launch
    plan, 3 June 2026"."""
    return ", ".join(filter(None, (author, where, day_of(at))))


def day_of(at: datetime | date) -> str:
    """A day as it is written in titles: "3 June 2026"."""
    return f"{at.day} {at:%B %Y}"


def page_of(
    url: str,
    title: str,
    said: Sequence[tuple[str, datetime, str]],
    now: datetime,
    run_id: str,
) -> Page:
    """A thread as a page: a section for each message, headed by who said it and when.

    ``said`` has the author, the time and the words of each, as Markdown. The page is the run's own:
    no other run is given it from the store.
    """
    parts = []
    for author, at, words in said:
        # A heading in a message would pass for the head of another one.
        body = "\n".join(
            f"\\{line}" if line.startswith("#") else line for line in words.split("\n")
        )
        parts.append(f"## {author}, {day_of(at)} {at:%H:%M}\n\n{body.strip()}")
    text = "\n\n".join(parts)
    return Page(url, title, text, now, hashlib.sha256(f"{run_id} {text}".encode()).hexdigest())


DAYS: dict[Freshness, int] = {"day": 1, "week": 7, "month": 31, "year": 366}


def period_of(query: Query, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The start and end of the time from which messages are wanted; None where it is open."""
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
    """The words to look for in messages: without those that carry no meaning, and without the names
    of the people whose messages are wanted."""
    names = {fold(part) for name in query.talk.people for part in name.split()}
    kept = [word for word in content_words(query.text) if fold(word) not in names]
    return " ".join(kept) or query.text


def is_by(author: str, people: Sequence[str]) -> bool:
    """Return True if an author goes by one of these names, or none is given."""
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
