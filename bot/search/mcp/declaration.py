"""Declares a connected Model Context Protocol server as a search provider."""

from __future__ import annotations

from bot.core.egress import Egress
from bot.core.plugins import need
from bot.core.readership import McpServer
from bot.core.settings import Settings
from bot.search.declaration import Client, Declaration, Policy
from bot.search.provider import SearchProvider

KEPT_SECONDS = 300.0  # for results: a team's tickets and pages change
AWAITED_SECONDS = 5.0


def server_declaration(server: McpServer) -> Declaration[Settings]:
    def build(settings: Settings, client: Client) -> SearchProvider:
        need("mcp", f"The server {server.name} of [[mcp]]")
        from bot.search.mcp.provider import McpSource

        return McpSource(server, Egress.of(settings))

    return Declaration(
        name=server.name,
        settings=Settings,
        build=build,
        switched_on=lambda _: True,
        policy=lambda _: Policy(
            deadline=server.seconds,
            attempts=2,
            failures=3,
            ttl=KEPT_SECONDS,
            awaited=AWAITED_SECONDS,
        ),
    )
