"""Data about workspaces and channels: learned facts, channel rules, feedback, usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

import sqlalchemy as sa

from bot.storage.audit_log import Actor, note
from bot.storage.database import Transactions
from bot.storage.spending import workspace_spent
from bot.storage.tables import (
    channel_rules,
    fact,
    facts,
    feedback,
    insert,
    keep_fact,
    runs,
    threads,
)

Verdict = Literal["good", "bad"]
Reason = Literal["", "wrong", "incomplete", "bad_source", "outdated"]
REASONS: tuple[Reason, ...] = ("wrong", "incomplete", "bad_source", "outdated")
LONGEST_WORDS = 1_000  # characters of a reader's comment


@dataclass(frozen=True, slots=True)
class Opinion:
    """A reader's opinion of an answer; for one that was not helpful, optionally a reason and the
    reader's comment."""

    verdict: Verdict
    reason: Reason = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """The usage of a workspace over some time; ``usd`` is the cost of model calls, including those
    for questions that were stopped, edited or deleted."""

    questions: int
    answered: int
    usd: float


class Workspaces(Transactions):
    """Every method is one transaction. Failures are raised as ``StorageUnavailable``."""

    async def facts(self, platform: str, workspace: str) -> dict[str, Any]:
        """The facts that an adapter has learned about a workspace, by name; values are JSON."""
        query = sa.select(facts.c.name, facts.c.value).where(
            facts.c.platform == platform, facts.c.workspace == workspace
        )
        async with self.database.read() as db:
            return {row.name: row.value for row in (await db.execute(query)).all()}

    async def remember(self, platform: str, workspace: str, name: str, value: Any) -> None:
        """Store a fact, replacing an earlier one of the same name."""
        async with self.database.write() as db:
            await keep_fact(db, platform, workspace, name, value)

    async def drop(self, platform: str, workspace: str, names: Sequence[str]) -> None:
        """Delete the facts of these names."""
        if not names:
            return
        of_workspace = facts.c.platform == platform, facts.c.workspace == workspace
        async with self.database.write() as db:
            await db.execute(sa.delete(facts).where(*of_workspace, facts.c.name.in_(names)))

    async def agreed(self, platform: str, workspace: str, name: str, value: Any) -> Any:
        """Return the fact on which all processes agree: the stored one or, if there is none yet,
        ``value``, which is then stored."""
        row = {"platform": platform, "workspace": workspace, "name": name}
        async with self.database.write() as db:
            await db.execute(
                insert(db, facts)
                .values(**row, value=value, at=datetime.now(UTC))
                .on_conflict_do_nothing()
            )
            return await fact(db, **row)

    async def rules(self, platform: str, workspace: str, channel: str) -> dict[str, Any] | None:
        """The channel rules that an admin set by command, as JSON, or None."""
        place = {"its_platform": platform, "its_workspace": workspace, "its_channel": channel}
        return await self._scalar(_rules(), place)

    async def set_rules(
        self,
        platform: str,
        workspace: str,
        channel: str,
        rules: dict[str, Any] | None,
        author_id: str,
    ) -> None:
        """Set a channel's rules; None restores those of the settings."""
        place = {"platform": platform, "workspace": workspace, "channel": channel}
        async with self.database.write() as db:
            await db.execute(
                sa.delete(channel_rules).where(
                    *(channel_rules.c[name] == value for name, value in place.items())
                )
            )
            if rules is not None:
                await db.execute(
                    sa.insert(channel_rules).values(
                        **place, rules=rules, author_id=author_id, at=datetime.now(UTC)
                    )
                )
            by, where = Actor(platform, workspace, author_id), ":".join(place.values())
            await note(db, "ruled", "channel", where, place=where, by=by)

    async def keep_feedback(self, run_id: str, author_id: str, opinion: Opinion) -> bool:
        """Store someone's opinion of a run's answer; returns False if the run does not exist."""
        row = {
            "verdict": opinion.verdict,
            "reason": opinion.reason,
            "words": opinion.words[:LONGEST_WORDS],
            "at": datetime.now(UTC),
        }
        async with self.database.urgent_write() as db:
            if await db.scalar(sa.select(runs.c.id).where(runs.c.id == run_id)) is None:
                return False
            await db.execute(
                insert(db, feedback)
                .values(run_id=run_id, author_id=author_id, **row)
                .on_conflict_do_update(index_elements=["run_id", "author_id"], set_=row)
            )
        return True

    async def use(self, platform: str, workspace: str, since: datetime) -> Use:
        """The usage of a workspace since a moment; deleted questions do not count.

        Spending is counted by UTC days, so ``since`` should be the beginning of one.
        """
        query = (
            sa.select(
                sa.func.count().label("questions"),
                sa.func.sum(sa.case((runs.c.state.in_(("answered", "partial")), 1), else_=0)).label(
                    "answered"
                ),
            )
            .select_from(runs)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(
                threads.c.platform == platform,
                threads.c.workspace == workspace,
                runs.c.accepted_at >= since,
                sa.not_(runs.c.removed),
            )
        )
        async with self.database.read() as db:
            row = (await db.execute(query)).one()
            day = since.astimezone(UTC).date()
            spent = await workspace_spent(db, platform, workspace, day)
        return Use(int(row.questions), int(row.answered or 0), spent.usd)


@cache
def _rules() -> sa.Select[Any]:
    """The cached statement for a channel's rules, which every question needs."""
    return sa.select(channel_rules.c.rules).where(
        *(
            channel_rules.c[name] == sa.bindparam(f"its_{name}")
            for name in ("platform", "workspace", "channel")
        )
    )
