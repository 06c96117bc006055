"""The look of a month's spending in a terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from io import StringIO

import pytest
from rich.console import Console

from bot.cli.usage import tables
from bot.storage.spending import SCOPES, Amount, Line

TODAY = date(2026, 1, 15)
MUCH = Amount(123_456_700, 1_234, 56_789, 0, 12_345_678)
ADA = tuple(
    Line("slack", "T1", scope, name, known_as, MUCH, MUCH)
    for scope, name, known_as in zip(
        SCOPES, ("T1", "C0123456789", "U0123456789"), ("Acme", "general", "Ada"), strict=True
    )
)


def drawn(lines: tuple[Line, ...], width: int) -> str:
    out = StringIO()
    Console(file=out, width=width).print(*tables(lines, TODAY), sep="\n")
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_number_and_no_heading_is_cut_however_narrow_the_terminal(width: int) -> None:
    shown = drawn(ADA, width)
    assert "…" not in shown
    for text in ("asked", "tokens", "1,234", "56,789", "12,345,678", "123.4567", "Channels"):
        assert shown.count(text) >= 1, text
    assert all(len(line) <= width for line in shown.splitlines())


def test_a_workspace_is_said_only_where_there_are_several() -> None:
    assert "slack: Ada (U0123456789)" in drawn(ADA, 120)
    assert " in T1" not in drawn(ADA, 120)
    both = (*ADA, *(replace(line, workspace="T2") for line in ADA))
    shown = drawn(both, 120)
    assert "slack: Ada (U0123456789) in T1" in shown
    assert "slack: Ada (U0123456789) in T2" in shown


def test_a_name_that_is_the_id_is_said_once() -> None:
    root = replace(ADA[2], platform="terminal", name="root", known_as="root")
    assert "terminal: root " in drawn((root,), 80)


def test_of_thousands_of_accounts_the_dearest_are_shown_and_the_others_counted() -> None:
    people = tuple(replace(ADA[2], name=f"U{n}", known_as="") for n in range(7_100))
    shown = drawn((*ADA[:2], *people), 120)
    assert "slack: U99 " in shown
    assert "U100 " not in shown
    assert "7,000 more, see --json" in shown
