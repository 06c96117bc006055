"""What the nodes of a graph may use: how the searches and pages of a run are dealt out. Pure.

All shares together are never more than there is, so that what a node may read and search does not
depend on how fast the others do. What ended nodes have not used, and what was kept back, goes to
those that are added later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RESERVE = 2  # nodes that an extension will probably add, whose share is kept back
FEWEST = 2  # searches and pages of a node, where there are enough: one may be a miss


@dataclass(frozen=True, slots=True)
class Share:
    """How many searches and pages."""

    searches: int
    pages: int


class Shares:
    """The shares of one graph. ``searches`` and ``pages`` are all that there is."""

    def __init__(self, searches: int, pages: int) -> None:
        self._searches = searches
        self._pages = pages
        self._taken: dict[str, Share] = {}  # by node

    @property
    def room(self) -> int:
        """How many more nodes can have anything at all."""
        left = self.left
        return min(left.searches, left.pages)

    @property
    def left(self) -> Share:
        """What nobody has."""
        taken = self._taken.values()
        return Share(
            max(0, self._searches - sum(share.searches for share in taken)),
            max(0, self._pages - sum(share.pages for share in taken)),
        )

    def deal(
        self, ids: Sequence[str], to_come: int = 0, reserve: int = RESERVE
    ) -> dict[str, Share]:
        """The shares of new nodes, those named first having what is left over.

        ``to_come`` more nodes will get as much; as much in pages, and one search each, is kept
        back for ``reserve`` nodes if it can be spared. No node has more than half the searches.
        """
        left = self.left
        slots = len(ids) + to_come
        pages = _dealt(left.pages, slots, reserve * (left.pages // (slots + reserve)))
        searches = _dealt(left.searches, slots, reserve)
        most = max(FEWEST, self._searches // 2)
        new = {id: Share(min(most, searches[at]), pages[at]) for at, id in enumerate(ids)}
        self._taken |= new
        return new

    def deal_all(self, id: str) -> Share:
        """The share of a node that is the only one."""
        self._taken[id] = self.left
        return self._taken[id]

    def settle(self, id: str, used: Share) -> None:
        """A node has ended and used so much: the rest is there again."""
        self._taken[id] = used


def _dealt(there: int, slots: int, kept: int) -> list[int]:
    """What each of the slots gets; nothing is kept back where they would have few."""
    if there - kept < FEWEST * slots:
        kept = 0
    each, over = divmod(there - kept, slots)
    return [each + (at < over) for at in range(slots)]
