"""The command ``footnote demo``."""

from __future__ import annotations

import asyncio

import typer

from adapters.terminal.listener import Terminal
from adapters.terminal.messages import terminal_thread
from adapters.terminal.poster import TerminalPoster
from bot.cli.command import EXIT_NO_ANSWER, EXIT_OK, HANDBOOK, command_app, settings_for
from bot.cli.index import index_documents
from bot.core.messages import TERMINAL, RunOptions
from bot.core.settings import Settings
from bot.operation.app import open_app

DEMO = (
    "How does Footnote resume a run that was interrupted?",
    "And where does it keep it?",
)

app = command_app()


@app.command()
def demo() -> None:
    """See a question and a follow-up answered.

    They are about Footnote, from its own handbook; no key, server or network is needed.
    """
    settings = settings_for([HANDBOOK], ["local"])
    # A separate data folder keeps the handbook out of the person's own index.
    apart = settings.model_copy(update={"data_dir": settings.data_dir / "demo", "database_url": ""})
    index_documents(apart)
    answered = asyncio.run(_answered(apart))
    raise typer.Exit(EXIT_OK if answered else EXIT_NO_ANSWER)


async def _answered(settings: Settings) -> bool:
    poster = TerminalPoster()
    thread = terminal_thread(None)
    async with open_app(settings, {TERMINAL: poster}) as opened:
        terminal = Terminal(opened, poster)
        for question in DEMO:
            typer.secho(f"\nYou: {question}", bold=True)
            answer = await terminal.ask(question, thread, RunOptions(providers=("local",)))
            if answer.status != "answered":
                return False
    own = 'Now your own: footnote ask --docs YOUR_FOLDER "your question", or footnote chat.'
    typer.secho(f"\n{own}", dim=True)
    return True
