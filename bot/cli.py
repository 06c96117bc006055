"""The ``footnote`` command. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import gc
import io
import math
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import __version__
from bot.cli_audit import audit
from bot.cli_eval import evaluate as _evaluate
from bot.cli_records import db, export, forget_kinds, keys, threads
from bot.cli_watch import watch
from bot.command import EXIT_NO_ANSWER, EXIT_OK, EXIT_USAGE, HANDBOOK, standard_input
from bot.command import sentences as _sentences
from bot.command import settings_for as _settings
from bot.errors import CredentialsRefused, Invalid
from bot.logs import announce

if TYPE_CHECKING:
    from bot.settings import Settings

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

Docs = Annotated[
    list[Path] | None,
    typer.Option(
        "--docs",
        metavar="PATH",
        help="A folder or file to search (Markdown, HTML, PDF, Office files and more); repeatable.",
    ),
]
Providers = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="Search only with this, such as wikipedia, local or brave; repeatable.",
    ),
]
DepthOption = Annotated[
    Literal["auto", "quick", "standard", "deep"],
    typer.Option(
        "--depth",
        metavar="auto|quick|standard|deep",
        help="quick reads the best hits at once; standard searches until it is enough; "
        "deep cuts the question into parts and researches them at once; "
        "auto lets the question decide.",
    ),
]
StyleOption = Annotated[
    Literal["auto", "answer", "report"],
    typer.Option(
        "--style",
        metavar="auto|answer|report",
        help="report drafts a long text and revises each part of it against what is read for it; "
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

    Exit code 0: answered. 1: not answered. 2: something to correct in the call or the settings.
    Ctrl-C stops the run and shows what was found so far.

    Examples:

        footnote ask "When was the Eiffel Tower finished?"

        footnote ask --docs ./handbook "How do I rotate the keys?"

        footnote ask --thread tower "And how tall is it?"
    """
    import asyncio

    with _sentences():
        if question == "-":
            question = standard_input().read()
        settings = _settings(docs, provider)
        with _indexed(settings):
            from adapters.terminal.listener import ask_once, terminal_thread
            from bot.messages import RunOptions
        options = RunOptions(depth=depth, providers=tuple(provider or ()), style=style)
        answer, error = asyncio.run(
            ask_once(settings, question, terminal_thread(thread), options, as_json=as_json)
        )
    if isinstance(error, Invalid | CredentialsRefused):
        raise typer.Exit(EXIT_USAGE)
    raise typer.Exit(EXIT_OK if answer.status == "answered" else EXIT_NO_ANSWER)


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
    """Check the statements of a text, each with a verdict and the words it rests on.

    At most 12 of them: supported, partly supported, contradicted, nothing found, not checkable.

    Exit code 0: checked. 1: nothing was found to check it against. 2: something to correct in the
    call or the settings.

    Examples:

        footnote check announcement.txt

        pbpaste | footnote check - --docs ./handbook
    """
    import asyncio

    with _sentences():
        from adapters.terminal.checking import text_of

        text = standard_input().read() if file == "-" else asyncio.run(text_of(Path(file)))
        settings = _settings(docs, provider)
        with _indexed(settings):
            from adapters.terminal.listener import ask_once, terminal_thread
            from bot.messages import RunOptions
        options = RunOptions(providers=tuple(provider or ()), style="check")
        answer, error = asyncio.run(
            ask_once(settings, text, terminal_thread(None), options, as_json=as_json)
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

    Follow-up questions mean what they mean in it.

    Ctrl-C stops an answer in the making; /quit, Ctrl-D or Ctrl-C at the prompt leave.
    """
    with _sentences():
        standard_input()
        settings = _settings(docs, provider)
        with _indexed(settings):
            from adapters.terminal.listener import converse, terminal_thread
            from bot.messages import RunOptions
        options = RunOptions(depth=depth, providers=tuple(provider or ()), style=style)
        converse(settings, terminal_thread(thread), options)


@app.command()
def serve(
    docs: Docs = None,
    provider: Providers = None,
    no_work: Annotated[
        bool,
        typer.Option("--no-work", help="Only listen; `footnote worker` processes do the work."),
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="HOST", help="Address to listen on; else FOOTNOTE_HTTP_HOST."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65_535,
            help="Port; else FOOTNOTE_HTTP_PORT (8080).",
        ),
    ] = None,
) -> None:
    """Answer in the browser, and in chat on every platform whose tokens are set.

    The console is at http://127.0.0.1:8080 unless --host, --port or the settings say otherwise.
    Slack: SLACK_BOT_TOKEN with SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP).
    Discord: DISCORD_TOKEN. `footnote doctor` checks them.

    Ctrl-C or SIGTERM ends it: working questions get FOOTNOTE_DRAIN_SECONDS, the rest is resumed
    at the next start. Exit code 2: a token or setting is wrong.
    """
    import asyncio

    with _sentences():
        settings = _settings(docs, provider)
        chosen = {"http_host": host, "http_port": port}
        given = {name: value for name, value in chosen.items() if value is not None}
        settings = settings.model_copy(update=given)
        from bot.dispatch.choice import is_queued, need_queue
        from bot.platform import listening_platforms

        listening_platforms(settings)
        if no_work:
            need_queue(settings, "footnote serve --no-work")
        is_queued(settings)
        from bot.serving import serve as serve_platforms

        asyncio.run(serve_platforms(settings, announce, role="listen" if no_work else "serve"))


@app.command()
def worker(
    docs: Docs = None,
    provider: Providers = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=1,
            help="Questions at once in this process; else FOOTNOTE_CONCURRENCY.",
        ),
    ] = None,
    health_port: Annotated[
        int | None,
        typer.Option(
            "--health-port",
            metavar="PORT",
            min=0,
            max=65_535,
            help="Answer /healthz, /readyz and /metrics on this port of FOOTNOTE_HTTP_HOST.",
        ),
    ] = None,
) -> None:
    """Work on questions that `footnote serve` accepts elsewhere, and post their answers.

    Any number of them, on any machines, share one PostgreSQL (FOOTNOTE_DATABASE_URL); each needs
    the platforms' tokens and the documents.

    Ctrl-C or SIGTERM ends it: working questions get FOOTNOTE_DRAIN_SECONDS, the rest goes to
    another worker. Exit code 2: a token or setting is wrong.
    """
    import asyncio

    with _sentences():
        settings = _settings(docs, provider)
        if concurrency is not None:
            settings = settings.model_copy(update={"concurrency": concurrency})
        from bot.dispatch.choice import need_queue

        need_queue(settings, "footnote worker")
        from bot.working import work

        asyncio.run(work(settings, announce, health_port=health_port))


@app.command()
def mcp(docs: Docs = None, provider: Providers = None) -> None:
    """Serve the Model Context Protocol on standard input and output.

    For Claude Code, Cursor and other programs that start it; the handbook's page mcp has the line
    for each. `footnote serve` has the same over HTTP, at /mcp.
    """
    import asyncio

    with _sentences():
        from bot.extras import need

        need("mcp", "`footnote mcp`")
        settings = _settings(docs, provider)
        with _indexed(settings):
            from adapters.terminal.mcp import serve_mcp

        asyncio.run(serve_mcp(settings))


@app.command()
def demo() -> None:
    """See a question and a follow-up answered.

    They are about Footnote, from its own handbook; no key, server or network is needed.
    """
    import asyncio

    with _sentences():
        from adapters.terminal.listener import run_demo

        settings = _settings([HANDBOOK], ["local"])
        # In a place of its own, so that the handbook is not found among a person's documents.
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
        bool, typer.Option("--json", help="Print what came of it as JSON, every file named.")
    ] = False,
) -> None:
    """Index documents for searching.

    Only what has changed is read again. Interrupting is safe: run it again to continue.
    """
    with _sentences():
        settings = _settings(paths, None)
        from adapters.terminal.indexing import index_and_report

        index_and_report(settings, as_json=as_json)
        _make_vectors(settings, math.inf)
        folders = " ".join(f"--docs {shlex.quote(str(path))}" for path in paths)
        typer.secho(
            f'Ask with: footnote ask {folders} "..."; FOOTNOTE_DOCS has them searched always.',
            dim=True,
            err=True,
        )


@app.command()
def usage(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show what was spent today and this month, by workspace, channel and person.

    Questions that failed or were stopped, edited or deleted are counted with what they cost.
    """
    with _sentences():
        settings = _settings(None, None)
        from adapters.terminal.spending import show_spending

        show_spending(settings, as_json=as_json)


@app.command()
def doctor(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name all settings, and those that are set.")
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


# After the commands of every day: help lists them in this order.
app.command("eval")(_evaluate)
app.command()(watch)
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
which none is garbage: at Python's default of 700 collections would take a fifth of that time."""
VECTOR_SECONDS = 10.0  # that `ask` and `chat` spend on vectors before they answer


@contextmanager
def _indexed(settings: Settings) -> Iterator[None]:
    """Look for changed documents while the body imports what is slow to load; then bring the index
    up to date, and make vectors for a while where there is an embedder."""
    from bot.search.unchanged import CheckProcess

    with CheckProcess(settings.index_path, settings.docs) as check:
        yield
        if settings.docs:
            report = check.report()
            if report is None or report.problems:
                # Mostly there is nothing to do or tell, and rich, which this imports, takes 50 ms.
                from adapters.terminal.indexing import index_documents

                index_documents(settings, report)
            _make_vectors(settings, VECTOR_SECONDS)


def _make_vectors(settings: Settings, seconds: float) -> None:
    if settings.docs and settings.has_embedder:
        from adapters.terminal.indexing import make_vectors

        make_vectors(settings, seconds=seconds)


def main() -> None:
    """The console script."""
    gc.set_threshold(OBJECTS_OF_A_START)
    # Conversations, documents and sealed tokens: for nobody else on this machine.
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # terminals that know no dash
    try:
        app(prog_name="footnote")
    finally:
        # Python's last collections would look at every loaded module: 0.2 s for nothing.
        gc.freeze()
