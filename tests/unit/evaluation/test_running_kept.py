"""The folders of kept answers."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from bot.errors import StorageUnavailable
from bot.evaluation.running import DAYS, make_room


def test_what_was_not_used_for_long_is_removed(tmp_path: Path) -> None:
    used, old, recent = (tmp_path / name for name in ("used", "old", "recent"))
    for folder in (used, old, recent):
        folder.mkdir()
        (folder / "footnote.sqlite").touch()
    (tmp_path / "verdicts.jsonl").touch()
    long_ago = time.time() - (DAYS + 1) * 86_400
    for path in (used, old, tmp_path / "verdicts.jsonl"):
        os.utime(path, (long_ago, long_ago))

    make_room(tmp_path, [used], fresh=False)

    assert (used / "footnote.sqlite").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"used", "recent", "verdicts.jsonl"}
    assert used.stat().st_mtime > long_ago + 86_400


def test_fresh_empties_what_is_used(tmp_path: Path) -> None:
    used, other = tmp_path / "used", tmp_path / "other"
    for folder in (used, other):
        folder.mkdir()
        (folder / "footnote.sqlite").touch()

    make_room(tmp_path, [used], fresh=True)

    assert list(used.iterdir()) == []
    assert (other / "footnote.sqlite").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StorageUnavailable, match="FOOTNOTE_DATA_DIR"):
        make_room(file, [file / "a"], fresh=False)
