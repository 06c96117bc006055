"""Measures how well real documentation is found, quoted and, without an answer, refused: no model.

Sets of documentation from Debian's and npm's packages, which nobody here wrote, and for each
questions with the pages that answer them and words that a quote must hold; beside them off-topic
questions. `footnote ask --docs SET --json` without a key is compared with the three best hits of a
plain FTS5 table (porter unicode61, BM25, chunks of 1,700 characters, title weight 4; Chinese as
bigrams). The questions are in two halves: from "tune" one may learn, "held" is only measured.

Packages are fetched with apt-get or npm into --cache (or FOOTNOTE_BENCH_DOCUMENTATION); indexes are
kept there for as long as the indexing code stays as it is.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.documentation import baseline as baseline_module
from tests.bench.documentation import rendering, results
from tests.bench.documentation.asking import index, indexing_code, open_footnote
from tests.bench.documentation.baseline import Baseline
from tests.bench.documentation.packages import VARIABLE, cache_folder, root_of
from tests.bench.documentation.questions import FOLDER, HALVES, Half, Questions, load
from tests.bench.documentation.results import Failed, Outcome
from tests.bench.documentation.scoring import (
    Answered,
    Refusal,
    answered,
    false_quotes,
    length,
    path_of,
)
from tests.bench.documentation.sets import DocumentationSet, chosen
from tests.bench.frame import options, print_table, tell


@dataclass(frozen=True, slots=True)
class Prepared:
    """A set that can be asked: its root, where its index is, what indexing took, its baseline."""

    docs: DocumentationSet
    root: Path
    data: Path
    index: dict[str, Any]
    baseline: Baseline


def main(argv: list[str]) -> None:
    parser = options("documentation", __doc__)
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--sets", default="", help="names separated by commas; default: all")
    parser.add_argument("--cache", type=Path, help=f"folder to keep things in; else ${VARIABLE}")
    parser.add_argument("--questions", type=Path, default=FOLDER, help="folder of the questions")
    parser.add_argument("--failures", action="store_true", help="what failed in the tuning half")
    parser.add_argument("--json", type=Path, help="file to write the outcomes to")
    given = parser.parse_args(argv)
    halves: tuple[Half, ...] = HALVES if given.half == "both" else (given.half,)
    if given.failures and "tune" not in halves:
        parser.error("failures of the held half are not shown: nothing may be tuned on it.")
    sets, cache = chosen("fastify" if given.quick else given.sets), cache_folder(given.cache)
    outcomes: list[Outcome] = []
    failures: list[Failed] = []
    indexes: dict[str, Any] = {}
    for docs in sets:
        asked = {half: load(docs.name, half, given.questions) for half in halves}
        if not any(asked.values()):
            tell(f"{docs.name}: there are no questions yet")
            continue
        prepared = prepare(docs, cache)
        indexes[docs.name] = prepared.index
        for half, questions in asked.items():
            if questions:
                tell(f"{docs.name}: asking the half {half}")
                outcome, failed = asyncio.run(ask_all(prepared, half, questions))
                outcomes.append(outcome)
                failures += failed if half == "tune" else []
    if not outcomes:
        raise SystemExit("There are no questions for these sets.")
    _show(outcomes, indexes)
    if given.failures:
        results.show_failures(failures)
    if given.json:
        results.save(given.json, outcomes, indexes)


def _show(outcomes: list[Outcome], indexes: dict[str, Any]) -> None:
    for half in HALVES:
        part = [outcome for outcome in outcomes if outcome.half == half]
        if part:
            results.show(f"half {half}", part)
            results.show_kinds(part)
    print("\nindexes")
    print_table(
        ["set", "files", "passages", "seconds", "MB"],
        [
            [name, each["files"], each["passages"], each["seconds"], f"{each['bytes'] / 1e6:.1f}"]
            for name, each in indexes.items()
        ],
    )


def prepare(docs: DocumentationSet, cache: Path) -> Prepared:
    """Fetch, copy and index a set, as far as that is not done yet."""
    root = root_of(docs, cache)
    data = cache / "indexes" / indexing_code() / docs.name
    if not (data / "report.json").is_file():
        tell(f"{docs.name}: indexing")
    report_of_index = index(root, data)
    table = cache / "baselines" / _baseline_code() / f"{docs.name}.sqlite"
    if not table.is_file():
        tell(f"{docs.name}: building the FTS5 table")
        table.parent.mkdir(parents=True, exist_ok=True)
        Baseline.build(table, rendering.documents(root))
    return Prepared(docs, root, data, report_of_index, Baseline(table))


def _baseline_code() -> str:
    digest = hashlib.sha256()
    for module in (baseline_module, rendering):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:12]


async def ask_all(
    prepared: Prepared, half: Half, questions: Questions
) -> tuple[Outcome, list[Failed]]:
    """Put every question to Footnote and to the baseline."""
    root = prepared.root
    found: list[Answered] = []
    refusals: list[Refusal] = []
    failures: list[Failed] = []
    async with open_footnote(prepared.root, prepared.data) as ask:
        for item in questions.answerable:
            said = await ask(item.question)
            score = answered(item, said, root, prepared.baseline.search(item.question))
            found.append(score)
            false = tuple(false_quotes(said, root))
            if false or not score.words:
                failures.append(Failed(item, _lack(score), said, _cited(said, root), false))
        for other in questions.off_topic:
            said = await ask(other.question)
            refused = said["status"] == "not_found"
            seconds = said["usage"]["seconds"]
            refusals.append(Refusal(other.id, other.kind, refused, length(said["answer"]), seconds))
            if not refused:
                failures.append(Failed(other, "answered", said, _cited(said, root)))
    outcome = Outcome(prepared.docs.name, half, tuple(found), tuple(refusals))
    return outcome, failures


def _lack(score: Answered) -> str:
    if score.refused:
        return "refused"
    if not score.page:
        return "the page is not cited"
    return "a quote does not stand in its page" if score.words else "the words are not quoted"


def _cited(said: dict[str, Any], root: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path_of(each["url"], root) for each in said["citations"]))
