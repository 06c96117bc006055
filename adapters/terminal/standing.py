"""The actions of the command ``footnote watch`` for standing questions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import typer

from adapters.terminal.listener import PLATFORM, Terminal, poster_for, terminal_thread
from adapters.terminal.records import open_records
from bot.app import open_app
from bot.messages import RunOptions
from bot.rendering.documents import printed_json
from bot.rendering.texts import DEFAULT, texts_for
from bot.rights.reader import EVERYTHING
from bot.settings import Settings
from bot.standing.desk import Desk, watch_confirmation, watch_lines
from bot.standing.rounds import StandingRounds
from bot.standing.schedule import schedule_named
from bot.storage.standing import Watch


async def begin(
    settings: Settings, question: str, every: str, name: str | None, *, as_json: bool
) -> None:
    """Ask the question, show its answer, and watch it."""
    schedule = schedule_named(every)
    poster = poster_for(as_json=as_json)
    async with open_app(settings, {PLATFORM: poster}) as app:
        answer = await Terminal(app, poster).ask(question, terminal_thread(name), RunOptions())
        run = await app.store.run(answer.run)
        assert run is not None  # noqa: S101
        desk = Desk(app.store.database)
        watch = await desk.begin(run, run.message, schedule)
    poster.tell(watch_confirmation(watch, texts_for(DEFAULT)))


async def check_due(settings: Settings, *, as_json: bool) -> None:
    """Check the terminal's standing questions that are due; show a change like an answer."""
    poster = poster_for(as_json=as_json)
    async with open_app(settings, {PLATFORM: poster}) as app:
        rounds = StandingRounds(settings, app.store, app.service, app.dispatcher, {PLATFORM})
        now = datetime.now(UTC)
        left = await app.store.unfinished(now, [PLATFORM])
        cut_short = [run for run in left if run.options.watch]
        checked = [run.id for run in cut_short] + await rounds.once(now)
        poster.shown.update(checked)
        for run in cut_short:
            await app.dispatcher.submit(run.id, run.message.thread)
        for run_id in checked:
            await app.dispatcher.wait(run_id)


async def show_list(settings: Settings, *, as_json: bool) -> None:
    """List all standing questions, of every platform."""
    async with open_records(settings) as store:
        found = await Desk(store.database).all()
    if as_json:
        typer.echo(printed_json([_document(watch) for watch in found]))
        return
    for line in watch_lines(found, EVERYTHING, texts_for(DEFAULT)) or ["Nothing is watched."]:
        typer.echo(line)


async def change(settings: Settings, verb: str, id: str) -> None:
    """Pause, resume or stop any standing question, as the operator may."""
    async with open_records(settings) as store:
        watch = await Desk(store.database).do(verb, id, None)
    typer.echo(texts_for(DEFAULT)(f"watch-done-{verb}", question=watch.question.text))


def _document(watch: Watch) -> dict[str, Any]:
    return {
        "id": watch.id,
        "question": watch.question.text,
        "thread": watch.thread.key,
        "run": watch.run,
        "author": watch.author.id,
        "schedule": watch.schedule,
        "state": watch.state,
        "due_at": watch.due_at.isoformat(),
        "looked_at": watch.looked_at and watch.looked_at.isoformat(),
        "outcome": watch.outcome,
    }
