"""The file of vectors: whatever happens to it, it holds what was counted, or says it is unfit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.embedding.embedder import unit
from bot.search.vector_file import (
    Unfit,
    VectorMap,
    VectorWriter,
    key_of,
    new_file,
    quantize,
    read_header,
    writing,
)

REPOSITORY = Path(__file__).parents[3]
MODEL = "ab" * 16
DIMENSIONS = 24


def a_vector(number: int) -> tuple[bytes, object]:
    numbers = random.Random(number)
    vector = unit(numbers.gauss() for _ in range(DIMENSIONS))
    return key_of(MODEL, "Title", "", str(number)), vector


def write(path: Path, *groups: range) -> None:
    header = read_header(path) if path.exists() else new_file(path, MODEL, DIMENSIONS)
    writer = VectorWriter(path, header)
    for group in groups:
        writer.append([a_vector(number) for number in group])  # type: ignore[misc]
    writer.close()


def assert_holds(path: Path, count: int) -> None:
    found = VectorMap(path)
    assert found.header.count == count
    for row, key in enumerate(found.keys()):
        expected, vector = a_vector(row)
        scale, steps = quantize(vector)  # type: ignore[arg-type]
        assert key == expected
        assert found.vector(row)[1].tobytes() == steps
        assert found.vector(row)[0] == pytest.approx(scale)


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "index.vectors"
    write(path, range(3), range(3, 3), range(3, 50))
    write(path, range(50, 60))

    assert_holds(path, 60)
    assert read_header(path).model == MODEL
    assert read_header(path).dimensions == DIMENSIONS


def test_rows_beyond_those_mapped_are_seen_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "index.vectors"
    write(path, range(5))
    found = VectorMap(path)
    write(path, range(5, 9))

    assert (found.header.count, found.count_now) == (5, 9)
    for row in (-1, 5, 1_000):
        with pytest.raises(Unfit):
            found.vector(row)


def test_a_vector_of_another_length_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "index.vectors"
    write(path, range(2))
    writer = VectorWriter(path, read_header(path))
    with pytest.raises(ValueError, match="2 numbers instead of 24"):
        writer.append([a_vector(2), (b"k" * 16, unit([1.0, 2.0]))])  # type: ignore[list-item]
    writer.close()

    assert_holds(path, 2)


@pytest.mark.parametrize("left", [0, 1, 7, 40, 43, 44, 45, 100, 1_000])
def test_bytes_after_the_last_counted_row_are_overwritten(tmp_path: Path, left: int) -> None:
    path = tmp_path / "index.vectors"
    write(path, range(10))
    with open(path, "ab") as file:
        file.write(os.urandom(left))

    assert_holds(path, 10)
    write(path, range(10, 13))
    assert_holds(path, 13)


@given(st.integers(0, 64 + 44 * 5 - 1))
def test_a_file_that_is_cut_off_is_unfit(size: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.vectors")
        write(path, range(5))
        os.truncate(path, size)
        with pytest.raises(Unfit):
            read_header(path)
        with pytest.raises(Unfit):
            VectorMap(path)


@given(st.binary(max_size=300))
def test_any_other_file_is_unfit(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.vectors")
        path.write_bytes(content)
        with pytest.raises(Unfit):
            VectorMap(path)


def test_a_new_file_takes_the_place_of_the_old_one_at_once(tmp_path: Path) -> None:
    path = tmp_path / "index.vectors"
    write(path, range(20))
    old = VectorMap(path)

    header = new_file(path, MODEL, DIMENSIONS, old, [3, 17, 4])

    found = VectorMap(path)
    assert list(found.keys()) == [a_vector(number)[0] for number in (3, 17, 4)]
    assert found.header == header
    assert header.id != old.header.id
    assert old.vector(19), "who has the old one open can go on"
    assert [each.name for each in tmp_path.iterdir()] == ["index.vectors"]


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "index.vectors"
    with writing(path) as first, writing(path) as second:
        assert (first, second) == (True, False)
    with writing(path) as again:
        assert again


texts = st.text(max_size=20)


@given(st.tuples(texts, texts, texts, texts), st.tuples(texts, texts, texts, texts))
def test_a_key_is_of_model_title_heading_and_text(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    assert (key_of(*one) == key_of(*other)) == (one == other)
    assert len(key_of(*one)) == 16


# Appends vectors in groups of 7, and kills itself without warning before the n-th call that
# reaches the file.
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.unit.search import test_vector_file as test
from bot.search import vector_file

path, last, count = Path(sys.argv[1]), int(sys.argv[2]), 0

class Counted:
    def __init__(self, file):
        self._file = file
    def __getattr__(self, name):
        return getattr(self._file, name)
    def write(self, data):
        step()
        return self._file.write(data[: max(1, len(data) // 2)])  # a disk that takes half

def step():
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

fsync = os.fsync
os.fsync = lambda number: (step(), fsync(number))
header = test.read_header(path)
writer = vector_file.VectorWriter(path, header)
writer._file = Counted(writer._file)
for start in range(header.count, header.count + 70, 7):
    writer.append([test.a_vector(number) for number in range(start, start + 7)])
    print(writer.header.count, flush=True)
"""


@pytest.mark.parametrize("kill_at", [1, 2, 5, 11, 12, 13, 14, 15, 16, 27, 40, 61, 90])
def test_a_killed_writer_leaves_a_sound_file(tmp_path: Path, kill_at: int) -> None:
    path = tmp_path / "index.vectors"
    write(path, range(5))
    process = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(kill_at)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert process.returncode == -signal.SIGKILL
    told = [int(line) for line in process.stdout.split()]
    count = read_header(path).count
    assert count in (told[-1] if told else 5, (told[-1] if told else 5) + 7)
    assert_holds(path, count)
    write(path, range(count, count + 3))
    assert_holds(path, count + 3)
