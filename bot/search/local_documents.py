"""Local documents: the user's own files, found by BM25, re-scored with the text around a passage,
and read from the index."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import re
import sqlite3
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from cachetools import LRUCache

from bot.core.errors import PageUnreadable, ProviderUnavailable, StorageUnavailable
from bot.core.reader import EVERYTHING, Reach
from bot.core.texts import said
from bot.pages.bm25 import BESIDE, idf, relevance_at, weigh
from bot.pages.page import TEXTLESS_PAGE, Page
from bot.pages.passages import Weight
from bot.pages.urls import with_names
from bot.search.embedder import Embedder, Vector
from bot.search.filters import NO_FILTER, Filter
from bot.search.folders import root_of
from bot.search.index_file import (
    Area,
    Damaged,
    Outdated,
    Visible,
    address,
    count_spans,
    damage_mark,
    found_in,
    is_below,
    open_reader,
    phrases,
    translated,
    unpack_span,
    unpack_text,
    unusable,
)
from bot.search.index_report import KEPT_ENOUGH, SHOWN, path_of, unread_files
from bot.search.provider import UNKNOWN_DOCUMENT, Hit, Matched, ProviderKind, Query, Unread
from bot.search.vectors import Match, Meaning, ranked
from bot.text.language import detect, foreign
from bot.text.terms import fold, keywords, terms

# Column weights in BM25: a word in the title says more about a page than one in its text.
TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT = 4.0, 2.0, 1.0

# Cost limit of one query. BM25 touches every passage that contains any of the terms, so the rarest
# terms are taken first, and common ones only while they add few passages; a term in ten thousand
# passages hardly distinguishes them (by its IDF).
MOST_POSTINGS = 15_000
MOST_TERMS = 32
MOST_QUERY_CHARACTERS = 2_000
PASSAGES_PER_HIT = 6  # nearest passages fetched per hit: several passages share a page
CANDIDATES = 120  # passages that are re-scored with their surroundings
NEAREST = 3  # names told where a filter means no file
SAMPLE = 20_000  # characters of a page from which its language is detected
PATIENCE = 5.0  # seconds that a search waits for an indexing run that has just begun
POLL = 0.05  # seconds between checks whether it has ended
T = TypeVar("T")


class LocalDocuments:
    """A search provider and page reader for an index made by ``Indexer``.

    ``roots`` restricts it to those files and folders; without any, it searches the whole index.
    With an ``embedder``, for which ``vector_filling`` has made vectors, passages are found by
    meaning as well as by words. A page's text is the one that was indexed, so that quotes, spans
    and hits agree even if the file has changed since. SQLite runs in threads, never in the event
    loop.
    """

    name = "local"
    kind: ProviderKind = "knowledge"

    def __init__(
        self,
        index_path: Path,
        roots: Iterable[str | Path] = (),
        embedder: Embedder | None = None,
    ) -> None:
        self._path = index_path
        self._folders = [root_of(root) for root in roots]
        self._roots = list(map(address, self._folders))
        self._meaning = None if embedder is None else Meaning(embedder)
        self._idle: queue.SimpleQueue[_Reader] = queue.SimpleQueue()

    async def search(self, query: Query) -> list[Hit]:
        """See ``SearchProvider.search``. A hit's snippet is the best passage as a whole.

        Files have no language, region, age or domain, so those restrictions are ignored.
        """
        question = query.text[:MOST_QUERY_CHARACTERS]
        wanted = keywords(question)[:MOST_TERMS]
        if not wanted or query.limit < 1 or query.reach.is_nothing:
            return []
        await self._settled()
        vector = await self._vector_of(question)
        visible = (query.reach, query.only)
        return await self._ask(self._search, question, wanted, query.limit, vector, *visible)

    async def narrowed(self, only: Filter, reach: Reach = EVERYTHING) -> tuple[Filter, bool]:
        """See ``bot.search.provider.Narrowing``."""
        return await self._ask(self._narrowed, only, reach)

    async def matched(self, only: Filter, reach: Reach = EVERYTHING) -> Matched:
        """See ``bot.search.provider.Narrowing``."""
        return await self._ask(self._matched, only, reach)

    async def rarity(self, terms: Sequence[str], reach: Reach = EVERYTHING) -> dict[str, float]:
        """See ``bot.search.provider.Lexicon``."""
        wanted = list(dict.fromkeys(terms))
        return await self._ask(self._rarity, wanted, reach)

    async def missing(self) -> int:
        """See ``bot.search.provider.Indexed``."""
        return (await self._ask(self._awaited))[0]

    async def unread(self, urls: Sequence[str], reach: Reach = EVERYTHING) -> Unread:
        """See ``bot.search.provider.Indexed``."""
        return await self._ask(self._unread, urls, reach)

    def reads(self, url: str) -> bool:
        """Return True if ``url`` is a file's address; only indexed files can then be read."""
        return url.startswith("file:///")

    async def read(self, url: str) -> Page:
        """The page as it was indexed. Raises ``PageUnreadable`` if the file is not in the index."""
        return await self._ask(self._read, url)

    def weighs(self, url: str) -> bool:
        """See ``Weighing.weighs``."""
        return self._meaning is not None and self.reads(url)

    async def weigh(self, question: str, url: str, reach: Reach = EVERYTHING) -> tuple[Weight, ...]:
        """See ``Weighing.weigh``."""
        vector = await self._vector_of(question)
        if vector is None:
            return ()
        return await self._ask(self._weigh, vector, url, reach)

    async def count(self, reach: Reach = EVERYTHING) -> int:
        """The number of searchable documents."""
        return await self._ask(self._count, reach)

    async def titles(self, most: int, *reaches: Reach) -> list[str]:
        """The titles of documents in all of these reaches, the last changed first."""
        return await self._ask(self._titles, most, reaches)

    async def aclose(self) -> None:
        """Close the index. Later calls open it again."""
        await asyncio.to_thread(self._close_idle)

    async def _vector_of(self, question: str) -> Vector | None:
        """The question's vector; None if it cannot be had, or there is none to compare it with."""
        if self._meaning is None or not await self._ask(self._meaning.has_vectors):
            return None
        return await self._meaning.vector_of(question)

    async def _settled(self) -> None:
        """Wait briefly for an indexing run that has just begun, since most end soon."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            missing, began = await self._ask(self._awaited)
            if not missing or not 0 <= time.time() - began < PATIENCE:
                return
            await asyncio.sleep(POLL)

    async def _ask(self, work: Callable[..., T], *values: Any) -> T:
        """The result of ``work``, called in a thread with a connection and these values."""
        return await asyncio.to_thread(self._with_index, work, *values)

    # ------------------------------------------------------------ in a thread

    def _search(
        self,
        connection: sqlite3.Connection,
        question: str,
        wanted: list[str],
        limit: int,
        vector: Vector | None,
        reach: Reach,
        only: Filter,
    ) -> list[Hit]:
        visible = Visible(connection, self._folders, reach, only)
        chosen = phrases(visible.areas, _affordable(connection, visible.areas, wanted))
        matches = list(islice(_matches(connection, chosen, visible), CANDIDATES)) if chosen else []
        pages = Pages(connection)
        candidates = {match.file for match in matches}
        weights = weigh(question, self._rarity(connection, wanted, reach))
        matches = rate_matches(weights, matches, pages)
        if self._meaning is not None and vector is not None:
            scan = self._meaning.scan(connection, vector, visible)
            matches = ranked(scan, matches, limit * PASSAGES_PER_HIT)
        best = {match.file: match for match in reversed(matches)}
        files = list(dict.fromkeys(match.file for match in matches))[: 2 * limit]
        if len(files) > limit:  # there is a choice: prefer pages in the question's language
            texts = {file: pages[file].text[:SAMPLE] for file in files if file in candidates}
            in_another = foreign(texts, detect(question))
            files = sorted(files, key=in_another.__contains__)[:limit]
        return [_hit(pages[file], best[file], self.name) for file in files]

    def _narrowed(
        self, connection: sqlite3.Connection, only: Filter, reach: Reach
    ) -> tuple[Filter, bool]:
        kept, left, is_empty = NO_FILTER, self._meant(connection, NO_FILTER, reach), False
        for name in only.named:
            tried = replace(kept, named=(*kept.named, name))
            if 0 < (count := self._meant(connection, tried, reach)) < left:
                kept, left = tried, count
        if only.after or only.before:
            tried = replace(kept, after=only.after, before=only.before)
            is_empty = not (count := self._meant(connection, tried, reach))
            # Documents that are all meant may have sections that are not.
            kept = tried if count else kept
        return kept, is_empty

    def _matched(self, connection: sqlite3.Connection, only: Filter, reach: Reach) -> Matched:
        if self._meant(connection, only, reach):
            return True, ()
        visible = Visible(connection, self._folders, reach).condition
        query = f"SELECT url FROM files WHERE count > 0 AND {visible.sql}"  # noqa: S608 - our own column names
        paths = [Path(unquote(url)) for (url,) in connection.execute(query, visible.values)]
        names = {name for path in paths for name in (path.parent.name, path.stem)}
        known: dict[str, list[str]] = {}
        for name in sorted(names):
            for word in (name, *_WORD.findall(name)):
                known.setdefault(fold(word), []).append(name)
        wrong = [n for n in only.named if not self._meant(connection, Filter((n,)), reach)]
        near = [x for n in wrong for like in get_close_matches(fold(n), known) for x in known[like]]
        return False, tuple(dict.fromkeys(near))[:NEAREST]

    def _meant(self, connection: sqlite3.Connection, only: Filter, reach: Reach) -> int:
        """The number of files that a filter means."""
        visible = Visible(connection, self._folders, reach, only).condition
        query = f"SELECT count(*) FROM files WHERE count > 0 AND {visible.sql}"  # noqa: S608 - our own column names
        return int(connection.execute(query, visible.values).fetchone()[0])

    def _rarity(
        self, connection: sqlite3.Connection, wanted: list[str], reach: Reach
    ) -> dict[str, float]:
        """Count in what the reader may see, so that nothing else shows in the result."""
        visible = Visible(connection, self._folders, reach)
        whole = [area for area in visible.areas if area.is_whole]
        passages = sum(area.passages for area in whole)
        found = found_in(connection, whole, wanted)
        for area in visible.areas:
            if not area.is_whole:  # its collection is newer than the index
                passages += _count_passages(connection, area, visible)
                for term in wanted:
                    more = _count_found(connection, phrases([area], [term]), visible)
                    found[term] = found.get(term, 0) + more
        # Until the next clean-up, passages of removed files are found but not counted.
        passages = max(1, passages)
        counts = {term: min(found.get(term, 0), passages) for term in ("", *wanted)}
        return {term: idf(number, passages) for term, number in counts.items()}

    def _read(self, connection: sqlite3.Connection, url: str) -> Page:
        visible = Visible(connection, self._folders, EVERYTHING).condition
        row = connection.execute(
            "SELECT files.url, title, text, indexed_at FROM files JOIN pages ON pages.file = id"  # noqa: S608 - our own column names
            f" WHERE url = ? AND {visible.sql}",
            (url.partition("#")[0], *visible.values),
        ).fetchone()
        if row is None:
            raise PageUnreadable(UNKNOWN_DOCUMENT)
        return Page(row[0], row[1], unpack_text(row[2]), datetime.fromtimestamp(row[3], UTC))

    def _weigh(
        self, connection: sqlite3.Connection, vector: Vector, url: str, reach: Reach
    ) -> tuple[Weight, ...]:
        row = connection.execute(
            "SELECT id, spans FROM files JOIN pages ON pages.file = id WHERE url = ?",
            (url.partition("#")[0],),
        ).fetchone()
        if row is None or self._meaning is None:
            return ()
        file, spans = row
        visible = Visible(connection, self._folders, reach)
        found = self._meaning.scan(connection, vector, visible).relevances(file)
        return tuple(Weight(*unpack_span(spans, place), found[place]) for place in sorted(found))

    def _count(self, connection: sqlite3.Connection, reach: Reach) -> int:
        visible = Visible(connection, self._folders, reach).condition
        query = (
            "SELECT count(DISTINCT text_digest) FROM files"  # noqa: S608 - our own column names
            f" WHERE count > 0 AND {visible.sql}"
        )
        return int(connection.execute(query, visible.values).fetchone()[0])

    def _unread(self, connection: sqlite3.Connection, urls: Sequence[str], reach: Reach) -> Unread:
        visible = Visible(connection, self._folders, reach).condition
        cited = list({url.partition("#")[0] for url in urls})
        partly = connection.execute(
            "SELECT title FROM files JOIN pages ON pages.file = id"  # noqa: S608 - our own column names
            f" WHERE url IN ({', '.join('?' * len(cited))}) AND {visible.sql}"
            f" AND (kept < {KEPT_ENOUGH} OR omitted LIKE '%\"{TEXTLESS_PAGE}\"%') ORDER BY title",
            (*cited, *visible.values),
        )
        failed = connection.execute(
            f"SELECT url FROM files WHERE problem != '' AND {visible.sql}"  # noqa: S608 - our own column names
            " ORDER BY url LIMIT ?",
            (*visible.values, SHOWN),
        )
        return replace(
            unread_files(connection, visible.sql, visible.values),
            partly=tuple(title for (title,) in partly),
            failed=tuple(Path(path_of(url)).name for (url,) in failed),
        )

    def _titles(
        self, connection: sqlite3.Connection, most: int, reaches: Sequence[Reach]
    ) -> list[str]:
        within = [Visible(connection, self._folders, reach).condition for reach in reaches]
        query = (
            "SELECT title FROM files JOIN pages ON pages.file = id WHERE count > 0"  # noqa: S608 - our own column names
            + "".join(f" AND ({each.sql})" for each in within)
            + " GROUP BY title ORDER BY max(modified) DESC, title LIMIT ?"
        )
        values = [value for each in within for value in each.values]
        return [title for (title,) in connection.execute(query, (*values, most))]

    def _awaited(self, connection: sqlite3.Connection) -> tuple[int, float]:
        """The number of files not indexed yet, and when the latest run to index them began."""
        rows = connection.execute("SELECT url, waiting, since FROM roots WHERE waiting > 0")
        missing: dict[str, int] = {}
        latest = 0.0
        for url, waiting, since in sorted(rows.fetchall()):
            ours = any(is_below(url, root) or is_below(root, url) for root in self._roots)
            if (ours or not self._roots) and not any(is_below(url, other) for other in missing):
                missing[url] = waiting
                latest = max(latest, since)
        return sum(missing.values()), latest

    # ------------------------------------------------------------ connections

    def _with_index(self, work: Callable[..., T], *values: Any) -> T:
        """Run a function with a connection, and translate errors."""
        try:
            reader = self._reader()
            try:
                # One transaction, so that a writer cannot change passage ids in between.
                reader.connection.execute("BEGIN")
                return work(reader.connection, *values)
            except sqlite3.Error as error:
                raise translated(error, self._path) from error
            finally:
                if reader.connection.in_transaction:
                    reader.connection.execute("ROLLBACK")
                self._idle.put(reader)
        except FileNotFoundError:
            raise ProviderUnavailable(said("sources-unindexed")) from None
        except (OSError, Damaged, StorageUnavailable) as error:
            if isinstance(error, Damaged) and not isinstance(error, Outdated):
                with contextlib.suppress(OSError):  # the folder may be read-only
                    damage_mark(self._path).touch()
            told = error if isinstance(error, StorageUnavailable) else unusable(error, self._path)
            raise ProviderUnavailable(told.sentence, detail=told.detail) from error

    def _reader(self) -> _Reader:
        """An idle connection to the current file, or a new one."""
        inode = self._path.stat().st_ino  # FileNotFoundError: nothing is indexed
        while True:
            try:
                reader = self._idle.get_nowait()
            except queue.Empty:
                return _Reader(open_reader(self._path), inode)
            if reader.inode == inode:
                return reader
            reader.connection.close()  # the index was deleted and rebuilt

    def _close_idle(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().connection.close()


@dataclass(frozen=True, slots=True)
class _Reader:
    """A connection, and the inode of its file (a rebuilt index is a different file)."""

    connection: sqlite3.Connection
    inode: int


# A passage's file is the last one that begins at or before it.
_WITH_FILE = """CROSS JOIN files ON files.id = (
            SELECT id FROM files WHERE count > 0 AND first <= found.id
            ORDER BY first DESC LIMIT 1
        )
        WHERE found.id < files.first + files.count"""


def _matches(connection: sqlite3.Connection, chosen: str, visible: Visible) -> Iterator[Match]:
    """Passages of files that are shown that match an FTS5 query, best first.

    The inner query is fully sorted before the first row is returned; files are looked up row by
    row, so that passages of other roots and of removed files cost a look-up only if they rank
    before the last row that is needed.
    """
    rows = connection.execute(
        f"""
        SELECT files.id, files.url, found.id - files.first, -found.score, text_digest
        FROM (
            SELECT rowid AS id,
                bm25(words, {TITLE_WEIGHT}, {HEADING_WEIGHT}, {BODY_WEIGHT}) AS score
            FROM words WHERE words MATCH ?
            ORDER BY score, rowid
            LIMIT -1
        ) AS found {_WITH_FILE} AND {visible.condition.sql}
        """,  # noqa: S608 - constants and a condition made of our own column names
        (chosen, *visible.condition.values),
    )
    return (Match(*row) for *row, digest in rows if visible.is_shown(row[0], digest))


def _count_found(connection: sqlite3.Connection, chosen: str, visible: Visible) -> int:
    """The number of visible passages that match an FTS5 query."""
    matching = "SELECT rowid AS id FROM words WHERE words MATCH ?"
    query = f"SELECT count(*) FROM ({matching}) AS found {_WITH_FILE} AND {visible.condition.sql}"  # noqa: S608 - our own column names
    return int(connection.execute(query, (chosen, *visible.condition.values)).fetchone()[0])


def _count_passages(connection: sqlite3.Connection, area: Area, visible: Visible) -> int:
    condition, values = visible.condition.sql, visible.condition.values
    query = f"SELECT total(count) FROM files WHERE area = ? AND {condition}"  # noqa: S608 - same
    return int(connection.execute(query, (area.id, *values)).fetchone()[0])


def _affordable(
    connection: sqlite3.Connection, areas: Sequence[Area], wanted: list[str]
) -> list[str]:
    """The rarest terms, as many as ``MOST_POSTINGS`` allows, but at least one in these areas of
    the index."""
    chosen: list[str] = []
    spent = 0
    found = found_in(connection, areas, wanted)
    for term in sorted(found, key=lambda term: (found[term], term)):
        spent += found[term]
        if chosen and spent > MOST_POSTINGS:
            break
        chosen.append(term)
    return chosen


def _hit(page: OpenedPage, match: Match, provider: str) -> Hit:
    snippet = " ".join(page.passage(match.place).split())
    return Hit(page.title, match.url, snippet, provider, match.relevance)


@dataclass(frozen=True, slots=True)
class OpenedPage:
    """The page of a candidate: its title, its text, and the packed spans of its passages."""

    title: str
    text: str
    spans: bytes

    def passage(self, place: int) -> str:
        """The text of the passage at a place; "" before the first and after the last."""
        if not 0 <= place < count_spans(self.spans):
            return ""
        start, end = unpack_span(self.spans, place)
        return self.text[start:end]


HELD = 4_000_000  # characters of pages that one search keeps in memory
_HEADING_LINE = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+)$", re.MULTILINE)
_FENCE = "\n```"
_WORD = re.compile(r"[^\W_]+")
_MOST_HEADINGS = 3  # looked up above a passage


class Headings:
    """Finds the headings above a position in a page's text."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._above: list[tuple[str, ...]] = []  # each heading, and those above it
        text = f"\n{text}"
        fences = list(_finds(text, _FENCE))
        opened: list[tuple[int, str]] = []  # level and title of headings, the last one innermost
        for at in _finds(text, "\n#"):
            line = _HEADING_LINE.match(text, at + 1)
            # "# Install" inside a code fence is a comment.
            if line is None or bisect_left(fences, at) % 2 == 1:
                continue
            while opened and opened[-1][0] >= len(line[1]):
                opened.pop()
            opened.append((len(line[1]), line[2].strip("# ")))
            self._starts.append(at)
            self._above.append(tuple(title for _, title in reversed(opened[-_MOST_HEADINGS:])))

    def above(self, start: int) -> tuple[str, ...]:
        """The nearest headings above, of increasing rank, nearest first."""
        place = bisect_left(self._starts, start)
        return self._above[place - 1] if place else ()


def _finds(text: str, part: str) -> Iterator[int]:
    """The places where a part of a text begins."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


class Pages:
    """Pages of an index by file, loaded when needed; limited to ``HELD`` characters in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._held: LRUCache[int, OpenedPage] = LRUCache(
            HELD, getsizeof=lambda page: len(page.text)
        )

    def __getitem__(self, file: int) -> OpenedPage:
        """Raises ``Damaged`` and ``sqlite3.Error``."""
        page = self._held.get(file)
        if page is None:
            title, text, spans = self._connection.execute(
                "SELECT title, text, spans FROM pages WHERE file = ?", (file,)
            ).fetchone()
            page = OpenedPage(title, unpack_text(text), spans)
            if len(page.text) <= HELD:
                self._held[file] = page
        return page


def rate_matches(
    weights: Mapping[str, float],
    matches: Sequence[Match],
    pages: Pages | Mapping[int, OpenedPage],
) -> list[Match]:
    """The matches with their score by ``bot.pages.bm25``, best first.

    ``weights`` are those of the question's terms. ``pages`` has the files of the matches, which are
    processed one at a time.
    """
    reach = len(BESIDE)
    found: dict[int, Match] = {}
    by_file = sorted(range(len(matches)), key=lambda i: matches[i].file)
    for file, same in groupby(by_file, key=lambda i: matches[i].file):
        page, places_of_matches = pages[file], list(same)
        title = frozenset(terms(with_names(page.title, matches[places_of_matches[0]].url)))
        headings = Headings(page.text)
        headed: dict[tuple[str, ...], frozenset[str]] = {}
        counted: dict[int, Counter[str]] = {}
        for i in places_of_matches:
            at = matches[i].place
            around = range(at - reach, at + reach + 1)
            for place in around:
                if place not in counted:
                    counted[place] = Counter(terms(page.passage(place)))
            start, _ = unpack_span(page.spans, at)
            above = headings.above(start)
            if above not in headed:
                headed[above] = frozenset(terms("\n".join(above)))
            score = relevance_at(
                reach,
                weights,
                [counted[place] for place in around],
                counted[at].total(),
                headed[above],
                title,
            )
            found[i] = replace(matches[i], score=score)
    return [found[i] for i in sorted(found, key=lambda i: (-found[i].score, i))]
