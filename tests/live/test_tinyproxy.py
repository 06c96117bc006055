"""Debian's tinyproxy between Footnote and a small web."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.core.errors import AddressRefused, FootnoteError, PageUnreadable, Unavailable
from bot.operation.configuration import load_settings
from bot.pages.retrieval import Retrieval
from bot.pages.transport import proxy_report
from tests.fakes.http2 import AUTHORITY, HOST, Http2Site, http2_site
from tests.fakes.server import free_port, serve
from tests.fakes.web import ARTICLE, Web
from tests.unit.pages.conftest import to_loopback
from tests.unit.pages.test_transport import retrieval

SECRET = "hunter2"


@dataclass(frozen=True, slots=True)
class Tinyproxy:
    """``url`` has the password; ``connect`` is the one port that it lets tunnels through to."""

    url: str
    connect: int
    log: Path

    def asked(self) -> list[str]:
        """The request lines that it logged."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line.partition("): ")[2] for line in lines if "Request (file descriptor" in line]


@pytest.fixture
async def site() -> AsyncIterator[Http2Site]:
    async with http2_site(Http2Site(html=ARTICLE)) as opened:
        yield opened


@pytest.fixture
def tinyproxy(site: Http2Site, tmp_path: Path) -> Iterator[Tinyproxy]:
    """Skipped where tinyproxy is not installed, a failure in CI."""
    program = shutil.which("tinyproxy") or shutil.which("tinyproxy", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("tinyproxy is not installed: run .ci/install-live as root")
    port, log, configuration = free_port(), tmp_path / "log", tmp_path / "tinyproxy.conf"
    configuration.write_text(
        f"""Port {port}
Listen 127.0.0.1
Timeout 10
LogFile "{log}"
LogLevel Connect
MaxClients 20
BasicAuth me {SECRET}
ConnectPort {site.port}
DisableViaHeader Yes
"""
    )
    with subprocess.Popen([program, "-d", "-c", str(configuration)], cwd=tmp_path) as running:
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert running.poll() is None
                assert time.monotonic() < until
                os.sched_yield()
        yield Tinyproxy(f"http://me:{SECRET}@127.0.0.1:{port}", site.port, log)
        running.terminate()


pages = partial(retrieval, resolver=to_loopback)


async def sentence_of(opened: Retrieval, page: str) -> str:
    with pytest.raises((PageUnreadable, Unavailable)) as told:
        await opened.get(page)
    error: FootnoteError = told.value
    assert SECRET not in str(error)
    return error.sentence


async def test_a_page_comes_through_a_tunnel_to_a_judged_address(tinyproxy: Tinyproxy) -> None:
    place = f"{HOST}:{tinyproxy.connect}"
    async with pages(tinyproxy.url, allow=(place,)) as opened:
        document = await opened.get(f"https://{place}/")
    assert document.data == ARTICLE.encode()
    assert tinyproxy.asked() == [f"CONNECT 127.0.0.1:{tinyproxy.connect} HTTP/1.1"]


async def test_an_unprotected_page_is_asked_of_it_by_name(tinyproxy: Tinyproxy) -> None:
    web = Web()
    with serve(web) as base:
        place = f"localhost:{base.rpartition(':')[2]}"
        async with pages(tinyproxy.url, allow=(place,), target="name") as opened:
            document = await opened.get(f"http://{place}/article")
    assert b"Norderney" in document.data
    assert tinyproxy.asked() == [f"GET http://{place}/article HTTP/1.1"]
    assert "proxy-authorization" not in web.seen[0].headers


async def test_a_redirect_into_the_network_is_refused_before_it_is_asked(
    tinyproxy: Tinyproxy,
) -> None:
    web = Web()
    with serve(web) as base:
        place = f"localhost:{base.rpartition(':')[2]}"
        async with pages(tinyproxy.url, allow=(place,), target="name") as opened:
            for secret in (f"http://127.0.0.1:{place[10:]}/secret", "http://wiki.corp.local/"):
                with pytest.raises(AddressRefused):
                    await opened.get(f"http://{place}/to?url={secret}")
    assert [line.split("?")[0] for line in tinyproxy.asked()] == [f"GET http://{place}/to"] * 2
    assert web.count("/secret") == 0


async def test_what_it_refuses_is_told(tinyproxy: Tinyproxy) -> None:
    wrong = tinyproxy.url.replace(SECRET, "wrong")
    shown = tinyproxy.url.replace(f"me:{SECRET}@", "")
    place, closed = f"{HOST}:{tinyproxy.connect}", f"{HOST}:{free_port()}"
    async with pages(wrong, allow=(place,)) as opened:
        assert await sentence_of(opened, f"https://{place}/") == (
            f"The proxy {shown} asks for a user name and password, or rejects those that it"
            " received; an operator can correct them in the proxy's address."
        )
    async with pages(tinyproxy.url, allow=(closed,)) as opened:
        said = await sentence_of(opened, f"https://{closed}/")
        assert f"The proxy {shown} does not let Footnote through to {HOST} (status 403)" in said
    async with pages(tinyproxy.url, allow=(place,), bundle="") as opened:
        assert "FOOTNOTE_CA_BUNDLE" in await sentence_of(opened, f"https://{place}/")


async def test_the_certificate_of_another_host_is_told(tinyproxy: Tinyproxy) -> None:
    place = f"localhost:{tinyproxy.connect}"
    async with pages(tinyproxy.url, allow=(place,), target="name") as opened:
        said = await sentence_of(opened, f"https://{place}/")
    assert said.startswith("localhost cannot prove that it is localhost through the proxy")


async def test_doctor_asks_whether_it_answers(
    tinyproxy: Tinyproxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tinyproxy.url.replace(f"me:{SECRET}@", "")
    monkeypatch.setenv("HTTPS_PROXY", tinyproxy.url)
    monkeypatch.setenv("NO_PROXY", ".corp")
    said = await proxy_report(load_settings(ca_bundle=AUTHORITY, fetch_proxy_target="unresolved"))
    assert str(said) == (
        f"The authorities in {AUTHORITY} are trusted, too. The proxy {shown} answers."
        f" Pages are read through {shown} (unresolved). Reached without a proxy: .corp."
    )
    with pytest.raises(PageUnreadable, match="asks for a user name"):
        await proxy_report(load_settings(fetch_proxy=SecretStr(shown)))
