"""Footnotes as a platform shows them: marks as links, and the sources they link to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.core.errors import AddressRefused
from bot.core.lines import Kind, kind_of, label, one_line, shortened, titled
from bot.core.messages import Answer, Citation
from bot.core.reader import display_address, public
from bot.pages.passages import HEADING_SEPARATOR, columns_in
from bot.pages.urls import domain, parse
from bot.rendering.excerpts import AnswerWords, Excerpt, excerpts
from bot.rendering.marks import outside_literals

LONGEST_QUOTE = 300  # characters
LONGEST_TITLE = 200  # characters
LEAST_QUOTE = 60  # characters; the least that each of several quotes gets of a shared limit
LONGEST_HEADING = 120  # characters of the heading above a quote

# Excludes "[[1]](…)", which is a link already, and the label of another link.
_MARK = re.compile(r"(?<![\[\\])\[(\d{1,4})\](?![\](])")
# Characters outside those that a target may contain unchanged: RFC 3986 without characters that
# have a meaning in Markdown or Slack's markup, and without "@" where it would ping.
_OUTSIDE_TARGET = re.compile(
    r"[^A-Za-z0-9._~!$&+,;=:@/?#%-]+|%(?![0-9A-Fa-f]{2})|@(?=(?i:everyone|here|channel))"
)
_JOINT = len(" … ")  # between two quotes
_AUTHORITY = re.compile(r"(?<![a-z])[a-z]++:[/\\]{2}[^/\\?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuoteView:
    """Words that a source is cited for, and the path of the headings above them on its page.

    ``pieces`` is empty if the answer quotes these words itself; ``heading`` is on one line, or ""
    at the top of a page.
    """

    heading: str
    pieces: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True)
class SourceView:
    """One numbered source to display: its title, headings and ``via`` are labels (``core.lines``),
    the title with the sign of its ``kind``. ``quotes`` are the distinct words it is cited for, in
    order.

    ``url`` is the source's own address, whatever its scheme; ``domain`` is "" if it has none.
    ``href`` is the link on its title: that address if it is a web address, otherwise our copy of
    the page if readers can open it, else "". ``via`` is the service that supplied the quoted text,
    or "" if it came from the site itself.
    """

    number: int
    url: str
    title: str
    domain: str
    quotes: tuple[QuoteView, ...]
    via: str = ""
    href: str = ""
    kind: Kind = "web"

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above its quotes, each once."""
        return tuple(dict.fromkeys(quote.heading for quote in self.quotes if quote.heading))


def sources(
    answer: Answer,
    longest_quote: int = LONGEST_QUOTE,
    longest_title: int = LONGEST_TITLE,
    *,
    beside: bool = False,
    longest_source: int = 0,
    run_page: str = "",
) -> tuple[SourceView, ...]:
    """One view per number, in order; quotes and titles shortened to these many characters.

    ``run_page`` is the address of the run's page, "" if readers cannot open it.

    ``longest_source`` limits the total length of one source's quotes; 0 means no limit. Quotes that
    need less leave their share to the others, and the last ones are omitted if there is no room for
    a few words of each.

    A source that the answer quotes has no words here, unless they are shown ``beside`` the answer,
    as on a card over the mark.
    """
    said = AnswerWords(replace(answer, text="") if beside else answer)
    hrefs = reachable(answer, run_page)
    return tuple(
        replace(
            _view(number, cited, said, longest_quote, longest_title, longest_source),
            href=link_target(hrefs[number]) or (hrefs[number] if run_page else ""),
        )
        for number, cited in by_number(answer.citations)
    )


def reachable(answer: Answer, run_page: str) -> dict[int, str]:
    """The link target of each of an answer's marks, by number. For a page that is not on the web,
    such as a file, it is our copy of it below ``run_page``, if that is known.
    """
    return {
        number: url if not run_page or link_target(url) else f"{run_page}/pages/{number}"
        for number, url in answer.targets.items()
    }


def by_number(citations: Iterable[Citation]) -> list[tuple[int, list[Citation]]]:
    """Group citations by number, in order of the numbers."""
    grouped: dict[int, list[Citation]] = {}
    for citation in citations:
        grouped.setdefault(citation.number, []).append(citation)
    return sorted(grouped.items())


def linked(text: str, urls: Mapping[int, str], link: Callable[[int, str], str]) -> str:
    """Replace the ``[n]`` marks of a text with ``link(number, URL)``.

    Marks in code and math stay, and so do those whose URL is not a web address (a local file).
    ``link`` receives the URL as returned by ``link_target``.
    """
    targets = {number: target for number in urls if (target := link_target(urls[number]))}
    return outside_literals(text, lambda part: _linked(part, targets, link))


def link_target(url: str) -> str:
    """A web address in a form usable as a link target in any Markdown; "" for other addresses.

    Characters that would end the target are percent-encoded (RFC 3986 section 2.1).
    """
    url = public(url.strip())
    try:
        address = parse(url)
    except AddressRefused:
        return ""
    rest = _AUTHORITY.sub("", url, count=1)
    return f"{address.scheme}://{address.authority}{_OUTSIDE_TARGET.sub(_encoded, rest)}"


def _view(
    number: int,
    cited: list[Citation],
    said: AnswerWords,
    longest_quote: int,
    longest_title: int,
    longest_source: int,
) -> SourceView:
    first = cited[0]
    url = display_address(first.url)
    host = domain(url)
    is_quoted = any(
        said.has(words) or said.has_part(words) for each in cited for words in each.proven
    )
    shown = [each for each in cited if any(words.strip() for words in each.proven)]
    quotes = list({(each.heading, each.quote): each for each in shown or cited}.values())
    rooms = [longest_quote] * len(quotes)
    if longest_source and not is_quoted:
        rooms = _shares([min(_length(each), longest_quote) for each in quotes], longest_source)
    return SourceView(
        number=number,
        url=url,
        title=shortened(titled(first.url, first.title), longest_title) or host or label(url),
        domain=host,
        quotes=tuple(
            _quote_view(each, is_quoted, room) for each, room in zip(quotes, rooms, strict=True)
        ),
        via=", ".join(dict.fromkeys(label(each.via) for each in cited if each.via)),
        kind=kind_of(first.url),
    )


def _length(citation: Citation) -> int:
    """The length of a quote, including what joins its pieces."""
    return sum(len(words) + _JOINT for words in citation.proven) - _JOINT


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    """Divide a limit of characters between texts: short ones get all they need, the last ones
    nothing if there is no room for a few words of each.
    """
    shares = [0] * len(lengths)
    first = range(min(len(lengths), max(room // LEAST_QUOTE, 1)))
    left = room - _JOINT * (len(first) - 1)
    for done, place in enumerate(sorted(first, key=lambda place: lengths[place])):
        shares[place] = min(lengths[place], left // (len(first) - done))
        left -= shares[place]
    return shares


def _quote_view(citation: Citation, is_quoted: bool, longest: int) -> QuoteView:
    is_table = citation.quote.lstrip().startswith("|")
    heading, columns = columns_in(citation.heading) if is_table else (citation.heading, ())
    return QuoteView(
        heading=shortened(label(_below_title(one_line(heading), citation.title)), LONGEST_HEADING),
        pieces=()
        if is_quoted
        else excerpts(
            citation.quote, longest, columns, proof=citation.proof, shared=citation.shared
        ),
    )


def _below_title(path: str, title: str) -> str:
    """Remove the page's title, or the part of it before the site's name, from the start of a
    section path.
    """
    title = one_line(title)
    if path == title or path.startswith(title + HEADING_SEPARATOR):
        return path[len(title + HEADING_SEPARATOR) :]
    first, _, rest = path.partition(HEADING_SEPARATOR)
    parts = re.match(r"(.*) [-–—|·] ", title)
    page = parts[1] if parts else title
    return rest if first.rstrip("¶# ") in (page, title) else path


def _linked(text: str, targets: Mapping[int, str], link: Callable[[int, str], str]) -> str:
    def replace(match: re.Match[str]) -> str:
        target = targets.get(int(match[1]))
        if target is None:
            return match.group()
        # "Yes![1]" must not become an image.
        space = " " if text[match.start() - 1 : match.start()] == "!" else ""
        return space + link(int(match[1]), target)

    return _MARK.sub(replace, text)


def _encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "replace"))
