"""Making vectors: words first, each text once, carried on after any end."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.errors import InvalidSetting, ProviderUnavailable, StorageUnavailable
from bot.search import index_writer, vector_filling
from bot.search.embedding.embedder import Vector
from bot.search.index_file import open_reader
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Query
from bot.search.vector_file import VectorMap, read_header, vectors_path, writing
from bot.search.vector_filling import ELSEWHERE, fill_vectors, keep_filling, state_of_vectors
from tests.fakes.embeddings import MemoryEmbedder
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
    connection = open_reader(index)
    found = VectorMap(vectors_path(index))
    for file, title, text in connection.execute("SELECT file, title, text FROM pages"):
        from bot.pages.passages import split
        from bot.search.index_file import unpack_text
        from bot.search.vector_file import key_of

        keys = list(found.keys())
        passages = split(unpack_text(text))
        for place, row in connection.execute(
            "SELECT place, row FROM vector_rows WHERE file = ?", (file,)
        ):
            passage = passages[place]
            assert keys[row] == key_of(embedder.model, title, passage.heading, passage.text)
    connection.close()


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

    assert embedder.embedded[1:] == [
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
    monkeypatch.setattr(index_writer, "fingerprint", lambda: "of the next release")
    Indexer(index).index([docs])
    connection = open_reader(index)
    assert connection.execute("SELECT count(*) FROM vector_queue").fetchone() == (9,)
    connection.close()

    assert await fill(index, embedder) == (18, 18, 0)
    assert_true(index, embedder)


async def test_an_index_that_is_built_anew_finds_its_vectors_again(index: Path, docs: Path) -> None:
    embedder = MemoryEmbedder()
    await fill(index, embedder)
    index.unlink()
    Indexer(index).index([docs])

    assert await fill(index, embedder) == (18, 18, 0)
    assert_true(index, embedder)


async def test_equal_passages_share_a_vector(tmp_path: Path) -> None:
    for name, own in (("a", "Apples grow on trees in autumn."), ("b", "Boats are built of wood.")):
        text = f"# Notes\n\nThe same words.\n\n## Of {name}\n\n{own}"
        write(tmp_path / "docs" / name / "notes.md", text)
    Indexer(tmp_path / "index.sqlite").index([tmp_path / "docs"])

    assert await fill(tmp_path / "index.sqlite", MemoryEmbedder()) == (4, 4, 3)


async def test_a_file_that_is_not_searched_gets_no_vectors_until_it_is(tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite"
    for name in ("a", "bb"):
        write(tmp_path / "docs" / f"{name}.md", "# Same\n\nThe same words.")
    Indexer(index).index([tmp_path / "docs"])
    assert await fill(index, MemoryEmbedder()) == (1, 1, 1)

    (tmp_path / "docs" / "a.md").unlink()
    Indexer(index).index([tmp_path / "docs"])
    assert await fill(index, MemoryEmbedder()) == (1, 1, 0)


async def test_only_what_is_asked_for_gets_vectors(tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite"
    for name in ("mine", "others"):
        write(tmp_path / name / "a.md", f"# A\n\nOf {name}.")
    Indexer(index).index([tmp_path / "mine", tmp_path / "others"])

    assert await fill(index, MemoryEmbedder(), tmp_path / "mine") == (1, 1, 1)
    assert await fill(index, MemoryEmbedder(), tmp_path / "others") == (1, 1, 1)
    with pytest.raises(InvalidSetting):
        await fill(index, MemoryEmbedder(), tmp_path / "none")


async def test_another_model_makes_all_anew(index: Path) -> None:
    await fill(index, MemoryEmbedder())
    other = MemoryEmbedder(model="1" * 32, dimensions=32)

    with pytest.raises(StorageUnavailable, match="another model"):
        state_of_vectors(index, (), other.model)
    assert await fill(index, other) == (18, 18, 18)
    assert read_header(vectors_path(index)).dimensions == 32
    assert state_of_vectors(index, (), other.model) == "18 of 18 passages have one"


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


async def test_a_file_that_is_no_file_of_vectors_is_made_anew(index: Path) -> None:
    vectors_path(index).write_bytes(b"something else" * 100)
    embedder = MemoryEmbedder()
    with pytest.raises(StorageUnavailable, match="run `footnote index`"):
        state_of_vectors(index, (), embedder.model)

    assert await fill(index, embedder) == (18, 18, 18)


async def test_nothing_is_begun_after_the_time_is_over(index: Path) -> None:
    assert await fill(index, MemoryEmbedder(), seconds=0.0) == (18, 0, 0)


async def test_without_an_index_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert await fill(tmp_path / "index.sqlite", MemoryEmbedder()) == (0, 0, 0)
    assert list(tmp_path.iterdir()) == []


async def test_one_process_makes_vectors_at_a_time(index: Path) -> None:
    with writing(vectors_path(index)):
        filled = await fill_vectors(index, (), MemoryEmbedder())

    assert (filled.with_vector, filled.problem) == (0, ELSEWHERE)


async def test_words_can_be_searched_while_vectors_are_made(index: Path) -> None:
    class Slow(MemoryEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
            if self.embedded:
                begun.set()
                await go_on.wait()
            return await super().embed_passages(texts)

    begun, go_on = asyncio.Event(), asyncio.Event()
    embedder = Slow()
    filling = asyncio.create_task(fill_vectors(index, (), embedder))
    await begun.wait()
    documents = LocalDocuments(index, (), embedder)

    assert len(await documents.search(Query("automobile", 20))) == 9
    go_on.set()
    assert (await filling).with_vector == 18
    await documents.aclose()


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
    filling = asyncio.create_task(fill_vectors(index, (), stuck))
    await begun.wait()
    filling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await filling

    made = len(stuck.embedded) - 1  # without the probe
    assert read_header(vectors_path(index)).count == made
    assert await fill(index, MemoryEmbedder()) == (18, 18, 18 - made)


async def test_a_process_that_serves_looks_for_new_passages(index: Path, docs: Path) -> None:
    embedder = MemoryEmbedder()
    keeping = asyncio.create_task(keep_filling(index, (docs,), embedder, pause=0.0))
    while "18 of 18" not in state_of_vectors(index, (), embedder.model):
        await asyncio.sleep(0)
    write(docs / "new.md", "# New\n\nWords.")
    await asyncio.to_thread(Indexer(index).index, [docs])
    while "19 of 19" not in state_of_vectors(index, (), embedder.model):
        await asyncio.sleep(0)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


async def test_rows_that_no_passage_has_are_dropped_once_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_filling, "DEAD_FEW", 5)
    docs, index, embedder = tmp_path / "docs", tmp_path / "index.sqlite", MemoryEmbedder()
    for number in range(20):
        write(docs / f"{number}.md", f"# Page {number}\n\nAn automobile, number {number}.")
    Indexer(index).index([docs])
    await fill(index, embedder)
    for number in range(12):
        (docs / f"{number}.md").unlink()
    Indexer(index).index([docs])

    assert await fill(index, embedder) == (8, 8, 0)
    assert read_header(vectors_path(index)).count == 8
    assert_true(index, embedder)
    documents = LocalDocuments(index, (), embedder)
    assert (await documents.search(Query("automobile 13", 3)))[0].relevance == 1.0
    await documents.aclose()


# Makes vectors in small groups, and kills itself without warning before the n-th statement of
# SQLite or write to the file of vectors.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from bot.search import vector_filling
from tests.fakes.embeddings import MemoryEmbedder

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
fsync = os.fsync
os.fsync = lambda number: (step(), fsync(number))
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


@pytest.mark.parametrize("kill_at", [1, 6, 11, 16, 24, 33, 40, 55, 70, 85])
async def test_a_killed_run_is_carried_on(index: Path, kill_at: int) -> None:
    assert killed_at(index, kill_at) == -signal.SIGKILL
    embedder = MemoryEmbedder()
    kept = read_header(vectors_path(index)).count if vectors_path(index).exists() else 0
    if kept:
        assert_true(index, embedder)
    documents = LocalDocuments(index, (), embedder)
    assert len(await documents.search(Query("automobile", 20))) == 9
    await documents.aclose()

    assert await fill(index, embedder) == (18, 18, 18 - kept)
    assert_true(index, embedder)


async def test_a_run_that_is_killed_again_and_again_gets_through(index: Path) -> None:
    numbers = random.Random(5)
    for _ in range(40):
        if killed_at(index, numbers.randint(20, 60)) == 0:
            break
    embedder = MemoryEmbedder()

    passages, with_vector, made = await fill(index, embedder)
    assert (passages, with_vector) == (18, 18)
    assert made < 18
    assert_true(index, embedder)
    assert os.path.getsize(vectors_path(index)) >= read_header(vectors_path(index)).start(18)
