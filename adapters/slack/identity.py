"""The bot's own identity in a workspace; asked once."""

from __future__ import annotations

from adapters.slack.calls import Calls, Json
from adapters.slack.guests import Home


class Identity:
    """The bot's own ids, by ``auth.test``."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: Json = {}

    async def user(self, *, patience: float | None = None) -> str:
        """The bot's user id. Raises as ``Calls.patiently`` does."""
        return str((await self._told(patience))["user_id"])

    async def home(self, *, patience: float | None = None) -> Home:
        """The workspace in which Footnote is installed. Raises as ``user`` does."""
        return home_of(await self._told(patience))

    async def _told(self, patience: float | None) -> Json:
        if not self._known:
            self._known = await self._calls.patiently("auth.test", patience=patience)
        return self._known


def home_of(told: Json) -> Home:
    """The workspace in which a bot is installed, from the response of auth.test."""
    enterprise = str(told.get("enterprise_id") or "")
    whole = bool(told.get("is_enterprise_install"))
    return Home(enterprise if whole else str(told["team_id"]), enterprise)
