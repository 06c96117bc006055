"""Limits on spending: of one run, and per day for a person, a channel and a workspace.

Limits are values. A run's spending is an ``answers.Usage`` that only grows; ``storage.spending``
stores daily spending. ``research.budget.account`` compares them before each call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from bot.core.errors import BudgetSpent, DaySpentUp
from bot.core.messages import RunOptions, Usage
from bot.core.settings import Settings
from bot.core.texts import texts_for
from bot.storage.spending import SCOPES, DaySpent, Scope

# Of one run. They bound what money does not: models without a price, search engines, sites.
MODEL_CALLS = 24
PAGES = 20
SEARCHES = 40
INPUT_TOKENS = 400_000
OUTPUT_TOKENS = 100_000
UPLOADS = 40  # MB of files that one person may send in the console in a day


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run. ``seconds`` is the working time of all attempts together, without waiting
    in a queue or for a restart. ``searches`` are queries."""

    seconds: float
    usd: float
    model_calls: int = MODEL_CALLS
    pages: int = PAGES
    input_tokens: int = INPUT_TOKENS
    searches: int = SEARCHES
    output_tokens: int = OUTPUT_TOKENS

    @classmethod
    def of(cls, settings: Settings, times: int = 1) -> Budget:
        """The budget from the settings, multiplied by ``times`` for deep research (except time)."""
        return cls(
            seconds=settings.max_seconds,
            usd=settings.max_usd * times,
            model_calls=MODEL_CALLS * times,
            pages=PAGES * times,
            input_tokens=INPUT_TOKENS * times,
            searches=SEARCHES * times,
            output_tokens=OUTPUT_TOKENS * times,
        )

    def check_model_call(self, spent: Usage) -> None:
        """Raise ``BudgetSpent`` if another model call is not covered."""
        if spent.model_calls >= self.model_calls:
            raise _spent("budget-model-calls", self.model_calls)
        if spent.input_tokens + spent.cached_tokens >= self.input_tokens:
            raise _spent("budget-input-tokens", self.input_tokens)
        if spent.output_tokens >= self.output_tokens:
            raise _spent("budget-output-tokens", self.output_tokens)
        if spent.usd >= self.usd:
            raise _spent("budget-usd", self.usd)
        self.check_time(spent)

    def check_time(self, spent: Usage) -> None:
        """Raise ``BudgetSpent`` if the time is over; called before any search, read or model
        call."""
        if spent.seconds >= self.seconds:
            raise _spent("budget-seconds", self.seconds)

    def check_search(self, searches: int) -> None:
        """Raise ``BudgetSpent`` if another search is not covered."""
        if searches >= self.searches:
            raise _spent("budget-searches", self.searches)

    def check_page(self, pages: int) -> None:
        """Raise ``BudgetSpent`` if another page is not covered."""
        if pages >= self.pages:
            raise _spent("budget-pages", self.pages)

    def covers(self, spent: Usage) -> bool:
        """Return True if another model call is covered after ``spent``."""
        try:
            self.check_model_call(spent)
        except BudgetSpent:
            return False
        return True


@dataclass(frozen=True, slots=True)
class DayLimits:
    """Limits of one day (UTC), money in USD; None means no limit."""

    user_usd: float | None = None
    channel_usd: float | None = None
    workspace_usd: float | None = None
    user_questions: int | None = None
    user_uploads: int | None = None  # MB

    @classmethod
    def of(cls, settings: Settings, options: RunOptions, *, has_files: bool = False) -> DayLimits:
        """Return the limits from the settings; a channel's own rule overrides the general channel
        limit. That on uploads counts only for a question that ``has_files``."""
        return cls(
            user_usd=settings.user_daily_usd,
            channel_usd=options.daily_usd or settings.channel_daily_usd,
            workspace_usd=settings.workspace_daily_usd,
            user_questions=settings.user_daily_questions,
            user_uploads=UPLOADS if has_files else None,
        )

    @classmethod
    def of_uploads(cls) -> DayLimits:
        """Return the limit on uploads alone."""
        return cls(user_uploads=UPLOADS)

    def __bool__(self) -> bool:
        """Return True if there is any limit."""
        counts = (self.user_questions, self.user_uploads)
        return any(each is not None for each in counts) or bool(self.micro_usd)

    @property
    def micro_usd(self) -> dict[Scope, int]:
        """Return the limits on money, in millionths of a USD, of the scopes that have one."""
        usd: dict[Scope, float | None] = {
            "user": self.user_usd,
            "channel": self.channel_usd,
            "workspace": self.workspace_usd,
        }
        return {
            scope: round(1_000_000 * limit)
            for scope in reversed(SCOPES)
            if (limit := usd[scope]) is not None
        }

    def check_call(self, spent: DaySpent) -> None:
        """Raise ``BudgetSpent`` if a daily limit does not cover another model call."""
        for scope, limit in self.micro_usd.items():
            if spent.of(scope).micro_usd >= limit:
                raise _spent(f"budget-day-{scope}", limit / 1_000_000)

    def check_question(self, spent: DaySpent, now: datetime) -> None:
        """Raise ``DaySpentUp``, which says until when, if the daily limits do not cover a question;
        ``spent`` already includes it."""
        asked = spent.user.questions
        if self.user_questions is not None and asked > self.user_questions:
            raise _spent_up("denied-day-questions", now, limit=self.user_questions)
        for scope, limit in self.micro_usd.items():
            if spent.of(scope).micro_usd >= limit:
                raise _spent_up(f"denied-day-{scope}", now)
        self.check_uploads(spent, now)

    def check_uploads(self, spent: DaySpent, now: datetime) -> None:
        """The same for the bytes of files that the person sends."""
        most = self.user_uploads
        if most is not None and spent.user.uploaded_bytes > 1_000_000 * most:
            raise _spent_up("denied-day-uploads", now, limit=most)


def _spent(text_id: str, limit: float) -> BudgetSpent:
    return BudgetSpent(texts_for("en")(text_id, limit=limit), text_id=text_id, limit=limit)


def _spent_up(text_id: str, now: datetime, **values: int) -> DaySpentUp:
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(1), time(), UTC)
    values["hours"] = max(1, math.ceil((tomorrow - now).total_seconds() / 3600))
    return DaySpentUp(text_id, texts_for("en")(text_id, **values), values=values)
