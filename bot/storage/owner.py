"""Who works on a run: a process, named so that others on the same host can tell if it is gone."""

from __future__ import annotations

import os
import secrets
import socket


def new_owner() -> str:
    """A name for this process: ``host/pid/token``. The token tells a reused pid apart."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str) -> bool:
    """True only if the owner's process certainly no longer runs.

    A process on another host cannot be looked at; its lease decides.
    """
    host, pid, _ = owner.rsplit("/", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, under another user
        return False
    return False
