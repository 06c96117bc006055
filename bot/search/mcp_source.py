"""A connected Model Context Protocol server as a search provider, and the results of its tools.

Servers answer with structured content, JSON as text, links to resources, or plain text, and with
many different field names. Nothing is trusted: values of unexpected types are ignored.

Results have addresses below the server's name (``bot.core.reader``), so that the operator's
rights decide who may see them. For people without the right, the server is not called at all.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from time import monotonic
from typing import Any
from urllib.parse import unquote

from cachetools import TTLCache

from bot.core.egress import DIRECT, Egress
from bot.core.errors import PageUnreadable
from bot.core.lines import one_line
from bot.core.reader import WEB, mcp_address, mcp_id, public, server_of, server_root
from bot.core.readership import McpServer
from bot.core.texts import Sentence, said
from bot.search.engines import (
    KEPT_CHARACTERS,
    KEPT_SECONDS,
    LONGEST,
    MOST_SNIPPET_CHARACTERS,
    MOST_TITLE_CHARACTERS,
    plain,
    short,
)
from bot.search.mcp_connection import Connection
from bot.search.mcp_tools import Use, Uses, uses_of
from bot.search.provider import GivenText, Hit, ProviderKind, Query

MOST_RESULTS = 200
DEPTH = 4  # of nested objects searched for fields

_ID = ("key", "id", "page_id", "pageId", "issue_key", "file_id", "fileId", "path", "uri", "number")
_TITLE = ("title", "name", "subject", "summary", "displayName", "filename", "fileName", "label")
_URL = (
    *("url", "html_url", "webUrl", "web_url", "webViewLink", "htmlUrl", "permalink", "link"),
    *("href", "uri"),
)
_SNIPPET = ("snippet", "excerpt", "highlight", "description", "summary", "preview")
_TEXT = (
    *("text", "markdown", "content", "body", "page_content", "pageContent", "description"),
    *("observations", "snippet", "excerpt", "value", "storage", "view", "data", "message"),
)
# Names of objects in which servers wrap the fields of a result.
_WITHIN = ("fields", "content", "page", "issue", "document", "file", "result", "item", "metadata")


@dataclass(frozen=True, slots=True)
class Result:
    """A search result or page from a server; ``text`` is all the text it sent."""

    id: str
    title: str
    url: str
    snippet: str
    text: str
    media_type: str = "text/markdown"


def results_of(returned: Any) -> list[Result]:
    """Return the results in a ``mcp_types.CallToolResult`` of a search."""
    found: dict[str, Result] = {}
    for result in _named(returned) or _of_words(_words_of(returned)):
        found.setdefault(result.id, result)
    return list(found.values())[:MOST_RESULTS]


def text_of(returned: Any, id: str) -> Result | None:
    """Return the text in the result of a reading tool, or None."""
    results = [each for each in _named(returned) if each.text]
    if len(results) == 1:
        return results[0]
    words = _words_of(returned) or _words_of(returned, json_too=True)
    if not words:
        return None
    kind = "application/json" if _json(words) is not None else _kind(words)
    return Result(id, "", "", "", words[:LONGEST], kind)


def _named(returned: Any) -> list[Result]:
    """Return the results given as objects, resources or resource links."""
    found: list[Result] = []
    for block in returned.content:
        if block.type == "resource_link":
            title = block.title or block.name
            found.append(_result(str(block.uri), title, "", block.description or "", ""))
        elif block.type == "resource":
            text, kind = getattr(block.resource, "text", ""), block.resource.mime_type
            found.append(_result(str(block.resource.uri), "", "", "", text, kind))
    data = [each for one in _data_of(returned) for each in _objects(one)]
    return found + [result for each in data if (result := _of_object(each))]


def _data_of(returned: Any) -> list[Any]:
    """Return the structured content, or else the JSON in its texts."""
    if returned.structured_content:
        return [returned.structured_content]
    texts = (_json(block.text) for block in returned.content if block.type == "text")
    return [each for each in texts if each is not None]


def _words_of(returned: Any, *, json_too: bool = False) -> str:
    """Return the plain text of a result, without blocks that are JSON."""
    texts = (block.text for block in returned.content if block.type == "text")
    return "\n\n".join(text for text in texts if json_too or _json(text) is None).strip()


def _of_words(text: str) -> Iterator[Result]:
    """Yield a result for each line of a list of paths or addresses, or else one result for all the
    text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and all(line.startswith(("/", *WEB)) for line in lines):
        for line in lines:
            yield _result(line, line.rstrip("/").rpartition("/")[2], "", "", "")
    elif len(lines) > 1 or (lines and len(lines[0]) > 60):
        # Shorter texts only say whether something was found.
        yield _result("", one_line(lines[0]), "", "", text)


# ---------------------------------------------------------------- objects


def _objects(told: Any, depth: int = 0) -> list[Mapping[str, Any]]:
    """Return the longest list of objects in a tool's value, or the object itself."""
    if isinstance(told, list):
        objects: list[Mapping[str, Any]] = [each for each in told if isinstance(each, dict)]
        if len(objects) == 1 and depth < DEPTH and not _is_result(objects[0]):
            return _objects(objects[0], depth + 1)
        return objects
    if not isinstance(told, dict) or depth >= DEPTH:
        return []
    if _is_result(told):
        return [told]
    lists = [_objects(each, depth + 1) for each in told.values() if isinstance(each, dict | list)]
    texts = [parsed for each in told.values() if (parsed := _json(each)) is not None]
    lists += [_objects(each, depth + 1) for each in texts]
    return max(lists, key=len, default=[])


def _is_result(told: Mapping[str, Any]) -> bool:
    """Return True for an object with a name, and a text or an id."""
    has_name = bool(_first(told, ("title", "name", "subject", "summary", "key")))
    return has_name and bool(_first(told, ("id", "key", "url", "uri")) or _words(told, _TEXT))


def _of_object(told: Mapping[str, Any]) -> Result | None:
    inner = [told, *(value for key in _WITHIN if isinstance(value := told.get(key), dict))]
    id, title = _any(inner, _ID), _any(inner, _TITLE)  # without a title, the id is used
    url = next((u for one in inner for k in _URL if (u := _web(one.get(k)))), "")
    text = next((words for one in inner if (words := _words(one, _TEXT))), "")
    snippet = next((words for one in inner if (words := _words(one, _SNIPPET))), "")
    if not (id or url or text):
        return None
    # If a named thing has no id, other tools of the server accept its name.
    return _result(id or url or title, title, url, snippet, text)


def _result(
    id: str, title: str, url: str, snippet: str, text: str, media_type: str | None = None
) -> Result:
    title = short(plain(title), MOST_TITLE_CHARACTERS)
    known = id or hashlib.sha256(f"{title}\0{text}".encode("utf-8", "replace")).hexdigest()[:16]
    return Result(
        known[:2_000],
        title or known[:200],
        url or (known if known.startswith(WEB) else ""),
        short(plain(snippet or text), MOST_SNIPPET_CHARACTERS),
        text[:LONGEST],
        media_type or _kind(text),
    )


def _kind(text: str) -> str:
    is_html = text[:200].lstrip().lower().startswith(("<!doctype", "<html", "<p", "<div", "<h"))
    return "text/html" if is_html else "text/markdown"


def _any(objects: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    return next((found for one in objects if (found := _first(one, keys))), "")


def _first(told: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = told.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def _words(told: Mapping[str, Any], keys: Sequence[str], depth: int = 0) -> str:
    """Return the text in the first of these fields that has one, which may be nested or a list of
    lines."""
    for key in keys:
        value = told.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return "\n\n".join(value)
        if isinstance(value, dict) and depth < DEPTH and (inner := _words(value, keys, depth + 1)):
            return inner
    return ""


def _web(value: Any) -> str:
    is_web = isinstance(value, str) and value.startswith(WEB)
    return value if is_web and len(value) < 2_000 else ""


def _json(text: Any) -> Any:
    """Parse a JSON object or list; None for anything else."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


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

    async def report(self) -> Sentence:
        """Return a line on the tools used, and why others are not."""
        offered = await self._connection.tools()
        uses = uses_of(self._server, offered)
        told = said("check-mcp", tools=", ".join(use.tool for use in uses.searches))
        if uses.read is not None:
            told += said("check-mcp-read", tool=uses.read.tool)
        called = {use.tool for use in (*uses.searches, *filter(None, [uses.read]))}
        if others := len({each.name for each in offered} - called):
            told += said("check-mcp-others", count=others)
        return sum(uses.remarks, told)

    async def aclose(self) -> None:
        await self._connection.aclose()


def _beginning(link: str) -> re.Pattern[str]:
    """Return a regex for the addresses with a prefix from ``links`` that ends at the border of a
    part; its group ``id``, if any, is the id in them."""
    part = "[^/?#&]+"
    pattern = re.escape(link).replace(r"\*", part).replace(r"\{id\}", f"(?P<id>{part})")
    return re.compile(pattern + ("" if link[-1:] in "/=" else r"(?![^/?#&])"))
