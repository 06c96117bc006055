"""Signing in by an OpenID provider: who comes in as whom, and which providers are not believed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from adapters.web.access.single_sign_on import groups_in
from adapters.web.declaration import PLATFORM
from bot.core.errors import InvalidSetting, Unavailable
from bot.core.texts import texts_for
from bot.operation.configuration import load_settings
from bot.operation.console_access import has_console
from bot.storage.audit_log import Audit, AuditFilter
from tests.fakes.egress_proxy import egress_proxy
from tests.fakes.oidc import (
    CLIENT,
    SECRET,
    Claims,
    FakeProvider,
    a_key,
    signed,
    signed_with_public_key,
    unsigned,
)
from tests.fakes.server import serve
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

PUBLIC = "https://footnote.example"
TOKEN = "a-token-of-the-tests"
UNTRUSTED = texts_for("en")("sso-refused")


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    provider = FakeProvider(f"{PUBLIC}/sign-in/callback")
    with serve(provider.app) as provider.url:
        yield provider


@pytest.fixture
def settings(provider: FakeProvider) -> dict[str, Any]:
    return {
        "oidc_issuer": provider.url,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
        "public_url": PUBLIC,
    }


@pytest.fixture
async def console(open_console: OpenConsole, settings: dict[str, Any]) -> Running:
    return await open_console(**settings)


async def a_browser(console: Running) -> Browser:
    return await console.browser("192.0.2.1", PUBLIC)


async def sent_back(browser: Browser, to: str = "/", root: str = "") -> str:
    """Begin to sign in, and let the provider do its part: the path to come back to."""
    begun = await browser.get(f"/sign-in?to={to}")
    assert begun.status_code == 302, begun.text
    async with httpx.AsyncClient(trust_env=False) as client:
        sent = await client.get(begun.headers["location"])
    assert sent.status_code == 302, sent.text
    back = str(sent.headers["location"])
    assert back.startswith(f"{PUBLIC}{root}/sign-in/callback?")
    return back.removeprefix(PUBLIC + root)


async def sign_in(browser: Browser, to: str = "/") -> httpx.Response:
    return await browser.get(await sent_back(browser, to))


async def signed_in(console: Running) -> Browser:
    browser = await a_browser(console)
    answer = await sign_in(browser)
    assert answer.status_code == 303, answer.text
    return browser


async def refusal(console: Running) -> str:
    """The reason that the page gives for a failed sign-in; checks that no session began."""
    browser = await a_browser(console)
    answer = await sign_in(browser)
    assert answer.status_code == 403, answer.status_code
    assert "footnote_session" not in answer.headers.get("set-cookie", "")
    assert 'href="/sign-in?to=/"' in answer.text  # to try again
    assert (await browser.get("/")).status_code == 303
    return answer.text.partition('role="alert">')[2].partition("</p>")[0]


# ---------------------------------------------------------------- coming in


async def test_a_page_leads_to_the_provider_and_back(console: Running) -> None:
    browser = await a_browser(console)
    asked = await browser.get("/overview")
    assert asked.headers["location"] == "/sign-in?to=/overview"
    assert (await sign_in(browser, "/overview")).headers["location"] == "/overview"
    assert (await browser.get("/")).status_code == 200


async def test_the_person_is_the_claim_and_has_its_groups(
    open_console: OpenConsole, settings: dict[str, Any]
) -> None:
    console = await open_console(**settings, oidc_user_claim="email")
    browser = await signed_in(console)
    record = await console.store.run(await browser.answered())
    assert record is not None
    author = record.options.standing_of(record.message.author)
    assert (author.id, author.name, author.groups) == ("ada@example.com", "Ada", ("hr",))
    assert not author.admin


async def test_what_the_token_leaves_out_is_asked_for(
    console: Running, provider: FakeProvider
) -> None:
    provider.in_token = ()
    record = await console.store.run(await (await signed_in(console)).answered())
    assert record is not None
    assert record.options.standing_of(record.message.author).groups == ("hr",)
    assert provider.told("userinfo") == 1


async def test_people_see_their_own_conversations_and_operators_all(
    open_console: OpenConsole, settings: dict[str, Any], provider: FakeProvider
) -> None:
    console = await open_console(**settings, admin_groups="chiefs,others")
    ada = await signed_in(console)
    await ada.answered("How tall is the tower?")
    provider.person = {"sub": "2", "name": "Bob", "groups": ["hr"]}
    bob = await signed_in(console)
    provider.person = {"sub": "3", "name": "Grace", "groups": ["chiefs"]}
    grace = await signed_in(console)
    for browser, status, sees in ((ada, 403, True), (bob, 403, False), (grace, 200, True)):
        assert (await browser.get("/overview")).status_code == status
        assert ("tower" in (await browser.get("/")).text) is sees


async def test_cookies_are_for_this_site_alone(console: Running) -> None:
    browser = await a_browser(console)
    begun = (await browser.get("/sign-in")).headers["set-cookie"]
    assert begun.endswith("; Path=/sign-in; Max-Age=600; HttpOnly; SameSite=Lax; Secure")
    ended = (await sign_in(browser)).headers["set-cookie"]
    assert ended.endswith("; Path=/; Max-Age=36000; HttpOnly; SameSite=Lax; Secure")


async def test_everything_is_below_the_path_of_the_address(
    open_console: OpenConsole, settings: dict[str, Any], provider: FakeProvider
) -> None:
    provider.redirect = f"{PUBLIC}/ask/sign-in/callback"
    console = await open_console(**{**settings, "public_url": f"{PUBLIC}/ask"})
    browser = await a_browser(console)
    begun = await browser.get("/sign-in")
    cookie = begun.headers["set-cookie"]
    assert "; Path=/ask/sign-in;" in cookie
    browser.client.headers["cookie"] = cookie.partition(";")[0]
    answer = await browser.get(await sent_back(browser, "/overview", "/ask"))
    assert answer.headers["location"] == "/ask/overview"
    assert "; Path=/ask;" in answer.headers["set-cookie"]


async def test_many_tabs_sign_in_at_once(console: Running) -> None:
    browser = await a_browser(console)
    backs = [await sent_back(browser, f"/threads/{n}") for n in range(3)]
    answers = [await browser.get(back) for back in reversed(backs)]
    assert [each.headers["location"] for each in answers] == [f"/threads/{n}" for n in (2, 1, 0)]


async def test_programs_show_the_token_and_browsers_cannot(
    open_console: OpenConsole, settings: dict[str, Any]
) -> None:
    browser = await a_browser(await open_console(**settings, console_token=TOKEN))
    shown = {"Authorization": f"Bearer {TOKEN}"}
    assert (await browser.get("/api/threads/x", **shown)).status_code == 404
    assert (await browser.get("/api/threads/x", Authorization="Bearer no")).status_code == 401
    assert (await browser.client.post("/sign-in", data={"token": TOKEN})).status_code == 405


async def test_without_a_token_no_program_comes_in(console: Running) -> None:
    browser = await a_browser(console)
    for shown in ("Bearer ", "Bearer x", "Basic eDp4"):
        assert (await browser.get("/api/threads/x", Authorization=shown)).status_code == 401


async def test_the_audit_log_knows_who_came_in_and_left(
    console: Running, provider: FakeProvider
) -> None:
    ada = await signed_in(console)
    changed(aud="another")(provider)
    await refusal(console)
    provider.change = lambda told: None
    await ada.get("/")
    await ada.send("/sign-out")
    entries = Audit(console.store.database).entries(AuditFilter())
    assert [(row.person, row.deed, row.outcome, row.address) async for row in entries] == [
        ("0001", "signed-in", "done", "192.0.2.1"),
        ("", "signed-in", "refused", "192.0.2.1"),
        ("0001", "signed-out", "done", "192.0.2.1"),
    ]


# ---------------------------------------------------------------- who stays outside


async def test_only_members_of_the_allowed_groups_come_in(
    open_console: OpenConsole, settings: dict[str, Any], provider: FakeProvider
) -> None:
    console = await open_console(**settings, oidc_allow_groups="hr,finance")
    await signed_in(console)
    provider.person = {"sub": "2", "groups": ["hrx"]}
    assert "may not use this console" in await refusal(console)


async def test_nobody_takes_the_id_of_the_nameless(
    console: Running, provider: FakeProvider
) -> None:
    for sub in ("local", "token", "", "x" * 201, 7):
        provider.person = {"sub": sub, "name": "Mallory", "groups": []}
        assert await refusal(console)


async def test_an_address_that_nobody_verified_names_nobody(
    open_console: OpenConsole, settings: dict[str, Any], provider: FakeProvider
) -> None:
    console = await open_console(**settings, oidc_user_claim="email")
    provider.person["email_verified"] = False
    assert "“email”" in await refusal(console)


async def test_a_no_of_the_provider_is_told_as_text(console: Running) -> None:
    browser = await a_browser(console)
    back = await sent_back(browser)
    state = httpx.URL(back).params["state"]
    said = {"error": "access_denied", "error_description": "<b>no</b>", "state": state}
    answer = await browser.client.get("/sign-in/callback", params=said)
    assert answer.status_code == 403
    assert "&lt;b&gt;no&lt;/b&gt;" in answer.text


# ---------------------------------------------------------------- providers that misbehave

Misbehaviour = Callable[[FakeProvider], None]


def changed(**claims: Any) -> Misbehaviour:
    def misbehave(provider: FakeProvider) -> None:
        provider.change = lambda told: told.update(claims)

    return misbehave


def clock(seconds: int) -> Misbehaviour:
    """A token made when its clock was wrong by so much; good for five minutes."""

    def change(told: Claims) -> None:
        told |= {"iat": told["iat"] + seconds, "exp": told["exp"] + seconds}

    return lambda provider: setattr(provider, "change", change)


def without(name: str) -> Misbehaviour:
    return lambda provider: setattr(provider, "change", lambda told: told.pop(name))


def signs(sign: Callable[[Claims], str]) -> Misbehaviour:
    return lambda provider: setattr(provider, "sign", sign)


def _another_signature(claims: Claims) -> str:
    head, body, _ = signed(claims).split(".")
    return f"{head}.{body}.{signed({**claims, 'sub': 'boss'}).split('.')[2]}"


MISBEHAVIOURS = [
    clock(-400),
    clock(90),
    changed(nbf=int(time.time()) + 86_400),
    changed(iss="https://evil.example"),
    changed(aud="another"),
    changed(aud="another", azp=CLIENT),
    changed(aud=["another", "third"]),
    changed(aud=[CLIENT, "another"], azp="another"),
    changed(nonce="of another sign-in"),
    *map(without, ("nonce", "exp", "iat", "sub")),
    changed(at_hash="AAAA"),
    changed(exp="soon"),
    signs(unsigned),
    signs(signed_with_public_key),
    signs(lambda claims: signed(claims, "evil")),
    signs(lambda claims: signed(claims, "evil", named="one")),
    signs(_another_signature),
    signs(lambda claims: "no.token.at all"),
    signs(lambda claims: ""),
]


async def test_a_token_that_proves_nothing_is_refused(
    console: Running, provider: FakeProvider
) -> None:
    change, sign = provider.change, provider.sign
    for number, misbehave in enumerate(MISBEHAVIOURS):
        provider.change, provider.sign = change, sign
        misbehave(provider)
        assert await refusal(console) == UNTRUSTED, number


async def test_clocks_may_differ_by_a_minute(console: Running, provider: FakeProvider) -> None:
    for seconds in (-340, -50, 50):
        clock(seconds)(provider)
        await signed_in(console)


async def test_an_answer_of_another_provider_is_refused(
    console: Running, provider: FakeProvider
) -> None:
    """The mix-up attack of RFC 9207."""
    for issuer in ("https://evil.example", ""):
        provider.issuer_in_answer = issuer
        assert await refusal(console) == UNTRUSTED
    assert provider.told("token") == 0


async def test_userinfo_about_somebody_else_is_refused(
    console: Running, provider: FakeProvider
) -> None:
    provider.in_token = ()
    changed(sub="boss")(provider)
    assert await refusal(console) == UNTRUSTED


async def test_a_wrong_secret_is_told_to_the_operator(
    open_console: OpenConsole, settings: dict[str, Any]
) -> None:
    console = await open_console(**{**settings, "oidc_client_secret": "wrong"})
    assert await refusal(console) == UNTRUSTED


async def test_new_keys_are_read_when_a_token_names_one(
    console: Running, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await signed_in(console)
    await signed_in(console)
    assert provider.told("keys") == 1
    provider.keys, provider.sign = ("two",), lambda claims: signed(claims, "two")
    await signed_in(console)
    assert provider.told("keys") == 2
    provider.sign = signed  # by the key that was taken away
    assert await refusal(console) == UNTRUSTED


async def test_keys_that_were_taken_away_are_forgotten_within_an_hour(
    console: Running, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await signed_in(console)
    provider.keys = ("two",)
    await signed_in(console)  # "one" is still known
    monkeypatch.setattr("adapters.web.access.single_sign_on.FRESH_SECONDS", -1.0)
    assert await refusal(console) == UNTRUSTED


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": ""},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
async def test_a_document_that_leads_astray_is_not_followed(
    console: Running, provider: FakeProvider, document: dict[str, Any]
) -> None:
    provider.document = document
    answer = await (await a_browser(console)).get("/sign-in")
    assert answer.status_code == 503


async def test_a_provider_that_is_away_is_asked_again(
    console: Running, provider: FakeProvider
) -> None:
    provider.down = True
    browser = await a_browser(console)
    answer = await browser.get("/sign-in?to=/overview")
    assert answer.status_code == 503
    assert "cannot be reached now" in answer.text
    assert 'href="/sign-in?to=/overview"' in answer.text
    provider.down = False
    assert (await sign_in(browser)).status_code == 303


async def test_a_provider_that_never_ends_its_answer_is_left(
    console: Running, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte comes in time, so only a limit on the whole step ends it."""
    browser = await a_browser(console)
    back = await sent_back(browser)
    provider.endless = True
    monkeypatch.setattr("adapters.web.access.single_sign_on.CALL_SECONDS", 0.2)
    answer = await browser.get(back)
    assert answer.status_code == 503
    assert "cannot be reached now" in answer.text


async def test_the_provider_is_asked_through_the_proxy(
    console: Running, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await a_browser(console)
    back = await sent_back(browser)
    async with egress_proxy("honest", urlsplit(provider.url).port or 0) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setattr("adapters.web.access.single_sign_on.FRESH_SECONDS", -1.0)
        assert (await browser.get(back)).status_code == 303
    assert {f"POST {provider.url}/token", f"GET {provider.url}/keys"} < set(proxy.asked)


# ---------------------------------------------------------------- states


async def test_a_code_is_good_once_and_in_one_browser(console: Running) -> None:
    browser, other = await a_browser(console), await a_browser(console)
    back = await sent_back(browser)
    assert (await other.get(back)).status_code == 403
    await other.get("/sign-in")  # now it has a secret, of its own
    assert (await other.get(back)).status_code == 403
    assert (await browser.get(back)).status_code == 303
    browser.client.cookies.delete("footnote_session")
    again = await browser.get(back)
    assert again.status_code == 403
    assert "took too long" in again.text


async def test_a_made_up_state_is_refused(console: Running, provider: FakeProvider) -> None:
    browser = await a_browser(console)
    await browser.get("/sign-in")
    for state in ("", ".", "x", "eyJ.x", "W10.x", "WyJhIiwgOTk5OTk5OTk5OSwgIi8iXQ.00", "ä"):
        answer = await browser.client.get("/sign-in/callback", params={"code": "x", "state": state})
        assert answer.status_code == 403, state
    assert provider.told("token") == 0


async def test_a_late_return_is_refused(console: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = await a_browser(console)
    back = await sent_back(browser)
    monkeypatch.setattr("adapters.web.access.single_sign_on.time.time", lambda: 4_000_000_000.0)
    assert (await browser.get(back)).status_code == 403


async def test_who_is_signed_in_meanwhile_goes_on(console: Running) -> None:
    browser, other = await a_browser(console), await a_browser(console)
    back = await sent_back(other, "/overview")
    await sign_in(browser)
    assert (await browser.get(back)).headers["location"] == "/"


# ---------------------------------------------------------------- the end of a session


async def sign_out(browser: Browser, **fields: str) -> httpx.Response:
    return await browser.post("/sign-out", **fields)


async def test_signing_out_ends_the_session_here_and_at_the_provider(
    console: Running, provider: FakeProvider
) -> None:
    browser, other = await signed_in(console), await signed_in(console)
    kept = dict(browser.client.cookies)
    assert "signed in as Ada" in (await browser.get("/sign-out")).text
    answer = await sign_out(browser)
    assert "Max-Age=0" in answer.headers["set-cookie"]
    url = answer.text.partition("0; url=")[2].partition('"')[0].replace("&amp;", "&")
    led = httpx.URL(url)
    assert url.startswith(f"{provider.url}/end?")
    assert led.params["post_logout_redirect_uri"] == f"{PUBLIC}/sign-in/signed-out"
    assert led.params["client_id"] == CLIENT
    assert led.params["id_token_hint"].count(".") == 2
    assert (await browser.get("/")).status_code == 303
    copied = f"footnote_session={kept['footnote_session']}"  # from the browser's files
    assert (await browser.get("/", Cookie=copied)).status_code == 303
    assert (await other.get("/")).status_code == 200
    assert "You are signed out" in (await browser.get("/sign-in/signed-out")).text


async def test_a_provider_without_an_end_of_sessions_is_not_led_to(
    console: Running, provider: FakeProvider
) -> None:
    provider.document = {"end_session_endpoint": None}
    browser = await signed_in(console)
    answer = await sign_out(browser)
    assert answer.headers["location"] == "/sign-in/signed-out"
    assert (await browser.get("/")).status_code == 303


async def test_signing_out_everywhere_ends_the_sessions_of_one_person(
    console: Running, provider: FakeProvider
) -> None:
    one, other = await signed_in(console), await signed_in(console)
    provider.person = {"sub": "2", "name": "Bob"}
    bob = await signed_in(console)
    await sign_out(one, all="true")
    codes = [(await each.get("/")).status_code for each in (one, other, bob)]
    assert codes == [303, 303, 200]


async def test_a_session_ends_after_its_hours(
    open_console: OpenConsole, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = await open_console(**settings, oidc_session_hours=1e-9)
    browser = await a_browser(console)
    answer = await sign_in(browser)
    secret = answer.headers["set-cookie"].partition(";")[0]
    assert (await browser.get("/", Cookie=secret)).status_code == 303


# ---------------------------------------------------------------- claims and settings


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        ("groups", ("a", "b")),
        ("one", ("staff",)),
        ("realm_access.roles", ("r",)),
        ("https://example.com/groups", ("g",)),
        ("number", ()),
        ("mixed", ("a",)),
        ("missing", ()),
        ("one.more", ()),
    ],
)
def test_groups_are_read_from_a_claim(claim: str, groups: tuple[str, ...]) -> None:
    claims = {
        "groups": ["a", "b", "a"],
        "one": "staff",
        "realm_access": {"roles": ["r"]},
        "https://example.com/groups": ["g"],
        "number": 3,
        "mixed": ["a", 1, None, ""],
    }
    assert groups_in(claims, claim) == groups


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"oidc_client_id": ""}, "FOOTNOTE_OIDC_CLIENT_ID"),
        ({"console_user_header": "X-User"}, "FOOTNOTE_CONSOLE_USER_HEADER"),
        ({"public_url": "", "http_host": "0.0.0.0"}, "FOOTNOTE_PUBLIC_URL"),
        ({"public_url": "http://footnote.example"}, "https://"),
        ({"oidc_issuer": "http://login.example"}, "https://"),
        ({"oidc_issuer": "login.example"}, "https://"),
    ],
)
def test_settings_that_sign_nobody_in_are_refused(changes: dict[str, str], words: str) -> None:
    good = {
        "oidc_issuer": "https://login.example",
        "oidc_client_id": CLIENT,
        "public_url": PUBLIC,
    }
    assert has_console(load_settings(**good))
    with pytest.raises(InvalidSetting, match=words):
        has_console(load_settings(**{**good, **changes}))


async def test_the_doctor_tells_what_to_register(
    provider: FakeProvider, settings: dict[str, Any]
) -> None:
    told = str(await PLATFORM.check(load_settings(**{**settings, "public_url": f"{PUBLIC}/ask"})))
    for path in ("callback", "signed-out"):
        assert f"{PUBLIC}/ask/sign-in/{path} " in f"{told} "
    assert "with one key" in told


async def test_the_doctor_tells_what_is_wrong_with_a_provider(
    provider: FakeProvider, settings: dict[str, Any]
) -> None:
    provider.document = {"issuer": "https://login.example/"}
    with pytest.raises(Unavailable, match=r"calls itself https://login\.example/"):
        await PLATFORM.check(load_settings(**settings))
    provider.down = True
    with pytest.raises(Unavailable, match=r"/\.well-known/openid-configuration"):
        await PLATFORM.check(load_settings(**settings))


def test_keys_of_the_tests_differ() -> None:
    """Else no test of a wrong key would prove anything."""
    assert a_key("one").thumbprint() != a_key("evil").thumbprint()
