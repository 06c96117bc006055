"""Client addresses of requests, and the addresses to which the console may link or redirect."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.requests import Request

from bot.core.settings import Settings
from bot.operation.console_access import console_address

# Paths registered at an OpenID provider; they begin with the path of the sign-in page.
CALLBACK = "/sign-in/callback"
SIGNED_OUT = "/sign-in/signed-out"
LOOPBACK = ("127.0.0.1", "::1")
MOST_HOPS = 20  # entries of X-Forwarded-For that are read, from the end


def peer_of(request: Request) -> str:
    """Return the address of the TCP peer."""
    return _unmapped(request.client.host) if request.client else ""


def _unmapped(host: str) -> str:
    """Return the IPv4 address that a socket for both kinds shows as an IPv6 address (RFC 4291,
    section 2.5.5.2); anything else as it is."""
    if not host.lower().startswith("::ffff:") or not is_address(host):
        return host
    return str(IPv6Address(host).ipv4_mapped or host)


def is_address(host: str) -> bool:
    """Return True if a host is an IP address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def own_path(path: str) -> str:
    """Return a path of the console; never one that leads to another site."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain else "/"


def provider_addresses(settings: Settings) -> tuple[str, str]:
    """Return the URLs to register at the provider: the redirects after signing in and out."""
    address = console_address(settings)
    return address + CALLBACK, address + SIGNED_OUT


class Proxies:
    """The proxies whose headers are trusted: addresses and CIDRs. Raises ``ValueError``."""

    @classmethod
    def of(cls, settings: Settings) -> Proxies:
        """Return the proxies that the settings name. With a user header there is a proxy, by
        default on this machine; otherwise by default there is none, and every program that reaches
        the console is itself the client."""
        default = LOOPBACK if settings.console_user_header else ()
        return cls(settings.console_proxies or default)

    def __init__(self, listed: Sequence[str]) -> None:
        self._networks = [ip_network(each, strict=False) for each in listed]

    def __contains__(self, address: str) -> bool:
        return is_address(address) and any(
            ip_address(address) in network for network in self._networks
        )

    def client_of(self, request: Request) -> str:
        """Return the client's address as our outermost proxy saw it; the peer's if the peer is not
        one of our proxies.

        ``X-Forwarded-For`` is read from its end, where our proxies write, and only as long as the
        next hop is one of our proxies: earlier entries can be forged. Several of these headers are
        one list: some proxies add a line of their own, as HAProxy does.
        """
        client = peer_of(request)
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        for hop in reversed(forwarded[-MOST_HOPS:]):
            if client not in self or not is_address(hop.strip()):
                break
            client = _unmapped(hop.strip())
        return client
