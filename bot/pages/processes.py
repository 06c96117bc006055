"""Processes of our own that work on documents: how they are started, asked, limited and ended.

Requests and replies are JSON with data behind it, over standard input and output. Replies are no
pickles, because a worker has had hostile input in its hands. A worker ends when its standard input
does, so none survives a parent that is killed.

``Shares`` divides the memory among these processes. The limit counts what a process allocates
(``limit_memory``): 30 MB before any document.
By default everything fits a container of 1 GB beside the main process and the processes that index
folders (``bot.search.readers``).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

MAX_REQUEST = 500_000_000  # bytes; more is no message of ours
MAX_REPLY = 120_000_000  # ... and a process that sends it was taken over by a document

NEAR_LIMIT = 0.7  # share of the memory that a process may have, above which it may have lacked some

_HEAD = struct.Struct(">II")  # lengths of JSON and data


class WorkerProcess:
    """One process, and the conversation with it over its standard input and output."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            start_new_session=True,  # Ctrl-C is for the parent, which ends its workers
        )

    def lives(self) -> bool:
        return self._process.poll() is None

    def ask(self, head: dict[str, Any], data: bytes) -> tuple[Any, bytes]:
        """Send a request and return its reply; raises what ``tell`` and ``hear`` do."""
        self.tell(head, data)
        return self.hear()

    def tell(self, head: dict[str, Any], data: bytes = b"") -> None:
        """Send a request. Blocks; raises ``OSError`` when the process has ended."""
        if self._process.stdin is None:
            raise EOFError("no pipes")
        send(self._process.stdin, head, data)

    def hear(self) -> tuple[Any, bytes]:
        """The next reply, its JSON and its data. Blocks; raises ``EOFError`` when the process has
        ended and ``ValueError`` for what is no JSON."""
        if self._process.stdout is None:
            raise EOFError("no pipes")
        return receive(self._process.stdout, MAX_REPLY)

    def stop(self) -> None:
        """Have the process end, without waiting for it: ``hear`` then raises ``EOFError``."""
        self._process.kill()

    def end(self, seconds: float) -> None:
        """Have the process end in its own way (SIGTERM), and by force after so many seconds.

        Blocks.
        """
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """End the process. A thread that waits for its reply gets ``EOFError`` and closes up."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not sent cannot be flushed
                    pipe.close()


def environment() -> dict[str, str]:
    """The environment that Python needs to start and to find Footnote's code, without secrets."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PYTHON", "LC_", "LD_", "DYLD_"))
        or name in {"PATH", "LANG", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR"}
        or name in {"SSL_CERT_FILE", "SSL_CERT_DIR"}  # where companies put their CA
    }
    kept["PYTHONPATH"] = os.pathsep.join(path or os.curdir for path in sys.path)
    return kept


# ---------------------------------------------------------------- the conversation


def send(pipe: IO[bytes], head: dict[str, Any], data: bytes) -> None:
    encoded = json.dumps(head).encode("ascii")
    pipe.write(_HEAD.pack(len(encoded), len(data)))
    pipe.write(encoded)
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes], most: int = MAX_REQUEST) -> tuple[Any, bytes]:
    head_size, data_size = _HEAD.unpack(_exactly(pipe, _HEAD.size))
    if head_size + data_size > most:
        raise EOFError("an impossible length")
    return json.loads(_exactly(pipe, head_size)), _exactly(pipe, data_size)


def data_of(text: str) -> bytes:
    """A text as the data of a message. Not in UTF-8 unless in ASCII: to decode that, Python first
    makes room for as many characters as there are bytes, of four bytes each where one is an emoji.
    """
    if text.isascii():
        return b"a" + text.encode("ascii")
    return b"u" + text.encode("utf-16-le", "surrogatepass")


def text_of(data: bytes) -> str:
    """The text in such data. Raises ``ValueError`` for what is none."""
    code = {b"a": "ascii", b"u": "utf-16-le"}.get(data[:1])
    if code is None:
        raise ValueError("no text")
    return str(memoryview(data)[1:], code, "surrogatepass")


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError("the other side has ended")
    return data


# ---------------------------------------------------------------- inside a worker


def own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The streams of a worker's requests and replies.

    Standard output leads nowhere from now on: a library that prints must not be in the way.
    """
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return requests, replies


def limit_memory(most: int) -> None:
    """Have this process allocate no more than so many bytes, where that works.

    The limit counts all private memory that can be written (Linux 4.7 and later, setrlimit(2)),
    which is what a document can make grow; libraries that are loaded come on top of it.
    """
    if sys.platform == "linux":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (least, hard))


def peak_memory() -> int:
    """The most bytes of memory that this process has had at once; 0 where that is not known.

    Not ``ru_maxrss`` of ``getrusage``: that begins with the memory of the process that started this
    one, because it survives ``execve`` (getrusage(2), proc(5) on VmHWM).
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1_024 if found else 0


def memory_below(process: int) -> int:
    """The bytes that the processes below one have for themselves or share with each other, what is
    shared counted for each; 0 where that is not known.

    See proc(5) on ``PPid``, ``RssAnon`` and ``RssShmem``.
    """
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            status = path.read_text(encoding="ascii", errors="replace")
        except OSError:  # it has ended
            continue
        found = dict(re.findall(r"^(PPid|RssAnon|RssShmem):\s+(\d+)", status, re.MULTILINE))
        number = int(path.parent.name)
        parents[number] = int(found.get("PPid", 0))
        sizes[number] = 1_024 * sum(int(found.get(name, 0)) for name in ("RssAnon", "RssShmem"))
    below: set[int] = set()
    reached = {process}
    while reached:
        reached = {number for number, parent in parents.items() if parent in reached} - below
        below |= reached
    return sum(sizes[number] for number in below)


def set_alarm(seconds: float) -> None:
    """End this process after so many seconds, 0 for never: SIGALRM, unhandled, does so even inside
    C code. Windows has none."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


USUAL = 500_000_000
SMALL = 75_000_000  # bytes with which nearly all web pages can be read
MOST_READERS = 4  # processes that read web pages and files side by side


@dataclass(frozen=True, slots=True)
class Shares:
    """``total`` bytes, divided: most for one process that reads large documents, the rest for those
    that read side by side, one that looks at uploads, and one that chooses passages."""

    total: int = USUAL

    @property
    def large(self) -> int:
        """For the one process that reads what the others have no room for."""
        return self.total * 34 // 100

    @property
    def choosing(self) -> int:
        """For the process that cuts long pages into passages and chooses among them."""
        return self.total * 20 // 100

    @property
    def readers(self) -> int:
        """The number of processes that read side by side: no more than there are processors."""
        room = (self.total - self.large - self.choosing) // SMALL - 1
        return max(1, min(MOST_READERS, os.cpu_count() or 1, room))

    @property
    def one_of_several(self) -> int:
        """For each of those, and for the one that looks at uploads."""
        return (self.total - self.large - self.choosing) // (self.readers + 1)


DEFAULT = Shares()
