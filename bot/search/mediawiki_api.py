"""Client for the MediaWiki action API of one wiki: sends requests, parses replies and errors.

Reference: https://www.mediawiki.org/wiki/API:Main_page (``action=query`` with ``list/generator=
search``, ``titles``, ``prop=info|pageprops|extracts``; ``action=parse``), ``formatversion=2``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx

from bot.core.errors import Broken, CredentialsRefused, PageUnreadable, ProviderUnavailable, Refused
from bot.pages.urls import display_url
from bot.search.json_api import (
    fetched,
    integer,
    mapping,
    mappings,
    retry_after,
    string,
)

MAX_REPLY_BYTES = 16_000_000  # the largest article is 2 MB of wikitext ($wgMaxArticleSize)
MAX_TITLES = 50  # titles in one query for an anonymous client (API:Query, "limits")
MAX_QUERY_CHARACTERS = 300  # CirrusSearch rejects longer ones; MediaWiki counts characters too
SNIPPET_CHARACTERS = 250
REQUEST_SECONDS = 15.0

# Error codes by what the caller can do about them (API:Errors_and_warnings).
TRY_LATER = ("maxlag", "ratelimited", "readonly", "internal_api_error", "cirrussearch", "timeout")
NO_ACCESS = ("readapidenied", "permissiondenied", "mustbeloggedin", "assert", "blocked")

What = Literal["text", "title"]


@dataclass(frozen=True, slots=True)
class Site:
    """The properties of a wiki, requested once: its endpoint, its name, and the form of its URLs.

    ``server`` is an origin such as ``https://en.wikipedia.org``; ``article_path`` contains ``$1``.
    ``cirrus`` is true if CirrusSearch answers searches, ``extracts`` if TextExtracts is installed.
    """

    endpoint: str
    name: str
    server: str
    article_path: str
    cirrus: bool
    extracts: bool


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page as a search or a look-up by title lists it.

    ``snippet`` is what the server sent: HTML, raw wikitext, or the beginning of the text.
    ``asked`` has the requested titles that led here (before redirects and normalization).
    ``article`` is False outside the main namespace.
    """

    title: str
    url: str
    snippet: str = ""
    disambiguation: bool = False
    article: bool = True
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """One page's plain-text extract with ``== headings ==``; None without TextExtracts."""

    title: str
    url: str
    extract: str | None


class WikiApi:
    """Client for one wiki. ``base`` may be an origin, a script path, or the address of api.php."""

    def __init__(self, base: str, client: httpx.AsyncClient) -> None:
        self.base = base.rstrip("/")
        self._client = client
        self._site: Site | None = None

    @property
    def known_site(self) -> Site | None:
        """The site if it has already been requested; no I/O."""
        return self._site

    async def site(self) -> Site:
        """Find api.php and request the wiki's properties, once.

        Raises ``ProviderUnavailable`` (not cached, the next call tries again),
        ``CredentialsRefused``, or ``Broken`` if there is no MediaWiki at the address.
        """
        if self._site is None:
            self._site = await self._discover()
        return self._site

    async def search(self, query: str, what: What, limit: int) -> list[ListedPage]:
        """Matching pages of the main namespace, best first, with redirects resolved."""
        site = await self.site()
        parameters = {
            "generator": "search",
            "gsrsearch": query[:MAX_QUERY_CHARACTERS],
            "gsrnamespace": "0",
            "gsrlimit": str(min(limit, MAX_TITLES)),
            "gsrprop": "snippet",
        }
        if not site.cirrus:
            # The default there is a title search. CirrusSearch does not distinguish the two.
            parameters["gsrwhat"] = what
        pages, _ = await self._pages(site, parameters)
        pages.sort(key=_place)
        return [_listed(page) for page in pages if _exists(page)]

    async def look_up(self, titles: list[str]) -> list[ListedPage]:
        """The pages that exist under these titles (at most 50), with redirects resolved.

        With TextExtracts, the first 20 have the beginning of their text as snippet.
        """
        if not titles:
            return []
        site = await self.site()
        parameters = {"titles": "|".join(titles[:MAX_TITLES]), "converttitles": "1"}
        if site.extracts:
            parameters |= {
                "explaintext": "1",
                "exintro": "1",
                "exchars": str(SNIPPET_CHARACTERS),
                "exlimit": "max",
            }
        pages, renamed = await self._pages(site, parameters, extracts=site.extracts)
        asked: dict[str, list[str]] = {}
        for title in titles[:MAX_TITLES]:
            asked.setdefault(_final(title, renamed), []).append(title)
        return [
            _listed(page, tuple(asked.get(string(page.get("title")), ())))
            for page in pages
            if _exists(page)
        ]

    async def article(self, title: str) -> Article:
        """The page with this title. Raises ``PageUnreadable`` if it does not exist."""
        site = await self.site()
        parameters = {"titles": title, "converttitles": "1"}
        if site.extracts:
            parameters |= {"explaintext": "1", "exsectionformat": "wiki"}
        pages, _ = await self._pages(site, parameters, extracts=site.extracts)
        if not pages or not _exists(pages[0]):
            raise no_such_page(title, site)
        page = pages[0]
        extract = page.get("extract")
        return Article(
            title=string(page.get("title")),
            url=_address(page),
            extract=extract if isinstance(extract, str) and extract.strip() else None,
        )

    async def html(self, title: str) -> str:
        """The rendered body of a page, without edit links and table of contents."""
        site = await self.site()
        reply = await self._call(
            site.endpoint,
            {
                "action": "parse",
                "page": title,
                "prop": "text",
                "redirects": "1",
                "disableeditsection": "1",
                "disabletoc": "1",
                "disablelimitreport": "1",
            },
        )
        text = mapping(reply.get("parse")).get("text")
        if not isinstance(text, str):
            raise self._broken("a parsed page without text")
        return text

    # ------------------------------------------------------------ requests

    async def _pages(
        self, site: Site, parameters: Mapping[str, str], *, extracts: bool = False
    ) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Query pages with their addresses; also returns the renamed titles, old → new."""
        reply = await self._call(
            site.endpoint,
            {
                "action": "query",
                "prop": "info|pageprops|extracts" if extracts else "info|pageprops",
                "inprop": "url",
                "ppprop": "disambiguation",
                "redirects": "1",
                **parameters,
            },
        )
        query = mapping(reply.get("query"))
        renamed = {
            string(step.get("from")): string(step.get("to"))
            for kind in ("normalized", "converted", "redirects")
            for step in mappings(query.get(kind))
        }
        return list(mappings(query.get("pages"))), renamed

    async def _discover(self) -> Site:
        denied: CredentialsRefused | None = None
        for endpoint in endpoints(self.base):
            try:
                reply = await self._call(
                    endpoint,
                    {"action": "query", "meta": "siteinfo", "siprop": "general|extensions"},
                )
            except CredentialsRefused as error:
                denied = denied or error
                continue
            except (Broken, Refused):
                continue  # not api.php; try the next address
            site = _site(endpoint, mapping(reply.get("query")))
            if site is not None:
                return site
        if denied is not None:
            raise denied
        raise Broken(
            f"There is no MediaWiki API at {display_url(self.base)}: check FOOTNOTE_WIKIPEDIA_URL.",
            detail="tried " + ", ".join(display_url(place) for place in endpoints(self.base)),
        )

    async def _call(self, endpoint: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """Send one request. Raises ``ProviderUnavailable``, ``CredentialsRefused``, ``Refused`` or
        ``Broken``."""
        query = {**parameters, "format": "json", "formatversion": "2", "errorformat": "plaintext"}
        responding = self._client.stream(
            "GET", endpoint, params=query, follow_redirects=True, timeout=REQUEST_SECONDS
        )
        title, place = f"The wiki at {self._host}", "FOOTNOTE_WIKIPEDIA_URL"
        status, headers, body = await fetched(
            responding, title, place, self._broken, MAX_REPLY_BYTES
        )
        if status == 429 or status >= 500:
            raise ProviderUnavailable(
                f"The wiki at {self._host} is busy or down (HTTP {status}): try again later.",
                retry_after=retry_after(headers),
            )
        if status in (401, 403):
            raise CredentialsRefused(
                f"The wiki at {self._host} refuses access (HTTP {status}): it is private, or it "
                "blocks this address.",
                detail=body[:200].decode("utf-8", "replace"),
            )
        try:
            reply = json.loads(body)
        except (ValueError, RecursionError):
            raise self._broken(f"HTTP {status} without JSON") from None
        if not isinstance(reply, dict):
            raise self._broken("JSON that is not an object")
        self._raise_for_error(reply, headers)
        return reply

    def _raise_for_error(self, reply: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        errors = list(mappings(reply.get("errors")))
        if not errors and isinstance(reply.get("error"), dict):  # without errorformat (old wikis)
            errors = [reply["error"]]
        if not errors:
            return
        code = string(errors[0].get("code"))
        detail = f"{code}: {string(errors[0].get('text') or errors[0].get('info'))[:300]}"
        if code.startswith(TRY_LATER):
            raise ProviderUnavailable(
                f"The wiki at {self._host} is overloaded: try again later.",
                detail=detail,
                retry_after=retry_after(headers),
            )
        if code.startswith(NO_ACCESS):
            raise CredentialsRefused(
                f"The wiki at {self._host} may only be read after logging in.", detail=detail
            )
        if code in ("missingtitle", "invalidtitle", "pagecannotexist", "nosuchpageid"):
            raise PageUnreadable("There is no such page in the wiki.", detail=detail)
        raise Refused(f"The wiki at {self._host} does not accept the request.", detail=detail)

    def _broken(self, detail: str) -> Broken:
        return Broken(
            f"The wiki at {self._host} gave an answer that is not MediaWiki's.", detail=detail
        )

    @property
    def _host(self) -> str:
        return urlsplit(self.base).netloc.rpartition("@")[2]


def endpoints(base: str) -> list[str]:
    """Possible addresses of api.php, most likely first: under the address itself, then at its
    origin."""
    base = base.rstrip("/")
    if base.endswith(".php"):
        return [base.rpartition("/")[0] + "/api.php"]
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    places = [f"{base}/w/api.php", f"{base}/api.php", f"{origin}/w/api.php", f"{origin}/api.php"]
    return list(dict.fromkeys(places))


def no_such_page(title: str, site: Site) -> PageUnreadable:
    """The error for a title without a page."""
    shown = title if len(title) <= 80 else title[:80] + "…"
    return PageUnreadable(f"{site.name} has no page called “{shown}”.")


# ---------------------------------------------------------------- reading replies


def _site(endpoint: str, query: Mapping[str, Any]) -> Site | None:
    general = mapping(query.get("general"))
    if not string(general.get("generator")).startswith("MediaWiki"):
        return None
    extensions = {string(each.get("name")) for each in mappings(query.get("extensions"))}
    server = string(general.get("server"))
    scheme = urlsplit(endpoint).scheme
    return Site(
        endpoint=endpoint,
        name=string(general.get("sitename")) or "The wiki",
        server=f"{scheme}:{server}" if server.startswith("//") else server,
        article_path=string(general.get("articlepath")) or "/wiki/$1",
        cirrus="CirrusSearch" in extensions,
        extracts="TextExtracts" in extensions,
    )


def _listed(page: Mapping[str, Any], asked: tuple[str, ...] = ()) -> ListedPage:
    return ListedPage(
        title=string(page.get("title")),
        url=_address(page),
        snippet=string(page.get("snippet")) or string(page.get("extract")),
        disambiguation="disambiguation" in mapping(page.get("pageprops")),
        article=page.get("ns") == 0,
        asked=asked,
    )


def _place(page: Mapping[str, Any]) -> int:
    place = integer(page.get("index"))
    return 1_000_000 if place is None else place


def _exists(page: Mapping[str, Any]) -> bool:
    absent = any(page.get(mark) for mark in ("missing", "invalid", "special"))
    return not absent and bool(string(page.get("title"))) and bool(_address(page))


def _address(page: Mapping[str, Any]) -> str:
    address = string(page.get("canonicalurl")) or string(page.get("fullurl"))
    return f"https:{address}" if address.startswith("//") else address


def _final(title: str, renamed: Mapping[str, str]) -> str:
    """Follow normalization, conversion and redirects; a redirect loop is followed only once."""
    seen = {title}
    while (following := renamed.get(title)) and following not in seen:
        seen.add(following)
        title = following
    return title
