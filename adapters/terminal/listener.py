"""Asks questions from the terminal: one question, or a conversation."""

from __future__ import annotations

import asyncio
import difflib
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.terminal.messages import is_unnamed, terminal_message
from adapters.terminal.poster import TerminalPoster
from bot.core.errors import Denied, FootnoteError, Invalid, Unavailable
from bot.core.messages import TERMINAL, Answer, RunOptions, Thread, clean_question
from bot.core.settings import Settings
from bot.operation.app import App, open_app

PROMPT = "\nYou: "
MOST_FILES = 3  # files named by ``--docs`` that are read before a search


class Terminal:
    """A terminal session on an open app: ``ask`` asks a question and shows its answer."""

    def __init__(self, app: App, poster: TerminalPoster) -> None:
        self._app = app
        self._poster = poster
        # Files that ``--docs`` names are like files sent with the first question.
        named = [Path(each).expanduser().resolve() for each in app.settings.docs]
        self._files = named if len(named) <= MOST_FILES and all(map(Path.is_file, named)) else []

    async def ask(self, question: str, thread: Thread, options: RunOptions) -> Answer:
        """Answer a question and show the answer.

        An interrupted run of the same question is continued; the dispatcher first finishes earlier
        unanswered questions of the thread. Ctrl-C stops the run and shows what was found; a second
        Ctrl-C exits at once, and the run can be continued later.
        """
        interrupted = await self._interrupted(clean_question(question), thread, options)
        if interrupted is not None:
            run_id, thread = interrupted
            await self._app.store.withdraw_stop(run_id)
            self._poster.tell(f"Continuing run {run_id}, which was interrupted.")
        else:
            message = terminal_message(thread, question, self._files)
            self._files = []
            owner = self._app.dispatcher.owner
            run_id, _ = await self._app.service.accept(message, options, owner=owner)
        self._poster.shown.add(run_id)
        await self._work(run_id, thread)
        if run_id not in self._poster.answers:
            raise Unavailable(
                f"Run {run_id} is being worked on by another process: ask again in a moment."
            )
        return self._poster.answers[run_id]

    async def introduce(self, thread: Thread) -> None:
        """Report that a named conversation is new, because the name may be mistyped."""
        known = await self._app.store.thread_names(TERMINAL)
        if is_unnamed(thread) or thread.thread in known:
            return
        near = difflib.get_close_matches(thread.thread, known, n=1)
        meant = f' (did you mean "{near[0]}"?)' if near else ""
        self._poster.tell(f'Beginning a new conversation "{thread.thread}"{meant}.')

    async def finish_earlier(self, thread: Thread) -> None:
        """Finish a thread's questions that an earlier session left unanswered, and show the
        answers."""
        for run in await self._app.store.unfinished(datetime.now(UTC), [TERMINAL]):
            if run.message.thread == thread:
                self._poster.shown.add(run.id)
                self._poster.tell(f'Finishing the interrupted question "{run.message.text}".')
                await self._work(run.id, thread)

    async def _interrupted(
        self, question: str, thread: Thread, options: RunOptions
    ) -> tuple[str, Thread] | None:
        """Return the interrupted run of the same question, if there is one."""
        for run in await self._app.store.unfinished(datetime.now(UTC), [TERMINAL]):
            where = run.message.thread
            same_thread = where == thread or (is_unnamed(thread) and is_unnamed(where))
            if same_thread and run.message.text == question and run.options == options:
                return run.id, where
        return None

    async def _work(self, run_id: str, thread: Thread) -> None:
        dispatcher = self._app.dispatcher
        await dispatcher.submit(run_id, thread)

        async def stop() -> None:
            self._poster.tell("Stopping; Ctrl-C again leaves at once.")
            await dispatcher.stop(run_id)

        with _interruptible(stop):
            await dispatcher.wait(run_id)


@contextmanager
def _interruptible(stop: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[None]:
    """Let the first Ctrl-C call ``stop``, and a second one, or SIGTERM, cancel the task."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None  # noqa: S101
    stopping: list[asyncio.Task[None]] = []

    def interrupt() -> None:
        if stopping:
            task.cancel()
        else:
            stopping.append(asyncio.create_task(stop()))

    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    except asyncio.CancelledError:
        # A further Ctrl-C must not interrupt closing.
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lambda: None)
        raise
    else:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def ask_once(
    settings: Settings, question: str, thread: Thread, options: RunOptions, *, as_json: bool
) -> tuple[Answer, FootnoteError | None]:
    """Open Footnote, ask one question, and close it; return the answer, and the error if it
    failed."""
    poster = TerminalPoster(as_json=as_json)
    async with open_app(settings, {TERMINAL: poster}) as app:
        terminal = Terminal(app, poster)
        await terminal.introduce(thread)
        answer = await terminal.ask(question, thread, options)
    return answer, poster.failures.get(answer.run)


def converse(settings: Settings, thread: Thread, options: RunOptions) -> None:
    """Read and answer questions until the end of input."""
    poster = TerminalPoster()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        app = runner.run(stack.enter_async_context(open_app(settings, {TERMINAL: poster})))
        terminal = Terminal(app, poster)
        try:
            runner.run(terminal.introduce(thread))
            runner.run(terminal.finish_earlier(thread))
            for question in _questions():
                try:
                    runner.run(terminal.ask(question, thread, options))
                except (Denied, Invalid, Unavailable) as error:
                    poster.complain(error)
        finally:
            runner.run(stack.aclose())


def _questions() -> Iterator[str]:
    import readline  # noqa: F401  (gives input() line editing and history)

    while True:
        try:
            line = input(PROMPT).strip()
        except (EOFError, KeyboardInterrupt):
            print()  # noqa: T201  (the shell's prompt begins on a line of its own)
            return
        if line in ("/quit", "/exit"):
            return
        if line:
            yield line
