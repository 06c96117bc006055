"""The workspace before the first turn holds links, and queries for the web and
documents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.reasoning.questions import Scope, SubQuestion
from bot.reasoning.workspace import Search
from bot.research.strategies import direct, iterate
from bot.research.working_set import Reading
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun

READING = Reading(shown=2, page_tokens=120)
BOTH: frozenset[ProviderKind] = frozenset({"web", "knowledge"})
ASKED = SubQuestion(
    "How tall is the tower?",
    queries=("tower height", "both"),
    knowledge_queries=("tower plan", "both"),
)


def routes(shelf: Shelf) -> list[tuple[str, ProviderKind | None]]:
    return list(zip(shelf.searched, shelf.kinds, strict=True))


async def test_with_both_kinds_each_gets_its_own_queries(open_run: OpenRun) -> None:
    shelf = replace(a_shelf("Tower."), searchable=BOTH)
    await direct(await open_run(shelf), ASKED, READING)
    assert routes(shelf) == [("both", None), ("tower height", "web"), ("tower plan", "knowledge")]


@pytest.mark.parametrize(
    ("kind", "searched"),
    [
        ("web", ["tower height", "both", "tower plan"]),
        ("knowledge", ["tower plan", "both", "tower height"]),
    ],
)
async def test_with_one_kind_it_gets_all_of_them_its_own_first(
    open_run: OpenRun, kind: ProviderKind, searched: list[str]
) -> None:
    shelf = replace(a_shelf("Tower."), searchable=frozenset({kind}))
    await direct(await open_run(shelf), ASKED, READING)
    assert routes(shelf) == [(text, None) for text in searched]


async def test_a_search_of_the_loop_goes_to_all(open_run: OpenRun) -> None:
    shelf = replace(a_shelf("Tower."), searchable=BOTH)
    reasoner = Scripted([[Search(("tower height", "both", "roof"))]])
    await iterate(await open_run(shelf), reasoner, ASKED, READING, searches=3)
    assert routes(shelf)[3:] == [("tower height", None), ("roof", None)]


class Restricted(Shelf):
    """A shelf that has nothing recent and nothing of any domain."""

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        found = await super().search(query, providers, kind)
        return replace(found, hits=()) if query.freshness or query.domains else found


async def test_a_restricted_search_that_finds_nothing_is_widened_and_says_so(
    open_run: OpenRun,
) -> None:
    shelf = Restricted(a_shelf("Tower.").pages)
    run = await open_run(shelf)
    scope = Scope("week", ("docs.example",), "DE")
    question = replace(ASKED, queries=("tower",), knowledge_queries=(), scope=scope)
    evidence = await direct(run, question, READING)
    assert [(q.freshness, q.domains, q.region) for q in shelf.queries] == [
        ("week", ("docs.example",), "DE"),
        ("", (), ""),
    ]
    assert [source.title for source in evidence.sources] == ["Tower."]
    assert run.notes == [
        "Nothing from the last week was found on docs.example, so I searched without that limit."
    ]


async def test_a_restricted_search_that_finds_something_or_fails_is_not_widened(
    open_run: OpenRun,
) -> None:
    for shelf in (a_shelf("Tower."), a_shelf("Tower.", broken=frozenset({"tower"}))):
        run = await open_run(shelf)
        question = replace(ASKED, queries=("tower",), knowledge_queries=(), scope=Scope("day"))
        await direct(run, question, READING)
        assert [q.freshness for q in shelf.queries] in (["day"], [])
        assert not any("last day" in note for note in run.notes)


async def test_links_and_queries_come_together(open_run: OpenRun) -> None:
    shelf, reasoner = a_shelf("Tower.", "Bridge."), Scripted()
    links = ["https://example.org/2", "https://example.org/none"]
    question = replace(ASKED, queries=("tower",), knowledge_queries=())
    run = await open_run(shelf)
    evidence = await iterate(run, reasoner, question, READING, searches=3, links=links)
    workspace = reasoner.workspaces[0]
    assert [source.title for source in workspace.sources] == ["Bridge."]
    assert [result.query for result in workspace.results] == ["tower"]
    sentence = (
        "I could not read https://example.org/none: There is no page https://example.org/none."
    )
    assert evidence.notes == (sentence,)
    assert run.notes == [sentence]


async def test_pages_wanted_as_a_whole_are_shown_from_end_to_end(open_run: OpenRun) -> None:
    text = "\n\n".join(
        f"## Part {n}\n\nQuay {n}. " + "Harbours and cranes. " * 40 for n in range(40)
    )
    shelf = a_shelf(f"Almanac\n\n{text}")
    question = SubQuestion("Summarize it", whole=True)
    link = ["https://example.org/1"]
    evidence = await direct(await open_run(shelf), question, READING, links=link)
    (source,) = evidence.sources
    starts = [passage.start / len(text) for passage in source.passages]
    assert starts[0] == 0
    assert max(starts) > 0.8
    assert len(starts) > 1


@pytest.mark.parametrize(("queries", "each"), [(1, 10), (3, 10), (4, 7), (8, 4)])
async def test_many_queries_of_one_search_share_the_hits_that_are_shown(
    open_run: OpenRun, queries: int, each: int
) -> None:
    shelf = a_shelf(*(f"Tower {number}." for number in range(12)))
    reasoner = Scripted()
    of = ("height", "roof", "plan", "cost", "year", "owner", "stone", "lift")
    texts = tuple(f"{word} tower" for word in of[:queries])
    question = replace(ASKED, queries=texts, knowledge_queries=())
    await iterate(await open_run(shelf), reasoner, question, replace(READING, shown=10), searches=1)
    results = reasoner.workspaces[0].results
    assert [len(result.hits) for result in results] == [each] * queries
