"""Extraction elsewhere: as good as here, and no document can stall it or outlive its time."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import PageUnreadable, Unavailable
from bot.pages.extract import from_bytes
from bot.pages.page import Reading
from bot.pages.page_markdown import MOST_CHARACTERS
from bot.pages.pool import COMMAND, Child, For, reading_for
from bot.pages.processes import DEFAULT, USUAL, Shares, receive
from bot.pages.tasks import TASKS
from bot.pages.workers import NeedsMoreMemory, Workers
from tests.fakes.bombs import BOMBS, LARGEST, Bomb
from tests.fakes.pictures import scanned, seen
from tests.fakes.web import ARTICLE, FILES
from tests.unit.pages.children import asked, changed, ready, replying, running

OpenWorkers = Callable[..., Workers]

SLOW_TO_ANSWER = asked("time.sleep(600)")
DYING = asked("os._exit(3)")
LYING = asked("replies.write(b'\\xff' * 64)\nreplies.flush()\ntime.sleep(600)")
SILLY = asked("send(replies, [], b'')\ntime.sleep(600)")
TALKATIVE = changed(
    "from bot.pages import extract\n"
    "real = extract.from_bytes\n"
    "def noisy(*document):\n"
    "    print('hello from a library', flush=True)\n"
    "    return real(*document)\n"
    "extract.from_bytes = noisy"
)


@pytest.fixture
async def open_workers() -> AsyncIterator[OpenWorkers]:
    async with AsyncExitStack() as stack:

        def opened(**options: Any) -> Workers:
            workers = Workers(**options)
            stack.push_async_callback(workers.aclose)
            return workers

        yield opened


def pids(workers: Workers) -> set[int]:
    return {child.pid for child in workers._pool.children}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_result_is_that_of_extraction_here(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=1)
    for data, media_type, name in [
        (ARTICLE.encode(), "text/html", "https://a.example/x"),
        ("北京 é \ud83d".encode("utf-8", "surrogatepass"), None, "notes.txt"),
        (b"# A\n" + b"word " * 300_000, "text/markdown", "big.md"),
        (FILES["pdf"], "application/pdf", "https://a.example/x.pdf"),
    ]:
        assert await workers.extract(data, media_type, name) == from_bytes(data, media_type, name)


async def test_a_refusal_arrives_as_it_was_raised(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=1)
    with pytest.raises(PageUnreadable) as here:
        from_bytes(FILES["png"], None, "x.png")
    with pytest.raises(PageUnreadable) as there:
        await workers.extract(FILES["png"], None, "x.png")
    assert there.value.sentence == here.value.sentence


async def test_one_process_serves_one_document_after_the_other(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=3)
    assert not pids(workers), "none before it is needed"
    workers.warm()
    first = pids(workers)
    workers.warm()
    for _ in range(3):
        await workers.extract(b"words", None, "x")
    assert pids(workers) == first
    assert len(first) == 1


async def test_no_more_processes_than_allowed_serve_many_documents(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=2)
    names = [f"n{i}" for i in range(12)]
    results = await asyncio.gather(
        *(workers.extract(f"# {name}".encode(), "text/markdown", name) for name in names)
    )
    assert [result.title for result in results] == names
    assert len(pids(workers)) <= 2


async def test_a_document_that_takes_too_long_is_given_up_and_its_process_ended(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=1, seconds=0.3, command=SLOW_TO_ANSWER)
    workers.warm()
    (pid,) = pids(workers)
    with pytest.raises(PageUnreadable, match=r"slow\.html takes too long to read"):
        await workers.extract(b"<p>x", "text/html", "slow.html")
    assert not alive(pid)
    assert not pids(workers)


async def test_a_process_that_does_not_even_listen_is_given_up(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=1, seconds=0.3, command=ready("time.sleep(600)"))
    with pytest.raises(PageUnreadable, match="too long"):
        await workers.extract(b"x" * 5_000_000, "text/html", "x")
    assert not pids(workers)


@pytest.mark.parametrize("command", [DYING, LYING, SILLY, replying("{'title': 5}"), ready("")])
async def test_a_process_that_breaks_is_replaced(
    open_workers: OpenWorkers, command: tuple[str, ...]
) -> None:
    workers = open_workers(size=1, command=command)
    for _ in range(2):
        with pytest.raises(PageUnreadable, match="its reader crashed"):
            await workers.extract(b"<p>x", "text/html", "x")
    assert not pids(workers)


async def test_a_process_that_died_while_it_was_idle_is_replaced_unnoticed(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=1)
    workers.warm()
    (pid,) = pids(workers)
    os.kill(pid, signal.SIGKILL)
    while pids(workers):
        await asyncio.sleep(0.01)
    assert (await workers.extract(b"words", None, "x")).text == "words"
    assert pid not in pids(workers)


async def test_cancelling_ends_the_work_and_leaves_no_error_unread(
    open_workers: OpenWorkers,
) -> None:
    unread: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unread.append(context))
    workers = open_workers(size=1, command=SLOW_TO_ANSWER)
    workers.warm()
    (pid,) = pids(workers)
    task = asyncio.create_task(workers.extract(b"<p>x", "text/html", "x"))
    while not workers.load.held:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pid)
    await workers.aclose()  # its thread has ended, too
    await asyncio.sleep(0)
    gc.collect()
    assert unread == []


async def test_closing_ends_idle_and_busy_processes(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=2, command=SLOW_TO_ANSWER)
    workers.warm()
    tasks = [asyncio.create_task(workers.extract(b"x", None, "x")) for _ in range(3)]
    while len(workers._pool._busy) < 2:
        await asyncio.sleep(0.01)
    running = pids(workers)
    await workers.aclose()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, PageUnreadable | Unavailable) for outcome in outcomes)
    assert len(running) == 2
    assert not any(map(alive, running))
    workers.warm()
    with pytest.raises(Unavailable, match="shutting down"):
        await workers.extract(b"x", None, "x")


@pytest.mark.parametrize("task", TASKS)
def test_a_process_ends_with_its_parent(task: str) -> None:
    """Its standard input ends when the parent is gone, however it went."""
    command = (*COMMAND, task, str(1_600_000_000))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert receive(process.stdout)[0] == {"number": 0}
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize("task", TASKS)
def test_every_process_has_limits_and_no_secret(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", "postgresql://secret")

    async def looked() -> tuple[str, str]:
        child = Child((*COMMAND, task, "1600000000"))
        await child.begun()
        place = Path(f"/proc/{child.pid}")
        told = (place / "limits").read_text(), (place / "environ").read_text()
        await asyncio.to_thread(child.end)
        return told

    limits, environ = asyncio.run(looked())
    of = dict(re.findall(r"^(Max [a-z ]+?) {2,}(\S+)", limits, re.MULTILINE))
    assert of["Max data size"] == "1600000000"
    assert of["Max core file size"] == "0"
    assert int(of["Max open files"]) <= (4_096 if TASKS[task].has_network else 128)
    assert "secret" not in environ


@pytest.mark.parametrize("task", TASKS)
def test_only_tasks_that_need_the_network_have_it(task: str) -> None:
    """For Python code, such as a reader that would follow a link in a document."""
    code = (
        "import socket, sys\nfrom bot.pages import tasks\n"
        f"tasks.limit(10 ** 9, has_network=tasks.TASKS[{task!r}].has_network)\n"
        "try: socket.create_connection(('127.0.0.1', 9), 1)\n"
        "except PermissionError: print('refused')\nexcept OSError: print('tried')"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ("tried" if task in ("fetch", "render") else "refused")


async def test_what_a_library_prints_is_not_in_the_way(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=1, command=TALKATIVE)
    assert (await workers.extract(b"words", None, "x")).text == "words"


async def test_ctrl_c_in_a_terminal_does_not_reach_the_processes(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=1)
    workers.warm()
    (pid,) = pids(workers)
    assert os.getsid(pid) != os.getsid(0)


@pytest.mark.parametrize("command", [("/nonexistent/python",), ("/bin/false",), running("1/0")])
async def test_a_machine_without_room_for_processes_is_unavailable(
    open_workers: OpenWorkers, command: tuple[str, ...]
) -> None:
    workers = open_workers(size=1, command=command)
    with pytest.raises(Unavailable, match="cannot start another process"):
        await workers.extract(b"x", None, "x")


# ---------------------------------------------------------------- documents made to take memory


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
    with pytest.raises(
        NeedsMoreMemory, match=r"^x\.html takes more than 7\d\.\d MB of memory to read"
    ):
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


# ---------------------------------------------------------------- scans


async def test_scanned_pages_come_as_pictures(open_workers: OpenWorkers) -> None:
    scans, left = await open_workers().scans("x.pdf", scanned(["One", "Two"]))
    assert [(label, seen(picture.data)) for label, picture in scans] == [("1", "One"), ("2", "Two")]
    assert left == 0


@pytest.mark.parametrize(
    "reply",
    [
        "{'scans': 5, 'left': 0}",
        "{'scans': [], 'left': None}",
        "{'scans': [[1, 2, 3]], 'left': 0}",
        "{'scans': 'all', 'left': 0}",
        "{'title': 'T', 'canonical': '', 'kept': 1}",
    ],
)
async def test_a_reader_that_a_document_took_over_sends_no_pictures(
    open_workers: OpenWorkers, reply: str
) -> None:
    workers = open_workers(command=replying(reply))
    with pytest.raises(PageUnreadable, match="could not be read"):
        await workers.scans("x.pdf", scanned(["One"]))
