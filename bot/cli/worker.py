"""The command ``footnote worker``."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.cli.command import Docs, Providers, command_app, settings_for
from bot.core.logs import announce
from bot.service.dispatch.dispatcher import CONCURRENCY, need_queue

app = command_app()


@app.command()
def worker(
    docs: Docs = None,
    provider: Providers = None,
    concurrency: Annotated[
        int,
        typer.Option("--concurrency", metavar="N", min=1, help="Questions at once."),
    ] = CONCURRENCY,
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

    Ctrl-C or SIGTERM ends it: questions in progress get 10 seconds, the rest go to
    another worker. Exit code 2: a token or setting is wrong.
    """
    settings = settings_for(docs, provider)
    need_queue(settings, "footnote worker")
    from bot.operation.serving import work  # once it is known that there is a queue

    asyncio.run(work(settings, announce, health_port=health_port, concurrency=concurrency))
