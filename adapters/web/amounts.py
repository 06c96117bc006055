"""Formats durations and amounts of money."""

from __future__ import annotations


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
