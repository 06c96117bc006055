"""The tasks of child processes, their limits, and the loop that serves requests in such a process.

A process is started for one task of ``TASKS`` and the bytes that it may allocate. It serves
requests until its standard input ends, so none survives a parent that is killed. A request has a
number, the seconds that its work may take, and what is asked, as JSON with data, over standard
input and output; the reply has the same number. The reply of number 0 says that the process is
ready. ``bot.pages.pool`` is the other side.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import IO

from bot.pages.processes import (
    LACKS_MEMORY,
    ORPHANED_AFTER,
    Work,
    limit_memory,
    own_pipes,
    receive,
    send,
    set_alarm,
)

FILES = 128  # that a process without network may have open
FILES_WITH_NETWORK = 4_096


@dataclass(frozen=True, slots=True)
class Task:
    """``opener`` is a function, as ``module:name``. It is called with the process's limit of memory
    and returns the ``Work``. A task with network serves many requests at once: its opener returns a
    context manager of ``AsyncWork``."""

    opener: str
    has_network: bool = False


TASKS = {
    "extract": Task("bot.pages.workers:open_extraction"),
    "choose": Task("bot.pages.choosing:open_choice"),
    "index": Task("bot.search.document_reading:open_reading"),
    "fetch": Task("bot.pages.retrieval:open_retrieval", has_network=True),
    "render": Task("bot.pages.browser_process:open_browser", has_network=True),
}


def main() -> None:
    """Serve the task that the arguments name."""
    name, memory = sys.argv[1], int(sys.argv[2])
    task = TASKS[name]
    requests, replies = own_pipes()
    limit(memory, has_network=task.has_network)
    module, _, opener = task.opener.partition(":")
    opened = getattr(importlib.import_module(module), opener)(memory)
    if task.has_network:
        from bot.pages.task_server import serve_at_once  # asyncio would cost the others 6 MB each

        serve_at_once(requests, replies, opened)
    else:
        serve(requests, replies, opened)


def limit(memory: int, *, has_network: bool) -> None:
    """Limit this process: its memory, its open files, no core dumps with what it read, and no
    sockets of Python code unless it needs the network."""
    limit_memory(memory)
    if sys.platform != "win32":
        import resource

        most = FILES_WITH_NETWORK if has_network else FILES
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not has_network:
        sys.addaudithook(_refuse_network)


def _refuse_network(event: str, _: tuple[object, ...]) -> None:
    if event.startswith("socket."):
        raise PermissionError(f"{event} in a process without network")


def serve(requests: IO[bytes], replies: IO[bytes], work: Work) -> None:
    """Serve one request after the other."""
    send(replies, {"number": 0}, b"")
    while True:
        try:
            head, data = receive(requests)
        except EOFError:
            return
        set_alarm(ORPHANED_AFTER * head["seconds"])  # in case the parent is killed meanwhile
        held = [data]
        del data
        try:
            reply, told = work(head["asked"], held.pop())  # which may free the data before it ends
        except MemoryError:
            reply, told = LACKS_MEMORY, b""
        set_alarm(0)
        send(replies, {"number": head["number"], "reply": reply}, told)
        del reply, told
