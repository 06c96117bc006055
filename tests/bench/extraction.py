"""Precision and recall of the extraction of articles from web pages.

Measured on the pages of the article-extraction-benchmark (scrapinghub, MIT): shingles of four
words, precision and recall averaged over pages, as that benchmark does. Beside ours stands
trafilatura's own plain text with its default options, measured the same way.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.core.errors import PageUnreadable
from tests.bench.frame import SHARED, options, print_table

DATA = SHARED / "extraction"

_MARKS = re.compile(r"^ *(?:#{1,6} +)?(?:[-*] +|\d+\. +|\|(?: --- \|)+$)?", re.MULTILINE)
_WORD = re.compile(r"\w+")


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


def main(arguments: Sequence[str]) -> None:
    parser = options("extraction", __doc__)
    parser.add_argument("--every", type=int, default=1, help="read only every so many-th page")
    given = parser.parse_args(arguments)
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
