"""Precision and recall of the extraction of articles from web pages.

Measured on the pages of the article-extraction-benchmark (scrapinghub, MIT): shingles of four
words, precision and recall averaged over pages, as that benchmark does. Beside ours stands
trafilatura's own plain text with its default options, measured the same way.

Then every page is served on loopback, fetched and read, and a long page is cut and searched.

Run: python -m tests.bench extraction [--every N]
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.configuration import load_settings
from bot.errors import PageUnreadable
from bot.pages.chooser import Chooser
from bot.pages.fetch import Fetcher
from bot.pages.page import Page
from bot.pages.passages import split
from tests.bench.table import ms, print_table
from tests.fakes.server import serve

AT_ONCE = (1, 8, 32)  # pages fetched side by side
LONG = 500_000  # characters of the long page

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "extraction"

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
    for path in sorted((SHARED / "html").iterdir())[::every]:
        yield gzip.decompress(path.read_bytes())


def score(read: Callable[[bytes], str], *, every: int = 1) -> Score:
    """Score a reader on every ``every``-th page of the set."""
    truth = json.loads((SHARED / "ground-truth.json").read_text(encoding="utf-8"))
    names = sorted(truth)[::every]
    precisions, recalls, seconds = [], [], 0.0
    for name in names:
        html = gzip.decompress((SHARED / "html" / f"{name}.html.gz").read_bytes())
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


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="extraction", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="read only every so many-th page")
    every = parser.parse_args(arguments).every
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
    print(f"\nrefused as empty, of {count} real pages: {refused(every=every)}\n")
    print_table(
        ("fetch over loopback, at once", "pages", "pages/s", "slowest"),
        asyncio.run(_fetches(every)),
    )
    print()
    print_table(("passages of a long page", "", ""), asyncio.run(_passages(every)))


# ---------------------------------------------------------------- fetching


class _Site:
    """Serves the pages of the set, by their place in it."""

    def __init__(self, every: int) -> None:
        self.pages = [html.decode("utf-8", "replace") for html in pages(every=every)]
        self.app = Starlette(routes=[Route("/{place:int}", self._page)])

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(self.pages[request.path_params["place"]])


async def _fetches(every: int) -> list[tuple[object, ...]]:
    """Every page of the set fetched and read, 1, 8 and 32 at once; what is refused counts too."""
    site = _Site(every)
    rows: list[tuple[object, ...]] = []
    with serve(site.app) as base:
        for at_once in AT_ONCE:
            fetcher = Fetcher(
                load_settings(
                    fetch_allow=("127.0.0.1",),
                )
            )
            slots = asyncio.Semaphore(at_once)
            took: list[float] = []

            async def fetch(
                place: int,
                fetcher: Fetcher = fetcher,
                slots: asyncio.Semaphore = slots,
                took: list[float] = took,
            ) -> None:
                async with slots:
                    started = time.perf_counter()
                    with suppress(PageUnreadable):
                        await fetcher.fetch(f"{base}/{place}")
                    took.append(time.perf_counter() - started)

            try:
                await fetch(0)  # processes started, connections open
                took.clear()
                started = time.perf_counter()
                await asyncio.gather(*(fetch(place) for place in range(len(site.pages))))
                seconds = time.perf_counter() - started
            finally:
                await fetcher.aclose()
            rows.append((at_once, len(took), f"{len(took) / seconds:.1f}", ms(max(took))))
    return rows


# ---------------------------------------------------------------- passages


async def _passages(every: int) -> list[tuple[object, ...]]:
    text = "\n\n".join(filter(None, map(ours, pages(every=2 * every))))[:LONG]
    started = time.perf_counter()
    count = len(split(text))
    seconds = time.perf_counter() - started
    rows: list[tuple[object, ...]] = [
        ("cut", f"{count} of {len(text):,} characters", f"{count / seconds:,.0f} passages/s")
    ]
    page = Page("https://a.example/", "A long page", text, datetime.now(UTC))
    chooser = Chooser()
    for what in ("choose, not studied yet", "choose, studied"):
        stall = asyncio.create_task(_longest_stall())
        await asyncio.sleep(0)
        started = time.perf_counter()
        await chooser.choose("Who won the football game in the city?", page, 1_200)
        seconds = time.perf_counter() - started
        stall.cancel()
        rows.append((what, ms(seconds), f"event loop held for {ms(await stall)}"))
    await chooser.aclose()
    return rows


async def _longest_stall() -> float:
    """The longest time, in seconds, for which this task was not given its turn, until cancelled."""
    longest = 0.0
    with suppress(asyncio.CancelledError):
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - started)
    return longest


if __name__ == "__main__":
    main()
