"""Addresses of corrections: ``correction:/PLACE/ID``.

The place says who may be told: everybody in a workspace (``slack:T1``), or those who read one
channel or direct conversation (``slack:T1:C1``) or one thread. The web address of the message,
where there is one, follows behind "?", as in ``bot.mcp.address``, and links lead there.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

SCHEME = "correction:"


def address(place: str, id: str, url: str = "") -> str:
    """The address of a correction; ``url`` is that of its message, if it has one."""
    end = f"?{quote(url, safe='')}" if url else ""
    return f"{SCHEME}/{quote(place, safe='')}/{id}{end}"


def is_correction(url: str) -> bool:
    """Return True if an address is that of a correction."""
    return url[: len(SCHEME)].lower() == SCHEME


def place_of(url: str) -> str:
    """The place whose readers may be told of the correction at an address."""
    return unquote(url.split("/")[1]) if url.count("/") > 1 else ""


def id_of(url: str) -> str:
    """The id in the address of a correction."""
    return url.partition("?")[0].rpartition("/")[2]
