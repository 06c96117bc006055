"""The reader's clock: the time zone chosen in the console, else that of the browser."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from starlette.requests import Request

ZONE = "footnote_zone"  # the cookie with the zone that was chosen
# The cookie with the browser's: its minutes behind UTC now, as browsers count, and its name.
BROWSER = "footnote_offset"
LARGEST_OFFSET = 18 * 60  # minutes
_BROWSER = re.compile(r"(-?[0-9]{1,4})(?:\.([A-Za-z0-9_+/-]{1,64}))?")
# Names of the database that are no places: copies, and zones under other names.
_NO_PLACES = ("Etc/", "SystemV/", "posix/", "right/", "US/")


@cache
def zones() -> tuple[str, ...]:
    """The names of the IANA database that can be chosen, sorted; none where the system lacks it."""
    places = (name for name in available_timezones() if "/" in name)
    found = sorted(name for name in places if not name.startswith(_NO_PLACES))
    return ("UTC", *found) if found else ()


def zone_of(request: Request) -> str:
    """The zone that the reader has chosen; "" for the browser's."""
    name = request.cookies.get(ZONE, "")
    return name if name in zones() else ""


def clock_of(request: Request) -> tzinfo:
    """The reader's time zone; UTC for a browser that did not tell its own."""
    if chosen := zone_of(request):
        return ZoneInfo(chosen)
    told = _BROWSER.fullmatch(request.cookies.get(BROWSER, ""))
    if told is None or abs(int(told[1])) > LARGEST_OFFSET:
        return UTC
    if told[2] in zones():
        return ZoneInfo(told[2])  # knows about summer, which a number of minutes does not
    return timezone(-timedelta(minutes=int(told[1])))
