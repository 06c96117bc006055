"""The line that says what the verification of an answer has changed in it."""

from __future__ import annotations

from bot.answers import Answer
from bot.rendering.texts import Texts


def changed(answer: Answer, texts: Texts) -> str:
    """A note with the number of sentences that were corrected and left out, or ""."""
    found = answer.verification.sentences if answer.verification else ()
    corrected = sum(each.outcome == "restated" for each in found)
    left_out = sum(each.outcome == "left_out" for each in found)
    if not corrected and not left_out:
        return ""
    return texts("verify-changed", corrected=corrected, left=left_out)
