"""Wikipedia, or any other MediaWiki: searching it and reading its articles.

Requests to the wiki per search (its endpoint is looked up once per process):

    CirrusSearch (Wikipedia)   1 search
    any other wiki             2, or 3 for a short query: a text search, a look-up of the titles
                               that the query names, a title search. They run in parallel, because
                               the plain database search ranks titles no higher than text.
    nothing found by text      at most 3 more searches, each with fewer keywords, because these
                               servers require every word of the query in the page; on
                               CirrusSearch also 1 look-up of titles
    disambiguation pages       at most 2 are opened, and 1 look-up resolves their links

The action API: https://www.mediawiki.org/wiki/API:Main_page (``action=query`` with
``generator=search``, ``titles``, ``prop=info|pageprops|extracts``; ``action=parse``).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx

from bot.core.errors import Broken, CredentialsRefused, PageUnreadable, ProviderUnavailable, Refused
from bot.core.settings import Settings
from bot.core.texts import said
from bot.pages.page import Page
from bot.pages.processes import Shares
from bot.pages.urls import display_url
from bot.pages.workers import Workers
from bot.search.engines import (
    JsonApi,
    integer,
    mapping,
    mappings,
    retry_after,
    string,
)
from bot.search.mediawiki_text import (
    Entry,
    by_weight,
    content_words,
    entries_of,
    page_text,
    possible_titles,
    readable_title,
    search_words,
    snippet_text,
    title_in,
)
from bot.search.provider import Hit, ProviderKind, Query, language
from bot.text.language import LATIN_LANGUAGES, detect
from bot.text.patterns import listed
from bot.text.terms import terms

PLACE = "FOOTNOTE_WIKIPEDIA_URL"
FEWER_KEYWORDS = (4, 2, 1)  # how many of the most significant words the further searches keep
TITLE_SEARCH_WORDS = 5  # a title search requires all words in the title, so long queries fail
MOST_NAMED = 3  # titles found inside a query that are ranked before the text's matches
MOST_DISAMBIGUATED = 2  # disambiguation pages opened per search
MOST_ENTRIES = 8  # entries taken from one of them

T = TypeVar("T")

_LANGUAGE_LABEL = re.compile(r"[a-z]{2,12}(-[a-z]{2,8})*")
_VARIANT_PATH = re.compile(r"/(?:zh|sr|gan|kk|ku|tg|uz|crh|iu|shi)(?:-[a-z]+)?/(.+)")

MAX_REPLY_BYTES = 16_000_000  # the largest article is 2 MB of wikitext ($wgMaxArticleSize)
MAX_TITLES = 50  # titles in one query for an anonymous client (API:Query, "limits")
MAX_QUERY_CHARACTERS = 300  # CirrusSearch rejects longer ones; MediaWiki counts characters too
SNIPPET_CHARACTERS = 250
REQUEST_SECONDS = 15.0

# Error codes by what the caller can do about them (API:Errors_and_warnings).
TRY_LATER = ("maxlag", "ratelimited", "readonly", "internal_api_error", "cirrussearch", "timeout")
NO_ACCESS = ("readapidenied", "permissiondenied", "mustbeloggedin", "assert", "blocked")


@dataclass(frozen=True, slots=True)
class Site:
    """The properties of a wiki, requested once: its endpoint, its name, and the form of its URLs.

    ``server`` is an origin such as ``https://en.wikipedia.org``; ``article_path`` contains ``$1``.
    ``cirrus`` is true if CirrusSearch answers searches, ``extracts`` if TextExtracts is installed.
    """

    endpoint: str
    name: str
    server: str
    article_path: str
    cirrus: bool
    extracts: bool


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page as a search or a look-up by title lists it.

    ``snippet`` is what the server sent: HTML, raw wikitext, or the beginning of the text.
    ``asked`` has the requested titles that led here (before redirects and normalization).
    ``article`` is False outside the main namespace.
    """

    title: str
    url: str
    snippet: str = ""
    disambiguation: bool = False
    article: bool = True
    asked: tuple[str, ...] = ()


class WikiApi:
    """Client for one wiki. ``base`` may be an origin, a script path, or the address of api.php."""

    def __init__(self, base: str, client: httpx.AsyncClient) -> None:
        self.base = base.rstrip("/")
        self._client = client
        self._name = said("wiki-at", host=urlsplit(base).netloc.rpartition("@")[2])
        self.known_site: Site | None = None  # once it has been requested

    async def site(self) -> Site:
        """Find api.php and request the wiki's properties, once.

        Raises ``ProviderUnavailable`` (not cached, the next call tries again),
        ``CredentialsRefused``, or ``Broken`` if there is no MediaWiki at the address.
        """
        if self.known_site is None:
            self.known_site = await self._discover()
        return self.known_site

    async def search(self, query: str, what: str, limit: int) -> list[ListedPage]:
        """Pages of the main namespace with these words in their "text" or "title", best first, with
        redirects resolved."""
        if not query:
            return []
        site = await self.site()
        parameters = {
            "generator": "search",
            "gsrsearch": query[:MAX_QUERY_CHARACTERS],
            "gsrnamespace": "0",
            "gsrlimit": str(min(limit, MAX_TITLES)),
            "gsrprop": "snippet",
        }
        if not site.cirrus:
            # The default there is a title search. CirrusSearch does not distinguish the two.
            parameters["gsrwhat"] = what
        pages, _ = await self._pages(site, parameters)
        pages.sort(key=_place)
        return [_listed(page) for page in pages if _exists(page)]

    async def look_up(self, titles: list[str]) -> list[ListedPage]:
        """The pages that exist under these titles (at most 50), with redirects resolved.

        With TextExtracts, the first 20 have the beginning of their text as snippet.
        """
        if not titles:
            return []
        site = await self.site()
        parameters = {"titles": "|".join(titles[:MAX_TITLES]), "converttitles": "1"}
        if site.extracts:
            parameters |= {
                "explaintext": "1",
                "exintro": "1",
                "exchars": str(SNIPPET_CHARACTERS),
                "exlimit": "max",
            }
        pages, renamed = await self._pages(site, parameters, extracts=site.extracts)
        asked: dict[str, list[str]] = {}
        for title in titles[:MAX_TITLES]:
            asked.setdefault(_final(title, renamed), []).append(title)
        return [
            _listed(page, tuple(asked.get(string(page.get("title")), ())))
            for page in pages
            if _exists(page)
        ]

    async def article(self, title: str) -> ListedPage:
        """The page with this title; its snippet is all its text with ``== headings ==``, "" without
        TextExtracts. Raises ``PageUnreadable`` if it does not exist."""
        site = await self.site()
        parameters = {"titles": title, "converttitles": "1"}
        if site.extracts:
            parameters |= {"explaintext": "1", "exsectionformat": "wiki"}
        pages, _ = await self._pages(site, parameters, extracts=site.extracts)
        if not pages or not _exists(pages[0]):
            shown = title if len(title) <= 80 else title[:80] + "…"
            raise PageUnreadable(said("wiki-no-page", site=site.name, page=shown))
        return _listed(pages[0])

    async def html(self, title: str) -> str:
        """The rendered body of a page, without edit links and table of contents."""
        site = await self.site()
        reply = await self._call(
            site.endpoint,
            {
                "action": "parse",
                "page": title,
                "prop": "text",
                "redirects": "1",
                "disableeditsection": "1",
                "disabletoc": "1",
                "disablelimitreport": "1",
            },
        )
        text = mapping(reply.get("parse")).get("text")
        if not isinstance(text, str):
            raise self._broken("a parsed page without text")
        return text

    # ------------------------------------------------------------ requests

    async def _pages(
        self, site: Site, parameters: Mapping[str, str], *, extracts: bool = False
    ) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Query pages with their addresses; also returns the renamed titles, old → new."""
        reply = await self._call(
            site.endpoint,
            {
                "action": "query",
                "prop": "info|pageprops|extracts" if extracts else "info|pageprops",
                "inprop": "url",
                "ppprop": "disambiguation",
                "redirects": "1",
                **parameters,
            },
        )
        query = mapping(reply.get("query"))
        renamed = {
            string(step.get("from")): string(step.get("to"))
            for kind in ("normalized", "converted", "redirects")
            for step in mappings(query.get(kind))
        }
        return list(mappings(query.get("pages"))), renamed

    async def _discover(self) -> Site:
        denied: CredentialsRefused | None = None
        for endpoint in endpoints(self.base):
            try:
                reply = await self._call(
                    endpoint,
                    {"action": "query", "meta": "siteinfo", "siprop": "general|extensions"},
                )
            except CredentialsRefused as error:
                denied = denied or error
                continue
            except (Broken, Refused):
                continue  # not api.php; try the next address
            site = _site(endpoint, mapping(reply.get("query")))
            if site is not None:
                return site
        if denied is not None:
            raise denied
        raise Broken(
            said("wiki-none", url=display_url(self.base), place=PLACE),
            detail="tried " + ", ".join(display_url(place) for place in endpoints(self.base)),
        )

    async def _call(self, endpoint: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """Send one request. Raises ``ProviderUnavailable``, ``CredentialsRefused``, ``Refused`` or
        ``Broken``."""
        api = JsonApi(
            self._client,
            endpoint,
            title=self._name,
            key="",
            place=PLACE,
            seconds=REQUEST_SECONDS,
            most_bytes=MAX_REPLY_BYTES,
            follows=True,
        )
        query = {**parameters, "format": "json", "formatversion": "2", "errorformat": "plaintext"}
        reply = await api.send("GET", "", parameters=query)
        if reply.status in (401, 403, 429) or reply.status >= 500:
            api.answer(reply)
        self._raise_for_error(reply.data, reply.headers)
        if reply.status != 200:
            raise self._broken(f"HTTP {reply.status}")
        return reply.data

    def _raise_for_error(self, reply: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        errors = list(mappings(reply.get("errors")))
        if not errors and isinstance(reply.get("error"), dict):  # without errorformat (old wikis)
            errors = [reply["error"]]
        if not errors:
            return
        code = string(errors[0].get("code"))
        detail = f"{code}: {string(errors[0].get('text') or errors[0].get('info'))[:300]}"
        if code.startswith(TRY_LATER):
            raise ProviderUnavailable(
                said("search-rate", title=self._name),
                detail=detail,
                retry_after=retry_after(headers),
            )
        if code.startswith(NO_ACCESS):
            raise CredentialsRefused(said("wiki-login", title=self._name), detail=detail)
        if code in ("missingtitle", "invalidtitle", "pagecannotexist", "nosuchpageid"):
            raise PageUnreadable(said("wiki-no-such", title=self._name), detail=detail)
        raise Refused(said("wiki-refused", title=self._name), detail=detail)

    def _broken(self, detail: str) -> Broken:
        return Broken(said("search-garbled", title=self._name, place=PLACE), detail=detail)


def endpoints(base: str) -> list[str]:
    """Possible addresses of api.php, most likely first: under the address itself, then at its
    origin."""
    base = base.rstrip("/")
    if base.endswith(".php"):
        return [base.rpartition("/")[0] + "/api.php"]
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    places = [f"{base}/w/api.php", f"{base}/api.php", f"{origin}/w/api.php", f"{origin}/api.php"]
    return list(dict.fromkeys(places))


# ---------------------------------------------------------------- reading replies


def _site(endpoint: str, query: Mapping[str, Any]) -> Site | None:
    general = mapping(query.get("general"))
    if not string(general.get("generator")).startswith("MediaWiki"):
        return None
    extensions = {string(each.get("name")) for each in mappings(query.get("extensions"))}
    server = string(general.get("server"))
    scheme = urlsplit(endpoint).scheme
    return Site(
        endpoint=endpoint,
        name=string(general.get("sitename")) or "The wiki",
        server=f"{scheme}:{server}" if server.startswith("//") else server,
        article_path=string(general.get("articlepath")) or "/wiki/$1",
        cirrus="CirrusSearch" in extensions,
        extracts="TextExtracts" in extensions,
    )


def _listed(page: Mapping[str, Any], asked: tuple[str, ...] = ()) -> ListedPage:
    return ListedPage(
        title=string(page.get("title")),
        url=_address(page),
        snippet=string(page.get("snippet")) or string(page.get("extract")),
        disambiguation="disambiguation" in mapping(page.get("pageprops")),
        article=page.get("ns") == 0,
        asked=asked,
    )


def _place(page: Mapping[str, Any]) -> int:
    return integer(page.get("index")) or 0


def _exists(page: Mapping[str, Any]) -> bool:
    absent = any(page.get(mark) for mark in ("missing", "invalid", "special"))
    return not absent and bool(string(page.get("title"))) and bool(_address(page))


def _address(page: Mapping[str, Any]) -> str:
    address = string(page.get("canonicalurl")) or string(page.get("fullurl"))
    return f"https:{address}" if address.startswith("//") else address


def _final(title: str, renamed: Mapping[str, str]) -> str:
    """Follow normalization, conversion and redirects; a redirect loop is followed only once."""
    seen = {title}
    while (following := renamed.get(title)) and following not in seen:
        seen.add(following)
        title = following
    return title


# ---------------------------------------------------------------- the provider


class MediaWiki:
    """A search provider and page reader for one wiki, or one wiki per language.

    ``settings.wikipedia_url`` may contain ``{language}``. The language then follows the script of
    the query if that is unambiguous, then the query's declared language, and is otherwise
    ``settings.language``. Freshness and region are ignored. The client is shared and closed by its
    owner; the provider must be closed, too.
    """

    name = "wikipedia"
    kind: ProviderKind = "web"

    def __init__(self, settings: Settings, client: httpx.AsyncClient) -> None:
        self._base = settings.wikipedia_url.rstrip("/")
        self._language = _language_label(settings.language) or "en"
        self._client = client
        self._workers = Workers.single_process(Shares(settings.reading_memory))
        self._wikis: dict[str, WikiApi] = {}
        self._address = _address_pattern(self._base)

    async def search(self, query: Query) -> list[Hit]:
        """See ``SearchProvider.search``. ``Hit.url`` is the article's canonical address."""
        text, limit = query.text, query.limit
        words = search_words(text)
        if not words or limit < 1:
            return []
        wiki = self._wiki(_language_of(query, self._language))
        site = await wiki.site()
        find = _search_cirrus if site.cirrus else _search_plain
        found = _articles(await find(wiki, text, words, limit))
        hits = await _without_disambiguation(wiki, found, text, limit)
        return [Hit(hit.title, hit.url, hit.snippet, self.name) for hit in hits[:limit]]

    def reads(self, url: str) -> bool:
        """Return True if ``url`` is an article address of the wiki. No I/O."""
        return self._locate(url) is not None

    async def read(self, url: str) -> Page:
        """The article as text with its section structure.

        Follows redirects; ``Page.url`` is the canonical address. The text comes from TextExtracts
        if the wiki has it (without tables, infoboxes and references), otherwise from the rendered
        page.
        """
        located = self._locate(url)
        if located is None:
            wikis = display_url(self._base)
            raise PageUnreadable(said("wiki-no-article", url=display_url(url), site=wikis))
        wiki, title = located
        site = await wiki.site()
        title = title or _title_of(url, site)
        if not title:
            raise PageUnreadable(said("wiki-no-article", url=display_url(url), site=site.name))
        article = await wiki.article(title)
        text = page_text(article.snippet) or await self._rendered_text(wiki, article.title)
        if not text:
            raise PageUnreadable(said("wiki-empty", site=site.name, page=article.title))
        return Page(article.url, article.title, text, datetime.now(UTC))

    async def aclose(self) -> None:
        """End the process that extracts text from rendered pages."""
        await self._workers.aclose()

    async def _rendered_text(self, wiki: WikiApi, title: str) -> str:
        body = await wiki.html(title)
        document = f"<html><body><main>{body}</main></body></html>".encode()
        extracted = await self._workers.extract(document, "text/html; charset=utf-8", title)
        return extracted.text

    # ------------------------------------------------------------ which wiki

    def _wiki(self, language: str) -> WikiApi:
        base = self._base.replace("{language}", language)
        if base not in self._wikis:
            self._wikis[base] = WikiApi(base, self._client)
        return self._wikis[base]

    def _locate(self, url: str) -> tuple[WikiApi, str] | None:
        """The wiki of an address and the title in it, which is "" if only the wiki can tell."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme not in ("http", "https"):
            return None
        wiki = self._wiki_at(parts.netloc.lower(), parts.path)
        if wiki is None:
            return None
        title = _usual_title(parts.path, parts.query, urlsplit(wiki.base).path)
        if title:
            return wiki, title
        site = wiki.known_site
        return (wiki, "") if site is not None and _title_of(url, site) else None

    def _wiki_at(self, netloc: str, path: str) -> WikiApi | None:
        match = self._address.fullmatch(netloc + path)
        if match:
            return self._wiki(match.groupdict().get("language") or self._language)
        return next((wiki for wiki in self._wikis.values() if _serves(wiki, netloc)), None)


# ---------------------------------------------------------------- searching


async def _search_cirrus(wiki: WikiApi, query: str, words: str, limit: int) -> list[ListedPage]:
    found = await wiki.search(words, "text", limit)
    if found:
        return found
    named = await wiki.look_up(possible_titles(query, MAX_TITLES))
    return [*_named(named, query), *await _fewer_keywords(wiki, query, words, limit)]


async def _search_plain(wiki: WikiApi, query: str, words: str, limit: int) -> list[ListedPage]:
    telling = " ".join(content_words(words))
    is_short = len(telling.split()) <= TITLE_SEARCH_WORDS
    looked_up, titled, found = await _all_of(
        wiki.look_up(possible_titles(query, MAX_TITLES)),
        wiki.search(telling if is_short else "", "title", limit),
        wiki.search(words, "text", limit),
    )
    if not found:
        found = await _fewer_keywords(wiki, query, words, limit)
    return [*_named(looked_up, query), *titled, *found]


async def _all_of(*requests: Coroutine[Any, Any, T]) -> list[T]:
    """Make requests in parallel; when one fails, the others are cancelled."""
    tasks = [asyncio.create_task(request) for request in requests]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _fewer_keywords(wiki: WikiApi, query: str, words: str, limit: int) -> list[ListedPage]:
    """Search again with fewer and fewer of the most significant words, until something is found."""
    telling = by_weight(query)
    tried = {words}
    for count in FEWER_KEYWORDS:
        narrowed = search_words(" ".join(telling[:count]))
        if narrowed and narrowed not in tried:
            tried.add(narrowed)
            found = await wiki.search(narrowed, "text", limit)
            if found:
                return found
    return []


def _named(looked_up: list[ListedPage], query: str) -> list[ListedPage]:
    """The pages that a query names, longest name first.

    A name inside another one that was found is dropped ("York" in "New York").
    """
    spoken = query.casefold()
    by_name = sorted(
        ((max(page.asked, key=len, default=""), page) for page in looked_up if page.article),
        key=lambda pair: (-len(pair[0]), spoken.find(pair[0].casefold())),
    )
    kept: list[tuple[str, ListedPage]] = []
    for name, page in by_name:
        if not any(name.casefold() in longer.casefold() for longer, _ in kept):
            kept.append((name, page))
    return [page for _, page in kept[:MOST_NAMED]]


def _articles(found: Iterable[ListedPage]) -> list[ListedPage]:
    """Each article once, at its first position, with the first snippet of any of its listings."""
    snippets: dict[str, str] = {}
    first: dict[str, ListedPage] = {}
    for page in found:
        first.setdefault(page.url, page)
        snippets[page.url] = snippets.get(page.url) or snippet_text(page.snippet)
    return [
        ListedPage(page.title, page.url, snippets[page.url], page.disambiguation)
        for page in first.values()
        if page.article
    ]


# ---------------------------------------------------------------- disambiguation


async def _without_disambiguation(
    wiki: WikiApi, found: list[ListedPage], query: str, limit: int
) -> list[ListedPage]:
    """Replace each disambiguation page by the articles that it links to."""
    opened = [page for page in found[:limit] if page.disambiguation][:MOST_DISAMBIGUATED]
    if not opened:
        return [page for page in found if not page.disambiguation]
    bodies = await _all_of(*(wiki.html(page.title) for page in opened))
    entries = [_closest(entries_of(body), query) for body in bodies]
    wanted = list(dict.fromkeys(entry.title for several in entries for entry in several))
    reached = {
        title: page
        for page in await wiki.look_up(wanted)
        if page.article and not page.disambiguation
        for title in page.asked
    }
    replaced: dict[str, list[ListedPage]] = {
        page.url: [
            ListedPage(reached[entry.title].title, reached[entry.title].url, entry.line)
            for entry in several
            if entry.title in reached
        ]
        for page, several in zip(opened, entries, strict=True)
    }
    expanded: list[ListedPage] = []
    for page in found:
        expanded += replaced.get(page.url, []) if page.disambiguation else [page]
    return _articles(expanded)


def _closest(entries: Sequence[Entry], query: str) -> list[Entry]:
    """The entries that share the most words with the query; ties keep the page's order."""
    wanted = set(terms(query))

    def shared(entry: Entry) -> int:
        return -len(wanted.intersection(terms(f"{entry.title} {entry.line}")))

    return sorted(entries, key=shared)[:MOST_ENTRIES]


def _serves(wiki: WikiApi, netloc: str) -> bool:
    """True if this is the wiki's own host name, which may differ from the one it is reached by."""
    site = wiki.known_site
    return site is not None and urlsplit(site.server).netloc.lower() == netloc


def _usual_title(path: str, query: str, base_path: str) -> str:
    """The title in an address of any of MediaWiki's default forms (Manual:Short_URL)."""
    if path.endswith(("/index.php", "/index.php/")):
        return readable_title(parse_qs(query).get("title", [""])[0])
    if "/index.php/" in path:
        return readable_title(path.partition("/index.php/")[2])
    beside_script = base_path.rpartition("/")[0] + "/wiki/"  # /kb/w/api.php and /kb/wiki/Title
    below = (f"{base_path}/wiki/", f"{base_path}/") if base_path else ()
    for prefix in ("/wiki/", beside_script, *below):
        if path.startswith(prefix) and not path.endswith(".php"):
            return readable_title(path.removeprefix(prefix))
    variant = _VARIANT_PATH.fullmatch(path)  # zh.wikipedia.org/zh-tw/..., LanguageConverter
    return readable_title(variant[1]) if variant else ""


def _title_of(url: str, site: Site) -> str:
    return title_in(urlsplit(url).path, site.article_path)


# ---------------------------------------------------------------- languages


# Groups of wikis whose languages share a script, which a few keywords rarely distinguish. Japanese
# is recognized by its kana, but a Japanese query may consist of Chinese characters alone.
_SCRIPTS = (
    listed("ru uk be be-tarask bg mk sr kk ky tg tt ba ce mn"),
    listed("ar arz ary fa ur ps ckb"),
    listed("hi mr ne sa bh mai"),
    listed("he yi"),
)
_BOKMAL = {"nb": "no", "nn": "no"}  # "no" is the wiki in Bokmål; the one in Nynorsk is small
_CHINESE = listed("zh yue wuu gan lzh zh-yue zh-classical ja")


def _language_of(query: Query, configured: str) -> str:
    """The wiki to search: by the query's script if it is not Latin, otherwise by its language.

    Among the languages of a script, the configured one comes first, then the query's declared one.
    A few keywords in Latin letters do not reveal their language, so there only the declared
    language counts. It is English by default, so English does not override the configured one.
    """
    detected = detect(query.text)
    named = _BOKMAL.get(language(query), language(query))
    if detected in LATIN_LANGUAGES:
        return named if named in LATIN_LANGUAGES - {"en"} else configured
    if detected == "zh":
        return configured if configured in _CHINESE else detected
    script = next((languages for languages in _SCRIPTS if detected in languages), {detected})
    return next((each for each in (configured, named) if each in script), detected)


def _language_label(tag: str) -> str:
    """The label of a language's wiki from a BCP 47 tag: ``zh-Hant`` → ``zh``, ``pt-BR`` → ``pt``.

    Labels such as ``zh-yue`` or ``simple`` are kept: only scripts and regions are removed.
    """
    parts = tag.strip().replace("_", "-").split("-")
    kept = [part.lower() for i, part in enumerate(parts) if i == 0 or not _script_or_region(part)]
    label = "-".join(kept)
    return label if _LANGUAGE_LABEL.fullmatch(label) else ""


def _script_or_region(part: str) -> bool:
    return (len(part) == 2 and part.isupper()) or (len(part) == 4 and part.istitle())


def _address_pattern(base: str) -> re.Pattern[str]:
    """A pattern for host and path of our addresses: the configured host, in every language, mobile
    or not.

    The path counts only if it contains the language: articles need not be below api.php.
    """
    parts = urlsplit(base.replace("{language}", "LANGUAGE"))
    where = parts.netloc.rpartition("@")[2].lower()
    if "LANGUAGE" in parts.path:
        where += parts.path.partition("LANGUAGE")[0] + "language/"
    label = r"(?P<language>[a-z]{2,12}(?:-[a-z]{2,8})*)"
    pattern = re.escape(where).replace("language", label, 1)
    if where.startswith("language."):
        pattern = pattern.replace(r"\.", r"\.(?:m\.)?", 1)
    return re.compile(pattern + ".*" if where.endswith("/") else pattern + "(?:/.*)?", re.S)
