"""The provenance of a derived text: the pages and documents it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provenance:
    """The addresses of everything that may have contributed to a text of Footnote's, such as an
    answer, a suggestion or a comparison. Only people who may read all of it may read the text:
    ``bot.core.reader.Reach.covers``. A person's own words have none.
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


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with its provenance, such as a question as Footnote worded it. ``own`` is a person's
    wording of the same, which is told instead where this one may not be."""

    text: str
    made_from: Provenance = OWN_WORDS
    own: Wording | None = None


Telling = Callable[[Wording], str]
"""Returns the text that certain readers may be told of a wording: ``bot.core.reader.telling``."""


def people_only(said: Wording) -> str:
    """The telling for readers of unknown rights: a person's own words, or "…"."""
    return said.text if not said.made_from else people_only(said.own) if said.own else "…"
