"""The state of search providers, judged by stored searches. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from bot.research.outcomes import SearchOutcome, failures_in
from bot.storage.overview import Searched

_search = TypeAdapter(SearchOutcome)


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """``hits`` are those that came from it and were among the best, in ``found`` searches;
    ``failed`` searches it left without an answer. ``last_failure`` is its latest sentence, told at
    ``failed_at``."""

    name: str
    found: int = 0
    hits: int = 0
    failed: int = 0
    last_failure: str = ""
    failed_at: datetime | None = None


def health(searches: Iterable[Searched]) -> tuple[ProviderHealth, ...]:
    """One entry for each provider that any of the searches knows, by name; ``searches`` come
    latest first."""
    found: dict[str, ProviderHealth] = {}
    for search in searches:
        try:
            outcome = _search.validate_json(search.result)
        except ValidationError:
            continue  # kept by a version of Footnote that knew another shape
        names = [hit.provider for hit in outcome.hits]
        for name in dict.fromkeys(names):
            known = found.get(name, ProviderHealth(name))
            found[name] = replace(known, found=known.found + 1, hits=known.hits + names.count(name))
        for name, sentence in failures_in((*outcome.failures, outcome.problem)):
            known = found.get(name, ProviderHealth(name))
            found[name] = replace(
                known,
                failed=known.failed + 1,
                last_failure=known.last_failure or sentence,
                failed_at=known.failed_at or search.at,
            )
    return tuple(found[name] for name in sorted(found))
