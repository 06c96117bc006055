"""A run as stored: its value, the queries for it, its owner, and whether it may be claimed."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot.core.lines import one_line
from bot.core.messages import Answer, Attachment, Author, Message, Provenance, RunOptions, Wording
from bot.core.reader import documents_in
from bot.storage.rows import thread_of
from bot.storage.tables import messages, runs, threads


def new_owner() -> str:
    """A name for this process: ``place/pid/token``. The token detects a reused pid."""
    return f"{_place()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str) -> bool:
    """True only if the owner's process has certainly ended.

    A process in another place cannot be checked; there the lease decides.
    """
    place, pid, _ = owner.rsplit("/", 2)
    if place != _place():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it exists, under another user
        pass
    return _is_zombie(int(pid))


def _is_zombie(pid: int) -> bool:
    """True if the process has ended but its parent has not waited for it, on systems with /proc.
    proc(5): the state is the third field of /proc/PID/stat, after a name with any characters."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["Z"], ["X"])


@cache
def _place() -> str:
    """An id for the scope in which pids are unique. The host name alone does not suffice, because
    containers and machines may share it.

    On Linux: this boot of the kernel (random(4), /proc/sys/kernel/random/boot_id) and the pid
    namespace (pid_namespaces(7)); elsewhere: the machine's network address.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}+{boot}+{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        from uuid import getnode

        return f"{socket.gethostname()}+{getnode():x}"


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


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as stored. ``answer`` is set once it has been written, even before it is posted."""

    id: str
    message: Message
    options: RunOptions
    state: str
    accepted_at: datetime
    attempt: int
    stop_requested: bool
    removed: bool
    post_state: dict[str, Any] | None
    answer: Answer | None

    @property
    def asked(self) -> Wording:
        """The question as its message has it."""
        return Wording(self.message.text, self.message.made_from)

    @property
    def question(self) -> Wording:
        """The question as it was understood, else as it was asked."""
        return understood(self.asked, self.answer)


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a run in progress that other processes may change."""

    attempt: int
    stop_requested: bool


_OF_RECORD = (
    *runs.c,
    threads.c.platform,
    threads.c.workspace,
    threads.c.channel,
    threads.c.thread,
    messages.c.event_key,
    messages.c.author_id,
    messages.c.author_name,
    messages.c.text,
    messages.c.links,
    messages.c.attachments,
    messages.c.locale,
    messages.c.at,
    messages.c.made_from,
)


# Statements that every question needs are built once: building takes as long as sending. Their
# states are parameters: with literals PostgreSQL would read all runs in a state, even in a backlog.


@cache
def run_query() -> sa.Select[Any]:
    """Runs with all columns that ``record_of`` needs."""
    return (
        sa.select(*_OF_RECORD)
        .select_from(runs)
        .join(messages, runs.c.message_id == messages.c.id)
        .join(threads, runs.c.thread_key == threads.c.key)
    )


@cache
def one_run() -> sa.Select[Any]:
    """``run_query`` of the run ``its_id``."""
    return run_query().where(runs.c.id == sa.bindparam("its_id"))


@cache
def earlier_in_thread() -> sa.Select[Any]:
    """The id of the oldest unfinished run before the unfinished run ``its_id`` in its thread."""
    this = runs.alias("this")
    return (
        sa.select(runs.c.id)
        .join(this, this.c.thread_key == runs.c.thread_key)
        .where(
            this.c.id == sa.bindparam("its_id"),
            this.c.state.in_(UNFINISHED),
            runs.c.message_id < this.c.message_id,
            runs.c.state.in_(UNFINISHED),
        )
        .order_by(runs.c.message_id)
        .limit(1)
    )


@cache
def claiming() -> sa.Update:
    """Begin a new attempt at the run ``its_id`` for ``by`` until ``until``, and return its record,
    if it is unfinished, next in its thread and, by its row, free at the time ``at``.

    For PostgreSQL, where it takes one round trip; SQLite cannot return columns of other tables.
    """
    earlier = runs.alias("earlier")
    is_first = ~sa.exists().where(
        earlier.c.thread_key == runs.c.thread_key,
        earlier.c.message_id < runs.c.message_id,
        earlier.c.state.in_(UNFINISHED),
    )
    owner = sa.bindparam("by", type_=runs.c.owner.type)
    return (
        sa.update(runs)
        .where(
            runs.c.id == sa.bindparam("its_id"),
            messages.c.id == runs.c.message_id,
            threads.c.key == runs.c.thread_key,
            runs.c.state.in_(UNFINISHED),
            sa.or_(
                runs.c.owner.is_(None),
                runs.c.owner == owner,
                runs.c.lease_until <= sa.bindparam("at"),
            ),
            sa.or_(runs.c.stop_requested, is_first),
        )
        .values(
            state=sa.case(
                (
                    runs.c.state.in_([sa.literal_column(f"'{state}'") for state in CHECK_STATES]),
                    "looking",
                ),
                else_="running",
            ),
            attempt=runs.c.attempt + 1,
            owner=owner,
            lease_until=sa.bindparam("until", type_=runs.c.lease_until.type),
        )
        .returning(*_OF_RECORD)
    )


def record_of(row: Any) -> RunRecord:
    """Convert a row of ``run_query``."""
    message = Message(
        event_id=row.event_key.removeprefix(f"{row.platform}:"),
        thread=thread_of(row),
        author=Author(row.author_id, row.author_name),
        text=row.text,
        at=row.at,
        links=tuple(row.links),
        attachments=tuple(Attachment(**a) for a in row.attachments),
        locale=row.locale,
        made_from=Provenance.of(row.made_from),
    )
    return RunRecord(
        id=row.id,
        message=message,
        options=as_options.validate_python(row.options),
        state=CHECK_STATES.get(row.state, row.state),
        accepted_at=row.accepted_at,
        attempt=row.attempt,
        stop_requested=row.stop_requested,
        removed=row.removed,
        post_state=row.post_state,
        answer=answer_of(row.answer),
    )


def is_free(row: Any, now: datetime) -> bool:
    """Return True if a run has no owner, an expired lease, or an owner that has ended."""
    return row.owner is None or row.lease_until <= now or is_dead(row.owner)
