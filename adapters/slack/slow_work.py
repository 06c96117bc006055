"""Finishes work that takes longer than Slack waits for a response.

A command or a press is delivered once and has to be acknowledged soon. Ending what it began then
could end a transaction that is being committed, and nobody would know whether to ask again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from adapters.slack.ephemeral import EphemeralMessages, Recipient
from adapters.slack.malformed import by_core
from bot.conversing.background_tasks import BackgroundTasks
from bot.errors import FootnoteError, StorageUnavailable
from bot.rendering.sentences import sentence_for
from bot.rendering.texts import Texts

ACK_SECONDS = 2.5  # Slack shows a failure after 3
LAST_SECONDS = 3.0  # that what is under way gets when Footnote ends

Doing = Coroutine[Any, Any, str | None]  # gives what its asker is told, or None


class SlowWork:
    """Close it with ``aclose``, before the ephemeral."""

    def __init__(self, ephemeral: EphemeralMessages) -> None:
        self._ephemeral = ephemeral
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        """Give what is under way a moment to be kept, and drop the rest."""
        await self._background.aclose(LAST_SECONDS)

    async def told(
        self, doing: Doing, recipient: Recipient, texts: Texts, *, meanwhile: str | None
    ) -> str | None:
        """The text for the asker after at most ``ACK_SECONDS``, or None for none.

        If ``doing`` takes longer, that is ``meanwhile``; what it comes to then is sent as an
        ephemeral message, unless it is the same. A ``FootnoteError`` is told as its sentence,
        anything else is raised (``CoreBroke`` for what would pass for a malformed payload).
        """
        ended = asyncio.get_running_loop().create_future()
        self._background.later(self._follow(doing, ended, recipient, texts, meanwhile))
        try:
            async with asyncio.timeout(ACK_SECONDS):
                result: str | None = await ended  # a timeout cancels it: then it is sent as one
        except TimeoutError:
            return meanwhile
        return result

    async def _follow(
        self,
        doing: Doing,
        ended: asyncio.Future[str | None],
        recipient: Recipient,
        texts: Texts,
        meanwhile: str | None,
    ) -> None:
        try:
            result = await _sentence(doing, texts)
        except Exception as error:
            if ended.done():
                self._ephemeral.say(recipient, texts("try-again"))
                raise
            ended.set_exception(error)
            return
        if not ended.done():
            ended.set_result(result)
        elif result is not None and result != meanwhile:
            self._ephemeral.say(recipient, result)


async def _sentence(doing: Doing, texts: Texts) -> str | None:
    try:
        return await by_core(doing)
    except StorageUnavailable:
        return texts("try-again")
    except FootnoteError as error:
        return sentence_for(error, texts)
