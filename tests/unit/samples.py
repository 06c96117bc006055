"""Values that many tests need, with sensible defaults."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from bot.messages import Author, Message, Thread
from bot.pages.page import Page

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


def a_thread(name: str = "t1") -> Thread:
    return Thread("terminal", "local", "cli", name)


def a_message(
    text: str = "How tall is it?", thread: Thread | None = None, event_id: str | None = None
) -> Message:
    return Message(
        event_id=event_id or uuid4().hex,
        thread=thread or a_thread(),
        author=Author("ada", "Ada"),
        text=text,
        at=NOW,
    )


def a_page(url: str = "https://example.org/tower", text: str = "It is 330 m tall.") -> Page:
    return Page(url=url, title="Tower", text=text, fetched_at=NOW)
