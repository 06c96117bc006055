"""Settings kept in the console: who wins, how secrets are stored, and what is said when not."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.core.errors import InvalidSetting
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.operation.diagnosis import examine
from bot.operation.kept_settings import KEY, Kept, KeptSettings
from bot.storage.audit_log import Audit, AuditFilter
from bot.storage.database import Database, open_database
from bot.storage.encryption import new_key
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite

BOT, APP = "xoxb-1-2-secret", "xapp-1-2-secret"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    sqlite.migrated(tmp_path)
    return load_settings(data_dir=tmp_path)


@asynccontextmanager
async def the_database(settings: Settings) -> AsyncIterator[Database]:
    database = await open_database(settings.database)
    try:
        yield database
    finally:
        await database.close()


async def keep(settings: Settings, **values: Any) -> None:
    async with the_database(settings) as database:
        await KeptSettings(settings, database).keep(values)


async def read(settings: Settings) -> Kept:
    async with the_database(settings) as database:
        return await KeptSettings(settings, database).read()


def secret(settings: Settings, name: str) -> str | None:
    value = getattr(settings, name)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


async def test_what_is_kept_is_there_at_the_next_start(settings: Settings) -> None:
    await keep(settings, slack_bot_token=BOT, docs=["/usr", "/etc"])
    kept = await read(settings)
    assert secret(kept.settings, "slack_bot_token") == BOT
    assert kept.settings.docs == ("/usr", "/etc")
    assert kept.names == {"slack_bot_token", "docs"}
    assert not kept.problems


async def test_what_is_set_elsewhere_wins(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(settings, slack_bot_token=BOT, docs=["/usr"], language="de")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-of-the-environment")
    given = load_settings(data_dir=settings.data_dir, docs=("/of-the-command-line",))
    kept = await read(given)
    assert secret(kept.settings, "slack_bot_token") == "xoxb-of-the-environment"
    assert kept.settings.docs == ("/of-the-command-line", "/usr"), "folders are followed beside it"
    assert kept.names == {"language", "docs"}
    with pytest.raises(InvalidSetting, match="SLACK_BOT_TOKEN is already set"):
        await keep(given, slack_bot_token=BOT)


async def test_no_secret_is_readable_without_the_key_of_the_data_folder(settings: Settings) -> None:
    await keep(settings, slack_bot_token=BOT)
    folder = settings.data_dir
    assert not any(BOT.encode() in path.read_bytes() for path in folder.iterdir())
    assert stat.S_IMODE((folder / KEY).stat().st_mode) == 0o600
    assert [path.name for path in folder.glob(f"{KEY}*")] == [KEY]
    key = (folder / KEY).read_text()
    await keep(settings, slack_app_token=APP)
    assert (folder / KEY).read_text() == key


@pytest.mark.parametrize("now", ["", "no key", f"{'A' * 43}="])
async def test_a_key_that_is_gone_or_another_is_a_problem_and_no_crash(
    settings: Settings, now: str
) -> None:
    await keep(settings, slack_bot_token=BOT, docs=["/usr"])
    (settings.data_dir / KEY).unlink()
    if now:
        (settings.data_dir / KEY).write_text(now)
    kept = await read(settings)
    assert secret(kept.settings, "slack_bot_token") is None
    assert kept.settings.docs == ("/usr",)
    told = str(kept.problems["slack_bot_token"])
    assert f"{settings.data_dir / KEY} is missing, " in told


async def test_the_doctor_names_what_is_kept_and_what_cannot_be_read(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    await keep(settings, slack_bot_token=BOT, slack_app_token=APP, language="de")
    await examine(settings)
    shown = capsys.readouterr().out
    assert "✓ Set in the console: FOOTNOTE_LANGUAGE, SLACK_APP_TOKEN, SLACK_BOT_TOKEN" in shown
    (settings.data_dir / KEY).unlink()
    assert not await examine(settings)
    shown = capsys.readouterr().out
    assert shown.count(f"{settings.data_dir / KEY} is missing, unreadable or another key.") == 1
    assert BOT not in shown


async def test_with_keys_in_the_settings_none_is_made_and_a_new_one_takes_over(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = new_key(), new_key()
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEYS", old)
    await keep(load_settings(data_dir=settings.data_dir), slack_bot_token=BOT)
    assert not (settings.data_dir / KEY).exists()
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEYS", f"{new},{old}")
    await read(load_settings(data_dir=settings.data_dir))
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEYS", new)
    kept = await read(load_settings(data_dir=settings.data_dir))
    assert secret(kept.settings, "slack_bot_token") == BOT


async def test_a_database_elsewhere_needs_keys_for_secrets(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(data_dir=tmp_path, database_url=postgres_url)
    with pytest.raises(InvalidSetting, match="Set FOOTNOTE_ENCRYPTION_KEYS"):
        await keep(settings, slack_bot_token=BOT)
    await keep(settings, docs=["/usr"])  # no secret
    assert (await read(settings)).settings.docs == ("/usr",)
    assert not (tmp_path / KEY).exists()
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEYS", new_key())
    with_keys = load_settings(data_dir=tmp_path, database_url=postgres_url)
    await keep(with_keys, slack_bot_token=BOT)
    assert secret((await read(with_keys)).settings, "slack_bot_token") == BOT


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"docs_poll": -1}, "FOOTNOTE_DOCS_POLL is “-1”"),
        ({"language": "de", "slack_bot_tokn": BOT}, "no setting slack_bot_tokn"),
    ],
)
async def test_what_is_not_allowed_is_not_kept(
    settings: Settings, values: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidSetting, match=why):
        await keep(settings, **values)
    assert not (await read(settings)).names


async def test_a_kept_value_that_is_not_allowed_any_more_is_a_problem(settings: Settings) -> None:
    async with the_database(settings) as database:
        await Workspaces(database).remember("web", "settings", "docs_poll", {"value": -1})
        await Workspaces(database).remember("web", "settings", "of_old", {"value": 1})
    kept = await read(settings)
    assert "FOOTNOTE_DOCS_POLL" in str(kept.problems["docs_poll"])
    assert "of_old" in str(kept.problems["of_old"])


async def test_what_is_dropped_is_gone_and_the_log_has_names_but_no_secrets(
    settings: Settings,
) -> None:
    await keep(settings, slack_bot_token=BOT, language="de")
    async with the_database(settings) as database:
        kept = KeptSettings(settings, database)
        await kept.drop(["slack_bot_token", "slack_app_token"])
        assert (await kept.read()).names == {"language"}
        rows = [row async for row in Audit(database).entries(AuditFilter())]
    assert [(row.deed, row.kind, row.object) for row in rows] == [
        ("kept", "setting", "SLACK_BOT_TOKEN"),
        ("kept", "setting", "FOOTNOTE_LANGUAGE"),
        ("dropped", "setting", "SLACK_BOT_TOKEN"),
    ]
