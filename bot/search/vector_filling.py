"""Making vectors for passages of the index that have none yet.

Words come first: a document can be found by them as soon as it is indexed. Vectors follow in
groups, each of which is stored before the next one begins, so that the next run can continue an
interrupted one. A text that already has a vector from the same model, in whatever file
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

from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.settings import Settings
from bot.core.texts import Said, said
from bot.pages.passages import split
from bot.search.embedder import Embedder, Vector, open_embedder
from bot.search.folders import root_of
from bot.search.index_file import (
    Damaged,
    Outdated,
    alone,
    below,
    damage_mark,
    fingerprint,
    open_writer,
    opened,
    transaction,
    translated,
    unpack_text,
    unusable,
)
from bot.search.vectors import KEY_BYTES, key_of, maker_of, pack, text_of

log = get_logger()

GROUP = 256  # passages whose vectors are made and stored together
ELSEWHERE = "Another process is making vectors."
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


def state_of_vectors(index: Path, roots: Iterable[str | Path], model: str) -> Said:
    """The number of passages with a vector of this model.

    Raises ``StorageUnavailable`` with the reason if the index cannot be used.
    """
    among = below([root_of(root) for root in roots])
    with opened(index) as connection:
        passages, having = _counts(connection, maker_of(connection, model), *among)
    told = said("check-meaning-vectors", count=passages, having=having)
    return told if having == passages else told + said("check-meaning-missing")


def _counts(
    connection: sqlite3.Connection, maker: str, condition: str, values: Sequence[str]
) -> tuple[int, int]:
    """The number of passages, and of those with a vector that can be used.

    ``condition`` (with its values) is on ``files``, as made by ``index_file.below``.
    """
    (passages,) = connection.execute(
        f"SELECT total(count) FROM files WHERE ({condition})",  # noqa: S608 - our own column names
        values,
    ).fetchone()
    (having,) = connection.execute(
        "SELECT total(vectors.count) FROM files CROSS JOIN vectors"  # noqa: S608 - our own column names
        f" ON vectors.file = files.id AND maker = ? WHERE ({condition})",
        (maker, *values),
    ).fetchone()
    return int(passages), int(having)


async def keep_filling(
    index: Path, roots: Sequence[str | Path], embedder: Embedder, pause: float = PAUSE_SECONDS
) -> None:
    """Make vectors while passages lack them, then check again every ``pause`` seconds; ends only
    when cancelled."""
    while True:
        await fill_vectors(index, roots, embedder)
        await asyncio.sleep(pause)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Passages of a file that lack vectors: the position of the first, their texts and keys."""

    file: int
    first: int
    texts: Sequence[str]
    keys: Sequence[bytes]


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
        self._among = below(roots)
        self._embedder = embedder
        self._loop = loop
        self._ending = threading.Event()
        self._request: Future[list[Vector]] | None = None
        self._known: dict[bytes, tuple[int, int]] = {}  # key → id of a row, position in it
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
        passages = having = 0
        try:
            connection, _ = open_writer(self._index)
            with contextlib.closing(connection):
                maker = maker_of(connection, self._embedder.model)
                try:
                    with alone(self._index.with_suffix(".vectors.lock")) as is_ours:
                        if is_ours:
                            self._fill(connection, maker, progress, ends)
                        else:
                            problem = ELSEWHERE
                finally:
                    passages, having = _counts(connection, maker, *self._among)
        except Cancelled:
            pass
        except (FootnoteError, Damaged, sqlite3.Error) as error:
            problem = self._sentence(error)
        return Filled(passages, having, self._made, problem=problem)

    def _sentence(self, error: FootnoteError | Damaged | sqlite3.Error) -> str:
        """Convert an error to a sentence; damage is marked for the next indexing run."""
        if isinstance(error, sqlite3.Error):
            error = translated(error, self._index)
        log.warning("vectors_not_made", error=str(error))
        if isinstance(error, FootnoteError):
            return error.sentence
        if not isinstance(error, Outdated):
            with contextlib.suppress(OSError):
                damage_mark(self._index).touch()
        return unusable(error, self._index).sentence

    # ------------------------------------------------------------ the work

    def _fill(
        self, connection: sqlite3.Connection, maker: str, progress: Progress, ends: float
    ) -> None:
        passages, having = _counts(connection, maker, *self._among)
        progress(having, passages)
        if having < passages:
            self._learn(connection)
        last = 0
        while time.monotonic() < ends and not self._ending.is_set():
            pieces = self._waiting(connection, maker, last)
            if not pieces:
                self._tidy(connection, maker)
                break
            self._write(connection, maker, pieces)
            last = pieces[-1].file
            having += sum(len(piece.keys) for piece in pieces)
            progress(having, max(having, passages))

    def _learn(self, connection: sqlite3.Connection) -> None:
        """Remember where the vectors that exist are, whatever files they were made for."""
        for row, keys in connection.execute("SELECT id, keys FROM vectors"):
            for at in range(len(keys) // KEY_BYTES):
                self._known[keys[at * KEY_BYTES : (at + 1) * KEY_BYTES]] = row, at

    def _waiting(self, connection: sqlite3.Connection, maker: str, last: int) -> list[_Piece]:
        """The next passages without a vector, ``GROUP`` at most, from the file ``last`` on."""
        if maker != maker_of(connection, self._embedder.model) or not _is_split_here(connection):
            return []  # the next indexing run splits the texts as this version does
        condition, values = self._among
        pieces: list[_Piece] = []
        room = GROUP
        for file, made in connection.execute(
            "SELECT id, (SELECT coalesce(sum(vectors.count), 0) FROM vectors"  # noqa: S608 - our own column names
            " WHERE file = files.id AND maker = ?) AS made FROM files"
            f" WHERE id >= ? AND files.count > made AND ({condition}) ORDER BY id LIMIT ?",
            (maker, last, *values, GROUP),
        ).fetchall():
            piece = self._piece(connection, file, made, room)
            if piece.keys:
                pieces.append(piece)
            room -= len(piece.keys)
            if not room:
                break
        return pieces

    def _piece(self, connection: sqlite3.Connection, file: int, first: int, most: int) -> _Piece:
        page = connection.execute(
            "SELECT title, text FROM pages WHERE file = ?", (file,)
        ).fetchone()
        if page is None:  # it has been removed in the meantime
            return _Piece(file, first, (), ())
        passages = split(unpack_text(page[1]))[first : first + most]
        texts = [text_of(page[0], each.heading, each.text) for each in passages]
        return _Piece(file, first, texts, [key_of(self._embedder.model, text) for text in texts])

    def _write(self, connection: sqlite3.Connection, maker: str, pieces: Sequence[_Piece]) -> None:
        texts = {
            key: text for piece in pieces for key, text in zip(piece.keys, piece.texts, strict=True)
        }
        steps = {key: self._stored(connection, key) for key in texts}
        new = [key for key, stored in steps.items() if not stored]
        if new:
            vectors = self._embed([texts[key] for key in new])
            steps |= {key: pack(vector) for key, vector in zip(new, vectors, strict=True)}
            self._made += len(new)
        self._check_lengths(connection, maker, set(map(len, steps.values())))
        with transaction(connection):
            for piece in pieces:
                row = connection.execute(
                    "INSERT INTO vectors (file, first, count, maker, steps, keys)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        piece.file,
                        piece.first,
                        len(piece.keys),
                        maker,
                        b"".join(steps[key] for key in piece.keys),
                        b"".join(piece.keys),
                    ),
                ).lastrowid
                assert row is not None  # noqa: S101 - an inserted row has an id
                self._known |= {key: (row, at) for at, key in enumerate(piece.keys)}

    def _stored(self, connection: sqlite3.Connection, key: bytes) -> bytes:
        """The vector that exists for a text, or nothing."""
        row, at = self._known.get(key, (0, 0))
        found = connection.execute(
            "SELECT steps, length(steps) / count FROM vectors WHERE id = ?", (row,)
        ).fetchone()
        return b"" if found is None else found[0][at * found[1] : (at + 1) * found[1]]

    def _check_lengths(self, connection: sqlite3.Connection, maker: str, lengths: set[int]) -> None:
        """Raise ``StorageUnavailable`` if vectors of these lengths cannot be compared with those
        that exist."""
        query = "SELECT length(steps) / count FROM vectors WHERE maker = ? LIMIT 1"
        before = connection.execute(query, (maker,)).fetchone()
        if len(lengths.union(before or ())) > 1:
            raise StorageUnavailable(
                f"The model {self._embedder.name} gives vectors of a different length than before: "
                f"if that is intended, remove {self._index} and run `footnote index`."
            )

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        """Raises ``Cancelled`` when this run or the event loop is being ended."""
        asked = asyncio.run_coroutine_threadsafe(self._embedder.embed_passages(texts), self._loop)
        self._request = asked
        if self._ending.is_set():  # checked last: ``stop`` may have run before ``_request`` was set
            asked.cancel()
        return asked.result()

    def _tidy(self, connection: sqlite3.Connection, maker: str) -> None:
        """Remove the vectors of files that are gone and of other models.

        Not while passages wait anywhere in the index: their texts may have some of these vectors.
        """
        passages, having = _counts(connection, maker, "TRUE", ())
        unused = "maker != ? OR file NOT IN (SELECT id FROM files)"
        some = f"SELECT 1 FROM vectors WHERE {unused} LIMIT 1"  # noqa: S608 - our own column names
        if having == passages and connection.execute(some, (maker,)).fetchone():
            connection.execute(f"DELETE FROM vectors WHERE {unused}", (maker,))  # noqa: S608 - same


def _is_split_here(connection: sqlite3.Connection) -> bool:
    """Return True if this version of Footnote splits texts as the index does."""
    query = "SELECT value FROM meta WHERE key = 'fingerprint'"
    return bool(connection.execute(query).fetchone() == (fingerprint(),))


@asynccontextmanager
async def vectors_being_made(settings: Settings) -> AsyncIterator[None]:
    """Make vectors for documents without them during the block, if an embedder is configured."""
    if not settings.has_embedder or not settings.docs:
        yield
        return
    async with open_embedder(settings) as embedder:
        assert embedder is not None  # noqa: S101 - the settings have one
        task = asyncio.create_task(keep_filling(settings.index_path, settings.docs, embedder))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
