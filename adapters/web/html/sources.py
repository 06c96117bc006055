"""Renders the sources of an answer, and finds the places of its footnote marks in them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal
from urllib.parse import quote, unquote

from markupsafe import Markup

from adapters.web.html.markdown import Place, answer_html
from adapters.web.html.page_text import page_html
from bot.core.lines import label, one_line
from bot.core.messages import UPLOADED, Answer, Citation, Span
from bot.core.reader import is_document, public, server_of
from bot.core.texts import Texts
from bot.pages.passages import columns_in
from bot.rendering.footnotes import SourceView, excerpts, sources
from bot.research.trace import Quoted
from bot.search.engines import host_of
from bot.text.sentences import Block, blocks

MOST = 2  # quotes shown for one mark

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")


def copies_of(run: str, root: str = "") -> str:
    """Return the path below which the stored pages of a run are shown, by number."""
    return f"{root}/runs/{quote(run)}/pages/"


class AnswerPlaces:
    """Finds the targets of a finished answer's marks."""

    def __init__(self, answer: Answer, root: str = "") -> None:
        self._pages = copies_of(answer.run, root)
        self._quotes: dict[int, list[tuple[str, Citation, set[str]]]] = {}
        for anchor, cited in anchored(answer.citations):
            words = _words(" ".join(cited.proven) or cited.quote)
            self._quotes.setdefault(cited.number, []).append((anchor, cited, words))

    def __call__(self, number: int, sentence: str) -> Place:
        quotes = self._quotes.get(number, [])
        if not quotes:
            return Place(f"{self._pages}{number}")
        wanted = _words(sentence)
        ranked = sorted(
            ((sum(map(len, words & wanted)), anchor, cited) for anchor, cited, words in quotes),
            key=lambda one: -one[0],
        )
        best = ranked[0]
        near = [anchor for score, anchor, _ in ranked[:MOST] if 2 * score >= best[0]]
        return Place(f"{self.page(best[2])}#{best[1]}", tuple(near))

    def page(self, cited: Citation) -> str:
        """Return the URL of the stored copy of a cited page; a number may have several."""
        hashes = {other.page_hash for _, other, _ in self._quotes[cited.number]}
        which = f"?copy={quote(cited.page_hash)}" if len(hashes) > 1 else ""
        return f"{self._pages}{cited.number}{which}"


def anchored(citations: Iterable[Citation]) -> list[tuple[str, Citation]]:
    """Return the citations with the anchors that ``bot.research.trace.quotes_of`` uses."""
    counted: dict[int, int] = {}
    found = []
    for cited in citations:
        counted[cited.number] = counted.get(cited.number, 0) + 1
        found.append((f"q{cited.number}-{counted[cited.number]}", cited))
    return found


def by_number(citations: Iterable[Citation]) -> Mapping[int, list[tuple[str, Citation]]]:
    """Return the anchored citations of each number, in order of the numbers."""
    grouped: dict[int, list[tuple[str, Citation]]] = {}
    for anchor, cited in anchored(citations):
        grouped.setdefault(cited.number, []).append((anchor, cited))
    return dict(sorted(grouped.items()))


def _words(text: str) -> set[str]:
    """Return the words of a text, or its characters in scripts that do not separate words."""
    return set(WORD.findall(text.lower()))


COLOURS = 12  # colours of icons, as many as in the style sheet


@dataclass(frozen=True, slots=True)
class Site:
    """A site's icon, drawn here because nothing is loaded from other sites. ``letter`` is "" for
    documents, which have their own icon; ``colour`` is the number of its colour."""

    name: str
    letter: str
    colour: int


def site_of(url: str) -> Site:
    """Return the icon for a page's URL; documents and files of questions share one."""
    url = public(url)
    host = "" if is_document(url) or not url.startswith("http") else host_of(url)
    name = host.removeprefix("www.")
    digest = hashlib.sha256(name.encode()).digest()
    return Site(name, name[:1].upper(), digest[0] % COLOURS)


TITLE = 200  # characters
HEADINGS = 3  # headings shown above the quotes of a source
LONGEST_QUOTE = 1_500  # characters; the stored page has the rest
QUOTES_ABOVE = 4  # the level of the heading above the quotes of a source

Kind = Literal["web", "wiki", "document", "file"]
Dates = Mapping[tuple[str, str], datetime]  # URL and hash of a page → when it was read

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_RULER = re.compile(r"\|[\s|:-]*")  # the line between a table's header and its rows


@dataclass(frozen=True, slots=True)
class ShownQuote:
    """A quote of a source. ``anchors`` are the citations with the same quote; ``href`` leads to it
    in the stored page."""

    anchors: tuple[str, ...]
    html: Markup
    heading: str
    href: str


@dataclass(frozen=True, slots=True)
class Source:
    """A source. ``href`` leads to the page, or to our copy if it is not on the web; ``copy`` always
    leads to our copy. ``place`` is its host, or the collection or folder of a document; ``site`` is
    the icon of a web page. ``read_at`` is when the quoted copy was fetched. ``given`` names who
    provided the text, if not the site itself.
    """

    number: int
    url: str
    kind: Kind
    href: str
    copy: str
    title: str
    place: str
    site: Site
    heading: str
    quotes: tuple[ShownQuote, ...]
    read_at: datetime | None
    given: str = ""

    @property
    def is_outside(self) -> bool:
        return not self.href.startswith("/")


def source_cards(
    answer: Answer, texts: Texts, dates: Dates, collections: Mapping[str, str], root: str = ""
) -> tuple[Source, ...]:
    """Return the sources of an answer, in order. ``collections`` are the names of its documents'
    collections, by URL; ``root`` precedes the paths of links."""
    places = AnswerPlaces(answer, root)
    cited = by_number(answer.citations)
    run_page = f"{root}/runs/{answer.run}"
    return tuple(
        _source(view, cited[view.number], places, texts, dates, collections)
        for view in sources(answer, LONGEST_QUOTE, TITLE, beside=True, run_page=run_page)
    )


def _source(
    view: SourceView,
    cited: Sequence[tuple[str, Citation]],
    places: AnswerPlaces,
    texts: Texts,
    dates: Dates,
    collections: Mapping[str, str],
) -> Source:
    read = [dates[key] for _, one in cited if (key := (one.url, one.page_hash)) in dates]
    return Source(
        number=view.number,
        url=view.url,
        kind=kind_of(view.url),
        href=view.href,
        copy=places.page(cited[0][1]),
        title=view.title,
        place=collections.get(view.url) or view.domain or _folder(view.url),
        site=site_of(view.url),
        heading=" · ".join(view.headings[:HEADINGS]),
        quotes=tuple(_quotes(cited, places)),
        read_at=max(read, default=None),
        given=texts("text-given-by", name=view.via) if view.via else "",
    )


def kind_of(url: str) -> Kind:
    """Return the kind of a source, for its icon."""
    if url.startswith(UPLOADED):
        return "file"
    if not url.startswith(("http://", "https://")):
        return "document"
    host = url.split("/")[2].lower()
    return "wiki" if host.endswith((".wikipedia.org", ".wiktionary.org")) else "web"


def _folder(url: str) -> str:
    """Return the folder of a document, without its path on the server's disk, or the server that
    provides it."""
    if server := server_of(url):
        return server
    parts = unquote(url.partition(":")[2]).strip("/").split("/")
    return label(parts[-2]) if url.startswith("file:") and len(parts) > 1 else ""


def _quotes(cited: Sequence[tuple[str, Citation]], places: AnswerPlaces) -> Iterator[ShownQuote]:
    """Yield the quotes of one source, each once; a table's header stays with the next row."""
    found: dict[Markup, list[tuple[str, Citation]]] = {}
    heads: list[tuple[str, Citation]] = []
    for anchor, one in cited:
        if _is_head(one.quote):
            heads.append((anchor, one))
        elif html := quote_html(one):
            found.setdefault(html, []).extend([*heads, (anchor, one)])
            heads = []
    if heads and found:
        next(reversed(found.values())).extend(heads)
    for html, same in found.items():
        anchor, first = same[-1]
        heading = columns_in(first.heading)[0] if first.quote.startswith("|") else first.heading
        yield ShownQuote(
            tuple(anchor for anchor, _ in same),
            html,
            label(one_line(heading).removeprefix(one_line(first.title)).removeprefix(" › ")),
            f"{places.page(first)}#{anchor}",
        )


def _is_head(quote: str) -> bool:
    """Return True if a quote is a table's header without rows."""
    lines = quote.strip().split("\n")
    return len(lines) == 2 and bool(_RULER.fullmatch(lines[1].strip()))


# ---------------------------------------------------------------- quotes


def quote_html(cited: Citation) -> Markup:
    """Render the quoted words that support the sentence citing them, as in the page; "" for
    none."""
    quote = cited.quote
    proof = ((0, len(quote)),) if cited.proof is None else cited.proof
    html, room = "", LONGEST_QUOTE
    for kind, grouped in groupby(blocks(quote), key=_kind):
        group = list(grouped)
        start, end = group[0].start, group[-1].end
        spans = [(max(a, start), min(b, end)) for a, b in proof if a < end and start < b]
        if not spans or room <= 0:
            continue
        if kind == "text":
            html += _text_html(quote, group, spans, cited.shared)
        else:
            html += _kept_html(quote[start:end], cited, [(a - start, b - start) for a, b in spans])
        room -= sum(b - a for a, b in spans)
    return Markup(html)  # noqa: S704  (sanitized by what made it)


def _kind(block: Block) -> str:
    return "text" if block.kind in ("heading", "paragraph", "item") else block.kind


def _kept_html(text: str, cited: Citation, spans: Sequence[Span]) -> str:
    """Render rows below the names of their columns, or the lines of a fence."""
    columns = columns_in(cited.heading)[1]
    html = ""
    for piece in excerpts(text, LONGEST_QUOTE, columns, proof=spans):
        if piece.kind == "code":
            fence = text.split("\n", 1)[0].strip()
            ticks = re.match(r"[`~]+", fence)
            html += page_html(f"{fence}\n{piece.text}\n{ticks.group() if ticks else ''}")
        elif piece.kind == "table":
            html += answer_html(piece.text, {})
        else:
            html += page_html(piece.text, below=QUOTES_ABOVE)
    return html


def _text_html(
    quote: str, group: Sequence[Block], spans: Sequence[Span], shared: Sequence[Span]
) -> str:
    """Render the headings, paragraphs and items that support the sentence."""
    text, marks = "", []
    skipped = False
    for block in group:
        inside = [(max(a, block.start), min(b, block.end)) for a, b in spans]
        inside = [(a, b) for a, b in inside if a < b]
        if not inside:
            skipped = bool(text)
            continue
        if text:
            text += " …\n\n" if skipped else "\n\n" if block.gap else "\n"
        skipped = False
        mark = _ITEM.match(quote, block.start)
        if mark and inside[0][0] > block.start:
            text += quote[block.start : mark.end()]
            inside[0] = (max(inside[0][0], mark.end()), inside[0][1])
        for place, (start, end) in enumerate(inside):
            text += " … " if place else ""
            move = len(text) - start
            text += quote[start:end]
            marks += [(a + move, b + move) for a, b in shared if start <= a and b <= end]
    return page_html(text, [Quoted("", a, b) for a, b in marks], below=QUOTES_ABOVE)
