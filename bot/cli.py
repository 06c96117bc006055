"""The ``footnote`` command. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import gc
import io
import math
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from bot import __version__
from bot.cli_audit import audit
from bot.cli_corrections import corrections
from bot.cli_eval import evaluate as _evaluate
from bot.cli_processes import mcp, serve, worker
from bot.cli_records import db, export, forget_kinds, keys, threads
from bot.cli_watch import watch
from bot.command import (
    EXIT_NO_ANSWER,
    EXIT_OK,
    EXIT_USAGE,
    HANDBOOK,
    Docs,
    Providers,
    embed_documents,
    indexed,
    standard_input,
)
from bot.command import sentences as _sentences
from bot.command import settings_for as _settings
from bot.errors import CredentialsRefused, Invalid

app = typer.Typer(
    name="footnote",
    help="""Ask a question, get an answer in which every claim carries a footnote.

    With nothing configured Footnote answers by quoting: from your documents (--docs), or from
    Wikipedia. With ANTHROPIC_API_KEY set, Claude researches and writes. Try `footnote demo`.""",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for group, name in ((audit, "audit"), (db, "db"), (forget_kinds, "forget"), (keys, "keys")):
    app.add_typer(group, name=name)

DepthOption = Annotated[
    Literal["auto", "quick", "standard", "deep"],
    typer.Option(
        "--depth",
        metavar="auto|quick|standard|deep",
        help="quick reads the best hits at once; standard searches until it is enough; "
        "deep divides the question into parts and researches them in parallel; "
        "auto lets the question decide.",
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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the answer as JSON; logs stay on stderr.")
    ] = False,
) -> None:
    """Answer one question, with footnotes.

    Exit code 0: answered. 1: not answered. 2: the call or the settings need correcting. Ctrl-C
    stops the run and shows what was found so far.

    Examples:

        footnote ask "When was the Eiffel Tower finished?"

        footnote ask --docs ./handbook "How do I rotate the keys?"

        footnote ask --thread tower "And how tall is it?"
    """
    with _sentences():
        if question == "-":
            question = standard_input().read()
        _answer(question, thread, docs, provider, as_json, depth=depth, style=style)


@app.command()
def check(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A text; - reads it from standard input."),
    ],
    docs: Docs = None,
    provider: Providers = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the answer as JSON; logs stay on stderr.")
    ] = False,
) -> None:
    """Check the statements of a text, each with a verdict and the quotes behind it.

    At most 12 of them: supported, partly supported, contradicted, nothing found, not checkable.

    Exit code 0: checked. 1: nothing was found to check it against. 2: the call or the settings need
    correcting.

    Examples:

        footnote check announcement.txt

        pbpaste | footnote check - --docs ./handbook
    """
    with _sentences():
        from adapters.terminal.checking import text_of

        _answer(text_of(file), None, docs, provider, as_json, style="check")


def _answer(
    question: str,
    thread: str | None,
    docs: list[Path] | None,
    providers: list[str] | None,
    as_json: bool,
    **options: Any,
) -> NoReturn:
    """Show the answer to a question, and end with its exit code; ``options`` are those of
    ``RunOptions``."""
    import asyncio

    settings = _settings(docs, providers)
    with indexed(settings):
        from adapters.terminal.listener import ask_once, terminal_thread
        from bot.messages import RunOptions
    how = RunOptions(providers=tuple(providers or ()), **options)
    answer, error = asyncio.run(
        ask_once(settings, question, terminal_thread(thread), how, as_json=as_json)
    )
    if isinstance(error, Invalid | CredentialsRefused):
        raise typer.Exit(EXIT_USAGE)
    raise typer.Exit(EXIT_OK if answer.status == "answered" else EXIT_NO_ANSWER)


@app.command()
def chat(
    thread: ThreadOption = None,
    depth: DepthOption = "auto",
    style: StyleOption = "auto",
    docs: Docs = None,
    provider: Providers = None,
) -> None:
    """Hold a conversation.

    Follow-up questions are understood in its context.

    Ctrl-C stops an answer in progress; /quit, Ctrl-D or Ctrl-C at the prompt leave.
    """
    with _sentences():
        standard_input()
        settings = _settings(docs, provider)
        with indexed(settings):
            from adapters.terminal.listener import converse, terminal_thread
            from bot.messages import RunOptions
        options = RunOptions(depth=depth, providers=tuple(provider or ()), style=style)
        converse(settings, terminal_thread(thread), options)


app.command()(serve)
app.command()(worker)
app.command()(mcp)


@app.command()
def demo() -> None:
    """See a question and a follow-up answered.

    They are about Footnote, from its own handbook; no key, server or network is needed.
    """
    import asyncio

    with _sentences():
        from adapters.terminal.listener import run_demo

        settings = _settings([HANDBOOK], ["local"])
        # A separate data folder keeps the handbook out of the person's own index.
        apart = settings.model_copy(
            update={"data_dir": settings.data_dir / "demo", "database_url": ""}
        )
        answered = asyncio.run(run_demo(apart))
    raise typer.Exit(EXIT_OK if answered else EXIT_NO_ANSWER)


@app.command()
def index(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Folders or files: Markdown, HTML, PDF, Office and more."
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, with every file.")
    ] = False,
) -> None:
    """Index documents for searching.

    Only what has changed is read again. Interrupting is safe: run it again to continue.
    """
    with _sentences():
        settings = _settings(paths, None)
        from adapters.terminal.indexing import index_and_report

        index_and_report(settings, as_json=as_json)
        embed_documents(settings, math.inf)
        folders = " ".join(f"--docs {shlex.quote(str(path))}" for path in paths)
        typer.secho(
            f'Ask with: footnote ask {folders} "..."; set FOOTNOTE_DOCS to search them always.',
            dim=True,
            err=True,
        )


@app.command()
def usage(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show spending today and this month, by workspace, channel and person.

    The cost of questions that failed or were stopped, edited or deleted is included.
    """
    with _sentences():
        settings = _settings(None, None)
        from adapters.terminal.spending import show_spending

        show_spending(settings, as_json=as_json)


@app.command()
def doctor(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List all settings, and those that are set.")
    ] = False,
) -> None:
    """Check every configured part and say what to fix, problems first.

    Exit code 0: nothing is wrong. 1: something does not work. 2: a setting is wrong.
    """
    import asyncio

    with _sentences():
        from bot.doctor import examine

        sound = asyncio.run(examine(_settings(None, None), verbose=verbose))
    raise typer.Exit(EXIT_OK if sound else EXIT_NO_ANSWER)


# After the everyday commands: --help lists them in this order.
app.command("eval")(_evaluate)
app.command()(watch)
app.command()(corrections)
app.command()(threads)
app.command()(export)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"footnote {__version__}")
        raise typer.Exit


OBJECTS_OF_A_START = 500_000
"""Threshold of new objects for a garbage collection. Loading makes 200,000, with an SDK 400,000, of
which none is garbage: with Python's default of 700, collections would take a fifth of that time."""


def main() -> None:
    """The console script."""
    gc.set_threshold(OBJECTS_OF_A_START)
    # Data files hold conversations, documents and tokens: no other user may read them.
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals without Unicode
    try:
        app(prog_name="footnote")
    finally:
        # Skip Python's final collections: they would traverse every loaded module for 0.2 s.
        gc.freeze()
