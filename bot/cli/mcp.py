"""The command ``footnote mcp``."""

from __future__ import annotations

import asyncio

from bot.cli.ask import indexed
from bot.cli.command import Docs, Providers, command_app, settings_with_kept
from bot.core.extras import need

app = command_app()


@app.command()
def mcp(docs: Docs = None, provider: Providers = None) -> None:
    """Serve the Model Context Protocol on standard input and output.

    For Claude Code, Cursor and other programs that start it; the handbook's page mcp has the line
    for each. `footnote serve` has the same over HTTP, at /mcp.
    """
    need("mcp", "`footnote mcp`")
    settings = settings_with_kept(docs, provider)
    with indexed(settings):
        from adapters.terminal.mcp import serve_mcp

    asyncio.run(serve_mcp(settings))
