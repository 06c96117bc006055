"""Child processes: their messages, their environment, and their memory.

Requests and replies are JSON with data, over standard input and output (``bot.pages.pool``).

``Shares`` divides the memory among these processes. The limit counts what a process allocates
(``limit_memory``): 30 MB before any document. By default everything fits in a container of 1 GB,
together with the main process and the processes that index folders
(``bot.search.reader_processes``).
"""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

MAX_REQUEST = 500_000_000  # bytes; a longer message is not one of ours
MAX_REPLY = 120_000_000  # ... and a process that sends one has been taken over by a document

Answer = tuple[Any, bytes]  # the JSON and the data of a reply
Work = Callable[[dict[str, Any], bytes], Answer]
AsyncWork = Callable[[dict[str, Any]], Awaitable[Answer]]

LACKS_MEMORY = {"lacks": "memory"}  # a reply
ORPHANED_AFTER = 2  # times the seconds of a request, after which a process ends itself
NEAR_LIMIT = 0.7  # share of its memory limit; a process above it may have run out of memory

_HEAD = struct.Struct(">II")  # lengths of JSON and data


def environment() -> dict[str, str]:
    """The environment that Python needs to start and to find Footnote's code, without secrets."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PYTHON", "LC_", "LD_", "DYLD_"))
        or name in {"PATH", "LANG", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR"}
        or name in {"SSL_CERT_FILE", "SSL_CERT_DIR"}  # companies set their CA here
    }
    kept["PYTHONPATH"] = os.pathsep.join(path or os.curdir for path in sys.path)
    return kept


# ---------------------------------------------------------------- messages


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
    """Encode a text as the data of a message: ASCII or UTF-16.

    Not UTF-8: to decode it, Python first allocates as many characters as there are bytes, of four
    bytes each if one is an emoji.
    """
    if text.isascii():
        return b"a" + text.encode("ascii")
    return b"u" + text.encode("utf-16-le", "surrogatepass")


def text_of(data: bytes) -> str:
    """Decode such data. Raises ``ValueError`` if it is not text."""
    code = {b"a": "ascii", b"u": "utf-16-le"}.get(data[:1])
    if code is None:
        raise ValueError("not text")
    return str(memoryview(data)[1:], code, "surrogatepass")


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError("the other process has ended")
    return data


# ---------------------------------------------------------------- in the worker process


def own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The streams of a worker's requests and replies.

    Redirects standard output to the null device: a library that prints must not corrupt replies.
    """
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return requests, replies


def limit_memory(most: int) -> None:
    """Limit the memory that this process may allocate to ``most`` bytes, on Linux.

    The limit counts all private writable memory (Linux 4.7 and later, setrlimit(2)), which is the
    part that a document can make grow; loaded libraries come on top of it.
    """
    if sys.platform == "linux":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (least, hard))


def peak_memory() -> int:
    """The peak memory use of this process in bytes; 0 if unknown.

    Not ``ru_maxrss`` of ``getrusage``: it includes the peak of the process that started this one,
    because it survives ``execve`` (getrusage(2), proc(5) on VmHWM).
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1_024 if found else 0


def memory_below(process: int) -> int:
    """The private and shared memory of a process's descendants in bytes; 0 if unknown.

    Shared memory is counted once for each process. See proc(5) on ``PPid``, ``RssAnon`` and
    ``RssShmem``.
    """
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            status = path.read_text(encoding="ascii", errors="replace")
        except OSError:  # the process has ended
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
    """End this process after ``seconds``, 0 for never: unhandled, SIGALRM ends it even inside C
    code. Does nothing on Windows.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


USUAL = 500_000_000
SMALL = 75_000_000  # bytes that suffice to read nearly all web pages
MOST_READERS = 4  # processes that read web pages and files concurrently


@dataclass(frozen=True, slots=True)
class Shares:
    """Divides ``total`` bytes: the largest share for one process that reads large documents, the
    rest for several concurrent readers, one process that checks uploads, and one that chooses
    passages.
    """

    total: int = USUAL

    @property
    def large(self) -> int:
        """For the single process that reads documents too large for the others."""
        return self.total * 34 // 100

    @property
    def choosing(self) -> int:
        """For the process that splits long pages into passages and chooses among them."""
        return self.total * 20 // 100

    @property
    def readers(self) -> int:
        """The number of concurrent readers: at most the number of processors."""
        room = (self.total - self.large - self.choosing) // SMALL - 1
        return max(1, min(MOST_READERS, os.cpu_count() or 1, room))

    @property
    def one_of_several(self) -> int:
        """For each concurrent reader, and for the process that checks uploads."""
        return (self.total - self.large - self.choosing) // (self.readers + 1)


DEFAULT = Shares()
