"""The address rule: Footnote reads the public web and never connects to private networks.

People in a chat, pages and search results choose what is fetched, while the machine that fetches is
inside a private network. Without this rule any of them could make it read a router, a cloud
metadata service or an internal wiki (server-side request forgery, OWASP A10:2021).

The rule is enforced at the connection (``bot.pages.transport``), where it cannot be bypassed: a
name is resolved once, all its addresses are judged, and the connection goes to a judged address, so
a name that resolves differently a moment later (DNS rebinding) gains nothing. Each redirect opens
its own connection or reuses a judged one.

Behind a proxy (``bot.core.egress``) the rule is applied before the request goes to the proxy. The
operator chooses what the proxy receives (``fetch_proxy_target``):

- ``address``: a judged address, so the rule holds as above. TLS still proves the name.
- ``name``: every address of the name was judged, but the proxy resolves it again.
- ``unresolved``: for machines that cannot resolve names. Literal addresses are judged, and names
  that exist only in private networks are refused. The proxy has to refuse connections to private
  addresses.

Operators make exceptions with ``FOOTNOTE_FETCH_ALLOW`` for hosts, addresses or networks.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from bot.core.egress import DIRECT, Egress
from bot.core.errors import AddressRefused, InvalidSetting, PageUnreadable, Unavailable
from bot.pages.urls import host_name, ipv4

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port → its addresses, best first; raises ``OSError`` (``socket.gaierror``)."""

NOT_PUBLIC_V4 = (  # IANA IPv4 Special-Purpose Address Registry, and two cloud services
    "0.0.0.0/8",  # "this network", RFC 791 section 3.2; 0.0.0.0 reaches this machine
    "10.0.0.0/8",  # private, RFC 1918
    "100.64.0.0/10",  # shared (carrier-grade NAT), RFC 6598; Alibaba metadata 100.100.100.200
    "127.0.0.0/8",  # loopback, RFC 1122 section 3.2.1.3
    "168.63.129.16/32",  # Azure's platform service: a public address, used internally
    "169.254.0.0/16",  # link-local, RFC 3927; cloud metadata 169.254.169.254
    "172.16.0.0/12",  # private, RFC 1918
    "192.0.0.0/24",  # IETF protocol assignments, RFC 6890; Oracle metadata 192.0.0.192
    "192.0.2.0/24",  # documentation, RFC 5737
    "192.31.196.0/24",  # AS112-v4, RFC 7535
    "192.52.193.0/24",  # AMT, RFC 7450
    "192.88.99.0/24",  # 6to4 relay anycast, RFC 7526
    "192.168.0.0/16",  # private, RFC 1918
    "192.175.48.0/24",  # direct delegation AS112, RFC 7534
    "198.18.0.0/15",  # benchmarking, RFC 2544
    "198.51.100.0/24",  # documentation, RFC 5737
    "203.0.113.0/24",  # documentation, RFC 5737
    "224.0.0.0/4",  # multicast, RFC 5771
    "240.0.0.0/4",  # reserved, RFC 1112 section 4, and limited broadcast, RFC 919
)
NOT_PUBLIC_V6 = (  # IANA IPv6 Special-Purpose Address Registry, inside global unicast
    "2001::/23",  # IETF protocol assignments, RFC 2928; Teredo (RFC 4380), ORCHID (RFC 7343)
    "2001:db8::/32",  # documentation, RFC 3849
    "2002::/16",  # 6to4, RFC 3056: wraps any IPv4 address
    "2620:4f:8000::/48",  # direct delegation AS112, RFC 7534
    "3fff::/20",  # documentation, RFC 9637
)
_NETWORKS_V4 = tuple(map(IPv4Network, NOT_PUBLIC_V4))
_NETWORKS_V6 = tuple(map(IPv6Network, NOT_PUBLIC_V6))

GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is in public use, RFC 4291 section 2.4. Outside it are loopback ::1, unspecified
::, unique local fc00::/7 (RFC 4193, with Amazon's metadata fd00:ec2::254), link-local fe80::/10,
multicast ff00::/8, IPv4-mapped, IPv4-compatible (RFC 4291 section 2.5.5), local NAT64 (RFC 8215)
and SRv6 5f00::/16 (RFC 9602).
"""

_NAT64 = IPv6Network("64:ff9b::/96")
"""The well-known prefix of RFC 6052, through which IPv6-only networks reach IPv4 hosts. It is
judged by the embedded IPv4 address, since DNS64 gives every IPv4-only site such an address.
"""

_PRIVATE_NAMES = re.compile(  # never public, whatever they resolve to
    r"""(.+\.)?localhost        # RFC 6761 section 6.3
    |   metadata | metadata\.goog | .*\.internal    # cloud metadata; ICANN's private-use domain
    |   instance-data
    |   .+\.local               # multicast DNS, RFC 6762
    |   .+\.home\.arpa          # RFC 8375
    """,
    re.VERBOSE,
)
_INTERNAL_NAMES = re.compile(  # judged by their addresses, where names can be resolved
    r"""[^.]+                   # without a domain: completed by the machine's own
    |   .+\.(corp|home|mail)    # never to be delegated, ICANN resolution 2018.02.04.12
    |   .+\.(lan|localdomain|intranet|private|test|invalid)    # usual inside; RFC 6761
    """,
    re.VERBOSE,
)

WEB_PORTS = frozenset({80, 443})
"""Ports of web pages. Other ports belong to other services, even on public hosts."""

# ---------------------------------------------------------------- what the operator permits


@dataclass(frozen=True, slots=True)
class Allow:
    """Exceptions from the rule, parsed from ``settings.fetch_allow``; None as a port is any port.

    ``ports`` are those allowed on public hosts, including the web's own.
    """

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[tuple[IPNetwork, int | None], ...] = ()
    ports: frozenset[int] = WEB_PORTS

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Allow:
        """Parse ``wiki.corp``, ``wiki.corp:8080``, ``10.1.2.3``, ``10.0.0.0/8``,
        ``[fd00::/8]:443``, and ``:8080`` for this port of public hosts.

        Raises an ``InvalidSetting`` that names the entry.
        """
        hosts: set[tuple[str, int | None]] = set()
        networks: list[tuple[IPNetwork, int | None]] = []
        ports = set(WEB_PORTS)
        for entry in entries:
            what, port = _split_port(entry)
            if not what and port is not None:
                ports.add(port)
                continue
            network = _network(entry, what)
            if network is not None:
                networks.append((network, port))
            else:
                try:
                    hosts.add((host_name(what), port))
                except ValueError:
                    raise _bad_entry(entry, "which is not a valid host name") from None
        return cls(frozenset(hosts), tuple(networks), frozenset(ports))

    @property
    def of_public_hosts(self) -> Allow:
        """The exceptions without hosts and networks."""
        return Allow(ports=self.ports)

    def has_host(self, host: str, port: int) -> bool:
        return (host, None) in self.hosts or (host, port) in self.hosts

    def has_address(self, address: IPAddress, port: int) -> bool:
        """True if a listed network contains the address, or the IPv4 address embedded in it."""
        return any(
            at in (None, port) and candidate in network
            for candidate in (address, *_inside(address))
            for network, at in self.networks
        )


def _bad_entry(entry: str, reason: str) -> InvalidSetting:
    return InvalidSetting(
        f"FOOTNOTE_FETCH_ALLOW has the entry {entry[:100]!r}, {reason};"
        " write hosts (wiki.corp), host:port, addresses, networks (10.0.0.0/8) or ports (:8080)."
    )


def _split_port(entry: str) -> tuple[str, int | None]:
    """Split an entry into host and port; IPv6 with a port is written in brackets."""
    text = entry.strip()
    if "://" in text or "@" in text:
        raise _bad_entry(entry, "which is a URL and not a host")
    if text.startswith("["):
        what, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and rest[0] != ":"):
            raise _bad_entry(entry, "whose bracket does not close before the port")
        separated, digits = bool(rest), rest[1:]
    elif text.count(":") == 1:
        what, _, digits = text.partition(":")
        separated = True
    else:
        return text, None
    if not separated:
        return what, None
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:6]) <= 65535):
        raise _bad_entry(entry, "whose port is not a number from 1 to 65535")
    return what, int(digits)


def _network(entry: str, what: str) -> IPNetwork | None:
    """The network or single address that an entry denotes; None for a name."""
    looks_like_one = "/" in what or ":" in what
    try:
        if not looks_like_one:
            address = ipv4(what)
            return None if address is None else IPv4Network(address)
        return ipaddress.ip_network(what, strict=False)
    except ValueError:
        raise _bad_entry(entry, "which is not a valid address or network") from None


# ---------------------------------------------------------------- what is public


def is_public(address: IPAddress) -> bool:
    """True if an address belongs to the public internet, judged by the host it finally reaches."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NETWORKS_V4)
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return is_public(_last_32_bits(address))
    return address in GLOBAL_UNICAST and not any(address in network for network in _NETWORKS_V6)


def _last_32_bits(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)


def _inside(address: IPAddress) -> tuple[IPv4Address, ...]:
    """The IPv4 address embedded in an IPv6 address, as operators list it."""
    if isinstance(address, IPv6Address) and (address.ipv4_mapped or address in _NAT64):
        return (_last_32_bits(address),)
    return ()


# ---------------------------------------------------------------- the rule


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The machine's own resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(entry[4][0]) for entry in found]


@dataclass(frozen=True, slots=True)
class Route:
    """The way to a judged host: to one of its addresses, through ``proxy`` if there is one. Without
    addresses, the proxy receives the host's name.
    """

    host: str
    port: int
    addresses: Sequence[IPAddress]
    proxy: str = ""


class Guard:
    """Decides whether a connection to a host is allowed, and by which route."""

    def __init__(
        self, allow: Allow, resolver: Resolver = system_resolver, egress: Egress = DIRECT
    ) -> None:
        self._allow = allow
        self._resolve = resolver
        self.egress = egress

    async def route(self, scheme: str, host: str, port: int) -> Route:
        """The route to a host for an address of this scheme. Raises like ``addresses``."""
        authority = f"[{host}]" if ":" in host else host
        proxy = self.egress.proxy_for(f"{scheme}://{authority}:{port}")
        if proxy and self.egress.target == "unresolved":
            self._judge_unresolved(host.lower().removesuffix("."), port)
            return Route(host, port, (), proxy)
        found = await self.addresses(host, port)
        if proxy and self.egress.target == "name":
            return Route(host, port, (), proxy)
        return Route(host, port, found, proxy)

    async def addresses(self, host: str, port: int) -> list[IPAddress]:
        """Resolve a host once and return its addresses, all of them judged.

        Raises ``AddressRefused`` if any of them is neither public nor listed by the operator, or
        the port is neither one of the web's nor listed; ``PageUnreadable`` for a name that does not
        exist; ``Unavailable`` if the name cannot be resolved at the moment.
        """
        name = host.lower().removesuffix(".")
        if self._allow.has_host(name, port):
            return _literal(name) or await self._resolved(name, port)
        private_name = _PRIVATE_NAMES.fullmatch(name) is not None
        if private_name and not self._allow.networks:
            raise _refusal(name, "the name belongs to private networks")
        if port not in self._allow.ports and not self._allow.networks:
            raise _refused_port(name, port)
        found = _literal(name) or await self._resolved(name, port)
        for address in found:
            self._judge(name, address, port, private_name=private_name)
        return found

    def _judge(self, name: str, address: IPAddress, port: int, *, private_name: bool) -> None:
        if self._allow.has_address(address, port):
            return
        if port not in self._allow.ports:
            raise _refused_port(name, port)
        if private_name or not is_public(address):
            raise _refusal(name, f"{name} is {address}")

    def _judge_unresolved(self, name: str, port: int) -> None:
        if self._allow.has_host(name, port):
            return
        for address in (literal := _literal(name)):
            self._judge(name, address, port, private_name=False)
        if literal:
            return
        if _PRIVATE_NAMES.fullmatch(name) or _INTERNAL_NAMES.fullmatch(name):
            raise _refusal(name, "the name belongs to private networks")
        if port not in self._allow.ports:
            raise _refused_port(name, port)

    async def _resolved(self, name: str, port: int) -> list[IPAddress]:
        try:
            found = await self._resolve(name, port)
        except (OSError, UnicodeError) as error:
            if isinstance(error, socket.gaierror) and error.errno in _NO_SUCH_NAME:
                raise PageUnreadable(
                    f"There is no site named {name}; check the address.", detail=str(error)
                ) from None
            raise Unavailable(
                f"The name {name} could not be looked up; check the network and try again.",
                detail=str(error),
            ) from None
        addresses = list(dict.fromkeys(ipaddress.ip_address(text) for text in found))
        if not addresses:
            raise PageUnreadable(f"There is no site named {name}; check the address.")
        return addresses


_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


def _refusal(name: str, detail: str) -> AddressRefused:
    return AddressRefused(
        f"{name} is at a private or reserved network address, where Footnote does not go;"
        " an operator can permit the host in FOOTNOTE_FETCH_ALLOW.",
        detail=detail,
    )


def _refused_port(name: str, port: int) -> AddressRefused:
    return AddressRefused(
        f"{name} was requested on port {port}, where Footnote does not read pages;"
        f" an operator can permit it with {name}:{port} or :{port} in FOOTNOTE_FETCH_ALLOW.",
        detail="only web ports are allowed",
    )


def _literal(host: str) -> list[IPAddress]:
    """The address that a host consists of, in any notation; empty for a name."""
    try:
        if ":" in host:
            return [IPv6Address(host)]
        address = ipv4(host)
    except ValueError as error:
        raise AddressRefused(
            f"The host {host} is not a valid address; correct it.", detail=str(error)
        ) from None
    return [] if address is None else [address]
