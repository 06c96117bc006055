"""Brave Search, which has its own index.

GET /res/v1/web/search with the key in ``X-Subscription-Token``:
https://api-dashboard.search.brave.com/app/documentation/web-search/query (parameters, and the
supported languages and countries), .../response-headers (``X-RateLimit-*``: one value for the
second and one for the month), .../responses. A wrong key gets 422 with the code
SUBSCRIPTION_TOKEN_INVALID; an option that is not in the plan gets OPTION_NOT_IN_PLAN.

    language, region   ``search_lang``, ``country``, if Brave supports them
    freshness          ``freshness=pd``, ``pw``, ``pm``, ``py``
    domains            ``site:`` operators
    limit              ``count``, at most 20

``extra_snippets`` adds up to five excerpts of each page, if the plan includes them. They are shown
with the hit, and replace a page that cannot be fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, SecretStr

from bot.core.errors import ProviderUnavailable
from bot.core.plugins import PartSettings, named_field
from bot.core.texts import Sentence, said
from bot.search.engines import (
    JsonApi,
    Reply,
    SuppliedTexts,
    mapping,
    mappings,
    matching_hits,
    plain,
    string,
    strings,
    web_hit,
    with_sites,
)
from bot.search.provider import (
    Client,
    Declaration,
    GivenText,
    Hit,
    Policy,
    ProviderKind,
    Query,
    is_traditional_chinese,
    language,
    needed,
    region,
)

KEY, PLACE = "BRAVE_SEARCH_API_KEY", "FOOTNOTE_BRAVE_URL"
PATH = "/res/v1/web/search"
MAX_RESULTS = 20
MAX_QUERY_CHARACTERS = 400
MAX_QUERY_WORDS = 50
FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}

# fmt: off
LANGUAGES = frozenset({
    "ar", "eu", "bn", "bg", "ca", "zh-hans", "zh-hant", "hr", "cs", "da", "nl", "en", "en-gb",
    "et", "fi", "fr", "gl", "de", "gu", "he", "hi", "hu", "is", "it", "jp", "kn", "ko", "lv",
    "lt", "ms", "ml", "mr", "nb", "pl", "pt-br", "pt-pt", "pa", "ro", "ru", "sr", "sk", "sl",
    "es", "sv", "ta", "te", "th", "tr", "uk", "vi",
})
COUNTRIES = frozenset({
    "AR", "AU", "AT", "BE", "BR", "CA", "CL", "DK", "FI", "FR", "DE", "HK", "IN", "ID", "IT",
    "JP", "KR", "MY", "MX", "NL", "NZ", "NO", "CN", "PL", "PT", "PH", "RU", "SA", "ZA", "ES",
    "SE", "CH", "TW", "TR", "GB", "US",
})
# fmt: on
_OTHER_CODES = {"ja": "jp", "no": "nb", "nn": "nb"}  # where Brave's code differs from BCP 47


class BraveSettings(PartSettings):
    brave_search_api_key: SecretStr | None = named_field(
        KEY, "BRAVE_API_KEY", description="the key of Brave Search"
    )
    brave_url: str = Field(
        "https://api.search.brave.com", description="where Brave Search is reached"
    )
    brave_rate: float = Field(
        1.0, gt=0, description="requests a second that Brave's plan allows; the free one allows 1"
    )


class Brave:
    """A search provider; see the module docstring."""

    name = "brave"
    kind: ProviderKind = "web"

    def __init__(self, settings: BraveSettings, client: Client) -> None:
        headers = {"X-Subscription-Token": needed(settings.brave_search_api_key, self.name, KEY)}
        self._api = JsonApi(
            client(), settings.brave_url, title="Brave", key=KEY, place=PLACE, headers=headers
        )
        self._rate = settings.brave_rate
        self._texts = SuppliedTexts("Brave")
        self._more_snippets = True  # until a reply says that the plan does not include them

    async def search(self, query: Query) -> list[Hit]:
        parameters = _parameters(query)
        if not parameters["q"] or query.limit < 1:
            return []
        reply = await self._ask(parameters)
        for each in _results(reply.data):
            excerpts = (each.get("description"), *strings(each.get("extra_snippets")))
            self._texts.keep_excerpts(
                each.get("url"), plain(each.get("title")), map(plain, excerpts)
            )
        return matching_hits(_hits(reply.data), query)

    def text_of(self, url: str) -> GivenText | None:
        return self._texts.of(url)

    async def report(self) -> Sentence:
        """The number of requests left this month, from the headers of a minimal search.

        Also reports if the plan allows a higher rate than the configured one.
        """
        reply = await self._ask(_parameters(Query("Earth", 1)))
        limits, left = _windows(reply.headers, "limit"), _windows(reply.headers, "remaining")
        if len(limits) < 2 or len(left) < 2:
            return said("check-search")
        quota = said("check-search-quota", left=left[-1], most=limits[-1])
        report = said("check-search") + (quota if limits[-1] else said("check-search-unlimited"))
        if limits[0] > self._rate:
            report += said("check-search-rate", rate=limits[0])
        return report

    async def _ask(self, parameters: dict[str, str]) -> Reply:
        more = {"extra_snippets": "true"} if self._more_snippets else {}
        reply = await self._api.send("GET", PATH, parameters={**parameters, **more})
        if more and _code(reply) == "OPTION_NOT_IN_PLAN":
            self._more_snippets = False
            reply = await self._api.send("GET", PATH, parameters=parameters)
        code = _code(reply)
        if code.startswith("SUBSCRIPTION_TOKEN") or _blames_the_key(reply):
            self._api.refuse_key(f"HTTP {reply.status}: {code}")
        if reply.status == 429:
            self._too_many(reply)
        return self._api.answer(reply)

    def _too_many(self, reply: Reply) -> None:
        """Distinguish the limit per second from the monthly quota; ignore other replies."""
        limits, left = _windows(reply.headers, "limit"), _windows(reply.headers, "remaining")
        resets = _windows(reply.headers, "reset")
        if len(limits) == len(left) == len(resets) >= 2 and limits[-1] > 0 and left[-1] == 0:
            self._api.quota_spent("HTTP 429: the month's quota", float(resets[-1]))
        if _code(reply) == "QUOTA_LIMITED":
            self._api.quota_spent("HTTP 429: QUOTA_LIMITED")
        if resets and "retry-after" not in reply.headers:
            raise ProviderUnavailable(
                said("brave-rate"),
                detail="HTTP 429",
                retry_after=float(resets[0]),
            )


def _parameters(query: Query) -> dict[str, str]:
    parameters = {
        "q": with_sites(query.text, query.domains, MAX_QUERY_CHARACTERS, MAX_QUERY_WORDS),
        "count": str(max(1, min(query.limit, MAX_RESULTS))),
        "text_decorations": "false",
        "result_filter": "web",
    }
    if spoken := _search_lang(query):
        parameters["search_lang"] = spoken
    if (where := region(query)) in COUNTRIES:
        parameters["country"] = where
    if query.freshness:
        parameters["freshness"] = FRESHNESS[query.freshness]
    return parameters


def _search_lang(query: Query) -> str:
    spoken = language(query)
    if spoken == "zh":
        return "zh-hant" if is_traditional_chinese(query) else "zh-hans"
    if spoken == "pt":
        return "pt-pt" if region(query) == "PT" else "pt-br"
    if spoken == "en" and region(query) == "GB":
        return "en-gb"
    code = _OTHER_CODES.get(spoken, spoken)
    return code if code in LANGUAGES else ""


def _hits(data: Mapping[str, Any]) -> Iterator[Hit | None]:
    for each in _results(data):
        more = strings(each.get("extra_snippets"))
        yield web_hit("brave", each.get("url"), each.get("title"), each.get("description"), *more)


def _results(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return mappings(mapping(data.get("web")).get("results"))


def _code(reply: Reply) -> str:
    return string(mapping(reply.data.get("error")).get("code"))


def _blames_the_key(reply: Reply) -> bool:
    """Detect the reply to a missing or malformed key: 422 VALIDATION that names the header."""
    return reply.status == 422 and "x-subscription-token" in str(reply.data).lower()


def _windows(headers: Mapping[str, str], what: str) -> list[int]:
    """The numbers of an ``X-RateLimit-*`` header, shortest window first; [] if there are none."""
    parts = [part.strip() for part in headers.get(f"x-ratelimit-{what}", "").split(",")]
    return [int(part[:12]) for part in parts if part.isascii() and part.isdigit()]


def _policy(settings: BraveSettings) -> Policy:
    return Policy(deadline=15.0, rate=settings.brave_rate, burst=max(1, int(settings.brave_rate)))


PROVIDER = Declaration(
    name="brave",
    settings=BraveSettings,
    build=Brave,
    is_on=lambda settings: settings.brave_search_api_key is not None,
    policy=_policy,
)
