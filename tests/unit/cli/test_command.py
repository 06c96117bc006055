"""What all commands share: the settings with those kept in the console."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.command import settings_with_kept


def test_looking_for_kept_settings_makes_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    assert settings_with_kept().data_dir == tmp_path
    assert list(tmp_path.iterdir()) == []
