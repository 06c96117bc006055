"""The command ``footnote ask``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from bot.cli.command import (
    EXIT_NO_ANSWER,
    EXIT_OK,
    EXIT_USAGE,
    AsJson,
    Docs,
    Providers,
    command_app,
    settings_with_kept,
    standard_input,
)
from bot.core.errors import CredentialsRefused, Invalid

if TYPE_CHECKING:
    from bot.core.settings import Settings

VECTOR_SECONDS = 10.0  # spent by `ask` and `chat` on vectors before they answer

DepthOption = Annotated[
    Literal["auto", "quick", "standard", "deep", "exhaustive"],
    typer.Option(
        "--depth",
        metavar="auto|quick|standard|deep|exhaustive",
        help="quick reads the best hits at once; standard searches until it is enough; "
        "deep divides the question into parts and researches them in parallel; "
        "exhaustive looks for all of something; auto lets the question decide.",
    ),
]
StyleOption = Annotated[
    Literal["auto", "answer", "report"],
    typer.Option(
        "--style",
        metavar="auto|answer|report",
        help="report drafts a long text and revises each part against pages read for it; "
        "auto lets the question decide.",
    ),
]
ThreadOption = Annotated[
    str | None,
    typer.Option(
        "--thread", metavar="NAME", help="Continue (or begin) the conversation with this name."
    ),
]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise typer.BadParameter(f"{text} is not a day: write it as 2026-03-31.") from None


Day = Annotated[
    str | None,
    typer.Option(metavar="DATE", parser=_day, help="Only files since, or until, this day."),
]

app = command_app()


@app.command()
def ask(
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="The question; - reads it from standard input."),
    ],
    thread: ThreadOption = None,
    depth: DepthOption = "auto",
    style: StyleOption = "auto",
    docs: Docs = None,
    provider: Providers = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            "--in", metavar="NAME", help="Only files of this path, author or kind; repeatable."
        ),
    ] = None,
    since: Day = None,
    until: Day = None,
    as_json: AsJson = False,
) -> None:
    """Answer one question, with footnotes.

    Exit code 0: answered. 1: not answered. 2: the call or the settings need correcting. Ctrl-C
    stops the run and shows what was found so far.

    Examples:

        footnote ask "When was the Eiffel Tower finished?"

        footnote ask --docs ./handbook "How do I rotate the keys?"

        footnote ask --in minutes --since 2026-03-01 "What was decided about the office?"

        footnote ask --thread tower "And how tall is it?"
    """
    if question == "-":
        question = standard_input().read()
    if within or since or until:
        provider = ["local"]
    only = {"within": tuple(within or ()), "since": since or "", "until": until or ""}
    show_answer(question, thread, docs, provider, as_json, depth=depth, style=style, **only)


def show_answer(
    question: str,
    thread: str | None,
    docs: list[Path] | None,
    providers: list[str] | None,
    as_json: bool,
    **options: Any,
) -> NoReturn:
    """Show the answer to a question, and end with its exit code; ``options`` are those of
    ``RunOptions``."""
    settings = settings_with_kept(docs, providers)
    with indexed(settings):
        from adapters.terminal.listener import ask_once
        from adapters.terminal.messages import terminal_thread
        from bot.core.messages import RunOptions
    how = RunOptions(providers=tuple(providers or ()), **options)
    answer, error = asyncio.run(
        ask_once(settings, question, terminal_thread(thread), how, as_json=as_json)
    )
    if isinstance(error, Invalid | CredentialsRefused):
        raise typer.Exit(EXIT_USAGE)
    raise typer.Exit(EXIT_OK if answer.status == "answered" else EXIT_NO_ANSWER)


@contextmanager
def indexed(settings: Settings) -> Iterator[None]:
    """Look for changed documents while the body imports slow modules; then update the index and,
    with an embedder, spend a limited time on vectors."""
    from bot.search.unchanged import CheckProcess

    with CheckProcess(settings.index_path, settings.docs, settings.collection_paths) as check:
        yield
        if settings.docs:
            report = check.report()
            if report is None or report.skipped:
                # Imported only when there is work or a problem: it loads rich, which takes 50 ms.
                from bot.cli.index import index_documents

                index_documents(settings, report)
            if settings.has_embedder:
                from bot.cli.index import embed_documents

                embed_documents(settings, VECTOR_SECONDS)
