"""What a run may spend. Checked before each call; what was spent is never more than one call over.

The limits are a value; what is spent is an ``answers.Usage`` that only grows.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.answers import Usage
from bot.errors import BudgetSpent
from bot.rendering.texts import texts_for
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; ``seconds`` counts from the start of the current attempt."""

    model_calls: int
    pages: int
    input_tokens: int
    seconds: float
    usd: float

    @classmethod
    def of(cls, settings: Settings, times: int = 1) -> Budget:
        """The budget in the settings; ``times`` of it for deep research (time stays)."""
        return cls(
            model_calls=settings.max_model_calls * times,
            pages=settings.max_pages * times,
            input_tokens=settings.max_input_tokens * times,
            seconds=settings.max_seconds,
            usd=settings.max_usd * times,
        )

    def check_model_call(self, spent: Usage) -> None:
        """Raises ``BudgetSpent`` when another model call is not covered."""
        if spent.model_calls >= self.model_calls:
            raise _spent("budget-model-calls", self.model_calls)
        if spent.input_tokens + spent.cached_tokens >= self.input_tokens:
            raise _spent("budget-input-tokens", self.input_tokens)
        if spent.usd >= self.usd:
            raise _spent("budget-usd", self.usd)
        self.check_time(spent)

    def check_time(self, spent: Usage) -> None:
        """Raises ``BudgetSpent`` when the time is over; before any search, read or model call."""
        if spent.seconds >= self.seconds:
            raise _spent("budget-seconds", self.seconds)


def _spent(text_id: str, limit: float) -> BudgetSpent:
    return BudgetSpent(texts_for("en")(text_id, limit=limit), text_id=text_id, limit=limit)
