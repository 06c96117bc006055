"""Precision and recall of the extraction of articles from web pages.

Measured on the pages of the article-extraction-benchmark (scrapinghub, MIT): shingles of four
words, precision and recall averaged over pages, as that benchmark does. Beside ours stands
trafilatura's own plain text with its default options, measured the same way.

With ``--kept FOLDER …`` it reads the files of these folders instead, and shows what share of their
words is kept, by the second reading that ``bot.pages.second_reading`` makes, and what is missing.
``words`` are those of the texts and the lost ones.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bot.core.errors import PageUnreadable
from bot.pages.page import LOST_NOTE, LOST_WORD, counted
from tests.bench.frame import SHARED, options, print_table

DATA = SHARED / "extraction"

_MARKS = re.compile(r"^ *(?:#{1,6} +)?(?:[-*] +|\d+\. +|\|(?: --- \|)+$)?", re.MULTILINE)
_WORD = re.compile(r"\w+")
_KEPT = 0.98  # share of a file's words; files below are counted


@dataclass(frozen=True, slots=True)
class Score:
    """Means over pages; ``seconds`` is the mean time for one page."""

    precision: float
    recall: float
    seconds: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def pages(*, every: int = 1) -> Iterator[bytes]:
    """The HTML of every ``every``-th page of the set."""
    for path in sorted((DATA / "html").iterdir())[::every]:
        yield gzip.decompress(path.read_bytes())


def score(read: Callable[[bytes], str], *, every: int = 1) -> Score:
    """Score a reader on every ``every``-th page of the set."""
    truth = json.loads((DATA / "ground-truth.json").read_text(encoding="utf-8"))
    names = sorted(truth)[::every]
    precisions, recalls, seconds = [], [], 0.0
    for name in names:
        html = gzip.decompress((DATA / "html" / f"{name}.html.gz").read_bytes())
        started = time.perf_counter()
        text = read(html)
        seconds += time.perf_counter() - started
        precision, recall = _overlap(_shingles(text), _shingles(truth[name]["articleBody"]))
        precisions.append(precision)
        recalls.append(recall)
    count = len(names)
    return Score(sum(precisions) / count, sum(recalls) / count, seconds / count)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(_MARKS.sub("", text))
    if len(words) < 4:
        return Counter([tuple(words)] if words else [])
    return Counter(zip(words, words[1:], words[2:], words[3:], strict=False))


def _overlap(
    found: Counter[tuple[str, ...]], true: Counter[tuple[str, ...]]
) -> tuple[float, float]:
    both = _size((found & true).values())
    if not found and not true:
        return 1.0, 1.0
    return both / (_size(found.values()) or 1), both / (_size(true.values()) or 1)


def _size(counts: Iterable[int]) -> int:
    return sum(counts)


def ours(html: bytes) -> str:
    from bot.pages import extract

    try:
        return extract.from_bytes(html, "text/html", "the page").text
    except PageUnreadable:
        return ""


def trafilatura_default(html: bytes) -> str:
    import trafilatura

    return trafilatura.extract(html) or ""


def refused(*, every: int = 1) -> int:
    """The number of pages of the set that are taken for walls or empty pages."""
    return sum(not ours(html) for html in pages(every=every))


def kept_in(folder: Path, most: int) -> list[Sequence[str]]:
    """A row for each kind of file in a folder, of which every n-th is read, about ``most``."""
    from bot.pages import extract
    from bot.pages.media import format_of

    kinds: dict[str, list[Path]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if found := format_of(path.name):
            kinds.setdefault(str(found.name), []).append(path)
    rows: list[Sequence[str]] = []
    for kind, paths in sorted(kinds.items()):
        chosen = paths[:: max(1, len(paths) // most)]
        shares, lacking, words, unread = [], Counter[str](), 0, 0
        for path in chosen:
            try:
                reading = extract.from_bytes(path.read_bytes(), None, path.name)
            except PageUnreadable:
                unread += 1
                continue
            shares.append((reading.kept, path.name))
            lacking.update(reading.omitted)
            words += len(_WORD.findall(reading.text))
        if shares:
            low = sum(share < _KEPT for share, _ in shares)
            middle, (worst, name) = median(share for share, _ in shares), min(shares)
            lost = lacking.pop(LOST_WORD, 0) + lacking.pop(LOST_NOTE, 0)
            counts = (str(len(shares)), f"{words + lost:,}", f"{lost:,}", str(low))
            shown = (f"{middle:.3f}", f"{worst:.3f} {name}", str(unread), counted(lacking))
            rows.append((folder.name, kind, *counts, *shown))
    return rows


def main(arguments: Sequence[str]) -> None:
    parser = options("extraction", __doc__)
    parser.add_argument("--kept", type=Path, nargs="+", metavar="FOLDER", help="see above")
    parser.add_argument("--most", type=int, default=40, help="files of a kind in a folder")
    parser.add_argument("--every", type=int, default=1, help="read only every so many-th page")
    given = parser.parse_args(arguments)
    if given.kept:
        counts = ("folder", "kind", "files", "words", "lost", "< 98 %")
        print_table(
            (*counts, "median", "worst", "unread", "lacking"),
            [row for folder in given.kept for row in kept_in(folder, given.most)],
        )
        return
    every = 90 if given.quick else given.every
    readers = (("trafilatura default", trafilatura_default), ("Footnote", ours))
    scores = [(name, score(read, every=every)) for name, read in readers]
    print_table(
        ("reader", "F1", "precision", "recall", "pages/s"),
        [
            (name, f"{s.f1:.4f}", f"{s.precision:.4f}", f"{s.recall:.4f}", f"{1 / s.seconds:.1f}")
            for name, s in scores
        ],
    )
    count = sum(1 for _ in pages(every=every))
    print(f"\nrefused as empty, of {count} real pages: {refused(every=every)}")
