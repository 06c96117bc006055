"""The address that a page gives itself (``<link rel="canonical">``), where it may be believed."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin

from bot.errors import AddressRefused
from bot.pages import urls

_PAGE_PARAMETERS = frozenset(
    {"a", "article", "c", "cat", "category", "date", "doc", "document", "entry", "file", "filter"}
    | {"id", "item", "k", "key", "keyword", "keywords", "lang", "language", "locale", "n", "name"}
    | {"node", "nr", "p", "page", "pageid", "path", "pg", "post", "product", "q", "query", "s"}
    | {"search", "section", "sku", "slug", "sort", "start", "story", "t", "tab", "tag", "term"}
    | {"text", "thread", "title", "topic", "type", "u", "url", "user", "v", "version", "w", "year"}
)
"""Parameters that say which page it is, besides all with a number in their value."""


def cited_as(found: str, said: str) -> str:
    """The address of a page that was found at one and says that it has another.

    It is believed only where both are variants of one address (``urls.dedupe_key``): the same host
    but for "www.", "m." or "amp.", the same path but for its AMP or index ending, and no parameter
    less but those that cannot tell one page from another. So no page takes another one's place,
    and a site whose pages all claim to be its front page is not believed. The scheme stays.

    ``found`` is canonical; ``said`` is what the page says, and may be relative, or "".
    """
    if not said.strip():
        return found
    try:
        there = urls.without_amp_cache(urls.canonical(urljoin(found, said.strip())))
    except (AddressRefused, ValueError):  # ValueError: of brackets that are no IPv6 address
        return found
    page, _, query = urls.dedupe_key(found).partition("?")
    page_there, _, query_there = urls.dedupe_key(there).partition("?")
    parameters, kept = set(query.split("&")), set(query_there.split("&"))
    lost, new = parameters - kept - {""}, kept - parameters - {""}
    if page != page_there or new or any(map(_tells_pages_apart, lost)):
        return found
    return str(replace(urls.parse(there), scheme=urls.parse(found).scheme))


def _tells_pages_apart(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.lower() in _PAGE_PARAMETERS or not value or any(map(str.isdigit, value))
