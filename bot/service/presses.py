"""Converts button presses to messages."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from bot.core.messages import Audience, Author, Message, Wording
from bot.storage.store import RunRecord

NO_TEXT = Wording("")


def message_of_press(
    run: RunRecord, button: str, author: Author, said: Wording, locale: str, audience: Audience
) -> Message:
    """Return the message equivalent to pressing a button on a run's reply, which ``said`` this."""
    # An edited run has had several questions, so the same button may mean a different one.
    digest = hashlib.sha256(said.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Message(
        event_id=f"{run.id}:{button}:{digest}",
        thread=run.message.thread,
        author=author,
        text=said.text,
        at=datetime.now(UTC),
        locale=locale,
        audience=audience,
        conversations=run.options.conversations,
        made_from=said.made_from,
    )
