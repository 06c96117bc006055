"""A persistent connection to one Model Context Protocol server: a program, or HTTP.

The protocol's package reads everything a server sends. Here a server may send at most
``MOST_BYTES`` per call; lines that are not protocol messages, such as logs, are dropped.

The package requires that the same task opens and closes a connection, so a dedicated task owns it,
and calls may come from any task. It is opened on first use; the next call reopens a broken one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bot import __version__
from bot.core.egress import DIRECT, Egress
from bot.core.errors import Broken, CredentialsRefused, FootnoteError, ProviderUnavailable
from bot.core.lines import one_line, shortened
from bot.core.logs import get_logger
from bot.core.readership import McpServer, fill_variables
from bot.core.texts import said
from bot.search.mcp_tools import OfferedTool

MOST_BYTES = 8_000_000  # per call
CHUNK = 65_536
END_SECONDS = 1.0  # for a program to end by itself, and again after SIGTERM
LOG = 2_000  # characters kept of a program's log
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]

log = get_logger()


@dataclass(slots=True)
class Meter:
    """Counts the bytes a server sends; ``trouble`` says why its connection was given up."""

    left: int = MOST_BYTES
    trouble: str = ""
    refused: int = 0  # the HTTP status with which it refused our credentials

    def begin(self) -> None:
        """Reset the counts for a new call."""
        self.left, self.refused = MOST_BYTES, 0

    def take(self, size: int) -> bool:
        """Count bytes; returns False if there are too many."""
        self.left -= size
        if self.left < 0 and not self.trouble:
            self.trouble = f"It sent more than {MOST_BYTES // 1_000_000} MB: that is not read."
        return self.left >= 0


# ---------------------------------------------------------------- a program


@asynccontextmanager
async def program(
    command: Sequence[str], environment: Mapping[str, str], meter: Meter
) -> AsyncIterator[Streams]:
    """Start a program that speaks the protocol on its standard input and output.

    It gets only paths and the like from our environment. Raises ``OSError``.
    """
    process = await anyio.open_process(
        list(command),
        env={**get_default_environment(), **environment},
        start_new_session=True,
    )
    assert process.stdin is not None  # noqa: S101 - all three are pipes
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    stdin = process.stdin
    to_us, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, to_it = anyio.create_memory_object_stream[SessionMessage](0)

    async def listen(stdout: ByteReceiveStream) -> None:
        line = bytearray()
        async with to_us:
            with suppress(*_GONE):
                while True:
                    chunk = await stdout.receive(CHUNK)
                    if not meter.take(len(chunk)):
                        return
                    first, *others = chunk.split(b"\n")
                    line += first
                    for other in others:
                        if (message := _message(bytes(line))) is not None:
                            await to_us.send(SessionMessage(message))
                        line = bytearray(other)

    async def speak() -> None:
        with suppress(*_GONE):
            async for message in to_it:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(f"{text}\n".encode("utf-8", "replace"))

    async def hear(stderr: ByteReceiveStream) -> None:
        end = b""
        with suppress(*_GONE):
            while True:
                end = (end + await stderr.receive(CHUNK))[-LOG:]
        if said := end.decode("utf-8", "replace").strip():
            log.info("mcp_server_ended", command=command[0], said=said)

    async with anyio.create_task_group() as group:
        group.start_soon(listen, process.stdout)
        group.start_soon(speak)
        group.start_soon(hear, process.stderr)
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
                for stream in (received, sent, to_us, to_it):
                    await stream.aclose()
            group.cancel_scope.cancel()


def _message(line: bytes) -> types.JSONRPCMessage | None:
    """Parse a reply or a request (which is refused later); None for notifications, which are not
    needed here, and for any other line."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
    return None if isinstance(message, types.JSONRPCNotification) else message


async def _end(process: Process) -> None:
    """Close its input, as the protocol requires; then end it and its child processes."""
    if process.stdin is not None:
        with suppress(*_GONE):
            await process.stdin.aclose()
    with anyio.move_on_after(END_SECONDS):
        # Its wait() also waits for all processes that hold its pipes.
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    with suppress(ProcessLookupError):
        await terminate_posix_process_tree(process, END_SECONDS)
    with anyio.move_on_after(END_SECONDS):
        await process.aclose()


# ---------------------------------------------------------------- HTTP


def metered_client(
    headers: Mapping[str, str],
    seconds: float,
    meter: Meter,
    auth: httpx2.Auth | None = None,
    *,
    egress: Egress,
) -> httpx2.AsyncClient:
    """Return an HTTP client that counts the bytes of responses; ``egress`` is its route.

    ``seconds`` limits connecting; a response may take as long as its caller waits.
    """

    async def ask(request: httpx2.Request) -> None:
        request.headers["Accept-Encoding"] = "identity"  # compressed, a few bytes could become many

    async def count(response: httpx2.Response) -> None:
        if response.status_code in (401, 403):
            meter.refused = response.status_code
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed unasked", request=response.request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - not read yet
        response.stream = _Counted(response.stream, meter, response.request)

    return httpx2.AsyncClient(
        transport=egress.transport(httpx2),
        headers=dict(headers),
        timeout=httpx2.Timeout(seconds, read=None),
        event_hooks={"request": [ask], "response": [count]},
        auth=auth,
    )


class _Tokens:
    """The tokens of one connection, kept in memory while it lasts."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None  # it is in the settings

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: no client is ever registered."""


def authentication(server: McpServer) -> httpx2.Auth | None:
    """Return authentication with tokens from the configured issuer only; None without one."""
    oauth = server.oauth
    if oauth is None:
        return None
    secret = fill_variables(server.name, {"secret": oauth.client_secret})["secret"]
    return ClientCredentialsOAuthProvider(
        server.url,
        _Tokens(),
        oauth.client_id,
        secret,
        scope=oauth.scope or None,
        issuer=oauth.issuer,
    )


class _Counted(httpx2.AsyncByteStream):
    def __init__(
        self, inner: httpx2.AsyncByteStream, meter: Meter, request: httpx2.Request
    ) -> None:
        self._inner = inner
        self._meter = meter
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            if not self._meter.take(len(chunk)):
                raise httpx2.ReadError(self._meter.trouble, request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


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
            raise Broken(said("mcp-tool", tool=tool, words=_said(words)))
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
            refused = Broken(said("mcp-refused", words=_said(error.message)))
            raise self._trouble(error, refused) from error
        except (RuntimeError, ValidationError) as error:
            raise Broken(said("mcp-odd"), detail=str(error)) from error
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
            return CredentialsRefused(said("mcp-credentials", status=status))
        if otherwise is not None:
            return otherwise
        return ProviderUnavailable(said("mcp-broke"), detail=f"{error!r}"[:500])

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
            return Broken(said("mcp-command", command=shortened(self._server.command[0], 80)))
        told = said("mcp-away")
        if words := [_said(each.message) for each in causes if isinstance(each, MCPError)]:
            told += words[0]
        made = ProviderUnavailable(told, detail=f"{error!r}"[:500])
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
