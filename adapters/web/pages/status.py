"""The page with the state of all parts: what `footnote doctor` checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.visibility import operator_only
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import form_of
from adapters.web.pages.connect import connectables
from bot.core.texts import Texts
from bot.operation.diagnosis import Finding, in_order, of_kept
from bot.operation.kept_settings import KeptSettings

OLD_SECONDS = 60.0  # after which opening the page checks again
# What is not set up comes before what works if it can be connected here.
_ORDER = ("problem", "note", "checking", "connect", "works", "off")


def status_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of this page."""
    checks = console.checks

    async def page(request: Request) -> Response:
        if checks.began is None or (datetime.now(UTC) - checks.began).total_seconds() > OLD_SECONDS:
            await checks.begin()
        found = in_order([*await _of_kept(console), *_of_parts(console, texts_of(request))])
        given = console.reception.given if console.reception else console.settings
        here = {name: each for name, each in connectables().items() if not each.is_on(given)}
        titles = {name: each.setup.title for name, each in here.items()}  # to be connected here
        found.sort(
            key=lambda one: _ORDER.index(
                "connect" if one.state == "off" and one.part.connects in titles else one.state
            )
        )
        return console.page(
            request,
            "status.html",
            found=found,
            titles=titles,
            checked_at=checks.began,
            is_checking=any(one.state == "checking" for one in checks.found),
        )

    async def again(request: Request) -> Response:
        await form_of(request)
        await checks.begin()
        return RedirectResponse(f"{console.settings.root}/status", status_code=303)

    return [
        Route("/status", operator_only(page)),
        Route("/status", operator_only(again), methods=["POST"]),
    ]


async def _of_kept(console: Console) -> list[Finding]:
    """Return what is to be said about settings kept in the console."""
    if console.reception is None:
        return []
    found = [*of_kept(await KeptSettings(console.reception.given, console.database).read())]
    if console.observed.unusable:
        return [Finding(one.part, "problem", console.observed.unusable) for one in found[:1]]
    return found


def _of_parts(console: Console, texts: Texts) -> Iterator[Finding]:
    """Yield what the check of each part found or, where that is worse, how its connection is."""
    for one in console.checks.found:
        connection = console.observed.connections.get(one.part.connects)
        state = connection.state if connection else ""
        if connection and state in ("failed", "lost"):
            yield Finding(one.part, "problem", connection.why)
        elif one.state == "checking":
            said = "status-connected" if state == "connected" else "connect-checking"
            yield Finding(one.part, "checking", texts(said))
        else:
            yield one
