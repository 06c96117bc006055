"""The address that a request to the console comes from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from adapters.web.access.gate import Proxies

PROXIES = Proxies(("10.0.0.0/8", "fd00::/8"))


def request(peer: str, *forwarded: str) -> Request:
    headers = [(b"x-forwarded-for", each.encode("latin-1", "replace")) for each in forwarded]
    return Request({"type": "http", "client": (peer, 1), "headers": headers})


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", (), "192.0.2.1"),
        ("192.0.2.1", ("203.0.113.7",), "192.0.2.1"),
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7",), "203.0.113.7"),
        ("10.0.0.1", ("198.51.100.1, 203.0.113.7",), "203.0.113.7"),
        ("10.0.0.1", ("198.51.100.1, 203.0.113.7, 10.0.0.2",), "203.0.113.7"),
        ("10.0.0.1", ("198.51.100.1", "203.0.113.7,10.0.0.2"), "203.0.113.7"),
        ("fd00::1", ("2001:db8::7",), "2001:db8::7"),
        ("10.0.0.1", ("203.0.113.7, nonsense",), "10.0.0.1"),
        ("10.0.0.1", ("",), "10.0.0.1"),
    ],
)
def test_the_chain_is_walked_through_our_proxies_only(
    peer: str, forwarded: tuple[str, ...], client: str
) -> None:
    assert PROXIES.client_of(request(peer, *forwarded)) == client


@given(st.text(max_size=80))
def test_a_stranger_is_itself_whatever_it_claims(claimed: str) -> None:
    assert PROXIES.client_of(request("192.0.2.1", claimed)) == "192.0.2.1"
    through = PROXIES.client_of(request("10.0.0.1", f"{claimed}, 192.0.2.1"))
    assert through == "192.0.2.1"
