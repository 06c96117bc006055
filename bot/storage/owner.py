"""The owner of a run: a process, named so that others on its machine can tell whether it is
alive."""

from __future__ import annotations

import os
import secrets
import socket
from functools import cache
from pathlib import Path


def new_owner() -> str:
    """A name for this process: ``place/pid/token``. The token tells a reused pid apart."""
    return f"{_place()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str) -> bool:
    """True only if the owner's process certainly no longer runs.

    A process in another place cannot be looked at; its lease decides.
    """
    place, pid, _ = owner.rsplit("/", 2)
    if place != _place():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, under another user
        return False
    return False


@cache
def _place() -> str:
    """An id of the set of processes in which a pid is unique; many containers and machines share a
    host name.

    On Linux with this boot of the kernel (random(4), /proc/sys/kernel/random/boot_id) and the
    namespace of pids (pid_namespaces(7)), elsewhere with the machine's network address.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}+{boot}+{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        from uuid import getnode

        return f"{socket.gethostname()}+{getnode():x}"
