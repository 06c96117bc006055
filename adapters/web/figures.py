"""Exports the figures of the overview: the days as CSV, and everything as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from adapters.web.overview import STATES
from bot.research.outcomes import ProviderHealth
from bot.storage.asked import Unanswered
from bot.storage.overview import Day, Overview

COLUMNS = (
    "day",
    "questions",
    *STATES,
    "usd",
    "model_calls",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
)


def days_as_csv(days: Sequence[Day]) -> str:
    """Return one line per day after a line of names (RFC 4180). Questions are counted by days of
    the scope's time zone; ``usd`` (US dollars), calls and tokens by days of UTC."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(map(_day, days))
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
    """Return all figures, without the texts of questions and steps; times are in seconds."""
    return {
        "days": [_day(day) for day in overview.days],
        "median_seconds": overview.median,
        "feedback": dict(overview.verdicts),
        "queue": {
            "waiting": overview.queue.waiting,
            "running": overview.queue.running,
            "oldest": overview.queue.oldest.isoformat() if overview.queue.oldest else None,
        },
        "steps": [
            {
                "kind": kind.kind,
                "count": kind.count,
                "mean_seconds": round(kind.mean, 3),
                "longest_seconds": round(kind.longest, 3),
            }
            for kind in overview.kinds
        ],
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
