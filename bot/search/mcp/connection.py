"""A persistent connection to one Model Context Protocol server, opened on first use.

The protocol's package requires that the same task opens and closes a connection, so a dedicated
task owns it, and calls may come from any task. The next call reopens a broken connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from bot import __version__
from bot.core.egress import DIRECT, Egress
from bot.core.errors import Broken, CredentialsRefused, FootnoteError, ProviderUnavailable
from bot.core.lines import one_line, shortened
from bot.core.logs import get_logger
from bot.core.readership import McpServer, fill_variables
from bot.search.mcp.tools import OfferedTool
from bot.search.mcp.wire import MOST_BYTES, Meter, authentication, metered_client, program

MOST_LISTS = 20  # pages of the list of tools
MOST_TOOLS = 1_000
MOST_MISSED = 2  # consecutive timed-out calls after which a server counts as hanging
WORDS = 160  # characters of a server's message quoted in a sentence
CONNECT_SECONDS = 120.0  # the first start may have to download the program
CLOSE_SECONDS = 5.0

T = TypeVar("T")

log = get_logger()


class Connection:
    """See the module docstring. Close it with ``aclose``."""

    def __init__(self, server: McpServer, egress: Egress = DIRECT) -> None:
        """``egress`` is the route to a server over HTTP."""
        self._server = server
        self._egress = egress
        self._meter = Meter()
        self._keeping: asyncio.Task[None] | None = None
        self._client: asyncio.Future[Client] | None = None
        self._closing = asyncio.Event()
        self._tools: tuple[OfferedTool, ...] | None = None
        self._missed = 0  # consecutive calls whose callers gave up waiting
        self._leaving: asyncio.Task[None] | None = None

    async def tools(self) -> tuple[OfferedTool, ...]:
        """Return all tools of the server. Raises like ``call``."""
        if self._tools is None:
            self._tools = await self._asked(_all_tools)
        return self._tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Call a tool and return its result.

        Raises ``ProviderUnavailable``, ``CredentialsRefused``, ``Broken`` or ``InvalidSetting``.
        """
        result = await self._asked(lambda client: client.call_tool(tool, arguments))
        if result.is_error:
            words = " ".join(each.text for each in result.content if each.type == "text")
            raise Broken(f"Its tool {tool} failed: {_said(words)}")
        return result

    async def resource(self, uri: str) -> str:
        """Return the text of a resource; raises like ``call``."""
        read = await self._asked(lambda client: client.read_resource(uri))
        return "\n\n".join(getattr(each, "text", "") for each in read.contents)

    async def aclose(self) -> None:
        await self._leave()
        if self._leaving is not None:
            await self._leaving

    # ------------------------------------------------------------ one call

    async def _asked(self, work: Callable[[Client], Awaitable[T]]) -> T:
        client = await self._connected()
        self._meter.begin()
        try:
            result = await work(client)
        except asyncio.CancelledError:
            self._missed += 1
            if self._missed >= MOST_MISSED:  # it may hang
                self._missed, self._leaving = 0, asyncio.create_task(self._leave())
            raise
        except MCPError as error:
            if (
                self._keeping is None
                or self._meter.trouble
                or error.code == types.CONNECTION_CLOSED
            ):
                await self._leave()
                raise self._trouble(error) from error
            raise self._trouble(error, Broken(f"It refused: {_said(error.message)}")) from error
        except (RuntimeError, ValidationError) as error:
            raise Broken(
                "It sent a result that is not of the form that it declares.", detail=str(error)
            ) from error
        except (OSError, httpx2.HTTPError) as error:
            await self._leave()
            raise self._trouble(error) from error
        self._missed = 0
        return result

    def _trouble(
        self, error: BaseException, otherwise: FootnoteError | None = None
    ) -> FootnoteError:
        """Convert an exception to our own error."""
        meter = self._meter
        if meter.trouble:
            return Broken(meter.trouble)
        if meter.refused:
            status, meter.refused = meter.refused, 0
            return CredentialsRefused(
                f"It does not accept our credentials (HTTP {status}): correct headers or "
                "oauth in [[mcp]]."
            )
        if otherwise is not None:
            return otherwise
        return ProviderUnavailable(
            "The connection to it broke: try again later.", detail=f"{error!r}"[:500]
        )

    # ------------------------------------------------------------ the connection

    async def _connected(self) -> Client:
        if self._client is None:
            self._client = asyncio.get_running_loop().create_future()
            self._client.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._closing = asyncio.Event()
            self._meter = Meter()
            self._keeping = asyncio.create_task(self._keep(self._client, self._closing))
        # A caller that gives up does not cancel connecting: the first start may take long.
        return await asyncio.shield(self._client)

    async def _keep(self, client: asyncio.Future[Client], closing: asyncio.Event) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECT_SECONDS):
                    opened = await stack.enter_async_context(self._opened())
                if not client.done():
                    client.set_result(opened)
                await closing.wait()
        except asyncio.CancelledError:
            client.cancel()
            raise
        except BaseException as error:  # noqa: BLE001  (its package raises groups of anything)
            log.info("mcp_connection_ended", server=self._server.name, error=repr(error)[:500])
            if not client.done():
                client.set_exception(self._not_made(error))
        finally:
            if self._client is client:
                self._client, self._keeping, self._tools = None, None, None

    def _not_made(self, error: BaseException) -> FootnoteError:
        causes = list(_causes(error))
        if own := next((each for each in causes if isinstance(each, FootnoteError)), None):
            return own
        if self._server.command and any(
            isinstance(each, FileNotFoundError | PermissionError) for each in causes
        ):
            return Broken(
                f"The command {shortened(self._server.command[0], 80)} cannot be started: correct "
                "it in [[mcp]]."
            )
        words = next((f" {_said(e.message)}" for e in causes if isinstance(e, MCPError)), "")
        made = ProviderUnavailable(
            f"It cannot be reached, or does not speak the protocol.{words}",
            detail=f"{error!r}"[:500],
        )
        return self._trouble(error, made)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Client]:
        server = self._server
        info = types.Implementation(name="footnote", version=__version__)
        if server.command:
            through = program(server.command, fill_variables(server.name, server.env), self._meter)
            async with Client(through, client_info=info, cache=None) as client:
                yield client
            return
        headers = fill_variables(server.name, server.headers)
        auth = authentication(server)
        async with metered_client(
            headers, server.seconds, self._meter, auth, egress=self._egress
        ) as http:
            at = streamable_http_client(server.url, http_client=http, max_sse_event_size=MOST_BYTES)
            async with Client(at, client_info=info, cache=None) as client:
                yield client

    async def _leave(self) -> None:
        """Close the connection, if there is one."""
        keeping, client = self._keeping, self._client
        self._client, self._keeping, self._tools = None, None, None
        self._closing.set()
        if keeping is None:
            return
        if client is not None and not client.done():
            keeping.cancel()
        done, _ = await asyncio.wait({keeping}, timeout=CLOSE_SECONDS)
        if not done:
            keeping.cancel()
            await asyncio.wait({keeping}, timeout=CLOSE_SECONDS)


async def _all_tools(client: Client) -> tuple[OfferedTool, ...]:
    found: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(MOST_LISTS):
        listed = await client.list_tools(cursor=cursor)
        found += [OfferedTool.of(tool) for tool in listed.tools]
        cursor = listed.next_cursor
        if not cursor or len(found) >= MOST_TOOLS:
            break
    return tuple(found[:MOST_TOOLS])


def _said(words: str) -> str:
    """Quote a server's message for use in a sentence."""
    return f"“{shortened(one_line(words), WORDS) or 'no reason given'}”."


def _causes(error: BaseException) -> Iterator[BaseException]:
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _causes(each)
    elif error.__cause__ is not None:
        yield from _causes(error.__cause__)
