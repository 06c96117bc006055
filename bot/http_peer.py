"""The origin of an HTTP request, judged by its TCP peer and its Host header."""

from __future__ import annotations

import re
from ipaddress import ip_address

# What a proxy adds to the requests that it passes on.
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_-](?:[A-Za-z0-9._-]{0,252})))(?::\d{1,5})?"
)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address that is listened on."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_from_here(peer: str, host: str) -> bool:
    """Whether a request came from this machine and knew so: without a look at its Host, a name that
    was made to point here (DNS rebinding) would open what is closed to others."""
    return is_loopback(peer) and is_loopback(host_name(host))


def host_name(header: str) -> str:
    """The host in a Host header, in lower case and without its port; "" where there is none
    (RFC 9110 section 7.2, RFC 3986 section 3.2.2)."""
    match = _HOST.fullmatch(header)
    return (match["v6"] or match["name"]).lower() if match else ""
