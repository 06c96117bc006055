"""Indexing documents with a progress bar."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from bot.errors import Invalid
from bot.search.folders import NOT_READ
from bot.search.indexer import Indexer, IndexReport
from bot.settings import Settings

SHOWN_SKIPS = 10  # skipped files that are named; the rest is counted


def index_documents(settings: Settings, *, always_tell: bool = False) -> IndexReport:
    """Bring the index up to date with ``settings.docs``.

    Says what changed (``always_tell``: also when nothing did). Raises ``Invalid`` for a path that
    does not exist and ``StorageUnavailable``.
    """
    for path in settings.docs:
        if not Path(path).exists():
            raise Invalid(f"There is no file or folder {path}: check the path.")
    err = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("Indexing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        report = Indexer(settings.index_path).index(settings.docs, advance)
    if report.warning:
        err.print(Text(report.warning, style="yellow"), soft_wrap=True)
    if always_tell or report.added or report.changed or report.removed:
        err.print(
            f"Indexed in {report.seconds:.1f} s: {report.added} new, {report.changed} changed, "
            f"{report.removed} removed, {report.unchanged} unchanged files; "
            f"{report.passages:,} passages.",
            style="dim",
        )
    _tell_skipped(err, report, always_tell)
    return report


def _tell_skipped(err: Console, report: IndexReport, always_tell: bool) -> None:
    """Files that should have been read are named; those of other kinds are only counted."""
    others = [path for path, reason in report.skipped if reason.endswith(NOT_READ)]
    problems = [pair for pair in report.skipped if not pair[1].endswith(NOT_READ)]
    for path, reason in problems[:SHOWN_SKIPS]:
        err.print(Text(f"Skipped {path}: {reason}", style="yellow"), soft_wrap=True)
    if len(problems) > SHOWN_SKIPS:
        err.print(Text(f"… and {len(problems) - SHOWN_SKIPS} more.", style="yellow"))
    if others and always_tell:
        err.print(Text(f"Files of other kinds left out: {len(others)}.", style="dim"))
