"""Client of a reading service, which returns a page as Markdown (``FOOTNOTE_READER_URL``).

Such services run a browser of their own. The service is used only after a plain fetch has met a
page for browsers only, and only for public addresses: an operator who lets Footnote read an
intranet has not agreed to send its addresses to a third party. The operator chose the service
itself, so the address rule does not apply to it.

Jina's reader (https://github.com/jina-ai/reader) expects the page's address appended to its own,
and begins its response with lines about the page, up to "Markdown Content:".
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.core.egress import DIRECT, Egress, proxy_failure
from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    CredentialsRefused,
    InvalidSetting,
    PageUnreadable,
    Unavailable,
)
from bot.core.texts import Said, said
from bot.pages.guard import Allow, Guard, Resolver, system_resolver
from bot.pages.page import Reading
from bot.pages.urls import DEFAULT_PORTS, display_url, parse

if TYPE_CHECKING:
    import httpx

PLACE, KEY = "FOOTNOTE_READER_URL", "FOOTNOTE_READER_API_KEY"
SLOT = "{url}"
CONNECT_SECONDS = 10.0
PROBE = "https://example.com/"  # reserved for documentation, RFC 2606; always available

_ABOUT = re.compile(r"(?P<name>[A-Z][A-Za-z]*(?: [A-Z][A-Za-z]*){0,2}): ?(?P<value>.*)")
_BEGINS = re.compile(r"^Markdown Content:[ \t]*\r?\n", re.MULTILINE)
_ABOUT_CHARACTERS = 4_000  # within which the page's own text begins


class ReaderService:
    """The service at ``place``: an address with a ``{url}`` slot for the page's percent-encoded
    address, or one to which the page's address is appended unchanged.

    ``seconds`` and ``most_bytes`` limit one response. ``name`` is the service's host, which
    footnotes show; ``allow`` adds ports of public hosts. ``egress`` is the route to the service;
    ``egress_of_pages`` is the route to pages, used to judge a page's address. Raises
    ``InvalidSetting`` for a place that is not a web address.
    """

    def __init__(
        self,
        place: str,
        key: str,
        *,
        seconds: float,
        most_bytes: int,
        resolver: Resolver = system_resolver,
        allow: Allow | None = None,
        egress: Egress = DIRECT,
        egress_of_pages: Egress = DIRECT,
    ) -> None:
        self._place = place
        try:
            self.name = parse(place.replace(SLOT, "")).host
        except AddressRefused as error:
            raise InvalidSetting(f"{PLACE} is not a web address: {error.sentence}") from None
        self._title = said("reading-service", name=self.name)
        self._key = key
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._egress = egress
        self._public = Guard((allow or Allow()).of_public_hosts, resolver, egress_of_pages)
        self._client: httpx.AsyncClient | None = None

    async def read(self, url: str) -> Reading:
        """The page at a canonical address.

        Raises ``AddressRefused`` for one that is not public, ``CredentialsRefused`` (the key),
        ``Unavailable`` (down, slow, out of quota), ``BrowserNeeded`` if the site turned the service
        away as well, and ``PageUnreadable`` (no text, too much text).
        """
        page = parse(url)
        port = page.port or DEFAULT_PORTS[page.scheme]
        await self._public.route(page.scheme, page.host, port)
        reading = without_preamble(await self._ask(url))
        if not reading.text.strip():
            raise PageUnreadable(
                f"{self.name} returned no text for {display_url(url)}; paste the text."
            )
        return reading

    async def report(self) -> Said:
        """Check that the service answers. Raises like ``read``."""
        reading = await self.read(PROBE)
        return said("check-reader", name=self.name, count=len(reading.text), url=PROBE)

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def address_for(self, url: str) -> str:
        """The address to request from the service for a page."""
        if SLOT in self._place:
            return self._place.replace(SLOT, quote(url, safe=""))
        return f"{self._place.rstrip('/')}/{url}"

    async def _ask(self, url: str) -> str:
        import httpx

        if self._client is None:
            timeout = httpx.Timeout(self._seconds, connect=min(CONNECT_SECONDS, self._seconds))
            self._client = httpx.AsyncClient(
                transport=self._egress.transport(httpx), timeout=timeout, follow_redirects=False
            )
        headers = {"Accept": "text/markdown, text/plain;q=0.9"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        data = bytearray()
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream("GET", self.address_for(url), headers=headers) as response,
            ):
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > self._most_bytes:
                        raise PageUnreadable(
                            f"{self.name} returned more than {self._most_bytes / 1e6:g} MB for"
                            f" {display_url(url)}; give a smaller page."
                        )
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Unavailable(
                said("search-slow", title=self._title), detail=type(error).__name__
            ) from None
        except httpx.ProxyError as error:
            raise Unavailable(proxy_failure(error)) from None
        except UnicodeEncodeError:  # headers take ASCII only, so it is the key
            raise self._refused("the key is not ASCII") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(
                said("search-away", title=self._title, place=PLACE),
                detail=f"{type(error).__name__}: {error}",
            ) from None
        text = data.decode("utf-8", "replace")
        self._check(response.status_code, url, text[:300])
        return text

    def _check(self, status: int, url: str, body: str) -> None:
        """Raise the error that a status stands for, unless it is success."""
        if status == 200:
            return
        detail = f"status {status}: {body}"
        if status in (401, 403):
            raise self._refused(detail)
        if not (status in (402, 429) or 300 <= status < 400 or status >= 500):
            raise PageUnreadable(
                f"The reading service {self.name} could not read {display_url(url)} (status"
                f" {status}); paste the text.",
                detail=detail,
            )
        told = said("search-rate", title=self._title)
        if status >= 500:
            told = said("search-down", title=self._title, status=status)
        elif status < 400:
            told = said("search-redirect", title=self._title, place=PLACE)
        raise Unavailable(told, detail=detail)

    def _refused(self, detail: str) -> CredentialsRefused:
        return CredentialsRefused(said("search-key", title=self._title, key=KEY), detail=detail)


def without_preamble(text: str) -> Reading:
    """Parse a response: Markdown, without the lines about the page that Jina's reader puts first.

    Raises ``BrowserNeeded`` if those lines say that the page answered the service with an error.
    """
    begins = _BEGINS.search(text, 0, _ABOUT_CHARACTERS)
    if begins is None:
        return Reading("", text)
    matches = [
        match for line in text[: begins.start()].splitlines() if (match := _ABOUT.match(line))
    ]
    about = {match["name"].lower(): match["value"].strip() for match in matches}
    if "url source" not in about:
        return Reading("", text)
    warning = about.get("warning", "")
    if re.search(r"\berror [45]\d\d\b|CAPTCHA", warning):
        raise BrowserNeeded(
            "The page does not let the reading service in either; paste the text.", detail=warning
        )
    return Reading(about.get("title", ""), text[begins.end() :])
