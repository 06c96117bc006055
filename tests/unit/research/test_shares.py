"""How the searches and pages of a run are dealt out to the nodes of a graph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.research.shares import Share, Shares


@pytest.mark.parametrize(
    ("searches", "pages", "nodes", "dealt"),
    [
        (10, 24, "a", [Share(5, 8)]),
        (10, 24, "ab", [Share(4, 6), Share(4, 6)]),
        (10, 24, "abc", [Share(3, 6), Share(3, 5), Share(2, 5)]),
        (10, 24, "abcde", [Share(2, 4), Share(2, 4), Share(2, 4), Share(2, 3), Share(2, 3)]),
        (10, 4, "abcd", [Share(2, 1)] * 4),
        (10, 5, "ab", [Share(4, 3), Share(4, 2)]),
        (2, 2, "ab", [Share(1, 1)] * 2),
    ],
)
def test_what_is_scarce_is_not_kept_back(
    searches: int, pages: int, nodes: str, dealt: list[Share]
) -> None:
    assert list(Shares(searches, pages).deal(list(nodes)).values()) == dealt


def test_what_was_not_used_goes_to_those_added_later() -> None:
    shares = Shares(10, 24)
    shares.deal(["a", "b"], reserve=0)
    assert (shares.left, shares.room) == (Share(0, 0), 0)
    shares.settle("a", Share(2, 3))
    assert (shares.left, shares.room) == (Share(3, 9), 3)
    assert shares.deal(["c"], reserve=0) == {"c": Share(3, 9)}


def test_nodes_that_will_come_back_corrected_get_as_much() -> None:
    shares = Shares(8, 12)
    first = shares.deal(["a", "b"], to_come=2, reserve=0)
    assert first == {"a": Share(2, 3), "b": Share(2, 3)}
    assert shares.deal(["c", "d"], reserve=0) == {"c": Share(2, 3), "d": Share(2, 3)}


def test_the_only_node_has_it_all() -> None:
    assert Shares(10, 24).deal_all("whole") == Share(10, 24)


STAGES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3)), max_size=4)


@given(st.integers(0, 20), st.integers(0, 40), STAGES, st.data())
def test_shares_are_never_more_than_there_is(
    searches: int, pages: int, stages: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    shares = Shares(searches, pages)
    used: list[Share] = []
    for stage, (count, to_come, reserve) in enumerate(stages):
        room = shares.room
        dealt = shares.deal([f"{stage}{at}" for at in range(count)], to_come, reserve)
        if count <= room and not to_come:
            assert all(share.searches and share.pages for share in dealt.values())
        there = [*used, *dealt.values()]
        assert sum(share.searches for share in there) <= searches
        assert sum(share.pages for share in there) <= pages
        for id, share in dealt.items():
            of_it = Share(
                data.draw(st.integers(0, share.searches)), data.draw(st.integers(0, share.pages))
            )
            shares.settle(id, of_it)
            used.append(of_it)
