"""The addresses from which requests to the console come, and to which it may lead."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from starlette.requests import Request

from bot.console_access import console_address
from bot.settings import Settings

# Paths that an OpenID provider knows; the first part is that of the sign-in page.
CALLBACK = "/sign-in/callback"
SIGNED_OUT = "/sign-in/signed-out"
BACK_CHANNEL = "/sign-in/back-channel"
MOST_HOPS = 20  # of X-Forwarded-For that are looked at, from the end


def peer_of(request: Request) -> str:
    """The address of the TCP peer."""
    return request.client.host if request.client else ""


def is_address(host: str) -> bool:
    """Return True if it is an IP address and no name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def own_path(path: str) -> str:
    """A path of ours; never one that leads elsewhere."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain else "/"


def provider_addresses(settings: Settings) -> tuple[str, str, str]:
    """The addresses to register at the provider: for browsers after signing in, for browsers after
    signing out, and for its own requests when a session has ended."""
    address = console_address(settings)
    return address + CALLBACK, address + SIGNED_OUT, address + BACK_CHANNEL


class Proxies:
    """The proxies whose headers are believed: addresses and CIDRs; raises ``ValueError``."""

    def __init__(self, listed: Sequence[str]) -> None:
        self._networks = [ip_network(each, strict=False) for each in listed]

    def __contains__(self, address: str) -> bool:
        return is_address(address) and any(
            ip_address(address) in network for network in self._networks
        )

    def client_of(self, request: Request) -> str:
        """The address of the client of the outermost of our proxies; the peer's if it is none.

        ``X-Forwarded-For`` is read from its end, where our proxies write, and only as long as the
        next hop is a proxy of ours: what stands before can be made up by anybody.
        """
        client = peer_of(request)
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        for hop in reversed(forwarded[-MOST_HOPS:]):
            if client not in self or not is_address(hop.strip()):
                break
            client = hop.strip()
        return client
