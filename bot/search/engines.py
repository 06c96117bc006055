"""The common part of search engines: a client for JSON over HTTP, hits from their answers, and the
page texts that came with them.

These texts replace pages that cannot be fetched. They are kept apart from the hits, because hits
are cached, shown, and stored with every search of a run, and whole pages are too large for that.
"""

from __future__ import annotations

import email.utils
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

from bot.core.egress import proxy_failure
from bot.core.errors import AddressRefused, Broken, CredentialsRefused, ProviderUnavailable, Refused
from bot.core.settings import renewed
from bot.core.texts import Sentence, said
from bot.pages.urls import canonical, dedupe_key, domain, parse
from bot.search.provider import GivenText, Hit, Query

if TYPE_CHECKING:
    import httpx
    from cachetools import TTLCache


MAX_REPLY_BYTES = 4_000_000  # the largest page of results is below 1 MB
REQUEST_SECONDS = 10.0
QUOTA_RESTS = 3_600.0  # seconds; retrying does not restore a used-up quota
QUOTA_STATUSES = (402, 432, 433)  # Payment Required; Tavily's "plan limit", "pay-as-you-go limit"


@dataclass(frozen=True, slots=True)
class Reply:
    """``data`` is the JSON object; ``headers`` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    data: Mapping[str, Any]


class JsonApi:
    """Client for one API.

    ``title`` names it in sentences; ``key`` and ``place`` are the settings with its key ("" if it
    has none) and its address. ``seconds`` limits a request, ``most_bytes`` an answer. Redirects are
    followed only if ``follows``, so that a key is sent only to the configured host.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        base: str,
        *,
        title: Sentence,
        key: str,
        place: str,
        headers: Mapping[str, str] | None = None,
        seconds: float = REQUEST_SECONDS,
        most_bytes: int = MAX_REPLY_BYTES,
        follows: bool = False,
    ) -> None:
        self.title = title
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._follows = follows
        self._client = client
        self._base = base.rstrip("/")
        self._key = key
        self._place = place
        self._headers = {"Accept": "application/json", **(headers or {})}

    def answer(self, reply: Reply) -> Reply:
        """Return the reply if it is a result.

        Raises ``ProviderUnavailable`` (down, too many requests, quota used up),
        ``CredentialsRefused`` (the key), ``Refused`` (the request) or ``Broken`` (a redirect).
        """
        status = reply.status
        if status == 200:
            return reply
        detail = f"HTTP {status}: {json.dumps(reply.data, ensure_ascii=False)[:300]}"
        if status in (401, 403):
            self.refuse_key(detail)
        if status in QUOTA_STATUSES:
            self.quota_spent(detail)
        if status == 429:
            raise ProviderUnavailable(
                said("search-rate", title=self.title),
                detail=detail,
                retry_after=retry_after(reply.headers),
            )
        if status >= 500:
            raise ProviderUnavailable(
                said("search-down", title=self.title, status=status),
                detail=detail,
                retry_after=retry_after(reply.headers),
            )
        if 300 <= status < 400:
            told = said("search-redirect", title=self.title, place=self._place)
            raise Broken(told, detail=f"HTTP {status}")
        raise Refused(said("search-refused", title=self.title, status=status), detail=detail)

    def refuse_key(self, detail: str) -> NoReturn:
        """Raise the error for a refused key."""
        told = said("search-access", title=self.title, place=self._place)
        if self._key:
            told = said("search-key", title=self.title, key=self._key)
        raise CredentialsRefused(told, detail=detail)

    def quota_spent(self, detail: str, wait: float = QUOTA_RESTS) -> NoReturn:
        """Raise the error for a used-up quota; ``wait``: seconds until it may be restored."""
        raise ProviderUnavailable(
            said("search-quota", title=self.title), detail=detail, retry_after=wait
        )

    def broken(self, detail: str) -> Broken:
        """The error for an unreadable answer."""
        return Broken(said("search-garbled", title=self.title, place=self._place), detail=detail)

    async def send(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send one request and return its reply, whatever the status.

        Raises ``ProviderUnavailable`` if there is no response, ``Broken`` for one that is invalid
        or too large, and for a result (200) that is not a JSON object.
        """
        import httpx

        content = bytearray()
        try:
            async with self._client.stream(
                method,
                self._base + path,
                params=parameters,
                json=body,
                headers={n: renewed(self._key, v) for n, v in self._headers.items()},
                follow_redirects=self._follows,
                timeout=self._seconds,
            ) as response:
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if len(content) > self._most_bytes:
                        raise self.broken(f"a reply of more than {self._most_bytes} bytes")
                status = response.status_code
                return Reply(status, response.headers, self._object(status, bytes(content)))
        except UnicodeEncodeError:  # in a header, which must be ASCII: it is the key
            self.refuse_key("the key is not ASCII")
        except httpx.TimeoutException as error:
            raise ProviderUnavailable(
                said("search-slow", title=self.title),
                detail=type(error).__name__,
            ) from error
        except httpx.ProxyError as error:
            raise ProviderUnavailable(proxy_failure(error)) from error
        except httpx.TransportError as error:
            raise ProviderUnavailable(
                said("search-away", title=self.title, place=self._place),
                detail=f"{type(error).__name__}: {error}",
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.broken(f"{type(error).__name__}: {error}") from error

    def _object(self, status: int, content: bytes) -> Mapping[str, Any]:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            return data
        if status == 200:
            raise self.broken("no JSON object") from None
        return {"text": content[:300].decode("utf-8", "replace")}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header, delay or HTTP date (RFC 9110 section 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list."""
    return (each for each in _list(value) if isinstance(each, dict))


def string(value: Any) -> str:
    """The value if it is a string, otherwise ""."""
    return value if isinstance(value, str) else ""


def strings(value: Any) -> Iterator[str]:
    """The strings of a list."""
    return (each for each in _list(value) if isinstance(each, str))


def integer(value: Any) -> int | None:
    """The value if it is a whole number (not a boolean), otherwise None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


MOST_TITLE_CHARACTERS = 300
MOST_SNIPPET_CHARACTERS = 2_000

# Only tags that mark words or break lines: "The <div> element" is a title.
_TAG = re.compile(
    r"<(?P<break>br|p)\b[^<>]*>"
    r"|</?(?:a|b|em|font|i|mark|p|small|span|strong|sub|sup|u|wbr)(?:\s(?:\"[^\"]*\"|[^<>\"])*)?/?>"
    r"|<!--(?:(?!<!--).)*?-->",
    re.DOTALL | re.IGNORECASE,
)
_LOOKED_AT = 6_000  # characters of a text that are processed, including markup
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_KEPT_FORMATS = "\u200c\u200d"  # joiners used inside words of Persian or Hindi, and in emoji


def web_hit(provider: str, url: object, title: object, *snippets: object) -> Hit | None:
    """A hit for a web page, or None if ``url`` is not an http(s) address.

    Title and snippets may contain HTML, with which search engines mark matching words. Several
    snippets are joined by an ellipsis. A page without a title is named after its host.
    """
    if not isinstance(url, str):
        return None
    try:
        address = canonical(url)
    except AddressRefused:
        return None
    texts = dict.fromkeys(filter(None, (plain(snippet) for snippet in snippets)))
    snippet = _cut(" … ".join(texts), MOST_SNIPPET_CHARACTERS)
    name = _cut(plain(title), MOST_TITLE_CHARACTERS) or parse(address).host
    return Hit(name, address, snippet, provider)


def matching_hits(hits: Iterable[Hit | None], query: Query) -> list[Hit]:
    """The hits that match a query's domains: each page once, up to the query's limit."""
    domains = [host_of(each) for each in query.domains]
    kept: dict[str, Hit] = {}
    for hit in hits:
        if hit is not None and (not query.domains or is_within(hit.url, domains)):
            kept.setdefault(dedupe_key(hit.url), hit)
    return list(kept.values())[: max(query.limit, 0)]


def is_within(url: str, domains: Sequence[str]) -> bool:
    """Return True if a page is on one of these hosts, or on a subdomain of one."""
    host = domain(url)
    return any(each and (host == each or host.endswith("." + each)) for each in domains)


def host_of(entry: str) -> str:
    """The host of a list entry: ``example.org``, ``*.example.org`` or a whole URL."""
    entry = entry.strip().removeprefix("*.")
    return domain(entry if "://" in entry else f"https://{entry}")


def plain(text: object) -> str:
    """Text without tags, entities, control characters and line breaks; "" if it is not a string."""
    if not isinstance(text, str):
        return ""
    text = text[:_LOOKED_AT]
    bare = html.unescape(_TAG.sub(lambda match: " " if match["break"] else "", text))
    kept = (
        " " if unicodedata.category(c) in _CONTROLS and c not in _KEPT_FORMATS else c for c in bare
    )
    return " ".join("".join(kept).split())


def short(text: str, characters: int, words: int = 1_000) -> str:
    """The first words of a text that fit; only a first word that is too long by itself is cut."""
    kept = " ".join(text.split()[:words])
    if len(kept) <= characters:
        return kept
    head = kept[: characters + 1].rpartition(" ")[0]
    return head or kept[:characters]


def with_sites(text: str, domains: Sequence[str], characters: int, words: int = 1_000) -> str:
    """A query with ``site:`` operators for its domains, within the engine's length limit.

    Hosts are dropped until the operators take no more than half of the limit; ``matching_hits``
    then filters the hits. If not even one host fits, the query is sent without operators. "" if
    there are no words.
    """
    hosts = list(dict.fromkeys(filter(None, map(host_of, domains)))) if text.strip() else []
    while hosts:
        sites = " OR ".join(f"site:{host}" for host in hosts)
        sites = f"({sites})" if len(hosts) > 1 else sites
        room, left = characters - len(sites) - 1, words - len(sites.split())
        if room >= characters // 2 and left >= words // 2:
            return f"{short(text, room, left)} {sites}"
        hosts.pop()
    return short(text, characters, words)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else short(text, characters - 2) + " …"


KEPT_CHARACTERS = 16_000_000  # in total, per provider
LONGEST = 400_000  # characters of one text; the rest is dropped
KEPT_SECONDS = 3_600.0  # enough for the run that found the page to read it


class SuppliedTexts:
    """The latest texts that an engine supplied; ``by`` is the engine's display name."""

    def __init__(self, by: str, clock: Callable[[], float] = monotonic) -> None:
        from cachetools import TTLCache  # here, because modules of providers import nothing heavy

        self._by = by
        self._texts: TTLCache[str, GivenText] = TTLCache(
            KEPT_CHARACTERS, KEPT_SECONDS, timer=clock, getsizeof=lambda one: len(one.text) + 1_000
        )

    def keep(
        self, url: object, title: object, text: object, media_type: str = "text/markdown"
    ) -> None:
        """Keep the text of a page; invalid addresses and empty texts are ignored."""
        if not (isinstance(url, str) and isinstance(text, str) and text.strip()):
            return
        try:
            address = canonical(url)
        except AddressRefused:
            return
        name = title if isinstance(title, str) else ""
        self._texts[dedupe_key(address)] = GivenText(
            address, name, text[:LONGEST], self._by, media_type
        )

    def keep_excerpts(self, url: object, title: object, excerpts: Iterable[str]) -> None:
        """Keep excerpts of a page, each as a paragraph of plain text, if there are several.

        A single one would only repeat the hit's snippet.
        """
        distinct = list(dict.fromkeys(each.strip() for each in excerpts if each.strip()))
        if len(distinct) > 1:
            self.keep(url, title, "\n\n".join(distinct), "text/plain")

    def of(self, url: str) -> GivenText | None:
        """The text that the engine supplied for the page at an address, if it is still kept."""
        try:
            return self._texts.get(dedupe_key(url))
        except AddressRefused:
            return None
