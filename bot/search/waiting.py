"""Reads from a response when the server may be asked again."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header, delay or HTTP date (RFC 9110 section 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
