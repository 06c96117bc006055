"""Claude's own web search, for those who have an Anthropic key and no search engine.

The small model is asked to call the server tool once, and only the addresses, titles and dates of
what it found are used: pages are fetched by Footnote, and the text that the tool returns is
encrypted. https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, which also
gives the price of a search; the tokens of the request are paid for as well. An organization can
forbid the tool.

    language     not supported
    region       ``user_location``
    freshness    not supported
    domains      ``allowed_domains``
    limit        not supported; a search finds about ten pages
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.credentials import ClaudeSettings, claude_address, claude_key
from bot.core.errors import ProviderUnavailable, Refused
from bot.core.texts import Sentence, said
from bot.search.engines import (
    QUOTA_RESTS,
    JsonApi,
    Reply,
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
    Hit,
    PaidHits,
    Policy,
    ProviderKind,
    Query,
    Spent,
    region,
)

API = "https://api.anthropic.com"
VERSION = "2023-06-01"  # https://platform.claude.com/docs/en/api/versioning
TOOL = "web_search_20250305"  # later versions also run code over the results
USD = 0.01  # for one search
MOST_USD = 0.05  # for one search with its tokens, by a small model
MAX_TOKENS = 256  # for the call of the tool; what the model says afterwards is not used
MAX_QUERY_CHARACTERS = 400
SECONDS = 20.0  # for one search

ASK = "Call web_search once, with exactly this query. Then say only: done.\n\n"
FORBIDDEN = (
    "Claude does not search the web for this key: an administrator can allow web search in the "
    "Claude Console, or leave claude out of FOOTNOTE_PROVIDERS."
)
NOT_NOW = ("too_many_requests", "unavailable", "max_uses_exceeded")


class ClaudeSearch:
    """A search provider; see the module docstring."""

    name = "claude"
    kind: ProviderKind = "web"

    def __init__(self, settings: ClaudeSettings, client: Client) -> None:
        small = settings.small_model.removeprefix("claude:")
        is_claude = small.startswith("claude")
        self._model = small if is_claude else type(settings).model_fields["small_model"].default
        self._api = JsonApi(
            client(),
            claude_address(settings) or API,
            title=said("claude-search"),
            key="ANTHROPIC_API_KEY",
            place="ANTHROPIC_BASE_URL",
            headers={"X-Api-Key": claude_key(settings), "Anthropic-Version": VERSION},
            seconds=SECONDS,
        )

    async def search(self, query: Query) -> list[Hit]:
        words = short(query.text, MAX_QUERY_CHARACTERS)
        if not any(map(str.isalnum, words)) or query.limit < 1:
            return []
        reply = await self._api.send("POST", "/v1/messages", body=self._body(words, query))
        if reply.status in (400, 403, 404):
            raise _refusal(reply)
        data = self._api.answer(reply).data
        hits = matching_hits(_hits(data), query)
        if not hits:
            _check(data)
        return PaidHits(hits, _spent(data))

    async def report(self) -> Sentence:
        """Search once, which costs money: a refusal shows only then."""
        await self.search(Query("Earth", 1))
        return said("check-search") + said("check-search-price", usd=USD, model=self._model)

    def _body(self, words: str, query: Query) -> dict[str, Any]:
        tool: dict[str, Any] = {"type": TOOL, "name": "web_search", "max_uses": 1}
        if domains := list(dict.fromkeys(filter(None, map(host_of, query.domains)))):
            tool["allowed_domains"] = domains
        if country := region(query):
            tool["user_location"] = {"type": "approximate", "country": country}
        return {
            "model": self._model,
            "max_tokens": MAX_TOKENS,
            "tools": [tool],
            "messages": [{"role": "user", "content": ASK + words}],
        }


def _refusal(reply: Reply) -> Exception:
    said = str(mapping(reply.data.get("error")).get("message") or "")
    detail = f"HTTP {reply.status}: {said[:300]}"
    return ProviderUnavailable(FORBIDDEN, detail=detail, retry_after=QUOTA_RESTS)


def _results(data: Mapping[str, Any]) -> Iterator[Any]:
    for block in mappings(data.get("content")):
        if block.get("type") == "web_search_tool_result":
            yield block.get("content")


def _hits(data: Mapping[str, Any]) -> Iterator[Hit | None]:
    for found in _results(data):
        for each in mappings(found):  # a mapping instead of a list is an error
            yield web_hit("claude", each.get("url"), each.get("title"), each.get("page_age") or "")


def _check(data: Mapping[str, Any]) -> None:
    """Raise the error of a search that failed, or was not made."""
    results = list(_results(data))
    code = next((str(r.get("error_code")) for r in results if isinstance(r, Mapping)), "")
    if code in NOT_NOW or not results:
        raise ProviderUnavailable(
            "Claude's web search is not available at the moment: try again later.",
            detail=code or "the model did not search",
        )
    if code:
        raise Refused("Claude's web search does not accept the query.", detail=code)


def _spent(data: Mapping[str, Any]) -> Spent:
    usage = mapping(data.get("usage"))
    searches = integer(mapping(usage.get("server_tool_use")).get("web_search_requests")) or 0
    return Spent(
        str(data.get("model") or ""),
        integer(usage.get("input_tokens")) or 0,
        integer(usage.get("output_tokens")) or 0,
        searches * USD,
    )


PROVIDER = Declaration(
    name="claude",
    settings=ClaudeSettings,
    build=ClaudeSearch,
    # Another endpoint rarely has the tool: there it is searched only if it is named.
    is_on=lambda settings: (
        settings.anthropic_api_key is not None and settings.anthropic_base_url is None
    ),
    policy=lambda _: Policy(
        deadline=SECONDS, attempts=2, rate=2.0, burst=8, awaited=SECONDS, usd=MOST_USD
    ),
    is_fallback=True,  # beside Wikipedia: whoever has documents or an engine pays for no search
)
