"""``footnote eval`` in a terminal: announces the cost, shows progress, prints the table, and writes
the HTML page."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from bot.errors import Unavailable
from bot.evaluation.document import evaluation_document
from bot.evaluation.page import page, sections
from bot.evaluation.questions import QuestionSet
from bot.evaluation.results import Outcome, Result
from bot.evaluation.rows import Row, counted, outcome_words, rows, settings_rows
from bot.evaluation.running import Evaluation, Forecast, Side, open_evaluation
from bot.evaluation.spending import Purse, default_budget
from bot.reasoning.declaration import models_of, who_answers
from bot.rendering.documents import printed_json
from bot.rendering.lines import one_line, shortened

WIDTH = 100  # characters of a table, if there is no terminal
QUESTION = 160  # characters of a question in a table
TOLD = 70  # characters of a question in a line of progress


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """The options of ``footnote eval``. ``budget`` is in USD; None means twice the forecast.
    ``page`` is the file for the HTML page."""

    questions: QuestionSet
    sides: tuple[Side, ...]
    root: Path
    page: Path
    budget: float | None = None
    parallel: int = 4
    judge: bool = False
    fresh: bool = False
    only_forecast: bool = False
    as_json: bool = False


async def evaluate(wanted: EvaluationOptions) -> tuple[Outcome, bool]:
    """Run an evaluation and print it; return its outcome and whether it was interrupted.

    The first Ctrl-C ends it with the results so far. Raises ``Invalid``, ``CredentialsRefused``,
    ``Unavailable`` and ``StorageUnavailable``.
    """
    err = Console(stderr=True, highlight=False)
    forgets = wanted.fresh and not wanted.only_forecast
    async with open_evaluation(
        wanted.questions, wanted.sides, wanted.root, judge=wanted.judge, fresh=forgets
    ) as evaluation:
        forecast = await evaluation.forecast(fresh=wanted.fresh)
        budget = default_budget(forecast.usd) if wanted.budget is None else wanted.budget
        for line in announcement(wanted, forecast, budget):
            err.print(Text(line, style="dim"), soft_wrap=True)
        if wanted.only_forecast:
            return evaluation.outcome(), False
        unlimited = not forecast.usd and wanted.budget is None
        purse = Purse(None if unlimited else budget)
        interrupted = await _run(evaluation, purse, wanted, err)
        outcome = evaluation.outcome()
    _write(wanted.page, page(outcome, datetime.now().astimezone(), interrupted=interrupted))
    _print(outcome, wanted, interrupted)
    if interrupted:
        done = sum(len(side.results) for side in outcome.sides)
        total = wanted.questions.size * len(wanted.sides)
        same = "the same command without --fresh" if wanted.fresh else "the same command"
        said = f"Interrupted after {done} of {total}: {same} continues."
        err.print(Text(said, style="yellow"), soft_wrap=True)
    err.print(Text(f"All answers: {wanted.page.resolve().as_uri()}", style="dim"), soft_wrap=True)
    return outcome, interrupted


def announcement(wanted: EvaluationOptions, forecast: Forecast, budget: float) -> list[str]:
    """Return the lines that announce the plan and its expected cost."""
    questions = wanted.questions
    asked = counted(len(questions.cases), "question")
    if questions.followups:
        asked += f" and {counted(questions.followups, 'follow-up')}"
    first, *others = wanted.sides
    models = models_of(first.settings)
    who = models.large if models else f"the {who_answers(first.settings)} reasoner"
    how = f"{len(wanted.sides)} settings" if others else f"{who} at depth {first.options.depth}"
    lines = [f"{questions.name}: {asked}, with {how}, {wanted.parallel} at once."]
    if forecast.kept:
        lines.append(
            f"{counted(forecast.kept, 'answer')} of an earlier call kept; --fresh asks again."
        )
    if forecast.unpriced:
        lines.append(
            f"The price of {' and '.join(forecast.unpriced)} is not known, so no budget can hold: "
            "set FOOTNOTE_PRICES."
        )
    if forecast.usd:
        judging = f", {forecast.judging_usd:.2f} of it for the judge" if wanted.judge else ""
        lines.append(
            f"{forecast.to_ask} to ask: about {forecast.usd:.2f} USD{judging}. Budget: "
            f"{budget:.2f} USD (--budget); what would go beyond it is not begun."
        )
    elif forecast.to_ask and not forecast.unpriced:
        lines.append("No model is used: it costs nothing.")
    return lines


async def _run(
    evaluation: Evaluation, purse: Purse, wanted: EvaluationOptions, err: Console
) -> bool:
    """Ask all questions and show progress; return True if it was interrupted."""
    total = wanted.questions.size * len(wanted.sides)
    with _progress(err, total, purse, several=len(wanted.sides) > 1) as tell:
        work = asyncio.create_task(evaluation.run(purse, wanted.parallel, tell))
        interrupted = False

        def interrupt() -> None:
            nonlocal interrupted
            interrupted = True
            work.cancel()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
        try:
            await work
        except asyncio.CancelledError:
            if not interrupted:
                raise
        return interrupted


@contextmanager
def _progress(
    err: Console, total: int, purse: Purse, *, several: bool
) -> Iterator[Callable[[Side, Result, bool], None]]:
    """Show a progress bar on a terminal, or elsewhere a line for each question asked."""
    columns = (
        TextColumn("Asking  "),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("questions"),
        TextColumn("{task.fields[amiss]} not as expected"),
        TextColumn("{task.fields[usd]}"),
        TimeElapsedColumn(),
    )
    count = amiss = 0
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=total, amiss=0, usd="")

        def tell(side: Side, result: Result, kept: bool) -> None:
            nonlocal count, amiss
            count += 1
            amiss += not result.score.as_expected
            usd = f"{purse.spent:.2f} USD" if purse.spent else ""
            bar.update(task, completed=count, amiss=amiss, usd=usd)
            if not err.is_terminal and not kept:
                where = f" [{side.name}]" if several else ""
                question = shortened(result.asked.question, TOLD)
                line = f"{count}/{total}{where} {result.name} {question}: {outcome_words(result)}"
                err.print(Text(line), soft_wrap=True)

        yield tell


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            f"The page {path} could not be written ({error.strerror}): name another file with "
            "--html; the same command then asks nothing again."
        ) from error


# ---------------------------------------------------------------- tables


def _print(outcome: Outcome, wanted: EvaluationOptions, interrupted: bool) -> None:
    out = Console(highlight=False)
    if wanted.as_json:
        document = evaluation_document(outcome, interrupted=interrupted)
        out.file.write(printed_json(document) + "\n")
        return
    if out.is_terminal:
        out.print(tables(outcome))
        return
    with out.capture() as captured:
        out.print(tables(outcome), width=WIDTH)
    out.file.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def tables(outcome: Outcome) -> RenderableType:
    """Return tables of the figures, and of the questions with unexpected results or different
    results of two settings."""
    parts: list[RenderableType] = [_figures(outcome)]
    for heading, names in sections(outcome)[:2]:
        if names:
            parts += [Text(), Text(f"{heading} ({len(names)})", style="bold")]
            parts.append(_questions(outcome, names))
    parts += [Text(f"\n{remark}", style="yellow") for remark in outcome.remarks]
    return Group(*parts)


def _figures(outcome: Outcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("")
    several = len(outcome.sides) > 1
    table.show_header = several
    for side in outcome.sides:
        table.add_column(Text(one_line(side.name)), justify="right", overflow="fold")
    for row in settings_rows(outcome.sides):
        table.add_row(row.name, *(Text(one_line(value)) for value in row.values), style="dim")
    if several:
        table.add_row()
    for row in rows([side.figures for side in outcome.sides]):
        if row.opens:
            table.add_row()
        table.add_row(row.name, *(Text(value, style=_emphasis(row)) for value in row.values))
    return table


def _emphasis(row: Row) -> str:
    """Return the style that highlights values that differ between two settings."""
    return "bold" if len(set(row.values)) > 1 else ""


def _questions(outcome: Outcome, names: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), expand=True)
    table.add_column("")
    table.add_column("question", overflow="fold", ratio=5)
    several = len(outcome.sides) > 1
    for side in outcome.sides:
        name = one_line(side.name) if several else "what is amiss"
        table.add_column(name, overflow="fold", ratio=2 if several else 3)
    for name in names:
        cells = []
        for side in outcome.sides:
            result = side.results.get(name)
            good = result is not None and result.score.as_expected
            cells.append(Text(outcome_words(result), style="green" if good else "yellow"))
        table.add_row(name, Text(shortened(outcome.turn_named(name).question, QUESTION)), *cells)
    return table
