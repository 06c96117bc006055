"""The command ``footnote eval``: announces the cost, shows progress, and prints the scores."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bot.cli.ask import DepthOption
from bot.cli.command import (
    EXIT_INTERRUPTED,
    EXIT_NO_ANSWER,
    HANDBOOK,
    AsJson,
    Docs,
    Providers,
    command_app,
    settings_with_kept,
)
from bot.cli.index import embed_documents, index_documents
from bot.cli.output import print_all, print_json, table
from bot.core.errors import Invalid
from bot.core.lines import one_line, shortened
from bot.core.messages import RunOptions
from bot.evaluation.evaluation import Evaluation, Forecast, Purse, default_budget, open_evaluation
from bot.evaluation.questions import load_questions
from bot.evaluation.scoring import Result

SAMPLE = HANDBOOK.parent / "evaluation" / "sample.yaml"
ANSWER = 300  # characters shown of an answer that is not as expected
TOLD = 70  # characters of a question in a line of progress

ROWS: tuple[tuple[str, str], ...] = (
    ("as expected", "as_expected"),
    ("failed", "failed"),
    ("right page read", "page_read"),
    ("right page among the sources", "page_cited"),
    ("expected words in the answer", "words_said"),
    ("expected words in a quote", "words_quoted"),
    ("refused rightly", "refused_rightly"),
    ("refused wrongly", "refused_wrongly"),
    ("judged right", "judged_right"),
    ("judged partly right", "judged_partly"),
    ("judged wrong", "judged_wrong"),
    ("sentences marked ⚠", "doubts"),
    ("model calls", "model_calls"),
    ("tokens in", "tokens_in"),
    ("tokens out", "tokens_out"),
    ("USD", "usd"),
    ("USD of the judge", "judging_usd"),
    ("seconds, median", "seconds"),
    ("seconds, slowest tenth", "slow_seconds"),
)

app = command_app()


@app.command()
def evaluate(
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUESTIONS.yaml",
            help="The file of questions; the default is a sample about the handbook.",
            show_default=False,
        ),
    ] = None,
    docs: Docs = None,
    provider: Providers = None,
    depth: DepthOption = "auto",
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="Compare with an earlier run, with what --json printed for it.",
        ),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Have the model grade answers against expected ones.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="USD",
            min=0.0,
            help="Spending limit; the default is twice the expected cost.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask again even if an earlier call has asked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a file of questions and compare the answers with the expected ones.

    Answers are stored: the same command continues where it stopped, and asks again only what has
    changed.

    Exit code 0: everything is as expected. 1: something is not, or was not asked. 2: the call, the
    file or the settings need correcting. 130: interrupted; results so far are shown and stored.

    Examples:

        footnote eval

        footnote eval questions.yaml --docs ./handbook --judge --json > before.json

        FOOTNOTE_MODEL=other footnote eval questions.yaml --docs ./handbook --against before.json
    """
    if questions is None and (docs or provider):
        raise Invalid("The sample has documents of its own: name your file of questions.")
    found = load_questions(questions or SAMPLE)
    earlier = None if against is None else read_earlier(against)
    if questions is None:
        docs, provider = [HANDBOOK], ["local"]
    settings = settings_with_kept(docs, provider)
    if questions is None:
        # The demo's data folder keeps the handbook out of the person's own index.
        settings = settings.model_copy(update={"data_dir": settings.data_dir / "demo"})
    if settings.docs:
        index_documents(settings)
        embed_documents(settings)
    options = RunOptions(depth=depth, providers=tuple(provider or ()))

    async def run() -> tuple[Evaluation, bool]:
        root = settings.data_dir.expanduser() / "eval"
        async with open_evaluation(
            found, settings, options, root, judge=judge, fresh=fresh
        ) as evaluation:
            forecast = await evaluation.forecast()
            limit = default_budget(forecast.usd) if budget is None else budget
            for line in announcement(evaluation, forecast, limit):
                typer.secho(line, dim=True, err=True)
            unlimited = not forecast.usd and budget is None
            return evaluation, await _run(evaluation, Purse(None if unlimited else limit))

    evaluation, interrupted = asyncio.run(run())
    document = evaluation.document(interrupted=interrupted)
    if as_json:
        print_json(document)
    else:
        print_all(tables(document, earlier))
    if interrupted:
        done = f"{len(document['results'])} of {found.size}"
        same = "the same command without --fresh" if fresh else "the same command"
        typer.secho(f"Interrupted after {done}: {same} continues.", fg="yellow", err=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    if not evaluation.as_expected:
        raise typer.Exit(EXIT_NO_ANSWER)


def read_earlier(path: Path) -> dict[str, Any]:
    """Read what ``footnote eval --json`` printed. Raises ``Invalid``."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        results = {tuple(each["asked"]): each["amiss"] for each in document["results"]}
        return {"name": path.name, "results": results, **{
            key: dict(document[key]) for key in ("settings", "figures")}}  # fmt: skip
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise Invalid(f"{path} is not what `footnote eval --json` printed.") from None


def announcement(evaluation: Evaluation, forecast: Forecast, budget: float) -> list[str]:
    """Return the lines that announce the work and its expected cost."""
    lines = [f"{evaluation.questions.name}: {evaluation.questions.size} question(s)."]
    if forecast.kept:
        lines.append(f"{forecast.kept} answer(s) of an earlier call kept; --fresh asks again.")
    if forecast.unpriced:
        lines.append(
            f"The price of {forecast.unpriced} is not known, so no budget can hold: set "
            "FOOTNOTE_PRICES."
        )
    if forecast.usd:
        lines.append(
            f"{forecast.to_ask} to ask: about {forecast.usd:.2f} USD. Budget: {budget:.2f} USD "
            "(--budget); what would go beyond it is not begun."
        )
    elif forecast.to_ask and not forecast.unpriced:
        lines.append("No model is used: it costs nothing.")
    return lines


async def _run(evaluation: Evaluation, purse: Purse) -> bool:
    """Ask all questions and show progress; the first Ctrl-C ends it with the results so far, and
    has True returned."""
    with _progress(evaluation.questions.size, purse) as tell:
        work = asyncio.create_task(evaluation.run(purse, tell))
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
def _progress(total: int, purse: Purse) -> Iterator[Callable[[Result], None]]:
    """Show a progress bar on a terminal, or elsewhere a line for each question."""
    err = Console(stderr=True, highlight=False)
    count = 0
    columns = (
        TextColumn("Asking  "),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("questions{task.fields[usd]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=total, usd="")

        def tell(result: Result) -> None:
            nonlocal count
            count += 1
            bar.update(task, completed=count, usd=f"  {purse.spent:.2f} USD" * bool(purse.spent))
            if not err.is_terminal:
                question = shortened(result.turn.question, TOLD)
                line = f"{count}/{total} {result.name} {question}: {_words(result.score.amiss)}"
                typer.echo(line, err=True)

        yield tell


def _words(amiss: Any) -> str:
    return "not asked" if amiss is None else "; ".join(amiss) or "✓"


def tables(
    document: Mapping[str, Any], earlier: Mapping[str, Any] | None = None
) -> list[RenderableType]:
    """Return the figures, beside those of an earlier run, and the questions that are not as
    expected or changed, each with its answer."""
    runs = [document] if earlier is None else [earlier, document]
    heads = ["", document["questions"]] if earlier is None else ["", earlier["name"], "now"]
    names = list(dict.fromkeys(name for run in runs for name in run["settings"]))
    shown = [(name, *(run["settings"].get(name, "–") for run in runs)) for name in names]
    if earlier is not None:
        shown = [row for row in shown if len(set(row[1:])) > 1]
    else:
        shown = [row for row in shown if row[0] in ("model", "depth", "searched")]
    rows = [tuple(one_line(cell) for cell in row) for row in shown]
    for name, key in ROWS:
        values = [_value(run["figures"].get(key)) for run in runs]
        if any(values):
            rows.append((name, *(value or "–" for value in values)))
    parts: list[RenderableType] = [table(heads, rows)]
    before = {} if earlier is None else earlier["results"]
    for each in document["results"]:
        was, now = before.get(tuple(each["asked"]), each["amiss"]), each["amiss"]
        if now or was != now:
            change = _words(now) if was == now else f"{_words(was)} → {_words(now)}"
            text = shortened(one_line(each["answer"]["answer"]), ANSWER)
            reason = each["verdict"] and f"    Judge: {one_line(each['verdict']['reason'])}"
            parts.append(Text(f"\n{each['id']}  {one_line(each['asked'][-1])}", style="bold"))
            parts.append(Text(f"    {change}", style="yellow" if now else "green"))
            parts += [Text(line, style="dim") for line in (f"    {text}", reason) if line]
    return [*parts, *(Text(f"\n{remark}", style="yellow") for remark in document["remarks"])]


def _value(figure: Any) -> str:
    """Format a figure; "" for one that does not apply."""
    if isinstance(figure, list):
        count, total = figure
        return f"{count} of {total} ({count / total:.0%})" if total else ""
    return f"{figure:,}" if figure else ""
