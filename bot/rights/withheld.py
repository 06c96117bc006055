"""An answer in whose place a sentence stands, because its reader may not read what it rests on."""

from __future__ import annotations

from bot.answers import Answer
from bot.rights.reach import Reach


def withheld(answer: Answer, sentence: str) -> Answer:
    """The sentence in place of the answer: no text, quote, suggestion, search or step of it."""
    return Answer(
        status="failed",
        text=sentence,
        question="",
        run=answer.run,
        reasoner=answer.reasoner,
        usage=answer.usage,
    )


def for_reader(answer: Answer, reach: Reach, sentence: str) -> Answer:
    """The answer as its reader may see it."""
    return answer if reach.covers(answer.rests_on) else withheld(answer, sentence)
