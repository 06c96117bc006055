"""Whether the rewording of a message is to be asked in its place.

A follow-up is rewritten to say what the thread settles. So a rewording with no word of the thread
that the message lacks has settled nothing: it is a paraphrase, or an invention, and the message
itself is the better question. This holds however the message refers to what was said before, but
only in one language: what was said in another has other words.

A message that stands alone may be reworded too far the other way: compared with what was talked
about before, though it asks for no comparison. What only narrows a message down (a place, a year)
is left to the rewording: often it is what was meant, and words alone do not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.messages import Message, Transcript
from bot.reasoning.extractive.rewrite import says_it_all
from bot.text.language import detect
from bot.text.terms import keywords, terms

_COMPARES = re.compile(
    r"\b(?:compar\w+|versus|vs|than|unlike|differ\w*|relative to|in contrast)\b", re.IGNORECASE
)
_ENOUGH = 2  # keywords of a text whose language can be told


def is_taken(transcript: Transcript, message: Message, question: str) -> bool:
    """Whether ``question``, a rewording of ``message``, is a better question than the message."""
    if not transcript.entries or _compares_unasked(transcript, message, question):
        return False
    return _is_in_another_language(transcript, message) or _takes_from(
        transcript, message, question
    )


def _takes_from(transcript: Transcript, message: Message, question: str) -> bool:
    """Whether it has a content word of the thread (or of what came with the message) that the
    message itself does not have."""
    added = set(keywords(question)).difference(terms(message.text))
    return any(not added.isdisjoint(terms(text)) for text in _around(transcript, message))


def _is_in_another_language(transcript: Transcript, message: Message) -> bool:
    """Whether something in the thread that may be meant was said in another language."""
    said = (entry.text for entry in transcript.entries)
    return any(
        len(keywords(text)) >= _ENOUGH and detect(text) != detect(message.text) for text in said
    )


def _compares_unasked(transcript: Transcript, message: Message, question: str) -> bool:
    """Whether all that a rewording does to a message that stands alone is to add a comparison."""
    return (
        _COMPARES.search(question) is not None
        and _COMPARES.search(message.text) is None
        and set(terms(message.text)) <= set(terms(question))
        and detect(message.text) == "en"  # the language of _COMPARES
        and says_it_all(transcript, message)
    )


def _around(transcript: Transcript, message: Message) -> Iterator[str]:
    for entry in transcript.entries:
        yield from (entry.name, entry.text, entry.question, *entry.sources)
    yield message.author.name
    yield from (attachment.name for attachment in message.attachments)
    yield from message.links
