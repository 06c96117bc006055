"""Footnotes as a platform shows them: marks as links, and the sources they lead to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bot.answers import Citation
from bot.errors import AddressRefused
from bot.pages.urls import domain, parse
from bot.rendering.lines import one_line, shortened
from bot.research.marks import literal_spans

LONGEST_QUOTE = 300  # characters
LONGEST_TITLE = 200  # characters

# Not "[[1]](…)", which is a link already, and not the label of something else.
_MARK = re.compile(r"(?<![\[\\])\[(\d{1,4})\](?![\](])")
# What a target may hold as it is: RFC 3986 without what Markdown or Slack's markup gives a meaning,
# and without what pings.
_OUTSIDE_TARGET = re.compile(
    r"[^A-Za-z0-9._~!$&+,;=:@/?#%-]+|%(?![0-9A-Fa-f]{2})|@(?=(?i:everyone|here|channel))"
)
_AUTHORITY = re.compile(r"[a-z]+:[/\\]{2}[^/\\?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceView:
    """One numbered source, ready to be shown: each text is on one line, without control
    characters; ``quotes`` are the distinct words it is cited for, in order.

    ``url`` is the source's own address, whatever its scheme; ``domain`` is "" where it has none.
    """

    number: int
    url: str
    title: str
    domain: str
    quotes: tuple[str, ...]


def sources(
    citations: Iterable[Citation],
    longest_quote: int = LONGEST_QUOTE,
    longest_title: int = LONGEST_TITLE,
) -> tuple[SourceView, ...]:
    """One view per number, in order; quotes and titles shortened to these many characters."""
    return tuple(
        _view(number, cited, longest_quote, longest_title) for number, cited in by_number(citations)
    )


def by_number(citations: Iterable[Citation]) -> list[tuple[int, list[Citation]]]:
    """The citations of each number, numbers in order."""
    grouped: dict[int, list[Citation]] = {}
    for citation in citations:
        grouped.setdefault(citation.number, []).append(citation)
    return sorted(grouped.items())


def linked(text: str, urls: Mapping[int, str], link: Callable[[int, str], str]) -> str:
    """The text with its ``[n]`` marks as what ``link`` makes of number and URL.

    Marks in code and math stay, and so do those whose URL is no web address (a local file). The
    URL comes to ``link`` as ``link_target`` gives it.
    """
    targets = {number: target for number in urls if (target := link_target(urls[number]))}
    out: list[str] = []
    end = 0
    for start, stop in literal_spans(text):
        out += [_linked(text[end:start], targets, link), text[start:stop]]
        end = stop
    out.append(_linked(text[end:], targets, link))
    return "".join(out)


def link_target(url: str) -> str:
    """A web address that can stand as a link's target in any Markdown; "" for any other address.

    Characters that would end the target are percent-encoded (RFC 3986 section 2.1).
    """
    url = url.strip()
    try:
        address = parse(url)
    except AddressRefused:
        return ""
    rest = _AUTHORITY.sub("", url, count=1)
    return f"{address.scheme}://{address.authority}{_OUTSIDE_TARGET.sub(_encoded, rest)}"


def _view(number: int, cited: list[Citation], longest_quote: int, longest_title: int) -> SourceView:
    first = cited[0]
    quotes = dict.fromkeys(shortened(citation.quote, longest_quote) for citation in cited)
    host = domain(first.url)
    return SourceView(
        number=number,
        url=first.url,
        title=shortened(first.title, longest_title) or host or one_line(first.url),
        domain=host,
        quotes=tuple(quote for quote in quotes if quote),
    )


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
