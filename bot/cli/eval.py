"""The command ``footnote eval``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot.cli.command import (
    EXIT_INTERRUPTED,
    EXIT_NO_ANSWER,
    HANDBOOK,
    Docs,
    Providers,
    command_app,
    settings_for,
)
from bot.errors import Invalid

if TYPE_CHECKING:
    from bot.settings import Settings

SAMPLE = HANDBOOK.parent / "evaluation" / "sample.yaml"


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
    depth: Annotated[
        Literal["auto", "quick", "standard", "deep"],
        typer.Option("--depth", metavar="auto|quick|standard|deep", help="As for ask."),
    ] = "auto",
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="Ask everything a second time with the settings of this file, like footnote.toml, "
            "which may also set a depth. It overrides all other settings.",
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
    parallel: Annotated[
        int,
        typer.Option("--parallel", metavar="N", min=1, max=64, help="Questions at once."),
    ] = 4,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Where to write the page; the default is the data folder.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask again even if an earlier call has asked.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the expected cost.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Ask a file of questions and compare the answers with the expected ones.

    Prints a table and writes a page with every answer. Answers are stored: the same command
    continues where it stopped, and asks again only what has changed.

    Exit code 0: everything is as expected. 1: something is not, or was not asked. 2: the call, the
    file or the settings need correcting. 130: interrupted; results so far are shown and stored.

    Examples:

        footnote eval

        footnote eval questions.yaml --docs ./handbook --judge

        footnote eval questions.yaml --against other-model.toml
    """
    if questions is None and (docs or provider):
        raise Invalid("The sample has documents of its own: name your file of questions.")
    from bot.evaluation.questions import load_questions

    found = load_questions(questions or SAMPLE)
    if questions is None:
        docs, provider = [HANDBOOK], ["local"]
    settings = _apart(settings_for(docs, provider), questions is None)
    from adapters.terminal.evaluating import EvaluationOptions
    from adapters.terminal.evaluating import evaluate as evaluate_and_print
    from bot.evaluation.running import Side
    from bot.messages import RunOptions

    options = RunOptions(depth=depth, providers=tuple(provider or ()))
    sides = [Side("as set", settings, options)]
    if against is not None:
        from bot.evaluation.other_settings import other_settings

        given: dict[str, Any] = {
            "docs": tuple(map(str, docs)) if docs else None,
            "providers": tuple(provider) if provider else None,
        }
        other, other_depth = other_settings(against, given)
        other = _apart(other, questions is None)
        options = RunOptions(
            depth=other_depth or depth, providers=other.providers if provider else ()
        )
        sides.append(Side(against.name, other, options))
    for side in sides:
        _index(side.settings)
    root = settings.data_dir.expanduser() / "eval"
    wanted = EvaluationOptions(
        questions=found,
        sides=tuple(sides),
        root=root,
        page=html or root / f"{Path(found.name).stem}.html",
        budget=budget,
        parallel=parallel,
        judge=judge,
        fresh=fresh,
        only_forecast=dry_run,
        as_json=as_json,
    )
    outcome, interrupted = asyncio.run(evaluate_and_print(wanted))
    if interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not dry_run and not outcome.as_expected:
        raise typer.Exit(EXIT_NO_ANSWER)


def _apart(settings: Settings, is_sample: bool) -> Settings:
    """Return the settings. The sample uses the demo's data folder, which keeps the handbook out of
    the person's own index."""
    if not is_sample:
        return settings
    return settings.model_copy(update={"data_dir": settings.data_dir / "demo"})


def _index(settings: Settings) -> None:
    """Bring the index up to date, with vectors where there is an embedder."""
    if settings.docs:
        from bot.cli.index import embed_documents, index_documents

        index_documents(settings)
        embed_documents(settings)
