"""Several providers as one: blending, blocked domains, failures that fail nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    NoProviderAvailable,
    PageUnreadable,
    ProviderUnavailable,
)
from bot.core.reader import EVERYTHING, NO_DOCUMENTS, Reach
from bot.pages.passages import Weight
from bot.pages.urls import dedupe_key
from bot.search.blend import Search, SearchResult, blend
from bot.search.provider import (
    GivenText,
    Hit,
    PaidHits,
    Policy,
    ProviderKind,
    Query,
    Spent,
    nearest,
)
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.search.scripted import Incomplete, Knowing, Scripted, hits, reading, scripted

ONCE = Policy(attempts=1)


def search(*providers: Scripted, blocked: tuple[str, ...] = ()) -> Search:
    policies = {provider.name: ONCE for provider in providers}
    return Search(providers, policies=policies, blocked_domains=blocked, clock=now)


def named(found: tuple[Hit, ...] | list[Hit]) -> list[str]:
    return [hit.title.lower() for hit in found]


# ---------------------------------------------------------------- blending


@pytest.mark.parametrize(
    ("lists", "found"),
    [
        (["abc"], "a0 b0 c0"),
        (["ab", "cb"], "b0 a0 c1"),  # what several lists have comes first
        (["ab", "cd"], "a0 c1 b0 d1"),  # without a common page they are interleaved
        (["abx", "cdx"], "x0 a0 c1 b0 d1"),  # two middling ranks beat one first
        (["ab", "ba", "c"], "a0 b1 c2"),  # equal scores: by the best rank, then by the list
        (["ba", "a"], "a1 b0"),  # the hit is of the list that ranks the page best
        (["aba", "b"], "b1 a0"),  # a page twice in a list counts where it comes first
        ([], ""),
    ],
)
def test_lists_are_merged_by_rank(lists: list[str], found: str) -> None:
    """A hit is the name of its page, and the number of its list."""
    merged = blend([hits(str(number), *names) for number, names in enumerate(lists)])
    assert " ".join(f"{hit.title.lower()}{hit.provider}" for hit in merged) == found


@pytest.mark.parametrize(
    "variant",
    ["http://www.a.example/", "https://a.example", "https://m.a.example/?utm_source=x#top"],
)
def test_variants_of_one_address_are_one_page(variant: str) -> None:
    (hit,) = blend([hits("x", "a"), [Hit("A", variant, "other", "y")]])
    assert (hit.url, hit.snippet) == ("https://a.example/", "a.")


def test_an_empty_snippet_is_filled_from_another_list() -> None:
    bare = replace(hits("x", "a")[0], snippet="")
    full = hits("y", "b", "a")
    assert {hit.title: hit.snippet for hit in blend([[bare], full])}["A"] == "a."
    assert {hit.title: hit.snippet for hit in blend([full, [bare]])}["A"] == "a."


NAMES = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@given(st.lists(NAMES, max_size=4))
def test_blending_loses_nothing_and_repeats_nothing(lists: list[list[str]]) -> None:
    ranked = [hits(f"p{i}", *names) for i, names in enumerate(lists)]
    found = blend(ranked)
    assert sorted(named(found)) == sorted({name for names in lists for name in names})
    assert len({dedupe_key(hit.url) for hit in found}) == len(found)


# ---------------------------------------------------------------- searching


@in_virtual_time
async def test_providers_are_asked_at_once() -> None:
    slow, slower = scripted(2.0, hits("x", "a"), name="x"), scripted(3.0, hits("y", "b"), name="y")
    begin = now()
    found = await search(slow, slower).search(Query("q", 10))
    assert named(found.hits) == ["a", "b"]
    assert found.failures == ()
    assert now() - begin == pytest.approx(3)


NOTED = ("z: It took too long: the answer was made without it.",)


@pytest.mark.parametrize(
    ("answers", "awaited", "seconds", "found", "failures"),
    [
        ((1.0, 1.5, 9.0), (None, None, None), 2.0, "abcdef", ()),
        ((1.0, 9.0, 5.5), (None, None, 5.0), 5.5, "abcdeg", ()),
        ((1.0, 9.0, 9.0), (None, None, 5.0), 6.0, "abcde", NOTED),
        ((1.0, 1.5, 2.5), (None, None, 5.0), 2.5, "abcdefg", ()),
        ((1.0, 9.0, 2.5), (None, None, 5.0), 2.5, "abcdeg", ()),  # y had its second
        ((1.0, 9.0, 9.0), (5.0, None, None), 2.0, "abcde", ()),  # x has no need of its time
    ],
)
@in_virtual_time
async def test_each_provider_is_waited_for_as_long_as_its_policy_says(
    answers: tuple[float, ...],
    awaited: tuple[float | None, ...],
    seconds: float,
    found: str,
    failures: tuple[str, ...],
) -> None:
    """From when one has found enough. Who has a time of its own is named if it takes longer."""
    pages = zip("xyz", answers, ("abcde", "f", "g"), strict=True)
    providers = [scripted(after, hits(name, *names), name=name) for name, after, names in pages]
    policies = {name: replace(ONCE, awaited=own) for name, own in zip("xyz", awaited, strict=True)}
    on, begin = Search(providers, policies=policies, clock=now), now()
    outcome = await on.search(Query("q", 10))
    assert now() - begin == pytest.approx(seconds)
    assert "".join(sorted(named(outcome.hits))) == found
    assert outcome.failures == failures


@in_virtual_time
async def test_what_came_too_late_is_there_for_the_next_who_asks() -> None:
    quick, slow = (
        scripted(1.0, hits("x", *"abcde"), name="x"),
        scripted(5.0, hits("y", "f"), name="y"),
    )
    both = search(quick, slow)
    await both.search(Query("q", 10))
    await asyncio.sleep(4)  # of the jumping clock
    begin = now()
    assert "f" in named((await both.search(Query("q", 10))).hits)
    assert now() == begin
    assert len(slow.queries) == 1
    await both.aclose()


SPENT = Spent("claude-haiku-5-5", 8_000, 20, 0.01)


@in_virtual_time
async def test_of_those_who_share_a_search_only_one_pays() -> None:
    """At the same time, or afterwards from the cache."""
    paid = scripted(1.0, PaidHits(hits("x", "a"), SPENT), name="x")
    blended = search(paid)
    both = await asyncio.gather(*(blended.search(Query("q", 10)) for _ in range(2)))
    later = await blended.search(Query("q", 10))
    assert sorted(found.spent for found in (*both, later)) == [(), (), (SPENT,)]
    assert [named(found.hits) for found in (*both, later)] == [["a"]] * 3


async def test_the_price_of_a_search_is_that_of_the_providers_asked() -> None:
    policies = {"x": Policy(usd=0.05), "y": Policy()}
    blended = Search([scripted(name="x"), scripted(name="y")], policies=policies)
    assert (blended.price(), blended.price(("y",))) == (0.05, 0.0)


@in_virtual_time
async def test_closing_ends_what_is_late() -> None:
    quick, slow = (
        scripted(1.0, hits("x", *"abcde"), name="x"),
        scripted(5.0, hits("y", "f"), name="y"),
    )
    both = search(quick, slow)
    await both.search(Query("q", 10))
    begin = now()
    await both.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert now() == begin


@in_virtual_time
async def test_a_query_is_asked_as_it_is_with_all_its_wishes() -> None:
    provider = scripted([])
    wished = Query("q", 4, "de", "AT", "week", ("a.example",))
    await search(provider).search(wished)
    assert provider.queries == [wished]


@pytest.mark.parametrize(
    ("kind", "named", "asked"),
    [
        ("web", (), "xz"),
        ("knowledge", (), "y"),
        (None, (), "xyz"),
        (None, ("y",), "y"),
        ("web", ("y",), "y"),  # where there is none of this kind, all are asked
    ],
)
@in_virtual_time
async def test_the_providers_of_a_kind_or_those_named_are_asked(
    kind: ProviderKind | None, named: tuple[str, ...], asked: str
) -> None:
    providers = [scripted([], name=name) for name in "xyz"]
    providers[1].kind = "knowledge"
    await search(*providers).search(Query("q", 10), named, kind)
    assert "".join(each.name for each in providers if each.queries) == asked


def test_all_providers_or_those_named_tell_what_can_be_searched() -> None:
    x, y = scripted(name="x"), scripted(name="y")
    y.kind = "knowledge"
    both = search(x, y)
    assert both.can_search() == {"web", "knowledge"}
    assert both.can_search(("y",)) == {"knowledge"}
    with pytest.raises(InvalidSetting):
        both.can_search(("z",))


@pytest.mark.parametrize(("limit", "found"), [(0, []), (1, ["a"]), (2, ["a", "b"]), (-1, [])])
@in_virtual_time
async def test_no_more_hits_than_wanted_come_back(limit: int, found: list[str]) -> None:
    provider = scripted(hits("x", *"abcd"), name="x")
    assert named((await search(provider).search(Query("q", limit))).hits) == found
    assert provider.queries == ([Query("q", limit)] if found else [])


@pytest.mark.parametrize(("count", "seconds"), [(4, 9.0), (5, 2.0)])
@in_virtual_time
async def test_five_hits_of_one_provider_are_enough_not_to_wait_for_the_others(
    count: int, seconds: float
) -> None:
    quick = scripted(1.0, hits("x", *"abcde"[:count]), name="x")
    begin = now()
    await search(quick, scripted(9.0, hits("y", "f"), name="y")).search(Query("q", 10))
    assert now() - begin == pytest.approx(seconds)


@in_virtual_time
async def test_a_cancelled_search_ends_its_calls() -> None:
    never = scripted(9.0, hits("x", "a"), name="x")
    on = search(never)
    searching = asyncio.create_task(on.search(Query("q", 10)))
    await asyncio.sleep(1)
    searching.cancel()
    await asyncio.wait({searching})
    assert searching.cancelled()
    begin = now()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)
    assert now() == begin, "nothing is left that would wait for the provider"


@in_virtual_time
async def test_a_provider_that_fails_often_rests_and_says_how_long() -> None:
    down, up = scripted(*[ProviderUnavailable("It is down.")] * 9, name="x"), scripted([], name="y")
    policy = Policy(attempts=1, failures=1, rest=60.0)
    both = Search([down, up], policies={"x": policy, "y": policy}, clock=now)
    assert both.resting() == {}
    await both.search(Query("q", 10))
    assert both.resting() == {"x": pytest.approx(60.0)}


@in_virtual_time
async def test_a_name_that_is_not_configured_is_a_clear_error() -> None:
    on = search(scripted([], name="wikipedia"))
    assert str(await on.report("wikipedia")) == "A test search worked."
    for asking in (on.search(Query("q", 10), providers=("wikipdia",)), on.report("wikipdia")):
        with pytest.raises(InvalidSetting) as caught:
            await asking
        assert "Did you mean wikipedia?" in caught.value.sentence


@pytest.mark.parametrize(
    ("name", "end"),
    [("BRAVE", " Did you mean brave?"), ("zzz", " Choose from: brave, wikipedia.")],
)
def test_an_unknown_name_is_answered_with_the_nearest_or_with_all(name: str, end: str) -> None:
    assert nearest(name, ["brave", "wikipedia"]) == end


@pytest.mark.parametrize("query", ["", "   ", "\x00\n", "\ud800"])
def test_an_empty_query_asks_nobody(query: str) -> None:
    @in_virtual_time
    async def run() -> None:
        provider = scripted(hits("x", "a"))
        assert await search(provider).search(Query(query, 5)) == SearchResult((), missing=0)
        assert provider.at == []

    run()


@in_virtual_time
async def test_queries_are_sent_as_one_clean_line() -> None:
    provider = scripted([])
    await search(provider).search(Query("  two\nlines\x00 and\ta \udcff half  ", 5))
    assert provider.queries == [Query("two lines and a half", 5)]


# ---------------------------------------------------------------- wanted and blocked domains


@pytest.mark.parametrize(
    ("domains", "kept"),
    [
        ((), ["a", "sub", "b"]),
        (("a.example",), ["a", "sub"]),
        (("*.a.example", "https://b.example/x"), ["a", "sub", "b"]),
        (("none.example",), []),
        (("no host",), []),
    ],
)
@in_virtual_time
async def test_only_pages_of_the_wanted_domains_come_back_whoever_found_them(
    domains: tuple[str, ...], kept: list[str]
) -> None:
    found = [*hits("x", "a"), Hit("Sub", "https://x.a.example/1", "", "x"), *hits("x", "b")]
    outcome = await search(scripted(found, name="x")).search(Query("q", 9, domains=domains))
    assert named(outcome.hits) == kept


@pytest.mark.parametrize(
    "entry", ["b.example", "*.b.example", "B.Example", "https://b.example/", "www.b.example"]
)
def test_hits_from_blocked_domains_are_dropped(entry: str) -> None:
    @in_virtual_time
    async def run() -> None:
        provider = scripted(hits("x", "a", "b", "sub.b", "notb", "c"))
        found = await search(provider, blocked=(entry,)).search(Query("q", 3))
        assert named(found.hits) == ["a", "notb", "c"]
        assert provider.queries == [Query("q", 6)], "more are asked for, in case some are blocked"

    run()


# ---------------------------------------------------------------- failures


@in_virtual_time
async def test_one_failing_provider_is_named_and_fails_nothing() -> None:
    good = scripted(hits("good", "a"), name="good")
    bad = scripted(ProviderUnavailable("It is down: try later."), name="bad")
    found = await search(good, bad).search(Query("q", 5))
    assert named(found.hits) == ["a"]
    assert found.failures == ("bad: It is down: try later.",)


@in_virtual_time
async def test_a_defect_in_one_provider_costs_only_its_hits() -> None:
    good, bad = scripted(hits("good", "a"), name="good"), scripted(KeyError("x"), name="bad")
    found = await search(good, bad).search(Query("q", 5))
    assert named(found.hits) == ["a"]
    assert found.failures == ("bad: It failed unexpectedly; the log has the details.",)


@in_virtual_time
async def test_when_all_fail_the_error_says_which_and_why() -> None:
    x = scripted(ProviderUnavailable("It is down.", retry_after=50), name="x")
    y = scripted(CredentialsRefused("The key is wrong."), name="y")
    z = scripted(ProviderUnavailable("Away.", retry_after=20), name="z")
    with pytest.raises(NoProviderAvailable) as caught:
        await search(x, y, z).search(Query("q", 5))
    assert caught.value.sentence == (
        "No search provider answered. x: It is down. y: The key is wrong. z: Away."
    )
    assert caught.value.retry_after == 20


# ---------------------------------------------------------------- how rare words are


async def test_a_search_tells_how_rare_its_words_are_by_the_provider_that_knows() -> None:
    knows = Knowing("k", deque([hits("k", "a")]), known={"harbour": 2.0})
    found = await search(Scripted("x", deque([hits("x", "b")])), knows).search(
        Query("the harbour bells")
    )
    assert found.rarity == {"": 9.0, "harbour": 2.0, "bell": 9.0}


@pytest.mark.parametrize("reach", [EVERYTHING, NO_DOCUMENTS])
async def test_words_are_as_rare_as_they_are_in_what_the_asker_may_read(reach: Reach) -> None:
    class OfDocuments(Knowing):
        async def rarity(self, terms: Sequence[str], reach: Reach = EVERYTHING) -> dict[str, float]:
            return {"": 9.0 if reach == EVERYTHING else 1.0}

    found = await search(OfDocuments("k", deque([hits("k", "a")]))).search(
        Query("harbour", reach=reach)
    )
    assert found.rarity == {"": 9.0 if reach == EVERYTHING else 1.0}


@pytest.mark.parametrize("error", [ProviderUnavailable("It is down."), RuntimeError("a defect")])
async def test_not_knowing_how_rare_words_are_costs_no_hits(error: Exception) -> None:
    broken = Knowing("k", deque([hits("k", "a")]), error=error)
    knows = Knowing("l", deque([hits("l", "b")]), known={"harbour": 2.0})
    found = await search(broken, knows).search(Query("harbour"))
    assert sorted(named(found.hits)) == ["a", "b"]
    assert found.rarity == {"": 9.0, "harbour": 2.0}
    alone = await search(replace(broken, script=deque([hits("k", "a")]))).search(Query("harbour"))
    assert (named(alone.hits), alone.rarity) == (["a"], {})


# ---------------------------------------------------------------- what cannot be found yet


async def test_a_search_tells_how_many_documents_could_not_be_found_yet() -> None:
    grows = Incomplete("k", deque([hits("k", "a")]), gone=7)
    found = await search(Scripted("x", deque([hits("x", "b")])), grows).search(Query("harbour"))
    assert found.missing == 7
    web_only = await search(grows).search(Query("harbour", reach=NO_DOCUMENTS))
    assert web_only.missing == 0, "who may read no documents is not told how many there are"
    whole = await search(Scripted("x", deque([hits("x", "b")]))).search(Query("harbour"))
    assert whole.missing == 0


@pytest.mark.parametrize("error", [ProviderUnavailable("It is down."), RuntimeError("a defect")])
async def test_not_knowing_what_is_missing_costs_no_hits(error: Exception) -> None:
    broken = Incomplete("k", deque([hits("k", "a")]), error=error)
    found = await search(broken).search(Query("harbour"))
    assert (named(found.hits), found.missing) == (["a"], 0)


# ---------------------------------------------------------------- reading and closing


@in_virtual_time
async def test_a_page_is_read_by_the_provider_that_knows_it() -> None:
    both = search(reading(hits("x", "a"), name="x"), reading(hits("y", "b"), name="y"))
    page = await both.read("https://y.example/page")
    assert page is not None
    assert page.text == "b."
    assert await both.read("https://z.example/page") is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ProviderUnavailable("It is down."), "y: It is down."),
        (PageUnreadable("The page is empty."), "The page is empty."),
    ],
)
@in_virtual_time
async def test_who_could_not_read_a_page_is_named_unless_that_is_the_pages_fault(
    error: FootnoteError, sentence: str
) -> None:
    both, said = search(reading([], name="x"), reading(error, name="y")), error.sentence
    with pytest.raises(type(error)) as caught:
        await both.read("https://y.example/page")
    assert caught.value.sentence == sentence
    assert error.sentence == said, "others may have got the same error"


def test_a_web_page_is_read_under_the_address_of_the_provider_that_knows_it() -> None:
    @dataclass
    class Linking(Scripted):
        def address_of(self, link: str) -> str:
            return f"{self.name}:{link}" if link.startswith(f"https://{self.name}.") else ""

    on = search(*(Linking(name) for name in "xyz"), scripted(name="web"))
    assert on.address_of("https://y.example/") == "y:https://y.example/"
    assert on.address_of("https://a.test/") == ""


@dataclass
class Telling(Scripted):
    """Gives the same text of every page, and weighs the pages of one site."""

    text: str = ""
    site: str = "none"

    def text_of(self, url: str) -> GivenText | None:
        return GivenText(url, "A", self.text, self.name, "text/plain") if self.text else None

    def weighs(self, url: str) -> bool:
        return url.startswith(f"https://{self.site}.")

    async def weigh(self, question: str, url: str, reach: Reach = EVERYTHING) -> tuple[Weight, ...]:
        return (Weight(0, len(question), 0.5),)


@pytest.mark.parametrize(
    ("texts", "by"), [(("short", "longer text"), "1"), (("longest text", "short", ""), "0")]
)
@in_virtual_time
async def test_of_the_texts_that_providers_were_given_of_a_page_the_longest_counts(
    texts: tuple[str, ...], by: str
) -> None:
    on = search(*(Telling(str(number), text=text) for number, text in enumerate(texts)))
    given = on.text_of("https://a.example/")
    assert given is not None
    assert given.by == by


@in_virtual_time
async def test_a_page_is_weighed_by_the_provider_that_can() -> None:
    on = search(scripted(name="x"), Telling("y", site="y"), Telling("z", site="z"))
    assert on.text_of("https://z.example/") is None
    assert on.weighs("https://z.example/")
    assert await on.weigh("How tall?", "https://z.example/") == (Weight(0, 9, 0.5),)
    assert not on.weighs("https://other.example/")
    assert await on.weigh("How tall?", "https://other.example/") == ()


@in_virtual_time
async def test_closing_closes_the_providers_and_what_they_share() -> None:
    x, y = scripted([], name="x"), scripted([], name="y")
    closed = []

    async def close() -> None:
        closed.append(x.closed and y.closed)

    await Search([x, y], close=close, clock=now).aclose()
    assert closed == [True]
