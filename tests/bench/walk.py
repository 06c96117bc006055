"""The modules that one Slack question passes through, from the mention to the checked answer.

`serve` runs in this process between a fake Slack and a fake Claude, over documents, and has
answered one question before. A module is counted when it executes function code between the mention
and the end of the run; what runs while a module is imported is not counted, nor what runs in the
processes that read pages.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from bot.operation.configuration import load_settings
from bot.operation.serving import serve as serve_footnote
from tests.bench.frame import REPOSITORY, options, print_table
from tests.fakes.claude import FakeClaude
from tests.fakes.server import serve
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.places import KEYS as WARM
from tests.scenario.slack_place import SlackPlace, open_slack

PRODUCT = tuple(f"{REPOSITORY / top}{os.sep}" for top in ("bot", "adapters"))
PATIENCE, POLL_SECONDS = 60.0, 0.05
QUESTION = "Could you tell me what lunch in the canteen costs?"


class Walk:
    """Records the product's modules whose functions are called while ``recording``."""

    def __init__(self) -> None:
        self.recording = False
        self._files: set[str] = set()

    @property
    def modules(self) -> list[str]:
        paths = (Path(file).relative_to(REPOSITORY).with_suffix("") for file in self._files)
        return sorted(".".join(path.parts) for path in paths)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch this thread, and those that are started within the block."""
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not self.recording:
            return
        file = frame.f_code.co_filename
        if file.startswith(PRODUCT) and file not in self._files and not _importing(frame):
            self._files.add(file)


def _importing(frame: FrameType | None) -> bool:
    """Return True if the frame belongs to the body of a module or a class, or is called by one."""
    while frame is not None and frame.f_code.co_filename.startswith(PRODUCT):
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return True
        frame = frame.f_back
    return False


async def walk(place: SlackPlace, claude: str, folder: Path) -> list[str]:
    """The names of the modules that one question passes through."""
    for name, text in DOCUMENTS.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    given = {
        **place.settings,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": claude,
        "FOOTNOTE_DOCS": str(folder / "documents"),
        "FOOTNOTE_HTTP_PORT": "0",
    }
    names = {name.lower().removeprefix("footnote_"): value for name, value in given.items()}
    settings = load_settings(data_dir=folder / "data", **names)
    connected = asyncio.Event()

    def told(line: str) -> None:
        if line == place.ready:
            connected.set()

    recorded = Walk()
    with recorded.watched():
        serving = asyncio.create_task(serve_footnote(settings, told))
        async with asyncio.timeout(PATIENCE):
            await connected.wait()
            await place.slack.until(lambda: place.connections)
            database = folder / "data" / "footnote.sqlite"
            await ask(place, WARM, database)
            recorded.recording = True
            await ask(place, QUESTION, database)
            recorded.recording = False
        signal.raise_signal(signal.SIGTERM)
        await serving
    return recorded.modules


async def ask(place: SlackPlace, question: str, database: Path) -> None:
    """Mention Footnote, and wait until its run has ended."""
    said = place.ask(question)

    def has_ended() -> bool:
        with closing(sqlite3.connect(database)) as db:
            states = {state for (state,) in db.execute("SELECT state FROM runs")}
        assert states <= {"accepted", "running", "answered"}, states
        return any(post.run for post in place.posts(said)) and states == {"answered"}

    async with asyncio.timeout(PATIENCE):
        while not has_ended():
            await asyncio.sleep(POLL_SECONDS)


def package(module: str) -> str:
    """``bot.research`` of ``bot.research.checking``; ``bot`` of ``bot.__main__``."""
    return ".".join(module.split(".")[:-1][:2])


def main(arguments: Sequence[str]) -> None:
    parser = options("walk", __doc__)
    parser.add_argument("--list", action="store_true", help="the modules, too")
    listed = parser.parse_args(arguments).list
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(FakeClaude()) as claude,
        open_slack() as place,
    ):
        modules = asyncio.run(walk(place, claude, Path(folder)))
    counts = Counter(package(module) for module in modules)
    print_table(("package", "modules"), [*sorted(counts.items()), ("all", len(modules))])
    if listed:
        print("\n".join(("", *modules)))
