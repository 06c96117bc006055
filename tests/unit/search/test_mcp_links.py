"""Links whose pages a server reads: their beginnings, and who may have them read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.core.reader import EVERYTHING, Reach, mcp_id, public
from bot.core.readership import McpServer
from bot.pages.page import Page
from bot.pages.pictures import Scans
from bot.research.library import Library
from bot.search.blend import SearchResult
from bot.search.mcp_source import McpSource
from bot.search.provider import GivenText, Unread

WIKI = "https://wiki.example.com"
PAGES = f"{WIKI}/spaces/*/pages/{{id}}"


def source(*links: str) -> McpSource:
    return McpSource(
        McpServer(name="wiki", url="https://mcp.example/mcp", everybody=True, links=links)
    )


@pytest.mark.parametrize(
    ("beginning", "link", "id"),
    [
        (PAGES, f"{WIKI}/spaces/OPS/pages/4711/Backups", "4711"),
        (PAGES, f"{WIKI}/spaces/OPS/pages/4711#keys", "4711"),
        (PAGES, f"{WIKI}/spaces/OPS/pages/a%20b", "a b"),
        (PAGES, f"{WIKI}/spaces/OPS/4711", ""),
        (PAGES, f"{WIKI}/spaces/OPS/x/pages/4711", ""),
        (PAGES, f"{WIKI}.evil.example/spaces/OPS/pages/4711", ""),
        (f"{WIKI}/view?pageId={{id}}", f"{WIKI}/view?pageId=4711&x=1", "4711"),
        (f"{WIKI}/", f"{WIKI}/any/page?x=1", f"{WIKI}/any/page?x=1"),
        (WIKI, f"{WIKI}/any/page", f"{WIKI}/any/page"),
        (WIKI, f"{WIKI}.evil.example/any", ""),
        (WIKI, f"{WIKI}:8443/any", ""),
        (WIKI, f"{WIKI}@evil.example/any", ""),
        (f"{WIKI}/notes", f"{WIKI}/notes-of-others/1", ""),
    ],
)
def test_a_link_that_begins_so_has_an_address_of_the_server(
    beginning: str, link: str, id: str
) -> None:
    found = source("https://other.example/{id}", beginning).address_of(link)
    assert (mcp_id(found), public(found)) == ((id, link) if id else ("", ""))


@given(st.text(max_size=60) | st.text(max_size=20).map(lambda end: f"{WIKI}/{end}"))
def test_nothing_but_such_links_has_one(text: str) -> None:
    found = source(f"{WIKI}/").address_of(text)
    assert (found != "") is text.startswith(f"{WIKI}/")


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("wiki.example.com", "like https://"),
        ("ftp://wiki.example.com/", "like https://"),
        ("https://*.example.com/", "only behind the host"),
        (f"{WIKI}/{{id}}/{{id}}", "one {id}"),
    ],
)
def test_what_is_no_beginning_is_refused_by_name(link: str, words: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(words)):
        source(link)


class Server:
    """A search with one server, which reads links of the wiki."""

    def address_of(self, link: str) -> str:
        return source(f"{WIKI}/").address_of(link)

    async def read(self, url: str) -> GivenText | None:
        if url.startswith("mcp:"):
            return GivenText(url, "Backups", "At 03:40.", "wiki", "text/markdown")
        return None

    async def unread(self, *_: object) -> Unread:
        return Unread()

    def price(self, providers: tuple[str, ...] = (), kind: Any = None) -> float:
        return 0.0

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[Any]:
        return frozenset()

    async def search(self, *asked: object) -> SearchResult:
        return SearchResult(())

    async def aclose(self) -> None: ...


class Fetcher:
    """The web, where the wiki asks to sign in."""

    async def fetch(self, url: str) -> Page:
        return Page(url, "Sign in", "Your password?", datetime.now(UTC))

    async def read_file(self, *given: object) -> Page:
        raise AssertionError

    async def scans(self, *given: object) -> Scans:
        raise AssertionError

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = ""
    ) -> Page:
        return Page(url, title, text, datetime.now(UTC), via=via)

    async def aclose(self) -> None: ...


async def _not_stored(url: str, since: datetime) -> Page | None:
    return None


@pytest.mark.parametrize(
    ("reach", "title"), [(EVERYTHING, "Backups"), (Reach(others=False), "Sign in")]
)
async def test_a_link_is_read_by_the_server_for_those_who_may_use_it(
    reach: Reach, title: str
) -> None:
    library = Library(Server(), Fetcher(), _not_stored, 60.0).within(lambda: reach)
    page = await library.read(f"{WIKI}/backups")
    assert page.title == title
    assert page.url.startswith("mcp:/wiki/") is (title == "Backups")
    assert (await library.read("https://b.example/")).title == "Sign in"
