"""Servers that are made to keep a reader busy are given up early, and real ones are not."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager

import pytest
import stamina

from bot.core.errors import (
    AddressRefused,
    FootnoteError,
    PageUnreadable,
    Unavailable,
)
from bot.pages import download, transport
from bot.pages.fetch import Fetcher
from bot.pages.retrieval import DownloadSettings, Retrieval, RetrievalProcess
from tests.fakes.hostile import HONEST, KINDS, REAL, hostile
from tests.fakes.http2 import AUTHORITY, HOST, Http2Site, http2_site
from tests.unit.pages.children import asked, changed, ready, replying, running
from tests.unit.pages.conftest import to_loopback

GRACE = 0.3  # seconds; the patience of these tests
PATIENCE = 10.0  # seconds; less than what a document may take as a whole
WAY = DownloadSettings(("127.0.0.1",), 1_000_000, 60.0, "", respects_robots=False)
HASTY = changed(
    "import stamina; from bot.pages import download, transport\n"
    f"download.GRACE = transport.GRACE = {GRACE}; stamina.set_testing(True, attempts=2, cap=True)"
)


@pytest.fixture(scope="module")
def web() -> Iterator[Mapping[str, str]]:
    """Servers of all kinds in a thread; their addresses by kind."""
    began, ended = threading.Event(), threading.Event()
    addresses: dict[str, str] = {}

    async def serve() -> None:
        kinds = [*KINDS, *REAL]
        async with hostile(kinds) as ports:
            names = [*kinds, "laborious", "honest"]
            for name, port in zip(names, ports, strict=True):
                addresses[name] = f"http://127.0.0.1:{port}/"
            began.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert began.wait(60)
    yield addresses
    ended.set()
    thread.join()


@asynccontextmanager
async def a_retrieval(
    where: str, way: DownloadSettings = WAY
) -> AsyncIterator[Retrieval | RetrievalProcess]:
    retrieval = Retrieval(way) if where == "here" else RetrievalProcess(way, HASTY)
    try:
        yield retrieval
    finally:
        await retrieval.aclose()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in (download, transport):
        monkeypatch.setattr(module, "GRACE", GRACE)
    with stamina.set_testing(True, attempts=2, cap=True):
        yield


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_hostile_server_is_given_up_early(web: Mapping[str, str], kind: str) -> None:
    async with a_retrieval("here") as retrieval, asyncio.timeout(PATIENCE):
        with pytest.raises((PageUnreadable, Unavailable)) as error:
            await retrieval.get(web[kind])
    assert web[kind] in error.value.sentence
    assert error.value.sentence.endswith(".")


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("kind", REAL)
async def test_an_unusual_server_is_read(web: Mapping[str, str], kind: str) -> None:
    async with a_retrieval("here") as retrieval, asyncio.timeout(PATIENCE):
        assert (await retrieval.get(web[kind])).data.endswith(b"</html>")


async def test_all_at_once_in_a_process_cost_this_one_nearly_nothing(
    web: Mapping[str, str],
) -> None:
    """Measured in processor time, which does not depend on what else the machine does."""
    async with a_retrieval("apart") as retrieval, asyncio.timeout(3 * PATIENCE):
        assert (await retrieval.get(web["honest"])).data == HONEST
        before = time.thread_time()
        gets = [retrieval.get(web[kind]) for kind in KINDS]
        found = await asyncio.gather(*gets, return_exceptions=True)
        used = time.thread_time() - before
        assert (await retrieval.get(web["honest"])).data == HONEST
    told = {type(one) for one in found}
    assert told <= {PageUnreadable, Unavailable}, found
    assert used < 0.1


@pytest.mark.usefixtures("hasty")
async def test_a_hostile_robots_txt_closes_its_site() -> None:
    async with hostile(["one_byte_chunks"], robots=True) as ports:
        way = DownloadSettings(("127.0.0.1",), 1_000_000, 60.0, "", respects_robots=True)
        async with a_retrieval("here", way) as retrieval, asyncio.timeout(PATIENCE):
            with pytest.raises(Unavailable, match="cannot say"):
                await retrieval.get(f"http://127.0.0.1:{ports[0]}/")


def frame(kind: int, body: bytes, stream: int = 1) -> bytes:
    """A frame without flags, RFC 9113 section 4.1."""
    return len(body).to_bytes(3, "big") + bytes([kind, 0]) + stream.to_bytes(4, "big") + body


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    "flood",
    [
        pytest.param(frame(0, b""), id="empty data"),
        pytest.param(frame(0, b"a"), id="data of one byte"),
        pytest.param(frame(6, b"12345678", 0), id="pings"),
        pytest.param(frame(4, b"", 0), id="settings"),
        pytest.param(frame(2, b"\0\0\0\0\0"), id="priorities"),
        pytest.param(frame(8, b"\0\0\0\1", 0), id="window updates"),
        pytest.param(frame(0xFA, b"?"), id="unknown"),
    ],
)
async def test_frames_without_end_are_given_up_early(
    flood: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    way = DownloadSettings((HOST,), 1_000_000, 60.0, "", respects_robots=False)
    async with http2_site(Http2Site(flood=flood * (65_536 // len(flood)))) as site:
        retrieval = Retrieval(way, to_loopback)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises((PageUnreadable, Unavailable)):
                await retrieval.get(f"https://{HOST}:{site.port}/")
        await retrieval.aclose()


async def test_many_pages_over_one_connection_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    way = DownloadSettings((HOST,), 1_000_000, 60.0, "", respects_robots=False)
    page = HONEST * 15
    async with http2_site(Http2Site(page.decode())) as site:
        retrieval = Retrieval(way, to_loopback)
        gets = [retrieval.get(f"https://{HOST}:{site.port}/{number}") for number in range(20)]
        assert {found.data for found in await asyncio.gather(*gets)} == {page}
        await retrieval.aclose()


# ---------------------------------------------------------------- the process


async def test_the_address_rule_holds_in_the_process(web: Mapping[str, str]) -> None:
    way = DownloadSettings((), 1_000_000, 20.0, "", respects_robots=False)
    async with a_retrieval("apart", way) as retrieval:
        for address in (web["honest"], "http://localhost/", "http://169.254.169.254/"):
            with pytest.raises(AddressRefused):
                await retrieval.get(address)


async def test_what_is_cancelled_ends_and_the_others_go_on(web: Mapping[str, str]) -> None:
    async with a_retrieval("apart") as retrieval:
        await retrieval.get(web["honest"])
        slow = asyncio.create_task(retrieval.get(web["slow_headers"]))
        await asyncio.sleep(0)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert (await retrieval.get(web["honest"])).data == HONEST


async def test_a_process_that_ends_is_replaced(web: Mapping[str, str]) -> None:
    async with a_retrieval("apart") as retrieval:
        assert isinstance(retrieval, RetrievalProcess)
        slow = asyncio.create_task(retrieval.get(web["slow_headers"]))
        await retrieval.get(web["honest"])
        (child,) = retrieval._pool.children
        child.kill()
        with pytest.raises(Unavailable, match="process that reads pages crashed"):
            await slow
        assert (await retrieval.get(web["honest"])).data == HONEST


@pytest.mark.parametrize(
    "command",
    [
        running("import sys; sys.exit(3)"),
        ready("os._exit(3)"),
        asked("replies.write(b'\\xff' * 64); replies.flush(); time.sleep(600)"),
        asked("send(replies, [], b''); time.sleep(600)"),
        replying("{'url': 5}"),
        replying("{'error': {}}"),
        replying("{'lacks': 'memory'}"),
        replying("[]"),
    ],
)
async def test_a_process_that_talks_nonsense_is_unavailable(command: tuple[str, ...]) -> None:
    retrieval = RetrievalProcess(WAY, command)
    with pytest.raises(Unavailable):
        await retrieval.get("http://127.0.0.1/")
    assert not retrieval._pool.children
    await retrieval.aclose()


async def test_closing_ends_the_process_and_what_is_under_way(web: Mapping[str, str]) -> None:
    async with a_retrieval("apart") as retrieval:
        assert isinstance(retrieval, RetrievalProcess)
        slow = asyncio.create_task(retrieval.get(web["slow_headers"]))
        await retrieval.get(web["honest"])
        (child,) = retrieval._pool.children
    assert not child.lives
    assert not child._hearing.is_alive()
    with pytest.raises(Unavailable):
        await slow
    with pytest.raises(Unavailable, match="shutting down"):
        await retrieval.get(web["honest"])


async def test_a_fetcher_reads_pages_by_the_process(web: Mapping[str, str]) -> None:
    from bot.operation.configuration import load_settings

    settings = load_settings(fetch_allow=("127.0.0.1",), robots="ignore")
    fetcher = Fetcher(settings, apart=True)
    try:
        assert (await fetcher.fetch(web["honest"])).title == "Tides"
        with pytest.raises(FootnoteError, match="pieces that are too small"):
            await fetcher.fetch(web["one_byte_chunks"])
    finally:
        await fetcher.aclose()
