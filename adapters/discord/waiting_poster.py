"""A poster that waits for the login: runs left from before are resumed while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from adapters.discord.poster import DiscordPoster
from bot.errors import CredentialsRefused, PlatformUnavailable
from bot.messages import Attachment, Message
from bot.posting import PostState, Reply, RunRef

LOGIN_SECONDS = 10.0  # that a reply waits before it counts Discord as away


class PatientPoster:
    """See ``bot.posting.Poster``."""

    amends = True

    def __init__(self, poster: DiscordPoster, login: asyncio.Task[None]) -> None:
        self._poster = poster
        self._login = login

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        await self._logged_in()
        return await self._poster.open(run, saved)

    async def queued(self, run: RunRef, ahead: int) -> None:
        await self._logged_in()
        await self._poster.queued(run, ahead)

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        await self._logged_in()
        await self._poster.remove(run, saved)

    async def history(self, run: RunRef) -> Sequence[Message]:
        await self._logged_in()
        return await self._poster.history(run)

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        await self._logged_in()
        return await self._poster.download(run, attachment, limit)

    async def groups(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """See ``bot.rights.rights.Membership``."""
        await self._logged_in()
        return await self._poster.groups(message, among)

    async def _logged_in(self) -> None:
        if self._login.done() and not self._login.cancelled() and self._login.exception() is None:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._login), LOGIN_SECONDS)
        except (TimeoutError, CredentialsRefused) as error:
            raise PlatformUnavailable(
                "Discord cannot be reached now: the answer is posted when it can.",
                detail=str(error),
            ) from None
