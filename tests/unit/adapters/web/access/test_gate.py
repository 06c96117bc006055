"""The gate of the console: who comes in, and what every answer carries."""

from __future__ import annotations

import httpx
import pytest

from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

TOKEN = "a-token-of-the-tests"
BEHIND_PROXY = {
    "console_user_header": "X-User",
    "console_proxies": ("10.0.0.0/8", "127.0.0.1"),
    "public_url": "https://footnote.example",
}
PATHS = ["/", "/threads/x", "/api/runs/x", "/static/x/app.css", "/nothing", "/sign-in"]


BASE = "https://footnote.example"

# ---------------------------------------------------------------- this machine only


async def test_this_machine_comes_in_and_nobody_else(here: Running) -> None:
    for peer, base in (
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("127.0.0.1", "http://localhost"),
        ("::1", "http://[::1]:80"),
    ):
        assert (await (await here.browser(peer, base)).get("/")).status_code == 200
    for peer, base in (
        ("192.0.2.1", "http://127.0.0.1:8080"),
        ("127.0.0.1", "http://rebound.example"),
        ("127.0.0.1", "http://127.0.0.1.example"),
        ("127.0.0.1", "http://0.0.0.0:8080"),
    ):
        browser = await here.browser(peer, base)
        for path in ("/", "/api/threads/x", "/static/x/app.css"):
            assert (await browser.get(path)).status_code == 403, (peer, base, path)


# ---------------------------------------------------------------- with a token


@pytest.fixture
async def shut(open_console: OpenConsole) -> Browser:
    running = await open_console(console_token=TOKEN)
    return await running.browser("192.0.2.1", BASE)


async def test_without_the_token_there_is_nothing_to_see(shut: Browser) -> None:
    answer = await shut.get("/threads/x")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?to=/threads/x"
    assert (await shut.get("/api/threads/x")).status_code == 401
    assert (await shut.client.post("/ask", data={"question": "x"})).status_code == 401


async def test_a_form_of_a_page_leads_to_sign_in_too(shut: Browser) -> None:
    """Of a browser without scripts, whose session is over."""
    page = {"Accept": "text/html,*/*;q=0.8"}
    answer = await shut.client.post("/ask", data={"question": "x"}, headers=page)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?to=/ask")


async def test_the_token_is_asked_for_once(shut: Browser) -> None:
    wrong = await shut.client.post("/sign-in", data={"token": "wrong", "to": "/"})
    assert wrong.status_code == 403
    assert "set-cookie" not in wrong.headers
    right = await shut.client.post("/sign-in", data={"token": TOKEN, "to": "/threads/x"})
    assert right.headers["location"] == "/threads/x"
    assert (await shut.get("/")).status_code == 200


async def test_signing_in_leads_nowhere_else(shut: Browser) -> None:
    for to in ("https://evil.example", "//evil.example", "/\\evil.example", "x", "/a\nb"):
        answer = await shut.client.post("/sign-in", data={"token": TOKEN, "to": to})
        assert answer.headers["location"] == "/", to


async def test_a_made_up_cookie_is_no_session(shut: Browser) -> None:
    for cookie in ("", "x", "a.b.c", "ff.99999999999.00", f"{'0' * 32}.1.x"):
        assert (await shut.get("/", Cookie=f"footnote_session={cookie}")).status_code == 303


async def test_no_other_site_signs_anybody_out(shut: Browser) -> None:
    await shut.client.post("/sign-in", data={"token": TOKEN})
    shut.client.headers["Sec-Fetch-Site"] = "cross-site"
    assert (await shut.post("/sign-out")).status_code == 403
    assert (await shut.get("/")).status_code == 200


async def test_a_program_shows_the_token(shut: Browser) -> None:
    good = {"Authorization": f"Bearer {TOKEN}"}
    assert (await shut.get("/api/threads/x", **good)).status_code == 404
    bad = {"Authorization": "Bearer wrong"}
    assert (await shut.get("/api/threads/x", **bad)).status_code == 401


# ---------------------------------------------------------------- behind a proxy


@pytest.fixture
async def proxied(open_console: OpenConsole) -> Running:
    return await open_console(**BEHIND_PROXY, admins=("grace",))


async def test_the_proxy_says_who_it_is(proxied: Running) -> None:
    ada = await proxied.browser("10.1.2.3", BASE, **{"X-User": "ada"})
    run = await ada.answered()
    record = await proxied.store.run(run)
    assert record is not None
    assert record.message.author.id == "ada"


async def test_a_proxy_may_name_us_by_address_and_no_other_name(proxied: Running) -> None:
    for host in ("10.1.2.3", "[fd00::1]:8080", "localhost:80", "Footnote.example"):
        ada = await proxied.browser("10.1.2.3", "http://x", **{"X-User": "ada", "Host": host})
        assert (await ada.get("/")).status_code == 200, host
    for host in ("evil.example", "footnote.example.evil.example"):  # made to point to a proxy
        boss = await proxied.browser("127.0.0.1", "http://x", **{"X-User": "boss", "Host": host})
        answer = await boss.get("/")
        assert (answer.status_code, "FOOTNOTE_PUBLIC_URL" in answer.text) == (403, True), host


async def test_a_forged_chain_of_proxies_changes_nobody(proxied: Running) -> None:
    for peer, chain in (("192.0.2.1", "127.0.0.1"), ("192.0.2.1", "10.1.2.3, 10.1.2.3")):
        headers = {"X-User": "boss", "X-Forwarded-For": chain}
        browser = await proxied.browser(peer, BASE, **headers)
        assert (await browser.get("/")).status_code == 403
    headers = {"X-User": "ada", "X-Forwarded-For": "192.0.2.9"}
    behind = await proxied.browser("127.0.0.1", BASE, **headers)
    assert (await behind.get("/")).status_code == 200


async def test_only_the_proxy_is_believed(proxied: Running) -> None:
    for peer, headers in (("192.0.2.1", {"X-User": "ada"}), ("10.1.2.3", {})):
        browser = await proxied.browser(peer, BASE, **headers)
        assert (await browser.get("/")).status_code == 403


async def test_people_see_their_own_conversations_and_admins_all(proxied: Running) -> None:
    ada, bob, grace = [
        await proxied.browser("10.1.2.3", BASE, **{"X-User": name})
        for name in ("ada", "bob", "grace")
    ]
    run = await ada.answered("How tall is the tower?")
    record = await proxied.store.run(run)
    assert record is not None
    path = f"/threads/{record.message.thread.thread}"
    seen_by = [(await each.get(path)).status_code for each in (ada, bob, grace)]
    assert seen_by == [200, 404, 200]
    for path in (f"/api/runs/{run}", f"/api/threads/{record.message.thread.thread}"):
        assert (await bob.get(path)).status_code == 404
    for action in ("stop", "edit", "delete", "feedback", "deeper", "follow-up"):
        assert (await bob.send(f"/runs/{run}/{action}", question="x y")).status_code == 404
    assert "tower" not in (await bob.get("/")).text
    assert "tower" in (await grace.get("/")).text


# ---------------------------------------------------------------- other sites


async def test_another_site_changes_nothing(browser: Browser) -> None:
    asked = {"question": "How tall is it?"}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        answer = await browser.client.post("/ask", data=asked, headers=headers)
        assert answer.status_code == 403, headers
        answer = await browser.client.post("/api/questions", json=asked, headers=headers)
        assert answer.status_code == 403, headers


async def test_no_site_may_ask_the_api_with_a_plain_form(browser: Browser) -> None:
    """A browser would send it without asking first."""
    body = '{"question": "How tall is it?"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        headers = {"Content-Type": kind}
        answer = await browser.client.post("/api/questions", content=body, headers=headers)
        assert answer.status_code == 415


# ---------------------------------------------------------------- what every answer carries


@pytest.mark.parametrize("settings", [{}, {"console_token": TOKEN}, BEHIND_PROXY])
async def test_every_answer_is_guarded(
    open_console: OpenConsole, settings: dict[str, object]
) -> None:
    browser = await (await open_console(**settings)).browser()
    for path in PATHS:
        answer = await browser.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert "*" not in policy, path
        assert "data:" not in policy, path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["referrer-policy"] == "same-origin", path
        assert "access-control-allow-origin" not in answer.headers, path


def attributes(answer: httpx.Response) -> set[str]:
    return {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}


async def test_cookies_are_not_for_scripts_or_other_sites(shut: Browser) -> None:
    told = attributes(await shut.post("/sign-in", token=TOKEN))
    assert {"httponly", "samesite=lax", "path=/"} <= told
    assert "secure" not in told


async def test_cookies_are_secure_where_the_address_is(open_console: OpenConsole) -> None:
    public = {"public_url": "https://footnote.example", "console_token": TOKEN}
    browser = await (await open_console(**public)).browser()
    answer = await browser.client.post("/sign-in", data={"token": TOKEN})
    assert "secure" in attributes(answer)


async def test_a_client_that_hammers_is_told_to_wait(
    open_console: OpenConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.access.gate.REQUESTS_PER_MINUTE", 20)
    browser = await (await open_console()).browser()
    codes = [(await browser.get("/static/x/none")).status_code for _ in range(25)]
    assert codes[:20] == [404] * 20
    assert 429 in codes[20:]


async def test_pages_hold_no_script_or_style_of_their_own(browser: Browser) -> None:
    run = await browser.answered()
    record = await browser.running.store.run(run)
    assert record is not None
    for path in ("/", f"/threads/{record.message.thread.thread}"):
        page = (await browser.get(path)).text
        assert " style=" not in page
        assert "<style" not in page
        assert page.count("<script") == page.count("<script ") == page.count(' src="/static/')
        assert "http://" not in page.replace("http://www.w3.org", "")
