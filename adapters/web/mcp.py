"""``/mcp``: a server of the Model Context Protocol over streamable HTTP, behind the console's gate.

https://modelcontextprotocol.io/specification/draft/basic/transports#streamable-http

There are no sessions: each request is authorized by itself, and any process can respond. Importing
the protocol's package takes a second, so it is done with the first request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib import import_module

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from adapters.web.access.gate import Proxies, visitor_of
from adapters.web.access.visibility import Visibility, looked_at, run_named, seeing
from adapters.web.asking import put_question
from adapters.web.console import WORKSPACE, Console
from adapters.web.display import asked_locale, texts_of
from adapters.web.live import moments
from adapters.web.turns import turns_of
from bot.core.errors import Invalid, Unavailable
from bot.core.extras import need
from bot.core.messages import Answer, Message, PlanView, Thread
from bot.core.reader import Reader
from bot.core.texts import Texts, said
from bot.mcp.session import AskArguments, AskResult, ResourceEntry
from bot.research.library import Library
from bot.storage.archive import KeptPage, Traces
from bot.storage.audit_log import act_as, in_console
from bot.storage.store import RunRecord

PATH = "/mcp"


class McpEndpoint:
    """The endpoint of the protocol; it handles requests within ``at_work``."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._wanted = asyncio.Event()
        self._ready: asyncio.Future[Callable[[Scope, Receive, Send], Awaitable[None]]] | None = None

    @property
    def routes(self) -> Sequence[BaseRoute]:
        return [Route(PATH, self)]

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        self._ready = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(self._serve())
        try:
            yield
        finally:
            self._ready = None
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    async def _serve(self) -> None:
        await self._wanted.wait()
        ready = self._ready
        assert ready is not None  # noqa: S101 - it is set as long as this works
        module = await asyncio.to_thread(import_module, "mcp.server.streamable_http_manager")
        server = await asyncio.to_thread(import_module, "bot.mcp.server")
        manager = module.StreamableHTTPSessionManager(server.mcp_server(self._desk), stateless=True)
        async with manager.run():
            ready.set_result(manager.handle_request)
            await asyncio.Event().wait()

    def _desk(self, request: Request | None) -> _Desk:
        assert request is not None  # noqa: S101 - over HTTP there is one
        return _Desk(self._console, request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        need("mcp", PATH, Unavailable)
        if self._ready is None:
            raise Unavailable(said("web-starting"))
        self._wanted.set()
        handle = await asyncio.shield(self._ready)
        await handle(scope, receive, send)


class _Desk:
    """See ``bot.mcp.session.Session``; the client has the visitor's rights in the console."""

    def __init__(self, console: Console, request: Request) -> None:
        self._console = console
        self._request = request
        self._visitor = visitor_of(request)
        address = Proxies.of(console.settings).client_of(request)
        act_as(in_console(self._visitor.id, address))

    @property
    def caller(self) -> str:
        return f"{self._visitor.way}:{self._visitor.id}"

    @property
    def texts(self) -> Texts:
        return texts_of(self._request)

    @property
    def _seeing(self) -> Visibility:
        return seeing(self._console, self._request)

    async def ask(self, given: AskArguments, show: Callable[[PlanView], None]) -> AskResult:
        try:
            asked = await put_question(
                self._console,
                self._request,
                given.question,
                depth=given.depth,
                thread=given.thread,
                name="",
            )
        except HTTPException as refused:
            raise Invalid(str(refused.detail)) from refused
        run = await self._console.store.run(asked.run_id)
        try:
            if run is not None:
                await self._follow(run, show)
        except BaseException:
            # The client has disconnected, so the run is stopped. If `footnote serve` itself ends,
            # there is no reception, and the run is resumed at the next start.
            if (reception := self._console.reception) is not None:
                with anyio.CancelScope(shield=True):
                    await reception.stop_run(asked.run_id)
            raise
        answer = await self._answer(asked.run_id)
        if run is None or answer is None:
            raise Unavailable(self.texts("question-gone"))
        return AskResult(answer, run.message.thread.thread)

    async def _follow(self, run: RunRecord, show: Callable[[PlanView], None]) -> None:
        """Report the run's plan until it has its final answer."""
        reader = Reader.of_stored(run.message, run.options)
        async with self._console.live.follow(run.message.thread, run.id) as feed:
            async for _ in moments(feed):
                standing = feed.standings.get(run.id)
                if standing is None or standing.over or standing.removed:
                    return
                if standing.reply_state is None:
                    continue
                now = self._seeing.visible_state(standing.reply_state, reader)
                if now.answer is not None and not now.answer.is_pending:
                    return
                if now.plan is not None:
                    show(now.plan)

    async def library(self) -> tuple[Library, tuple[str, ...]]:
        visitor = self._visitor
        if not self._console.questions.allows(visitor.client):
            raise Invalid(self.texts("web-too-many-questions"))
        message = Message(
            event_id="",
            thread=Thread("web", WORKSPACE, visitor.channel, ""),
            author=visitor.author,
            text="",
            at=datetime.now(UTC),
            locale=asked_locale(self._request),
        )
        return await self._console.open_reception().library(message)

    async def answers(self, limit: int) -> Sequence[ResourceEntry]:
        channel, told = self._visitor.channel, self._seeing.told
        found = await self._console.archive.answers("web", channel, limit, told)
        return [ResourceEntry(*each) for each in found]

    async def answer(self, run: str) -> Answer | None:
        found = await self._answer(run)
        await looked_at(self._console, "run", run, found is not None)
        return found

    async def _answer(self, run: str) -> Answer | None:
        found = await self._run(run)
        turns = await turns_of(self._console, [run]) if found is not None else ()
        return self._seeing.turn(turns[0]).reply_state.answer if turns else None

    async def page(self, run: str, number: int) -> KeptPage | None:
        found = await self._page(run, number)
        await looked_at(self._console, "page", f"{run}/{number}", found is not None)
        return found

    async def has_read(self, url: str) -> None:
        await looked_at(self._console, "page", url, True)

    async def _page(self, run: str, number: int) -> KeptPage | None:
        if await self._run(run) is None:
            return None
        found = await Traces(self._console.store).page(run, number)
        return found if found is not None and self._seeing.reach.allows(found.url) else None

    async def _run(self, run: str) -> RunRecord | None:
        try:
            return await run_named(self._console, self._request, run)
        except HTTPException:
            return None
