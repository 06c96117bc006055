"""Addresses of the results of a server of the Model Context Protocol: ``mcp:/SERVER/ID``.

A result is addressed below its server even if it has a web address, since only those who may use
the server may be told of it. The web address, where there is one, follows behind "?", and links
lead there: ``mcp:/jira/OPS-7?https%3A%2F%2Fjira.example.com%2Fbrowse%2FOPS-7``.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from bot.corrections.address import is_correction

SCHEME = "mcp:"
WEB = ("http://", "https://")


def address(server: str, id: str, url: str = "") -> str:
    """The address of a server's result; ``url`` is its own in the web, if it has one."""
    end = f"?{quote(url, safe='')}" if url.startswith(WEB) and url != id else ""
    return f"{root(server)}/{quote(id, safe='')}{end}"


def root(server: str) -> str:
    """The address below which all results of a server are."""
    return f"{SCHEME}/{server}"


def is_of_server(url: str) -> bool:
    return url[: len(SCHEME)].lower() == SCHEME


def server_of(url: str) -> str:
    """The name of the server; "" for an address of something else."""
    return url.split("/")[1] if is_of_server(url) and url.count("/") > 1 else ""


def id_of(url: str) -> str:
    """The id by which the server knows the result at an address."""
    return unquote(url.partition("?")[0].split("/", 2)[-1])


def public(url: str) -> str:
    """The address at which people open a page. For a server's result and for a correction that is
    its web address, "" if it has none; for other pages it is their own."""
    if not (is_of_server(url) or is_correction(url)):
        return url
    known = unquote(url.partition("?")[2]) or id_of(url)
    return known if known.startswith(WEB) else ""


def shown(url: str) -> str:
    """The address by which people and programs are told of a page."""
    return public(url) or url
