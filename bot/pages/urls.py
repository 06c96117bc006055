"""Web addresses: validation, one spelling per page, and the links in a message.

Parsing follows the WHATWG URL standard (https://url.spec.whatwg.org/) where browsers and RFC 3986
differ (backslashes, spellings of IPv4 addresses, percent-encoded hosts), and is stricter where a
browser would guess. ``canonical`` returns RFC 3986 characters only, so that no later parser can
read a different host from the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from bot.core.errors import AddressRefused, without_credentials
from bot.pages import hosts

MAX_URL = 8_000
"""Characters of an address; RFC 9110 section 4.1 recommends support for at least 8,000 octets."""

DEFAULT_PORTS = {"http": 80, "https": 443}

# fmt: off
TRACKING_PARAMETERS = frozenset({
    "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid",
    "srsltid", "_ga", "_gl", "msclkid", "yclid", "ysclid", "ymclid", "twclid", "ttclid",
    "li_fat_id", "igshid", "igsh", "epik", "rdt_cid", "mc_cid", "mc_eid", "mkt_tok", "_hsenc",
    "_hsmi", "__hstc", "__hssc", "__hsfp", "hsctatracking", "vero_conv", "vero_id",
    "oly_anon_id", "oly_enc_id", "wickedid", "_openstat", "s_kwcid", "cmpid", "ref_src",
    "ref_url", "usqp", "amp_js_v", "amp_gsa", "trk_contact", "trk_msg", "trk_module", "trk_sid",
})
# fmt: on
"""Query parameters, in lower case, that track where a reader came from and never change the page.

Only names that a single vendor coined for this purpose; names such as ``ref``, ``source`` or ``id``
change the page on some sites.
"""

_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "piwik_", "matomo_")

_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_OUTSIDE_PATH = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/-]")  # RFC 3986 pchar
_OUTSIDE_QUERY = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/?-]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


# A run parses the addresses of its few pages hundreds of times.
ADDRESSES_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class WebAddress:
    """The parts of a canonical address.

    ``host`` is lower-case ASCII (IDNA), a dotted IPv4 address, or an IPv6 address without brackets.
    ``port`` is None for the scheme's default. ``path`` begins with "/". ``query`` has no "?".
    """

    scheme: str
    host: str
    port: int | None
    path: str
    query: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    def __str__(self) -> str:
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.authority}{self.path}{query}"


def canonical(url: str) -> str:
    """The single spelling under which a page is fetched, stored and cited.

    Scheme and host in lower case (IDNA), IPv4 addresses dotted, no default port, no fragment, no
    tracking parameters, no dot segments, percent-encoding only where needed. The order of
    parameters, the case of the path and a trailing slash are kept: they may be significant. Raises
    ``AddressRefused``.
    """
    return str(parse(url))


@lru_cache(ADDRESSES_REMEMBERED)
def dedupe_key(url: str) -> str:
    """A key that variants of one page share; not an address to fetch.

    Ignores differences of http and https, of www., mobile and AMP variants, of a trailing slash or
    index file, and of the order of parameters. Text that is not a web address is its own key.
    """
    try:
        address = parse(url)
    except AddressRefused:
        return url.strip()
    address = _without_amp_cache(address)
    host, path = address.host, address.path
    parameters = sorted(
        (parameter for parameter in address.query.split("&") if not _is_amp_switch(parameter)),
        key=lambda parameter: parameter.partition("=")[0],
    )
    port = "" if address.port is None else f":{address.port}"
    key = f"{_without_variant_labels(host)}{port}{_without_variant_ending(path)}"
    query = "&".join(filter(None, parameters))
    return f"{key}?{query}" if query else key


def without_amp_cache(url: str) -> str:
    """The publisher's own address of a page in an AMP cache or viewer; others are unchanged.

    Takes and returns canonical addresses.
    """
    return str(_without_amp_cache(parse(url)))


def domain(url: str) -> str:
    """The host of an address without "www.", in ASCII; "" for text that is not a web address."""
    try:
        host = parse(url).host
    except AddressRefused:
        return ""
    return host.removeprefix("www.") if host.count(".") > 1 else host


@lru_cache(ADDRESSES_REMEMBERED)
def parse(url: str) -> WebAddress:
    """Parse an address into canonical parts; raises ``AddressRefused``."""
    text = url.strip(
        "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x1b\x1c\x1d\x1e\x1f "
    )
    if not text:
        _refuse(url, "it is empty; give an address such as https://example.org/page")
    if len(text) > MAX_URL:
        _refuse(url, f"it is longer than {MAX_URL:,} characters; give a shorter one")
    if _CONTROL.search(text):
        _refuse(url, "it contains control characters; copy it again")
    match = _SCHEME.match(text)
    if match is None:
        _refuse(url, "it does not begin with http:// or https://; give the whole address")
    scheme = match[1].lower()
    if scheme not in DEFAULT_PORTS:
        _refuse(url, "only http and https addresses are read")
    rest, _, _ = text[match.end() :].partition("#")
    rest, _, query = rest.partition("?")
    rest = rest.replace("\\", "/")  # as browsers do, so that a backslash cannot disguise the host
    if not rest.startswith("//"):
        _refuse(url, "it has no host; give the whole address")
    authority, slash, path = rest[2:].partition("/")
    if "@" in authority:
        _refuse(url, "it contains a user name or password; remove them")
    host, port = _host_and_port(url, authority)
    return WebAddress(
        scheme,
        host,
        None if port == DEFAULT_PORTS[scheme] else port,
        _without_dot_segments(_encoded(slash + path, _OUTSIDE_PATH)),
        _without_tracking(_encoded(query, _OUTSIDE_QUERY)),
    )


def display_url(url: str) -> str:
    """An address for use in a message: one line, no credentials, at most 120 characters."""
    text = without_credentials(_CONTROL.sub("", " ".join(url.split())))
    return text if len(text) <= 120 else text[:119] + "…"


def _refuse(url: str, reason: str) -> NoReturn:
    raise AddressRefused(f"The address {display_url(url) or '(empty)'} cannot be read: {reason}.")


# ---------------------------------------------------------------- host and port


def _host_and_port(url: str, authority: str) -> tuple[str, int | None]:
    if authority.startswith("["):
        literal, bracket, after = authority[1:].partition("]")
        if not bracket or (after and after[0] != ":"):
            _refuse(url, "the bracket around its host does not close before the port; correct it")
        return _host(url, hosts.ipv6, literal), _port(url, after[1:])
    name, _, digits = authority.partition(":")
    if not name:
        _refuse(url, "it has no host; give the whole address")
    return _host(url, hosts.name, name), _port(url, digits)


def _host(url: str, read: Callable[[str], str], text: str) -> str:
    try:
        return read(text)
    except ValueError as problem:
        raise AddressRefused(
            f"The address {display_url(url)} cannot be read: its host is not a valid one; correct"
            " it.",
            detail=str(problem),
        ) from None


def _port(url: str, digits: str) -> int | None:
    if not digits:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= 65535):
        _refuse(url, "its port is not a number up to 65535; correct it")
    return int(digits)


# ---------------------------------------------------------------- path and query


def _encoded(part: str, outside: re.Pattern[str]) -> str:
    """Normalize percent-encoding as in RFC 3986 section 6.2.2."""

    def replace(match: re.Match[str]) -> str:
        found = match[0]
        if len(found) == 3:
            character = chr(int(found[1:], 16))
            return character if character in _UNRESERVED else found.upper()
        return "".join(f"%{byte:02X}" for byte in found.encode("utf-8"))

    return outside.sub(replace, part)


def _without_dot_segments(path: str) -> str:
    """RFC 3986 section 5.2.4; a path that ends in a dot segment ends in a slash."""
    if "/." not in path:
        return path or "/"
    segments = path.split("/")[1:]
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _without_tracking(query: str) -> str:
    return "&".join(
        parameter for parameter in query.split("&") if parameter and not _is_tracking(parameter)
    )


def _is_tracking(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in TRACKING_PARAMETERS or name.startswith(_TRACKING_PREFIXES)


# ---------------------------------------------------------------- variants of one page

_VARIANT_LABELS = frozenset({"www", "m", "mobile", "amp"})
_AMP_CACHE = re.compile(r"/(?:[acrv]|amp|wp)/(s/)?([^/]+)(/.*)?")
_AMP_CACHES = (".cdn.ampproject.org", ".bing-amp.com")
_AMP_FILE = re.compile(r"\.amp(?=(?:\.html?)?$)")
_INDEX_FILE = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$")


def _without_variant_labels(host: str) -> str:
    """ "en.m.example.org" and "www.en.example.org" are "en.example.org"; two labels stay."""
    if ":" in host or host.replace(".", "").isdigit():
        return host
    labels = host.split(".")
    while len(labels) > 2 and labels[0] in _VARIANT_LABELS:
        labels.pop(0)
    if len(labels) > 3 and labels[1] == "m":
        labels.pop(1)
    return ".".join(labels)


def _without_variant_ending(path: str) -> str:
    path = _INDEX_FILE.sub("/", path).rstrip("/")
    path = path.removesuffix("/amp")
    if path.startswith("/amp/"):
        path = path.removeprefix("/amp")
    return _AMP_FILE.sub("", path) or "/"


def _without_amp_cache(address: WebAddress) -> WebAddress:
    """The publisher's address of a page in an AMP cache or in Google's AMP viewer.

    https://developers.google.com/amp/cache/overview#amp-cache-url-format
    """
    host, path = address.host, address.path
    if f".{host}".endswith(_AMP_CACHES) or (
        host in ("www.google.com", "google.com") and path.startswith("/amp/")
    ):
        match = _AMP_CACHE.fullmatch(path)
        if match is not None and "." in match[2]:
            scheme = "https" if match[1] else "http"
            query = f"?{address.query}" if address.query else ""
            try:
                return parse(f"{scheme}://{match[2]}{match[3] or '/'}{query}")
            except AddressRefused:
                pass
    return address


def _is_amp_switch(parameter: str) -> bool:
    name, _, value = parameter.lower().partition("=")
    if name in ("amp", "_amp"):
        return value in ("", "1", "true")
    return name in ("output", "outputtype") and value == "amp"


# ---------------------------------------------------------------- links in a message

# A link ends at white space, at characters no URL contains, and at East Asian punctuation.
_LINK_START = re.compile(r"(?<![A-Za-z0-9])(?:https?://|www\.(?=[^\s.]+\.))", re.IGNORECASE)
_LINK_REST = re.compile(
    '[^\\s<>"`|{}\\\\^\x00-\x1f\x7f'
    "\u2018-\u201f\u2026\u3000-\u3003\u3008-\u3011\u3014-\u301f\uff01\uff02\uff07-\uff0a\uff0c"
    "\uff1a\uff1b\uff1c\uff1e\uff1f\uff3b\uff3d\uff5b-\uff65]+"
)
_JOINED = re.compile(r"[^\x00-\x7f]{1,8}(?=https?://)", re.IGNORECASE)  # "和" between two links
_TRAILING = ".,;:!?'*~·"
_CLOSING = {")": "(", "]": "["}
_HOST_OF_LINK = re.compile(r"(?:https?://|)([^/?#:]+)", re.IGNORECASE)
_ASCII_END = re.compile(r"[A-Za-z0-9-]+(?=[^\x00-\x7f])")


def links_in(text: str) -> list[str]:
    """The addresses that a person wrote in plain text or Markdown, in order, each page once.

    ``text`` contains no platform escapes. Punctuation around an address is removed, as are East
    Asian punctuation and text directly after a host ("见https://example.org/a。") and text that
    joins an address to the next one ("https://a.org/x和https://b.org/y"). An address that begins
    with "www." gets "http://". Addresses are returned unchecked: fetching an invalid one raises
    the error.
    """
    found: dict[str, str] = {}
    position = end = 0  # end: of the last run of characters that links may contain
    while match := _LINK_START.search(text, position):
        start, position = match.span()
        if position >= end:  # links in one run share its end, to keep the time linear
            rest = _LINK_REST.match(text, position)
            if rest is None:
                continue
            end = rest.end()
        link = _trimmed(text[start:end], text[start - 1 : start])
        position = start + max(len(link), 1)
        if link[:4].lower() == "www.":
            link = f"http://{link}"
        if not link.endswith("://"):
            found.setdefault(dedupe_key(link), link)
    return list(found.values())


def _trimmed(candidate: str, before: str) -> str:
    """A link without punctuation and text of the sentence around it."""
    joined = None if candidate.isascii() else _JOINED.search(candidate, 0, MAX_URL)
    link = candidate[: joined.start()] if joined else candidate
    link = _until_unbalanced(_without_text_behind_host(link))
    end = len(link)
    while end and link[end - 1] in _TRAILING:
        end -= 1
    link = link[:end]
    return link.removesuffix("_") if before == "_" else link


def _until_unbalanced(link: str) -> str:
    """The link up to the first closing bracket it has not opened itself, as in CommonMark."""
    depth = {"(": 0, "[": 0}
    for i, character in enumerate(link):
        if character in depth:
            depth[character] += 1
        elif character in _CLOSING:
            if depth[_CLOSING[character]] == 0:
                return link[:i]
            depth[_CLOSING[character]] -= 1
    return link


def _without_text_behind_host(link: str) -> str:
    """Cut "https://example.org是" before 是: no top-level domain mixes scripts."""
    host = _HOST_OF_LINK.match(link)
    if host is None or host[1].isascii():
        return link
    last = host[1].rfind(".") + 1
    mixed = _ASCII_END.match(host[1], last)
    return link[: host.start(1) + mixed.end()] if last and mixed is not None else link
