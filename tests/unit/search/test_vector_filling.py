"""Making vectors: words first, each text once, carried on after any end."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.errors import ProviderUnavailable
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.pages.passages import split
from bot.search import indexer, vector_filling
from bot.search.embedder import Vector
from bot.search.index_file import alone, open_reader, unpack_text
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from bot.search.vector_filling import (
    ELSEWHERE,
    fill_vectors,
    keep_filling,
    state_of_vectors,
    vectors_being_made,
)
from bot.search.vectors import key_of, maker_of, pack, text_of
from tests.fakes.embeddings import MODEL, FakeEmbeddings, MemoryEmbedder, vector_of
from tests.fakes.server import serve
from tests.unit.search.test_indexer import DAY, write

pytestmark = pytest.mark.usefixtures("reading_inside")

REPOSITORY = Path(__file__).parents[3]
DOWN = ProviderUnavailable("The embeddings endpoint is down: try again later.")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for number in range(9):
        text = f"# Page {number}\n\nAn automobile, number {number}.\n\n## More\n\nOf it, {number}."
        write(tmp_path / "docs" / f"{number}.md", text)
    return tmp_path / "docs"


async def fill(
    index: Path, embedder: MemoryEmbedder, *roots: Path, **values: float
) -> tuple[int, int, int]:
    """Passages, those with a vector, those made now; there must be no problem."""
    filled = await fill_vectors(index, roots, embedder, **values)  # type: ignore[arg-type]
    assert filled.problem == ""
    return filled.passages, filled.with_vector, filled.made


def assert_true(index: Path, embedder: MemoryEmbedder) -> None:
    """Every passage that is said to have a vector has the right one."""
    with closing(open_reader(index)) as connection:
        maker = maker_of(connection, embedder.model)
        for title, text, first, count, steps, keys in connection.execute(
            "SELECT title, text, first, count, steps, keys"
            " FROM pages JOIN vectors USING (file) WHERE maker = ?",
            (maker,),
        ):
            passages = split(unpack_text(text))[first : first + count]
            texts = [text_of(title, each.heading, each.text) for each in passages]
            assert keys == b"".join(key_of(embedder.model, text) for text in texts)
            vectors = [vector_of(text, embedder.dimensions) for text in texts]
            assert steps == b"".join(map(pack, vectors))


def rows(index: Path) -> int:
    """The number of passages for which there are vectors, used or not."""
    with closing(open_reader(index)) as connection:
        return int(connection.execute("SELECT total(count) FROM vectors").fetchone()[0])


async def test_every_passage_gets_a_vector_once(index: Path) -> None:
    embedder = MemoryEmbedder()
    seen: list[tuple[int, int]] = []

    filled = await fill_vectors(index, (), embedder, lambda done, total: seen.append((done, total)))

    assert (filled.passages, filled.with_vector, filled.made) == (18, 18, 18)
    assert seen[0] == (0, 18)
    assert seen[-1] == (18, 18)
    assert await fill(index, embedder) == (18, 18, 0)
    assert_true(index, embedder)


async def test_a_passage_is_embedded_with_what_it_stands_under(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md", "# Tides\n\nThe sea.\n\n## High water\n\nTwice a day.")
    Indexer(tmp_path / "index.sqlite").index([tmp_path / "docs"])
    embedder = MemoryEmbedder()

    await fill(tmp_path / "index.sqlite", embedder)

    assert embedder.embedded == [
        "Tides\nThe sea.",
        "Tides › High water\nTwice a day.",
    ]


async def test_a_changed_file_gets_new_vectors_and_the_others_keep_theirs(
    index: Path, docs: Path
) -> None:
    embedder = MemoryEmbedder()
    await fill(index, embedder)
    write(docs / "3.md", "# Page 3\n\nSomething else.\n\n## More\n\nOf it, 3.", age=2 * DAY)
    (docs / "4.md").unlink()
    Indexer(index).index([docs])

    assert await fill(index, embedder) == (16, 16, 1)
    assert_true(index, embedder)


async def test_a_moved_or_renumbered_file_keeps_its_vectors(
    index: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = MemoryEmbedder()
    await fill(index, embedder)
    (docs / "0.md").rename(docs / "zero.md")
    for module in (indexer, vector_filling):
        monkeypatch.setattr(module, "fingerprint", lambda: "of the next release")
    Indexer(index).index([docs])
    assert str(state_of_vectors(index, (), embedder.model)).startswith("0 of 18 passages")

    assert await fill(index, embedder) == (18, 18, 0)
    assert_true(index, embedder)


async def test_equal_passages_share_a_vector(tmp_path: Path) -> None:
    for name, own in (("a", "Apples grow on trees in autumn."), ("b", "Boats are built of wood.")):
        text = f"# Notes\n\nThe same words.\n\n## Of {name}\n\n{own}"
        write(tmp_path / "docs" / name / "notes.md", text)
    Indexer(tmp_path / "index.sqlite").index([tmp_path / "docs"])

    assert await fill(tmp_path / "index.sqlite", MemoryEmbedder()) == (4, 4, 3)


async def test_another_model_makes_all_anew(index: Path) -> None:
    await fill(index, MemoryEmbedder())
    other = MemoryEmbedder(model="1" * 32, dimensions=32)

    assert str(state_of_vectors(index, (), other.model)).startswith("0 of 18 passages")
    assert await fill(index, other) == (18, 18, 18)
    assert rows(index) == 18, "those of the first model are gone"
    told = str(state_of_vectors(index, (), other.model))
    assert told == "18 of 18 passages have a vector."


async def test_a_model_that_cannot_be_reached_costs_no_vectors(index: Path) -> None:
    first = MemoryEmbedder()
    await fill(index, first)
    filled = await fill_vectors(index, (), MemoryEmbedder(model="1" * 32, failing=DOWN))

    assert (filled.with_vector, filled.problem) == (0, DOWN.sentence)
    assert await fill(index, first) == (18, 18, 0), "the old model's are still there"


async def test_vectors_of_another_length_are_told(index: Path, docs: Path) -> None:
    await fill(index, MemoryEmbedder())
    write(docs / "new.md", "# New\n\nWords.")
    Indexer(index).index([docs])

    filled = await fill_vectors(index, (), MemoryEmbedder(dimensions=32))

    assert "a different length" in filled.problem
    assert (filled.passages, filled.with_vector) == (19, 18)


async def test_nothing_is_begun_after_the_time_is_over(index: Path) -> None:
    assert await fill(index, MemoryEmbedder(), seconds=0.0) == (18, 0, 0)


async def test_one_process_makes_vectors_at_a_time(index: Path) -> None:
    with alone(index.with_suffix(".vectors.lock")):
        filled = await fill_vectors(index, (), MemoryEmbedder())

    assert (filled.with_vector, filled.problem) == (0, ELSEWHERE)


async def test_a_cancelled_run_keeps_what_it_made(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck(MemoryEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
            if len(self.embedded) > 8:
                begun.set()
                await asyncio.Event().wait()
            return await super().embed_passages(texts)

    monkeypatch.setattr(vector_filling, "GROUP", 4)
    begun = asyncio.Event()
    stuck = Stuck()
    task = asyncio.create_task(fill_vectors(index, (), stuck))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    made = len(stuck.embedded)
    assert 8 < made < 18
    assert rows(index) == made
    assert await fill(index, MemoryEmbedder()) == (18, 18, 18 - made)


async def test_a_process_that_serves_looks_for_new_passages(index: Path, docs: Path) -> None:
    embedder = MemoryEmbedder()
    keeping = asyncio.create_task(keep_filling(index, (docs,), embedder, pause=0.0))
    while "18 of 18" not in str(state_of_vectors(index, (), embedder.model)):
        await asyncio.sleep(0)
    write(docs / "new.md", "# New\n\nWords.")
    await asyncio.to_thread(Indexer(index).index, [docs])
    while "19 of 19" not in str(state_of_vectors(index, (), embedder.model)):
        await asyncio.sleep(0)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


async def test_vectors_of_files_that_are_gone_are_dropped(index: Path, docs: Path) -> None:
    embedder = MemoryEmbedder()
    await fill(index, embedder)
    for number in range(6):
        (docs / f"{number}.md").unlink()
    Indexer(index).index([docs])

    assert await fill(index, embedder) == (6, 6, 0)
    assert rows(index) == 6
    assert_true(index, embedder)


async def test_vectors_are_kept_while_texts_wait_that_may_have_them(
    tmp_path: Path, docs: Path, index: Path
) -> None:
    embedder = MemoryEmbedder()
    await fill(index, embedder)
    docs.rename(tmp_path / "moved")
    docs.mkdir()
    Indexer(index).index([docs])
    Indexer(index).index([tmp_path / "moved"])

    assert await fill(index, embedder, docs) == (0, 0, 0)
    assert await fill(index, embedder, tmp_path / "moved") == (18, 18, 0)


# Makes vectors in small groups, and kills itself without warning before the n-th statement of
# SQLite.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from bot.search import vector_filling
from tests.fakes.embeddings import MemoryEmbedder, vector_of

vector_filling.GROUP = 3
last, count = int(sys.argv[2]), 0

def step(*_):
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

def traced(path):
    connection, generation = open_writer(path)
    connection.set_trace_callback(step)
    return connection, generation

open_writer, vector_filling.open_writer = vector_filling.open_writer, traced
filled = asyncio.run(vector_filling.fill_vectors(Path(sys.argv[1]), (), MemoryEmbedder()))
print(count)
"""


def killed_at(index: Path, step: int) -> int:
    process = subprocess.run(
        [sys.executable, "-c", KILLED, str(index), str(step)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode in (0, -signal.SIGKILL), process.stderr
    return process.returncode


@pytest.mark.slow
@pytest.mark.parametrize("kill_at", [1, 11, 24, 40, 70])
async def test_a_killed_run_is_carried_on(index: Path, kill_at: int) -> None:
    assert killed_at(index, kill_at) == -signal.SIGKILL
    embedder = MemoryEmbedder()
    kept = rows(index)
    assert_true(index, embedder)
    documents = LocalDocuments(index, (), embedder)
    assert len(await documents.search(Query("automobile", 20))) == 9
    await documents.aclose()

    assert await fill(index, embedder) == (18, 18, 18 - kept)
    assert_true(index, embedder)


pytestmark = pytest.mark.usefixtures("reading_inside")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for number in range(5):
        write(tmp_path / "docs" / f"{number}.md", f"# Page {number}\n\nWords of {number}.")
    settings = load_settings(data_dir=tmp_path / "data", docs=(str(tmp_path / "docs"),))
    Indexer(settings.index_path).index(settings.docs)
    return settings


async def test_vectors_are_made_while_something_else_is_done(settings: Settings) -> None:
    fake = FakeEmbeddings()
    with serve(fake.app) as url:
        update = {"embeddings_url": url, "embeddings_model": MODEL}
        async with vectors_being_made(settings.model_copy(update=update)):
            while rows(settings.index_path) < 5:
                await asyncio.sleep(0)

    assert fake.complaints == []
    assert len(fake.embedded) == 5
