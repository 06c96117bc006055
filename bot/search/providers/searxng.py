"""SearXNG, a self-hosted metasearch engine.

Requests and answers: https://docs.searxng.org/dev/search_api.html. That page lists the time ranges
day, month and year, but SearXNG also accepts week. JSON must be included in ``search.formats`` of
its settings.yml: otherwise every request gets 403
(https://docs.searxng.org/admin/settings/settings_search.html).

    language, region   ``language``: a language, or language and region ("de-AT")
    freshness          ``time_range``, for those of its engines that support it
    domains            ``site:`` operators; results of engines that ignore them are dropped
    limit              one page with the results of all its engines: 10 to 30 results
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from bot.core.errors import ProviderUnavailable, Refused
from bot.core.plugins import PartSettings
from bot.core.texts import Sentence, said
from bot.search.engines import JsonApi, mappings, matching_hits, web_hit, with_sites
from bot.search.provider import (
    Client,
    Declaration,
    Hit,
    Policy,
    ProviderKind,
    Query,
    is_traditional_chinese,
    language,
    needed,
    region,
)

PLACE = "FOOTNOTE_SEARXNG_URL"
MAX_QUERY_CHARACTERS = 400  # which the strictest of the usual engines accepts

# At the beginning of a word these select engines, languages or time limits, or redirect to another
# site: https://docs.searxng.org/user/search-syntax.html
_SYNTAX = re.compile(r"(?<!\S)[!:?<]+")


class SearxngSettings(PartSettings):
    searxng_url: str = Field("", description="the address of a SearXNG that answers in JSON")


class Searxng:
    """A search provider for one instance; see the module docstring."""

    name = "searxng"
    kind: ProviderKind = "web"

    def __init__(self, settings: SearxngSettings, client: Client) -> None:
        url = needed(settings.searxng_url, self.name, PLACE)
        self._api = JsonApi(client(), url, title="SearXNG", key="", place=PLACE)

    async def search(self, query: Query) -> list[Hit]:
        parameters = _parameters(query)
        if not parameters["q"] or query.limit < 1:
            return []
        return matching_hits(_hits(await self._ask(parameters)), query)

    async def report(self) -> Sentence:
        """The result of a search for a word that every engine knows, and the engines that did not
        answer."""
        data = await self._ask({"q": "Earth", "format": "json"})
        silent = _unresponsive(data)
        found = said("check-search-found", count=sum(1 for hit in _hits(data) if hit))
        return found + said("check-search-silent", names=", ".join(silent)) if silent else found

    async def _ask(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        reply = await self._api.send("GET", "/search", parameters=parameters)
        if reply.status == 403:
            raise Refused(said("searxng-json"), detail="HTTP 403")
        data = self._api.answer(reply).data
        silent = _unresponsive(data)
        if silent and not any(_hits(data)):
            # An empty result would hide that no engine answered.
            raise ProviderUnavailable(said("searxng-silent", names=", ".join(silent)[:200]))
        return data


def _parameters(query: Query) -> dict[str, str]:
    words = _SYNTAX.sub("", query.text)
    parameters = {
        "q": with_sites(words, query.domains, MAX_QUERY_CHARACTERS),
        "format": "json",
    }
    if spoken := language(query):
        if is_traditional_chinese(query):
            where = region(query) or "TW"
        else:
            where = region(query) or ("CN" if spoken == "zh" else "")
        parameters["language"] = f"{spoken}-{where}" if where else spoken
    if query.freshness:
        parameters["time_range"] = query.freshness
    return parameters


def _hits(data: Mapping[str, Any]) -> Iterator[Hit | None]:
    for each in mappings(data.get("results")):
        yield web_hit("searxng", each.get("url"), each.get("title"), each.get("content"))
    for each in mappings(data.get("infoboxes")):  # their id is the address of their source
        yield web_hit("searxng", each.get("id"), each.get("infobox"), each.get("content"))


def _unresponsive(data: Mapping[str, Any]) -> list[str]:
    """The engines that did not answer, from ``unresponsive_engines``: pairs of name and reason."""
    pairs = data.get("unresponsive_engines")
    return [
        f"{pair[0]} ({pair[1]})"
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) >= 2
    ]


PROVIDER = Declaration(
    name="searxng",
    settings=SearxngSettings,
    build=Searxng,
    is_on=lambda settings: bool(settings.searxng_url),
    # The operator's own server, but it sends the queries to others, whose limits are spared here.
    policy=lambda settings: Policy(deadline=15.0, attempts=2, rate=5.0, burst=10),
)
