"""Outgoing connections: the proxy for each address, and the trusted certificates.

This module decides for every client in the program, so that all libraries treat the environment
alike. Proxies come from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY in upper or lower case, as
in curl and httpx; ``FOOTNOTE_FETCH_PROXY`` sets another proxy for pages, or none.

Certificates: SSL_CERT_FILE and SSL_CERT_DIR replace the machine's authorities and those of certifi,
as in OpenSSL; ``FOOTNOTE_CA_BUNDLE`` adds to them.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from base64 import b64encode
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import unquote, urlsplit

from bot.core.errors import InvalidSetting
from bot.core.texts import Sentence, said

if TYPE_CHECKING:
    import aiohttp

    from bot.core.settings import Settings

Target = Literal["address", "name", "unresolved"]
"""The kind of host sent to a proxy: see ``Settings.fetch_proxy_target``."""

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
KEEP_ALIVE = tuple(  # a proxy or firewall drops connections that are idle while a model thinks
    (level, getattr(socket, name), value)
    for level, name, value in (
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 60),
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 60),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", 5),
    )
    if hasattr(socket, name)
)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy: ``url`` is ``http://`` or ``https://`` with host and port, and no credentials;
    ``authorization`` is the value of its header, or ""."""

    url: str
    host: str
    port: int
    authorization: str

    @property
    def is_secure(self) -> bool:
        """True if the connection to the proxy itself uses TLS."""
        return self.url.startswith("https:")

    @classmethod
    def of(cls, url: str) -> Proxy:
        """Parse an address. Raises ``ValueError`` if it is not an HTTP proxy's."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("no http proxy")
        host, port = parts.hostname, parts.port or PORTS[parts.scheme]
        shown = f"[{host}]" if ":" in host else host
        authorization = ""
        if parts.username is not None:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            authorization = f"Basic {b64encode(secret.encode()).decode()}"
        return cls(f"{parts.scheme}://{shown}:{port}", host, port, authorization)


@dataclass(frozen=True, slots=True)
class Egress:
    """The route for each address. ``http`` and ``https`` are the proxies for these schemes, with
    credentials, "" for none; ``bypass`` is NO_PROXY; ``ca_bundle`` a path or "". ``target`` is the
    form in which the proxy for pages receives a host. All fields can be sent as JSON.
    """

    http: str = ""
    https: str = ""
    bypass: str = ""
    ca_bundle: str = ""
    target: Target = "name"

    @classmethod
    def of(cls, settings: Settings) -> Egress:
        """Return the routes to addresses the operator has configured. Raises ``InvalidSetting``."""
        from urllib.request import getproxies  # loads all of http.client

        found = getproxies()
        every = found.get("all", "")
        http, https = found.get("http", every), found.get("https", every)
        bundle = str(settings.ca_bundle.expanduser()) if settings.ca_bundle else ""
        return cls(
            _valid(http, "HTTP_PROXY or ALL_PROXY"),
            _valid(https, "HTTPS_PROXY or ALL_PROXY"),
            found.get("no", ""),
            bundle,
        )

    @classmethod
    def of_pages(cls, settings: Settings) -> Egress:
        """Return the routes to web pages, whose addresses others choose. Raises
        ``InvalidSetting``."""
        egress = replace(cls.of(settings), target=settings.fetch_proxy_target)
        own = settings.fetch_proxy.get_secret_value() if settings.fetch_proxy else ""
        if own == "off":
            return replace(egress, http="", https="")
        if own:
            url = _valid(own, "FOOTNOTE_FETCH_PROXY")
            return replace(egress, http=url, https=url)
        return egress

    def proxy_for(self, url: str) -> str:
        """Return the proxy for an address, credentials included; "" for none."""
        parts = urlsplit(url)
        proxy = self.https if parts.scheme in ("https", "wss") else self.http
        if not proxy or bypasses(
            self.bypass, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 443)
        ):
            return ""
        return proxy

    def ssl_context(self, use: str = "httpx") -> ssl.SSLContext:
        """Return the certificates to trust. Each library gets its own context, in which it sets its
        own protocols. Raises ``InvalidSetting``."""
        return _trusting(
            self.ca_bundle, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"), use
        )

    def transport(self, library: ModuleType, *, http2: bool = False, limits: Any = None) -> Any:
        """Return a transport for a client of ``library`` (httpx or httpx2) that routes each
        request. Raises ``InvalidSetting``."""
        return _Routed(self, library, http2, limits)

    def connector(self, limit: int = 100) -> aiohttp.TCPConnector:
        """Return the connector for an aiohttp session with at most ``limit`` connections (0:
        unlimited). Raises ``InvalidSetting``."""
        import aiohttp

        return aiohttp.TCPConnector(limit=limit, ssl=self.ssl_context("aiohttp"))


DIRECT = Egress()


def bypasses(entries: str, host: str, port: int) -> bool:
    """Return True if NO_PROXY lists the host, by its name or a parent domain, with or without port;
    an IP address also matches by its network."""
    listed = [each.strip() for each in entries.split(",")]
    if "*" in listed:
        return True
    host = host.lower().removesuffix(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

        names = ",".join(each.removeprefix("*") for each in listed)
        return bool(proxy_bypass_environment(f"{host}:{port}", {"no": names}))
    return any(_holds(each, address, port) for each in listed)


def _holds(entry: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> bool:
    shown = f"[{address}]" if address.version == 6 else str(address)
    if entry == f"{shown}:{port}":
        return True
    try:
        return address in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:  # a name
        return False


def _valid(url: str, names: str) -> str:
    if not url:
        return ""
    try:
        Proxy.of(url)
    except ValueError:
        raise InvalidSetting(  # leaves out the value, which may hold a password
            f"{names} cannot be used: write a proxy like http://proxy.example:3128 (https:// if it "
            "uses TLS itself), or unset it."
        ) from None
    return url if "://" in url else f"http://{url}"


@lru_cache(maxsize=8)
def _trusting(bundle: str, file: str | None, folder: str | None, use: str) -> ssl.SSLContext:
    """Return a cached context: reading certificates takes 20 ms or more."""
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ssl.SSLError) as error:
        raise InvalidSetting(
            "SSL_CERT_FILE or SSL_CERT_DIR does not name readable certificates: correct or unset "
            "it.",
            detail=str(error),
        ) from None
    if not file and not folder:
        import certifi

        context.load_verify_locations(certifi.where())
    if bundle:
        is_folder = Path(bundle).is_dir()
        try:
            context.load_verify_locations(**{"capath" if is_folder else "cafile": bundle})
        except (OSError, ssl.SSLError) as error:
            raise InvalidSetting(
                f"FOOTNOTE_CA_BUNDLE names {bundle}, which is not a readable file of PEM "
                "certificates: correct the path.",
                detail=str(error),
            ) from None
    if use == "aiohttp":
        context.set_alpn_protocols(["http/1.1"])
    return context


class _Routed:
    """A transport for httpx or httpx2, whose classes have the same interface."""

    def __init__(self, egress: Egress, library: ModuleType, http2: bool, limits: Any) -> None:
        self._egress = egress
        self._library = library
        self._options: dict[str, Any] = {
            "verify": egress.ssl_context(),
            "trust_env": False,
            "http2": http2,
            "socket_options": KEEP_ALIVE,
        }
        if limits is not None:
            self._options["limits"] = limits
        self._ways: dict[str, Any] = {}

    async def handle_async_request(self, request: Any) -> Any:
        url = self._egress.proxy_for(str(request.url))
        if not url:
            return await self._way(url).handle_async_request(request)
        library, proxy = self._library, Proxy.of(url)
        try:
            return await self._way(url).handle_async_request(request)
        except (library.ConnectError, library.ConnectTimeout, library.ProxyError) as error:
            host, why = request.url.host, str(error) or type(error).__name__
            told = said("proxy-unconnected", proxy=proxy.url, host=host, why=why)
            raise library.ProxyError(told) from error

    async def aclose(self) -> None:
        for way in self._ways.values():
            await way.aclose()

    async def __aenter__(self) -> _Routed:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _way(self, url: str) -> Any:
        if url not in self._ways:
            proxy = None
            if url:
                secure = self._egress.ssl_context("proxy") if Proxy.of(url).is_secure else None
                proxy = self._library.Proxy(url, ssl_context=secure)
            self._ways[url] = self._library.AsyncHTTPTransport(proxy=proxy, **self._options)
        return self._ways[url]


def proxy_failure(error: BaseException | None) -> Sentence:
    """Return the message of a proxy failure in an error or its causes; "" if there is none."""
    while error is not None:
        if type(error).__name__ == "ProxyError":  # of httpx or httpx2, from ``_Routed``
            return cast("Sentence", error.args[0])
        error = error.__cause__
    return ""
