"""Who Footnote itself is in a workspace; asked once."""

from __future__ import annotations

from adapters.slack.calls import Calls


class Identity:
    """The bot's own ids, by ``auth.test``."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._user = ""

    async def user(self, *, patience: float | None = None) -> str:
        """The bot's user id. Raises as ``Calls.patiently`` does."""
        if not self._user:
            told = await self._calls.patiently("auth.test", patience=patience)
            self._user = str(told["user_id"])
        return self._user
