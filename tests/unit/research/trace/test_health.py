"""The health of providers, judged by stored searches."""

from __future__ import annotations

import json
from datetime import timedelta

from bot.research.outcomes import ProviderHealth, health
from bot.storage.overview import StoredSearch
from tests.unit.samples import NOW


def a_search(
    *providers: str, failures: tuple[str, ...] = (), problem: str = "", ago: float = 0
) -> StoredSearch:
    hits = [
        {"title": "T", "url": f"https://e.org/{n}", "snippet": "", "provider": provider}
        for n, provider in enumerate(providers)
    ]
    kept = {"hits": hits, "failures": failures, "problem": problem}
    return StoredSearch(json.dumps(kept), NOW - timedelta(seconds=ago))


def test_hits_are_counted_for_the_provider_they_came_from() -> None:
    found = health([a_search("wikipedia", "brave", "wikipedia"), a_search("wikipedia")])
    assert found == (
        ProviderHealth("brave", found=1, hits=1),
        ProviderHealth("wikipedia", found=2, hits=3),
    )


def test_the_latest_failure_is_told_with_its_sentence() -> None:
    found = health(
        [
            a_search("wikipedia", failures=("searxng: It is down.",), ago=1),
            a_search("wikipedia", failures=("searxng: It was slow.",), ago=2),
        ]
    )
    assert found[0] == ProviderHealth(
        "searxng",
        failed=2,
        last_failure="It is down.",
        failed_at=NOW - timedelta(seconds=1),
    )


def test_when_all_fail_each_of_them_has_failed() -> None:
    problem = (
        "No search provider answered. wikipedia: It did not answer within 10 s: try again later. "
        "brave: The key is refused."
    )
    found = health([a_search(problem=problem)])
    assert [(one.name, one.failed, one.last_failure) for one in found] == [
        ("brave", 1, "The key is refused."),
        ("wikipedia", 1, "It did not answer within 10 s: try again later."),
    ]


def test_what_cannot_be_read_is_no_search() -> None:
    assert health([StoredSearch("{}", NOW), StoredSearch("not json", NOW)]) == ()
