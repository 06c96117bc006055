"""Addresses of results of a Model Context Protocol server: ``mcp:/SERVER/ID``.

A result is addressed below its server even if it has a web address, since only people who may use
the server may see it. The web address, if any, follows "?" and is the target of links:
``mcp:/jira/OPS-7?https%3A%2F%2Fjira.example.com%2Fbrowse%2FOPS-7``.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from bot.core.correction_address import is_correction

SCHEME = "mcp:"
WEB = ("http://", "https://")


def address(server: str, id: str, url: str = "") -> str:
    """Return the address of a server's result; ``url`` is its web address, if it has one."""
    end = f"?{quote(url, safe='')}" if url.startswith(WEB) and url != id else ""
    return f"{root(server)}/{quote(id, safe='')}{end}"


def root(server: str) -> str:
    """Return the address above all results of a server."""
    return f"{SCHEME}/{server}"


def is_of_server(url: str) -> bool:
    return url[: len(SCHEME)].lower() == SCHEME


def server_of(url: str) -> str:
    """Return the name of the server; "" for other addresses."""
    return url.split("/")[1] if is_of_server(url) and url.count("/") > 1 else ""


def id_of(url: str) -> str:
    """Return the server's own id for the result at an address."""
    return unquote(url.partition("?")[0].split("/", 2)[-1])


def public(url: str) -> str:
    """Return the address at which people open a page: for a server's result or a correction its web
    address or "", for other pages their own address."""
    if not (is_of_server(url) or is_correction(url)):
        return url
    known = unquote(url.partition("?")[2]) or id_of(url)
    return known if known.startswith(WEB) else ""


def display_address(url: str) -> str:
    """Return the address of a page to show to people and programs."""
    return public(url) or url
