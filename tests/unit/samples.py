"""Values that many tests need, with sensible defaults."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import sqlalchemy as sa

from bot.core.messages import Author, Message, StepView, Thread
from bot.pages.page import Page
from bot.storage.database import Database
from bot.storage.tables import feedback

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


async def verdicts(database: Database, run_id: str) -> dict[str, str]:
    """The feedback on a run, by author id."""
    query = sa.select(feedback.c.author_id, feedback.c.verdict).where(feedback.c.run_id == run_id)
    async with database.read() as db:
        return {row.author_id: row.verdict for row in (await db.execute(query)).all()}


A_GRAPH = (
    StepView("plan", "plan", "Plan the sub-questions", "done", 2.0),
    StepView("node-a", "node", "Who directed Jaws?", "done", 6.0, sources=("https://e.org/jaws",)),
    StepView("node-b", "node", "Who directed Alien?", "running"),
    StepView("node-c", "node", "When was the director of Jaws born?", "waiting", needs=("node-a",)),
    StepView("node-d", "node", "Where is Amity?", "failed", 1.0, "The model is away."),
    StepView("1", "search", "jaws director", "done", 0.4, parent="node-a"),
    StepView("2", "search", "alien director", "done", 0.4, parent="node-b"),
    StepView("3", "search", "jaws film", "done", 0.4, parent="node-a"),
    StepView("4", "think", "Judge what was found", "done", 2.0, parent="node-a"),
    StepView("5", "read", "Jaws", "done", 0.3, "", ("https://e.org/jaws",), "node-a"),
    StepView("6", "read", "Alien", "running", 0.3, "", ("https://e.org/alien",), "node-b"),
    StepView("7", "read", "Amity", "done", 0.3, "", ("https://e.org/amity",), "node-d"),
    StepView("8", "read", "Gone", "failed", 0.3, "no page", ("https://e.org/x",), "node-a"),
    StepView("9", "read", "Steven Spielberg", "done", 0.3, "", ("https://e.org/s",), "node-a"),
)
"""The lines of a plan whose sub-questions are done, running, waiting and failed."""
