"""The health of search providers, computed from stored searches. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from bot.research.outcomes import SearchOutcome, failures_in
from bot.storage.overview import StoredSearch

_search = TypeAdapter(SearchOutcome)


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """One provider's results. ``hits`` counts its hits among the best, from ``found`` searches;
    ``failed`` counts its failed searches. ``last_failure`` is its latest error sentence, at
    ``failed_at``."""

    name: str
    found: int = 0
    hits: int = 0
    failed: int = 0
    last_failure: str = ""
    failed_at: datetime | None = None


def health(searches: Iterable[StoredSearch]) -> tuple[ProviderHealth, ...]:
    """Return an entry for each provider in the searches, by name; ``searches`` are latest first."""
    found: dict[str, ProviderHealth] = {}
    for search in searches:
        try:
            outcome = _search.validate_json(search.result)
        except ValidationError:
            continue  # stored by a version of Footnote with another format
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
