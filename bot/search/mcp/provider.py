"""A connected Model Context Protocol server as a search provider.

Its results have addresses below its name (``bot.core.reader``), so that the operator's rights
decide who may see them. For people without the right, the server is not called at all.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from itertools import zip_longest
from time import monotonic
from urllib.parse import unquote

from cachetools import TTLCache

from bot.core.egress import DIRECT, Egress
from bot.core.errors import PageUnreadable
from bot.core.reader import WEB, mcp_address, mcp_id, public, server_of, server_root
from bot.core.readership import McpServer
from bot.search.hits import KEPT_CHARACTERS, KEPT_SECONDS, LONGEST
from bot.search.mcp.connection import Connection
from bot.search.mcp.results import Result, results_of, text_of
from bot.search.mcp.tools import Use, Uses, uses_of
from bot.search.provider import GivenText, Hit, ProviderKind, Query

GONE = "The server does not give this page any more: search for it again."


class McpSource:
    """See ``bot.search.provider.SearchProvider``, ``PageReader``, ``LinkReading`` and
    ``Reporting``."""

    kind: ProviderKind = "knowledge"

    def __init__(
        self,
        server: McpServer,
        egress: Egress = DIRECT,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.name = server.name
        self._server = server
        self._connection = Connection(server, egress)
        self._links = [_beginning(link) for link in server.links]
        # Texts included in results, for servers without a reading tool.
        self._texts: TTLCache[str, Result] = TTLCache(
            KEPT_CHARACTERS, KEPT_SECONDS, timer=clock, getsizeof=lambda one: len(one.text) + 1_000
        )

    async def search(self, query: Query) -> list[Hit]:
        if not query.reach.allows(server_root(self.name)) or query.limit < 1:
            return []
        uses = await self._uses()
        outcomes = await asyncio.gather(
            *(self._found(use, query) for use in uses.searches), return_exceptions=True
        )
        lists = [each for each in outcomes if not isinstance(each, BaseException)]
        if not lists:
            raise next(each for each in outcomes if isinstance(each, BaseException))
        hits: dict[str, Hit] = {}
        for found in zip_longest(*lists):  # the first of each tool, then the second …
            for result in filter(None, found):
                hit = self._hit(result)
                hits.setdefault(hit.url, hit)
        return list(hits.values())[: query.limit]

    async def _uses(self) -> Uses:
        return uses_of(self._server, await self._connection.tools())

    async def _found(self, use: Use, query: Query) -> list[Result]:
        arguments = use.filled(query=query.text, limit=query.limit)
        return results_of(await self._connection.call(use.tool, arguments))

    def _hit(self, result: Result) -> Hit:
        url = mcp_address(self.name, result.id, result.url)
        if result.text.strip():
            self._texts[url] = result
        return Hit(result.title, url, result.snippet, self.name)

    def address_of(self, link: str) -> str:
        """See ``bot.search.provider.LinkReading``: the address of a page that the server reads."""
        found = (re.match(pattern, link) for pattern in self._links)
        id = next((match.groupdict().get("id", link) for match in found if match), "")
        return mcp_address(self.name, unquote(id), link) if id else ""

    def reads(self, url: str) -> bool:
        return server_of(url) == self.name

    async def read(self, url: str) -> GivenText:
        kept = self._texts.get(url)
        found = await self._read(url, (await self._uses()).read) or kept
        if found is None or not found.text.strip():
            raise PageUnreadable(GONE)
        title = found.title or (kept.title if kept is not None else "")
        if title in ("", mcp_id(url)):  # then the page's own heading is better
            has_heading = found.text.lstrip().startswith(("# ", "<"))
            title = "" if has_heading else mcp_id(url).rstrip("/").rpartition("/")[2]
        return GivenText(url, title, found.text, self.name, found.media_type)

    async def _read(self, url: str, use: Use | None) -> Result | None:
        """Return the result of the reading tool, or else the resource; None if there is neither."""
        id = mcp_id(url)
        if use is not None:
            arguments = use.filled(id=id, url=public(url) or id)
            return text_of(await self._connection.call(use.tool, arguments), id)
        is_resource = "://" in id and not id.startswith(WEB)
        if not is_resource or url in self._texts:
            return None
        return Result(id, "", "", "", (await self._connection.resource(id))[:LONGEST])

    async def report(self) -> str:
        """Return a line on the tools used, and why others are not."""
        offered = await self._connection.tools()
        uses = uses_of(self._server, offered)
        said = [f"answered; searched by {', '.join(use.tool for use in uses.searches)}"]
        if uses.read is not None:
            said.append(f"read by {uses.read.tool}")
        called = {use.tool for use in (*uses.searches, *filter(None, [uses.read]))}
        if others := len({each.name for each in offered} - called):
            tools = "1 other tool is" if others == 1 else f"{others} other tools are"
            said.append(f"{tools} never called")
        return ". ".join([", ".join(said), *(each.removesuffix(".") for each in uses.remarks)])

    async def aclose(self) -> None:
        await self._connection.aclose()


def _beginning(link: str) -> re.Pattern[str]:
    """Return a regex for the addresses with a prefix from ``links`` that ends at the border of a
    part; its group ``id``, if any, is the id in them."""
    part = "[^/?#&]+"
    pattern = re.escape(link).replace(r"\*", part).replace(r"\{id\}", f"(?P<id>{part})")
    return re.compile(pattern + ("" if link[-1:] in "/=" else r"(?![^/?#&])"))
