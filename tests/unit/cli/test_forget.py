"""Forgetting again by an audit log: what is none, and single messages that are deleted again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest

from bot.cli.audit import moment
from bot.cli.forget import Replayed, replay_forgettings
from bot.core.errors import Invalid
from bot.operation.configuration import load_settings
from bot.storage.archive import Archive
from bot.storage.removal import Removed
from bot.storage.store import open_store
from tests.fakes import sqlite
from tests.unit.storage.past import Past


def log_of(*rows: dict[str, str]) -> StringIO:
    return StringIO("".join(json.dumps(row) + "\n" for row in rows))


async def test_a_deleted_message_is_deleted_again_once(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path)
    store = await open_store(sqlite.migrated(tmp_path))
    try:
        past = Past(store)
        run = await past.answered(asked="Who?")
        at = datetime.now(UTC).isoformat()
        row = {"deed": "forgot", "kind": "message", "object": "slack:e1", "at": at}
        rows = row, {**row, "object": "slack:e7"}, {"deed": "read"}
        for done in (1, 0):
            came = await replay_forgettings(settings, log_of(*rows))
            assert came == Replayed(2, done, 0, Removed(messages=done))
        (said,) = (await Archive(store.database).conversation(past.thread)).said
        left = await store.run(run)
        assert left is not None
        assert (said.text, left.removed, left.state, left.answer) == ("", True, "accepted", None)
    finally:
        await store.close()


@pytest.mark.parametrize("line", ["no JSON", "[]", '{"deed": "forgot"}', '{"id": 1}'])
async def test_what_is_no_log_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    settings = load_settings(data_dir=tmp_path)
    with pytest.raises(Invalid, match="Line 2 is none"):
        await replay_forgettings(settings, StringIO(f"\n{line}\n"))


def test_moments_are_of_utc_unless_they_name_a_zone() -> None:
    assert moment("2026-11-21", "--since").isoformat() == "2026-11-21T00:00:00+00:00"
    assert moment("2026-11-21T14:30+01:00", "--since").isoformat() == "2026-11-21T14:30:00+01:00"
    with pytest.raises(Invalid, match="--since yesterday is no date"):
        moment("yesterday", "--since")
