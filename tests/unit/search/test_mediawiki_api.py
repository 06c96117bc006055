"""One wiki's API: finding it, and its errors by meaning."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import (
    Broken,
    CredentialsRefused,
    FootnoteError,
    PageUnreadable,
    ProviderUnavailable,
    Refused,
)
from bot.search.engines import retry_after
from bot.search.mediawiki import MAX_REPLY_BYTES, WikiApi, endpoints
from tests.fakes.mediawiki import FakeWiki

SITE = {
    "query": {
        "general": {
            "generator": "MediaWiki 1.43.0",
            "sitename": "W",
            "server": "//wiki.example",
            "articlepath": "/wiki/$1",
        },
        "extensions": [{"name": "CirrusSearch"}, {"name": "TextExtracts"}],
    }
}

Handler = Callable[[httpx.Request], httpx.Response]


def api(handler: Handler, base: str = "https://wiki.example") -> WikiApi:
    return WikiApi(base, httpx.AsyncClient(transport=httpx.MockTransport(handler)))


def after_site(answer: Callable[[], httpx.Response]) -> Handler:
    """A wiki that tells what it is and then gives one answer to everything."""

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=SITE) if "siteinfo" in str(request.url) else answer()

    return handle


# ---------------------------------------------------------------- finding it


@pytest.mark.parametrize(
    ("base", "places"),
    [
        ("https://w.example", ["https://w.example/w/api.php", "https://w.example/api.php"]),
        (
            "http://w.example:8080/wiki/",
            [
                "http://w.example:8080/wiki/w/api.php",
                "http://w.example:8080/wiki/api.php",
                "http://w.example:8080/w/api.php",
                "http://w.example:8080/api.php",
            ],
        ),
        ("https://w.example/x/api.php", ["https://w.example/x/api.php"]),
        ("https://w.example/x/index.php", ["https://w.example/x/api.php"]),
    ],
)
def test_where_api_php_may_be(base: str, places: list[str]) -> None:
    assert endpoints(base) == places


@pytest.mark.parametrize("script_path", ["/w", "", "/wiki", "/deep/er"])
async def test_it_is_found_once_and_remembered(script_path: str) -> None:
    wiki = FakeWiki(script_path=script_path)
    base = "http://wiki.example" + (script_path if script_path != "/w" else "")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(wiki.app)) as client:
        found = WikiApi(base, client)
        site = await found.site()
        assert site.endpoint == f"http://wiki.example{script_path}/api.php"
        assert await found.site() is site
    assert len(wiki.asked(meta="siteinfo")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        lambda: httpx.Response(404, text="<html>"),
        lambda: httpx.Response(200, text="<html>"),
        lambda: httpx.Response(200, json={"query": {"general": {"generator": "DokuWiki"}}}),
        lambda: httpx.Response(200, json=[]),
    ],
)
async def test_an_address_without_a_wiki_is_broken_and_names_the_setting(
    answer: Callable[[], httpx.Response],
) -> None:
    with pytest.raises(Broken, match="FOOTNOTE_WIKIPEDIA_URL"):
        await api(lambda request: answer()).site()


async def test_a_wiki_that_is_down_is_asked_again_next_time() -> None:
    answers = [httpx.Response(503), httpx.Response(200, json=SITE)]
    wiki = api(lambda request: answers.pop(0))
    with pytest.raises(ProviderUnavailable):
        await wiki.site()
    assert (await wiki.site()).name == "W"


async def test_a_password_in_the_address_is_never_shown() -> None:
    wiki = api(lambda request: httpx.Response(404), "https://me:secret@wiki.example")
    with pytest.raises(Broken) as caught:
        await wiki.site()
    assert "secret" not in str(caught.value)


# ---------------------------------------------------------------- errors


def _error(code: str, **headers: str) -> Callable[[], httpx.Response]:
    return lambda: httpx.Response(
        200, json={"errors": [{"code": code, "text": "why"}]}, headers=headers
    )


def _raise(error: Exception) -> httpx.Response:
    raise error


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (lambda: httpx.Response(429), ProviderUnavailable),
        (lambda: httpx.Response(500), ProviderUnavailable),
        (lambda: httpx.Response(503), ProviderUnavailable),
        (_error("maxlag"), ProviderUnavailable),
        (_error("ratelimited"), ProviderUnavailable),
        (_error("internal_api_error_DBQueryError"), ProviderUnavailable),
        (_error("readonly"), ProviderUnavailable),
        (lambda: httpx.Response(401), CredentialsRefused),
        (lambda: httpx.Response(403, text="bad agent"), CredentialsRefused),
        (_error("readapidenied"), CredentialsRefused),
        (_error("permissiondenied"), CredentialsRefused),
        (_error("badvalue"), Refused),
        (_error("missingtitle"), PageUnreadable),
        (lambda: httpx.Response(200, text="<html>error</html>"), Broken),
        (lambda: httpx.Response(200, text="[1, 2]"), Broken),
        (lambda: httpx.Response(200, text="[" * 100_000), Broken),
        (lambda: httpx.Response(404, text="gone"), Broken),
        (lambda: httpx.Response(200, content=b"x" * (MAX_REPLY_BYTES + 1)), Broken),
        (lambda: _raise(httpx.ConnectError("refused")), ProviderUnavailable),
        (lambda: _raise(httpx.ReadTimeout("slow")), ProviderUnavailable),
        (lambda: _raise(httpx.RemoteProtocolError("cut")), ProviderUnavailable),
        (lambda: _raise(httpx.TooManyRedirects("loop")), Broken),
        (
            lambda: httpx.Response(200, json={"error": {"code": "maxlag", "info": "old form"}}),
            ProviderUnavailable,
        ),
    ],
)
async def test_every_failure_has_a_meaning(
    answer: Callable[[], httpx.Response], meaning: type[FootnoteError]
) -> None:
    with pytest.raises(FootnoteError) as caught:
        await api(after_site(answer)).html("A")
    assert type(caught.value) is meaning
    assert caught.value.sentence.endswith(".")


async def test_retry_after_comes_along() -> None:
    for answer in (
        lambda: httpx.Response(429, headers={"Retry-After": "7"}),
        _error("maxlag", **{"Retry-After": "7"}),
    ):
        with pytest.raises(ProviderUnavailable) as caught:
            await api(after_site(answer)).html("A")
        assert caught.value.retry_after == 7


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("120", 120), ("", None), ("soon", None), ("-5", None), ("1.5", None), ("²", None)],
)
def test_retry_after_in_seconds(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


def test_retry_after_as_a_date() -> None:
    moment = datetime.now(UTC) + timedelta(seconds=60)
    seconds = retry_after({"retry-after": format_datetime(moment, usegmt=True)})
    assert seconds is not None
    assert 50 < seconds <= 60
    past = datetime.now(UTC) - timedelta(seconds=60)
    assert retry_after({"retry-after": format_datetime(past, usegmt=True)}) == 0


# ---------------------------------------------------------------- strange answers

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["query", "pages", "title", "errors", "code", "canonicalurl", "index", "parse", "text",
             "redirects", "from", "to", "pageprops", "extract", "general", "generator", "snippet"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
async def test_whatever_json_comes_only_our_errors_go(reply: Any) -> None:
    def answer() -> httpx.Response:
        return httpx.Response(200, content=json.dumps(reply).encode())

    wiki = api(after_site(answer))
    for asked in (
        wiki.search("q", "text", 5),
        wiki.look_up(["A"]),
        wiki.article("A"),
        wiki.html("A"),
    ):
        try:
            await asked
        except FootnoteError as error:
            assert error.sentence  # noqa: PT017


async def test_hits_come_in_the_order_of_the_search_not_of_the_answer() -> None:
    reply = {
        "query": {
            "pages": [
                {"title": title, "ns": 0, "canonicalurl": f"https://w.example/{title}", "index": i}
                for title, i in (("A", 3), ("B", 1), ("C", 2))
            ]
        }
    }
    wiki = api(after_site(lambda: httpx.Response(200, json=reply)))
    assert [page.title for page in await wiki.search("q", "text", 5)] == ["B", "C", "A"]


async def test_a_ring_of_redirects_ends() -> None:
    reply = {
        "query": {
            "redirects": [{"from": "A", "to": "B"}, {"from": "B", "to": "A"}],
            "pages": [{"title": "A", "ns": 0, "canonicalurl": "https://wiki.example/wiki/A"}],
        }
    }
    pages = await api(after_site(lambda: httpx.Response(200, json=reply))).look_up(["A"])
    assert [page.title for page in pages] == ["A"]
