"""Every call to Slack is counted, whichever part of the adapter makes it."""

from __future__ import annotations

from pathlib import Path

from adapters.slack.platform import open_slack
from bot.core.measurements import Observed
from bot.storage.store import open_store
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite
from tests.fakes.slack import FakeSlack
from tests.unit.adapters.slack.serving import slack_settings


async def test_every_call_is_counted_with_its_method(slack: FakeSlack, tmp_path: Path) -> None:
    observed = Observed()
    store = await open_store(sqlite.migrated(tmp_path))
    settings = slack_settings(slack, tmp_path)
    async with open_slack(settings, Workspaces(store.database), observed) as platform:
        await platform.reach()
    await store.close()
    calls = observed.calls
    assert calls.counts["slack", "auth.test", "200"] >= 1
    assert {platform for platform, _, _ in calls.counts} == {"slack"}
