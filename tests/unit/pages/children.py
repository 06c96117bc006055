"""Commands of child processes for tests, which misbehave or do their task in a changed way."""

from __future__ import annotations

import sys

_READY = (
    "import os, sys, time\n"
    "from bot.pages.processes import own_pipes, receive, send\n"
    "requests, replies = own_pipes()\n"
    "send(replies, {'number': 0}, b'')\n"
)
_ASKED = "head, data = receive(requests)\nnumber, asked = head['number'], head['asked']\n"


def running(body: str) -> tuple[str, ...]:
    """A process that runs this code, and nothing else."""
    return (sys.executable, "-P", "-c", body)


def ready(body: str) -> tuple[str, ...]:
    """A process that says that it is ready, and then runs this code."""
    return running(_READY + body)


def asked(body: str) -> tuple[str, ...]:
    """... once it has received a request: its ``head``, with ``number`` and ``asked``."""
    return ready(_ASKED + body)


def replying(reply: str) -> tuple[str, ...]:
    """A process that sends this reply, given as code, to its first request."""
    return asked(f"send(replies, {{'number': number, 'reply': {reply}}}, b'')\ntime.sleep(600)")


def changed(change: str) -> tuple[str, ...]:
    """A process that does its task after this code has changed something."""
    return running(f"import os, sys, time\n{change}\nfrom bot.pages.tasks import main\nmain()")
