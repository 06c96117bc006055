"""The common part of search engines: what is sent, hits, page texts, errors by meaning."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse, Response

from bot.core.errors import (
    Broken,
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ProviderUnavailable,
    Refused,
)
from bot.core.texts import Said
from bot.operation.configuration import load_settings
from bot.pages.extract import from_bytes
from bot.search.engines import (
    KEPT_CHARACTERS,
    KEPT_SECONDS,
    LONGEST,
    MAX_REPLY_BYTES,
    SuppliedTexts,
    matching_hits,
    plain,
    short,
    web_hit,
    with_sites,
)
from bot.search.provider import Hit, Query, is_traditional_chinese, language, region
from bot.search.providers import tavily
from bot.search.registry import declarations
from tests.fakes.engines import KEY, FakeEngine, refusal
from tests.fakes.server import serve
from tests.fakes.web_engines import FakeBrave, FakeSearxng, FakeSerper, FakeTavily
from tests.unit.search.engines import KEYS, opened


@pytest.mark.parametrize(
    ("given_text", "text"),
    [
        ("a <strong>b</strong> c", "a b c"),
        ("<b>AT&amp;T</b> &#x27;n&#39; co&nbsp;", "AT&T 'n' co"),
        ("one<br>two<br/>three", "one two three"),
        ("line\none\ttab\x00nul\u200b.", "line one tab nul ."),
        ("if a < b and b > c", "if a < b and b > c"),
        ("The <div> element", "The <div> element"),
        ("a <!-- hidden --> b", "a b"),
        ("x&lt;b&gt;y", "x<b>y"),
        ('<a href="https://x.example/?a>b">link</a>', "link"),
        ("نمی\u200cدانم 👩\u200d🚀", "نمی\u200cدانم 👩\u200d🚀"),
        ("\ud800broken", "broken"),
        ("", ""),
        (None, ""),
        (["a"], ""),
        (7, ""),
    ],
)
def test_text_is_made_plain(given_text: object, text: str) -> None:
    assert plain(given_text) == text


@pytest.mark.parametrize(
    "url",
    [
        None,
        7,
        "",
        "/relative",
        "javascript:alert(1)",
        "ftp://a.example/",
        "https://",
        "https://user:secret@a.example/",
        "http://[::1",
        "data:text/html,x",
        "https://a.example/" + "x" * 9_000,
    ],
)
def test_what_is_no_web_address_is_no_hit(url: object) -> None:
    assert web_hit("x", url, "Title", "Text") is None


def test_a_hit_carries_the_address_in_its_one_spelling() -> None:
    hit = web_hit("x", "HTTPS://Bücher.example:443/a b?utm_source=y#top", "T")
    assert hit is not None
    assert hit.url == "https://xn--bcher-kva.example/a%20b"


def test_several_snippets_are_one_and_none_is_repeated() -> None:
    hit = web_hit("x", "https://a.example/", "T", "One.", "Two.", "One.", None, "")
    assert hit is not None
    assert hit.snippet == "One. … Two."


@pytest.mark.parametrize("title", ["", None, "<b></b>", "\n"])
def test_a_page_without_title_is_called_by_its_host(title: object) -> None:
    hit = web_hit("x", "https://a.example/page", title)
    assert hit is not None
    assert hit.title == "a.example"


def test_very_long_texts_are_cut_between_words() -> None:
    hit = web_hit("x", "https://a.example/", "word " * 500, "word " * 5_000)
    assert hit is not None
    assert len(hit.title) <= 300
    assert len(hit.snippet) <= 2_000
    assert hit.title.endswith("word …")
    assert hit.snippet.endswith("word …")


@pytest.mark.parametrize(
    ("domains", "kept"),
    [
        (("a.example",), ["a.example", "sub.a.example"]),
        (("*.a.example",), ["a.example", "sub.a.example"]),
        (("https://www.b.example/page",), ["b.example"]),
        (("a.example", "b.example"), ["a.example", "sub.a.example", "b.example"]),
        (("none.example",), []),
        (("no host",), []),
        ((), ["a.example", "sub.a.example", "nota.example", "b.example"]),
    ],
)
def test_only_pages_of_the_wanted_domains_are_kept(
    domains: tuple[str, ...], kept: list[str]
) -> None:
    hosts = ["a.example", "sub.a.example", "nota.example", "b.example"]
    found = [web_hit("x", f"https://{host}/", host) for host in hosts]
    assert [hit.title for hit in matching_hits(found, Query("q", 9, domains=domains))] == kept


@pytest.mark.parametrize(
    ("domains", "query"),
    [
        ((), "the tides"),
        (("a.example",), "the tides site:a.example"),
        (("a.example", "A.example"), "the tides site:a.example"),
        (("a.example", "b.example"), "the tides (site:a.example OR site:b.example)"),
        (("no host",), "the tides"),
    ],
)
def test_domains_become_operators(domains: tuple[str, ...], query: str) -> None:
    assert with_sites("the tides", domains, 400) == query


@given(
    st.text(),
    st.lists(st.from_regex(r"[a-z]{1,40}\.example", fullmatch=True), max_size=40),
    st.integers(10, 500),
    st.integers(3, 60),
)
def test_a_query_with_operators_keeps_the_engines_limits(
    text: str, domains: list[str], characters: int, words: int
) -> None:
    query = with_sites(text, domains, characters, words)
    assert len(query) <= characters
    assert len(query.split()) <= words


@given(st.text(), st.integers(1, 100), st.integers(1, 20))
def test_a_shortened_text_is_its_beginning_in_whole_words(
    text: str, characters: int, words: int
) -> None:
    kept = short(text, characters, words)
    assert len(kept) <= characters
    assert len(kept.split()) <= words
    whole = text.split()
    if whole and len(whole[0]) <= characters:
        assert kept.split() == whole[: len(kept.split())]
        assert kept


@given(st.text())
def test_plain_text_is_one_line_without_marks_or_controls(text: str) -> None:
    made = plain(text)
    assert made == " ".join(made.split())
    assert "\x00" not in made
    made.encode()


def test_spellings_of_an_address_are_one_page() -> None:
    texts = SuppliedTexts("Tavily")
    texts.keep("https://www.a.example/page?utm_source=x", "A", "words")
    found = texts.of("https://a.example/page")
    assert found is not None
    assert (found.text, found.by) == ("words", "Tavily")
    assert texts.of("https://a.example/other") is None
    assert texts.of("no address") is None


def test_the_newest_texts_are_kept_and_none_for_ever() -> None:
    now = [0.0]
    texts = SuppliedTexts("Tavily", clock=lambda: now[0])
    count = KEPT_CHARACTERS // LONGEST + 5
    for number in range(count):
        texts.keep(f"https://a.example/{number}", "", "x" * (2 * LONGEST))
    assert texts.of("https://a.example/0") is None
    newest = texts.of(f"https://a.example/{count - 1}")
    assert newest is not None
    assert len(newest.text) == LONGEST
    now[0] = KEPT_SECONDS + 1
    assert texts.of(f"https://a.example/{count - 1}") is None


@given(st.lists(st.text("ab #*_`|-+>[]1.\\=~"), min_size=2, max_size=4))
def test_excerpts_stay_the_words_they_were(excerpts: list[str]) -> None:
    said = [" ".join(each.split()) for each in excerpts]
    texts = SuppliedTexts("Brave")
    texts.keep_excerpts("https://a.example/", "A", said)
    found = texts.of("https://a.example/")
    distinct = list(dict.fromkeys(filter(None, said)))
    if len(distinct) < 2:
        assert found is None
        return
    assert found is not None
    read = from_bytes(found.text.encode(), found.media_type, "https://a.example/")
    # Marks may become structure, as in any plain text; no word is lost or added.
    assert _words(read.text) == _words("\n\n".join(distinct))


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@pytest.mark.parametrize(
    ("tag", "own", "expected"),
    [
        ("de", "", ("de", "", False)),
        ("de-AT", "", ("de", "AT", False)),
        ("de_at", "", ("de", "AT", False)),
        ("de-AT", "ch", ("de", "CH", False)),
        ("", "FR", ("", "FR", False)),
        ("", "", ("", "", False)),
        ("EN", "", ("en", "", False)),
        ("zh", "", ("zh", "", False)),
        ("zh-Hans", "", ("zh", "", False)),
        ("zh-Hant", "", ("zh", "", True)),
        ("zh-Hant-HK", "", ("zh", "HK", True)),
        ("zh-TW", "", ("zh", "TW", True)),
        ("zh", "HK", ("zh", "HK", True)),
        ("zh-Hans", "TW", ("zh", "TW", False)),
        ("de", "TW", ("de", "TW", False)),
        ("haw", "", ("haw", "", False)),
        ("klingon", "", ("", "", False)),
        ("日本", "", ("", "", False)),
        ("e1", "??", ("", "", False)),
        ("-", "U", ("", "", False)),
    ],
)
def test_a_tag_is_taken_apart(tag: str, own: str, expected: tuple[str, str, bool]) -> None:
    query = Query("q", 5, language=tag, region=own)
    assert (language(query), region(query), is_traditional_chinese(query)) == expected


ENGINES: dict[str, Callable[[], FakeEngine]] = {
    "searxng": FakeSearxng,
    "serper": FakeSerper,
    "brave": FakeBrave,
    "tavily": FakeTavily,
}
SETTING = {
    "searxng": "FOOTNOTE_SEARXNG_URL",
    "serper": "SERPER_API_KEY",
    "brave": "BRAVE_SEARCH_API_KEY",
    "tavily": "TAVILY_API_KEY",
}


@pytest.fixture(params=sorted(ENGINES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def refused(name: str, answer: Response) -> FootnoteError:
    engine = ENGINES[name]()
    engine.failures.append(answer)
    async with opened(name, engine) as provider:
        with pytest.raises(FootnoteError) as caught:
            await provider.search(Query("tides", 5))
    assert len(engine.asked) == 1, "trying again is the business of others"
    return caught.value


async def test_a_key_that_is_not_accepted_names_its_setting(name: str) -> None:
    error = await refused(name, refusal(401, {"message": "no"}))
    assert isinstance(error, CredentialsRefused)
    assert SETTING[name] in error.sentence
    assert KEY not in str(error)


@pytest.mark.parametrize("name", ["brave", "serper", "tavily"])
async def test_a_key_that_changes_in_its_file_goes_with_the_next_request(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text("an-old-key\n")
    monkeypatch.setenv(f"{SETTING[name]}_FILE", str(file))
    async with opened(name, ENGINES[name](), **dict.fromkeys(KEYS)) as provider:
        with pytest.raises(CredentialsRefused):
            await provider.search(Query("tides", 5))
        file.write_text(f"{KEY}\n")
        await provider.search(Query("tides", 5))


@pytest.mark.parametrize("status", [402, 432, 433])
async def test_a_spent_quota_says_so_and_is_left_alone_for_long(name: str, status: int) -> None:
    error = await refused(name, refusal(status, {}))
    assert isinstance(error, ProviderUnavailable)
    assert "is used up: raise the plan’s limit" in error.sentence
    assert error.retry_after == 3_600


@pytest.mark.parametrize(("header", "seconds"), [("12", 12.0), ("soon", None), ("", None)])
async def test_too_many_requests_carry_the_engines_own_wait(
    name: str, header: str, seconds: float | None
) -> None:
    error = await refused(name, refusal(429, {}, retry_after=header))
    assert isinstance(error, ProviderUnavailable)
    assert error.retry_after == seconds


@pytest.mark.parametrize("status", [500, 503, 520])
async def test_an_engine_that_is_down_may_be_asked_again(name: str, status: int) -> None:
    error = await refused(name, PlainTextResponse("<html>down</html>", status))
    assert isinstance(error, ProviderUnavailable)
    assert str(status) in error.sentence


@pytest.mark.parametrize("status", [400, 403, 404, 413, 422])
async def test_other_refusals_are_final(name: str, status: int) -> None:
    assert isinstance(await refused(name, refusal(status, {"message": "bad"})), Refused)


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_a_redirect_is_not_followed(name: str, status: int) -> None:
    """The key stays with the configured host."""
    error = await refused(name, Response("", status, {"location": "http://127.0.0.1/steal"}))
    assert isinstance(error, Broken)
    assert f"check FOOTNOTE_{name.upper()}_URL" in error.sentence


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1, 2]", b'"text"', b"null", b"{", b"\xff\xfe", b"[" * 100_000]
)
async def test_a_result_that_is_no_json_object_is_broken(name: str, body: bytes) -> None:
    assert isinstance(await refused(name, Response(body)), Broken)


MOST = max(MAX_REPLY_BYTES, tavily.MAX_REPLY_BYTES)


async def test_an_endless_answer_is_not_read_to_its_end(name: str) -> None:
    error = await refused(name, Response(b"[" + b" " * MOST))
    assert isinstance(error, Broken)
    assert "bytes" in error.detail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.RemoteProtocolError("closed"), "cannot be reached"),
        (httpx.ReadTimeout("silence"), "does not answer in time"),
    ],
)
async def test_an_engine_that_hangs_up_or_is_silent_is_unavailable(
    name: str, error: Exception, words: str
) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error

    async with httpx.AsyncClient(transport=httpx.MockTransport(fail)) as client:
        configured = load_settings(**{f"{name}_url": "https://e.example"}, **KEYS)
        provider = declarations()[name].build(configured, lambda: client)
        with pytest.raises(ProviderUnavailable, match=words):
            await provider.search(Query("tides", 5))


@pytest.mark.parametrize("place", ["no address", "http://[::1", "ftp://e.example", "//e.example"])
async def test_an_address_that_is_none_is_an_error_by_meaning(name: str, place: str) -> None:
    async with httpx.AsyncClient() as client:

        async def search() -> None:
            configured = load_settings(**{f"{name}_url": place}, **KEYS)
            await declarations()[name].build(configured, lambda: client).search(Query("tides", 5))

        with pytest.raises((InvalidSetting, Broken, ProviderUnavailable)) as caught:
            await search()
    assert f"FOOTNOTE_{name.upper()}_URL" in caught.value.sentence


# ---------------------------------------------------------------- what is asked

TIDES = Query("tides", 5)


def asking(**wishes: Any) -> Query:
    return replace(TIDES, **wishes)


@pytest.mark.parametrize(
    ("engine", "query", "sent"),
    [
        ("brave", TIDES, {"count": "5", "search_lang": None, "country": None, "freshness": None}),
        ("brave", asking(limit=50), {"count": "20"}),
        ("brave", asking(language="de-AT"), {"search_lang": "de", "country": "AT"}),
        ("brave", asking(language="de", region="LI"), {"search_lang": "de", "country": None}),
        ("brave", asking(language="ja"), {"search_lang": "jp", "country": None}),
        ("brave", asking(language="no", region="NO"), {"search_lang": "nb", "country": "NO"}),
        ("brave", asking(language="pt"), {"search_lang": "pt-br"}),
        ("brave", asking(language="pt-PT"), {"search_lang": "pt-pt", "country": "PT"}),
        ("brave", asking(language="en", region="GB"), {"search_lang": "en-gb", "country": "GB"}),
        ("brave", asking(language="zh-Hans"), {"search_lang": "zh-hans"}),
        ("brave", asking(language="zh-TW"), {"search_lang": "zh-hant", "country": "TW"}),
        ("brave", asking(language="haw"), {"search_lang": None}),
        ("brave", asking(freshness="day"), {"freshness": "pd"}),
        ("brave", asking(freshness="year"), {"freshness": "py"}),
        ("searxng", TIDES, {"q": "tides", "language": None, "time_range": None}),
        ("searxng", asking(language="de-AT"), {"language": "de-AT"}),
        ("searxng", asking(language="de", region="CH"), {"language": "de-CH"}),
        ("searxng", asking(language="zh"), {"language": "zh-CN"}),
        ("searxng", asking(language="zh-Hant"), {"language": "zh-TW"}),
        ("searxng", asking(language="zh-HK"), {"language": "zh-HK"}),
        ("searxng", asking(language="klingon"), {"language": None}),
        ("searxng", asking(freshness="week"), {"time_range": "week"}),
        ("searxng", asking(domains=("a.example",)), {"q": "tides site:a.example"}),
        ("serper", TIDES, {"q": "tides", "num": 10, "hl": None, "gl": None, "tbs": None}),
        ("serper", asking(limit=15), {"num": 15}),
        ("serper", asking(limit=50), {"num": 20}),
        ("serper", asking(text="tide " * 200), {"q": " ".join(["tide"] * 32)}),
        ("serper", asking(language="en-GB"), {"hl": "en", "gl": "gb"}),
        ("serper", asking(language="zh-Hans"), {"hl": "zh-cn"}),
        ("serper", asking(language="zh-Hant"), {"hl": "zh-tw"}),
        ("serper", asking(freshness="month"), {"tbs": "qdr:m"}),
        (
            "serper",
            asking(domains=("a.example", "b.example")),
            {"q": "tides (site:a.example OR site:b.example)"},
        ),
        (
            "tavily",
            asking(text=" tides\n", limit=50),
            {"query": "tides", "max_results": 20, "country": None, "time_range": None},
        ),
        ("tavily", asking(language="de", region="DE"), {"country": "germany"}),
        ("tavily", asking(language="en-GB"), {"country": "united kingdom"}),
        ("tavily", asking(language="de", region="XX"), {"country": None}),
        ("tavily", asking(freshness="week"), {"time_range": "week", "search_depth": "basic"}),
        (
            "tavily",
            asking(domains=("*.a.example", "a.example", "no host", "b.example")),
            {"query": "tides", "include_domains": ["a.example", "b.example"]},
        ),
    ],
)
async def test_a_query_is_sent_in_the_engines_words(
    engine: str, query: Query, sent: dict[str, object]
) -> None:
    fake = ENGINES[engine]()
    async with opened(engine, fake) as provider:
        await provider.search(query)
    assert {key: fake.last.get(key) for key in sent} == sent
    assert (fake.complaints, len(fake.asked)) == ([], 1)


# ---------------------------------------------------------------- any JSON

_NAMES = st.sampled_from(
    ("results", "web", "organic", "answerBox", "knowledgeGraph", "infoboxes", "url", "link",
     "title", "unresponsive_engines", "snippet", "description", "content", "extra_snippets",
     "id", "infobox", "descriptionLink", "error", "code", "message")
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=5),
    max_leaves=25,
)
_URL = st.sampled_from(
    ["https://a.example/", "http://b.example", "javascript:alert(1)", "//c", "file:///etc/passwd"]
)
_RESULT = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("title", "snippet", "description", "content"), _JSON)
).flatmap(lambda rest: _URL.map(lambda url: {**rest, "url": url, "link": url}))
_ANSWER = st.one_of(
    st.dictionaries(_NAMES, _JSON, max_size=6),
    st.lists(st.one_of(_RESULT, _JSON), max_size=6).map(
        lambda all_: {"results": all_, "organic": all_, "web": {"results": all_}}
    ),
)


@given(answer=_ANSWER, status=st.sampled_from([200, 200, 200, 400, 422, 429]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
async def test_any_json_gives_web_pages_or_an_error_by_meaning(
    name: str, answer: dict[str, Any], status: int
) -> None:
    body = json.dumps(answer).encode()
    transport = httpx.MockTransport(lambda request: httpx.Response(status, content=body))
    async with httpx.AsyncClient(transport=transport) as client:
        configured = load_settings(**{f"{name}_url": "https://e.example"}, **KEYS)
        provider: Any = declarations()[name].build(configured, lambda: client)
        hits: list[Hit] = []
        with contextlib.suppress(FootnoteError):
            hits = await provider.search(Query("tides", 5))
        with contextlib.suppress(FootnoteError):
            assert isinstance(await provider.report(), Said)
    assert len(hits) <= 5
    for hit in hits:
        assert hit.url.startswith(("https://", "http://"))
        assert hit.title == " ".join(hit.title.split()) != ""
        assert hit.snippet == " ".join(hit.snippet.split())


# ---------------------------------------------------------------- over a socket


async def test_each_engine_is_asked_over_a_socket_as_its_api_wants(name: str) -> None:
    engine = ENGINES[name]()
    with serve(engine.app) as url:
        configured = load_settings(**{f"{name}_url": url}, **KEYS)
        async with httpx.AsyncClient() as client:
            provider = declarations()[name].build(configured, lambda: client)
            hits = await provider.search(Query("Journal of Tides", 3, "en", "GB", "year"))
    assert hits[0].title == "Journal of Tides"
    assert engine.complaints == []
    assert engine.asked[0].headers["accept"] == "application/json"
