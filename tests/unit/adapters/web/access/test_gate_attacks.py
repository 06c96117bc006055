"""Attacks on what a request says about itself, byte for byte over a socket.

Each attack is tried beside the same request without it, which comes in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from bot.core.settings import Settings
from bot.operation.health import http_endpoint
from tests.unit.adapters.web.conftest import OpenConsole, Running

TOKEN = "a-token-of-the-tests"
PUBLIC = "https://footnote.example"
BEARER = f"Authorization: Bearer {TOKEN}"
HOST = "Host: 127.0.0.1"
OURS = "Sec-Fetch-Site: same-origin"
NEW_COOKIE = "footnote_session=x"


@dataclass(frozen=True)
class Mode:
    """Settings of a console, and the headers of a visitor that it lets in."""

    settings: dict[str, Any]
    headers: tuple[str, ...]


OPEN = Mode({}, (HOST,))
WITH_TOKEN = Mode({"console_token": TOKEN}, (HOST, BEARER))
BEHIND_PROXY = Mode(
    {
        "console_user_header": "X-User",
        "console_groups_header": "X-Groups",
        "console_proxies": ("127.0.0.1",),
        "public_url": PUBLIC,
    },
    ("Host: footnote.example", "X-User: ada", "X-Groups: staff"),
)
MODES = {"open": OPEN, "token": WITH_TOKEN, "proxy": BEHIND_PROXY}


@asynccontextmanager
async def listening(running: Running) -> AsyncIterator[str]:
    """The console at an address of its own, as `footnote serve` opens it."""
    async with http_endpoint("127.0.0.1", 0, running.platform.routes) as address:
        yield address


async def said(address: str, *lines: str, body: str = "") -> tuple[int, str]:
    """The status and the rest of the answer to a request of just these lines."""
    reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(address).port)
    head = "\r\n".join((*lines, f"Content-Length: {len(body)}", "Connection: close", "", ""))
    writer.write((head + body).encode("latin-1"))
    async with asyncio.timeout(60):
        answer = (await reader.read()).decode("utf-8", "replace")
    writer.close()
    return int(answer.split(" ", 2)[1]), answer


# ---------------------------------------------------------------- twice


DOUBLED = {
    mode: [
        ["Host: evil.example"],
        ["Origin: http://127.0.0.1", "Origin: https://evil.example"],
        ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"],
        ["Cookie: a=b", f"Cookie: {NEW_COOKIE}"],
        [f"Cookie: {NEW_COOKIE}; footnote_session=y"],
        [f"Cookie: {NEW_COOKIE}; a=b; footnote_session=x"],
        ["Cookie: footnote_sign_in=x;footnote_sign_in=y"],
        *more,
    ]
    for mode, more in (
        ("open", []),
        ("token", [["Authorization: Bearer wrong"], [BEARER], ["authorization: Basic YTpi"]]),
        (
            "proxy",
            [
                *(["X-User: boss"], ["x-user: boss"], ["X-USER: ada"], ["X-User:"]),
                *(["X-Groups: admins"], ["x-groups: staff"], ["X-Groups:"]),
            ],
        ),
    )
}


@pytest.mark.parametrize("mode", MODES)
async def test_of_two_values_none_is_believed(open_console: OpenConsole, mode: str) -> None:
    ours = MODES[mode].headers
    async with listening(await open_console(**MODES[mode].settings)) as address:
        assert (await said(address, "GET / HTTP/1.1", *ours))[0] == 200
        for attack in DOUBLED[mode]:
            for lines in ((*attack, *ours), (*ours, *attack)):
                status, answer = await said(address, "GET / HTTP/1.1", *lines)
                assert status == 400, (lines, answer)
                assert "boss" not in answer
                assert "<form" not in answer


async def test_a_value_of_several_people_or_no_header_is_nobodys(
    open_console: OpenConsole,
) -> None:
    host, _, groups = BEHIND_PROXY.headers
    async with listening(await open_console(**BEHIND_PROXY.settings)) as address:
        for user in (
            *("boss, ada", "ada,boss", "ada,", ",ada", "boss,ada,boss", "ada, ada"),
            *("x" * 201, f"{'x' * 200} boss"),
        ):
            status, answer = await said(address, "GET / HTTP/1.1", host, f"X-User: {user}", groups)
            assert status == 400, (user, answer)
        for line in ("X-User : boss", " X-User: boss", "X-User\t: boss", "X-User"):
            status, _ = await said(address, "GET / HTTP/1.1", line, *BEHIND_PROXY.headers)
            assert status == 400, line


@pytest.mark.parametrize("root", ["", "/footnote"])
async def test_two_cookies_are_deleted_and_the_visitor_goes_on(
    open_console: OpenConsole, root: str
) -> None:
    """One may be left from an address with another path."""
    async with listening(await open_console(public_url=f"http://127.0.0.1{root}")) as address:
        twice = f"Cookie: {NEW_COOKIE}; {NEW_COOKIE}"
        status, answer = await said(address, "GET / HTTP/1.1", HOST, twice)
        assert status == 400
        deleted = [line for line in answer.split("\r\n") if line.startswith("set-cookie:")]
        paths = {part for line in deleted for part in line.split("; ") if part.startswith("Path=")}
        assert paths == {"Path=/", f"Path={root or '/'}"}
        assert all("footnote_session=; " in line and "Max-Age=0" in line for line in deleted)
        assert (await said(address, "GET / HTTP/1.1", HOST))[0] == 200


# ---------------------------------------------------------------- for which host


HOSTS = [
    *("127.0.0.1@evil.example", "evil.example@127.0.0.1", "user:word@127.0.0.1", "127.0.0.1@"),
    *("127.0.0.1 evil.example", "127.0.0.1\tevil.example", "127.0.0.1 .evil.example"),
    *("127.0.0.1\\evil.example", "127.0.0.1/evil.example", "127.0.0.1?evil", "127.0.0.1#evil"),
    *("127.0.0.1:x", "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:99999"),
    *("127.0.0.1:80:80", "127.0.0.1:8080@evil", "127.0.0.1:\xb2", "127.0.0.1:0x50"),
    *("127.0.0.1, evil.example", "127.0.0.1;evil", "127.0.0.1%00.evil", "127.0.0.1%40evil"),
    *("[::1", "::1]", "[::1]evil", "[::1%25lo]", "[::::1]", "[127.0.0.1]", "[", "[]", "::1"),
    *("http://127.0.0.1", "//127.0.0.1", "", ".", "*", "'127.0.0.1'", '"127.0.0.1"', "127.0.0.1<"),
    *("m\xfcnchen.example", "x" * 254),
]


TARGETS = [
    *("http://evil.example/", "http://127.0.0.1/", "https://evil.example/sign-in"),
    *("//evil.example/", "///", "evil.example:443", "127.0.0.1/", "*", "#", "\\"),
    *("http:/", "x/../", "%2F", "@127.0.0.1/"),
]


@pytest.mark.parametrize("mode", MODES)
async def test_what_is_no_host_or_no_path_is_refused(open_console: OpenConsole, mode: str) -> None:
    ours = MODES[mode].headers
    others = [each for each in ours if not each.startswith("Host:")]
    async with listening(await open_console(**MODES[mode].settings)) as address:
        for host in HOSTS:
            for path in ("/", "/api/threads/x"):
                asked = (f"GET {path} HTTP/1.1", f"Host: {host}", *others)
                assert (await said(address, *asked))[0] == 400, asked
        for version in ("1.0", "1.1"):  # without a host
            assert (await said(address, f"GET / HTTP/{version}", *others))[0] == 400
        for target in TARGETS:  # RFC 9112 section 3.2: only proxies are sent other forms
            status, answer = await said(address, f"GET {target} HTTP/1.1", *ours)
            assert 400 <= status < 500, (target, answer)
            assert "<form" not in answer


# ---------------------------------------------------------------- from which page


ORIGINS = [
    *("http://127.0.0.1@evil.example", "http://evil.example@127.0.0.1", "http://[", "null"),
    *("http://127.0.0.1.evil.example", "http://127.0.0.1:8080", "//127.0.0.1", "127.0.0.1"),
    *("ftp://127.0.0.1", "http://127.0.0.1, http://evil.example", "http://127.0.0.1/", ""),
    *("http://evil.example http://127.0.0.1", "https://evil.example"),
]


async def test_what_is_not_our_origin_changes_nothing(open_console: OpenConsole) -> None:
    asked = ("POST /api/questions HTTP/1.1", HOST, "Content-Type: application/json")
    body = '{"question": "How tall is the tower?"}'
    async with listening(await open_console()) as address:
        own = await said(address, *asked, "Origin: http://127.0.0.1", body=body)
        assert own[0] == 202, own
        for origin in ORIGINS:
            status, answer = await said(address, *asked, f"Origin: {origin}", body=body)
            assert status == 403, (origin, answer)


async def test_an_origin_without_tls_is_not_ours_where_ours_has_it(
    open_console: OpenConsole,
) -> None:
    asked = ("POST /api/questions HTTP/1.1", "Content-Type: application/json")
    async with listening(await open_console(**BEHIND_PROXY.settings)) as address:
        statuses = []
        for scheme in ("https", "http"):
            origin = f"Origin: {scheme}://footnote.example"
            body = '{"question": "How tall is the tower?"}'
            ours = BEHIND_PROXY.headers
            statuses.append((await said(address, *asked, *ours, origin, body=body))[0])
    assert statuses == [202, 403]


# ---------------------------------------------------------------- through which proxies


async def test_an_open_console_is_not_reached_through_a_proxy(open_console: OpenConsole) -> None:
    async with listening(await open_console()) as address:
        for header in (
            *("X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: 127.0.0.1"),
            *("X-Forwarded-Proto: https", "X-Real-IP: 127.0.0.1", "Via: 1.1 proxy"),
            "Forwarded: for=127.0.0.1;host=127.0.0.1;proto=https",
        ):
            assert (await said(address, "GET / HTTP/1.1", HOST, header))[0] == 403, header


ROTATING = {
    "X-Forwarded-For": ("X-Forwarded-For: 203.0.113.{n}",),
    "several": ("X-Forwarded-For: 203.0.113.{n}", "X-Forwarded-For: 198.51.100.{n}"),
    "a chain": ("X-Forwarded-For: 127.0.0.1, 203.0.113.{n}, 127.0.0.1",),
    "IPv6": ("X-Forwarded-For: 2001:db8:{n}::1",),
    "Forwarded": ("Forwarded: for=203.0.113.{n}",),
    "X-Real-IP": ("X-Real-IP: 203.0.113.{n}",),
    "a name": ("X-User: guesser{n}",),
    "a host": ("Host: guess{n}.example",),
    "a cookie": ("Cookie: footnote_session=guess{n}",),
    "nothing": (),
}


async def guess(address: str, door: str, token: str, more: Sequence[str]) -> int:
    host = () if any(each.startswith("Host:") for each in more) else (HOST,)
    if door == "form":
        body = urlencode({"token": token, "to": "/"})
        kind = "Content-Type: application/x-www-form-urlencoded"
        lines = ("POST /sign-in HTTP/1.1", *host, *more, kind, OURS)
        return (await said(address, *lines, body=body))[0]
    shown = f"Authorization: Bearer {token}"
    return (await said(address, "GET /api/threads/x HTTP/1.1", *host, *more, shown))[0]


@pytest.mark.parametrize(
    ("rotating", "door"),
    [*((each, "both") for each in ROTATING), ("nothing", "form"), ("nothing", "program")],
)
async def test_who_guesses_the_token_gets_ten_tries_whatever_changes(
    open_console: OpenConsole, monkeypatch: pytest.MonkeyPatch, rotating: str, door: str
) -> None:
    """No proxy is configured, so that every header is the guesser's own word."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # uvicorn's setting
    async with listening(await open_console(console_token=TOKEN)) as address:
        codes = []
        for n in range(14):
            through = door if door != "both" else ("form", "program")[n % 2]
            more = [each.format(n=n) for each in ROTATING[rotating]]
            codes.append(await guess(address, through, f"guess{n}", more))
        right = [await guess(address, each, TOKEN, ()) for each in ("form", "program")]
    wrong = {"form": [403] * 10, "program": [401] * 10, "both": [403, 401] * 5}[door]
    assert codes == wrong + [429] * 4
    assert right == [429, 429]


async def test_a_proxy_that_is_configured_tells_guessers_apart(open_console: OpenConsole) -> None:
    running = await open_console(console_token=TOKEN, console_proxies=("127.0.0.1",))
    async with listening(running) as address:
        for n in range(12):
            more = ("X-Forwarded-For: 192.0.2.1", f"X-Forwarded-For: 203.0.113.{n}")
            assert await guess(address, "form", "wrong", more) == 403
        same = ("X-Forwarded-For: 192.0.2.{n}, 203.0.113.99",)
        codes = [
            await guess(address, "program", "wrong", [each.format(n=n) for each in same])
            for n in range(12)
        ]
    assert codes == [401] * 10 + [429] * 2


async def test_the_addresses_of_one_ipv6_network_are_one_guesser(
    open_console: OpenConsole,
) -> None:
    running = await open_console(console_token=TOKEN)
    codes = []
    for n in range(12):
        browser = await running.browser(f"2001:db8:1:2::{n:x}", PUBLIC)
        codes.append((await browser.client.post("/sign-in", data={"token": "wrong"})).status_code)
    assert codes == [403] * 10 + [429] * 2
    for peer in ("2001:db8:1:3::1", "192.0.2.1", "::ffff:192.0.2.2"):
        other = await running.browser(peer, PUBLIC)
        answer = await other.client.post("/sign-in", data={"token": TOKEN})
        assert answer.status_code == 303, peer


async def test_a_proxy_is_known_by_its_ipv4_address_on_a_socket_for_both(
    open_console: OpenConsole,
) -> None:
    running = await open_console(**{**BEHIND_PROXY.settings, "console_proxies": ("10.0.0.0/8",)})
    ada = await running.browser("::ffff:10.1.2.3", PUBLIC, **{"X-User": "ada"})
    assert (await ada.get("/")).status_code == 200
    other = await running.browser("::ffff:192.0.2.1", PUBLIC, **{"X-User": "ada"})
    assert (await other.get("/")).status_code == 403


def test_by_default_no_proxy_is_believed() -> None:
    assert Settings.model_fields["console_proxies"].default == ()


# ---------------------------------------------------------------- signed out


async def signed_in(address: str) -> str:
    """The cookie of a browser that has signed in."""
    body = urlencode({"token": TOKEN, "to": "/"})
    kind = "Content-Type: application/x-www-form-urlencoded"
    status, answer = await said(address, "POST /sign-in HTTP/1.1", HOST, kind, OURS, body=body)
    assert status == 303
    return answer.partition("set-cookie: ")[2].partition(";")[0]


async def sign_out(address: str, cookie: str, **more: str) -> None:
    shown = f"Cookie: {cookie}"
    kind = "Content-Type: application/x-www-form-urlencoded"
    lines = ("POST /sign-out HTTP/1.1", HOST, shown, kind, OURS)
    assert (await said(address, *lines, body=urlencode(more)))[0] == 303


COPIES = {
    "GET / HTTP/1.1": 303,
    "GET /threads/x HTTP/1.1": 303,
    "GET /metrics HTTP/1.1": 303,
    "GET /api/threads/x HTTP/1.1": 401,
    "POST /api/questions HTTP/1.1": 401,
    "POST /mcp HTTP/1.1": 401,
}


@pytest.mark.parametrize("everywhere", [{}, {"all": "true"}], ids=["here", "everywhere"])
async def test_a_copied_cookie_opens_nothing_after_its_browser_signed_out(
    open_console: OpenConsole, everywhere: dict[str, str]
) -> None:
    async with listening(await open_console(console_token=TOKEN)) as address:
        copied, other = await signed_in(address), await signed_in(address)
        shown = f"Cookie: {copied}"
        for line in COPIES:
            assert (await said(address, line, HOST, shown))[0] not in (303, 401)
        await sign_out(address, copied, **everywhere)
        for line, refused in COPIES.items():
            assert (await said(address, line, HOST, shown))[0] == refused, line
        still = (await said(address, "GET / HTTP/1.1", HOST, f"Cookie: {other}"))[0]
        assert still == (303 if everywhere else 200)
        new = f"Cookie: {await signed_in(address)}"
        assert (await said(address, "GET / HTTP/1.1", HOST, new))[0] == 200
    # Another process, or the next start, knows it too.
    async with listening(await open_console(console_token=TOKEN)) as address:
        for line, refused in COPIES.items():
            assert (await said(address, line, HOST, shown))[0] == refused, line
