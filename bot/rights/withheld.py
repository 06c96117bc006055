"""Answers and transcripts without what their readers may not be told."""

from __future__ import annotations

from dataclasses import replace

from bot.answers import Answer
from bot.messages import Transcript
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


def readable(transcript: Transcript, reach: Reach) -> Transcript:
    """The transcript without the answers that hold something of documents out of reach."""
    kept = tuple(entry for entry in transcript.entries if reach.covers(entry.documents))
    return transcript if len(kept) == len(transcript.entries) else replace(transcript, entries=kept)


def documents_of(transcript: Transcript) -> frozenset[str]:
    """The documents that the transcript may hold something of."""
    return frozenset().union(*(entry.documents for entry in transcript.entries))
