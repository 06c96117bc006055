"""Tavily, a search engine made for language models.

POST /search with the key as bearer token:
https://docs.tavily.com/documentation/api-reference/endpoint/search. GET /usage returns the usage:
https://docs.tavily.com/documentation/api-reference/endpoint/usage (at most 10 times in 10 minutes).
HTTP 432 is the plan's limit, 433 the pay-as-you-go limit. A development key may make 100 requests a
minute: https://docs.tavily.com/documentation/rate-limits.

    language, region   language is not supported; ``country`` by its English name, only with the
                       topic "general"
    freshness          ``time_range``
    domains            ``include_domains``
    limit              ``max_results``, at most 20; a basic search costs one credit

``include_raw_content`` adds the text of each page to its result as ``raw_content``, as Markdown or
null, at no extra cost. It replaces a page that cannot be fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, SecretStr

from bot.core.plugins import PartSettings, named_field
from bot.core.texts import Sentence, said
from bot.search.engines import (
    JsonApi,
    SuppliedTexts,
    host_of,
    integer,
    mapping,
    mappings,
    matching_hits,
    short,
    web_hit,
)
from bot.search.provider import (
    Client,
    Declaration,
    GivenText,
    Hit,
    Policy,
    ProviderKind,
    Query,
    needed,
    region,
)

KEY, PLACE = "TAVILY_API_KEY", "FOOTNOTE_TAVILY_URL"
MAX_RESULTS = 20
MAX_QUERY_CHARACTERS = 400
MAX_DOMAINS = 300
MAX_REPLY_BYTES = 16_000_000  # 20 whole pages

# fmt: off
COUNTRIES = {
    "AE": "united arab emirates", "AR": "argentina", "AT": "austria", "AU": "australia",
    "BD": "bangladesh", "BE": "belgium", "BG": "bulgaria", "BR": "brazil", "BY": "belarus",
    "CA": "canada", "CH": "switzerland", "CL": "chile", "CN": "china", "CO": "colombia",
    "CR": "costa rica", "CU": "cuba", "CY": "cyprus", "CZ": "czech republic", "DE": "germany",
    "DK": "denmark", "DZ": "algeria", "EC": "ecuador", "EE": "estonia", "EG": "egypt",
    "ES": "spain", "ET": "ethiopia", "FI": "finland", "FR": "france", "GB": "united kingdom",
    "GE": "georgia", "GH": "ghana", "GR": "greece", "HR": "croatia", "HU": "hungary",
    "ID": "indonesia", "IE": "ireland", "IL": "israel", "IN": "india", "IQ": "iraq",
    "IR": "iran", "IS": "iceland", "IT": "italy", "JO": "jordan", "JP": "japan", "KE": "kenya",
    "KR": "south korea", "KW": "kuwait", "KZ": "kazakhstan", "LB": "lebanon", "LK": "sri lanka",
    "LT": "lithuania", "LU": "luxembourg", "LV": "latvia", "MA": "morocco", "MX": "mexico",
    "MY": "malaysia", "NG": "nigeria", "NL": "netherlands", "NO": "norway", "NP": "nepal",
    "NZ": "new zealand", "PE": "peru", "PH": "philippines", "PK": "pakistan", "PL": "poland",
    "PT": "portugal", "QA": "qatar", "RO": "romania", "RS": "serbia", "RU": "russia",
    "SA": "saudi arabia", "SE": "sweden", "SG": "singapore", "SI": "slovenia", "SK": "slovakia",
    "TH": "thailand", "TN": "tunisia", "TR": "turkey", "TW": "taiwan", "UA": "ukraine",
    "US": "united states", "UY": "uruguay", "VE": "venezuela", "VN": "vietnam",
    "ZA": "south africa",
}
# fmt: on


class TavilySettings(PartSettings):
    tavily_api_key: SecretStr | None = named_field(KEY, description="the key of Tavily")
    tavily_url: str = Field("https://api.tavily.com", description="where Tavily is reached")


class Tavily:
    """A search provider; see the module docstring."""

    name = "tavily"
    kind: ProviderKind = "web"

    def __init__(self, settings: TavilySettings, client: Client) -> None:
        key = needed(settings.tavily_api_key, self.name, KEY)
        self._api = JsonApi(
            client(),
            settings.tavily_url,
            title="Tavily",
            key=KEY,
            place=PLACE,
            headers={"Authorization": f"Bearer {key}"},
            most_bytes=MAX_REPLY_BYTES,
        )
        self._texts = SuppliedTexts("Tavily")

    async def search(self, query: Query) -> list[Hit]:
        body = _body(query)
        if not body["query"] or query.limit < 1:
            return []
        data = await self._ask("POST", "/search", body)
        for each in mappings(data.get("results")):
            self._texts.keep(each.get("url"), each.get("title"), each.get("raw_content"))
        return matching_hits(_hits(data), query)

    def text_of(self, url: str) -> GivenText | None:
        return self._texts.of(url)

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        return self._api.answer(await self._api.send(method, path, body=body)).data

    async def report(self) -> Sentence:
        """The credits used: of the key's own limit or, if it has none, of the account's."""
        data = await self._ask("GET", "/usage")
        key, account = mapping(data.get("key")), mapping(data.get("account"))
        for used, limit in (
            (key.get("usage"), key.get("limit")),
            (account.get("plan_usage"), account.get("plan_limit")),
        ):
            spent, most = integer(used), integer(limit)
            if spent is not None and most is not None:
                return said("check-search") + said("check-search-used", used=spent, most=most)
        return said("check-search")


def _body(query: Query) -> dict[str, Any]:
    body: dict[str, Any] = {
        "query": short(query.text, MAX_QUERY_CHARACTERS),
        "topic": "general",
        "search_depth": "basic",
        "include_raw_content": "markdown",  # for pages that cannot be fetched
        "max_results": max(1, min(query.limit, MAX_RESULTS)),
    }
    if domains := list(dict.fromkeys(filter(None, map(host_of, query.domains)))):
        body["include_domains"] = domains[:MAX_DOMAINS]
    if query.freshness:
        body["time_range"] = query.freshness
    if country := COUNTRIES.get(region(query)):
        body["country"] = country
    return body


def _hits(data: Mapping[str, Any]) -> Iterator[Hit | None]:
    for each in mappings(data.get("results")):
        yield web_hit("tavily", each.get("url"), each.get("title"), each.get("content"))


PROVIDER = Declaration(
    name="tavily",
    settings=TavilySettings,
    build=Tavily,
    is_on=lambda settings: settings.tavily_api_key is not None,
    # 20 at once and 80 in the next minute: never above a development key's 100 a minute.
    policy=lambda settings: Policy(rate=80 / 60, burst=20),
)
