"""Documents made to take memory or time: each is read or refused by name, within the limits that a
container of 1 GB has room for, and those who come after it are served."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.core.errors import PageUnreadable
from bot.pages.page import Reading
from bot.pages.page_markdown import MOST_CHARACTERS
from bot.pages.pool import For, reading_for
from bot.pages.processes import DEFAULT, USUAL, Shares
from bot.pages.workers import NeedsMoreMemory, Workers
from tests.fakes.bombs import BOMBS, LARGEST, Bomb
from tests.unit.pages.children import changed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory")

ROOM = 30_000_000  # bytes of libraries, which the limits do not count
REFUSED = re.compile(r"^(\S+) (is |could not be read|holds |contains |takes )")
BY_NAME = {bomb.file: bomb for bomb in BOMBS}


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    workers = Workers(1)
    yield workers
    await workers.aclose()


@pytest.fixture
async def looking() -> AsyncIterator[Workers]:
    workers = Workers.single_process(DEFAULT)
    yield workers
    await workers.aclose()


def peaks(workers: Workers) -> list[int]:
    """The most memory that each living process has had at once, in bytes."""
    pools = [pool for pool in (workers._pool, workers._large) if pool is not None]
    pids = [child.pid for pool in pools for child in pool.children]
    texts = [Path(f"/proc/{pid}/status").read_text("ascii", "replace") for pid in pids]
    return [int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) * 1_024 for text in texts]


async def read(workers: Workers, bomb: Bomb, data: bytes) -> Reading | str:
    try:
        return await workers.extract(data, None, bomb.file)
    except PageUnreadable as error:
        return error.sentence


@pytest.mark.slow
async def test_each_is_read_or_refused_by_name(workers: Workers) -> None:
    for bomb in BOMBS:
        data = bomb.made(bomb.quick)
        assert len(data) <= LARGEST
        outcome = await read(workers, bomb, data)
        if isinstance(outcome, Reading):
            assert 0 < len(outcome.text) <= MOST_CHARACTERS + 100, bomb.file
        else:
            assert REFUSED.match(outcome), outcome
            assert outcome.startswith(bomb.file)
        assert max(peaks(workers), default=0) < DEFAULT.large + ROOM, bomb.file
    assert (await workers.extract(b"words", None, "x")).text == "words"


@pytest.mark.slow
async def test_what_needs_more_than_one_of_several_has_is_read_by_the_one_for_large_documents(
    workers: Workers,
) -> None:
    page = b"<article>" + b"<p>Some words of a paragraph.</p>" * 150_000
    assert len((await workers.extract(page, "text/html", "x.html")).text) > 4_000_000
    large = max(peaks(workers))
    assert DEFAULT.one_of_several + ROOM < large < DEFAULT.large + ROOM


async def test_a_look_takes_no_more_than_one_of_several(looking: Workers) -> None:
    page = b"<article>" + b"<p>Some words of a paragraph.</p>" * 150_000
    with pytest.raises(NeedsMoreMemory, match=r"^x\.html takes more than 7\d MB of memory to read"):
        await looking.extract(page, "text/html", "x.html")
    assert (await looking.extract(b"words", None, "x")).text == "words"


async def test_a_text_is_cut_at_the_end_of_a_line_and_says_so(workers: Workers) -> None:
    line = "Some words in a line of text.\n"
    read = await workers.extract(line.encode() * 180_000, "text/plain", "x.txt")
    assert len(read.text) < MOST_CHARACTERS + 100
    assert read.text.endswith(
        "line of text.\n\n## What comes after the first 5,000,000 characters was not read"
    )
    assert read.kept == pytest.approx(MOST_CHARACTERS / (180_000 * len(line)), abs=0.01)


@pytest.mark.parametrize("total", [300_000_000, USUAL, 1_000_000_000, 8_000_000_000])
def test_all_together_have_no_more_than_the_setting_says(total: int) -> None:
    shares = Shares(total)
    readers = (shares.readers + 1) * shares.one_of_several
    assert shares.large + shares.choosing + readers <= total
    assert min(shares.one_of_several, shares.choosing) >= 48_000_000


# ---------------------------------------------------------------- several people

SLOW = b"slow"
SLOW_FOR_SOME = changed(
    "from bot.pages import extract\nreal = extract.from_bytes\n"
    "def slow(data, *rest):\n    if data == b'slow': time.sleep(600)\n"
    "    return real(data, *rest)\n"
    "extract.from_bytes = slow"
)


async def read_for(person: str, run: str, workers: Workers, data: bytes) -> Reading:
    reading_for.set(For(person, run))
    return await workers.extract(data, None, "x")


async def test_slow_files_of_one_person_do_not_hold_up_another() -> None:
    size = 2
    workers = Workers(size, command=SLOW_FOR_SOME)
    slow = [
        asyncio.create_task(read_for("eve", str(run), workers, SLOW)) for run in range(2 * size)
    ]
    try:
        async with asyncio.timeout(10):  # far below the 20 s of a slow file
            while workers.load.held < size:
                await asyncio.sleep(0.01)
            assert (await read_for("ann", "1", workers, b"words")).text == "words"
            assert (await read_for("ann", "2", workers, b"words")).text == "words"
        assert workers.interrupted >= 1
    finally:
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        await workers.aclose()


async def test_a_slow_file_has_less_time_while_others_wait() -> None:
    """Each time that it is begun again it has only the rest of its time."""
    workers = Workers(1, seconds=1.5, command=SLOW_FOR_SOME)
    slow = asyncio.create_task(read_for("eve", "1", workers, SLOW))
    began = time.monotonic()
    try:
        while not slow.done():
            await read_for("ann", "1", workers, b"words")
        with pytest.raises(PageUnreadable, match="takes too long"):
            await slow
        assert workers.interrupted >= 1
        assert time.monotonic() - began < 20
    finally:
        await workers.aclose()
