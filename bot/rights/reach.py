"""The documents that a reader may be told about, as a value that needs no settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

SCHEME = "file:"  # of the addresses of documents


def is_document(url: str) -> bool:
    """Whether an address is that of one of the operator's documents."""
    return url[: len(SCHEME)].lower() == SCHEME


@dataclass(frozen=True, slots=True)
class Reach:
    """The documents that may be searched, read and shown; the web is not part of it. The web is not
    its business.

    ``rules`` has the addresses of folders and files with whether they are in reach, the longest
    first: the first that fits a document decides. ``others`` is so for documents that none fits.
    """

    rules: tuple[tuple[str, bool], ...] = ()
    others: bool = True

    @property
    def is_all(self) -> bool:
        return self.others and all(allowed for _, allowed in self.rules)

    @property
    def is_nothing(self) -> bool:
        return not self.others and not any(allowed for _, allowed in self.rules)

    @property
    def signature(self) -> str:
        """Tells one reach from another; "" where everything is in reach."""
        if self.is_all:
            return ""
        return hashlib.sha256(repr((self.rules, self.others)).encode()).hexdigest()[:16]

    def allows(self, url: str) -> bool:
        """Whether a page may be told about; one that is no document always may."""
        if not is_document(url):
            return True
        bare = url.partition("#")[0]
        for root, allowed in self.rules:
            if bare == root or bare.startswith(root + "/"):
                return allowed
        return self.others

    def covers(self, urls: Iterable[str]) -> bool:
        """Whether all of the pages may be told about."""
        return self.is_all or all(map(self.allows, urls))

    def includes(self, other: Reach) -> bool:
        """Whether everything that is in the other reach is certainly in this one too."""
        if self.is_all or other.is_nothing:
            return True
        known = dict(self.rules)
        if known.keys() != dict(other.rules).keys() or (other.others and not self.others):
            return False
        return all(known[root] for root, allowed in other.rules if allowed)


EVERYTHING = Reach()
NO_DOCUMENTS = Reach(others=False)
