"""Platforms: what `footnote serve` runs of one, and how its adapter declares it.

A platform is declared by a ``Declaration`` that a package names in its entry point group
``footnote.platforms``. Footnote's own are found in the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from bot.plugins import installed
from bot.posting import Poster
from bot.settings import Settings

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.conversing.reception import Reception
    from bot.observing import Observed
    from bot.storage.database import Database
    from bot.storage.workspaces import Workspaces

ENTRY_POINTS = "footnote.platforms"


State = Literal["connecting", "connected", "lost", "failed"]


@dataclass
class Connection:
    """The state of the connection to a platform: its adapter sets it, `/readyz` reads it.

    ``since`` when it is so, ``why`` it is not connected, in a sentence or in the peer's own words;
    neither may hold a secret.
    """

    state: State = "connecting"
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    why: str = ""

    def made(self) -> None:
        """Events arrive, or can be posted where none are listened to."""
        self._turn("connected")

    def away(self, why: str) -> None:
        """It cannot be reached for now; it is tried on."""
        lost = self.state in ("connected", "lost")
        self._turn("lost" if lost else "connecting", why)

    def failed(self, why: str) -> None:
        """It is given up: trying again cannot help."""
        self._turn("failed", why)

    def _turn(self, state: State, why: str = "") -> None:
        if state != self.state:
            self.state, self.since = state, datetime.now(UTC)
        self.why = why


class Platform(Protocol):
    """Opened by its ``Declaration``.

    ``routes`` are added to the HTTP endpoint of `serve`, ``poster`` works before and after ``run``,
    ``connection`` is kept up to date by ``reach`` and ``run``.
    """

    @property
    def name(self) -> str: ...

    @property
    def poster(self) -> Poster: ...

    @property
    def connection(self) -> Connection: ...

    @property
    def routes(self) -> Sequence[BaseRoute]: ...

    async def reach(self) -> None:
        """Return once the platform can be posted in, however long it is away; no listening.

        Raises ``CredentialsRefused`` and ``Invalid`` with the sentence what to do.
        """
        ...

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        """Listen until cancelled; calls ``ready`` once events arrive.

        Reconnects by itself. Raises ``CredentialsRefused`` or ``Invalid`` when trying again cannot
        help, with the sentence what to do.
        """
        ...


S = TypeVar("S", bound=Settings)


class Installations(Protocol):
    """The stored installations of a platform whose workspaces install the app by themselves."""

    async def count(self, database: Database, workspace: str) -> int:
        """The number of installations kept of a workspace."""
        ...

    async def forget(self, database: Database, workspace: str) -> int:
        """Delete them; returns how many there were."""
        ...

    async def forget_unreadable(self, settings: Any) -> int:
        """Delete the installations whose tokens cannot be decrypted; returns how many."""
        ...


@dataclass(frozen=True, slots=True)
class Declaration(Generic[S]):
    """A platform as its adapter declares it, in a module that loads no platform library.

    ``name`` begins the keys of its threads, ``title`` is what people call it. ``settings`` is its
    own subclass of ``Settings`` with the fields that it adds. ``listens`` tells whether the
    settings connect it, and ``posts`` whether a worker can post there, which needs no way in; both
    raise ``InvalidSetting`` for half a set of settings. ``open`` opens it; what is said to the
    platform is counted in ``observed``. ``check`` is the platform's line of `footnote doctor`, and
    raises ``FootnoteError`` with what to do. ``to_connect`` says that it is not
    connected, and how to connect it.
    ``is_chat`` is false for a platform that does not matter to health beside others.
    ``uses_http`` tells whether its events come in over the HTTP endpoint, from anywhere.
    """

    name: str
    title: str
    settings: type[S]
    listens: Callable[[S], bool]
    posts: Callable[[S], bool]
    open: Callable[[S, Workspaces, Observed | None], AbstractAsyncContextManager[Platform]]
    check: Callable[[S], Awaitable[str]]
    to_connect: Callable[[S], str]
    is_chat: bool = True
    uses_http: Callable[[S], bool] = lambda settings: False
    installations: Callable[[], Installations] | None = None


@cache
def platforms() -> dict[str, Declaration[Any]]:
    """All platforms by name, Footnote's own and those of other packages.

    Raises ``InvalidSetting`` for a package whose platform cannot be loaded.
    """
    found = installed(ENTRY_POINTS, Declaration, "platform")
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def listening_platforms(settings: Settings) -> list[str]:
    """The chat platforms that the settings connect. Raises ``InvalidSetting`` for half a set of
    them."""
    return [each.name for each in platforms().values() if each.is_chat and each.listens(settings)]


def posting_platforms(settings: Settings) -> list[str]:
    """The platforms in which a worker can post. Raises like ``listening_platforms``."""
    return [each.name for each in platforms().values() if each.posts(settings)]


def is_reached_over_http(settings: Settings) -> bool:
    """True if a platform sends its events to the HTTP endpoint, which is then open to others."""
    return any(each.uses_http(settings) for each in platforms().values())
