"""The commands that run until they are stopped: serve, worker, mcp."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.command import Docs, Providers, indexed, sentences, settings_for
from bot.logs import announce


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
    import asyncio

    with sentences():
        settings = settings_for(docs, provider)
        chosen = {"http_host": host, "http_port": port}
        given = {name: value for name, value in chosen.items() if value is not None}
        settings = settings.model_copy(update=given)
        from bot.dispatch.choice import need_queue
        from bot.platform import listening_platforms

        listening_platforms(settings)
        if no_work:
            need_queue(settings, "footnote serve --no-work")
        from bot.serving import serve as serve_platforms

        asyncio.run(serve_platforms(settings, announce, role="listen" if no_work else "serve"))


def worker(
    docs: Docs = None,
    provider: Providers = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=1,
            help="Questions at once in this process (256).",
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

    Ctrl-C or SIGTERM ends it: questions in progress get 10 seconds, the rest go to
    another worker. Exit code 2: a token or setting is wrong.
    """
    import asyncio

    with sentences():
        settings = settings_for(docs, provider)
        from bot.dispatch.choice import CONCURRENCY, need_queue

        need_queue(settings, "footnote worker")
        from bot.working import work

        most = concurrency or CONCURRENCY
        asyncio.run(work(settings, announce, health_port=health_port, concurrency=most))


def mcp(docs: Docs = None, provider: Providers = None) -> None:
    """Serve the Model Context Protocol on standard input and output.

    For Claude Code, Cursor and other programs that start it; the handbook's page mcp has the line
    for each. `footnote serve` has the same over HTTP, at /mcp.
    """
    import asyncio

    with sentences():
        from bot.extras import need

        need("mcp", "`footnote mcp`")
        settings = settings_for(docs, provider)
        with indexed(settings):
            from adapters.terminal.mcp import serve_mcp

        asyncio.run(serve_mcp(settings))
