"""The command ``footnote index``: indexes documents and computes their vectors, with a progress
bar, and prints the report."""

from __future__ import annotations

import asyncio
import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from bot.cli.command import command_app, settings_for
from bot.core.errors import Invalid
from bot.core.settings import Settings
from bot.pages.page import counted
from bot.search.index_report import FileState, Holdings, IndexReport, Tally, holdings

if TYPE_CHECKING:
    from bot.search.vector_filling import Filled

SHOWN_SKIPS = 10  # skipped files that a question names; the others are counted
NOT_SEARCHED: dict[FileState, str] = {
    "copy": "with the text of another",
    "empty": "empty",
    "large": "too large",
    "unreadable": "unreadable",
    "kind": "of other kinds",
    "hidden": "hidden",
    "other": "links or without permission",
}


app = command_app()


@app.command()
def index(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Folders or files: Markdown, HTML, PDF, Office and more."
        ),
    ],
) -> None:
    """Index documents for searching.

    Only what has changed is read again. Interrupting is safe: run it again to continue.
    """
    settings = settings_for(paths)
    index_and_report(settings)
    embed_documents(settings)
    folders = " ".join(f"--docs {shlex.quote(str(path))}" for path in paths)
    typer.secho(
        f'Ask with: footnote ask {folders} "..."; set FOOTNOTE_DOCS to search them always.',
        dim=True,
        err=True,
    )


def index_and_report(settings: Settings) -> IndexReport:
    """Update the index from ``settings.docs``, and print the whole report: each file that was
    skipped or kept too little."""
    err = Console(stderr=True, highlight=False)
    report = _indexed(settings, err)
    _tell_counts(err, report)
    held = holdings(settings.index_path, settings.docs)
    _tell_holdings(err, held)
    _tell_problems(err, report, len(report.skipped))
    if held.unread.count:
        others = f"Files of other kinds left out: {held.unread.count:,} ({held.unread.kinds})."
        err.print(Text(others, style="dim"))
    err.print(Text(_sum_of(held.files), style="dim"), soft_wrap=True)
    return report


def _sum_of(files: Tally) -> str:
    counted = [(files.documents, "searched")]
    counted += [(files.states[state], words) for state, words in NOT_SEARCHED.items()]
    parts = ", ".join(f"{count:,} {words}" for count, words in counted if count)
    return f"Files found: {files.found:,}" + (f": {parts}." if parts else ".")


def index_documents(settings: Settings, known: IndexReport | None = None) -> IndexReport:
    """Update the index from ``settings.docs``, and print any changes.

    ``known`` is the report of a check that found no changes. Raises ``Invalid`` for a path that
    does not exist, ``StorageUnavailable``, and ``Unavailable`` if no process can be started.
    """
    err = Console(stderr=True, highlight=False)
    report = known or _indexed(settings, err)
    if report.added or report.changed or report.removed:
        _tell_counts(err, report)
    _tell_problems(err, report, SHOWN_SKIPS)
    return report


def _indexed(settings: Settings, err: Console) -> IndexReport:
    for path in settings.docs:
        if not Path(path).exists():
            raise Invalid(f"There is no file or folder {path}: check the path.")
    from bot.search.indexer import Indexer  # slow, and usually nothing has changed

    with progress_bar(err, "Indexing", "files") as advance:
        indexer = Indexer(settings.index_path, areas=settings.collection_paths)
        report = indexer.index(settings.docs, advance)
    if report.warning:
        err.print(Text(report.warning, style="yellow"), soft_wrap=True)
    return report


@contextmanager
def progress_bar(err: Console, doing: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on a terminal within the block; it yields a function of the number done
    and the total."""
    columns = (
        TextColumn(f"{doing:8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _tell_counts(err: Console, report: IndexReport) -> None:
    err.print(
        f"Indexed in {report.seconds:.1f} s: {report.added} new, {report.changed} changed, "
        f"{report.removed} removed, {report.unchanged} unchanged files; "
        f"{report.passages:,} passages.",
        style="dim",
    )


def _tell_holdings(err: Console, held: Holdings) -> None:
    if held.files.kinds:
        by_count = sorted(held.files.kinds.items(), key=lambda kind: (-kind[1], str(kind[0])))
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in by_count)
        err.print(Text(f"Files that are searched: {kinds}.", style="dim"), soft_wrap=True)
    for path, shown in held.copies:
        same = f"Not shown, because {shown} has the same text: {path}"
        err.print(Text(same, style="dim"), soft_wrap=True)
    if held.omitted:
        left = Counter[str]()
        for _, omitted in held.omitted:
            left.update(omitted)
        names = [path for path, _ in held.omitted]
        named = ", ".join(names[:SHOWN_SKIPS]) + ", …" * (len(names) > SHOWN_SKIPS)
        told = f"Left out or unsure: {counted(left)} (in {named})."
        err.print(Text(told, style="dim"), soft_wrap=True)
    for line in held.losses():
        err.print(Text(line[:1].upper() + line[1:], style="yellow"), soft_wrap=True)


def _tell_problems(err: Console, report: IndexReport, shown: int) -> None:
    for path, reason in report.skipped[:shown]:
        err.print(Text(f"Skipped {path}: {reason}", style="yellow"), soft_wrap=True)
    if (left := len(report.skipped) - shown) > 0:
        err.print(Text(f"… and {left} more; `footnote index` names them.", style="yellow"))


# ---------------------------------------------------------------- vectors


def embed_documents(settings: Settings, seconds: float = math.inf) -> None:
    """Make vectors of documents for up to ``seconds``, if there is an embedder."""
    if settings.docs and settings.has_embedder:
        make_vectors(settings, seconds=seconds)


def make_vectors(settings: Settings, *, seconds: float = math.inf) -> Filled:
    """Compute missing vectors of the passages of ``settings.docs``, for at most ``seconds``.

    Prints the number of vectors made, and why some are missing. Raises ``InvalidSetting`` for
    contradictory settings, or a path that does not exist.
    """
    err = Console(stderr=True, highlight=False)
    with progress_bar(err, "Vectors", "passages") as advance:
        filled = asyncio.run(_fill(settings, advance, seconds))
    if filled.made or filled.with_vector < filled.passages:
        err.print(Text(line_of(filled), style="yellow" if filled.problem else "dim"))
    return filled


async def _fill(settings: Settings, advance: Callable[[int, int], None], seconds: float) -> Filled:
    from bot.search.embedder import open_embedder  # few installations use one
    from bot.search.vector_filling import fill_vectors

    async with open_embedder(settings) as embedder:
        assert embedder is not None  # noqa: S101 - the caller knows that one is configured
        return await fill_vectors(
            settings.index_path, settings.docs, embedder, advance, seconds=seconds
        )


def line_of(filled: Filled) -> str:
    """Return the outcome as one line."""
    having = f"{filled.with_vector:,} of {filled.passages:,} passages have vectors"
    if filled.problem and not filled.with_vector:
        return f"Documents are searched by words alone. {filled.problem}"
    if filled.problem:
        return f"{having}; the others are found by words alone. {filled.problem}"
    if filled.with_vector < filled.passages:
        return f"{having}; `footnote index` makes the others."
    return f"{having}: {filled.made:,} made in {filled.seconds:.1f} s."
