"""A browser's preferences, stored in cookies: theme, language and time zone."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from starlette.requests import Request
from starlette.responses import Response

from adapters.web.clock import ZONE, zones
from bot.core.texts import LOCALES

THEME, LANGUAGE = "footnote_theme", "footnote_language"  # cookies
THEMES = ("light", "dark")
LANGUAGES = (("en", "English"), ("zh-Hans", "简体中文"), ("zh-Hant", "繁體中文"))
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
