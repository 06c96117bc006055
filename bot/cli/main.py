"""The ``footnote`` command. The module of a command is imported when it is called."""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bot import __version__
from bot.cli.command import sentences

COMMANDS = {
    "ask": "Answer one question, with footnotes.",
    "check": "Check the statements of a text, each with a verdict and the quotes behind it.",
    "chat": "Hold a conversation.",
    "serve": "Answer in the browser, and in chat on every platform whose tokens are set.",
    "worker": "Work on questions that `footnote serve` accepts elsewhere, and post their answers.",
    "mcp": "Serve the Model Context Protocol on standard input and output.",
    "demo": "See a question and a follow-up answered.",
    "index": "Index documents for searching.",
    "usage": "Show spending today and this month, by workspace, channel and person.",
    "doctor": "Check every configured part and say what to fix, problems first.",
    "eval": "Ask a file of questions and compare the answers with the expected ones.",
    "watch": "Answer a question, research it again on a schedule, and show it when its answer "
    "changes.",
    "corrections": "List people's corrections of answers, on all platforms, or remove one.",
    "threads": "List the latest threads, with the keys to export or forget them by.",
    "export": "Print a thread: questions, answers with their footnotes and sources, dates.",
    "audit": "The log of who asked, read, shared, exported, forgot and signed in.",
    "db": "Manage the database.",
    "forget": "Remove everything about a thread, a person or a workspace.",
    "keys": "Manage the keys that encrypt tokens.",
}
"""Each command, or group of commands, with the line for ``footnote --help``. The module of the same
name has its ``app``."""


class Commands(TyperGroup):
    """The commands by name: ``--help`` and completion need no module of theirs."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, line in COMMANDS.items():
            self.add_command(TyperCommand(name, help=line, rich_markup_mode=None))

    def resolve_command(self, *given: Any) -> Any:
        name, known, rest = super().resolve_command(*given)
        return name, command_named(name) if known and name else None, rest

    def invoke(self, *given: Any) -> Any:
        with sentences():
            return super().invoke(*given)


def command_named(name: str) -> Any:
    """Return a command, or group of commands, with its options."""
    return typer.main.get_command(import_module(f"bot.cli.{name}").app)


app = typer.Typer(
    name="footnote",
    cls=Commands,
    help="""Ask a question, get an answer in which every claim carries a footnote.

    With nothing configured Footnote answers by quoting: from your documents (--docs), or from
    Wikipedia. With ANTHROPIC_API_KEY set, Claude researches and writes. Try `footnote demo`.""",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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
