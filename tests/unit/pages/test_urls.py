"""One spelling per page, no address that leads elsewhere than it seems, and links as people write
them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.core.errors import AddressRefused
from bot.pages import urls
from bot.pages.urls import (
    canonical,
    dedupe_key,
    display_url,
    domain,
    hosts_in,
    links_in,
    links_said,
)

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "urls" / "urltestdata.json"

# ---------------------------------------------------------------- canonical


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("  https://example.org/a\n", "https://example.org/a"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org./", "http://example.org/"),
        ("http://example.org/a#part", "http://example.org/a"),
        ("http://example.org/a?", "http://example.org/a"),
        ("http://example.org?q=1", "http://example.org/?q=1"),
        ("http://example.org/A/b", "http://example.org/A/b"),
        ("http://example.org/a/", "http://example.org/a/"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/a/b/..", "http://example.org/a/"),
        ("http://example.org/../../etc", "http://example.org/etc"),
        ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
        ("http://example.org/...", "http://example.org/..."),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://example.org/%7euser/%c3%a9", "http://example.org/~user/%C3%A9"),
        ("http://example.org/a%2Fb", "http://example.org/a%2Fb"),
        ("http://example.org/é ü", "http://example.org/%C3%A9%20%C3%BC"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("https://zh.wikipedia.org/wiki/北京", "https://zh.wikipedia.org/wiki/%E5%8C%97%E4%BA%AC"),
        ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://例子.测试", "http://xn--fsqu00a.xn--0zwm56d/"),
        ("http://ｅｘａｍｐｌｅ．ｏｒｇ/", "http://example.org/"),
        ("http://ex%41mple.org/", "http://example.org/"),
        ("http://my_host.example/", "http://my_host.example/"),
        (r"http:\\example.org\a", "http://example.org/a"),
        ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
        ("http://[::FFFF:1.2.3.4]:80/", "http://[::ffff:102:304]/"),
    ],
)
def test_a_page_has_one_spelling(written: str, expected: str) -> None:
    assert canonical(written) == expected


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7F.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "%31%32%37.1",
        "１２７.1",
        "127。0。0。1",
    ],
)
def test_every_spelling_of_an_ipv4_address_is_written_dotted(spelling: str) -> None:
    assert canonical(f"http://{spelling}/") == "http://127.0.0.1/"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("utm_source=x&id=1&utm_medium=y", "?id=1"),
        ("id=1&fbclid=abc", "?id=1"),
        ("UTM_Campaign=x", ""),
        ("gclid=1&msclkid=2&mc_eid=3&_ga=4&pk_campaign=5", ""),
        ("b=2&a=1&b=1", "?b=2&a=1&b=1"),
        ("a=1&&b=2&", "?a=1&b=2"),
        ("q=a+b%20c", "?q=a+b%20c"),
        ("next=utm_source", "?next=utm_source"),
        ("ref=home&source=x", "?ref=home&source=x"),
        ("a[]=1", "?a%5B%5D=1"),
    ],
)
def test_tracking_parameters_go_and_all_others_stay_in_order(query: str, expected: str) -> None:
    assert canonical(f"http://example.org/p?{query}") == f"http://example.org/p{expected}"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("example.org", "does not begin with http"),
        ("//example.org/a", "does not begin with http"),
        ("ftp://example.org/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("data:text/html,hi", "only http and https"),
        ("gopher://example.org:70/", "only http and https"),
        ("http:example.org", "no host"),
        ("http:/example.org", "no host"),
        ("http://", "no host"),
        ("http:///path", "no host"),
        ("http://:80/", "no host"),
        ("http://user:secret@example.org/", "user name or password"),
        ("http://@example.org/", "user name or password"),
        ("http://exa\nmple.org/", "control characters"),
        ("http://example.org/a\x00b", "control characters"),
        ("http://example.org/a\x7fb", "control characters"),
        ("http://example.org/\ud800", "control characters"),
        ("http://example.org:99999/", "port"),
        ("http://example.org:-1/", "port"),
        ("http://example.org:٣/", "port"),
        ("http://[::1", "bracket"),
        ("http://[fe80::1%25eth0]/", "host"),
        ("http://[fe80::1%eth0]/", "host"),
        ("http://a..b/", "host"),
        ("http://-a.example/", "host"),
        ("http://exa mple.org/", "host"),
        ("http://1.2.3.4.5/", "host"),
        ("http://1.2.3.256/", "host"),
        ("http://4294967296/", "host"),
        (f"http://{'a' * 64}.example/", "host"),
        (f"http://{'a.' * 130}example/", "host"),
        (f"http://example.org/{'a' * 9000}", "longer than 8,000"),
    ],
)
def test_what_is_no_plain_web_address_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(AddressRefused, match=reason) as refusal:
        canonical(url)
    assert "\n" not in refusal.value.sentence


def test_a_backslash_hides_no_host() -> None:
    assert domain(r"http://evil.example\@example.org/") == "evil.example"


def canonical_or_none(url: str) -> str | None:
    try:
        return canonical(url)
    except AddressRefused:
        return None


def test_a_refusal_does_not_repeat_the_password() -> None:
    with pytest.raises(AddressRefused) as refusal:
        canonical("https://ann:hunter2@example.org/private")
    assert "hunter2" not in str(refusal.value)
    assert "example.org/private" in refusal.value.sentence


def test_a_long_address_is_shown_shortened_on_one_line() -> None:
    assert len(display_url(f"http://example.org/{'a' * 500}")) == 120
    assert display_url("http://a.example/x\n\ty\x00") == "http://a.example/x y"


_WEB = st.builds(
    "{}://{}{}{}{}{}".format,
    st.sampled_from(["http", "https", "HTTP", "hTTps"]),
    st.one_of(
        st.sampled_from(["example.org", "EXAMPLE.org.", "bücher.example", "127.1", "[::1]"]),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    ),
    st.sampled_from(["", ":", ":80", ":443", ":8080"]),
    st.text(st.sampled_from("/.%2eEaé ?\\|[]'北"), max_size=12).map(lambda path: "/" + path),
    st.text(st.sampled_from("?&=utm_aclid%20+é#[]"), max_size=12).map(lambda query: "?" + query),
    st.sampled_from(["", "#", "#part"]),
)


@given(_WEB)
@example("http://example.org/%252e%252e/")
@example("http://a/?%")
def test_a_canonical_address_is_its_own_canonical_form(url: str) -> None:
    found = canonical_or_none(url)
    if found is not None:
        assert canonical(found) == found


@given(_WEB)
def test_no_other_parser_reads_a_canonical_address_differently(url: str) -> None:
    found = canonical_or_none(url)
    if found is None:
        return
    assert re.fullmatch(r"https?://[a-z0-9._\-\[\]:]+/[!-~]*", found)
    other = httpx.URL(found)
    assert str(other) == found
    assert other.raw_host.decode() == urls.parse(found).host
    assert not other.userinfo


@given(st.text() | _WEB | st.text().map("http://".__add__))
def test_no_text_breaks_the_parser(text: str) -> None:
    canonical_or_none(text)
    dedupe_key(text)
    domain(text)
    display_url(text)


@given(_WEB)
def test_a_page_and_its_canonical_form_have_one_key(url: str) -> None:
    found = canonical_or_none(url)
    if found is not None:
        assert dedupe_key(url) == dedupe_key(found)


@pytest.mark.shared
@pytest.mark.parametrize("failing", [True, False])
def test_the_whatwg_cases_are_refused_or_mean_the_same_host(failing: bool) -> None:
    cases: list[Any] = json.loads(SHARED.read_text(encoding="utf-8"))
    checked = 0
    for case in cases:
        if not isinstance(case, dict) or bool(case.get("failure")) != failing:
            continue
        found = canonical_or_none(case["input"])
        if found is None:
            continue
        assert not failing, f"{case['input']!r} is no URL, and became {found}"
        checked += 1
        host = f"[{domain(found)}]" if ":" in domain(found) else domain(found)
        expected = case["hostname"].removesuffix(".")
        assert host in (expected, expected.removeprefix("www.")), case["input"]
        assert found.partition(":")[0] + ":" == case["protocol"]
    assert failing or checked > 100


# ---------------------------------------------------------------- variants and domains


@pytest.mark.parametrize(
    "variant",
    [
        "http://example.org/news/story",
        "https://www.example.org/news/story/",
        "https://m.example.org/news/story",
        "https://mobile.example.org/news/story#top",
        "https://example.org/news/story?utm_source=mail",
        "https://example.org/news/story/index.html",
    ],
)
def test_variants_of_a_page_share_a_key(variant: str) -> None:
    assert dedupe_key(variant) == "example.org/news/story"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/b"),
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a?x=1", "https://example.org/a?x=2"),
        ("https://example.org:8080/", "https://example.org/"),
        ("https://en.example.org/", "https://de.example.org/"),
        ("https://m.org/", "https://example.org/"),
        ("http://10.0.0.1/", "http://10.0.0.2/"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert dedupe_key(one) != dedupe_key(other)


def test_a_key_ignores_the_order_of_parameters_and_mobile_wikipedia() -> None:
    assert dedupe_key("http://a.example/?b=2&a=1") == dedupe_key("https://a.example/?a=1&b=2")
    assert dedupe_key("https://en.m.wikipedia.org/wiki/Kiel") == "en.wikipedia.org/wiki/Kiel"


def test_what_is_no_web_address_is_its_own_key_and_has_no_domain() -> None:
    assert dedupe_key(" file:///docs/a.md ") == "file:///docs/a.md"
    assert domain("file:///docs/a.md") == ""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.Example.org/a", "example.org"),
        ("https://de.wikipedia.org:8080/", "de.wikipedia.org"),
        ("https://www.org/", "www.org"),
        ("http://[::1]:80/", "::1"),
        ("http://Bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_a_domain_is_the_host_without_www(url: str, expected: str) -> None:
    assert domain(url) == expected


# ---------------------------------------------------------------- links in a message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no link here, example.org is a name", []),
        ("read https://example.org/a.", ["https://example.org/a"]),
        ("Is https://example.org/a, right? (https://example.org/b)!",
         ["https://example.org/a", "https://example.org/b"]),
        ("https://en.wikipedia.org/wiki/Kiel_(city) is nice",
         ["https://en.wikipedia.org/wiki/Kiel_(city)"]),
        ("(see https://en.wikipedia.org/wiki/Kiel_(city))",
         ["https://en.wikipedia.org/wiki/Kiel_(city)"]),
        ("[Kiel](https://example.org/a_(b) \"title\") and [two](<https://example.org/c>)",
         ["https://example.org/a_(b)", "https://example.org/c"]),
        ("[a](https://example.org/a),[b](https://example.org/b)",
         ["https://example.org/a", "https://example.org/b"]),
        ("[https://example.org/a](https://example.org/a)", ["https://example.org/a"]),
        ("<https://example.org/a> `https://example.org/b` **https://example.org/c**",
         ["https://example.org/a", "https://example.org/b", "https://example.org/c"]),
        ("_https://example.org/a_ https://example.org/b_",
         ["https://example.org/a", "https://example.org/b_"]),
        ("|https://example.org/a|https://example.org/b|",
         ["https://example.org/a", "https://example.org/b"]),
        ("\"https://example.org/a\" 'https://example.org/b'",
         ["https://example.org/a", "https://example.org/b"]),
        ("https://example.org/?q=a&b=c;d;", ["https://example.org/?q=a&b=c;d"]),
        ("https://example.org/a… and so on", ["https://example.org/a"]),
        ("请看https://example.org/a。谢谢", ["https://example.org/a"]),
        ("（https://example.org/a），《https://example.org/b》",
         ["https://example.org/a", "https://example.org/b"]),
        ("https://example.org是什么？", ["https://example.org"]),
        ("https://example.org/a？b", ["https://example.org/a"]),
        ("总结https://example.org/a和https://example.org/b以及https://例子.测试/页",
         ["https://example.org/a", "https://example.org/b", "https://例子.测试/页"]),
        ("https://example.org/aとhttp://example.org/记事、https://example.org/c",
         ["https://example.org/a", "http://example.org/记事", "https://example.org/c"]),
        ("「https://example.org/記事」を読んで", ["https://example.org/記事"]),
        ("https://例子.测试/页", ["https://例子.测试/页"]),
        ("https://zh.wikipedia.org/wiki/北京，还有",
         ["https://zh.wikipedia.org/wiki/北京"]),
        ("HTTPS://EXAMPLE.ORG/A", ["HTTPS://EXAMPLE.ORG/A"]),
        ("www.example.org/a is it", ["http://www.example.org/a"]),
        ("www. is no link, nor is http:// or https://.", []),
        ("https://example.org/a https://example.org/a#b http://www.example.org/a/",
         ["https://example.org/a"]),
        ("http://user:pw@example.org/a", ["http://user:pw@example.org/a"]),
        ("http://[::1]:8080/a", ["http://[::1]:8080/a"]),
        ("xhttps://example.org", []),
        ("https://a.example/xhttps://b.example/", ["https://a.example/xhttps://b.example/"]),
    ],
)  # fmt: skip
def test_links_are_found_as_a_person_means_them(text: str, expected: list[str]) -> None:
    assert links_in(text) == expected


_PLAIN_LINKS = st.builds(
    "https://{}.example/{}".format,
    st.from_regex(r"[a-z]{1,8}", fullmatch=True),
    st.from_regex(r"[a-z0-9/_=&?-]{0,10}[a-z0-9]", fullmatch=True),
)
_AROUND = st.sampled_from(
    [("", ""), ("(", ")"), ("<", ">"), ("see ", "."), ("「", "」"), ("看", "。"), ("[x](", ")."),
     ('"', '"'), ("**", "**"), ("\n", "\n"), ("`", "`"), ("", "!?"), ("（", "），")]
)  # fmt: skip


@given(_PLAIN_LINKS, _AROUND)
def test_a_link_is_found_whatever_stands_around_it(link: str, around: tuple[str, str]) -> None:
    assert links_in(f"{around[0]}{link}{around[1]}") == [link]


@given(st.text(st.sampled_from("htps:/w.()[]<>*_ 。a是\n"), max_size=60) | st.text())
def test_no_text_breaks_the_search_for_links(text: str) -> None:
    for link in links_in(text):
        assert link.lower().startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("unit", "count"),
    [
        ("https://", 0),
        ("(https://a", 1),
        ("[](http://a.b)", 1),
        ("https://a.b/(", 1),
        ("https://a.b/和", 2),
    ],
)
def test_a_message_of_100_000_characters_is_searched_in_linear_time(unit: str, count: int) -> None:
    assert len(links_in(unit * (100_000 // len(unit)))) == count


# ---------------------------------------------------------------- addresses without a scheme


labels = st.from_regex(r"[a-z][a-z0-9]{1,8}", fullmatch=True)
paths = st.from_regex(r"(?:/[a-z0-9]{1,6}){1,3}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see example.org/faq.", ["https://example.org/faq"]),
        ("(docs.python.org/3/library/re.html)?", ["https://docs.python.org/3/library/re.html"]),
        ("看example.co.uk/x。好", ["https://example.co.uk/x"]),
        ("https://a.org/x and a.org/x, b.org/y?z=1", ["https://a.org/x", "https://b.org/y?z=1"]),
        ("[a](https://a.org/x) <https://a.org/x>", ["https://a.org/x"]),
        ("example.org:8080/status", ["https://example.org:8080/status"]),
        ("When was Booking.com founded?", []),
        ("Node.js, main.py, src/app/main.py, README.md/x and v2.0/x", []),
        ("ada@example.org/x, and/or, e.g/i.e", []),
        ("https://a.org/b.org/c", ["https://a.org/b.org/c"]),
    ],
)
def test_links_with_and_without_a_scheme_are_found_once(text: str, links: list[str]) -> None:
    assert links_said(text) == links


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("Booking.com or example.org/x", ["Booking.com", "example.org"]),
        ("It works.It is done.", []),
        ("a@b.com", []),
        ("https://www.example.org", []),
        ("asp.net", ["asp.net"]),
    ],
)
def test_hosts_without_a_scheme_are_found_apart(text: str, hosts: list[str]) -> None:
    assert [host for host, _ in hosts_in(text)] == hosts


@given(st.lists(labels, min_size=1, max_size=3), st.sampled_from(["org", "com", "de"]), paths)
def test_any_host_with_a_path_is_a_link_wherever_it_stands(
    parts: list[str], ending: str, path: str
) -> None:
    address = f"{'.'.join(parts)}.{ending}{path}"
    for text in (address, f"({address}).", f"看 {address}，谢谢", f"*{address}*, please"):
        assert links_said(text) == [f"https://{address}"]


@given(st.text(max_size=300))
def test_any_text_is_taken_and_what_links_in_finds_is_among_it(text: str) -> None:
    said = links_said(text)
    assert said[: len(links_in(text))] == links_in(text)
    assert len({dedupe_key(link) for link in said}) == len(said)


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://example.org/projB/README.md", "Read me"),
        ("file:///docs/proj%20B/README.md", "Read me proj B README"),
        ("file:///LICENSE", "Read me  LICENSE"),
        ("file:///docs/.env", "Read me docs .env"),
    ],
)
def test_only_documents_are_named_by_their_files_and_folders(url: str, named: str) -> None:
    assert urls.with_names("Read me", url) == named
