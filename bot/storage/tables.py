"""The schema, and conversions between its rows and values.

A change of the schema is a new file in ``migrations/versions``; the tests compare the two.
Migrations only add, with defaults, so that older processes keep working: see ``storage.migrate``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import RunLost
from bot.core.lines import one_line
from bot.core.messages import (
    Answer,
    Citation,
    Message,
    Provenance,
    RunOptions,
    Thread,
    Wording,
)
from bot.core.reader import documents_in
from bot.pages.page import Page

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

THREAD = (threads.c.platform, threads.c.workspace, threads.c.channel, threads.c.thread)
PLACE = THREAD[:3]

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

# Runs, each with its message and its thread.
asked_runs = runs.join(messages, runs.c.message_id == messages.c.id).join(
    threads, runs.c.thread_key == threads.c.key
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

# Budget reserved for model calls in progress: see ``storage.spending``.
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


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text) for name in names]


def _of_app() -> list[sa.Column[Any]]:
    """The columns shared by both tables: the app, where it is installed, and its bot."""
    return [
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("app_id", sa.Text, nullable=False),
        *_texts("enterprise_id", "enterprise_name", "team_id", "team_name"),
        *_texts("bot_token", "bot_id", "bot_user_id", "bot_scopes", "bot_refresh_token"),
        sa.Column("bot_token_expires_at", sa.DateTime),
        sa.Column("is_enterprise_install", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("installed_at", sa.DateTime, nullable=False, server_default=sa.func.now()),
    ]


# One row for each person who installed the app, with everything that Slack reported then.
slack_installations = sa.Table(
    "slack_installations",
    metadata,
    *_of_app(),
    *_texts("enterprise_url", "user_token", "user_scopes", "user_refresh_token", "token_type"),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("user_token_expires_at", sa.DateTime),
    *_texts("incoming_webhook_url", "incoming_webhook_channel", "incoming_webhook_channel_id"),
    *_texts("incoming_webhook_configuration_url"),
    sa.Index(None, "client_id", "team_id", "user_id"),
)

# The bot of a workspace or of a whole organisation; the newest row is valid.
slack_bots = sa.Table("slack_bots", metadata, *_of_app(), sa.Index(None, "client_id", "team_id"))

# OAuth states of browsers sent to Slack, until they return or expire.
slack_oauth_states = sa.Table(
    "slack_oauth_states",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("state", sa.Text, nullable=False, unique=True),
    sa.Column("expire_at", sa.DateTime, nullable=False),
)


def insert(db: AsyncConnection, table: sa.Table) -> Any:
    """An insert that supports ON CONFLICT, in the connection's dialect."""
    return insert_for(db.dialect.name, table)


def insert_for(dialect: str, table: sa.Table) -> Any:
    """Like ``insert``, for a statement that is built before there is a connection."""
    # Each dialect takes some hundredths of a second to import, and few processes need both.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def pad_ids(ids: Collection[str]) -> list[str]:
    """Pad the ids to a power of two by repeating the last one, so that only a few different
    statements have to be compiled and prepared."""
    wanted = list(ids)
    return wanted + wanted[-1:] * ((1 << (len(wanted) - 1).bit_length()) - len(wanted))


async def update_fenced(db: AsyncConnection, run_id: str, attempt: int, **values: Any) -> None:
    """Change a run's row if ``attempt`` is still its current one; without values, only lock it.
    Raises ``RunLost`` otherwise."""
    new_values = {f"new_{name}": value for name, value in values.items()}
    statement = _fenced(tuple(values))
    result = await db.execute(statement, {"its_id": run_id, "its_attempt": attempt, **new_values})
    if result.rowcount != 1:
        raise RunLost(f"Run {run_id} has been taken over by a later attempt.")


@cache
def _fenced(names: Sequence[str]) -> sa.Update:
    """The statement of ``update_fenced`` for these columns."""
    attempt = sa.bindparam("its_attempt", type_=runs.c.attempt.type)
    new = {name: sa.bindparam(f"new_{name}", type_=runs.c[name].type) for name in names}
    return (
        sa.update(runs)
        .where(runs.c.id == sa.bindparam("its_id"), runs.c.attempt == attempt)
        .values(new or {"attempt": attempt})
    )


def thread_row(thread: Thread, now: datetime) -> dict[str, Any]:
    return {"key": thread.key, **asdict(thread), "created_at": now}


async def keep_thread(db: AsyncConnection, thread: Thread, now: datetime) -> None:
    """Store a thread, unless it is already stored."""
    await db.execute(_keeping_thread(db.dialect.name), thread_row(thread, now))


@cache
def _keeping_thread(dialect: str) -> Any:
    return insert_for(dialect, threads).on_conflict_do_nothing()


def message_row(message: Message) -> dict[str, Any]:
    """A message as the columns of its table."""
    return {
        "thread_key": message.thread.key,
        "event_key": f"{message.thread.platform}:{message.event_id}",
        "author_id": message.author.id,
        "author_name": message.author.name,
        "text": message.text,
        "links": list(message.links),
        "attachments": [asdict(attachment) for attachment in message.attachments],
        "locale": message.locale,
        "at": message.at,
        "made_from": list(message.made_from),
    }


def asked_of(row: Any) -> Wording:
    """The text of a row that has ``text`` and ``made_from`` of a message."""
    return Wording(row.text, Provenance.of(row.made_from))


def thread_of(row: Any) -> Thread:
    return Thread(row.platform, row.workspace, row.channel, row.thread)


def page_of(row: Any) -> Page:
    return Page(row.url, row.title, row.text, row.fetched_at, row.hash, row.via)


async def keep_fact(
    db: AsyncConnection, platform: str, workspace: str, name: str, value: Any
) -> None:
    """Store a fact about a workspace, replacing an earlier one of the same name."""
    key = {"platform": platform, "workspace": workspace, "name": name}
    row = {"value": value, "at": datetime.now(UTC)}
    await db.execute(
        insert(db, facts)
        .values(**key, **row)
        .on_conflict_do_update(index_elements=[*key], set_=row)
    )


async def fact(db: AsyncConnection, platform: str, workspace: str, name: str) -> Any:
    """The value of a fact about a workspace, or None."""
    of_workspace = facts.c.platform == platform, facts.c.workspace == workspace
    return await db.scalar(sa.select(facts.c.value).where(*of_workspace, facts.c.name == name))


async def show_numbers(db: AsyncConnection, run_id: str, shown: Mapping[int, int]) -> None:
    """Store the footnote numbers that readers see; pages without one are numbered after them."""
    numbers = (await db.scalars(_numbers(), {"its_id": run_id})).all()
    following = max((*shown.values(), *(() if shown else numbers)), default=0)
    rows = []
    for number in sorted(numbers):
        its = shown.get(number) if shown else number
        if its is None:
            its = following = following + 1
        rows.append({"its_number": number, "its_shown": its})
    if rows:
        await db.execute(_showing(), [{"its_id": run_id, **row} for row in rows])


@cache
def _numbers() -> sa.Select[Any]:
    return sa.select(run_pages.c.number).where(run_pages.c.run_id == sa.bindparam("its_id"))


@cache
def _showing() -> sa.Update:
    """Show the page ``its_number`` of the run ``its_id`` as ``its_shown``."""
    return (
        sa.update(run_pages)
        .where(
            run_pages.c.run_id == sa.bindparam("its_id"),
            run_pages.c.number == sa.bindparam("its_number"),
        )
        .values(shown=sa.bindparam("its_shown"))
    )


async def citation_rows(
    db: AsyncConnection, run_id: str, cited: Sequence[Citation]
) -> list[dict[str, Any]]:
    """The rows of an answer's citations, in their order."""
    numbered, quoted = _cited_pages()
    rows = (await db.execute(numbered, {"its_id": run_id})).all()
    page_ids = {row.shown: row.page_id for row in rows}
    # The quoted copy of the page, which may differ from the copy that got the number.
    wanted = {"wanted": list({(c.url, c.page_hash) for c in cited})}
    copies = {(row.url, row.hash): row.id for row in (await db.execute(quoted, wanted)).all()}
    return [
        {
            "run_id": run_id,
            "position": position,
            "number": citation.number,
            "page_id": copies.get((citation.url, citation.page_hash)) or page_ids[citation.number],
            "start": citation.start,
            "end": citation.end,
            "quote": citation.quote,
        }
        for position, citation in enumerate(cited)
    ]


@cache
def _cited_pages() -> Sequence[sa.Select[Any]]:
    """The numbered pages of the run ``its_id``; the pages with the URLs and hashes ``wanted``."""
    numbered = sa.select(run_pages.c.shown, run_pages.c.page_id)
    copy = sa.tuple_(pages.c.url, pages.c.hash).in_(sa.bindparam("wanted", expanding=True))
    return (
        numbered.where(run_pages.c.run_id == sa.bindparam("its_id")),
        sa.select(pages.c.id, pages.c.url, pages.c.hash).where(copy),
    )


# A scheduled check of a standing question has states of its own, in the table only: a worker of an
# older release does not know them and leaves the run alone, instead of posting its answer.
CHECK_STATES = {"due": "accepted", "looking": "running"}
WAITING, WORKING = ("accepted", "due"), ("running", "looking")
UNFINISHED = (*WAITING, *WORKING)
STATE = sa.case(CHECK_STATES, value=runs.c.state, else_=runs.c.state).label("state")  # as displayed

as_answer = TypeAdapter(Answer)
as_options = TypeAdapter(RunOptions)


def understood(asked: Wording, answer: Answer | None) -> Wording:
    """Return a question as its answer words it; a model may have put in what it had read."""
    if answer is None or not answer.question or one_line(answer.question) == one_line(asked.text):
        return asked
    return Wording(answer.question, documents_in(answer.rests_on), asked)


def answer_of(kept: Any) -> Answer | None:
    """Parse an answer from its column."""
    return None if kept is None else as_answer.validate_python(kept)


OURS = "footnote"  # not the name of any platform


audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("deed", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("object", sa.Text, nullable=False),
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Index(None, "at"),
    sa.Index(None, "deed", "at"),
    sa.Index(None, "platform", "person"),
)

# The key of the pseudonyms: one row, created by the migration, so that backups include it.
audit_key = sa.Table(
    "audit_key",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.Text, nullable=False),
)


sign_ins = sa.Table(
    "sign_ins",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("groups", sa.JSON, nullable=False),
    sa.Column("id_token", sa.Text, nullable=False),  # tells the provider whom to sign out
    sa.Column("ends_at", UtcDateTime, nullable=False, index=True),
)
