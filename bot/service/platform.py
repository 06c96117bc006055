"""Platforms: the parts that `footnote serve` runs, and how an adapter declares one.

A package declares a platform by a ``Declaration`` in its entry point group ``footnote.platforms``.
Footnote's own platforms are found in the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from bot.core.errors import InvalidSetting
from bot.core.plugins import Setup, load_parts
from bot.core.posting import Poster
from bot.core.settings import Settings
from bot.core.texts import Sentence

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.core.measurements import Observed
    from bot.service.reception import Reception
    from bot.storage.database import Database
    from bot.storage.workspaces import Workspaces

ENTRY_POINTS = "footnote.platforms"


State = Literal["connecting", "connected", "lost", "failed"]


@dataclass
class Connection:
    """The state of the connection to a platform: its adapter sets it, `/readyz` reads it.

    ``since`` is the time of the last change. ``why`` is the reason why it is not connected, in our
    words or the peer's; it must not contain a secret.
    """

    state: State = "connecting"
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    why: Sentence = ""

    def mark_connected(self) -> None:
        """Mark as connected: events arrive, or posting works where none are received."""
        self._turn("connected")

    def mark_unreachable(self, why: Sentence) -> None:
        """Mark as unreachable for now; reconnecting continues."""
        lost = self.state in ("connected", "lost")
        self._turn("lost" if lost else "connecting", why)

    def mark_failed(self, why: Sentence) -> None:
        """Mark as failed: trying again cannot help."""
        self._turn("failed", why)

    def _turn(self, state: State, why: Sentence = "") -> None:
        if state != self.state:
            self.state, self.since = state, datetime.now(UTC)
        self.why = why


class Platform(Protocol):
    """An open platform, created by its ``Declaration``.

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
        """Wait, however long, until posting to the platform works; does not listen.

        Raises ``CredentialsRefused`` and ``Invalid``, which say what to do.
        """
        ...

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        """Listen until cancelled; calls ``ready`` once events arrive.

        Reconnects by itself. Raises ``CredentialsRefused`` or ``Invalid``, which say what to do,
        when trying again cannot help.
        """
        ...


S = TypeVar("S", bound=Settings)


class Installations(Protocol):
    """The stored installations of a platform whose workspaces install the app themselves."""

    async def count(self, database: Database, workspace: str) -> int:
        """Return the number of a workspace's stored installations."""
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
    own subclass of ``Settings`` with the fields that it adds. ``listens`` returns True if the
    settings connect it, ``posts`` if a worker can post there, which needs no incoming connection;
    both raise ``InvalidSetting`` for an incomplete set of settings. ``open`` opens it and counts
    its calls in ``observed``. ``check`` returns the platform's line for `footnote doctor`, and
    raises ``FootnoteError``, which says what to do. ``to_connect`` returns how to connect a
    platform that is not connected. ``is_chat`` is False for a platform that health checks ignore if
    there are others. ``uses_http`` returns True if its events come in over the HTTP endpoint, from
    anywhere. ``setup`` is how the console connects it.
    """

    name: str
    title: Sentence
    settings: type[S]
    listens: Callable[[S], bool]
    posts: Callable[[S], bool]
    open: Callable[[S, Workspaces, Observed | None], AbstractAsyncContextManager[Platform]]
    check: Callable[[S], Awaitable[Sentence]]
    to_connect: Callable[[S], Sentence]
    is_chat: bool = True
    uses_http: Callable[[S], bool] = lambda settings: False
    installations: Callable[[], Installations] | None = None
    setup: Setup | None = None

    def is_on(self, settings: S) -> bool:
        """Return True if the settings connect it, or try to."""
        try:
            return self.listens(settings)
        except InvalidSetting:
            return True


@cache
def platforms() -> dict[str, Declaration[Any]]:
    """Return all platforms by name, Footnote's own and those of other packages.

    Raises ``InvalidSetting`` for a package whose platform cannot be loaded.
    """
    found = load_parts(ENTRY_POINTS, Declaration, "platform")
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def listening_platforms(settings: Settings) -> list[str]:
    """Return the chat platforms that the settings connect. Raises ``InvalidSetting`` for an
    incomplete set of settings."""
    return [each.name for each in platforms().values() if each.is_chat and each.listens(settings)]


def posting_platforms(settings: Settings) -> list[str]:
    """Return the platforms to which a worker can post. Raises like ``listening_platforms``."""
    return [each.name for each in platforms().values() if each.posts(settings)]


def is_reached_over_http(settings: Settings) -> bool:
    """Return True if a platform sends events to the HTTP endpoint, which other machines then
    reach."""
    return any(each.uses_http(settings) for each in platforms().values())
