"""The command ``footnote watch``: standing questions at the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.command import sentences, settings_for, standard_input
from bot.errors import Invalid


def watch(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUESTION | list | run | pause ID | resume ID | stop ID",
            help="A question to watch, or an action on the questions that are watched.",
        ),
    ],
    every: Annotated[
        str,
        typer.Option(
            "--every",
            metavar="SCHEDULE",
            help="daily, weekly, or a cron expression in UTC, such as '0 9 * * 1-5'.",
        ),
    ] = "daily",
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="Ask it in this conversation.")
    ] = None,
    docs: Annotated[
        list[Path] | None,
        typer.Option("--docs", metavar="PATH", help="Index this folder or file first; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Answer a question, research it again on a schedule, and show it when its answer changes.

    `footnote serve` checks the questions of the console and of chats automatically. `footnote watch
    run` checks those of the terminal and shows what has changed: run it from cron, as often as the
    shortest schedule needs.

    Examples:

        footnote watch "Which Python version is the latest?" --every weekly

        footnote watch list

        footnote watch run

        footnote watch stop 3fa9c1
    """
    import asyncio

    with sentences():
        settings = settings_for(docs, None)
        from adapters.terminal import standing
        from bot.standing.desk import VERBS

        verb, rest = words[0], words[1:]
        if settings.docs and (verb == "run" or verb not in VERBS):
            from adapters.terminal.indexing import index_documents

            index_documents(settings)
        if verb == "list" and not rest:
            asyncio.run(standing.show_list(settings, as_json=as_json))
        elif verb == "run" and not rest:
            asyncio.run(standing.check_due(settings, as_json=as_json))
        elif verb in VERBS and len(rest) == 1:
            asyncio.run(standing.change(settings, verb, rest[0]))
        elif rest:
            raise Invalid("Put the question in quotes, or write list, run, pause ID or stop ID.")
        else:
            question = standard_input().read() if verb == "-" else verb
            asyncio.run(standing.begin(settings, question, every, thread, as_json=as_json))
