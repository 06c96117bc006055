"""Divides the memory for reading documents among the processes that do it.

The limit counts what a process allocates (``processes.limit_memory``): 30 MB before any document.
By default everything fits a container of 1 GB beside the main process and the processes that index
folders (``bot.search.readers``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

USUAL = 500_000_000
SMALL = 75_000_000  # bytes with which nearly all web pages can be read
MOST_READERS = 4  # processes that read web pages and files side by side


@dataclass(frozen=True, slots=True)
class Shares:
    """``total`` bytes, divided: most for one process that reads large documents, the rest for those
    that read side by side, one that looks at uploads, and one that chooses passages."""

    total: int = USUAL

    @property
    def large(self) -> int:
        """For the one process that reads what the others have no room for."""
        return self.total * 34 // 100

    @property
    def choosing(self) -> int:
        """For the process that cuts long pages into passages and chooses among them."""
        return self.total * 20 // 100

    @property
    def readers(self) -> int:
        """The number of processes that read side by side: no more than there are processors."""
        room = (self.total - self.large - self.choosing) // SMALL - 1
        return max(1, min(MOST_READERS, os.cpu_count() or 1, room))

    @property
    def one_of_several(self) -> int:
        """For each of those, and for the one that looks at uploads."""
        return (self.total - self.large - self.choosing) // (self.readers + 1)


DEFAULT = Shares()
