"""The host of a web address in its one canonical spelling, as a DNS name or a number.

Follows the WHATWG URL standard, section 3.5 (https://url.spec.whatwg.org/#host-parsing); of names,
it accepts DNS names only. All functions raise a ``ValueError`` that describes the error.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote_to_bytes

MAX_NAME = 253  # RFC 1035 section 2.3.4, without the root dot
MAX_LABEL = 63

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
_HEX = re.compile(r"0[xX][0-9A-Fa-f]*")


def name(text: str) -> str:
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
        raise ValueError(f"a name is at most {MAX_NAME} characters")
    for label in ascii_name.split("."):
        if len(label) > MAX_LABEL or not _LABEL.fullmatch(label):
            raise ValueError(f"{label[:MAX_LABEL]!r} cannot be part of a name")
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
    """The IPv4 address that a host denotes; None for a name.

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
    return ".".join(_label_to_ascii(label) for label in mapped.split("."))


def _label_to_ascii(label: str) -> str:
    if label.isascii() and not label.startswith("xn--"):
        return label
    import idna

    return idna.alabel(label).decode("ascii")  # checks an "xn--" label too
