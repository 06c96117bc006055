"""The reader's time zone: the one chosen in the console, or else that of the browser."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from starlette.requests import Request

ZONE = "footnote_zone"  # the cookie with the chosen zone
# The cookie with the browser's zone: minutes behind UTC, as browsers count, and the zone's name.
BROWSER = "footnote_offset"
LARGEST_OFFSET = 18 * 60  # minutes
_BROWSER = re.compile(r"(-?[0-9]{1,4})(?:\.([A-Za-z0-9_+/-]{1,64}))?")
# Prefixes of names that are not places: copies, and zones under other names.
_NO_PLACES = ("Etc/", "SystemV/", "posix/", "right/", "US/")


@cache
def zones() -> tuple[str, ...]:
    """Return the time zones that can be chosen, sorted; none if the system has no IANA database."""
    places = (name for name in available_timezones() if "/" in name)
    found = sorted(name for name in places if not name.startswith(_NO_PLACES))
    return ("UTC", *found) if found else ()


def zone_of(request: Request) -> str:
    """Return the zone that the reader has chosen; "" for the browser's."""
    name = request.cookies.get(ZONE, "")
    return name if name in zones() else ""


def clock_of(request: Request) -> tzinfo:
    """Return the reader's time zone; UTC if the browser did not send its own."""
    if chosen := zone_of(request):
        return ZoneInfo(chosen)
    told = _BROWSER.fullmatch(request.cookies.get(BROWSER, ""))
    if told is None or abs(int(told[1])) > LARGEST_OFFSET:
        return UTC
    if told[2] in zones():
        return ZoneInfo(told[2])  # includes daylight saving time, unlike an offset
    return timezone(-timedelta(minutes=int(told[1])))
