"""The small print of an answer: what is in doubt, what befell its run, and what it took."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.answers import Answer
from bot.rendering.lines import one_line, shortened
from bot.rendering.tables import plain_text
from bot.rendering.texts import Texts

DOUBT = 200  # characters of a sentence that is doubted or disputed, and of the reason
NOTE = 300  # characters
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")


def remarks(
    answer: Answer, texts: Texts, shown: Callable[[str], str] = one_line
) -> tuple[str, ...]:
    """Doubts, then where sources disagree, then notes, one line each.

    ``shown`` makes foreign words such that the platform shows them letter for letter; it is given
    one line of at most ``DOUBT`` or ``NOTE`` characters.
    """
    doubts = [
        texts(
            "unverified",
            sentence=shown(shortened(words_of(doubt.sentence), DOUBT)),
            reason=shown(shortened(doubt.reason, DOUBT)),
        )
        for doubt in answer.doubts
    ]
    others = [
        texts(
            "disagrees",
            sentence=shown(shortened(words_of(other.sentence), DOUBT)),
            number=str(other.number),
            quote=shown(shortened(other.quote, DOUBT)),
        )
        for other in answer.disagreements
    ]
    return (*doubts, *others, *noted(answer, shown))


def words_of(sentence: str) -> str:
    """A sentence of an answer without its Markdown and the mark of its list item."""
    return plain_text(_ITEM.sub("", sentence))


def noted(answer: Answer, shown: Callable[[str], str] = one_line) -> tuple[str, ...]:
    """The notes, one line each; ``shown`` as in ``remarks``."""
    # Where no answer could be given, its text says why: once is enough.
    said = answer.text if answer.status == "failed" else ""
    told = [note for note in answer.notes if note not in said]
    notes = [short for note in told if (short := shortened(note, NOTE))]
    return tuple(f"ⓘ {shown(note)}" for note in notes)


def changed(answer: Answer, texts: Texts) -> str:
    """A note with the number of sentences that were corrected and left out, or ""."""
    found = answer.verification.sentences if answer.verification else ()
    corrected = sum(each.outcome == "restated" for each in found)
    left_out = sum(each.outcome == "left_out" for each in found)
    if not corrected and not left_out:
        return ""
    return texts("verify-changed", corrected=corrected, left=left_out)


def spent(answer: Answer, texts: Texts) -> str:
    """Time, searches, pages and cost, on one line."""
    usage = answer.usage
    return texts(
        "spent",
        seconds=usage.seconds,
        searches=usage.searches,
        pages=usage.pages,
        cost=usage.usd,
    )


def summary(answer: Answer, texts: Texts) -> str:
    """Time, searches, pages, cost and run, on one line."""
    return texts("summary", spent=spent(answer, texts), run=answer.run)
