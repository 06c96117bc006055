"""The command ``footnote usage``: the spending of today and this month."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from bot.cli.command import AsJson, command_app, settings_for
from bot.cli.output import print_all, print_json, table
from bot.cli.records import open_records
from bot.core.lines import one_line
from bot.core.settings import Settings
from bot.storage.spending import NOTHING, SCOPES, Amount, Line, Spending

COLUMNS = (
    "asked\ntoday",
    "USD\ntoday",
    "asked\nmonth",
    "calls\nmonth",
    "tokens\nmonth",
    "USD\nmonth",
)
SHOWN = 100  # accounts in a table: more would take a second and scroll away
TITLES = {"workspace": "Workspaces", "channel": "Channels", "user": "People"}


app = command_app()


@app.command()
def usage(as_json: AsJson = False) -> None:
    """Show spending today and this month, by workspace, channel and person.

    The cost of questions that failed or were stopped, edited or deleted is included.
    """
    today = datetime.now(UTC).date()
    lines = asyncio.run(spent_this_month(settings_for(), today))
    if as_json:
        print_json(document(lines, today))
    else:
        print_all(tables(lines, today))


async def spent_this_month(settings: Settings, today: date) -> list[Line]:
    """Return all accounts with spending or questions this month. Raises ``StorageUnavailable``."""
    async with open_records(settings) as store:
        return await Spending(store.database).lines(today.replace(day=1), today)


def document(lines: Sequence[Line], today: date) -> dict[str, object]:
    """Return the documented output of ``footnote usage --json``."""
    accounts = [
        {
            "scope": line.scope,
            "platform": line.platform,
            "workspace": line.workspace,
            "id": line.name,
            "name": line.known_as,
            "today": _fields(line.today),
            "month": _fields(line.month),
        }
        for line in lines
    ]
    return {
        "day": today.isoformat(),
        "today": _fields(_total(lines, "today")),
        "month": _fields(_total(lines, "month")),
        "accounts": accounts,
    }


def tables(lines: Sequence[Line], today: date) -> list[RenderableType]:
    """Return tables of workspaces, channels and people, those that spent most first."""
    if not lines:
        return [Text(f"Nothing was asked in {today:%Y-%m}.")]
    several = len({(line.platform, line.workspace) for line in lines}) > 1
    named = _named_with_workspace if several else _named
    parts: list[RenderableType] = [
        Text(f"Days and months are those of UTC; today is {today.isoformat()}.", style="dim")
    ]
    for scope in SCOPES:
        of_scope = [line for line in lines if line.scope == scope]
        rows: list[tuple[str | Text, ...]] = [
            (Text(named(line)), *_numbers(line.today, line.month)) for line in of_scope[:SHOWN]
        ]
        if len(of_scope) > SHOWN:
            rows.append((Text(f"{len(of_scope) - SHOWN:,} more, see --json", style="dim"),))
        if scope == "workspace" and len(of_scope) > 1:
            sums = (_total(lines, "today"), _total(lines, "month"))
            rows.append((Text("all", style="bold"), *_numbers(*sums)))
        parts += [Text(), table((TITLES[scope], *COLUMNS), rows, numbers=len(COLUMNS))]
    unpriced = _total(lines, "month").unpriced_calls
    if unpriced:
        calls = "1 model call" if unpriced == 1 else f"{unpriced:,} model calls"
        said = f"The price of {calls} is not known: their cost is not in the sums. Set it with "
        parts += [Text(), Text(f"{said}FOOTNOTE_PRICES.", style="yellow")]
    return parts


def _total(lines: Sequence[Line], when: str) -> Amount:
    """Sum the accounts of all workspaces, since each call is in exactly one of them."""
    amounts = [getattr(line, when) for line in lines if line.scope == "workspace"]
    return sum(amounts, start=NOTHING)


def _fields(amount: Amount) -> dict[str, Any]:
    fields = asdict(amount)
    del fields["micro_usd"]
    return {**fields, "usd": amount.usd}


def _numbers(today: Amount, month: Amount) -> tuple[str, ...]:
    return (
        f"{today.questions:,}",
        f"{today.usd:,.4f}",
        f"{month.questions:,}",
        f"{month.model_calls:,}",
        f"{month.tokens:,}",
        f"{month.usd:,.4f}",
    )


def _named(line: Line) -> str:
    name = f"{line.known_as} ({line.name})" if line.known_as not in ("", line.name) else line.name
    return one_line(f"{line.platform}: {name}")


def _named_with_workspace(line: Line) -> str:
    return _named(line) + ("" if line.scope == "workspace" else f" in {one_line(line.workspace)}")
