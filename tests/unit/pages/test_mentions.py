"""Addresses in messages, with and without a scheme."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.urls import dedupe_key, hosts_in, links_in, links_said

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
