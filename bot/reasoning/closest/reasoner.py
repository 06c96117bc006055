"""Quotes the closest passages; both methods are pure functions of their arguments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from bot.core.messages import Message, Transcript
from bot.reasoning.calls import ModelCalls
from bot.reasoning.closest import passages, rewrite
from bot.reasoning.declaration import CLOSEST
from bot.reasoning.evidence import AnswerDelta, Evidence
from bot.reasoning.questions import Rewritten


class Closest:
    """Implements ``Reasoner``; makes no model calls, raises nothing.

    The operator's ``instructions`` on tone and language are ignored: quotes have no tone.
    """

    name = CLOSEST

    def __init__(self, calls: ModelCalls) -> None:
        del calls  # not needed

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        """Return the message with the topic of its thread."""
        return rewrite.rewrite(transcript, message)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        """Yield the quotes, each below its heading path; nothing if they are no answer."""
        # In a thread: work on whole pages takes 0.1 s, which would block other runs.
        for delta in await asyncio.to_thread(passages.quoted, question, evidence):
            yield delta
