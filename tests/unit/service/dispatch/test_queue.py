"""The queue's calls: what is told while they are under way is not lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bot.service.dispatch.attempts import Pace
from bot.service.dispatch.procrastinate_dispatcher import Connector, Queue
from bot.storage.listener import Listener
from bot.storage.outages import Outages

NOTHING = {"id": None}


class Silent(Connector):
    """A queue's database whose ``answers`` come one after the other; a notification is sent while
    each of the first ``disturbed`` is awaited."""

    def __init__(self, answers: list[dict[str, Any]], disturbed: int) -> None:
        super().__init__("postgresql+psycopg://nobody@/nowhere", Outages(), Listener(None))
        self._answers = answers
        self._disturbed = disturbed
        self._notify: Any = None
        self.asked = 0

    async def listen_notify(self, on_notification: Any, channels: Any) -> None:
        self._notify = on_notification
        await asyncio.Event().wait()

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked <= self._disturbed:
            told = {"type": "job_inserted", "job_id": 1}
            await self._notify(channel="any", payload=json.dumps(told))
        return self._answers.pop(0)


def a_job(id: int) -> dict[str, Any]:
    return {
        "id": id,
        "status": "doing",
        "task_name": "research",
        "priority": 0,
        "lock": "thread",
        "queueing_lock": "run",
        "args": {},
        "scheduled_at": None,
        "queue_name": "slack",
        "attempts": 0,
        "worker_id": 1,
    }


@pytest.mark.parametrize(
    ("answers", "disturbed", "asked", "found"),
    [
        ([NOTHING], 0, 1, None),
        ([a_job(7)], 1, 1, 7),
        ([NOTHING, a_job(7)], 1, 2, 7),
        ([NOTHING, NOTHING, a_job(7)], 2, 3, 7),
        ([NOTHING, NOTHING], 1, 2, None),
    ],
)
async def test_a_job_that_is_told_of_while_one_is_fetched_is_fetched_at_once(
    answers: list[dict[str, Any]], disturbed: int, asked: int, found: int | None
) -> None:
    connector = Silent(answers, disturbed)
    queue = Queue(connector, asyncio.Event().wait, Pace().ready)  # type: ignore[arg-type]
    heard: list[str] = []

    async def hear(*, channel: str, notification: Any) -> None:
        heard.append(notification["type"])

    listening = asyncio.create_task(queue.listen_for_jobs(on_notification=hear))
    await asyncio.sleep(0)
    job = await queue.fetch_job(["slack"], 1)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)

    assert (None if job is None else job.id) == found
    assert connector.asked == asked
    assert heard == ["job_inserted"] * disturbed
