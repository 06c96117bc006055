"""Checks of standing questions: killed around every commit they tell a change exactly once, and a
model tells whether other words are a change."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.claude import FakeClaude, Reply, says
from tests.fakes.claude_brain import researcher
from tests.fakes.server import serve
from tests.scenario.crashing import crashing
from tests.scenario.program import Program

COST = "# Tower\n\nTower tickets cost {euros} euros for adults.\n"


@pytest.mark.slow
def test_killed_around_any_commit_a_check_tells_a_change_once(
    footnote: Program, tmp_path: Path
) -> None:
    page = tmp_path / "documents" / "tower.md"
    page.parent.mkdir()
    page.write_text(COST.format(euros=29))
    question = "How much do tower tickets cost?"
    footnote.settings["FOOTNOTE_DOCS"] = str(page.parent)
    begun = footnote.run("watch", question, "--json")
    assert begun.code == 0, begun.err
    page.write_text(COST.format(euros=31))
    footnote.run("index", str(page.parent))
    prepared = tmp_path / "data"
    make_due(prepared)
    environment = footnote.environment({})
    with crashing(environment) as process:
        check = partial(process.do, looks=True)
        whole = check(shutil.copytree(prepared, tmp_path / "whole"))
        assert json.loads(whole["out"])["changes"], whole
        assert whole["commits"] >= 5
        # Dying after a commit is dying before the next one, with nothing done in between.
        for commit in range(1, whole["commits"] + 1):
            moment = f"before commit {commit} of {whole['commits']}"
            folder = shutil.copytree(prepared, tmp_path / str(commit))
            died = check(folder, commit)
            assert died["died"], moment
            again = check(folder)
            assert '"before": "Tower' in died["out"] + again["out"], moment
            with sqlite3.connect(folder / "footnote.sqlite") as db:
                told = db.execute(
                    "SELECT watches.outcome, runs.state, "
                    "(SELECT count(*) FROM runs), (SELECT count(*) FROM threads), "
                    "(SELECT sum(questions) FROM spending WHERE scope = 'user') "
                    "FROM watches JOIN runs ON runs.id = watches.run_id"
                ).fetchall()
            db.close()
            assert told == [("changed", "answered", 2, 1, 2)], moment
        assert check(folder)["out"] == ""


def make_due(folder: Path) -> None:
    with sqlite3.connect(folder / "footnote.sqlite") as db:
        db.execute("UPDATE watches SET due_at = '2026-01-01 00:00:00.000000'")
    db.close()


def test_a_model_tells_whether_other_words_on_a_page_are_a_change(
    footnote: Program, tmp_path: Path
) -> None:
    page = tmp_path / "documents" / "tower.md"
    page.parent.mkdir()
    page.write_text("# Tower\n\nDogs may be taken into the tower.\n")
    replies = iter(["It depends.", '{"pairs": [{"pair": 1, "same": false}]}'])
    asked: list[Mapping[str, Any]] = []

    def brain(request: Mapping[str, Any]) -> Reply:
        wanted = (request.get("output_config") or {}).get("format") or {}
        if "pairs" not in json.dumps(wanted):
            return researcher(request)
        asked.append(request)
        return says(next(replies))

    claude = FakeClaude(brain)
    with serve(claude) as url:
        footnote.settings |= {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
        footnote.settings["FOOTNOTE_DOCS"] = str(page.parent)
        begun = footnote.run("watch", "May dogs be taken into the tower?", "--json")
        assert begun.code == 0, begun.err
        page.write_text("# Tower\n\nDogs must be left outside of the tower.\n")
        checked = []
        for _ in range(2):
            make_due(tmp_path / "data")
            checked.append(footnote.run("watch", "run", "--json"))
    silent, told = checked
    assert silent.out == "", "nonsense is no verdict"
    (change,) = told.json["changes"]
    assert change["before"].startswith("Dogs may be taken")
    assert change["after"].startswith("Dogs must be left")
    assert [request["model"].startswith("claude-haiku") for request in asked] == [True, True]
    with sqlite3.connect(tmp_path / "data" / "footnote.sqlite") as db:
        (kept,) = db.execute("SELECT count(*) FROM steps WHERE kind = 'compare'").fetchone()
        (paid,) = db.execute(
            "SELECT sum(model_calls) FROM spending WHERE scope = 'user'"
        ).fetchone()
    db.close()
    assert kept == 1, "the first check left nothing"
    assert paid == len(claude.requests)
