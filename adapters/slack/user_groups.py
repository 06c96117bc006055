"""The user groups of a workspace that somebody is in, each asked for at most once a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from time import monotonic
from weakref import WeakValueDictionary

from cachetools import TTLCache

from adapters.slack.calls import Calls
from bot.errors import PlatformUnavailable, PostRefused
from bot.logs import get_logger

GROUPS_REMEMBERED = 1_000
REMEMBERED_SECONDS = 60.0  # Slack allows some 20 such calls a minute

log = get_logger()


class UserGroups:
    """Asks by ``usergroups.users.list``. A group that Slack does not tell of has nobody in it.

    ``clock`` gives seconds.
    """

    def __init__(self, calls: Calls, clock: Callable[[], float] = monotonic) -> None:
        self._calls = calls
        self._known: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(
            GROUPS_REMEMBERED, REMEMBERED_SECONDS, timer=clock
        )
        self._asking: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def held(self, person: str, among: Collection[str], team: str = "") -> frozenset[str]:
        """The user groups among ``among`` to which a person belongs; ``team`` is the workspace of
        the groups, where the app is installed for a whole organisation."""
        return frozenset([id for id in sorted(among) if person in await self._members(id, team)])

    async def _members(self, group: str, team: str) -> frozenset[str]:
        lock = self._asking.setdefault((group, team), asyncio.Lock())
        async with lock:  # many ask at once, and share one call
            if (known := self._known.get((group, team))) is not None:
                return known
            return await self._look_up(group, team)

    async def _look_up(self, group: str, team: str) -> frozenset[str]:
        where = {"team_id": team} if team else {}
        try:
            answer = await self._calls.once("usergroups.users.list", usergroup=group, **where)
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("user group not known", group=group, error=str(error))
            return frozenset()
        members = frozenset(map(str, answer.get("users") or ()))
        self._known[group, team] = members
        return members
