"""Making vectors in a terminal: one line that says what came of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.index import line_of, make_vectors
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.operation.diagnosis import examine
from bot.search.indexer import Indexer
from bot.search.vector_filling import Filled
from tests.fakes.embeddings import MODEL, FakeEmbeddings
from tests.fakes.server import serve


@pytest.mark.parametrize(
    ("filled", "line"),
    [
        (Filled(1_300, 1_300, 20, 1.26), "1,300 of 1,300 passages have vectors: 20 made in 1.3 s."),
        (
            Filled(1_300, 700, 700, 10.0),
            "700 of 1,300 passages have vectors; `footnote index` makes the others.",
        ),
        (
            Filled(1_300, 700, 700, 10.0, "It is down."),
            "700 of 1,300 passages have vectors; the others are found by words alone. It is down.",
        ),
        (
            Filled(1_300, 0, 0, 1.0, "It is down."),
            "Documents are searched by words alone. It is down.",
        ),
    ],
)
def test_what_came_of_it_is_one_line(filled: Filled, line: str) -> None:
    assert line_of(filled) == line


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Costs\n\nThe car costs 20,000 euros.", encoding="utf-8")
    fake = FakeEmbeddings()
    with serve(fake.app) as url:
        yield load_settings(
            data_dir=tmp_path / "data",
            docs=(str(docs),),
            embeddings_url=url,
            embeddings_model=MODEL,
        )
    assert fake.complaints == []


def test_vectors_are_made_and_told_once(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    Indexer(settings.index_path).index(settings.docs)

    assert make_vectors(settings).made == 1
    assert "1 of 1 passages have vectors: 1 made" in capsys.readouterr().err
    assert make_vectors(settings).made == 0
    assert capsys.readouterr().err == ""


def test_an_endpoint_that_is_down_is_told_and_ends_nothing(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    Indexer(settings.index_path).index(settings.docs)

    filled = make_vectors(settings.model_copy(update={"embeddings_model": "unknown"}))

    assert filled.with_vector == 0
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("Documents are searched by words alone. The embeddings endpoint does")


async def test_the_doctor_has_a_line_for_meaning(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async def line() -> str:
        await examine(settings)
        return next(each for each in capsys.readouterr().out.splitlines() if "by meaning:" in each)

    assert await line() == f"✓ Search by meaning: {MODEL} answers with vectors of 64 numbers."
    await asyncio.to_thread(Indexer(settings.index_path).index, settings.docs)
    assert (await line()).endswith(
        "0 of 1 passages have a vector. `footnote index` makes the missing ones."
    )
    await asyncio.to_thread(make_vectors, settings)
    assert (await line()).endswith("1 of 1 passages have a vector.")
    capsys.readouterr()

    settings = settings.model_copy(update={"embeddings_query_prefix": "query: "})
    assert "0 of 1 passages have a vector." in await line()
    settings = settings.model_copy(update={"embeddings_model": "unknown"})
    assert "✗ Search by meaning: The embeddings endpoint does not know" in await line()
    settings = settings.model_copy(update={"embeddings_url": ""})
    assert "– Search by meaning: Documents are searched by words alone." in await line()


def test_footnote_index_makes_words_then_vectors(settings: Settings, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "FOOTNOTE_DATA_DIR": str(settings.data_dir),
        "FOOTNOTE_EMBEDDINGS_URL": settings.embeddings_url,
        "FOOTNOTE_EMBEDDINGS_MODEL": MODEL,
    }
    result = subprocess.run(
        [sys.executable, "-m", "bot", "index", *settings.docs],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stderr.index("1 new") < result.stderr.index("1 of 1 passages have vectors")
