"""The SQLite file of the index of local documents: its tables, opening it, and what a reader sees.

It contains derived data only: a damaged one is deleted and rebuilt from the documents.

``files`` has one row per document, ``pages`` its text (compressed) and the spans of its passages.
``words`` is a contentless FTS5 table (``content=''``) of the passages' terms, whose rowid is the
passage's id. A file's passages have the ids ``first`` to ``first + count - 1``. Before SQLite 3.43
contentless FTS5 tables cannot delete rows, so removed passages stay in ``words`` as ids that belong
to no file, until ``Indexer`` rewrites ``words``.

A file that cannot be read has a ``problem``. If it had text before, it keeps it, whatever the
problem is, until it can be read or is gone: a file that is being written, copied or restored is
empty or damaged for a while, and nobody can tell for how long. Its row has the size, time and
digest of the file as it is now, and its text is the one of ``indexed_at``.

``roots`` are the folders that were indexed: while they are being indexed, and after an interrupted
run, it stores how many files are missing. A row of ``vectors`` is for some consecutive passages of
a file (see ``bot.search.vectors``). It may outlive its file, so that a text that has moved keeps
its vector; ids of files are never reused.

WAL with ``synchronous=NORMAL``: a killed process loses at most its open transaction, readers never
wait for the writer, and writers take turns (https://sqlite.org/wal.html).

Areas are searched apart, so that what a reader may not see costs no time. Each path of a collection
is an area, without those of other collections within it; all other files are in area 0, whose terms
are stored as they are. The terms of other areas are stored with the area's number before them, and
a search looks at neither the postings nor the frequencies of areas that the reader may not see. An
index knows the collections of the last indexing run. If they have changed since, an area may hold
files that a reader may see and others: the rights decide about each file found in any case.

Of files with equal text (``text_digest``), only one is shown: the one with the shortest address, or
the first of those in alphabetical order. It is chosen from the files that the reader may see, so a
hidden file neither replaces one that is not, nor is replaced by one.
"""

from __future__ import annotations

import array
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot import __version__
from bot.core.errors import StorageUnavailable
from bot.pages.passages import Passage, split
from bot.pages.urls import with_names
from bot.search.filters import NO_FILTER, Filter
from bot.text.terms import STOP_WORDS, terms

if TYPE_CHECKING:
    from bot.core.reader import Reach  # slow to import: not in the child processes

SCHEMA = 8  # as in the last lines of _TABLES; an index with a different layout is rebuilt
BUSY_SECONDS = 30.0  # indexing transactions are short; this allows for slow disks

_TABLES = """
PRAGMA page_size = 16384;  -- 10 % smaller than with 4 KB, which texts of some KB fill badly
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,      -- nanoseconds; 0: compare the content next time
    digest BLOB NOT NULL,           -- of the bytes
    indexed_at REAL NOT NULL,       -- when it was read, in seconds since 1970
    first INTEGER NOT NULL,         -- id of its first passage
    count INTEGER NOT NULL,         -- its passages
    problem TEXT NOT NULL,          -- why it cannot be read (``said.encoded``), or ''
    kept REAL NOT NULL,             -- share of its words that its text holds
    omitted TEXT NOT NULL,          -- what its text lacks: JSON, a count by kind
    text_digest BLOB NOT NULL,      -- of its text, or empty
    area INTEGER NOT NULL,
    dated TEXT NOT NULL,            -- the day it is of, in ISO 8601, or ''
    author TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS files_by_first ON files (first, count) WHERE count > 0;
CREATE INDEX IF NOT EXISTS files_by_text ON files (text_digest, area) WHERE count > 0;
CREATE INDEX IF NOT EXISTS files_by_area ON files (area) WHERE count > 0;
CREATE TABLE IF NOT EXISTS roots (
    url TEXT PRIMARY KEY,
    waiting INTEGER NOT NULL,       -- files in it that are new or changed, and not read yet
    since REAL NOT NULL             -- when a run began with it, in seconds since 1970
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unread (
    url TEXT NOT NULL,              -- of a folder
    ending TEXT NOT NULL,           -- of files in it whose kind is not read
    count INTEGER NOT NULL,
    area INTEGER NOT NULL,
    PRIMARY KEY (url, ending)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS areas (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,       -- '' for the files that are in no other area
    passages INTEGER NOT NULL
);
INSERT OR IGNORE INTO areas VALUES (0, '', 0);
CREATE TRIGGER IF NOT EXISTS passages_placed AFTER UPDATE OF count, area ON files BEGIN
    UPDATE areas SET passages = passages - OLD.count WHERE id = OLD.area;
    UPDATE areas SET passages = passages + NEW.count WHERE id = NEW.area;
END;
CREATE TRIGGER IF NOT EXISTS passages_gone AFTER DELETE ON files BEGIN
    UPDATE areas SET passages = passages - OLD.count WHERE id = OLD.area;
END;
CREATE TABLE IF NOT EXISTS pages (
    file INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    spans BLOB NOT NULL,
    text BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file INTEGER NOT NULL,
    first INTEGER NOT NULL,         -- position in its file of the first of these passages
    count INTEGER NOT NULL,
    maker TEXT NOT NULL,            -- the model, and the way in which texts are split
    steps BLOB NOT NULL,            -- the vectors, a signed byte for each number
    keys BLOB NOT NULL              -- of the texts
);
CREATE UNIQUE INDEX IF NOT EXISTS vectors_by_file ON vectors (file, maker, first, count);
CREATE VIRTUAL TABLE IF NOT EXISTS words
    USING fts5 (title, heading, body, content='', tokenize='ascii');
INSERT OR IGNORE INTO meta VALUES
    ('next', 1), ('dead', 0), ('fingerprint', ''), ('generation', hex(randomblob(8)));
PRAGMA application_id = 0x464E4958;  -- "FNIX", so that `file` can be configured to recognize it
PRAGMA user_version = 8;
COMMIT;
"""


TOO_LARGE = '{"id": "unread-too-large%'
"""The problem of a file that is too large, as a pattern of SQL."""

TEXT_OF = "indexed_at * (count > 0)"
"""``IndexEntry.text_of`` in SQL."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The index's entry for a file.

    ``problem`` is why it cannot be read, or empty; ``text_of`` is when the text that the index has
    of it was read, in seconds since 1970, and 0 without any.
    """

    id: int
    size: int
    modified: int
    digest: bytes
    problem: str
    text_of: float


class Damaged(Exception):
    """The file is not an index, is damaged, or has a different layout."""


class Outdated(Damaged):
    """The index has the layout of another version of Footnote."""


# ---------------------------------------------------------------- opening


def open_writer(path: Path) -> tuple[sqlite3.Connection, str]:
    """Open the index for writing, creating it if necessary; call it within ``building``.

    Also returns its generation, which distinguishes it from an index rebuilt in its place.
    Transactions must be begun explicitly. Raises ``Damaged`` or ``StorageUnavailable``.
    """
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        is_new = _layout(connection) == 0
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = OFF")
        if is_new:
            connection.executescript(_TABLES)
        generation = connection.execute(
            "SELECT max(value) FROM meta WHERE key = 'generation'"
        ).fetchone()[0]
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise translated(error, path) from error
        raise
    return connection, str(generation)


def open_reader(path: Path) -> sqlite3.Connection:
    """Open the index for reading, from any thread.

    Raises ``FileNotFoundError`` when there is none yet, ``Damaged`` or ``StorageUnavailable``.
    """
    if not path.exists():
        raise FileNotFoundError(path)
    address = "file:" + quote(str(path))
    try:
        try:
            return _reader(address + "?mode=ro", path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _NOT_WRITABLE:
                raise
            # On a read-only medium WAL cannot create its shared memory, and there are no writers.
            return _reader(address + "?mode=ro&immutable=1", path)
    except sqlite3.Error as error:
        raise translated(error, path) from error


def _reader(address: str, path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        if _layout(connection) != 0:
            connection.execute(
                "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)"
            )
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    raise FileNotFoundError(path)  # another process is creating it right now


def _layout(connection: sqlite3.Connection) -> int:
    """The layout's number, 0 for an empty file. Raises ``Outdated`` for a different one."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in (0, SCHEMA):
        raise Outdated(f"layout {version}")
    return version


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The index, open for reading. Raises ``StorageUnavailable``."""
    try:
        with closing(open_reader(path)) as connection:
            yield connection
    except (Damaged, FileNotFoundError) as error:
        raise unusable(error, path) from error
    except sqlite3.Error as error:
        raise unusable(translated(error, path), path) from error


@contextmanager
def building(path: Path) -> Iterator[None]:
    """Hold a lock while an index is created or deleted, by one process at a time.

    The lock is SQLite's own, on an empty database next to the index: it works wherever SQLite does,
    and ends with the process.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = sqlite3.connect(f"{path}.lock", timeout=BUSY_SECONDS, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise unusable(error, path) from error
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise unusable(error, path) from error
        yield
    finally:
        lock.close()


@contextmanager
def alone(lock_path: Path) -> Iterator[bool]:
    """Be the only process that holds a lock; yields False if another one does.

    The lock is SQLite's, on an empty database: it works wherever SQLite does, and ends with the
    process. Raises ``sqlite3.Error``.
    """
    lock = sqlite3.connect(lock_path, timeout=0.0, isolation_level=None)
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            yield False
            return
        yield True
    finally:
        lock.close()


def discard(path: Path) -> None:
    """Delete an index, and finally its damage mark. Raises ``StorageUnavailable``.

    The write-ahead log is deleted first, or SQLite could apply it to a new file.
    """
    try:
        for ending in ("-wal", "-shm", ""):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        damage_mark(path).unlink(missing_ok=True)
    except OSError as error:
        raise unusable(error, path) from error


def damage_mark(path: Path) -> Path:
    """The file with which a process reports damage to the next indexing run."""
    return Path(f"{path}.damaged")


_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def translated(error: sqlite3.Error, path: Path) -> Damaged | StorageUnavailable:
    """Translate an SQLite error into one of Footnote's."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
    is_foreign = code == sqlite3.SQLITE_ERROR and "no such" in str(error)  # table or column
    if is_foreign or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Damaged(str(error))
    return unusable(error, path)


def unusable(error: Exception, path: Path) -> StorageUnavailable:
    """The error for an index that exists but cannot be used."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, Outdated):
        sentence = (
            "The index of local documents was made by another version of Footnote: run "
            "`footnote index` to rebuild it."
        )
    elif isinstance(error, Damaged):
        sentence = "The index of local documents is damaged: run `footnote index` to rebuild it."
    elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        sentence = f"The index {path} is locked by another process: try again when that has ended."
    elif code == sqlite3.SQLITE_FULL:
        sentence = f"The disk is full, so the index {path} cannot grow: free some space."
    elif code in _NOT_WRITABLE:
        sentence = f"The index {path} cannot be opened for writing: check its folder's permissions."
    else:
        sentence = f"The index {path} cannot be used: check the disk and FOOTNOTE_DATA_DIR."
    return StorageUnavailable(sentence, detail=f"{type(error).__name__}: {error}")


# ---------------------------------------------------------------- which files


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that takes the write lock at once, so that writers wait before they begin."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def below(roots: Iterable[Path]) -> tuple[str, list[str]]:
    """A condition on ``files.url`` for everything at or below the roots, and its parameters."""
    conditions: list[str] = []
    values: list[str] = []
    for root in roots:
        url = address(root)
        conditions.append("(url = ? OR (url > ? AND url < ?))")
        values += [url, url + "/", url + "0"]  # "0" is the character after "/"
    return " OR ".join(conditions) or "TRUE", values


def address(path: str | Path) -> str:
    """The ``file://`` address of an absolute path, without a trailing slash."""
    return Path(path).as_uri().rstrip("/")


def is_below(url: str, root: str) -> bool:
    """Return True if an address is that of a root or is below it."""
    return url == root or url.startswith(root + "/")


# ---------------------------------------------------------------- contents

_STOP_TERMS = frozenset(term for word in STOP_WORDS for term in terms(word))

_PROBE = (
    "# Études on Ohm's laws\n\nThe U.S. sold 1,200 papers, running 3.11 hours. Nobody stopped.\n\n"
    "## 长城 › 历史\n\n秦始皇统一中国后修筑万里长城。研究チームは東京で発表した。\n\n"
    "- 서울의 역사\n- Two\n"
)


def fingerprint() -> str:
    """A value that changes when splitting or terms change, and with every version of Footnote."""
    passages = split(_PROBE)
    seen = passages, word_rows("The Who", "file:///songs/My%20Generation.txt", passages)
    return hashlib.sha256(repr((__version__, seen, sorted(_STOP_TERMS))).encode()).hexdigest()[:16]


Row = tuple[str, str, str]


def word_rows(title: str, url: str, passages: Sequence[Passage]) -> list[Row]:
    """The rows of ``words`` for a page: terms of its title with the names of its folder and file,
    of the heading path, of the passage.

    Stop words are left out of the body: they are 40 % of all terms, and ``keywords`` never searches
    for them. Titles keep them, since some consist of nothing else ("The Who").
    """
    title_terms = " ".join(dict.fromkeys(terms(with_names(title, url))))
    headings: dict[str, str] = {}
    rows = []
    for passage in passages:
        heading = headings.get(passage.heading)
        if heading is None:
            heading = headings[passage.heading] = " ".join(terms(passage.heading))
        body = " ".join([term for term in terms(passage.text) if term not in _STOP_TERMS])
        rows.append((title_terms, heading, body))
    return rows


def pack_spans(passages: Sequence[Passage]) -> bytes:
    """Starts and ends as unsigned 32-bit numbers: compact, and accessible by position."""
    return array.array("I", [n for each in passages for n in (each.start, each.end)]).tobytes()


def count_spans(spans: bytes) -> int:
    """Count the passages in a page's stored spans."""
    return len(spans) // (2 * array.array("I").itemsize)


def unpack_span(spans: bytes, place: int) -> tuple[int, int]:
    """The span of the passage at ``place`` of its page. Raises ``Damaged``."""
    numbers = array.array("I")
    width = 2 * numbers.itemsize
    piece = spans[place * width : (place + 1) * width]
    if len(piece) != width:
        raise Damaged("spans")
    numbers.frombytes(piece)
    return numbers[0], numbers[1]


def pack_text(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def unpack_text(data: bytes) -> str:
    """Raises ``Damaged``: the checksum of zlib covers every byte."""
    try:
        return zlib.decompress(data).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise Damaged(f"text: {error}") from None


MARK = "·"  # between an area's number and a term; no term contains it (``text.terms``)


@dataclass(frozen=True, slots=True)
class Area:
    """An area with files that a reader may see: all of them if ``is_whole``. ``passages`` is the
    number of its passages that are searched."""

    id: int
    passages: int
    is_whole: bool = True


def area_addresses(paths: Iterable[str | Path]) -> list[str]:
    """The addresses of the areas for paths of collections: as written, and with links resolved."""
    found: set[str] = set()
    for path in paths:
        written = os.path.abspath(Path(path).expanduser())
        found |= {address(Path(written)), address(Path(os.path.realpath(written)))}
    return sorted(found)


def innermost(url: str, areas: Iterable[str]) -> str:
    """The longest address at or below which a file is; "" for area 0."""
    return max((area for area in areas if area and is_below(url, area)), key=len, default="")


def in_area(area: int, terms: str) -> str:
    """Terms, separated by spaces, as they are stored for an area."""
    if not area or not terms:
        return terms
    return f"{area}{MARK}" + terms.replace(" ", f" {area}{MARK}")


def areas_in_reach(connection: sqlite3.Connection, reach: Reach) -> list[Area]:
    """The areas with files that may be within a reach."""
    rows = connection.execute("SELECT id, url, passages FROM areas ORDER BY id").fetchall()
    if reach.has_all_documents:
        return [Area(id, passages) for id, _, passages in rows]
    urls = [url for _, url, _ in rows]
    decided = {url: {_allows(reach, url)} for url in urls}
    for root, allowed in reach.rules:
        if root not in decided:  # a collection that is newer than the index
            decided[innermost(root, urls)].add(allowed)
    return [
        Area(id, passages, all(decided[url])) for id, url, passages in rows if any(decided[url])
    ]


def _allows(reach: Reach, url: str) -> bool:
    rule = next((allowed for root, allowed in reach.rules if url and is_below(url, root)), None)
    return reach.others if rule is None else rule


def found_in(
    connection: sqlite3.Connection, areas: Sequence[Area], terms: Iterable[str]
) -> dict[str, int]:
    """The number of passages of some areas with each term; terms without any are left out."""
    found: dict[str, int] = {}
    query = "SELECT doc FROM temp.vocabulary WHERE term = ?"
    for term in terms:
        rows = [connection.execute(query, (in_area(each.id, term),)).fetchone() for each in areas]
        if count := sum(row[0] for row in rows if row is not None):
            found[term] = count
    return found


def phrases(areas: Sequence[Area], terms: Iterable[str]) -> str:
    """The FTS5 query for passages of some areas with any of the terms."""
    return " OR ".join(f'"{in_area(each.id, term)}"' for term in terms for each in areas)


LAST_SHOWN_FIRST = "length(url) DESC, url DESC"
"""An order of files in which, of those with equal text, the one that is shown comes last."""

_BELOW = "url = ? OR (url > ? AND url < ?)"


@dataclass(frozen=True, slots=True)
class Condition:
    """An SQL condition on the table ``files``, with the values of its parameters."""

    sql: str
    values: Sequence[str]


class Visible:
    """The files in some folders (in all without any) that are in reach, and their ``areas``.

    ``only`` restricts them further; ``condition`` is theirs. For one transaction.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        folders: Iterable[Path],
        reach: Reach,
        only: Filter = NO_FILTER,
    ) -> None:
        reach = reach.of_files
        self._connection = connection
        self._shown: dict[bytes, int] = {}
        self.areas = areas_in_reach(connection, reach)
        sql, values = below(folders)
        sql = f"area IN ({', '.join(str(area.id) for area in self.areas)}) AND ({sql})"
        if not reach.has_all_documents:
            in_reach, more = _in_reach(reach)
            sql, values = f"{sql} AND ({in_reach})", [*values, *more]
        self.condition = Condition(sql, values)
        if only:
            meant = self._meant([address(folder).rpartition("/")[0] for folder in folders], only)
            sql += f" AND files.id IN ({', '.join(map(str, meant))})"
            self.condition = Condition(sql, values)

    def _meant(self, above: Sequence[str], only: Filter) -> list[int]:
        """The files that a filter means, by their names below the folders."""
        rows = self._connection.execute(
            "SELECT id, url, author, dated FROM files WHERE count > 0"  # noqa: S608 - our own column names
            f" AND {self.condition.sql}",
            self.condition.values,
        )
        return [
            id
            for id, url, *about in rows
            if only.means(
                url[max((len(a) for a in above if is_below(url, a)), default=0) :], *about
            )
        ]

    def is_shown(self, file: int, text_digest: bytes) -> bool:
        """Return True if a visible file is the one that is shown of those with its text."""
        shown = self._shown.get(text_digest)
        if shown is None:
            (shown,) = self._connection.execute(
                "SELECT id FROM files WHERE text_digest = ? AND count > 0"  # noqa: S608 - our own column names
                f" AND {self.condition.sql} ORDER BY length(url), url LIMIT 1",
                (text_digest, *self.condition.values),
            ).fetchone()
            self._shown[text_digest] = shown
        return shown == file


def _in_reach(reach: Reach) -> tuple[str, list[str]]:
    """``Reach.allows`` as an SQL condition with its values: the first matching rule decides."""
    cases = "".join(f" WHEN {_BELOW} THEN {int(allowed)}" for _, allowed in reach.rules)
    values: list[str] = []
    for root, _ in reach.rules:
        values += [root, root + "/", root + "0"]  # "0" is the character after "/"
    otherwise = int(reach.others)
    return f"CASE{cases} ELSE {otherwise} END" if cases else str(otherwise), values
