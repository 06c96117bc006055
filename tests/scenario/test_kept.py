"""Questions about small files of all kinds, without a model: what is quoted and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.terminal.listener import Terminal
from adapters.terminal.messages import terminal_thread
from adapters.terminal.poster import TerminalPoster
from bot.core.messages import TERMINAL, Answer, RunOptions
from bot.operation.app import open_app
from bot.operation.configuration import load_settings
from bot.search import indexer
from bot.search.indexer import Indexer
from tests.fakes import sqlite
from tests.scenario.kept_files import CASES, Ask, Case
from tests.unit.search.readers import Inside


def faults(ask: Ask, answer: Answer) -> list[str]:
    """What is wrong about an answer."""
    shown = answer.text.replace("\\", "").replace("**", "")
    found = [f"lacks {ask.right!r}"] if ask.right not in "\n".join([shown, *answer.notes]) else []
    found += [f"states {wrong!r}" for wrong in ask.wrong if wrong in f"\n{shown}"]
    if ask.later and ask.later in shown.partition(ask.right)[0]:
        found.append(f"states {ask.later!r} first")
    return [*found, answer.text] if found else []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{case.name}")
async def test_answers_quote_what_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.setattr(indexer, "Readers", Inside)
    docs = tmp_path / "docs"
    for name, content in case.files.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    given = docs / case.attached if case.attached else docs
    store = {"data_dir": tmp_path, "database_url": sqlite.migrated(tmp_path)}
    settings = load_settings(docs=(str(given),), **store)
    Indexer(settings.index_path).index([given])
    wrong = {}
    poster = TerminalPoster(as_json=True)
    async with open_app(settings, {TERMINAL: poster}) as app:
        for ask in case.asks:
            thread = terminal_thread(None)
            answer = await Terminal(app, poster).ask(ask.question, thread, RunOptions())
            if found := faults(ask, answer):
                wrong[ask.question] = found
    assert not wrong
