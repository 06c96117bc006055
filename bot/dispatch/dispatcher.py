"""The protocol of a dispatcher, which decides where and when a run executes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.messages import Thread


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of working on runs. ``trouble`` is why this process does not, though it should (""
    if it does), ``advice`` what an operator should do all the same, ``working`` the runs it works
    on, ``workers`` how many processes take runs from the queue; None without a queue.
    """

    working: int
    workers: int | None = None
    trouble: str = ""
    advice: str = ""


class Dispatcher(Protocol):
    """One run at a time per thread, in the order accepted; threads in parallel, bounded.

    The run's row is the truth: submitting a run that has ended does nothing. ``owner`` is for whom
    a run is to be kept when it is accepted or restarted, None where any process may take it.
    """

    @property
    def owner(self) -> str | None: ...

    async def submit(self, run_id: str, thread: Thread) -> None:
        """Queue a run behind its thread's earlier ones; returns at once."""
        ...

    async def restart(self, run_id: str, thread: Thread) -> None:
        """The run begins again in the store (its question was edited or deleted): work on its
        earlier attempt ends, here or elsewhere, and it is redone; returns at once."""
        ...

    async def request_stop(self, run_id: str) -> None:
        """Ask a run to stop; returns when that is kept, not when it has ended."""
        ...

    async def stop(self, run_id: str) -> None:
        """End a run, queued or working; returns when its work has really ended."""
        ...

    async def wait(self, run_id: str) -> None:
        """Return when a submitted run has ended, or is not for this dispatcher to end."""
        ...

    async def resume(self) -> list[str]:
        """Submit the unclaimed runs, oldest first; returns their ids."""
        ...

    async def condition(self) -> Condition:
        """For observers. Raises ``StorageUnavailable``."""
        ...

    async def drain(self, seconds: float = 0.0) -> None:
        """Start nothing more, give working runs ``seconds``, release the rest for others."""
        ...
