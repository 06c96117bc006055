"""The extractive reasoner chooses searches and reads from prepared workspaces."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.passages import split
from bot.reasoning.evidence import Source
from bot.reasoning.extractive.hops import (
    FOUND,
    MOST_PAGES,
    first_queries,
    next_turn,
)
from bot.reasoning.questions import SubQuestion
from bot.reasoning.workspace import (
    Finish,
    NumberedHit,
    Outcome,
    QueryResult,
    Read,
    ReadResult,
    Search,
    Turn,
    Workspace,
    WorkspaceTurn,
)
from bot.search.provider import Hit
from tests.bench.corpus import MemoryCorpus
from tests.unit.reasoning.samples import rarity_in
from tests.unit.samples import NOW

PAGES = {
    "Hello Love": "Hello Love is a 1974 single by Hank Snow. It was his last number one.",
    "Hank Snow": "Hank Snow was a country singer. He died in Madison, Tennessee, in 1999.",
    "Tennessee": "Tennessee is a state. It borders North Carolina to the east.",
    "North Carolina": "North Carolina is a state on the coast. Publix has 43 stores there.",
    "Publix": "Publix is a chain of stores. Publix has stores in Florida, Georgia and beyond.",
    "Brother (Pearl Jam song)": "Brother is a song by Pearl Jam, recorded in 1991.",
    "Pearl Jam": "Pearl Jam is a band formed in Seattle in 1990.",
    "Seattle": "Seattle is a city. The average snowfall is 6.8 inches a year.",
    "Country": "A country is a nation with its own government.",
    "Singer": "A singer is a person who sings. A performer performs songs in a country or state.",
    "List of stores": "Stores are shops. Many stores are in a state that borders another state.",
    "Snowfall": "Snowfall is measured in inches. A city may have an average snowfall.",
    "Forth Bridge": "The Forth Bridge is a railway bridge. It opened in 1890.",
    "Bridge": "A bridge carries a road or a railway. The first bridges opened long ago.",
    "Railway": "A railway runs over bridges. The first public railway opened in 1825.",
    "Forth Pipeline Bridge": "The road bridge over the Forth is beside the railway bridge.",
    "Queensferry Crossing": "The crossing is a bridge over the Forth that opened in 2017.",
    "River Forth": "The river flows under every bridge at Queensferry.",
    "Brand (play)": "It is a play by Henrik Ibsen, first performed in 1867.",
    "Wally Amos": "The author of a cookie brand and author of Brand Power. A brand author.",
    "Ola Nord": "Ola Nord is a skier. He was born in Vik.",
    "Vik": "It lies by a fjord and has a church.",
    "Birthplace": "A birthplace is the place where a person is born.",
    "法国": "法国是欧洲的一个国家。法国的首都是巴黎。",
    "巴黎": "巴黎是法国的首都，人口约二百一十万。",
    "德国": "德国是欧洲的一个国家。德国的首都是柏林。",
}


class World:
    """Carries turns out over ``PAGES`` and keeps the workspace; every query may be asked once
    only."""

    def __init__(self, searches: int = 5, pages: int = 12) -> None:
        self.corpus = MemoryCorpus(PAGES)
        self.workspace = Workspace(searches_left=searches, pages_left=pages)
        self.numbers: dict[str, int] = {}  # URL → hit number
        self.read: list[str] = []
        self.searched: list[str] = []

    def go(self, question: SubQuestion) -> Finish:
        for _ in range(30):
            turn = next_turn(question, self.workspace)
            assert turn == next_turn(question, self.workspace)
            if isinstance(turn.actions[0], Finish):
                return turn.actions[0]
            self.carry_out(turn)
        raise AssertionError("it does not end")

    def carry_out(self, turn: Turn) -> None:
        outcomes = []
        for action in turn.actions:
            if isinstance(action, Search):
                assert self.workspace.searches_left > 0
                assert 1 <= len(action.queries) <= 4
                outcomes.append(self.search(action.queries))
                self.workspace = replace(
                    self.workspace, searches_left=self.workspace.searches_left - 1
                )
            else:
                assert isinstance(action, Read)
                outcomes.append(self.look_at(action.ids))
        turns = (*self.workspace.turns, WorkspaceTurn(turn, tuple(outcomes)))
        self.workspace = replace(self.workspace, turns=turns)

    def search(self, queries: tuple[str, ...]) -> Outcome:
        results = []
        for query in queries:
            assert query not in self.searched
            self.searched.append(query)
            hits = []
            for url in self.corpus.best(query, 10):
                number = self.numbers.setdefault(url, len(self.numbers) + 1)
                hit = Hit(self.corpus.title(url), url, PAGES[self.corpus.title(url)], "world")
                hits.append(NumberedHit(number, hit))
            results.append(QueryResult(query, tuple(hits)))
        return Outcome("search", queries=tuple(results))

    def look_at(self, numbers: tuple[int, ...]) -> Outcome:
        urls = {number: url for url, number in self.numbers.items()}
        reads = []
        for number in numbers:
            title = self.corpus.title(urls[number])
            assert title not in self.read
            assert self.workspace.pages_left > 0
            self.workspace = replace(self.workspace, pages_left=self.workspace.pages_left - 1)
            self.read.append(title)
            reads.append(ReadResult(number, a_source(len(self.read), title)))
        return Outcome("read", reads=tuple(reads))


def a_source(number: int, title: str) -> Source:
    passages = tuple(split(PAGES[title]))
    return Source(number, f"https://world.example/{title}", title, passages, "hash", NOW)


def walk(question: str, **limits: int) -> World:
    world = World(**limits)
    world.go(SubQuestion(question, queries=tuple(first_queries(question))))
    return world


# ---------------------------------------------------------------- hops


@pytest.mark.parametrize(
    ("question", "needed"),
    [
        ("When did the Forth Bridge open?", ["Forth Bridge"]),
        ("In which state did the performer of Hello Love die?", ["Hello Love", "Hank Snow"]),
        (
            "What is the average snowfall in the city where the performers of Brother were formed?",
            ["Brother (Pearl Jam song)", "Pearl Jam", "Seattle"],
        ),
        (
            "How many Publix stores are in the state that borders the east of the state where "
            "Hello Love's performer died?",
            ["Publix", "Hello Love", "Hank Snow", "Tennessee", "North Carolina"],
        ),
        ("法国的首都有多少人口？", ["法国", "巴黎"]),
    ],
)
def test_it_follows_names_from_page_to_page(question: str, needed: list[str]) -> None:
    """With hardly more pages to read than it needs."""
    read = walk(question, pages=len(needed) + len(needed) // 3).read
    assert set(needed) <= set(read), read


def test_the_page_that_the_question_names_is_read_first() -> None:
    assert walk("In which state did the performer of Hello Love die?").read[0] == "Hello Love"
    assert walk("Who was the author of Brand?").read[0] == "Brand (play)"


def test_a_page_with_no_word_of_the_question_is_read_for_its_title() -> None:
    assert walk("What is the birthplace of Ola Nord like?", pages=2).read == ["Ola Nord", "Vik"]


def test_a_lead_is_searched_with_what_is_still_open() -> None:
    searched = walk("In which state did the performer of Hello Love die?").searched
    followed = next(query for query in searched if query.startswith("Hank Snow"))
    assert "die" in followed.split()
    assert "performer" not in followed.split()


def test_the_findings_name_their_pages_and_the_missing_words_are_told() -> None:
    world = World()
    finish = world.go(SubQuestion("When did the Forth Bridge open to Zeppelins?"))
    assert any("1890" in finding.text for finding in finish.findings)
    assert all(1 <= n <= len(world.read) for f in finish.findings for n in f.sources)
    assert finish.missing == ("Zeppelins",)
    assert not finish.enough


def test_a_question_that_one_page_answers_does_not_read_everything() -> None:
    assert len(walk("When did the Forth Bridge open?").read) <= 3


# ---------------------------------------------------------------- limits


def test_without_searches_it_reads_what_is_there() -> None:
    world = World(searches=0)
    world.workspace = replace(world.workspace, given=(world.search(("Forth Bridge",)),))
    world.go(SubQuestion("When did the Forth Bridge open?"))
    assert "Forth Bridge" in world.read


def test_without_pages_it_finishes() -> None:
    assert walk("When did the Forth Bridge open?", pages=0).read == []


def test_pages_that_were_given_are_used() -> None:
    reads = Outcome("given", reads=(ReadResult(0, a_source(1, "Forth Bridge")),))
    world = World(searches=0)
    world.workspace = replace(world.workspace, given=(reads,))
    finish = world.go(SubQuestion("When did the Forth Bridge open?"))
    assert any("1890" in finding.text for finding in finish.findings)


def test_a_page_that_cannot_be_read_is_not_tried_again() -> None:
    world = World()
    tried: list[int] = []

    def refuse(numbers: tuple[int, ...]) -> Outcome:
        assert not set(numbers) & set(tried)
        tried.extend(numbers)
        return Outcome("read", reads=tuple(ReadResult(n, None, "It is gone.") for n in numbers))

    world.look_at = refuse  # type: ignore[method-assign]
    finish = world.go(SubQuestion("When did the Forth Bridge open?"))
    assert tried
    assert finish.findings == ()


def test_a_world_without_answers_is_asked_in_other_words_and_then_left() -> None:
    world = World()
    finish = world.go(SubQuestion("Zyx qwv uvw?", queries=("Zyx qwv uvw",)))
    assert len(world.searched) > 1
    assert (finish.findings, finish.enough) == ((), False)


@pytest.mark.parametrize("question", ["", "?!", "the", "x" * 20_000, "a " * 5_000, "的" * 3_000])
def test_odd_questions_end(question: str) -> None:
    world = walk(question)
    assert all(len(query) <= 200 for query in world.searched)


QUESTIONS = st.lists(
    st.sampled_from(
        sorted({word for text in PAGES.values() for word in text.split()} | {"?", ","})
    ),
    max_size=12,
).map(" ".join)


@given(QUESTIONS, st.integers(0, 5), st.integers(0, 12))
def test_every_walk_ends_within_its_limits(question: str, searches: int, pages: int) -> None:
    world = walk(question, searches=searches, pages=pages)
    assert len(world.read) <= min(pages, MOST_PAGES)


# ---------------------------------------------------------------- queries


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who produced Songs I Wrote with Amy?", ["produced Songs Wrote Amy",
         "Songs I Wrote with Amy", "Songs I Wrote", "Amy"]),
        ("What is an Enola Gay's \"Little Boy\"?", ["Enola Gay Little Boy", "Little Boy",
         "Enola Gay"]),
        ("what is in the box", ["box"]),
        ("《红楼梦》的作者是谁？", ["红楼梦 作者", "红楼梦"]),
        ("", []),
    ],
)  # fmt: skip
def test_first_queries_are_the_words_and_the_names(question: str, expected: list[str]) -> None:
    found = first_queries(question)
    assert found[0:1] == expected[0:1]
    assert set(found) == set(expected)


# ---------------------------------------------------------------- what is no name and no keyword


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When did the bridge open? http://127.0.0.1:4265/doc.pdf", {"open", "bridge"}),
        ("When did the bridge open, says [this](https://a.example/Doc_X)", {"open", "bridge"}),
        ("桥是什么时候开通的？http://127.0.0.1:4265/doc.pdf", set()),
        ("桥是什么时候开通的，见www.example.org/doc.pdf", set()),
    ],
)
def test_no_piece_of_an_address_is_searched(question: str, words: set[str]) -> None:
    world = World()
    world.go(SubQuestion(question))  # with queries of its own making
    searched = " ".join([*world.searched, *first_queries(question)])
    assert searched
    assert words <= set(searched.split())
    for piece in ("http", "127", "4265", "doc", "Doc", "pdf", "www", "example"):
        assert piece not in searched


@pytest.mark.parametrize(
    "written",
    [
        "`KEEPER_DATA_DIR`",
        "KEEPER_DATA_DIR",
        "``Set DATA``",
        "\n```sh\nDATA=1 KEEPER=Norway run\n```\n",
    ],
)
def test_capitals_in_code_are_no_names_to_follow(written: str) -> None:
    page = f"The lighthouse stores its records where {written} says. It was built by Ida Lewis."
    source = Source(1, "https://a.example/", "Lighthouse", tuple(split(page)), "hash", NOW)
    question = SubQuestion("Who was the mother of the builder of the lighthouse and its records?")
    hit = NumberedHit(1, Hit("Lighthouse", source.url, "", "world"))
    found = Outcome("search", queries=(QueryResult("lighthouse", (hit,)),))
    read = Outcome("read", reads=(ReadResult(1, source),))
    workspace = Workspace(
        turns=(
            WorkspaceTurn(Turn((Search(("lighthouse",)),)), (found,)),
            WorkspaceTurn(Turn((Read((1,)),)), (read,)),
        ),
        searches_left=3,
        pages_left=3,
    )
    (action,) = next_turn(question, workspace).actions
    assert isinstance(action, Search)
    searched = " ".join(action.queries)
    assert "Ida Lewis" in searched
    assert {"DATA", "DIR", "KEEPER", "Norway"}.isdisjoint(searched.split())


# ---------------------------------------------------------------- documents whose words are counted


class Documents(World):
    """A world with term rarities, like local documents."""

    def search(self, queries: tuple[str, ...]) -> Outcome:
        outcome = super().search(queries)
        sources = [a_source(n, title) for n, title in enumerate(PAGES, 1)]
        results = [replace(r, rarity=rarity_in(sources, r.query)) for r in outcome.queries]
        return replace(outcome, queries=tuple(results))


def read_in_documents(question: str, *queries: str) -> Documents:
    world = Documents()
    asked = (question, *queries)
    world.workspace = replace(world.workspace, given=(world.search(asked),))
    world.go(SubQuestion(question, knowledge_queries=asked))
    return world


def test_in_documents_the_hits_of_the_question_itself_are_read_at_once() -> None:
    world = read_in_documents("When did the railway bridge open?")
    first = [world.corpus.title(url) for url in world.corpus.best(world.searched[0], FOUND)]
    assert world.read == first
    assert len(world.searched) == 1


def test_of_a_comparison_both_sides_are_read() -> None:
    question = "What is the difference between the Forth Bridge and Pearl Jam?"
    world = read_in_documents(question, "Forth Bridge", "Pearl Jam")
    assert {"Forth Bridge", "Pearl Jam"} <= set(world.read)
    assert len(world.read) <= MOST_PAGES


def test_in_documents_names_are_followed_where_a_question_asks_by_relation() -> None:
    world = read_in_documents("In which state did the performer of Hello Love die?")
    assert {"Hello Love", "Hank Snow"} <= set(world.read)
