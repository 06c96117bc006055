"""Claude's server tool for web search: the blocks of a reply that used it, and a service over HTTP.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool. A search that failed
has an error in place of its results, and is not billed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.fakes.claude_models import Wrong
from tests.fakes.claude_replies import Reply, body, says, text
from tests.fakes.claude_rules import check
from tests.fakes.engines import KEY, Asked, FakeEngine, WebPage

RESULTS = 10
TOKENS = 8_000  # that the results of one search take as input


def search_tool(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The web search tool of a request, if it has one."""
    kinds = (tool for tool in request.get("tools") or () if tool.get("name") == "web_search")
    return next(kinds, None)


def searched(query: str, found: Sequence[WebPage] | str) -> Reply:
    """A reply that called the tool once; ``found`` is pages, or the code of an error."""
    id = "srvtoolu_" + hashlib.sha256(query.encode()).hexdigest()[:20]
    results: Any = [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "encrypted_content": "opaque" * 40,
            "page_age": f"{date(2026, 11, 2) - timedelta(page.age):%B %d, %Y}",
        }
        for page in found[:RESULTS]
        if isinstance(page, WebPage)
    ]
    if isinstance(found, str):
        results = {"type": "web_search_tool_result_error", "error_code": found}
    call = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": query}}
    result = {"type": "web_search_tool_result", "tool_use_id": id, "content": results}
    return says(call, result, text("done"))


@dataclass
class FakeClaudeSearch(FakeEngine):
    """The Messages API as far as the search provider uses it. ``error`` is the code with which the
    tool fails, ``forbids`` whether the organization does not allow it."""

    error: str = ""
    forbids: bool = False
    is_lazy: bool = False  # the model answers without a search

    def answer(self, method: str, request: Asked) -> Response:
        if request.headers.get("x-api-key") != KEY:
            return _error(401, "authentication_error", "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            self.complaints.append("no anthropic-version")
        if (method, request.path) != ("POST", "/v1/messages"):
            return _error(404, "not_found_error", "Not found")
        try:
            check(request.values)
        except Wrong as wrong:
            self.complaints.append(str(wrong))
            return _error(400, "invalid_request_error", str(wrong))
        if self.forbids:
            words = "Web search is not enabled for this organization."
            return _error(400, "invalid_request_error", words)
        usage = {"input_tokens": TOKENS}
        reply = says("I know that.") if self.is_lazy else self.reply(request.values)
        return JSONResponse(body(reply, "msg_1", request.values["model"], usage))

    def reply(self, request: Mapping[str, Any]) -> Reply:
        """The reply to a request with the tool."""
        query = str(request["messages"][-1]["content"]).rpartition("\n")[2]
        tool = search_tool(request) or {}
        sites = tool.get("allowed_domains", ())
        return searched(query, self.error or self.find(query, sites=sites))


def _error(status: int, kind: str, words: str) -> JSONResponse:
    return JSONResponse({"type": "error", "error": {"type": kind, "message": words}}, status)
