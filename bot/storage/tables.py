"""The schema. A change here is a new file in ``migrations/versions``; the tests compare the two.

Migrations only add, with defaults, so that older processes keep working: see ``storage.migrate``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

# The newest migration, stated here so that an up-to-date store opens without loading Alembic.
HEAD = "1000"

# Named constraints can be changed by later migrations on every database.
metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class UtcDateTime(sa.TypeDecorator[datetime]):
    """A moment, timezone-aware in Python on every database, even SQLite, which has no zones."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


threads = sa.Table(
    "threads",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("thread", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    # True once the thread's earlier messages have been read from the platform.
    sa.Column("history_read", sa.Boolean, nullable=False, server_default=sa.false()),
    # The name that somebody gave it, and who did; without one, its first question is shown.
    sa.Column("title", sa.Text, nullable=False, server_default=""),
    sa.Column("titled_by", sa.Text, nullable=False, server_default=""),
    sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index(None, "platform", "workspace", "channel"),
    # On PostgreSQL, the migration adds the same condition: an option for that dialect would import
    # it here, which costs some hundredths of a second even in commands that do not need it.
    sa.Index("ix_threads_pinned", "pinned", sqlite_where=sa.text("pinned")),
)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("thread_key", sa.ForeignKey(threads.c.key, ondelete="CASCADE"), nullable=False),
    # The platform's name and event id; unique, so that a redelivery changes nothing.
    sa.Column("event_key", sa.Text, nullable=False, unique=True),
    sa.Column("author_id", sa.Text, nullable=False),
    sa.Column("author_name", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("links", sa.JSON, nullable=False),
    sa.Column("attachments", sa.JSON, nullable=False),
    sa.Column("locale", sa.Text, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    # Addresses of what the text was made from, if Footnote made it: a suggestion, for example.
    sa.Column("made_from", sa.JSON, nullable=False, server_default="[]"),
    sa.Index(None, "thread_key", "id"),
    sa.Index(None, "author_id", "id"),
    sa.Index(None, "at"),
)

# Files sent with a message, on platforms that do not store files themselves.
files = sa.Table(
    "files",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("message_id", sa.ForeignKey(messages.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("url", sa.Text, nullable=False, unique=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Index(None, "message_id"),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("thread_key", sa.ForeignKey(threads.c.key, ondelete="CASCADE"), nullable=False),
    sa.Column(
        "message_id",
        sa.ForeignKey(messages.c.id, ondelete="CASCADE"),
        nullable=False,
        unique=True,
    ),
    # accepted → running → answered | partial | not_found | failed | stopped
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("accepted_at", UtcDateTime, nullable=False),
    sa.Column("ended_at", UtcDateTime),
    # Results are only accepted from the current attempt (fencing).
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("owner", sa.Text),
    sa.Column("lease_until", UtcDateTime),
    sa.Column("stop_requested", sa.Boolean, nullable=False, server_default=sa.false()),
    # The question was deleted: the run only has to delete the reply.
    sa.Column("removed", sa.Boolean, nullable=False, server_default=sa.false()),
    # The state of the reply in the platform's terms; the finished answer.
    sa.Column("post_state", sa.JSON),
    sa.Column("answer", sa.JSON),
    sa.Index(None, "thread_key"),
    sa.Index(None, "state"),
    sa.Index(None, "accepted_at"),
    sa.Index(None, "ended_at"),
)

# Standing questions. ``run_id`` is the run whose answer was reported last: new answers are compared
# with it, and posted in its thread. ``origin_id`` is the run that answered first. When either is
# deleted, so is the standing question.
watches = sa.Table(
    "watches",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("origin_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("author_id", sa.Text, nullable=False),
    sa.Column("author_name", sa.Text, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("locale", sa.Text, nullable=False),
    sa.Column("schedule", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),  # watching | paused | ended
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("due_at", UtcDateTime, nullable=False),
    # The last sign of interest: somebody began it, opened its thread or resumed it.
    sa.Column("interest_at", UtcDateTime, nullable=False),
    # The last check, and its outcome: same | changed | no_answer | budget | refused.
    sa.Column("looked_at", UtcDateTime),
    sa.Column("outcome", sa.Text, nullable=False, server_default=""),
    sa.Index(None, "run_id"),
    sa.Index(None, "origin_id"),
    sa.Index(None, "author_id"),
    sa.Index(None, "state", "due_at"),
)

# Corrections of answers, each made by the question of a run. Text, author and time are those of its
# message, with which the correction is deleted. A retracted correction stays as an empty row, so
# that no later attempt at the run stores it again.
corrections = sa.Table(
    "corrections",
    metadata,
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    # The key of the workspace, channel or thread whose readers may see it.
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("channel_name", sa.Text, nullable=False),
    sa.Column("url", sa.Text, nullable=False),  # of the message, or ""
    sa.Column("statement", sa.Text, nullable=False),  # the correction in a form that stands alone
    sa.Column("question", sa.Text, nullable=False),  # the one whose answer it corrects
    sa.Column("link", sa.Text, nullable=False),  # that its author gave as evidence, or ""
    sa.Column("terms", sa.Text, nullable=False),  # as in ``found_words``
    # Addresses of what ``statement`` and ``question`` may have been made from.
    sa.Column("made_from", sa.JSON, nullable=False, server_default="[]"),
    sa.Column("kept_at", UtcDateTime, nullable=False),
    sa.Column("removed", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index(None, "place", "kept_at"),
)

# Readers' verdicts on an answer: one per reader, the last one counts.
feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("author_id", sa.Text, primary_key=True),
    sa.Column("verdict", sa.Text, nullable=False),
    # Why an answer was not helpful, and the reader's comment.
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("words", sa.Text, nullable=False, server_default=""),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Index(None, "author_id"),
    sa.Index(None, "at"),
)

# Links to shared conversations; readers who follow one still need the rights to its sources.
shares = sa.Table(
    "shares",
    metadata,
    sa.Column("token", sa.Text, primary_key=True),
    sa.Column(
        "thread_key",
        sa.ForeignKey(threads.c.key, ondelete="CASCADE"),
        nullable=False,
        unique=True,
    ),
    sa.Column("author_id", sa.Text, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Index(None, "author_id"),
)

# The distinct terms by which conversations are found, separated by spaces: see ``found_words``.
# A trigger deletes those of a run that changes.
found_words = sa.Table(
    "found_words",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("thread_key", sa.ForeignKey(threads.c.key, ondelete="CASCADE"), nullable=False),
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("part", sa.Text, nullable=False),  # question | whole (with its answer)
    sa.Column("terms", sa.Text, nullable=False),
    sa.UniqueConstraint("run_id", "part"),
    sa.Index(None, "thread_key"),
)

# Channel rules that an admin set by command; they override the settings.
channel_rules = sa.Table(
    "channel_rules",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("workspace", sa.Text, primary_key=True),
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("rules", sa.JSON, nullable=False),
    sa.Column("author_id", sa.Text, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)

# Facts about a workspace that an adapter has learned.
facts = sa.Table(
    "facts",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("workspace", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.JSON, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)

pages = sa.Table(
    "pages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("fetched_at", UtcDateTime, nullable=False),
    # The provider of the text, or "" if it was fetched from the site itself.
    sa.Column("via", sa.Text, nullable=False, server_default=""),
    sa.UniqueConstraint("url", "hash"),
    sa.Index(None, "fetched_at"),
    # On PostgreSQL, the migration adds the same condition: see the index of ``threads``.
    sa.Index("ix_pages_documents", "id", sqlite_where=sa.text("substr(url, 1, 5) = 'file:'")),
)

steps = sa.Table(
    "steps",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    # SHA-256 of kind and inputs.
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("result", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("run_id", "key"),
    sa.Index(None, "at"),
)

# The citation number of a page in a run, which never changes.
run_pages = sa.Table(
    "run_pages",
    metadata,
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    # The number shown in the answer, once there is one: ``research.answer.numbering``.
    sa.Column("shown", sa.Integer),
    sa.Column("page_id", sa.ForeignKey(pages.c.id), nullable=False),
    sa.UniqueConstraint("run_id", "page_id"),
    sa.Index(None, "page_id"),
)

citations = sa.Table(
    "citations",
    metadata,
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("page_id", sa.ForeignKey(pages.c.id), nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("quote", sa.Text, nullable=False),
    sa.Index(None, "page_id"),
)

# Daily spending (UTC), stored three times: for the person, the channel and the workspace. The order
# of the key serves "this person today" and "this workspace since".
spending = sa.Table(
    "spending",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),  # workspace | channel | user
    sa.Column("name", sa.Text, primary_key=True),  # the platform's id
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("workspace", sa.Text, primary_key=True),
    sa.Column("micro_usd", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("questions", sa.Integer, nullable=False, server_default="0"),
    sa.Column("model_calls", sa.Integer, nullable=False, server_default="0"),
    # Calls whose model has no known price: their cost is not in the sum.
    sa.Column("unpriced_calls", sa.Integer, nullable=False, server_default="0"),
    sa.Column("input_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("output_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("cached_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("uploaded_bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index(None, "day"),
)

# Budget reserved for model calls in progress: see ``storage.reservations``.
reservations = sa.Table(
    "reservations",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("micro_usd", sa.BigInteger, nullable=False),
    # True for the run's future answer, false for a call in progress.
    sa.Column("is_answer", sa.Boolean, nullable=False),
    sa.Index(None, "run_id"),
)

# Requests to forget, stored until everything is deleted, so that a crash does not lose them.
# Messages with a higher id than ``until`` came later.
forgettings = sa.Table(
    "forgettings",
    metadata,
    sa.Column("kind", sa.Text, primary_key=True),  # thread | person | workspace
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),  # a thread's key, or the platform's id
    sa.Column("until", sa.Integer, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)
