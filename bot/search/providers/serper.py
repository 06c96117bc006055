"""Serper: the results of Google.

Requests and answers as shown in the playground of https://serper.dev: POST /search with a JSON
body, the key in ``X-API-KEY``. GET /account returns the credits left; its ``balance`` is not
documented, but commonly used. A used-up balance is HTTP 400 with the message "Not enough credits".

    language, region   ``hl``, ``gl``
    freshness          ``tbs=qdr:d``, ``w``, ``m``, ``y``
    domains            ``site:`` operators
    limit              ``num``, at most 20: up to 10 results cost one credit, more cost two
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, SecretStr

from bot.core.plugins import PartSettings, named_field
from bot.core.texts import Sentence, said
from bot.search.engines import (
    JsonApi,
    Reply,
    integer,
    mapping,
    mappings,
    matching_hits,
    string,
    web_hit,
    with_sites,
)
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

KEY, PLACE = "SERPER_API_KEY", "FOOTNOTE_SERPER_URL"
MAX_RESULTS = 20
MAX_QUERY_CHARACTERS = 400
MAX_QUERY_WORDS = 32  # Google ignores further words
FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


class SerperSettings(PartSettings):
    serper_api_key: SecretStr | None = named_field(KEY, description="the key of Serper")
    serper_url: str = Field("https://google.serper.dev", description="where Serper is reached")


class Serper:
    """A search provider; see the module docstring."""

    name = "serper"
    kind: ProviderKind = "web"

    def __init__(self, settings: SerperSettings, client: Client) -> None:
        headers = {"X-API-KEY": needed(settings.serper_api_key, self.name, KEY)}
        self._api = JsonApi(
            client(), settings.serper_url, title="Serper", key=KEY, place=PLACE, headers=headers
        )

    async def search(self, query: Query) -> list[Hit]:
        body = _body(query)
        if not body["q"] or query.limit < 1:
            return []
        reply = self._answer(await self._api.send("POST", "/search", body=body))
        return matching_hits(_hits(reply.data), query)

    async def report(self) -> Sentence:
        """The number of credits left."""
        reply = self._answer(await self._api.send("GET", "/account"))
        balance = integer(reply.data.get("balance"))
        answered = said("check-search")
        if balance is None:
            return answered
        return answered + said("check-search-credits", left=balance)

    def _answer(self, reply: Reply) -> Reply:
        if reply.status == 400 and "credits" in string(reply.data.get("message")).lower():
            self._api.quota_spent("HTTP 400: not enough credits")
        return self._api.answer(reply)


def _body(query: Query) -> dict[str, Any]:
    body: dict[str, Any] = {
        "q": with_sites(query.text, query.domains, MAX_QUERY_CHARACTERS, MAX_QUERY_WORDS),
        "num": max(10, min(query.limit, MAX_RESULTS)),
    }
    if spoken := language(query):
        chinese = "zh-tw" if is_traditional_chinese(query) else "zh-cn"
        body["hl"] = chinese if spoken == "zh" else spoken
    if where := region(query):
        body["gl"] = where.lower()
    if query.freshness:
        body["tbs"] = FRESHNESS[query.freshness]
    return body


def _hits(data: Mapping[str, Any]) -> Iterator[Hit | None]:
    """The answer box and the knowledge graph come first, if they link to their source."""
    box = mapping(data.get("answerBox"))
    yield web_hit("serper", box.get("link"), box.get("title"), box.get("snippet"))
    graph = mapping(data.get("knowledgeGraph"))
    yield web_hit(
        "serper", graph.get("descriptionLink"), graph.get("title"), graph.get("description")
    )
    for each in mappings(data.get("organic")):
        yield web_hit("serper", each.get("link"), each.get("title"), each.get("snippet"))


PROVIDER = Declaration(
    name="serper",
    settings=SerperSettings,
    build=Serper,
    is_on=lambda settings: settings.serper_api_key is not None,
    policy=lambda settings: Policy(rate=5.0, burst=5),  # the free plan's queries per second
)
