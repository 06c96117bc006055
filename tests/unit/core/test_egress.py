"""One decision for all clients: the proxy, and the certificates that are trusted."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from requests.utils import should_bypass_proxies

from adapters.slack.calls import Calls, Timing, web_client
from bot.core.egress import Egress, Proxy, bypasses, proxy_failure
from bot.core.errors import InvalidSetting, without_credentials
from bot.operation.configuration import load_settings
from bot.operation.telemetry import _session
from tests.fakes.egress_proxy import egress_proxy
from tests.fakes.http2 import AUTHORITY, HOST, Http2Site, http2_site
from tests.unit.core.test_measurements import SETTINGS

SECRET = "hunter2"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


# ---------------------------------------------------------------- by which proxy


def test_the_environment_is_read_as_others_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "every.example:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://secure.example:2")
    monkeypatch.setenv("NO_PROXY", "inside.example, .corp,10.0.0.0/8")
    egress = Egress.of(load_settings())
    assert egress.proxy_for("http://a.example/") == "http://every.example:1"
    assert egress.proxy_for("https://a.example/") == "http://secure.example:2"
    assert egress.proxy_for("wss://a.example/") == "http://secure.example:2"
    for direct in ("https://inside.example/", "http://wiki.corp:8080/", "https://10.1.2.3/"):
        assert egress.proxy_for(direct) == ""


@pytest.mark.parametrize(
    ("own", "proxy"),
    [(None, "http://e.example:1"), ("off", ""), ("http://p.example:2", "http://p.example:2")],
)
def test_pages_may_have_a_proxy_of_their_own(
    own: str | None, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://e.example:1")
    settings = load_settings(fetch_proxy=SecretStr(own) if own else None)
    assert Egress.of_pages(settings).proxy_for("https://a.example/") == proxy
    assert Egress.of(settings).proxy_for("https://a.example/") == "http://e.example:1"


@pytest.mark.parametrize(
    "url", [f"socks5://me:{SECRET}@p:1", f"http://me:{SECRET}@p:none", f"//me:{SECRET}@", "http://"]
)
def test_what_is_no_proxy_is_told_without_its_password(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", url)
    with pytest.raises(InvalidSetting, match="HTTPS_PROXY") as told:
        Egress.of(load_settings())
    assert SECRET not in str(told.value)


def test_a_password_is_in_the_header_and_nowhere_else() -> None:
    proxy = Proxy.of(f"http://me:{SECRET}%40@[::1]:3128")
    assert proxy.url == "http://[::1]:3128"
    assert proxy.authorization == "Basic bWU6aHVudGVyMkA="
    settings = load_settings(fetch_proxy=SecretStr(f"http://me:{SECRET}@p:1"))
    assert SECRET not in repr(settings)


# ---------------------------------------------------------------- exceptions

LABELS = st.sampled_from(["a", "b", "corp", "example", "wiki"])
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
ADDRESSES = st.integers(0, 2**32 - 1).map(lambda number: str(ipaddress.IPv4Address(number)))
NETWORKS = st.tuples(ADDRESSES, st.integers(1, 32)).map(lambda pair: f"{pair[0]}/{pair[1]}")
PORTS = st.sampled_from([80, 443, 8080])


@given(host=HOSTS, entry=HOSTS, dot=st.sampled_from(["", ".", "*."]), port=PORTS)
def test_a_domain_excepts_itself_and_what_is_below_it(
    host: str, entry: str, dot: str, port: int
) -> None:
    below = host == entry or host.endswith(f".{entry}")
    assert bypasses(f"x.y, {dot}{entry.upper()}", f"{host.upper()}.", port) is below
    assert bypasses(f"{entry}:{port}", host, port) is below
    assert not bypasses(f"{entry}:{port + 1}", host, port)


@given(address=ADDRESSES, network=st.one_of(NETWORKS, ADDRESSES), name=HOSTS)
def test_a_network_excepts_its_addresses_as_others_say(
    address: str, network: str, name: str
) -> None:
    expected = should_bypass_proxies(f"http://{address}/", no_proxy=f"{name},{network}")
    assert bypasses(f"{name},{network}", address, 80) is expected
    assert not bypasses(network, name, 80)


@pytest.mark.parametrize(
    ("entries", "host", "is_direct"),
    [("*", "a.example", True), ("b,*", "10.0.0.1", True), ("", "a", False), (",,", "a", False),
     ("1", "10.0.0.1", False), ("::1", "::1", True), ("[::1]", "::1", True),
     ("fd00::/8", "fd00::7", True), ("10.0.0.1:443", "10.0.0.1", True),
     ("10.0.0.1:80", "10.0.0.1", False), ("ample", "example", False)],
)  # fmt: skip
def test_exceptions_that_are_easily_got_wrong(entries: str, host: str, is_direct: bool) -> None:
    assert bypasses(entries, host, 443) is is_direct


# ---------------------------------------------------------------- clients


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
async def test_clients_go_through_the_proxy_and_believe_the_bundle(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        http2_site(Http2Site(html="hello")) as site,
        egress_proxy("honest", site.port, SECRET) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy.url_with_password)
        egress = Egress.of(load_settings(ca_bundle=AUTHORITY))
        transport = egress.transport(library, http2=True)
        async with library.AsyncClient(transport=transport) as client:
            assert (await client.get(f"https://{HOST}/")).text == "hello"
        unbelieving = Egress.of(load_settings()).transport(library)
        async with library.AsyncClient(transport=unbelieving) as client:
            with pytest.raises(library.ProxyError, match="FOOTNOTE_CA_BUNDLE") as told:
                await client.get(f"https://{HOST}/")
    assert proxy.asked == [f"CONNECT {HOST}:443"] * 2
    assert str(proxy_failure(told.value)).startswith(f"The proxy {proxy.url} does not connect to")


@pytest.mark.parametrize("status", ["407", "502"])
async def test_a_client_tells_what_its_proxy_said_without_the_password(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with egress_proxy(status) as proxy:
        url = f"http://me:{SECRET}@127.0.0.1:{proxy.port}"
        monkeypatch.setenv("HTTPS_PROXY", url)
        transport = Egress.of(load_settings()).transport(httpx)
        async with httpx.AsyncClient(transport=transport) as client:
            with pytest.raises(httpx.ProxyError, match=status) as told:
                await client.get("https://a.example/")
    assert SECRET not in str(told.value)
    assert str(told.value) == without_credentials(str(told.value))


async def test_sessions_of_chat_platforms_go_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Through aiohttp's tunnel, with the password. HTTP then fails: the site speaks 2 alone."""
    async with (
        http2_site(Http2Site()) as site,
        egress_proxy("honest", site.port, SECRET) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy.url_with_password)
        egress = Egress.of(load_settings(ca_bundle=AUTHORITY))
        url = f"wss://{HOST}/"
        session = aiohttp.ClientSession(
            connector=egress.connector(), proxy=egress.proxy_for(url) or None
        )
        async with session:
            with pytest.raises((aiohttp.ClientError, OSError)) as told:
                await session.ws_connect(url)
    assert proxy.asked == [f"CONNECT {HOST}:443"]
    assert site.names == [HOST]
    assert not isinstance(told.value, aiohttp.ClientConnectorCertificateError)


async def test_slacks_own_look_into_the_environment_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its SDK takes HTTPS_PROXY whatever NO_PROXY says."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:1")
    for exceptions, proxy in ((".slack.com", None), ("", "http://proxy.example:1")):
        monkeypatch.setenv("NO_PROXY", exceptions)
        async with aiohttp.ClientSession() as session:
            calls = Calls(web_client(SETTINGS, session), Timing())
            assert calls.client.proxy == proxy


def test_traces_go_through_the_proxy_and_believe_the_bundle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:1")
    settings = load_settings(otlp_url="https://traces.example", ca_bundle=AUTHORITY)
    with _session(settings) as session:
        assert session.proxies["https"] == "http://proxy.example:1"
        adapter = session.get_adapter("https://traces.example/")
        assert isinstance(adapter, requests.adapters.HTTPAdapter)
        for manager in (adapter.poolmanager, adapter.proxy_manager_for("http://proxy.example:1")):
            context = manager.connection_pool_kw["ssl_context"]
            subjects = [str(each["subject"]) for each in context.get_ca_certs()]
            assert any("Footnote test authority" in each for each in subjects)


# ---------------------------------------------------------------- certificates


def test_the_bundle_adds_to_the_usual_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Egress().ssl_context().cert_store_stats()["x509_ca"]
    assert usual > 1
    more = Egress(ca_bundle=str(AUTHORITY)).ssl_context().cert_store_stats()["x509_ca"]
    assert more == usual + 1
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    assert Egress().ssl_context().cert_store_stats()["x509_ca"] == 1


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_bundle_that_is_none_is_named(content: str | None, tmp_path: Path) -> None:
    bundle = tmp_path / "company.pem"
    if content is not None:
        bundle.write_text(content)
    with pytest.raises(InvalidSetting, match=r"FOOTNOTE_CA_BUNDLE names .*company\.pem"):
        Egress(ca_bundle=str(bundle)).ssl_context()
