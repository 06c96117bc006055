"""Kept answers are those to the same documents, with the same settings and program."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.configuration import load_settings
from bot.evaluation.identity import identity
from bot.search.indexer import Indexer
from bot.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "other"), ("topk", 3), ("max_searches", 2), ("brave_search_api_key", "secret")],
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
