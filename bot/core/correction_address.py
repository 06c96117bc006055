"""Addresses of corrections: ``correction:/PLACE/ID``.

The place says who may see it: everyone in a workspace (``slack:T1``), or the readers of one channel
or direct conversation (``slack:T1:C1``) or thread. The message's web address, if it has one,
follows "?", as in ``bot.core.mcp_address``, and is the target of links.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

SCHEME = "correction:"


def address(place: str, id: str, url: str = "") -> str:
    """Return the address of a correction; ``url`` is its message's web address, if it has one."""
    end = f"?{quote(url, safe='')}" if url else ""
    return f"{SCHEME}/{quote(place, safe='')}/{id}{end}"


def is_correction(url: str) -> bool:
    """Return True if an address belongs to a correction."""
    return url[: len(SCHEME)].lower() == SCHEME


def place_of(url: str) -> str:
    """Return the place whose readers may see the correction at an address."""
    return unquote(url.split("/")[1]) if url.count("/") > 1 else ""


def id_of(url: str) -> str:
    """Return the id in the address of a correction."""
    return url.partition("?")[0].rpartition("/")[2]
