"""Measures how much text of real documentation is kept: words of the content, and of navigation.

For every program that makes documentation, the words of the content element (found independently,
see documentation/generators.py) are compared with the page text that Footnote extracts, as
multisets. Lists of contents count neither way, nor do pages of fewer than 20 words.

Run: python -m tests.bench reading [--sets a,b] [--pages N] [--worst N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.bench.documentation.kept import Page, pages
from tests.bench.documentation.packages import VARIABLE, cache_folder, root_of
from tests.bench.documentation.sets import KEPT_FOR_ACCEPTANCE, SETS, chosen
from tests.bench.table import print_table, tell

ENOUGH = 0.9  # of a page's words

HEADER = (
    "pages",
    "words",
    "kept: median",
    "min",
    "mean",
    f"pages below {ENOUGH:.0%}",
    "of all words",
    "navigation",
    "not on the page",
)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="reading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sets", default="", help="names separated by commas; default: all")
    parser.add_argument("--pages", type=int, default=100, help="of each set at most; 0: all")
    parser.add_argument("--worst", type=int, default=0, help="name so many pages of each generator")
    parser.add_argument("--cache", type=Path, help=f"folder to keep packages in; else ${VARIABLE}")
    parser.add_argument("--json", type=Path, help="file to write the figures of each page to")
    options = parser.parse_args(argv)
    cache = cache_folder(options.cache)
    found: list[Page] = []
    for docs in chosen(options.sets, SETS | KEPT_FOR_ACCEPTANCE):
        if docs.generators:
            tell(f"{docs.name}: reading")
            found += pages(docs, root_of(docs, cache), options.pages)
    if not found:
        raise SystemExit("There are no HTML pages in these sets.")
    for label in ("generator", "set"):
        print_table((label, *HEADER), _rows(found, label))
        print()
    for name in dict.fromkeys(page.generator for page in found) if options.worst else ():
        _show_worst(name, [page for page in found if page.generator == name], options.worst)
    if options.json:
        options.json.write_text(json.dumps([asdict(page) for page in found]), encoding="utf-8")


def _rows(found: Sequence[Page], label: str) -> list[list[object]]:
    key: Callable[[Page], str] = lambda page: getattr(page, label)  # noqa: E731
    names = dict.fromkeys(key(page) for page in found)
    rows = [_row(name, [page for page in found if key(page) == name]) for name in names]
    return [*rows, _row("all", found)]


def _row(name: str, found: Sequence[Page]) -> list[object]:
    shares = [page.kept_share for page in found]
    read = sum(page.read for page in found)
    return [
        name,
        len(found),
        f"{sum(page.content for page in found):,}",
        f"{statistics.median(shares):.1%}",
        f"{min(shares):.1%}",
        f"{statistics.mean(shares):.1%}",
        sum(share < ENOUGH for share in shares),
        f"{sum(page.kept for page in found) / sum(page.content for page in found):.1%}",
        f"{sum(page.navigation for page in found) / read:.1%}" if read else "-",
        sum(len(page.strange) for page in found),
    ]


def _show_worst(name: str, found: Sequence[Page], most: int) -> None:
    print(f"\n{name}: most lost")
    for page in sorted(found, key=lambda page: page.kept_share)[:most]:
        lost = ", ".join(f"{word} {count}" for word, count in page.lost)
        print(f"  {page.kept_share:6.1%}  {page.set}/{page.path}: {lost}")
    print(f"{name}: most navigation")
    for page in sorted(found, key=lambda page: -page.navigation_share)[:most]:
        print(f"  {page.navigation_share:6.1%}  {page.set}/{page.path}")
    print(f"{name}: words that are not on the page")
    for page in sorted(found, key=lambda page: -len(page.strange))[:most]:
        if page.strange:
            print(f"  {len(page.strange):6}  {page.set}/{page.path}: {' '.join(page.strange[:12])}")
