"""Local documents: the words of the person's own files, found by BM25 and read from the index."""

from __future__ import annotations

import asyncio
import contextlib
import math
import queue
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from bot.errors import PageUnreadable, ProviderUnavailable, StorageUnavailable
from bot.pages.page import Page
from bot.pages.relevance import BESIDE, headings_above, pair_scores, pairs_in, relevance, weigh
from bot.search.folders import root_of
from bot.search.index_file import (
    Damaged,
    count_spans,
    damage_mark,
    meaning,
    open_reader,
    unpack_span,
    unpack_text,
    unusable,
)
from bot.search.index_writer import below
from bot.search.indexer import Indexer, IndexReport
from bot.search.provider import Hit, ProviderKind, Query
from bot.text.terms import keywords, terms

__all__ = ["IndexReport", "Indexer", "LocalDocuments"]

# Columns of `words` in BM25: a word of the title says more about a page than one in its text.
TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT = 4.0, 2.0, 1.0

# What one query may cost. BM25 touches every passage that holds any of the terms, so the rarest
# terms come first, and common ones only while they add few enough passages; a term that is in
# ten thousand passages tells them apart by next to nothing (its IDF).
MOST_POSTINGS = 15_000
MOST_TERMS = 32
MOST_QUERY_CHARACTERS = 2_000
CANDIDATES = 120  # passages that are looked at with their surroundings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Match:
    """A passage that fits, by its place in its file."""

    file: int
    url: str
    place: int


class LocalDocuments:
    """A search provider and page reader over an index that ``Indexer`` made.

    ``roots`` limits it to those files and folders; none: everything in the index. A page's text
    is the one that was indexed, so that quotes, spans and hits agree even when the file has
    changed since. SQLite works in threads, never on the event loop.
    """

    name = "local"
    kind: ProviderKind = "knowledge"

    def __init__(self, index_path: Path, roots: Iterable[str | Path] = ()) -> None:
        self._path = index_path
        self._condition, self._values = below([root_of(root) for root in roots])
        self._idle: queue.SimpleQueue[_Reader] = queue.SimpleQueue()

    async def search(self, query: Query) -> list[Hit]:
        """See ``SearchProvider.search``. A hit's snippet is the whole passage that fits best.

        Files have no language, region, date of appearing or domain: these ask for nothing here.
        """
        question = query.text[:MOST_QUERY_CHARACTERS]
        wanted = keywords(question)[:MOST_TERMS]
        if not wanted or query.limit < 1:
            return []
        return await asyncio.to_thread(
            self._with_reader,
            lambda reader: self._search(reader.connection, question, wanted, query.limit),
        )

    async def rarity(self, terms: Sequence[str]) -> dict[str, float]:
        """See ``bot.search.provider.Lexicon``."""
        wanted = list(dict.fromkeys(terms))[:MOST_TERMS]
        return await asyncio.to_thread(
            self._with_reader, lambda reader: self._rarity(reader.connection, wanted)
        )

    def reads(self, url: str) -> bool:
        """Whether ``url`` is a file's address. Only files in the index can be read by it."""
        return url.startswith("file:///")

    async def read(self, url: str) -> Page:
        """The page as it was indexed. Raises ``PageUnreadable`` for a file not in the index."""
        return await asyncio.to_thread(
            self._with_reader, lambda reader: self._read(reader.connection, url)
        )

    async def count(self) -> int:
        """How many documents can be searched."""
        return await asyncio.to_thread(
            self._with_reader, lambda reader: self._count(reader.connection)
        )

    async def aclose(self) -> None:
        """Close the index. Later calls open it again."""
        await asyncio.to_thread(self._close_idle)

    # ------------------------------------------------------------ in a thread

    def _search(
        self, connection: sqlite3.Connection, question: str, wanted: list[str], limit: int
    ) -> list[Hit]:
        chosen = _affordable(connection, wanted)
        if not chosen:
            return []
        found = list(self._matches(connection, chosen, CANDIDATES))
        pages = {match.file: _opened(connection, match.file) for match in found}
        weights = weigh(question, self._rarity(connection, wanted))
        scores = _seen_with_surroundings(question, weights, found, pages)
        order = sorted(range(len(found)), key=lambda i: (-scores[i], i))
        best = {found[i].file: found[i] for i in reversed(order)}
        hits = [best[file] for file in dict.fromkeys(found[i].file for i in order)]
        return [_hit(pages[match.file], match, self.name) for match in hits[:limit]]

    def _matches(
        self, connection: sqlite3.Connection, chosen: list[str], most: int
    ) -> Iterator[_Match]:
        """Passages with any of the terms, best first.

        The inner query is sorted before the first row comes out; files are looked up row by row,
        so that passages of other roots, and of files that are gone, cost a look-up only as far
        as they are in the way.
        """
        condition = self._condition.replace("url", "files.url")
        rows = connection.execute(
            f"""
            SELECT files.id, files.url, found.id - files.first
            FROM (
                SELECT rowid AS id FROM words WHERE words MATCH ?
                ORDER BY bm25(words, {TITLE_WEIGHT}, {HEADING_WEIGHT}, {BODY_WEIGHT}), rowid
                LIMIT -1
            ) AS found
            CROSS JOIN files ON files.id = (
                SELECT id FROM files WHERE count > 0 AND first <= found.id
                ORDER BY first DESC LIMIT 1
            )
            WHERE found.id < files.first + files.count AND ({condition})
            LIMIT ?
            """,  # noqa: S608 - constants and a condition made of our own column names
            (" OR ".join(f'"{term}"' for term in chosen), *self._values, most),
        )
        return (_Match(*row) for row in rows)

    def _rarity(self, connection: sqlite3.Connection, wanted: list[str]) -> dict[str, float]:
        passages = self._passages(connection)
        found = _found_in(connection, wanted)
        # Passages of files that are gone, or of other roots, are counted until the next clean-up.
        counts = {"": 0} | {term: min(count, passages) for term, count in found.items()}
        return {t: math.log(1 + (passages - n + 0.5) / (n + 0.5)) for t, n in counts.items()}

    def _passages(self, connection: sqlite3.Connection) -> int:
        """How many passages can be searched."""
        query = f"SELECT total(count) FROM files WHERE {self._condition}"  # noqa: S608
        return int(connection.execute(query, self._values).fetchone()[0])

    def _read(self, connection: sqlite3.Connection, url: str) -> Page:
        row = connection.execute(
            "SELECT files.url, title, text, indexed_at FROM files JOIN pages ON pages.file = id"  # noqa: S608 - our own column names
            f" WHERE url = ? AND ({self._condition})",
            (url.partition("#")[0], *self._values),
        ).fetchone()
        if row is None:
            raise PageUnreadable(
                "This file is not among the indexed documents: run `footnote index` on its folder."
            )
        return Page(row[0], row[1], unpack_text(row[2]), datetime.fromtimestamp(row[3], UTC))

    def _count(self, connection: sqlite3.Connection) -> int:
        query = f"SELECT count(*) FROM files WHERE count > 0 AND ({self._condition})"  # noqa: S608
        return int(connection.execute(query, self._values).fetchone()[0])

    # ------------------------------------------------------------ connections

    def _with_reader(self, work: Callable[[_Reader], T]) -> T:
        """Do something with a connection, and say by our own errors what went wrong."""
        try:
            reader = self._reader()
            try:
                # One transaction: a writer that comes between must not move what was found.
                reader.connection.execute("BEGIN")
                return work(reader)
            except sqlite3.Error as error:
                raise meaning(error, self._path) from error
            finally:
                if reader.connection.in_transaction:
                    reader.connection.execute("ROLLBACK")
                self._idle.put(reader)
        except FileNotFoundError:
            raise ProviderUnavailable(
                "No documents are indexed yet: run `footnote index FOLDER` first."
            ) from None
        except OSError as error:
            raise ProviderUnavailable(
                unusable(error, self._path).sentence, detail=str(error)
            ) from error
        except Damaged as error:
            with contextlib.suppress(OSError):  # a read-only place is mended by other hands
                damage_mark(self._path).touch()
            raise ProviderUnavailable(
                "The index of local documents is damaged: run `footnote index` to build it anew.",
                detail=str(error),
            ) from error
        except StorageUnavailable as error:
            raise ProviderUnavailable(error.sentence, detail=error.detail) from error

    def _reader(self) -> _Reader:
        """An idle connection to the file that is there now, or a new one."""
        inode = self._path.stat().st_ino  # FileNotFoundError: nothing is indexed
        while True:
            try:
                reader = self._idle.get_nowait()
            except queue.Empty:
                return _Reader(open_reader(self._path), inode)
            if reader.inode == inode:
                return reader
            reader.connection.close()  # the index was thrown away and built anew

    def _close_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().connection.close()
            except queue.Empty:
                return


@dataclass(frozen=True, slots=True)
class _Reader:
    """A connection, and the file it is to (an index built anew is another file)."""

    connection: sqlite3.Connection
    inode: int


def _affordable(connection: sqlite3.Connection, wanted: list[str]) -> list[str]:
    """The rarest of the terms, as many as ``MOST_POSTINGS`` allows, but at least one known one."""
    found = _found_in(connection, wanted)
    chosen: list[str] = []
    spent = 0
    for term in sorted(found, key=lambda term: (found[term], term)):
        spent += found[term]
        if chosen and spent > MOST_POSTINGS:
            break
        chosen.append(term)
    return chosen


def _found_in(connection: sqlite3.Connection, wanted: Sequence[str]) -> dict[str, int]:
    """How many passages have each of the terms that any has."""
    rows = (
        connection.execute("SELECT doc FROM temp.vocabulary WHERE term = ?", (term,)).fetchone()
        for term in wanted
    )
    return {term: row[0] for term, row in zip(wanted, rows, strict=True) if row is not None}


@dataclass(frozen=True, slots=True)
class _Opened:
    """A page that has candidates: its title, its text, and the packed spans of its passages."""

    title: str
    text: str
    spans: bytes

    def passage(self, place: int) -> str:
        """The text of the passage at a place; "" before the first and after the last."""
        if not 0 <= place < count_spans(self.spans):
            return ""
        start, end = unpack_span(self.spans, place)
        return self.text[start:end]


def _opened(connection: sqlite3.Connection, file: int) -> _Opened:
    title, text, spans = connection.execute(
        "SELECT title, text, spans FROM pages WHERE file = ?", (file,)
    ).fetchone()
    return _Opened(title, unpack_text(text), spans)


def _seen_with_surroundings(
    question: str,
    weights: Mapping[str, float],
    matches: Sequence[_Match],
    pages: Mapping[int, _Opened],
) -> list[float]:
    """The score of each match by ``bot.pages.relevance``."""
    counted: dict[tuple[int, int], list[str]] = {}

    def words_of(file: int, place: int) -> list[str]:
        key = file, place
        if key not in counted:
            counted[key] = terms(pages[file].passage(place))
        return counted[key]

    reach = len(BESIDE)
    pairs = pairs_in(question)
    titles = {file: frozenset(terms(page.title)) for file, page in pages.items()}
    scores = []
    for match in matches:
        page = pages[match.file]
        places = range(match.place - reach, match.place + reach + 1)
        words = [words_of(match.file, place) for place in places]
        around = [Counter(each) for each in words]
        lengths = [len(each) for each in words]
        start, _ = unpack_span(page.spans, match.place)
        heading = frozenset(terms("\n".join(headings_above(page.text, start))))
        rated = relevance(weights, around, lengths, [heading] * len(around), titles[match.file])
        bound = pair_scores(weights, pairs, [words_of(match.file, match.place)])
        scores.append(rated[reach] + bound[0])
    return scores


def _hit(page: _Opened, match: _Match, provider: str) -> Hit:
    return Hit(page.title, match.url, " ".join(page.passage(match.place).split()), provider)
