"""Guesses of the console's token, which are limited."""

from __future__ import annotations

import hmac
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal

from pydantic import SecretStr

from bot.rate_limit import Pace

GUESSES_PER_MINUTE = 10  # from one address

Guess = Literal["right", "wrong", "too many"]


class Guesses:
    """Compares what clients show with the console's token, at all doors together: an address may be
    wrong ``GUESSES_PER_MINUTE`` times a minute."""

    def __init__(self, token: SecretStr | None) -> None:
        self._token = token.get_secret_value().encode() if token is not None else b""
        self._pace = Pace(GUESSES_PER_MINUTE)

    def judge(self, shown: str, address: str) -> Guess:
        """Judge what a client at this address shows. After too many wrong guesses the right one is
        not accepted either, for otherwise they could go on."""
        client = _home_of(address)
        if not self._pace.has_room(client):
            return "too many"
        if self._token and hmac.compare_digest(shown.strip().encode(), self._token):
            return "right"
        self._pace.allows(client)
        return "wrong"


def _home_of(address: str) -> str:
    """Return the network that a client has to itself: an IPv6 client chooses among the addresses of
    its /64 (RFC 4291, section 2.5.4)."""
    try:
        is_v6 = isinstance(ip_address(address), IPv6Address)
    except ValueError:
        return address
    return str(ip_network(f"{address.partition('%')[0]}/64", strict=False)) if is_v6 else address


def bearer_of(authorization: str) -> str | None:
    """Return the token in an Authorization header; None if there is none."""
    scheme, _, shown = authorization.partition(" ")
    return shown if scheme.lower() == "bearer" else None
