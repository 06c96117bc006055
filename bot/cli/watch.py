"""The command ``footnote watch``: standing questions at the terminal."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer

from adapters.terminal.listener import Terminal
from adapters.terminal.messages import terminal_thread
from adapters.terminal.poster import TerminalPoster
from bot.cli.command import AsJson, command_app, settings_with_kept, standard_input
from bot.cli.index import index_documents
from bot.cli.records import open_records
from bot.core.errors import Invalid
from bot.core.messages import TERMINAL, RunOptions
from bot.core.reader import EVERYTHING
from bot.core.settings import Settings
from bot.core.texts import DEFAULT, texts_for
from bot.operation.app import open_app
from bot.service.standing_service import (
    VERBS,
    StandingRounds,
    StandingService,
    schedule_named,
    watch_confirmation,
    watch_lines,
)

app = command_app()


@app.command()
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
    as_json: AsJson = False,
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
    settings = settings_with_kept()
    verb, rest = words[0], words[1:]
    if settings.docs and (verb == "run" or verb not in VERBS):
        index_documents(settings)
    if verb == "list" and not rest:
        asyncio.run(_list(settings))
    elif verb == "run" and not rest:
        asyncio.run(check_due(settings, as_json=as_json))
    elif verb in VERBS and len(rest) == 1:
        asyncio.run(_change(settings, verb, rest[0]))
    elif rest:
        raise Invalid("Put the question in quotes, or write list, run, pause ID or stop ID.")
    else:
        question = standard_input().read() if verb == "-" else verb
        asyncio.run(_begin(settings, question, every, as_json=as_json))


async def _begin(settings: Settings, question: str, every: str, *, as_json: bool) -> None:
    """Ask the question, show its answer, and watch it."""
    schedule = schedule_named(every)
    poster = TerminalPoster(as_json=as_json)
    async with open_app(settings, {TERMINAL: poster}) as opened:
        answer = await Terminal(opened, poster).ask(question, terminal_thread(None), RunOptions())
        run = await opened.store.run(answer.run)
        assert run is not None  # noqa: S101
        begun = await StandingService(opened.store.database).begin(run, run.message, schedule)
    poster.tell(watch_confirmation(begun, texts_for(DEFAULT)))


async def check_due(settings: Settings, *, as_json: bool) -> None:
    """Check the terminal's standing questions that are due; show a change like an answer."""
    poster = TerminalPoster(as_json=as_json)
    async with open_app(settings, {TERMINAL: poster}) as opened:
        rounds = StandingRounds(
            settings, opened.store, opened.service, opened.dispatcher, {TERMINAL}
        )
        now = datetime.now(UTC)
        left = await opened.store.unfinished(now, [TERMINAL])
        cut_short = [run for run in left if run.options.watch]
        checked = [run.id for run in cut_short] + await rounds.once(now)
        poster.shown.update(checked)
        for run in cut_short:
            await opened.dispatcher.submit(run.id, run.message.thread)
        for run_id in checked:
            await opened.dispatcher.wait(run_id)


async def _list(settings: Settings) -> None:
    """List all standing questions, of every platform."""
    async with open_records(settings) as store:
        found = await StandingService(store.database).all()
    for line in watch_lines(found, EVERYTHING, texts_for(DEFAULT)) or ["Nothing is watched."]:
        typer.echo(line)


async def _change(settings: Settings, verb: str, id: str) -> None:
    """Pause, resume or stop any standing question, as the operator may."""
    async with open_records(settings) as store:
        changed = await StandingService(store.database).do(verb, id, None)
    typer.echo(texts_for(DEFAULT)(f"watch-done-{verb}", question=changed.question.text))
