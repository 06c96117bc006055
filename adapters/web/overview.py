"""The view of the overview for its page: filters, sums, plots and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, tzinfo
from urllib.parse import urlencode

from markupsafe import Markup

from adapters.web.amounts import seconds, usd
from adapters.web.svg.plot import Column, Part, draw
from bot.core.lines import one_line, shortened
from bot.core.texts import Texts
from bot.research.outcomes import ProviderHealth, health
from bot.storage.overview import RECENT, Overview, Place, QuestionRow, Scope, of_days

STATES = ("answered", "partial", "not_found", "failed", "stopped")
PERIODS = (1, 7, 30, 90)  # days
PERIOD = 30
QUESTION = 120  # characters


@dataclass(frozen=True, slots=True)
class Tile:
    """A number at the top of the page, and its meaning."""

    name: str
    value: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a filter."""

    value: str
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """A field of the form above the page."""

    field: str
    name: str
    choices: tuple[Choice, ...]


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

    def scope(self, now: datetime, clock: tzinfo) -> Scope:
        """Return the period until now, in days of the reader's time zone."""
        return of_days(
            now.astimezone(clock).date(),
            self.days,
            clock,
            platform=self.platform,
            workspace=self.workspace,
            channel=self.channel,
        )


class Filters:
    """The form above a page of the overview, and the texts for its options."""

    def __init__(self, places: Sequence[Place], looked: Selection, texts: Texts) -> None:
        self._places = places
        self._looked = looked
        self._texts = texts

    @property
    def filters(self) -> tuple[Filter, ...]:
        looked, texts, places = self._looked, self._texts, self._places
        within = [p for p in places if looked.platform in ("", p.platform)]
        inside = [p for p in within if looked.workspace in ("", p.workspace)]
        periods = tuple(
            Choice(str(days), texts("web-overview-days", count=days), days == looked.days)
            for days in PERIODS
        )
        return (
            Filter("days", texts("web-overview-period"), periods),
            self._filter("platform", {p.platform for p in places}, looked.platform),
            self._filter("workspace", {p.workspace for p in within}, looked.workspace),
            self._filter("channel", {p.channel for p in inside}, looked.channel),
        )

    def _filter(self, field: str, names: set[str], chosen: str) -> Filter:
        every = Choice("", self._texts("web-overview-all"), not chosen)
        # The chosen option stays available even if it belongs to another platform.
        offered = sorted(names | ({chosen} if chosen else set()))
        choices = (Choice(name, name, name == chosen) for name in offered)
        return Filter(field, self._texts(f"web-overview-{field}"), (every, *choices))

    @property
    def query(self) -> str:
        """Return the query string of this selection."""
        given = asdict(self._looked)
        return urlencode({name: value for name, value in given.items() if value})

    def state(self, state: str) -> str:
        return self._texts(f"web-run-state-{name(state)}")

    def line(self, text: str) -> str:
        """Shorten a question to one line."""
        return shortened(one_line(text), QUESTION)


class OverviewView(Filters):
    """See the module docstring. Templates read its attributes and call its methods."""

    states = STATES
    recent = RECENT

    def __init__(
        self,
        overview: Overview,
        places: Sequence[Place],
        looked: Selection,
        texts: Texts,
        now: datetime,
    ) -> None:
        super().__init__(places, looked, texts)
        self.overview = overview
        self._now = now.astimezone(UTC)
        self.providers: tuple[ProviderHealth, ...] = health(overview.searches)

    @property
    def is_new(self) -> bool:
        """Return True if no question has been asked yet."""
        return not self._places

    @property
    def looks_at_some(self) -> bool:
        """Return True if the steps are only those of the latest questions."""
        return sum(self.overview.states.values()) > RECENT

    # ------------------------------------------------------------ sums

    @property
    def tiles(self) -> tuple[Tile, ...]:
        texts, overview = self._texts, self.overview
        states, spent, queue = overview.states, overview.spent, overview.queue
        asked = sum(states.values())
        counted = [
            Tile(texts(f"web-run-state-{name(state)}"), self._share(states.get(state, 0)), state)
            for state in STATES
        ]
        verdicts = overview.verdicts
        median = seconds(overview.median) if overview.median is not None else "–"
        waits = (self._now - queue.oldest).total_seconds() if queue.oldest else 0.0
        waiting = f"{queue.waiting:,}" + (f" ({seconds(waits)})" if queue.waiting else "")
        return (
            Tile(texts("web-overview-questions"), f"{asked:,}"),
            *counted,
            Tile(texts("web-overview-median"), median),
            Tile(texts("web-overview-cost"), usd(spent.usd)),
            Tile(texts("web-overview-cost-each"), self._cost_each(states)),
            Tile(texts("web-overview-tokens"), f"{spent.tokens:,}"),
            Tile(texts("web-run-feedback"), feedback_counts(verdicts) or "–"),
            Tile(texts("web-overview-waiting"), waiting),
            Tile(texts("web-overview-running"), f"{queue.running:,}"),
        )

    def _cost_each(self, states: Mapping[str, int]) -> str:
        """Return the cost per answered question, including the cost of those not answered."""
        answered = states.get("answered", 0) + states.get("partial", 0)
        return usd(self.overview.spent.usd / answered) if answered else "–"

    def _share(self, count: int) -> str:
        ended = sum(self.overview.states.get(state, 0) for state in STATES)
        return f"{count:,} ({count / ended:.0%})" if ended else "0"

    # ------------------------------------------------------------ plots

    @property
    def questions(self) -> Markup:
        columns = [
            Column(
                self._label(day.day),
                tuple(self._part(state, day.states.get(state, 0)) for state in STATES),
            )
            for day in self.overview.days
        ]
        return draw(columns, self._texts("web-overview-per-day"))

    @property
    def money(self) -> Markup | str:
        if not self.overview.spent.micro_usd:
            return ""
        columns = [
            Column(self._label(day.day), (Part("cost", day.spent.usd, usd(day.spent.usd)),))
            for day in self.overview.days
        ]
        return draw(columns, self._texts("web-overview-cost-per-day"), unit="$", whole=False)

    def _part(self, state: str, count: int) -> Part:
        return Part(state, count, f"{self.state(state)} {count:,}")

    def _label(self, day: date) -> str:
        return f"{day.month:02d}-{day.day:02d}"

    # ------------------------------------------------------------ words for tables

    def question(self, asked: QuestionRow) -> str:
        return shortened(asked.text, QUESTION) or asked.run

    def seconds(self, value: float | None) -> str:
        return "" if value is None else seconds(value)

    def usd(self, value: float | None) -> str:
        return usd(value) if value else ""


def feedback_counts(verdicts: Mapping[str, int]) -> str:
    """Format the readers' feedback: +12 −3."""
    counted = (("+", verdicts.get("good", 0)), ("−", verdicts.get("bad", 0)))
    return " ".join(f"{sign}{count:,}" for sign, count in counted if count)


def name(state: str) -> str:
    """Return a state's name as used in the ids of texts."""
    return state.replace("_", "-")
