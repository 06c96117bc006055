"""Finishes work that takes longer than Slack waits for a response.

A command or a press is delivered once and has to be acknowledged soon. Ending what it began then
could end a transaction that is being committed, and nobody would know whether to ask again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from adapters.slack.malformed import by_core
from adapters.slack.whispers import Ear, Whispers
from bot.conversing.background_tasks import BackgroundTasks
from bot.errors import FootnoteError, StorageUnavailable
from bot.rendering.sentences import sentence_for
from bot.rendering.texts import Texts

ACK_SECONDS = 2.5  # Slack shows a failure after 3
LAST_SECONDS = 3.0  # that what is under way gets when Footnote ends

Doing = Coroutine[Any, Any, str | None]  # gives what its asker is told, or None


class Patience:
    """Close it with ``aclose``, before the whispers."""

    def __init__(self, whispers: Whispers) -> None:
        self._whispers = whispers
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        """Give what is under way a moment to be kept, and drop the rest."""
        await self._background.aclose(LAST_SECONDS)

    async def told(
        self, doing: Doing, ear: Ear, texts: Texts, *, meanwhile: str | None
    ) -> str | None:
        """The text for the asker after at most ``ACK_SECONDS``, or None for none.

        If ``doing`` takes longer, that is ``meanwhile``; what it comes to then is whispered, unless
        it is the same. A ``FootnoteError`` is told as its sentence, anything else is raised
        (``CoreBroke`` for what would pass for a malformed payload).
        """
        ended = asyncio.get_running_loop().create_future()
        self._background.later(self._follow(doing, ended, ear, texts, meanwhile))
        try:
            async with asyncio.timeout(ACK_SECONDS):
                result: str | None = await ended  # a timeout cancels it: then it is whispered
        except TimeoutError:
            return meanwhile
        return result

    async def _follow(
        self,
        doing: Doing,
        ended: asyncio.Future[str | None],
        ear: Ear,
        texts: Texts,
        meanwhile: str | None,
    ) -> None:
        try:
            result = await _sentence(doing, texts)
        except Exception as error:
            if ended.done():
                self._whispers.say(ear, texts("try-again"))
                raise
            ended.set_exception(error)
            return
        if not ended.done():
            ended.set_result(result)
        elif result is not None and result != meanwhile:
            self._whispers.say(ear, result)


async def _sentence(doing: Doing, texts: Texts) -> str | None:
    try:
        return await by_core(doing)
    except StorageUnavailable:
        return texts("try-again")
    except FootnoteError as error:
        return sentence_for(error, texts)
