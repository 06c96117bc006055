"""The page with the state of all parts: what `footnote doctor` checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.visibility import operator_only
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import form_of
from adapters.web.pages.connect import connectables
from bot.core.texts import Texts
from bot.operation.diagnosis import in_order, of_kept
from bot.operation.kept_settings import KeptSettings

OLD_SECONDS = 60.0  # after which opening the page checks anew
# What is not set up comes before what works if it can be connected here.
_ORDER = ("problem", "note", "checking", "connect", "works", "off")


class Line(NamedTuple):
    """A line of the page; ``connects`` names what connects the part, if anything does."""

    name: str
    state: str
    sentence: str
    connects: str = ""


def status_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of this page."""
    checks = console.checks

    async def page(request: Request) -> Response:
        if checks.began is None or (datetime.now(UTC) - checks.began).total_seconds() > OLD_SECONDS:
            await checks.begin()
        found = list(checks.found.values())
        lines = [*await _of_kept(console), *_lines(console, texts_of(request))]
        titles = {name: each.setup.title for name, each in connectables().items()}
        lines.sort(
            key=lambda line: _ORDER.index(
                "connect" if line.state == "off" and line.connects in titles else line.state
            )
        )
        return console.page(
            request,
            "status.html",
            lines=lines,
            titles=titles,
            checked_at=checks.began,
            is_checking=None in found,
        )

    async def again(request: Request) -> Response:
        await form_of(request)
        await checks.begin()
        return RedirectResponse(f"{console.settings.root}/status", status_code=303)

    return [
        Route("/status", operator_only(page)),
        Route("/status", operator_only(again), methods=["POST"]),
    ]


async def _of_kept(console: Console) -> list[Line]:
    """Return the lines on settings kept in the console."""
    if console.reception is None:
        return []
    kept = await KeptSettings(console.reception.given, console.database).read()
    found = [Line(one.part.name, one.state, one.sentence) for one in of_kept(kept)]
    if console.observed.unusable:
        found = [Line(one.name, "problem", console.observed.unusable) for one in found[:1]]
    return found


def _lines(console: Console, texts: Texts) -> Iterator[Line]:
    """Yield a line for each part: what its check found or, until then and where it is worse, how
    its connection is."""
    found = console.checks.found
    for part, finding in found.items():
        connection = console.observed.connections.get(part.connects)
        if connection is not None and connection.state in ("failed", "lost"):
            yield Line(part.name, "problem", connection.why, part.connects)
        elif finding is None:
            is_up = connection is not None and connection.state == "connected"
            sentence = texts("status-connected") if is_up else texts("connect-checking")
            yield Line(part.name, "checking", sentence)
        elif finding in in_order(one for one in found.values() if one):
            yield Line(part.name, finding.state, finding.sentence, part.connects)
