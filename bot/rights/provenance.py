"""The provenance of a derived text: the pages and documents it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provenance:
    """The addresses of everything that may have contributed to a text of Footnote's, such as an
    answer, a suggestion or a comparison. Only people who may read all of it may read the text:
    ``bot.rights.reader.Reach.covers``. A person's own words have none.
    """

    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, *urls: Iterable[str]) -> Provenance:
        """Return the provenance of a text made from all of these addresses, in a fixed order."""
        return cls(tuple(sorted({url for each in urls for url in each})))

    def __or__(self, other: Provenance) -> Provenance:
        return Provenance.of(self, other)

    def __iter__(self) -> Iterator[str]:
        return iter(self.urls)

    def __contains__(self, url: object) -> bool:
        return url in self.urls

    def __len__(self) -> int:
        return len(self.urls)


OWN_WORDS = Provenance()
