"""Files that Footnote writes are readable by their owner only, unless the owner allows more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.operation import diagnosis
from bot.operation.configuration import load_settings
from tests.bench.frame import clean

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")

COMMANDS = {
    "index": ("index", "docs"),
    "ask": ("ask", "--docs", "docs", "What is in the harbour?"),
    "keys": ("keys", "new"),
    "db": ("db", "upgrade"),
}


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mode & 0o777
        for path in (folder, *folder.rglob("*"))
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_else_may_read_what_a_command_writes(name: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Harbour\n\nBoats are in the harbour.")
    data = tmp_path / "deep" / "data"
    loosely = ("/bin/sh", "-c", 'umask 022; exec "$@"', "sh")
    subprocess.run(
        [*loosely, sys.executable, "-m", "bot", *COMMANDS[name]],
        cwd=tmp_path,
        env=clean() | {"FOOTNOTE_DATA_DIR": str(data), "PYTHONPATH": str(Path.cwd())},
        check=True,
        capture_output=True,
    )
    if name == "keys":
        assert not data.exists()
        return
    written = modes(data)
    assert len(written) > 1
    assert not {path: oct(mode) for path, mode in written.items() if mode & 0o077}


async def test_doctor_names_files_that_others_may_read(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path / "data", _env_file=None)
    before = os.umask(0o022)
    try:
        told = await diagnosis._storage(settings)
    finally:
        os.umask(before)
    assert "can read footnote.sqlite in" in str(told)
    (tmp_path / "data").chmod(0o700)
    assert str(await diagnosis._storage(settings)).endswith(" works.")
