"""What lies on a researching model's desk after each search: how much of it is junk.

The questions of the multihop data set, each with the searches that a researcher makes for it, hop
by hop (``desk_queries.json``, worded by hand from the questions). They are carried out by the real
``WorkspaceKeeper`` over the real index of documents, and what it shows is rendered as for a model.

A passage is junk if its page is none of the question's gold pages, and so is a line of a hit that
was not opened. A search reaches its fact if a passage or a hit shown so far has the words that
state it; only searches that found the page at all are counted. Tokens are estimated, of all that
one search adds to the request. The first half of the questions may be used to tune; the second is
kept apart. With ``--whole``, each question is searched as it stands instead of its first query.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from bot.core.messages import RunOptions
from bot.reasoning.calls import SearchResult
from bot.reasoning.evidence import Outcome, Search, SubQuestion, Turn, Workspace
from bot.reasoning.model_reasoner import ModelReasoner
from bot.reasoning.tool_loop import _Show
from bot.research.budget import Account, Budget
from bot.research.library import Library
from bot.research.run import Resources, Run, RunQuestion
from bot.research.strategies import READING
from bot.research.working_set import WorkspaceKeeper
from bot.search.blend import Search as Blend
from bot.storage.journal import open_journal
from bot.storage.store import Store
from bot.text.terms import estimate
from tests.bench.corpus import _Whole, a_store, indexed
from tests.bench.frame import SHARED, options, print_table
from tests.bench.multihop import Question, load
from tests.unit.samples import NOW, a_message, a_thread

QUERIES = Path(__file__).with_name("desk_queries.json")


@dataclass(frozen=True, slots=True)
class Hop:
    """A search of a question: its query, the page that it needs, and the words of its fact."""

    query: str
    page: str
    words: str


@dataclass(slots=True)
class Tally:
    """Sums over searches; ``found`` are those whose page was among the hits."""

    searches: int = 0
    found: int = 0
    reached: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    tokens: int = 0

    def row(self, name: str) -> list[str]:
        seen = self.counts
        return [
            name,
            str(self.searches),
            _share(self.found, self.searches),
            _share(self.reached, self.found),
            f"{seen['passages'] / self.searches:.1f}",
            _share(seen["junk passages"], seen["passages"]),
            f"{seen['hits'] / self.searches:.1f}",
            _share(seen["junk hits"], seen["hits"]),
            f"{self.tokens / self.searches:.0f}",
        ]


HEADER = ["searches", "found", "reached", "passages", "junk", "hits", "junk", "tokens"]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def main(arguments: Sequence[str]) -> None:
    parser = options("desk", __doc__)
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args(arguments)
    rows = asyncio.run(run(4 if given.quick else 100, given.whole))
    print_table(["questions", *HEADER], rows)


async def run(most: int, whole: bool) -> list[list[str]]:
    """The tallies of both halves, of first searches and of those that follow."""
    pages, questions = load()
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    async with indexed(pages) as corpus, a_store() as store:
        search = Blend([corpus._documents])  # with the rarity of words, which the index knows
        for at, hops in list(known_hops().items())[:most]:
            half = "tuned on" if at < len(questions) // 2 else "kept apart"
            await _work(questions[at], hops, search, store, tallies, half, whole)
    return [tally.row(name) for name, tally in sorted(tallies.items(), reverse=True)]


def known_hops() -> dict[int, list[Hop]]:
    """By the index of the question. Of the data set, ``desk_queries.json`` has only places: the
    index of the question, that of the gold page, where the words of the fact begin there, and how
    many characters they are."""
    pages = json.loads((SHARED / "multihop" / "pages.json").read_text(encoding="utf-8"))
    questions = json.loads((SHARED / "multihop" / "questions.json").read_text(encoding="utf-8"))
    found: defaultdict[int, list[Hop]] = defaultdict(list)
    for question, gold, begin, length, query in json.loads(QUERIES.read_text(encoding="utf-8")):
        page = questions[question]["gold"][gold]
        found[question].append(Hop(query, page, pages[page][begin : begin + length]))
    return dict(sorted(found.items()))


async def _work(
    question: Question,
    hops: Sequence[Hop],
    search: Any,
    store: Store,
    tallies: defaultdict[str, Tally],
    half: str,
    whole: bool,
) -> None:
    record = uuid4().hex
    message = a_message(question.text, a_thread(record), record)
    await store.accept(record, message, RunOptions(), NOW)
    await store.claim(record, "bench", NOW, timedelta(hours=1))
    one = Run(
        RunQuestion(record, message, RunOptions(), NOW),
        Resources(Library(search, _Whole(), _nothing_stored, page_ttl=3600)),
        await open_journal(store.database, record, 1),
        Account(Budget(seconds=600, usd=10.0), lambda reply: None),
        lambda plan: None,
    )
    reading = READING.__class__(READING.shown, READING.page_tokens, opened=ModelReasoner.opens)
    asked = SubQuestion(question.text, "en")
    keeper = WorkspaceKeeper(one, asked, Workspace(searches_left=9, pages_left=10), reading)
    show, shown = _Show("en"), ""
    for at, hop in enumerate(hops):
        query = question.text if whole and not at else hop.query
        if at:
            await keeper.carry_out(Turn((Search((query,), f"s{at}"),)))
            outcome = keeper.workspace.turns[-1].outcomes[0]
        else:
            await keeper.give(knowledge_queries=(query,))
            outcome = keeper.workspace.given[-1]
        said = _said(show.outcome(outcome))
        shown += said
        tally = tallies[f"{half}, {'first' if not at else 'later'}"]
        tally.searches += 1
        tally.tokens += estimate(said)
        tally.counts += _counts(outcome, said, question)
        titles = {hit.hit.title for result in outcome.queries for hit in result.hits}
        if hop.page in titles or hop.page in {s.title for s in keeper.workspace.sources}:
            tally.found += 1
            tally.reached += hop.words.casefold() in _of_page(hop.page, keeper, shown)


def _said(blocks: Sequence[Any]) -> str:
    return "\n".join(
        f"{block.title}\n" + "\n".join(block.passages)
        if isinstance(block, SearchResult)
        else block.text
        for block in blocks
    )


def _of_page(title: str, keeper: WorkspaceKeeper, shown: str) -> str:
    """What has been shown of a page: its passages, and the lines of its hit."""
    texts = [p.text for s in keeper.workspace.sources if s.title == title for p in s.passages]
    lines = [line for line in shown.splitlines() if f". {title}" in line]
    return "\n".join([*texts, *lines]).casefold()


def _counts(outcome: Outcome, said: str, question: Question) -> Counter[str]:
    found: Counter[str] = Counter()
    for read in outcome.reads:
        if read.source is not None:
            number = len(read.source.passages)
            found["passages"] += number
            found["junk passages"] += number * (read.source.title not in question.gold)
    lines = set(said.splitlines())
    for result in outcome.queries:
        for hit in result.hits:
            start = f"{hit.number}. {hit.hit.title}"
            is_shown = any(line.startswith(start) for line in lines) and hit.page is None
            found["hits"] += is_shown
            found["junk hits"] += is_shown and hit.hit.title not in question.gold
    return found


async def _nothing_stored(url: str, since: object) -> None:
    return None
