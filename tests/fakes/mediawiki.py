"""A MediaWiki action API on loopback, as strict about parameters as the real one, or stricter.

It answers as MediaWiki 1.39 does on the same pages (``tests/live`` compares the two through the
contract suite): the plain database search wants every word, CirrusSearch has no title search,
extracts lose list bullets and tables, snippets are raw wikitext with the found words marked.
What a client should not have sent is kept in ``complaints``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

Json = dict[str, Any]

WIKI_PAGES = {
    "Mercury": (
        "'''Mercury''' may refer to:\n\n== Science ==\n"
        "* [[Mercury (planet)]], the innermost planet\n* [[Mercury (element)]], a metal\n"
        "* [[Mercury (nowhere)]], an article nobody wrote\n\n"
        "== Other ==\n* [[Freddie Mercury]], singer\n* [[Quicksilver]], the same metal\n"
        "__DISAMBIG__"
    ),
    "Mercury (planet)": (
        "'''Mercury''' is the first [[planet]] from the Sun.\n\nIt has no moon.\n\n"
        "== Orbit ==\nMercury goes round the Sun in 88 days.\n\n"
        "=== Rotation ===\nIt turns three times in two orbits.\n\n"
        "== Exploration ==\nThese probes have been there:\n\n* Mariner 10\n* MESSENGER\n\n"
        "== References ==\n"
    ),
    "Mercury (element)": (
        "'''Mercury''' is a chemical element with the symbol Hg. It boils at 356.7 degrees.\n\n"
        "== Uses ==\nIt was used in thermometers & barometers."
    ),
    "Quicksilver": "#REDIRECT [[Mercury (element)]]",
    "Hydrargyrum": "#REDIRECT [[Mercury (element)]]",
    "Freddie Mercury": (
        "'''Freddie Mercury''' was a singer who was born in [[Stone Town]], Zanzibar."
    ),
    "Stone Town": "'''Stone Town''' is the old part of Zanzibar City, on the island of Unguja.",
    "Journal of Tides": (
        "The '''Journal of Tides''' is a quarterly published by the Coastal Union since 1971."
    ),
    "Coastal Union": "The '''Coastal Union''' is an association whose first president was A. Reef.",
    "C++": "'''C++''' is a programming language that Bjarne Stroustrup began in 1979.",
    "AC/DC": "'''AC/DC''' are an Australian rock band that was formed in Sydney in 1973.",
    'What? & "Why"': "'''What? & \"Why\"''' is a page with every odd character: 100% odd.",
    "长城": "'''长城'''是中国古代的军事防御工程。\n\n== 历史 ==\n秦始皇统一中国后修筑万里长城。",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what it asked for, and the headers it came with."""

    parameters: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass
class FakeWiki:
    """One wiki. ``failures`` are answers to give before going on as usual, first one first."""

    pages: dict[str, str] = field(default_factory=lambda: dict(WIKI_PAGES))
    cirrus: bool = False
    extracts: bool = True
    script_path: str = "/w"
    article_path: str = "/wiki/$1"
    language: str = "en"
    server: str = ""  # what the wiki calls itself; empty: as it is reached
    calls: list[Call] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    failures: list[Callable[[], Response]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._serve, methods=["GET", "POST"])])

    def asked(self, **wanted: str) -> list[Call]:
        """The calls that had these parameters; "*" stands for any value."""
        return [
            call
            for call in self.calls
            if all(
                key in call.parameters and value in ("*", call.parameters[key])
                for key, value in wanted.items()
            )
        ]

    async def _serve(self, request: Request) -> Response:
        if request.url.path != f"{self.script_path}/api.php":
            return PlainTextResponse("<html>Not Found</html>", 404)
        names = [name for name, _ in request.query_params.multi_items()]
        for name in {name for name in names if names.count(name) > 1}:
            self.complaints.append(f"{name} was given twice")
        parameters = dict(request.query_params)
        self.calls.append(Call(parameters, dict(request.headers)))
        if self.failures:
            return self.failures.pop(0)()
        origin = self.server or f"{request.url.scheme}://{request.url.netloc}"
        try:
            return JSONResponse(_Answer(self, parameters, origin).make())
        except _ApiError as error:
            errors = [{"code": error.code, "text": error.text, "module": "main"}]
            return JSONResponse({"errors": errors}, headers={"MediaWiki-API-Error": error.code})


class _ApiError(Exception):
    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


_COMMON = {"action", "format", "formatversion", "errorformat"}
_QUERY = _COMMON | {"prop", "inprop", "ppprop", "redirects", "converttitles"}
_KNOWN = {
    "siteinfo": _COMMON | {"meta", "siprop"},
    "search": _QUERY | {"generator", "gsrsearch", "gsrwhat", "gsrnamespace", "gsrlimit", "gsrprop"},
    "titles": _QUERY
    | {"titles", "explaintext", "exsectionformat", "exintro", "exchars", "exlimit"},
    "parse": _COMMON
    | {"page", "prop", "redirects", "disableeditsection", "disabletoc", "disablelimitreport"},
}


class _Answer:
    """The answer to one request."""

    def __init__(self, wiki: FakeWiki, parameters: Mapping[str, str], origin: str) -> None:
        self.wiki = wiki
        self.parameters = parameters
        self.origin = origin
        self.redirects: list[Json] = []
        self.normalized: list[Json] = []

    def make(self) -> Json:
        given = self.parameters
        if given.get("format") != "json" or given.get("formatversion") != "2":
            self.wiki.complaints.append("format=json and formatversion=2 are expected")
        action = given.get("action")
        if action == "parse":
            self._only("parse")
            return self._parse()
        if action != "query":
            raise _ApiError("badvalue", f'Unrecognized value for parameter "action": {action}.')
        if "meta" in given:
            self._only("siteinfo")
            return self._site()
        if given.get("generator") == "search":
            self._only("search")
            return self._query(self._search(), indexed=True)
        self._only("titles")
        return self._query(self._titles(), indexed=False)

    def _only(self, kind: str) -> None:
        unknown = set(self.parameters) - _KNOWN[kind]
        if unknown:
            self.wiki.complaints.append(f"unexpected in a {kind} request: {sorted(unknown)}")

    # ------------------------------------------------------------ modules

    def _site(self) -> Json:
        extensions = [{"type": "other", "name": "Cite"}]
        if self.wiki.cirrus:
            extensions.append({"type": "other", "name": "CirrusSearch"})
        if self.wiki.extracts:
            extensions.append({"type": "other", "name": "TextExtracts"})
        general = {
            "sitename": "Fake Wiki",
            "generator": "MediaWiki 1.39.17",
            "lang": self.wiki.language,
            "server": self.origin,
            "scriptpath": self.wiki.script_path,
            "articlepath": self.wiki.article_path,
        }
        return {"batchcomplete": True, "query": {"general": general, "extensions": extensions}}

    def _search(self) -> list[tuple[str, str]]:
        given = self.parameters
        query, what = given.get("gsrsearch", ""), given.get("gsrwhat")
        if not query.strip():
            raise _ApiError("missingparam", 'The "gsrsearch" parameter must be set.')
        limit = self._limit(given.get("gsrlimit", "10"))
        if given.get("gsrnamespace") != "0":
            self.wiki.complaints.append("a search outside the articles")
        if self.wiki.cirrus:
            if len(query) > 300:
                raise _ApiError("cirrussearch-query-too-long", "The query is too long.")
            if what == "title":
                raise _ApiError("search-title-disabled", "title search is disabled.")
        elif what not in ("text", "title"):
            self.wiki.complaints.append("gsrwhat is needed without CirrusSearch")
        wanted = _words(query)
        found = []
        for title, text in self.wiki.pages.items():
            have = set(_words(title if what == "title" else f"{title} {text}"))
            if wanted and have.issuperset(wanted):
                found.append((title, _snippet(text, wanted)))
        if self.wiki.cirrus:  # the plain search has whatever page was written first on top
            found.sort(key=lambda each: len(set(wanted) ^ set(_words(each[0]))))
        return found[:limit]

    def _limit(self, value: str) -> int:
        if not value.isdigit() or not 1 <= int(value) <= 50:
            raise _ApiError("badinteger", f"The limit {value} is not between 1 and 50.")
        return int(value)

    def _titles(self) -> list[tuple[str, str]]:
        titles = self.parameters.get("titles", "").split("|")
        if not titles[0]:
            raise _ApiError("missingparam", 'The "titles" parameter must be set.')
        if len(titles) > 50:
            raise _ApiError("toomanyvalues", "Too many values supplied for parameter titles.")
        found = []
        for title in titles:
            plain = _normal(title)
            if plain != title and plain:
                self.normalized.append({"fromencoded": False, "from": title, "to": plain})
            found.append((plain or title, ""))
        return list(dict.fromkeys(found))

    def _query(self, found: list[tuple[str, str]], *, indexed: bool) -> Json:
        prop = self.parameters.get("prop", "").split("|")
        if "info" not in prop or self.parameters.get("inprop") != "url":
            self.wiki.complaints.append("addresses are not asked for")
        if "extracts" in prop and not self.wiki.extracts:
            self.wiki.complaints.append("extracts of a wiki without TextExtracts")
        pages: dict[str, Json] = {}
        for index, (title, snippet) in enumerate(found, 1):
            target = self._redirected(title)
            page = pages.setdefault(target, self._page(target))
            if indexed:
                page.setdefault("index", index)
                if target == title:
                    page["snippet"] = snippet
        query: Json = {"pages": sorted(pages.values(), key=lambda page: page["title"])}
        if self.redirects:
            query["redirects"] = self.redirects
        if self.normalized:
            query["normalized"] = self.normalized
        return {"batchcomplete": True, "query": query} if pages else {"batchcomplete": True}

    def _redirected(self, title: str) -> str:
        match = re.match(r"#REDIRECT \[\[(.+?)\]\]", self.wiki.pages.get(title, ""))
        if match is None or "redirects" not in self.parameters:
            return title
        self.redirects.append({"from": title, "to": match[1]})
        return match[1]

    def _page(self, title: str) -> Json:
        if re.search(r"[<>\[\]{}#]", title) or not title:
            return {"title": title, "invalid": True, "invalidreason": "bad characters"}
        address = self.origin + self.wiki.article_path.replace("$1", _encoded(title))
        page: Json = {"ns": 0, "title": title, "fullurl": address, "canonicalurl": address}
        text = self.wiki.pages.get(title)
        if text is None:
            return {**page, "missing": True}
        page["pageid"] = list(self.wiki.pages).index(title) + 1
        if "__DISAMBIG__" in text and "pageprops" in self.parameters.get("prop", ""):
            page["pageprops"] = {"disambiguation": ""}
        if "extracts" in self.parameters.get("prop", ""):
            if "explaintext" not in self.parameters:
                self.wiki.complaints.append("an extract as HTML")
            page["extract"] = _extract(text)
            if "exintro" in self.parameters:
                intro = page["extract"].partition("\n\n\n")[0]
                page["extract"] = intro[: int(self.parameters["exchars"])]
        return page

    def _parse(self) -> Json:
        title = _normal(self.parameters.get("page", ""))
        title = self._redirected(title)
        if title not in self.wiki.pages:
            raise _ApiError("missingtitle", "The page you specified doesn't exist.")
        body = _html(self.wiki.pages[title], self.wiki.pages)
        return {"parse": {"title": title, "pageid": 1, "text": body}}


# ---------------------------------------------------------------- wikitext, as much as is needed


def _normal(title: str) -> str:
    title = " ".join(title.replace("_", " ").split())
    return title[:1].upper() + title[1:]


def _encoded(title: str) -> str:
    return quote(title.replace(" ", "_"), safe="/:;@$!*(),~-_.")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _plain(text: str) -> str:
    text = re.sub(r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1", text)
    return text.replace("'''", "").replace("__DISAMBIG__", "")


def _snippet(text: str, wanted: list[str]) -> str:
    lines = [line for line in text.splitlines() if set(_words(line)) & set(wanted)][:2]
    marked = html.escape("\n".join(lines))
    for word in sorted(set(wanted), key=len, reverse=True):
        marked = re.sub(
            rf"(?i)(?<!\w)({re.escape(word)})(?!\w)(?![^<]*>)",
            r"<span class='searchmatch'>\1</span>",
            marked,
        )
    return marked + "\n"


def _extract(text: str) -> str:
    """Plain text as TextExtracts makes it: headings kept, bullets gone, blocks run together."""
    lines = []
    for line in _plain(text).splitlines():
        if re.fullmatch(r"={2,6} .+ ={2,6}", line):
            lines.append(f"\n\n\n{line}\n")
        elif line.startswith("* "):
            lines.append(line[2:] + "\n")
        elif line:
            lines.append(line + "\n")
    return "".join(lines).strip()


def _html(text: str, pages: Mapping[str, str]) -> str:
    def link(match: re.Match[str]) -> str:
        title, shown = match[1], match[2] or match[1]
        kind = "" if title in pages else ' class="new"'
        return f'<a href="/wiki/{_encoded(title)}"{kind} title="{html.escape(title)}">{shown}</a>'

    parts = []
    for line in text.replace("__DISAMBIG__", "").splitlines():
        shown = re.sub(r"'''(.+?)'''", r"<b>\1</b>", html.escape(line, quote=False))
        shown = re.sub(r"\[\[([^|\]]+)(?:\|([^\]]+))?\]\]", link, shown)
        heading = re.fullmatch(r"(={2,6}) (.+?) ={2,6}", shown)
        if heading:
            level = len(heading[1])
            parts.append(f'<h{level}><span class="mw-headline">{heading[2]}</span></h{level}>')
        elif shown.startswith("* "):
            parts.append(f"<ul><li>{shown[2:]}</li></ul>")
        elif shown:
            parts.append(f"<p>{shown}</p>")
    body = "\n".join(parts).replace("</ul>\n<ul>", "\n")
    return f'<div class="mw-parser-output">{body}</div>'
