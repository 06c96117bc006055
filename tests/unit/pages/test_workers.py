"""Extraction elsewhere: as good as here, and no document can stall it or outlive its time."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from bot.errors import PageUnreadable, Unavailable
from bot.pages.extract import from_bytes
from bot.pages.processes import environment
from bot.pages.workers import Workers
from tests.fakes.web import ARTICLE, FILES

OpenWorkers = Callable[..., Workers]

_PRELUDE = "import os, sys, time\nfrom bot.pages import workers\n"
STUCK = "time.sleep(600)"
SLOW_TO_ANSWER = "sys.stdin.buffer.read(1); time.sleep(600)"
DYING = "sys.stdin.buffer.read(1); os._exit(3)"
LYING = (
    "sys.stdin.buffer.read(1)\n"
    "sys.stdout.buffer.write(b'\\xff' * 64)\n"
    "sys.stdout.flush()\n"
    "time.sleep(600)"
)
CONFUSED = (
    "workers.receive(sys.stdin.buffer)\n"
    "workers.send(sys.stdout.buffer, {'title': 5}, b'')\n"
    "time.sleep(600)"
)
TALKATIVE = (
    "from bot.pages import extract\n"
    "real = extract.from_bytes\n"
    "def noisy(*document):\n"
    "    print('hello from a library', flush=True)\n"
    "    return real(*document)\n"
    "extract.from_bytes = noisy\n"
    "workers.work(int(sys.argv[1]))"
)


def command(body: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-c", _PRELUDE + body)


@pytest.fixture
async def open_workers() -> AsyncIterator[OpenWorkers]:
    async with AsyncExitStack() as stack:

        def opened(**options: Any) -> Workers:
            workers = Workers(**options)
            stack.push_async_callback(workers.aclose)
            return workers

        yield opened


def pids(workers: Workers) -> set[int]:
    return {worker._process.pid for worker in (*workers._pool._idle, *workers._pool._busy)}


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
    workers = open_workers(size=1, seconds=0.3, command=command(SLOW_TO_ANSWER))
    workers.warm()
    (pid,) = pids(workers)
    with pytest.raises(PageUnreadable, match=r"slow\.html takes too long to read"):
        await workers.extract(b"<p>x", "text/html", "slow.html")
    assert not alive(pid)
    assert not pids(workers)


async def test_a_process_that_does_not_even_listen_is_given_up(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=1, seconds=0.3, command=command(STUCK))
    with pytest.raises(PageUnreadable, match="too long"):
        await workers.extract(b"x" * 5_000_000, "text/html", "x")
    assert not pids(workers)


@pytest.mark.parametrize("body", [DYING, LYING, CONFUSED, "sys.exit()"])
async def test_a_process_that_breaks_is_replaced(open_workers: OpenWorkers, body: str) -> None:
    workers = open_workers(size=1, command=command(body))
    for _ in range(2):
        with pytest.raises(PageUnreadable, match="its reader crashed"):
            await workers.extract(b"<p>x", "text/html", "x")
    assert not pids(workers)


async def test_a_process_that_died_while_it_was_idle_is_replaced_unnoticed(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=1)
    workers.warm()
    process = workers._pool._idle[0]._process
    process.kill()
    await asyncio.to_thread(process.wait)
    assert (await workers.extract(b"words", None, "x")).text == "words"
    assert process.pid not in pids(workers)


async def test_cancelling_ends_the_work_and_leaves_no_error_unread(
    open_workers: OpenWorkers,
) -> None:
    unread: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unread.append(context))
    workers = open_workers(size=1, command=command(SLOW_TO_ANSWER))
    workers.warm()
    (pid,) = pids(workers)
    task = asyncio.create_task(workers.extract(b"<p>x", "text/html", "x"))
    await asyncio.sleep(0)
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
    workers = open_workers(size=2, command=command(SLOW_TO_ANSWER))
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


async def test_a_process_ends_with_its_parent(open_workers: OpenWorkers) -> None:
    """Its standard input ends when the parent is gone, however it went."""
    workers = open_workers(size=1)
    await workers.extract(b"words", None, "x")
    process = workers._pool._idle[0]._process
    assert process.stdin is not None
    process.stdin.close()
    assert await asyncio.to_thread(process.wait, 10) == 0


async def test_what_a_library_prints_is_not_in_the_way(open_workers: OpenWorkers) -> None:
    workers = open_workers(size=1, command=command(TALKATIVE))
    assert (await workers.extract(b"words", None, "x")).text == "words"


@pytest.mark.skipif(sys.platform == "win32", reason="sessions are a POSIX notion")
async def test_ctrl_c_in_a_terminal_does_not_reach_the_processes(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=1)
    workers.warm()
    (pid,) = pids(workers)
    assert os.getsid(pid) != os.getsid(0)


async def test_secrets_stay_with_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", "postgresql://secret")
    assert "secret" not in str(environment())


async def test_a_machine_without_room_for_processes_is_unavailable(
    open_workers: OpenWorkers,
) -> None:
    workers = open_workers(size=1, command=("/nonexistent/python",))
    with pytest.raises(Unavailable, match="cannot start another process"):
        await workers.extract(b"x", None, "x")


async def test_nothing_is_left_behind(open_workers: OpenWorkers) -> None:
    """No warning about open pipes or running processes when all is collected (they are errors)."""
    workers = open_workers(size=1)
    await workers.extract(b"words", None, "x")
    await workers.aclose()
    del workers
    gc.collect()
