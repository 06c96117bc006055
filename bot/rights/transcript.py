"""A thread's earlier messages without what its readers may not be told any more."""

from __future__ import annotations

from dataclasses import replace

from bot.messages import Transcript
from bot.rights.reach import Reach


def readable(transcript: Transcript, reach: Reach) -> Transcript:
    """The transcript without the answers that hold something of documents out of reach."""
    kept = tuple(entry for entry in transcript.entries if reach.covers(entry.documents))
    return transcript if len(kept) == len(transcript.entries) else replace(transcript, entries=kept)


def documents_of(transcript: Transcript) -> frozenset[str]:
    """The documents that the transcript may hold something of."""
    return frozenset().union(*(entry.documents for entry in transcript.entries))
