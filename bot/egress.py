"""Ways out of this machine: the proxy for each address, and the certificates that are trusted.

One place decides for every client of the program, so that no two libraries read the environment in
two ways. Proxies come from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY in upper or lower case,
as curl and httpx know them; ``FOOTNOTE_FETCH_PROXY`` names another one for pages, or none.

Certificates: SSL_CERT_FILE and SSL_CERT_DIR take the place of the machine's own authorities and
those of certifi, as they do for OpenSSL; ``FOOTNOTE_CA_BUNDLE`` adds to them.
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
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

from bot.errors import InvalidSetting

if TYPE_CHECKING:
    import aiohttp

    from bot.settings import Settings

Target = Literal["address", "name", "unresolved"]
"""The kind of host that a proxy is asked for: see ``Settings.fetch_proxy_target``."""

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
KEEP_ALIVE = tuple(  # a proxy or firewall forgets connections on which a model thinks for long
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
        """True for one that is itself spoken to over TLS."""
        return self.url.startswith("https:")

    @classmethod
    def of(cls, url: str) -> Proxy:
        """Raises ``ValueError`` for what is no address of an HTTP proxy."""
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
    """The way for each address. ``http`` and ``https`` are the addresses of the proxies for such
    addresses, with credentials, "" for none; ``bypass`` is NO_PROXY; ``ca_bundle`` a path or "".
    ``target`` tells by what the proxy of pages is asked for a host. All fields can be sent as JSON.
    """

    http: str = ""
    https: str = ""
    bypass: str = ""
    ca_bundle: str = ""
    target: Target = "name"

    @classmethod
    def of(cls, settings: Settings) -> Egress:
        """The ways to the addresses that the operator has chosen. Raises ``InvalidSetting``."""
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
        """The ways to pages, which others have chosen. Raises ``InvalidSetting``."""
        egress = replace(cls.of(settings), target=settings.fetch_proxy_target)
        own = settings.fetch_proxy.get_secret_value() if settings.fetch_proxy else ""
        if own == "off":
            return replace(egress, http="", https="")
        if own:
            url = _valid(own, "FOOTNOTE_FETCH_PROXY")
            return replace(egress, http=url, https=url)
        return egress

    def proxy_for(self, url: str) -> str:
        """The address of the proxy for an address, credentials included; "" for none."""
        parts = urlsplit(url)
        proxy = self.https if parts.scheme in ("https", "wss") else self.http
        if not proxy or bypasses(
            self.bypass, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 443)
        ):
            return ""
        return proxy

    def ssl_context(self, use: str = "httpx") -> ssl.SSLContext:
        """The certificates to trust. Each library has a context of its own, since each sets its own
        protocols in it. Raises ``InvalidSetting``."""
        return _trusting(
            self.ca_bundle, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"), use
        )

    def transport(self, library: ModuleType, *, http2: bool = False, limits: Any = None) -> Any:
        """A transport for a client of ``library``, which is httpx or httpx2, that takes the way of
        each request. Raises ``InvalidSetting``."""
        return _Routed(self, library, http2, limits)

    def connector(self, limit: int = 100) -> aiohttp.TCPConnector:
        """The connections of a session of aiohttp, at most so many (0: any number). Raises
        ``InvalidSetting``."""
        import aiohttp

        return aiohttp.TCPConnector(limit=limit, ssl=self.ssl_context("aiohttp"))


DIRECT = Egress()


def bypasses(entries: str, host: str, port: int) -> bool:
    """Return True if NO_PROXY has a host: by its name or a domain above it, with or without port,
    and a literal address also by its network."""
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
        raise InvalidSetting(  # without the value, which may hold a password
            f"{names} cannot be used: write a proxy like http://proxy.example:3128 (https:// if it "
            "is spoken to over TLS), or unset it."
        ) from None
    return url if "://" in url else f"http://{url}"


@lru_cache(maxsize=8)
def _trusting(bundle: str, file: str | None, folder: str | None, use: str) -> ssl.SSLContext:
    """Reading certificates takes 20 ms and more, so it is done once."""
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ssl.SSLError) as error:
        raise InvalidSetting(
            "SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read: correct or "
            "unset it.",
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
                f"FOOTNOTE_CA_BUNDLE names {bundle}, which is no file of certificates in PEM that "
                "can be read: correct the path.",
                detail=str(error),
            ) from None
    if use == "aiohttp":
        context.set_alpn_protocols(["http/1.1"])
    return context


class _Routed:
    """A transport of httpx or httpx2: their classes have the same shape."""

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
            raise library.ProxyError(
                f"The proxy {proxy.url} makes no connection to {request.url.host}"
                f" ({error or type(error).__name__}): check it, HTTPS_PROXY and NO_PROXY, and"
                " FOOTNOTE_CA_BUNDLE."
            ) from error

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


def proxy_failure(error: BaseException | None) -> str:
    """The sentence of a request that failed at its proxy, also inside other errors; else ""."""
    while error is not None:
        if type(error).__name__ == "ProxyError":  # of httpx or httpx2, from ``_Routed``
            return str(error)
        error = error.__cause__
    return ""
