"""A reader's language, time zone and theme: those chosen in the console, or else the browser's."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from starlette.requests import Request
from starlette.responses import Response

from bot.core.texts import DEFAULT, LOCALES, Texts, negotiated, texts_for

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


THEME, LANGUAGE = "footnote_theme", "footnote_language"  # cookies
SIDEBAR = "footnote_sidebar"  # the cookie that a script sets to "closed" or "open"
THEMES = ("light", "dark")
KEPT_SECONDS = 365 * 86_400


def theme_of(request: Request) -> str:
    """Return the chosen theme; "" for the system's."""
    theme = request.cookies.get(THEME, "")
    return theme if theme in THEMES else ""


def language_of(request: Request) -> str:
    """Return the chosen language; "" for the browser's."""
    language = request.cookies.get(LANGUAGE, "")
    return language if language in LOCALES else ""


def keep(answer: Response, form: Mapping[str, str], root: str, *, secure: bool) -> None:
    """Set cookies for the choices in a form, for paths below ``root``. An unknown value deletes its
    cookie; preferences that are not in the form are kept."""
    fields: tuple[tuple[str, str, Collection[str]], ...] = (
        ("theme", THEME, THEMES),
        ("language", LANGUAGE, LOCALES),
        ("zone", ZONE, zones()),
    )
    for field, name, known in fields:
        if field not in form:
            continue
        kept = form[field] if form[field] in known else ""
        answer.set_cookie(
            name,
            kept,
            max_age=KEPT_SECONDS if kept else 0,
            path=root or "/",
            secure=secure,
            httponly=True,
            samesite="lax",
        )


def texts_of(request: Request) -> Texts:
    """Return the texts of the reader's language."""
    return texts_for(asked_locale(request))


def asked_locale(request: Request) -> str:
    """Return the language that the reader has chosen, or else the one the browser requests."""
    return language_of(request) or locale_of(request.headers.get("accept-language", ""))


def locale_of(accepted: str) -> str:
    """Return the best language of an ``Accept-Language`` header (RFC 9110 section 12.5.4) for which
    there are texts, or else English."""
    weighed: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:500].split(",")):
        tag, _, parameter = part.partition(";")
        try:
            weight = float(parameter.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        weighed.append((-weight, place, tag.strip()))
    for weight, _, tag in sorted(weighed):
        if weight < 0 and (negotiated(tag) != DEFAULT or tag.lower().split("-")[0] == DEFAULT):
            return tag
    return DEFAULT
