"""The list of conversations, grouped by days in the reader's time zone, pinned ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from starlette.requests import Request

from adapters.web.clock import clock_of
from adapters.web.console import Console, visitor_of
from adapters.web.limits import FOUND_AT_ONCE, THREADS_LISTED
from adapters.web.visibility import seeing
from adapters.web.visitors import Visitor
from bot.core.lines import one_line, shortened
from bot.core.messages import Wording
from bot.core.texts import Texts
from bot.rendering.marks import without_marks
from bot.rendering.tables import plain_lines
from bot.storage.console import ListedConversation
from bot.text.sentences import sentences
from bot.text.terms import terms

TITLE = 80  # characters of a thread's name in the list
SNIPPET = 180


@dataclass(frozen=True, slots=True)
class Link:
    """A thread in the list. ``at`` is in the reader's time zone; ``alike`` tells that another has
    the same title. ``snippet`` is the text that matched the search."""

    name: str
    title: str
    questions: int
    at: datetime
    pinned: bool
    alike: bool
    given: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The threads of a day, or the pinned ones, whose ``day`` is None. ``title`` is "" unless the
    day has a name, such as "today"."""

    title: str
    day: date | None
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the list. ``older`` is the position after which the next page begins, or 0."""

    groups: tuple[Group, ...]
    older: int = 0


def channel_of(visitor: Visitor) -> str | None:
    """Return the channel of the threads that a visitor may see; None for all channels."""
    return None if visitor.operator else visitor.channel


async def list_threads(console: Console, request: Request, texts: Texts, before: int = 0) -> Page:
    """Return the visitor's threads, the latest first, from a position or the beginning on."""
    channel, clock = channel_of(visitor_of(request)), clock_of(request)
    told = seeing(console, request).told
    found = await console.history.latest(
        channel, THREADS_LISTED + 1, before=before or None, told=told
    )
    pinned = [] if before else await console.history.pinned(channel, told)
    shown = found[:THREADS_LISTED]
    older = shown[-1].place if len(found) > THREADS_LISTED else 0
    return Page(_groups(pinned, shown, texts, clock), older)


async def search_threads(console: Console, request: Request, texts: Texts, text: str) -> Page:
    """Return the visitor's threads with the words in their given name, or in questions or answers
    that the visitor may read now."""
    channel, clock = channel_of(visitor_of(request)), clock_of(request)
    await console.words.index()  # recently ended runs; ``platform`` indexes the rest
    found = await console.words.search(text, channel, FOUND_AT_ONCE)
    seen = seeing(console, request)
    reach = seen.reach
    answers = await console.words.answers([each.run for each in found])
    snippets: dict[str, str] = {}
    keys = dict.fromkeys(await console.history.called(text.lower().split(), channel, FOUND_AT_ONCE))
    for each in found:
        asked, answer = answers.get(each.run, (Wording(""), None))
        question = asked.text if reach.covers(asked.made_from) else ""
        may = answer is not None and reach.covers(answer.rests_on)
        if (each.in_question and question) or may:
            keys[each.thread_key] = None
            said = answer.text if may and answer is not None else ""
            snippets.setdefault(each.thread_key, _snippet(text, question, said))
    kept = await console.history.of(keys, seen.told)
    return Page(_groups([], kept, texts, clock, snippets))


def _snippet(text: str, question: str, said: str) -> str:
    """Return the sentence with most of the words, preferably from the answer, without Markdown and
    marks."""
    wanted = {*terms(text)}
    best, most = "", 0
    for line in (*plain_lines(without_marks(said)), *plain_lines(question)):
        for place in sentences(line):
            sentence = line[place.start : place.end]
            held = len(wanted.intersection(terms(sentence)))
            if held > most:
                best, most = sentence, held
    return shortened(one_line(best), SNIPPET)


def _groups(
    pinned: Sequence[ListedConversation],
    kept: Iterable[ListedConversation],
    texts: Texts,
    clock: tzinfo,
    snippets: dict[str, str] | None = None,
) -> tuple[Group, ...]:
    kept = [*kept]
    names = Counter(one.name for one in (*pinned, *kept))
    today = datetime.now(clock).date()
    days: dict[date, list[Link]] = {}

    def link(one: ListedConversation) -> Link:
        return Link(
            name=one.thread.thread,
            title=shortened(one_line(one.name), TITLE),
            questions=one.questions,
            at=one.last_at.astimezone(clock),
            pinned=one.pinned,
            alike=names[one.name] > 1,
            given=one.title,
            snippet=(snippets or {}).get(one.thread.key, ""),
        )

    for one in kept:
        made = link(one)
        days.setdefault(made.at.date(), []).append(made)
    named = {
        today: texts("web-history-today"),
        today - timedelta(days=1): texts("web-history-yesterday"),
    }
    groups = [Group(named.get(day, ""), day, tuple(links)) for day, links in days.items()]
    if pinned:
        first = Group(texts("web-history-pinned"), None, tuple(map(link, pinned)))
        groups.insert(0, first)
    return tuple(groups)
