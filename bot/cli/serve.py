"""The command ``footnote serve``."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.cli.command import Docs, Providers, command_app, settings_for
from bot.core.logs import announce
from bot.service.dispatch.dispatcher import need_queue
from bot.service.platform import listening_platforms

app = command_app()


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

    Ctrl-C or SIGTERM ends it: questions in progress get 10 seconds, the rest are
    resumed at the next start. Exit code 2: a token or setting is wrong.
    """
    settings = settings_for(docs, provider)
    chosen = {"http_host": host, "http_port": port}
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = settings.model_copy(update=given)
    listening_platforms(settings)
    if no_work:
        need_queue(settings, "footnote serve --no-work")
    from bot.operation.serving import (
        serve as serve_platforms,  # once the settings are known to be right
    )

    asyncio.run(serve_platforms(settings, announce, role="listen" if no_work else "serve"))
