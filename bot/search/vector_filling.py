"""Making vectors for passages of the index that have none yet.

Words come first: a document can be found by them as soon as it is indexed. Vectors follow in
groups, each of which is written to the disk before the next one begins, so that the next run can
continue an interrupted one. A text that already has a vector from the same model, in whatever file
and position, does not get another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import CancelledError as Cancelled
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bot.errors import FootnoteError, StorageUnavailable
from bot.logs import get_logger
from bot.search import vector_rows
from bot.search.embedding.choice import open_embedder
from bot.search.embedding.embedder import Embedder, Vector
from bot.search.folders import root_of
from bot.search.index_file import (
    Damaged,
    below,
    damage_mark,
    meaning,
    open_reader,
    open_writer,
    unusable,
)
from bot.search.vector_file import (
    Unfit,
    VectorMap,
    VectorWriter,
    new_file,
    read_header,
    vectors_path,
    writing,
)
from bot.settings import Settings

log = get_logger()

GROUP = 256  # passages whose vectors are made and stored together
DEAD_SHARE = 0.5  # unused rows per row in use, above which the file is rewritten
DEAD_FEW = 2_000  # ... unless there are fewer than this
ELSEWHERE = "Another process is making vectors."
PROBE = "What is this about?"  # embedded to find out the length of vectors

PAUSE_SECONDS = 30.0  # between a serving process's checks for passages without vectors

Progress = Callable[[int, int], None]
"""Receives the number of passages with a vector, and the number of all passages."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The outcome: the number of ``passages``, how many have a vector, how many were ``made`` now,
    and why it ended before all had one, as a sentence, or ""."""

    passages: int = 0
    with_vector: int = 0
    made: int = 0
    seconds: float = 0.0
    problem: str = ""


async def fill_vectors(
    index: Path,
    roots: Iterable[str | Path],
    embedder: Embedder,
    progress: Progress = lambda done, total: None,
    *,
    seconds: float = math.inf,
) -> Filled:
    """Make vectors for the passages of the files at or below ``roots`` (of all files without any).

    No group is begun after ``seconds``. Errors are returned in ``Filled.problem``, and searches go
    on by words. Cancelling soon ends it; finished vectors are kept. Raises ``InvalidSetting`` for
    a root that does not exist.
    """
    started = time.monotonic()
    filling = _Filling(index, tuple(map(root_of, roots)), embedder, asyncio.get_running_loop())
    work = asyncio.create_task(asyncio.to_thread(filling.run, progress, started + seconds))
    try:
        filled = await asyncio.shield(work)
    except asyncio.CancelledError:
        filling.stop()
        await asyncio.wait({work})
        raise
    return replace(filled, seconds=time.monotonic() - started)


def state_of_vectors(index: Path, roots: Iterable[str | Path], model: str) -> str:
    """The number of passages with a vector of this model, as the rest of a sentence.

    Raises ``StorageUnavailable`` with the reason if the vectors, or the index, cannot be used.
    """
    path = vectors_path(index)
    among = below([root_of(root) for root in roots])
    try:
        with contextlib.closing(open_reader(index)) as connection:
            passages, missing = _counts(connection, path, model, among)
        header = read_header(path)
    except FileNotFoundError:
        header = None
    except sqlite3.Error as error:
        raise unusable(error, index) from error
    except Damaged as error:
        raise StorageUnavailable(f"The index {index} is damaged.", detail=str(error)) from error
    except (Unfit, OSError) as error:
        raise StorageUnavailable(
            f"The file {path} cannot be used ({error}), so documents are searched by words alone: "
            "run `footnote index` to rebuild it.",
            detail=str(error),
        ) from error
    if header is not None and header.model != model:
        raise StorageUnavailable(
            f"The vectors in {path} were made by another model, so documents are searched by words "
            "alone: run `footnote index` to rebuild them."
        )
    having = f"{passages - missing:,} of {passages:,} passages have one"
    return f"{having}; `footnote index` makes the others" if missing else having


def _counts(
    connection: sqlite3.Connection, path: Path, model: str, among: tuple[str, Sequence[str]]
) -> tuple[int, int]:
    """The number of passages, and of those without a usable vector.

    Raises ``sqlite3.Error``.
    """
    passages, missing = vector_rows.counts(connection, *among)
    try:
        header = read_header(path)
    except (OSError, Unfit):
        return passages, passages
    is_used = header.model == model and header.id == vector_rows.file_id(connection)
    return passages, missing if is_used else passages


async def keep_filling(
    index: Path, roots: Sequence[str | Path], embedder: Embedder, pause: float = PAUSE_SECONDS
) -> None:
    """Make vectors while passages lack them, then check again every ``pause`` seconds; ends only
    when cancelled."""
    while True:
        await fill_vectors(index, roots, embedder)
        await asyncio.sleep(pause)


class _Filling:
    """One run over the passages that wait, in a thread; the embedder runs in the event loop."""

    def __init__(
        self,
        index: Path,
        roots: Sequence[Path],
        embedder: Embedder,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._index = index
        self._path = vectors_path(index)
        self._among = below(roots)
        self._embedder = embedder
        self._loop = loop
        self._ending = threading.Event()
        self._request: Future[list[Vector]] | None = None
        self._known: dict[bytes, int] = {}  # key → row
        self._made = 0

    def stop(self) -> None:
        """End the run soon; called from another thread."""
        self._ending.set()
        if self._request is not None:
            self._request.cancel()

    def run(self, progress: Progress, ends: float) -> Filled:
        """Run until ``ends`` (of ``time.monotonic``). Errors are part of the result."""
        if not self._index.exists():
            return Filled()
        problem = ""
        connection: sqlite3.Connection | None = None
        try:
            connection, _ = open_writer(self._index)
            with writing(self._path) as is_ours:
                if is_ours:
                    self._fill(connection, progress, ends)
                else:
                    problem = ELSEWHERE
        except Cancelled:
            pass
        except (FootnoteError, Damaged, sqlite3.Error, OSError) as error:
            problem = self._sentence(error)
        passages = missing = 0
        if connection is not None:
            with contextlib.closing(connection), contextlib.suppress(sqlite3.Error):
                passages, missing = self._counted(connection)
        return Filled(passages, passages - missing, self._made, problem=problem)

    def _counted(self, connection: sqlite3.Connection) -> tuple[int, int]:
        try:
            model = self._embedder.model
        except FootnoteError:  # a model that is missing has no vectors
            model = ""
        return _counts(connection, self._path, model, self._among)

    def _sentence(self, error: Exception) -> str:
        """Convert an error to a sentence; damage is marked for the next indexing run."""
        if isinstance(error, sqlite3.Error):
            error = meaning(error, self._index)
        log.warning("vectors_not_made", error=str(error))
        if isinstance(error, FootnoteError):
            return error.sentence
        if isinstance(error, Damaged):
            with contextlib.suppress(OSError):
                damage_mark(self._index).touch()
            return "The index of local documents is damaged: run `footnote index` to rebuild it."
        return f"The file {self._path} cannot be written ({error}): check the disk."

    # ------------------------------------------------------------ the work

    def _fill(self, connection: sqlite3.Connection, progress: Progress, ends: float) -> None:
        old = self._open()
        writer: VectorWriter | None = None
        if old is not None:
            vector_rows.set_up(connection, old.header.id)
            writer = VectorWriter(self._path, old.header)
        try:
            passages, missing = self._counted(connection)
            progress(passages - missing, passages)
            if missing and old is not None:
                self._known = {key: row for row, key in enumerate(old.keys())}
            if missing and writer is None:
                # Only now, so that existing vectors are not lost if an endpoint is down.
                dimensions = len(self._embed([PROBE])[0])
                header = new_file(self._path, self._embedder.model, dimensions)
                vector_rows.set_up(connection, header.id)
                writer = VectorWriter(self._path, header)
            while missing and writer and time.monotonic() < ends and not self._ending.is_set():
                if not self._next(connection, writer):
                    break
                passages, missing = self._counted(connection)
                progress(passages - missing, passages)
        finally:
            if writer is not None:
                writer.close()
        if writer is not None:
            self._tidy(connection)

    def _open(self) -> VectorMap | None:
        """The file, if it was made with this model."""
        try:
            found = VectorMap(self._path)
        except FileNotFoundError:
            return None
        except Unfit as error:
            log.warning("vectors_thrown_away", file=str(self._path), why=str(error))
            return None
        return found if found.header.model == self._embedder.model else None

    def _next(self, connection: sqlite3.Connection, writer: VectorWriter) -> bool:
        """Process the next pages that wait; returns False if there are none."""
        pages = vector_rows.waiting(connection, self._embedder.model, *self._among, GROUP)
        texts = {
            key: text
            for page in pages
            for key, text in zip(page.keys, page.texts, strict=True)
            if key not in self._known
        }
        keys = list(texts)
        for start in range(0, len(keys), GROUP):
            group = keys[start : start + GROUP]
            vectors = self._embed([texts[key] for key in group])
            rows = self._append(writer, list(zip(group, vectors, strict=True)))
            self._known.update(zip(group, rows, strict=True))
            self._made += len(group)
        vector_rows.record(
            connection, [(page, [self._known[key] for key in page.keys]) for page in pages]
        )
        return bool(pages)

    def _append(self, writer: VectorWriter, vectors: list[tuple[bytes, Vector]]) -> range:
        try:
            return writer.append(vectors)
        except ValueError as error:
            raise StorageUnavailable(
                f"The model {self._embedder.name} gives vectors of a different length than before: "
                f"remove {self._path} if that is intended.",
                detail=str(error),
            ) from error

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        """Raises ``Cancelled`` when this run or the event loop is being ended."""
        asked = asyncio.run_coroutine_threadsafe(self._embedder.embed_passages(texts), self._loop)
        self._request = asked
        if self._ending.is_set():  # checked last: ``stop`` may have run before ``_request`` was set
            asked.cancel()
        return asked.result()

    def _tidy(self, connection: sqlite3.Connection) -> None:
        """Rewrite the file without unused rows, once there are many.

        Not while pages wait: vectors made earlier for the same texts are found by their keys.
        """
        if vector_rows.some_wait(connection):
            return
        old = VectorMap(self._path)
        used = vector_rows.used_rows(connection)
        dead = old.header.count - len(used)
        if dead > DEAD_FEW and dead > len(used) * DEAD_SHARE:
            header = new_file(self._path, old.header.model, old.header.dimensions, old, used)
            vector_rows.renumber(connection, header.id, used)


THREADS = 1  # of a model in this process, which also answers questions


@asynccontextmanager
async def vectors_being_made(settings: Settings) -> AsyncIterator[None]:
    """Make vectors for documents without them during the block, if an embedder is configured."""
    if not settings.has_embedder or not settings.docs:
        yield
        return
    async with open_embedder(settings, THREADS) as embedder:
        assert embedder is not None  # noqa: S101 - the settings have one
        task = asyncio.create_task(keep_filling(settings.index_path, settings.docs, embedder))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
