"""A reasoner's workspace: its first search, the pages opened for it, their passages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from bot.core.errors import PageUnreadable, ProviderUnavailable
from bot.core.reader import EVERYTHING, Reach
from bot.pages.page import Page
from bot.pages.passages import Passage, Weight, split
from bot.reasoning.evidence import (
    NumberedHit,
    QueryResult,
    Read,
    Scope,
    Search,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.research.run import Run
from bot.research.selection import to_open
from bot.research.strategies import direct, iterate
from bot.research.working_set import Reading, WorkspaceKeeper
from bot.search.blend import SearchResult
from bot.search.provider import Hit, ProviderKind, Query
from bot.storage.store import Store
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import BUDGET, OpenRun
from tests.unit.samples import NOW

FIRST = Reading(shown=2, page_tokens=120)
BOTH: frozenset[ProviderKind] = frozenset({"web", "knowledge"})
ASKING = SubQuestion(
    "How tall is the tower?",
    queries=("tower height", "both"),
    knowledge_queries=("tower plan", "both"),
)


def routes(shelf: Shelf) -> list[tuple[str, ProviderKind | None]]:
    return list(zip(shelf.searched, shelf.kinds, strict=True))


async def test_with_both_kinds_each_gets_its_own_queries(open_run: OpenRun) -> None:
    shelf = replace(a_shelf("Tower."), searchable=BOTH)
    await direct(await open_run(shelf), ASKING, FIRST)
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
    await direct(await open_run(shelf), ASKING, FIRST)
    assert routes(shelf) == [(text, None) for text in searched]


async def test_a_search_of_the_loop_goes_to_all(open_run: OpenRun) -> None:
    shelf = replace(a_shelf("Tower."), searchable=BOTH)
    reasoner = Scripted([[Search(("tower height", "both", "roof"))]])
    await iterate(await open_run(shelf), reasoner, ASKING, FIRST, searches=3)
    assert routes(shelf)[3:] == [("tower height", None), ("roof", None)]


async def test_what_is_too_much_for_one_turn_is_refused_and_costs_nothing(
    open_run: OpenRun,
) -> None:
    keeper = WorkspaceKeeper(await open_run(a_shelf("Tower.")), ASKING, Workspace(), FIRST)
    six = tuple(f"word{n}" for n in range(6))
    turn = Turn((Search(six, "c1"), Read(tuple(range(1, 7)), "c2"), Search(("tower",), "c3")))
    await keeper.carry_out(turn)
    problems = [outcome.problem for outcome in keeper.workspace.turns[0].outcomes]
    assert problems == ["", "", "Too much at once: call this again."]
    assert keeper.workspace.searches_left == 4


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
    question = replace(ASKING, queries=("tower",), knowledge_queries=(), scope=scope)
    evidence = await direct(run, question, FIRST)
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
        question = replace(ASKING, queries=("tower",), knowledge_queries=(), scope=Scope("day"))
        await direct(run, question, FIRST)
        assert [q.freshness for q in shelf.queries] in (["day"], [])
        assert not any("last day" in note for note in run.notes)


async def test_links_and_queries_come_together(open_run: OpenRun) -> None:
    shelf, reasoner = a_shelf("Tower.", "Bridge."), Scripted()
    links = ["https://example.org/2", "https://example.org/none"]
    question = replace(ASKING, queries=("tower",), knowledge_queries=())
    run = await open_run(shelf)
    evidence = await iterate(run, reasoner, question, FIRST, searches=3, links=links)
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
    evidence = await direct(await open_run(shelf), question, FIRST, links=link)
    (source,) = evidence.sources
    starts = [passage.start / len(text) for passage in source.passages]
    assert starts[0] == 0
    assert max(starts) > 0.8
    assert len(starts) > 1


@pytest.mark.parametrize(("via", "whole"), [("", True), ("Brave", False)])
async def test_a_page_is_whole_only_if_its_site_gave_it(
    open_run: OpenRun, via: str, whole: bool
) -> None:
    shelf = a_shelf("Tower.")
    ((url, page),) = shelf.pages.items()
    shelf.pages = {url: replace(page, via=via)}
    reasoner = Scripted()
    await iterate(await open_run(shelf), reasoner, ASKING, FIRST, searches=1, links=[url])
    (read,) = reasoner.workspaces[0].given[0].reads
    assert read.whole is whole


@pytest.mark.parametrize(("queries", "each"), [(1, 10), (3, 10), (4, 7), (8, 4)])
async def test_many_queries_of_one_search_share_the_hits_that_are_shown(
    open_run: OpenRun, queries: int, each: int
) -> None:
    shelf = a_shelf(*(f"Tower {number}." for number in range(12)))
    reasoner = Scripted()
    of = ("height", "roof", "plan", "cost", "year", "owner", "stone", "lift")
    texts = tuple(f"{word} tower" for word in of[:queries])
    question = replace(ASKING, queries=texts, knowledge_queries=())
    await iterate(await open_run(shelf), reasoner, question, replace(FIRST, shown=10), searches=1)
    results = reasoner.workspaces[0].results
    assert [len(result.hits) for result in results] == [each] * queries


READING = Reading(shown=10, page_tokens=400, opened=2)
TEXTS = ("Tower one is tall.", "Tower two is tall.", "Tower three is tall.", "Bridge is long.")


def a_keeper(run: Run, reading: Reading = READING, pages: int = 12) -> WorkspaceKeeper:
    return WorkspaceKeeper(
        run, SubQuestion("how tall is the tower"), Workspace(pages_left=pages), reading
    )


def a_result(*numbers: int, read: tuple[int, ...] = ()) -> QueryResult:
    return QueryResult(
        "q",
        tuple(
            NumberedHit(n, Hit("t", f"https://x/{n}", "", "p"), page=n if n in read else None)
            for n in numbers
        ),
    )


@pytest.mark.parametrize(
    ("results", "most", "opened"),
    [
        ([a_result(1, 2, 3)], 2, [1, 2]),
        ([a_result(1, 2, 3)], 0, []),
        ([a_result(1, 2, 3, read=(1,))], 2, [2, 3]),
        ([a_result(1, 2), a_result(3, 4)], 2, [1, 3]),
        ([a_result(1, 2), a_result(1, 3)], 2, [1, 2]),
        ([a_result(1), a_result(2), a_result(3)], 2, [1, 2]),
        ([a_result()], 2, []),
    ],
)
def test_the_first_of_each_query_then_the_best_of_all(
    results: list[QueryResult], most: int, opened: list[int]
) -> None:
    assert to_open(results, most) == opened


def test_the_hit_that_a_query_names_goes_before_the_first() -> None:
    titles = ["Institute of Plastics Technology", "Institute of technology", "Sport Institute"]
    hits = [Hit(title, f"https://x/{n}", "", "p") for n, title in enumerate(titles, 1)]
    result = QueryResult(
        "institute of Technology", tuple(NumberedHit(n, hit) for n, hit in enumerate(hits, 1))
    )
    assert to_open([result], 2) == [2, 1]


async def test_a_search_comes_with_the_passages_of_its_best_pages(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS))
    keeper = a_keeper(run)
    await keeper.give(queries=["tower"])
    (outcome,) = keeper.workspace.given
    assert [read.source.title for read in outcome.reads if read.source] == ["Tower", "Tower"]
    assert [hit.page for hit in outcome.queries[0].hits] == [1, 2, None]
    assert run.usage.pages == 2  # the third was only looked at
    assert len([line for line in run.steps if line.kind == "read"]) == 2
    assert keeper.workspace.pages_left == run.budget.pages - 2


async def test_of_a_long_page_what_its_query_asks_for_is_shown_beside_what_the_question_does(
    open_run: OpenRun,
) -> None:
    """The second step of a question stands in no word of it."""
    others = [f"Of {word}. " + "Much else is told here. " * 20 for word in ("sand", "glass", "ice")]
    told = ["A tall tower.", *others, "Its architect, Ada Byron, was born in Leith.", *others]
    run = await open_run(a_shelf("Guide\n\n" + "\n\n".join(told)))
    keeper = a_keeper(run, replace(READING, page_tokens=200))
    await keeper.carry_out(Turn((Search(("guide Ada Byron born",), "c1"),)))
    (source,) = keeper.workspace.sources
    words = " ".join(passage.text for passage in source.passages)
    assert "born in Leith" in words
    assert "tall tower" in words
    assert "glass" not in words


async def test_a_search_of_many_queries_opens_a_page_for_each(open_run: OpenRun) -> None:
    texts = ("Tower is tall.", "Bridge is long.", "Castle is old.", "Harbour is deep.", "Sea.")
    keeper = a_keeper(await open_run(a_shelf(*texts)))
    await keeper.give(queries=["tower tall", "bridge long", "castle old"])
    (outcome,) = keeper.workspace.given
    assert sorted(r.source.title for r in outcome.reads if r.source) == [
        "Bridge",
        "Castle",
        "Tower",
    ]


async def test_a_page_that_does_not_fit_is_not_opened(open_run: OpenRun) -> None:
    texts = ("Tower is tall.", "Bridge whose paint is red.")
    keeper = a_keeper(await open_run(a_shelf(*texts)))
    await keeper.give(queries=["tower tall paint colour"])
    (outcome,) = keeper.workspace.given
    assert [r.source.title for r in outcome.reads if r.source] == ["Tower"]
    assert len(outcome.queries[0].hits) == 2


ASKED = "Is Midway, near McRae, in the state of Radio Norwood and of Lake Norman?"
NAMED = {
    "https://x/1": ("Midway, Iowa", "Midway is a place in the state of Iowa."),
    "https://x/2": ("Midway, Ohio", "Midway is a place near the state line of Ohio."),
    "https://x/3": ("Midway, Utah", "Midway is a place in Utah."),
    "https://x/4": ("McRae, Arkansas", "McRae is a town."),
    "https://x/5": ("Harbour", "A harbour."),
    "https://x/6": ("Radio Norwood", "Radio Norwood is a station in Arkansas."),
    "https://x/7": ("Lake Norman", "Lake Norman is a lake."),
}


def a_shelf_of_names() -> Shelf:
    pages = {url: Page(url, title, text, NOW) for url, (title, text) in NAMED.items()}
    return Shelf(pages, urls={ASKED: list(pages), "midway mcrae": list(pages)})


@pytest.mark.parametrize(
    ("query", "pages", "opened"),
    [
        (ASKED, 12, ["Midway, Iowa", "McRae, Arkansas"]),
        ("midway mcrae", 12, ["Midway, Iowa", "Midway, Ohio"]),  # the words of a query are its own
    ],
)
async def test_the_best_pages_include_one_of_each_thing_that_the_question_names(
    query: str, pages: int, opened: list[str], open_run: OpenRun
) -> None:
    run = await open_run(a_shelf_of_names(), replace(BUDGET, pages=20))
    keeper = WorkspaceKeeper(run, SubQuestion(ASKED), Workspace(pages_left=pages), READING)
    await keeper.give(queries=[query])
    (outcome,) = keeper.workspace.given
    assert [read.source.title for read in outcome.reads if read.source] == opened
    assert run.usage.pages == len(opened)


async def test_half_of_the_runs_pages_is_kept_for_what_is_chosen(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS), replace(BUDGET, pages=4))
    keeper = a_keeper(run, pages=2)
    await keeper.give(queries=["tower"])
    await keeper.carry_out(Turn((Search(("bridge long",)),)))
    assert (run.usage.pages, keeper.workspace.pages_left) == (2, 2)
    assert keeper.workspace.turns[0].outcomes[0].reads == ()


async def test_what_was_opened_is_not_opened_or_shown_again(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS), replace(BUDGET, pages=20))
    keeper = a_keeper(run)
    await keeper.give(queries=["tower"])
    await keeper.carry_out(Turn((Search(("tall",)), Read((1,)))))
    searched, read = keeper.workspace.turns[0].outcomes
    assert [result.number for result in searched.reads] == [3]
    assert read.reads[0].source is None
    assert "All of it that fits" in read.reads[0].note


async def test_a_page_that_cannot_be_read_is_left_to_be_chosen(open_run: OpenRun) -> None:
    run = await open_run(_Gone(a_shelf(*TEXTS).pages, gone="https://example.org/1"))
    keeper = a_keeper(run)
    await keeper.give(queries=["tower"])
    assert [read.number for read in keeper.workspace.given[0].reads] == [2, 3]
    assert list(run.notes) == []


async def test_no_more_are_opened_than_may_be_read(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*TEXTS))
    keeper = a_keeper(run, pages=1)
    await keeper.give(queries=["tower"])
    assert run.usage.pages == 1


async def test_a_slow_page_does_not_hold_the_search_up_and_a_resumed_run_sees_the_same(
    open_run: OpenRun,
) -> None:
    hasty = replace(READING, patience=0.05)
    slow = _Slow(a_shelf(*TEXTS).pages, late="https://example.org/1")
    first = a_keeper(await open_run(slow), hasty)
    await first.give(queries=["tower"])
    assert [read.number for read in first.workspace.given[0].reads] == [2, 3]
    resumed = a_keeper(await open_run(a_shelf(*TEXTS)))
    await resumed.give(queries=["tower"])
    assert resumed.workspace == first.workspace
    slow.there.set()


@dataclass
class _Gone(Shelf):
    """A web with a page that search engines still list."""

    gone: str = ""

    async def read(self, url: str) -> Page | None:
        if url == self.gone:
            raise PageUnreadable("It is gone.")
        return await super().read(url)


@dataclass
class _Slow(Shelf):
    """A web with a page that comes late."""

    late: str = ""
    there: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self, url: str) -> Page | None:
        if url == self.late:
            await self.there.wait()
        return await super().read(url)


URL = "https://example.org/1"
TEXT = "Tower\n\n" + "\n\n".join(
    f"## Part {part}\n\nThe tower has {part} floors. " + "It is old. " * 30 for part in range(8)
)
QUESTION = SubQuestion("How high is the tower?")
WEIGHED = Reading(shown=5, page_tokens=150)


@dataclass
class WeighingShelf(Shelf):
    """Knows how near passages are: the one with ``near`` in it is nearest."""

    near: str = "5 floors"
    away: bool = False
    weighed: list[tuple[str, str]] = field(default_factory=list)

    def weighs(self, url: str) -> bool:
        return url == URL

    async def weigh(self, question: str, url: str, reach: Reach = EVERYTHING) -> tuple[Weight, ...]:
        self.weighed.append((question, url))
        if self.away:
            raise ProviderUnavailable("The index is locked: try again later.")
        return tuple(
            Weight(each.start, each.end, float(self.near in each.text))
            for each in split(self.pages[url].text)
        )


def a_weighing_shelf(*texts: str) -> WeighingShelf:
    return WeighingShelf(a_shelf(*texts).pages)


async def shown(run: Run) -> tuple[Passage, ...]:
    """The passages that a question's first search and reading bring to the workspace."""
    keeper = WorkspaceKeeper(run, QUESTION, Workspace(searches_left=2, pages_left=3), WEIGHED)
    await keeper.carry_out(Turn((Search(("tower",)),)))
    await keeper.carry_out(Turn((Read((1,)),)))
    (source,) = keeper.workspace.sources
    return source.passages


def relevances(passages: tuple[Passage, ...]) -> list[tuple[int, float | None]]:
    return [(each.start, each.relevance) for each in passages]


async def test_the_nearest_passage_is_shown_with_its_relevance(open_run: OpenRun) -> None:
    shelf = a_weighing_shelf(TEXT)

    passages = await shown(await open_run(shelf))

    assert any("5 floors" in each.text and each.relevance == 1.0 for each in passages)
    assert shelf.weighed == [(QUESTION.text, URL)]


@pytest.mark.parametrize("change", ["other vectors", "no embedder", "failing"])
async def test_a_resumed_run_shows_the_same_passages(open_run: OpenRun, change: str) -> None:
    shelf = a_weighing_shelf(TEXT)
    first = await shown(await open_run(shelf))

    later: Shelf = WeighingShelf(shelf.pages, near="2 floors", away=change == "failing")
    if change == "no embedder":
        later = Shelf(shelf.pages)
    again = await shown(await open_run(later))

    assert relevances(again) == relevances(first)
    assert again == first
    assert getattr(later, "weighed", []) == []


async def test_a_page_that_cannot_be_weighed_now_is_shown_by_words(open_run: OpenRun) -> None:
    shelf = a_weighing_shelf(TEXT)
    shelf.away = True
    first = await shown(await open_run(shelf))
    shelf.away = False
    again = await shown(await open_run(shelf))

    assert {each.relevance for each in first} == {None}
    assert relevances(again) == relevances(first), "what was shown stays what was shown"
    assert len(shelf.weighed) == 1


async def test_nothing_is_kept_where_nobody_weighs(open_run: OpenRun, store: Store) -> None:
    run = await open_run(a_shelf(TEXT))
    await shown(run)

    assert {line.kind for line in run.steps} == {"search", "read"}


async def test_weighing_is_no_line_of_the_plan(open_run: OpenRun) -> None:
    run = await open_run(a_weighing_shelf(TEXT))
    await shown(run)

    assert {line.kind for line in run.steps} == {"search", "read"}
