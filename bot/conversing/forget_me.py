"""Texts for people who ask to be forgotten, on any platform; they need no permission."""

from __future__ import annotations

from bot.conversing.reception import Reception
from bot.conversing.words import is_yes
from bot.messages import Message
from bot.rendering.texts import Texts


async def forget_me(
    reception: Reception, message: Message, word: str, command: str, texts: Texts
) -> str:
    """Forget the author of ``message`` if ``word`` says yes, else say what that would mean and
    that ``command`` does it; returns the text for them alone.

    Raises ``StorageUnavailable``.
    """
    if is_yes(word):
        removed = await reception.forget_author(message)
        return texts("forget-done", messages=removed.messages)
    kept = await reception.kept_of_author(message)
    if not kept:
        return texts("forget-nothing")
    return texts("forget-ask", messages=kept.messages, answers=kept.runs, command=command)
