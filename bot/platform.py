"""A chat platform as `footnote serve` runs it: a way in, a way out, and what they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from starlette.routing import BaseRoute

from bot.conversing.reception import Reception
from bot.posting import Poster


class Platform(Protocol):
    """Opened with its adapter's ``open_…(settings, workspaces)``, an async context manager.

    ``routes`` are added to the HTTP endpoint of `serve`, ``poster`` works before and after ``run``.
    """

    name: str
    poster: Poster

    @property
    def routes(self) -> Sequence[BaseRoute]: ...

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        """Listen until cancelled; calls ``ready`` once events arrive.

        Reconnects by itself. Raises ``CredentialsRefused`` or ``Invalid`` when trying again cannot
        help, with the sentence what to do.
        """
        ...
