"""Kept answers are those to the same documents, with the same settings and program."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from bot.core.errors import StorageUnavailable
from bot.core.settings import Settings
from bot.evaluation.evaluation import DAYS, identity, make_room
from bot.operation.configuration import load_settings
from bot.search.indexer import Indexer


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "other"), ("max_usd", 3), ("language", "de"), ("brave_search_api_key", "secret")],
)
def test_what_answers_depend_on_changes_it(settings: Settings, name: str, value: object) -> None:
    other = load_settings(data_dir=settings.data_dir, **{name: value})
    assert identity(other) != identity(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_level", "debug"),
        ("slack_bot_token", "xoxb-1"),
        ("user_daily_usd", 1.0),
        ("earlier_answers", False),
    ],
)
def test_what_they_do_not_depend_on_does_not(settings: Settings, name: str, value: object) -> None:
    other = load_settings(data_dir=settings.data_dir, **{name: value})
    assert identity(other) == identity(settings)


def test_another_key_of_the_same_kind_does_not(settings: Settings) -> None:
    one, other = (
        identity(load_settings(data_dir=settings.data_dir, anthropic_api_key=key))
        for key in ("sk-1", "sk-2")
    )
    assert one == other != identity(settings)


def test_a_changed_document_changes_it(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    settings = load_settings(data_dir=tmp_path, docs=(str(folder),))

    def after(text: str) -> str:
        (folder / "a.md").write_text(text, encoding="utf-8")
        Indexer(settings.index_path).index([folder])
        return identity(settings)

    first = after("# Tower\n\nIt is 330 m tall.\n")
    assert after("# Tower\n\nIt is 324 m tall.\n") != first
    assert after("# Tower\n\nIt is 330 m tall.\n") == first


# ---------------------------------------------------------------- the folders


def test_what_was_not_used_for_long_is_removed(tmp_path: Path) -> None:
    used, old, recent = (tmp_path / name for name in ("used", "old", "recent"))
    for folder in (used, old, recent):
        folder.mkdir()
        (folder / "footnote.sqlite").touch()
    long_ago = time.time() - (DAYS + 1) * 86_400
    for path in (used, old):
        os.utime(path, (long_ago, long_ago))

    make_room(tmp_path, used, fresh=False)

    assert (used / "footnote.sqlite").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"used", "recent"}
    assert used.stat().st_mtime > long_ago + 86_400


def test_fresh_empties_what_is_used(tmp_path: Path) -> None:
    used, other = tmp_path / "used", tmp_path / "other"
    for folder in (used, other):
        folder.mkdir()
        (folder / "footnote.sqlite").touch()

    make_room(tmp_path, used, fresh=True)

    assert list(used.iterdir()) == []
    assert (other / "footnote.sqlite").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StorageUnavailable, match="FOOTNOTE_DATA_DIR"):
        make_room(file, file / "a", fresh=False)
