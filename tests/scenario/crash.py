"""Asks a question in a process that dies at a chosen moment: ``python -m tests.scenario.crash``.

Every change of a run's state is one transaction, so the moments that matter are those just before
and just after each commit. Lockstep with the test over pipes, one JSON line each way:

    {"folder": "...", "question": "...", "commit": 7, "after": true}   die just after commit 7
    {"folder": "...", "question": "...", "commit": 0}                  do not die
    {"folder": "...", "looks": true, "commit": 3}                      look at standing questions
    → {"died": true, "code": -9, "out": "...", "commits": 0}

All is imported once; each request is a forked child, which makes dying cheap.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

import adapters.terminal.listener as listener
import bot.cli.watch as watch
from adapters.terminal.messages import terminal_thread
from bot.core.logs import configure_logging
from bot.core.messages import RunOptions
from bot.operation.configuration import load_settings
from bot.storage.database import Database
from tests.scenario.fork_server import import_parts, set_constants


class Bomb:
    """Kills this process around a database's n-th commit (0: never); counts them all."""

    def __init__(self, commit: int, *, after: bool) -> None:
        self.commits = 0
        self._commit = commit
        self._after = after

    def arm(self, *ways: str) -> None:
        """``ways`` are the methods of ``Database`` whose commits count."""
        for way in ways:
            setattr(Database, way, self._counted(getattr(Database, way)))
        whole: Any = self._whole(Database.transact)
        Database.transact = whole  # type: ignore[method-assign]

    def _whole(self, transact: Any) -> Any:
        async def counted(database: Database, work: Any, **how: Any) -> Any:
            async def working(connection: AsyncConnection) -> Any:
                result = await work(connection)
                self.commits += 1
                self._die_if(self.commits == self._commit and not self._after)
                return result

            result = await transact(database, working, **how)
            self._die_if(self.commits == self._commit and self._after)
            return result

        return counted

    def _counted(self, write: Any) -> Any:
        @asynccontextmanager
        async def counted(database: Database) -> AsyncIterator[AsyncConnection]:
            async with write(database) as connection:
                yield connection
                self.commits += 1
                self._die_if(self.commits == self._commit and not self._after)
            self._die_if(self.commits == self._commit and self._after)

        return counted

    def _die_if(self, time_has_come: bool) -> None:
        if time_has_come:
            os.kill(os.getpid(), signal.SIGKILL)


def child(request: dict[str, Any], report: Path) -> None:
    """Ask as the command line does, in this process."""
    bomb = Bomb(request["commit"], after=request.get("after", False))
    configure_logging("warning")
    settings = load_settings(data_dir=Path(request["folder"]))
    if request.get("looks"):  # at the standing questions of the terminal
        bomb.arm("write", "urgent_write")
        asyncio.run(watch.check_due(settings, as_json=True))
        report.write_text(json.dumps({"status": "looked", "commits": bomb.commits}))
        return
    bomb.arm("write")
    answer, _ = asyncio.run(
        listener.ask_once(
            settings,
            request["question"],
            terminal_thread(request.get("thread")),
            RunOptions(),
            as_json=True,
        )
    )
    report.write_text(json.dumps({"status": answer.status, "commits": bomb.commits}))


def serve_one(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        out, report = Path(scratch, "out"), Path(scratch, "report")
        pid = os.fork()
        if pid == 0:
            try:
                descriptor = os.open(out, os.O_WRONLY | os.O_CREAT)
                os.dup2(descriptor, 1)
                child(request, report)
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        return {
            "died": os.WIFSIGNALED(status),
            "out": out.read_text() if out.exists() else "",
            **(json.loads(report.read_text()) if report.exists() else {}),
        }


def main() -> None:
    import_parts()
    set_constants()
    for line in sys.stdin:
        print(json.dumps(serve_one(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
