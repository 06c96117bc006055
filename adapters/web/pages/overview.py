"""The overview of a period, as pages and as files, and the metrics for Prometheus."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import Page, operator_only, seeing, with_audit
from adapters.web.console import Console, download
from adapters.web.display import clock_of, texts_of
from adapters.web.html.svg import scale
from adapters.web.turns import collection_of
from bot.core.errors import InvalidSetting
from bot.core.lines import one_line, shortened
from bot.core.messages import Telling
from bot.core.texts import Texts
from bot.operation.metrics import Metrics
from bot.research.outcomes import ProviderHealth, health
from bot.storage.audit_log import Deed
from bot.storage.overview import (
    ANSWERED,
    AskedQuestions,
    Day,
    Overview,
    Overviews,
    Place,
    QuestionRow,
    Scope,
    Unanswered,
    of_days,
)

T = TypeVar("T")


def seconds(value: float) -> str:
    """Format a duration."""
    if value == 0:
        return "0 s"
    if value >= 3_600:
        hours, minutes = divmod(round(value / 60), 60)
        return f"{hours} h {minutes:02d} min"
    if value >= 120:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest:02d} s"
    if value >= 10:
        return f"{value:.0f} s"
    return f"{value:.1f} s" if value >= 0.95 else f"{value * 1_000:.0f} ms"


def usd(value: float) -> str:
    """Format US dollars, with more digits for amounts below a cent."""
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    return f"${value:.4f}" if value >= 0.0001 else "< $0.0001"


STATES = ("answered", "partial", "not_found", "failed", "stopped")
WITHOUT_ANSWER = ("not_found", "failed", "stopped")
SHOWN = 5  # unanswered questions, and opinions of readers, on the overview itself
PERIODS = (1, 7, 30, 90)  # days
PERIOD = 30
QUESTION = 120  # characters
# A day's label (MM-DD), and the class, value and description of each part from the bottom up.
Column = tuple[str, Sequence[tuple[str, float, str]]]
CSV = "text/csv; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection in a URL. An unknown period is replaced by the default."""

    days: int
    platform: str = ""
    workspace: str = ""
    channel: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Selection:
        given = query.get("days", "")
        days = int(given) if given.isdecimal() and len(given) < 4 else PERIOD
        named = {name: query.get(name, "")[:200] for name in ("platform", "workspace", "channel")}
        return cls(days if days in PERIODS else PERIOD, **named)

    def scope(self, request: Request) -> Scope:
        """Return the period until now, in days of the reader's time zone."""
        clock = clock_of(request)
        named = {name: value for name, value in asdict(self).items() if name != "days"}
        return of_days(datetime.now(clock).date(), self.days, clock, **named)


class Filters:
    """The form above a page of the overview; templates read its attributes and call its methods."""

    def __init__(self, places: Sequence[Place], looked: Selection, texts: Texts) -> None:
        self._places = places
        self._looked = looked
        self._texts = texts

    @property
    def filters(self) -> Iterator[tuple[str, list[tuple[str, str, bool]]]]:
        """Yield each field of the form with its options: value, name, and whether it is chosen."""
        looked, texts, places = self._looked, self._texts, self._places
        yield (
            "days",
            [
                (str(days), texts("web-overview-days", count=days), days == looked.days)
                for days in PERIODS
            ],
        )
        for field in ("platform", "workspace", "channel"):
            chosen = getattr(looked, field)
            # The chosen option stays available even if it belongs to another platform.
            offered = sorted({getattr(place, field) for place in places} | {chosen} - {""})
            named = [(name, name, name == chosen) for name in offered]
            yield field, [("", texts("web-overview-all"), not chosen), *named]
            places = [place for place in places if chosen in ("", getattr(place, field))]

    @property
    def query(self) -> str:
        """Return the query string of this selection."""
        given = asdict(self._looked)
        return urlencode({name: value for name, value in given.items() if value})

    def state(self, state: str) -> str:
        return self._texts(f"web-run-state-{state.replace('_', '-')}")

    def line(self, text: str) -> str:
        """Shorten a question to one line."""
        return shortened(one_line(text), QUESTION)


class OverviewView(Filters):
    """The overview with its sums and plots."""

    def __init__(
        self, overview: Overview, places: Sequence[Place], looked: Selection, texts: Texts
    ) -> None:
        super().__init__(places, looked, texts)
        self.overview = overview
        self.providers = health(overview.searches)

    @property
    def is_new(self) -> bool:
        """Return True if no question has been asked yet."""
        return not self._places

    @property
    def sums(self) -> Iterator[str]:
        """Yield the sentences at the top of the page."""
        texts, overview, queue = self._texts, self.overview, self.overview.queue
        asked = sum(overview.states.values())
        if asked:
            yield texts(
                "web-overview-sum",
                days=self._looked.days,
                questions=asked,
                people=overview.people,
                unanswered=sum(map(self.unanswered, overview.days)),
                cost=_cents(overview.spent.usd),
            )
        # The cost of an answer includes the cost of questions without one.
        answered = sum(overview.states.get(state, 0) for state in ANSWERED)
        if answered and overview.median is not None:
            each = _cents(overview.spent.usd / answered)
            yield texts("web-overview-pace", median=seconds(overview.median), cost=each)
        if overview.verdicts:
            good, bad = (overview.verdicts.get(verdict, 0) for verdict in ("good", "bad"))
            yield texts("web-overview-judged", good=good, bad=bad)
        if queue.waiting or queue.running:
            yield texts("web-overview-now", running=queue.running, waiting=queue.waiting)

    @property
    def questions(self) -> Sequence[Column]:
        """The questions of each day."""

        def part(name: str, count: int) -> tuple[str, int, str]:
            return name, count, f"{self._texts(f'web-overview-{name}')} {count:,}"

        return [
            (
                f"{day.day:%m-%d}",
                [
                    part("answered", counted(day, ANSWERED)),
                    part("unanswered", counted(day, WITHOUT_ANSWER)),
                ],
            )
            for day in self.overview.days
        ]

    @property
    def money(self) -> Sequence[Column]:
        """The cost of each day; empty if there was none."""
        days = self.overview.days if any(day.usd for day in self.overview.days) else ()
        return [(f"{day.day:%m-%d}", [("cost", day.usd, usd(day.usd))]) for day in days]

    def scale(self, columns: Sequence[Column], whole: bool = True) -> list[float]:
        """Return the values of the lines behind a plot."""
        return scale(max(sum(value for _, value, _ in parts) for _, parts in columns), whole)

    def unanswered(self, day: Day) -> int:
        return counted(day, WITHOUT_ANSWER)

    def question(self, asked: QuestionRow) -> str:
        return self.line(asked.text) or self.state("removed")

    def seconds(self, value: float | None) -> str:
        return "" if value is None else seconds(value)

    def usd(self, value: float | None) -> str:
        return usd(value) if value else ""


def counted(day: Day, states: Sequence[str]) -> int:
    """Return how many questions of a day ended in one of the states."""
    return sum(day.states.get(state, 0) for state in states)


def _cents(value: float) -> float:
    """Round US dollars to cents, and less than a cent to hundredths of it."""
    return round(value, 2 if value >= 0.01 else 4)


def days_as_csv(days: Sequence[Day]) -> str:
    """Return one line per day after a line of names (RFC 4180). Questions are counted by days of
    the scope's time zone; ``usd`` (US dollars), calls and tokens by days of UTC."""
    out, rows = io.StringIO(), [_day(day) for day in days]
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def unanswered_as_csv(found: Sequence[Unanswered]) -> str:
    """Return one line per question. Text that a spreadsheet would read as a formula is escaped
    (https://owasp.org/www-community/attacks/CSV_Injection)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("question", "times", "outcome", "last_asked", "platform", "channel", "run"))
    for one in found:
        text = f"'{one.text}" if one.text.lstrip()[:1] in ("=", "+", "-", "@") else one.text
        place = (one.place.platform, one.place.channel)
        writer.writerow((text, one.times, one.state, one.at.isoformat(), *place, one.run))
    return out.getvalue()


def document(overview: Overview, providers: Sequence[ProviderHealth]) -> dict[str, Any]:
    """Return all figures, without the texts of questions; times are in seconds."""
    return {
        "days": [_day(day) for day in overview.days],
        "people": overview.people,
        "median_seconds": overview.median,
        "feedback": dict(overview.verdicts),
        "queue": {
            "waiting": overview.queue.waiting,
            "running": overview.queue.running,
            "oldest": overview.queue.oldest.isoformat() if overview.queue.oldest else None,
        },
        "providers": [
            {
                "name": one.name,
                "searches_with_hits": one.found,
                "hits": one.hits,
                "failures": one.failed,
                "last_failure": one.last_failure,
            }
            for one in providers
        ],
    }


def _day(day: Day) -> dict[str, Any]:
    spent = day.spent
    return {
        "day": day.day.isoformat(),
        "questions": sum(day.states.values()),
        **{state: day.states.get(state, 0) for state in STATES},
        "usd": spent.usd,
        "model_calls": spent.model_calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cached_tokens": spent.cached_tokens,
    }


def overview_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of these pages, and of the metrics for Prometheus, which sends the
    console's token, if any."""
    pages = _OverviewPages(console)
    routes: dict[str, tuple[Deed, Page]] = {
        "/overview": ("read", pages.page),
        "/overview/unanswered": ("read", pages.unanswered),
        "/overview/unanswered.csv": ("exported", pages.unanswered_csv),
        "/overview/feedback": ("read", pages.feedback),
        "/overview.csv": ("exported", pages.csv),
        "/overview.json": ("exported", pages.json),
    }
    metrics = Metrics(console.database, console.observed, console.settings)
    return [
        *(
            Route(path, with_audit(console, deed, path[1:], operator_only(page)))
            for path, (deed, page) in routes.items()
        ),
        Route("/metrics", operator_only(metrics.answer)),
    ]


class _OverviewPages:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._overviews = Overviews(console.database)
        self._asked = AskedQuestions(console.database)

    async def page(self, request: Request) -> Response:
        looked, texts = Selection.of(request.query_params), texts_of(request)
        found, places = (
            await self._found(request, self._overviews.look),
            await self._overviews.places(),
        )
        opinions = await self._found(request, self._asked.feedback)
        scope = looked.scope(request)
        return self._console.page(
            request,
            "overview.html",
            unanswered=await self._found(request, self._asked.unanswered),
            complaints=[one for one in opinions if one.verdict == "bad"][:SHOWN],
            shown=SHOWN,
            # In a thread, because it goes through a thousand searches.
            view=await asyncio.to_thread(OverviewView, found, places, looked, texts),
            of_places=await self._asked.by_place(scope),
            of_collections=self._of_collections(request, await self._asked.quoted(scope)),
        )

    def _of_collections(
        self, request: Request, quoted: Sequence[tuple[str, str]]
    ) -> list[tuple[str, int, int]]:
        """Return for each collection ("": documents in none) how many answers quote it, and how
        many of its documents, without collections that the visitor may not read."""
        rights = self._console.rights
        reach = rights.reach(visitor_of(request).reader)
        try:
            roots = rights.roots
        except InvalidSetting:
            return []
        answers, documents = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for run, url in quoted:
            if reach.allows(url):
                bare = url.partition("#")[0]
                name = collection_of(bare, roots)
                answers[name].add(run)
                documents[name].add(bare)
        found = [(name, len(answers[name]), len(documents[name])) for name in answers]
        return sorted(found, key=lambda one: -one[1])

    async def unanswered(self, request: Request) -> Response:
        """Show questions that the documents do not answer."""
        found = await self._found(request, self._asked.unanswered)
        return await self._filtered(request, "overview_unanswered.html", found)

    async def unanswered_csv(self, request: Request) -> Response:
        found = await self._found(request, self._asked.unanswered)
        return download(unanswered_as_csv(found), "footnote-unanswered.csv", CSV)

    async def feedback(self, request: Request) -> Response:
        """Show readers' feedback on answers."""
        found = await self._found(request, self._asked.feedback)
        return await self._filtered(request, "overview_feedback.html", found)

    async def _filtered(self, request: Request, template: str, found: object) -> Response:
        looked, places = Selection.of(request.query_params), await self._overviews.places()
        view = Filters(places, looked, texts_of(request))
        return self._console.page(request, template, view=view, found=found)

    async def csv(self, request: Request) -> Response:
        found = await self._found(request, self._overviews.look)
        return download(days_as_csv(found.days), "footnote-overview.csv", CSV)

    async def json(self, request: Request) -> Response:
        found = await self._found(request, self._overviews.look)
        providers = await asyncio.to_thread(health, found.searches)
        return JSONResponse(document(found, providers), headers={"Cache-Control": "no-store"})

    async def _found(self, request: Request, find: Callable[[Scope, Telling], Awaitable[T]]) -> T:
        """Find something in the selection, in the words that the visitor may read."""
        scope = Selection.of(request.query_params).scope(request)
        return await find(scope, seeing(self._console, request).told)
