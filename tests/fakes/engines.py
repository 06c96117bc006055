"""The common base of the fakes of search engines' APIs: a small web, a quota, and strictness.

An engine finds pages by the keywords they hold, those first whose title is the query. It
answers in the shapes of the API's own documentation, as ``bot.search.providers`` cites it, and
keeps in ``complaints`` what a client should not have sent.
"""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.text.terms import keywords, terms
from tests.fakes.mediawiki import WIKI_PAGES

Json = dict[str, Any]

KEY = "key-of-the-tests"
_SITE = re.compile(r"\(?\bsite:\S+(?: OR site:\S+)*\)?")


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the engine's web; ``age`` in days."""

    url: str
    title: str
    text: str
    language: str = "en"
    age: int = 0


def encyclopedia() -> list[WebPage]:
    """The pages of the fake wiki, as an engine has crawled them."""
    return [
        WebPage(
            f"https://wiki.example/wiki/{quote(title.replace(' ', '_'))}",
            title,
            re.sub(r"'''|\[\[|\]\]|=+|__\w+__", "", text),
            "zh" if "长" in title else "en",
        )
        for title, text in WIKI_PAGES.items()
        if not text.startswith("#REDIRECT")
    ]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its path, its parameters or JSON body, its headers by lower-case name."""

    path: str
    values: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass
class FakeEngine(ABC):
    """``failures`` are answers to give before going on as usual, first one first."""

    pages: list[WebPage] = field(default_factory=encyclopedia)
    asked: list[Asked] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    failures: deque[Response] = field(default_factory=deque)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._serve, methods=["GET", "POST"])])

    @property
    def last(self) -> Mapping[str, Any]:
        """The parameters or the JSON body of the newest request."""
        return self.asked[-1].values

    @abstractmethod
    def answer(self, method: str, request: Asked) -> Response:
        """The answer of the real API to this request."""

    async def _serve(self, request: Request) -> Response:
        values: Json = dict(request.query_params)
        if len(values) < len(request.query_params.multi_items()):
            self.complaints.append("a parameter was given twice")
        if request.method == "POST":
            if values:
                self.complaints.append("parameters beside a body")
            if request.headers.get("content-type") != "application/json":
                self.complaints.append("a body that is not called JSON")
            values = await request.json()
        asked = Asked(f"/{request.path_params['path']}", values, dict(request.headers))
        self.asked.append(asked)
        if self.failures:
            return self.failures.popleft()
        return self.answer(request.method, asked)

    # ------------------------------------------------------------ strictness

    def check(self, values: Mapping[str, Any], allowed: Mapping[str, Any]) -> list[str]:
        """The faults of parameters; ``allowed`` are types, sets of values, or patterns."""
        wrong = [f"unknown parameter {name}" for name in values if name not in allowed]
        for name, rule in allowed.items():
            value = values.get(name)
            if value is None:
                continue
            if isinstance(rule, type):
                fits = type(value) is rule
            elif isinstance(rule, re.Pattern):
                fits = isinstance(value, str) and rule.fullmatch(value) is not None
            else:
                fits = value in rule
            if not fits:
                wrong.append(f"{name}={value!r}")
        self.complaints += wrong
        return wrong

    # ------------------------------------------------------------ the engine

    def find(
        self,
        query: str,
        *,
        sites: Iterable[str] = (),
        language: str = "",
        days: int | None = None,
    ) -> list[WebPage]:
        """The pages that match, best first; ``site:`` operators in the query count as well."""
        hosts = [*sites, *re.findall(r"site:([^\s)]+)", query)]
        bare = _SITE.sub("", query).strip()
        wanted = set(keywords(bare))
        scores = {
            page.url: len(wanted & set(terms(f"{page.title} {page.text}"))) + 100 * _is(page, bare)
            for page in self.pages
        }
        found = [
            page
            for page in self.pages
            if scores[page.url]
            and (not hosts or any(_below(page.url, host) for host in hosts))
            and (not language or page.language == language)
            and (days is None or page.age <= days)
        ]
        return sorted(found, key=lambda page: -scores[page.url])


def marked(text: str, query: str) -> str:
    """Text as HTML with the words of the query marked, as engines show it."""
    escaped = html.escape(text)
    for word in {word for word in query.split() if word.isalnum()}:
        escaped = re.sub(rf"\b({re.escape(word)})\b", r"<strong>\1</strong>", escaped, flags=re.I)
    return escaped


def refusal(status: int, body: Json, **headers: str) -> JSONResponse:
    """An answer that is no result."""
    return JSONResponse(
        body, status, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def _is(page: WebPage, query: str) -> bool:
    return page.title.casefold() == query.casefold()


def _below(url: str, host: str) -> bool:
    own = urlsplit(url).netloc
    return own == host or own.endswith("." + host)
