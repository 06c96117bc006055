"""The APIs of SearXNG, Serper, Brave and Tavily; see ``tests.fakes.engines``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.search.providers.brave import COUNTRIES, LANGUAGES
from tests.fakes.engines import KEY, Asked, FakeEngine, Json, WebPage, marked, refusal

_ISO_COUNTRY = re.compile("[a-z]{2}")


@dataclass
class FakeSearxng(FakeEngine):
    """``formats`` as in settings.yml; ``unresponsive`` pairs of engine and reason."""

    formats: tuple[str, ...] = ("html", "json")
    unresponsive: list[list[str]] = field(default_factory=list)

    ALLOWED = {  # noqa: RUF012 - a table
        "q": str,
        "format": {"html", "json", "csv", "rss"},
        "language": re.compile(r"[a-z]{2,3}(-[a-zA-Z]{2})?"),  # searx.webutils.VALID_LANGUAGE_CODE
        "time_range": {"day", "week", "month", "year"},
        "pageno": re.compile("[1-9][0-9]*"),
    }

    def answer(self, method: str, request: Asked) -> Response:
        if request.path != "/search" or method != "GET":
            return HTMLResponse("<html>Not Found</html>", 404)
        values = request.values
        wanted = values.get("format", "html")
        if wanted not in self.formats:
            return HTMLResponse("<html>Forbidden</html>", 403)
        if self.check(values, self.ALLOWED) or not values.get("q"):
            return HTMLResponse("<html>Invalid value</html>", 400)
        if re.search(r"(?<!\S)[!:?<]\w", values["q"]):
            self.complaints.append("a query in SearXNG's own syntax")
        if wanted != "json":
            return HTMLResponse("<html>results</html>")
        found = self.find(
            values["q"],
            language=values.get("language", "").partition("-")[0],
            days=_DAYS[values.get("time_range", "")],
        )
        results = [
            {"url": page.url, "title": page.title, "content": page.text, "publishedDate": None}
            for page in found[:30]
        ]
        return JSONResponse(
            {
                "query": values["q"],
                "results": results,
                "infoboxes": [],
                "unresponsive_engines": self.unresponsive,
            }
        )


@dataclass
class FakeSerper(FakeEngine):
    """``balance`` are credits; ``extras`` are added to an answer (answerBox, knowledgeGraph)."""

    balance: int = 2_500
    extras: Json = field(default_factory=dict)

    ALLOWED = {  # noqa: RUF012 - a table
        "q": str,
        "num": range(10, 101),
        "gl": _ISO_COUNTRY,
        "hl": re.compile("[a-z]{2,3}(-[a-z]{2})?"),
        "tbs": {"qdr:h", "qdr:d", "qdr:w", "qdr:m", "qdr:y"},
        "page": int,
    }

    def answer(self, method: str, request: Asked) -> Response:
        if request.headers.get("x-api-key") != KEY:
            return refusal(403, {"message": "Unauthorized.", "statusCode": 403})
        if (method, request.path) == ("GET", "/account"):
            return JSONResponse({"balance": self.balance, "rateLimit": 5})
        if (method, request.path) != ("POST", "/search"):
            return refusal(404, {"message": "Not Found", "statusCode": 404})
        values = request.values
        if self.check(values, self.ALLOWED) or not values.get("q"):
            return refusal(400, {"message": "Missing query parameter", "statusCode": 400})
        cost = 1 if values.get("num", 10) <= 10 else 2
        if self.balance < cost:
            return refusal(400, {"message": "Not enough credits", "statusCode": 400})
        self.balance -= cost
        language = values.get("hl", "").partition("-")[0]
        found = self.find(values["q"], language=language, days=_QDR[values.get("tbs", "")])
        organic = [
            {"title": page.title, "link": page.url, "snippet": page.text, "position": rank}
            for rank, page in enumerate(found, 1)
        ]
        return JSONResponse(
            {
                "searchParameters": {**values, "type": "search", "engine": "google"},
                **self.extras,
                "organic": organic[: values.get("num", 10)],
                "credits": cost,
            }
        )


@dataclass
class FakeBrave(FakeEngine):
    """``limits`` and ``left``: requests of the second and of the month."""

    limits: tuple[int, int] = (1, 2_000)
    left: tuple[int, int] = (1, 2_000)
    has_extra_snippets: bool = True

    ALLOWED = {  # noqa: RUF012 - a table
        "q": str,
        "country": COUNTRIES | {"ALL"},
        "search_lang": LANGUAGES,
        "count": {str(n) for n in range(1, 21)},
        "offset": {str(n) for n in range(10)},
        "freshness": {"pd", "pw", "pm", "py"},
        "text_decorations": {"true", "false"},
        "extra_snippets": {"true", "false"},
        "result_filter": {"web"},
    }

    def answer(self, method: str, request: Asked) -> Response:
        if (method, request.path) != ("GET", "/res/v1/web/search"):
            return self._error(404, "NOT_FOUND")
        token = request.headers.get("x-subscription-token")
        if not token:
            meta = {"errors": [{"type": "missing", "loc": ["header", "x-subscription-token"]}]}
            return self._error(422, "VALIDATION", meta)
        if token != KEY:
            return self._error(422, "SUBSCRIPTION_TOKEN_INVALID")
        values = request.values
        query = values.get("q", "")
        if len(query) > 400 or len(query.split()) > 50:
            self.complaints.append("a query of more than 400 characters or 50 words")
        if self.check(values, self.ALLOWED) or not query:
            return self._error(422, "VALIDATION")
        if values.get("extra_snippets") == "true" and not self.has_extra_snippets:
            return self._error(400, "OPTION_NOT_IN_PLAN")
        if self.limits[1] and not self.left[1]:
            return self._error(429, "QUOTA_LIMITED", headers=self._rates())
        if not self.left[0]:
            return self._error(429, "RATE_LIMITED", headers=self._rates())
        self.left = (self.left[0], max(0, self.left[1] - 1))
        language = {"jp": "ja", "nb": "no"}.get(values.get("search_lang", ""), "") or values.get(
            "search_lang", ""
        ).partition("-")[0]
        found = self.find(query, language=language, days=_PX[values.get("freshness", "")])
        return JSONResponse(
            {
                "type": "search",
                "web": {
                    "type": "search",
                    "results": [self._result(page, values) for page in found][
                        : int(values.get("count", "20"))
                    ],
                },
            },
            headers=self._rates(),
        )

    def _result(self, page: WebPage, values: Mapping[str, Any]) -> Json:
        query = values["q"] if values.get("text_decorations", "true") == "true" else ""
        first, _, rest = page.text.partition(". ")
        result: Json = {
            "type": "search_result",
            "title": marked(page.title, query),
            "url": page.url,
            "description": marked(first, query),
        }
        if values.get("extra_snippets") == "true" and rest:
            result["extra_snippets"] = [marked(each, query) for each in rest.split(". ")[:5]]
        return result

    def _rates(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": f"{self.limits[0]}, {self.limits[1]}",
            "X-RateLimit-Policy": f"{self.limits[0]};w=1, {self.limits[1]};w=2592000",
            "X-RateLimit-Remaining": f"{self.left[0]}, {self.left[1]}",
            "X-RateLimit-Reset": "1, 1419704",
        }

    def _error(
        self, status: int, code: str, meta: Json | None = None, headers: Json | None = None
    ) -> Response:
        error = {"id": "5d832250", "code": code, "detail": code, "status": status}
        body = {"type": "ErrorResponse", "error": {**error, "meta": meta or {}}, "time": 1}
        return JSONResponse(body, status, headers)


@dataclass
class FakeTavily(FakeEngine):
    """``usage`` and ``limit`` are credits of the plan."""

    usage: int = 0
    limit: int = 1_000

    ALLOWED = {  # noqa: RUF012 - a table
        "query": str,
        "topic": {"general", "news", "finance"},
        "search_depth": {"basic", "advanced", "fast", "ultra-fast"},
        "max_results": range(21),
        "time_range": {"day", "week", "month", "year", "d", "w", "m", "y"},
        "include_domains": list,
        "exclude_domains": list,
        "country": re.compile("[a-z]+( [a-z]+)*"),
        "include_raw_content": {True, False, "markdown", "text"},
    }

    def answer(self, method: str, request: Asked) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _detail(401, "Unauthorized: missing or invalid API key.")
        if (method, request.path) == ("GET", "/usage"):
            account = {"plan_usage": self.usage, "plan_limit": self.limit}
            return JSONResponse(
                {
                    "key": {"usage": self.usage, "limit": None},
                    "account": {"current_plan": "Researcher", **account, "paygo_usage": 0},
                }
            )
        if (method, request.path) != ("POST", "/search"):
            return _detail(404, "Not found")
        values = request.values
        wrong = self.check(values, self.ALLOWED)
        if values.get("country") and values.get("topic", "general") != "general":
            self.complaints.append("a country beside a topic that takes none")
        if len(values.get("query", "")) > 400:
            wrong.append("query")
            self.complaints.append("a query of more than 400 characters")
        if len(values.get("include_domains", [])) > 300:
            self.complaints.append("more than 300 domains")
        if wrong or not values.get("query"):
            return _detail(400, f"Invalid {wrong}")
        if self.usage >= self.limit:
            return _detail(432, "This request exceeds your plan's set usage limit.")
        self.usage += 1
        found = self.find(
            values["query"],
            sites=values.get("include_domains", ()),
            days=_DAYS[values.get("time_range", "")],
        )
        return JSONResponse(
            {
                "query": values["query"],
                "answer": None,
                "results": [
                    {
                        "title": page.title,
                        "url": page.url,
                        "content": page.text,
                        "score": 0.9,
                        "raw_content": f"# {page.title}\n\n{page.text}"
                        if values.get("include_raw_content")
                        else None,
                    }
                    for page in found
                ][: values.get("max_results", 5)],
            }
        )


_DAYS = {"": None, "day": 1, "week": 7, "month": 31, "year": 365}
_QDR = {"": None, "qdr:d": 1, "qdr:w": 7, "qdr:m": 31, "qdr:y": 365}
_PX = {"": None, "pd": 1, "pw": 7, "pm": 31, "py": 365}


def _detail(status: int, text: str) -> Response:
    return refusal(status, {"detail": {"error": text}})
