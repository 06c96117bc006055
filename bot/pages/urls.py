"""Web addresses: validation, one spelling per page, and the addresses in a person's text.

Parsing follows the WHATWG URL standard (https://url.spec.whatwg.org/) where browsers and RFC 3986
differ (backslashes, spellings of IPv4 addresses, percent-encoded hosts), and is stricter where a
browser would guess; of host names, it accepts DNS names only. ``canonical`` returns RFC 3986
characters only, so that no later parser can read a different host from the result.
"""

from __future__ import annotations

import ipaddress
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from bot.core.errors import AddressRefused, without_credentials
from bot.text.patterns import listed

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

_UNRESERVED = frozenset(f"{string.ascii_letters}{string.digits}-._~")
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

    Ignores differences of http and https, of www. and mobile hosts, of a trailing slash or index
    file, and of the order of parameters. Text that is not a web address is its own key.
    """
    try:
        address = parse(url)
    except AddressRefused:
        return url.strip()
    parameters = sorted(address.query.split("&"), key=lambda parameter: parameter.partition("=")[0])
    port = "" if address.port is None else f":{address.port}"
    path = _INDEX_FILE.sub("/", address.path).rstrip("/") or "/"
    key = f"{_without_variant_labels(address.host)}{port}{path}"
    return f"{key}?{'&'.join(parameters)}" if address.query else key


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


def with_names(title: str, url: str) -> str:
    """Return a page's title; of a file with the names of its folder and, without ending, itself,
    which may say what it is about."""
    if not url.startswith("file:"):
        return title
    folder, _, name = unquote(urlsplit(url).path).rpartition("/")
    return " ".join((title, folder.rpartition("/")[2], name.rpartition(".")[0] or name))


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
        return _host(url, ipv6, literal), _port(url, after[1:])
    name, _, digits = authority.partition(":")
    if not name:
        _refuse(url, "it has no host; give the whole address")
    return _host(url, host_name, name), _port(url, digits)


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
    def is_tracking(parameter: str) -> bool:
        name = parameter.partition("=")[0].lower()
        return name in TRACKING_PARAMETERS or name.startswith(_TRACKING_PREFIXES)

    return "&".join(each for each in query.split("&") if each and not is_tracking(each))


# ---------------------------------------------------------------- variants of one page

_VARIANT_LABELS = frozenset({"www", "m", "mobile"})
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


# ---------------------------------------------------------------- host names and numbers


MAX_NAME = 253  # RFC 1035 section 2.3.4, without the root dot
MAX_LABEL = 63

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
_HEX = re.compile(r"0[xX][0-9A-Fa-f]*")


def host_name(text: str) -> str:
    """A host written without brackets: lower case, IDNA, without the root dot.

    Percent-encoding is decoded first; numbers become a dotted IPv4 address.
    """
    plain = unquote_to_bytes(text).decode("utf-8") if "%" in text else text
    ascii_name = _to_ascii(plain)
    address = ipv4(ascii_name)
    if address is not None:
        return str(address)
    ascii_name = ascii_name.removesuffix(".")
    if len(ascii_name) > MAX_NAME:
        raise ValueError(f"a host_name is at most {MAX_NAME} characters")
    for label in ascii_name.split("."):
        if len(label) > MAX_LABEL or not _LABEL.fullmatch(label):
            raise ValueError(f"{label[:MAX_LABEL]!r} cannot be part of a host_name")
    return ascii_name


def ipv6(text: str) -> str:
    """The host between brackets: an IPv6 address as in RFC 5952, without a zone."""
    address = ipaddress.IPv6Address(text)
    if address.scope_id is not None:
        raise ValueError("an address of a network interface")
    mapped = address.ipv4_mapped
    if mapped is not None:  # newer Pythons write the end in dotted form, older ones do not
        return f"::ffff:{int(mapped) >> 16:x}:{int(mapped) & 0xFFFF:x}"
    return address.compressed


def ipv4(text: str) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a host denotes; None for a host_name.

    Accepts what ``inet_aton`` and browsers accept: 1 to 4 parts, each decimal, octal or hex. A host
    that ends in a number but is not an address is an error.
    """
    parts = text.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if not _is_number(parts[-1]):
        return None
    if len(parts) > 4:
        raise ValueError("an IPv4 address has at most four parts")
    *leading, last = [_number(part) for part in parts]
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise ValueError("a part of the IPv4 address is too large")
    value = last
    for place, number in enumerate(leading):
        value += number << (8 * (3 - place))
    return ipaddress.IPv4Address(value)


def _is_number(part: str) -> bool:
    return part.isascii() and (part.isdigit() or _HEX.fullmatch(part) is not None)


def _number(part: str) -> int:
    if not _is_number(part) or len(part) > MAX_LABEL:
        raise ValueError(f"{part[:MAX_LABEL]!r} is not part of an IPv4 address")
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if len(part) > 1 and part[0] == "0" else 10)


def _to_ascii(text: str) -> str:
    """A name in its DNS form (UTS 46, non-transitional)."""
    if text.isascii() and "xn--" not in text.lower():
        return text.lower()
    import idna  # imported here because few hosts need its tables

    mapped = idna.uts46_remap(text, std3_rules=False, transitional=False)
    return ".".join(
        # alabel checks an "xn--" label too
        label
        if label.isascii() and not label.startswith("xn--")
        else idna.alabel(label).decode("ascii")
        for label in mapped.split(".")
    )


# ---------------------------------------------------------------- addresses without a scheme


# Endings of host names that are not file extensions: the general domains in wide use, and those of
# countries (ISO 3166-1 alpha-2) except those that are also extensions or everyday words.
_ENDINGS = listed(
    "com org net edu gov int info biz dev app ai wiki blog news tech cloud online site page museum "
    "ac ad ae af ag al am ao ar au aw az ba bb bd be bf bg bh bi bj bn bo br bs bt bw by bz ca cd "
    "cf cg ch ci ck cl cm cn co cr cu cv cw cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk "
    "fm fo fr ga gb gd ge gg gh gi gl gm gn gp gq gr gt gu gw gy hk hn hr ht hu id ie il im io iq "
    "ir it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me "
    "mg mh mk mn mo mp mr mt mu mv mw mx my mz na nc ne ng ni nl np nr nu nz om pa pe pf pg ph pk "
    "pr pt pw qa re ro ru rw sa sb sc sd se sg si sk sl sm sn sr st sv sy sz tc td tf tg th tj tk "
    "tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vn vu wf ws ye za zm zw"
)
_HOST = re.compile(
    r"(?<![A-Za-z0-9_@/.:?&=#%+-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+([A-Za-z]{2,6})"
    r"(?![A-Za-z0-9_@-]|\.[A-Za-z0-9])(?::\d{2,5}(?!\d))?"
)
LONGEST = 2_000  # characters of an address without a scheme


def hosts_in(text: str) -> list[tuple[str, str]]:
    """Hosts without a scheme, in order: each as written, and the address that it begins.

    The address is ``https://`` plus the host and the path that follows it, if any.
    """
    return [
        (match.group(), _address(match))
        for match in _HOST.finditer(text)
        # "It works.It is done" only lacks a space; hosts are not written in mixed case like that.
        if (match[1].islower() or match.group().isupper()) and match[1].lower() in _ENDINGS
    ]


def links_said(text: str) -> list[str]:
    """All addresses in a text, each page once.

    First those of ``links_in``, then those without a scheme that have a path: a bare host is more
    often a name.
    """
    found = {dedupe_key(link): link for link in links_in(text)}
    for host, address in hosts_in(text):
        if len(address) > len(f"https://{host}/"):
            found.setdefault(dedupe_key(address), address)
    return list(found.values())


def _address(match: re.Match[str]) -> str:
    """The address that begins with a host, without the punctuation of the sentence around it."""
    rest = match.string[match.end() : match.end() + LONGEST]
    following = rest.split(maxsplit=1)[0] if rest[:1] in ("/", "?") else ""
    links = links_in(f"https://{match.group()}{following}")
    return links[0] if links else f"https://{match.group()}"
