"""Reads documents through pandoc, of the extra ``pandoc`` or on the PATH.

Pandoc runs below the reading process, with that process's memory limit, in its sandbox (it reads no
file but its input, https://pandoc.org/MANUAL.html#option--sandbox) and with a limit of processor
time that also ends it if the reading process is killed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from bot.core.errors import PageUnreadable, ReaderMissing
from bot.core.texts import said
from bot.pages.page import Reading

SECONDS = 10  # of processor time; a manual of 350 kB takes 1.4 s
OWN_DATA = 60_000_000  # bytes of pandoc 3.9's data segment, of which little is ever touched
_LACKS_MEMORY = re.compile(r"[Uu]nable to commit|out of memory|heap exhausted|Cannot allocate")
_NO_TITLE = "-"  # the page's title where the document has none
_WORD = re.compile(r"[^\W_]+")
_MOST_OF_IT = 0.9


@cache
def program() -> str | None:
    """The path of pandoc; None if it is not installed."""
    package = find_spec("pypandoc")
    if package is not None and package.origin is not None:
        bundled = Path(package.origin).parent / "files" / "pandoc"
        if bundled.exists():
            return str(bundled)
    return shutil.which("pandoc")


def read_with_pandoc(kind: str, source: str, name: str) -> Reading:
    """Read a document; ``kind`` is pandoc's name of its format, ``name`` its own name in errors.

    Raises ``ReaderMissing`` if pandoc is not installed, ``PageUnreadable`` for a document that it
    refuses, and ``MemoryError`` if it needs more memory than the process may have.
    """
    path = program()
    if path is None:
        raise missing(name)
    command = [path, "--sandbox", "--from", kind, "--to", "html5", "--standalone"]
    converted = subprocess.run(  # noqa: S603 - a fixed command; the document is its input
        [*command, "--wrap=none", "--mathml"],
        input=source.encode("utf-8", "replace"),
        capture_output=True,
        check=False,
        preexec_fn=_set_limits,
    )
    complaint = converted.stderr.decode("utf-8", "replace").strip()
    if converted.returncode and _LACKS_MEMORY.search(complaint):
        raise MemoryError
    if converted.returncode:
        raise PageUnreadable(
            said("unread-pandoc", name=name),
            detail=complaint[:300] or f"exit code {converted.returncode}",
        )
    from bot.pages.markup import read_html

    reading = read_html(converted.stdout.decode("utf-8", "replace"), name)
    return reading._replace(title=reading.title.removeprefix(_NO_TITLE))


def missing(name: str) -> ReaderMissing:
    return ReaderMissing(said("unread-no-pandoc", name=name))


def keeps(reading: Reading, other: Reading) -> bool:
    """True if a reading has nearly all words of another one of the same document."""
    words = _words(other.text)
    return len(words & _words(reading.text)) >= _MOST_OF_IT * len(words)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _set_limits() -> None:
    """Limit this process's time, and its memory as the parent's beside the program's own data."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft != resource.RLIM_INFINITY and hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (soft + OWN_DATA, hard))
