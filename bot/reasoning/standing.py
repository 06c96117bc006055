"""Whether the rewording of a message says more than the message: what it takes from the thread.

A follow-up is rewritten to say what the thread settles. So a rewording with no word of the thread
that the message lacks has settled nothing: it is a paraphrase, or an invention, and the message
itself is the better question. This holds however the message refers to what was said before.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.messages import Message, Transcript
from bot.text.terms import keywords, terms


def takes_from(transcript: Transcript, message: Message, question: str) -> bool:
    """Whether ``question``, a rewording of ``message``, has a content word of the thread (or of
    what came with the message) that the message itself does not have."""
    added = set(keywords(question)).difference(terms(message.text))
    return any(not added.isdisjoint(terms(text)) for text in _around(transcript, message))


def _around(transcript: Transcript, message: Message) -> Iterator[str]:
    for entry in transcript.entries:
        yield from (entry.name, entry.text, entry.question, *entry.sources)
    yield message.author.name
    yield from (attachment.name for attachment in message.attachments)
    yield from message.links
