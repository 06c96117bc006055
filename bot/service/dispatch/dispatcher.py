"""The protocol of a dispatcher, which decides where and when a run executes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.core.messages import Thread


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a dispatcher. ``working`` is the number of runs in progress in this process,
    ``trouble`` the reason why it takes none although it should ("" if it works), ``advice`` a
    recommendation to the operator, ``workers`` the number of processes that take runs from the
    queue; None without a queue.
    """

    working: int
    workers: int | None = None
    trouble: str = ""
    advice: str = ""


class Dispatcher(Protocol):
    """One run at a time per thread, in the order accepted; threads in parallel, bounded.

    The run's database row decides: submitting a run that has ended does nothing. ``owner`` is the
    process for which a run is reserved when it is accepted or restarted; None if any may take it.
    """

    @property
    def owner(self) -> str | None: ...

    async def submit(self, run_id: str, thread: Thread) -> None:
        """Queue a run behind its thread's earlier ones; returns at once."""
        ...

    async def restart(self, run_id: str, thread: Thread) -> None:
        """Process a run again that was reset in the store (its question was edited or deleted).
        Work on its earlier attempt ends, here or elsewhere. Returns at once."""
        ...

    async def request_stop(self, run_id: str) -> None:
        """Ask a run to stop; returns when the request is stored, not when the run has ended."""
        ...

    async def stop(self, run_id: str) -> None:
        """Stop a run, queued or in progress; returns when its work has ended."""
        ...

    async def wait(self, run_id: str) -> None:
        """Return when a submitted run has ended, or is not for this dispatcher."""
        ...

    async def resume(self) -> list[str]:
        """Submit the unclaimed runs, oldest first; returns their ids."""
        ...

    async def condition(self) -> Condition:
        """Return the current state, for health checks and metrics. Raises
        ``StorageUnavailable``."""
        ...

    async def drain(self, seconds: float = 0.0) -> None:
        """Start no more runs, give those in progress ``seconds``, and release the rest for
        others."""
        ...
