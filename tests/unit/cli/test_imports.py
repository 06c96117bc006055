"""The imports of a question at the terminal: each needless one makes the start slower, unseen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bot.operation.configuration import load_settings
from bot.search.indexer import Indexer
from tests.unit.search.test_indexer import write

NEEDLESS = ("anthropic", "httpx2", "rich", "playwright", "slack_sdk", "discord", "trafilatura")


def test_a_question_for_json_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs / "tower.md", "# The tower\n\nThe tower was finished in 1889 by its builders.")
    settings = load_settings(data_dir=tmp_path / "data", docs=(str(docs),))
    Indexer(settings.index_path).index(settings.docs)
    code = (
        "import atexit, sys\n"
        "from bot.cli.main import main\n"
        f"atexit.register(lambda: print(sorted(set({NEEDLESS!r}) & set(sys.modules)),"
        " file=sys.stderr))\n"
        f"sys.argv = ['footnote', 'ask', '--json', '--docs', {str(docs)!r},"
        " 'When was the tower finished?']\n"
        "main()\n"
    )
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FOOTNOTE_", "ANTHROPIC_"))
    }
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**ours, "FOOTNOTE_DATA_DIR": str(tmp_path / "data")},
    )
    assert json.loads(ran.stdout)["status"] == "answered"
    assert ran.stderr.splitlines()[-1] == "[]"
