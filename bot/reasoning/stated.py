"""Recognizes messages that correct our last answer by their words, conservatively."""

from __future__ import annotations

import re

from bot.core.messages import Transcript
from bot.pages.mentions import links_said
from bot.reasoning.recall import answers_in
from bot.text.sentences import sentences

_DENIES = re.compile(
    r"\W*(?:no|nope|actually|wrong|incorrect|correction|not (?:quite|right|any ?more|any longer)"
    r"|(?:that|this|it)(?:'s|’s| is| was)? (?:wrong|incorrect|outdated|out of date|obsolete"
    r"|no longer|not (?:right|true|correct|so|any ?more)|(?:has |was )?changed))\b"
    r"|\W*(?:不对|不對|不是|错了|錯了|有误|有誤|更正|其实|其實|[这那這]?(?:个|個)?(?:已经|已經)?(?:变|變|改|过时|過時)了?)",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|be|isn't|aren't|has|have|had|can|must|may|do|does|did|now|since|until"
    r"|see|it's|that's|there's|they're|chang\w+|moved?|became|costs?|takes?|starts?|opens?|closes?"
    r"|applies|allows?|needs?|uses?)\b|[是在有为為改变變从從自到見见升降搬]|现|現",
    re.IGNORECASE,
)
# The person corrects their question, not our answer.
_MEANT = re.compile(
    r"\b(?:i|we) (?:mean|meant|was asking|were asking|am asking|asked|want|wanted|need)\b"
    r"|我们?(?:是)?(?:说|說|问|問|指|要|想)|我的意思",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]\W*$")
_OPENING = re.compile(
    r"^\W*(?:(?:no|nope|actually|correction)\b|不对|不對|不是|更正|其实|其實)[\s,，:：.。;；–—-]*",
    re.I,
)


def correction_in(transcript: Transcript, text: str) -> tuple[str, str]:
    """Split a message into its correction of our last answer and its question, each "" if absent.

    A correction begins with a denial and states a figure, a date, a name or a link. It may be
    wrong; readers see who wrote it.
    """
    said = text.strip()
    if not answers_in(transcript) or not _DENIES.match(said) or _MEANT.search(said):
        return "", ""
    from bot.text.facts import facts

    pieces = [said[each.start : each.end] for each in sentences(said)]
    asked = " ".join(piece for piece in pieces if _ASKS.search(piece))
    stated = " ".join(piece for piece in pieces if not _ASKS.search(piece))
    bare = _OPENING.sub("", stated, count=1)
    is_stated = _STATES.search(bare) and (facts(bare) or links_said(bare))
    return (stated, asked) if is_stated else ("", "")
