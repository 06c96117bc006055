"""Footnote itself: an index for each set, and the answers of ``footnote ask --docs --json``.

Questions are put in this process, on the road that the command takes and with one open app for a
set: a process for each question would spend most of its time on starting. The store is new for
each set, the index is kept, by what the indexing code is.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import bot
from adapters.terminal.listener import Terminal
from adapters.terminal.messages import terminal_thread
from adapters.terminal.poster import TerminalPoster
from bot.cli.command import settings_for
from bot.cli.index import index_documents
from bot.core.messages import TERMINAL, RunOptions
from bot.core.settings import Settings
from bot.operation.app import open_app
from tests.bench.frame import OURS

_TOP = Path(bot.__file__).parent

INDEXING = ("document_reading", "folders", "index_file", "indexer", "reader_processes")

Ask = Callable[[str], Awaitable[dict[str, Any]]]


@asynccontextmanager
async def open_footnote(root: Path, data: Path) -> AsyncIterator[Ask]:
    """An open Footnote without a model over an indexed root; what it gives is awaited with a
    question and returns what the command prints with ``--json``."""
    with tempfile.TemporaryDirectory() as folder, _nothing_from_outside(Path(folder)):
        settings = _settings(root, data).model_copy(
            update={"database_url": f"sqlite+aiosqlite:///{folder}/footnote.sqlite"}
        )
        poster = TerminalPoster(as_json=True)
        async with open_app(settings, {TERMINAL: poster}) as app:
            terminal = Terminal(app, poster)

            async def ask(question: str) -> dict[str, Any]:
                printed = io.StringIO()
                with (
                    contextlib.redirect_stdout(printed),
                    contextlib.redirect_stderr(io.StringIO()),
                ):
                    await terminal.ask(question, terminal_thread(None), RunOptions())
                said: dict[str, Any] = json.loads(printed.getvalue())
                return said

            yield ask


def index(root: Path, data: Path) -> dict[str, Any]:
    """Bring the index in ``data`` up to date with the root; what the first run did is kept."""
    data.mkdir(parents=True, exist_ok=True)
    kept = data / "report.json"
    with (
        tempfile.TemporaryDirectory() as folder,
        _nothing_from_outside(Path(folder)),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        report = index_documents(_settings(root, data))
    if not kept.is_file():
        first = {
            "files": report.added,
            "passages": report.passages,
            "seconds": round(report.seconds, 1),
            "bytes": sum(file.stat().st_size for file in data.glob("index.sqlite*")),
        }
        kept.write_text(json.dumps(first), encoding="utf-8")
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def _settings(root: Path, data: Path) -> Settings:
    return settings_for([root]).model_copy(update={"data_dir": data})


@contextlib.contextmanager
def _nothing_from_outside(folder: Path) -> Iterator[None]:
    """No setting of this machine counts: no variables, no settings files in the folder."""
    before, here = dict(os.environ), Path.cwd()
    for name in before:
        if name.startswith(OURS):
            del os.environ[name]
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.update(before)


# ---------------------------------------------------------------- which index


def indexing_code() -> str:
    """A hash of the code that an index depends on: other changes keep the indexes."""
    parts = (*("pages", "text"), *(f"search/{name}.py" for name in INDEXING))
    files = [file for part in parts for file in (_TOP / part, *(_TOP / part).rglob("*.py"))]
    digest = hashlib.sha256()
    for file in sorted(each for each in files if each.is_file()):
        digest.update(str(file.relative_to(_TOP)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
