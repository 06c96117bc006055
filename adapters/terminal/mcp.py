"""``footnote mcp``: a server of the Model Context Protocol on standard input and output.

Its questions belong to the person who starts it: they have the terminal's rights and are among its
conversations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio
from mcp.server.stdio import stdio_server

from adapters.terminal.listener import Terminal
from adapters.terminal.messages import terminal_message, terminal_thread
from adapters.terminal.poster import TerminalPoster, TerminalReply
from bot.core.messages import TERMINAL, Answer, PlanView, RunOptions, Thread
from bot.core.posting import PostState, Reply, RunRef
from bot.core.reader import EVERYTHING, telling
from bot.core.settings import Settings
from bot.core.texts import DEFAULT, Texts, texts_for
from bot.mcp.server import mcp_server
from bot.mcp.session import AskArguments, AskResult, ResourceEntry
from bot.operation.app import App, open_app
from bot.research.library import Library
from bot.storage.archive import Archive, KeptPage, Traces


async def serve_mcp(settings: Settings) -> None:
    """Serve until standard input ends."""
    poster = _Poster()
    async with open_app(settings, {TERMINAL: poster}) as app:
        server = mcp_server(lambda request: _Desk(app, poster))
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


class _Poster(TerminalPoster):
    """Keeps answers instead of printing them, and passes the plans of runs to ``shows``."""

    def __init__(self) -> None:
        super().__init__(as_json=True)
        self.shows: dict[str, Callable[[PlanView], None]] = {}

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        return _Reply(self, run.id, self.shows.get(run.id, lambda plan: None))

    def show(self, answer: Answer) -> None:
        """Do nothing: the answer is the result of the call."""


class _Reply(TerminalReply):
    def __init__(self, poster: _Poster, run_id: str, show: Callable[[PlanView], None]) -> None:
        super().__init__(poster, run_id)
        self._show = show

    def progress(self, plan: PlanView) -> None:
        super().progress(plan)
        self._show(plan)


class _Asking(Terminal):
    """Asks the question of a call; cancelling the call stops the run."""

    def __init__(self, app: App, poster: _Poster, show: Callable[[PlanView], None]) -> None:
        super().__init__(app, poster)
        self._shows = poster.shows
        self._show = show

    async def _work(self, run_id: str, thread: Thread) -> None:
        self._shows[run_id] = self._show
        dispatcher = self._app.dispatcher
        try:
            await dispatcher.submit(run_id, thread)
            await dispatcher.wait(run_id)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await dispatcher.stop(run_id)
            raise
        finally:
            del self._shows[run_id]


class _Desk:
    """See ``bot.mcp.session.Session``."""

    caller = TERMINAL

    def __init__(self, app: App, poster: _Poster) -> None:
        self._app = app
        self._poster = poster
        self._archive = Archive(app.store.database)

    @property
    def texts(self) -> Texts:
        return texts_for(DEFAULT)

    async def ask(self, given: AskArguments, show: Callable[[PlanView], None]) -> AskResult:
        thread = terminal_thread(given.thread or None)
        asking = _Asking(self._app, self._poster, show)
        answer = await asking.ask(given.question, thread, RunOptions(depth=given.depth))
        run = await self._app.store.run(answer.run)
        self._poster.answers.pop(answer.run, None)
        return AskResult(answer, run.message.thread.thread if run is not None else thread.thread)

    async def library(self) -> tuple[Library, tuple[str, ...]]:
        message = terminal_message(terminal_thread(None), "")
        return await self._app.service.library_for(message), ()

    async def answers(self, limit: int) -> Sequence[ResourceEntry]:
        found = await self._archive.answers(TERMINAL, None, limit, telling(EVERYTHING, ""))
        return [ResourceEntry(*each) for each in found]

    async def answer(self, run: str) -> Answer | None:
        found = await self._app.store.run(run)
        return None if found is None or found.removed else found.answer

    async def has_read(self, url: str) -> None:
        """Do nothing: a person at the terminal can open the files anyway."""

    async def page(self, run: str, number: int) -> KeptPage | None:
        return await Traces(self._app.store).page(run, number)
