"""Footnotes as a platform shows them: marks as links, the sources they link to, and their quotes.

Prose of a quote is on one line, code and tables keep theirs. A quote that the answer itself
contains is not printed a second time (``AnswerWords``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Literal

from bot.core.errors import AddressRefused
from bot.core.lines import Kind, cluster_start, kind_of, label, one_line, shortened, titled
from bot.core.messages import Answer, Citation, Span
from bot.core.reader import display_address, public
from bot.pages.passages import HEADING_SEPARATOR, columns_in
from bot.pages.urls import domain, parse
from bot.rendering.marks import outside_literals, without_marks
from bot.rendering.verbatim import as_markdown, as_words
from bot.text.sentences import Block, blocks, sentences
from bot.text.struck import STRUCK
from bot.text.terms import has_cjk, without_controls

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


# ---------------------------------------------------------------- quotes

_OPEN, _SHUT = "\ufdd1", "\ufdd2"  # noncharacters around emphasised text in a line
_FOREIGN = str.maketrans({_OPEN: "\ufffd", _SHUT: "\ufffd"})
_STRONG = re.compile(f"{_OPEN}([^{_OPEN}{_SHUT}]*){_SHUT}")
_AROUND = 24  # characters shown around each emphasised span if not all of the text fits


def flattened(runs: Iterable[tuple[str, Sequence[Span]]]) -> tuple[str, tuple[Span, ...]]:
    """Join pieces of a text on one line with an ellipsis between them. ``runs`` are the pieces,
    each with its emphasised spans; returns the line and its spans.
    """
    line = ""
    for text, strong in runs:
        piece = one_line(_marked(text, strong))
        line = f"{line}{_between(line, piece)}{piece}" if line else piece
    return _unmarked(line)


def centred(text: str, strong: Sequence[Span], longest: int) -> tuple[str, tuple[Span, ...]]:
    """Shorten a line to ``longest`` characters around the spans ``strong``; return it and the
    spans.

    It is cut between words, Chinese and Japanese between characters. A line without such spans is
    cut at its end.
    """
    if len(text) <= longest or not strong:
        return shortened(text, longest), tuple(s for s in strong if len(text) <= longest)
    kept = _that_fit(text, strong, longest)
    low, high = 0, len(text)  # characters around each span
    while low < high:
        middle = (low + high + 1) // 2
        if len(_pieced(text, _windows(text, kept, middle), ())) <= longest:
            low = middle
        else:
            high = middle - 1
    shown = _pieced(text, _windows(text, kept, low), kept)
    line, spans = _unmarked(shown)
    if len(line) > longest:  # a single word that is longer than the limit
        return shortened(line, longest), ()
    return line, spans


def _that_fit(text: str, strong: Sequence[Span], longest: int) -> Sequence[Span]:
    """The spans that fit with a few words around each; at least one."""
    kept = list(strong)
    while len(kept) > 1:
        if len(_pieced(text, _windows(text, kept, _AROUND), ())) <= longest:
            break
        kept.pop()
    return kept


def _windows(text: str, strong: Iterable[Span], around: int) -> list[Span]:
    """The pieces to show, with at most ``around`` characters on either side of each span."""
    found: list[Span] = []
    for start, end in strong:
        begin = _word_start(text, max(start - around, 0), start)
        stop = _word_end(text, min(end + around, len(text)), end)
        if found and begin <= found[-1][1] + len(" … "):
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((begin, stop))
    return found


def _word_start(text: str, at: int, last: int) -> int:
    """The first start of a word from ``at`` on; ``last`` if there is none before it."""
    if at == 0 or text[at - 1] == " " or has_cjk(text[at - 1 : at + 1]):
        return cluster_start(text, at)
    space = text.find(" ", at, last)
    return space + 1 if space >= 0 else last


def _word_end(text: str, at: int, first: int) -> int:
    """The last end of a word up to ``at``; ``first`` if there is none after it."""
    if at == len(text) or text[at] == " ":
        return at
    if has_cjk(text[at - 1 : at + 1]):
        return max(cluster_start(text, at), first)
    space = text.rfind(" ", first, at)
    return space if space >= 0 else first


def _pieced(text: str, windows: Sequence[Span], strong: Sequence[Span]) -> str:
    line = ""
    for start, end in windows:
        inside = [(a - start, b - start) for a, b in strong if start <= a and b <= end]
        piece = _marked(text[start:end], inside)
        joint = _between(line or text[:start], piece) if start else ""
        line = f"{line}{joint if line else joint.lstrip()}{piece}"
    if windows and windows[-1][1] < len(text):
        line += _between(line, text[windows[-1][1] :]).rstrip()
    return line


def _between(before: str, after: str) -> str:
    """The ellipsis that joins two pieces, with spaces except in Chinese and Japanese."""
    before, after = before[-3:].replace(_SHUT, ""), after[:3].replace(_OPEN, "")
    space = "" if has_cjk(before) and has_cjk(after) else " "
    if before.endswith("…") or after.startswith("…"):
        return space
    return f"{space}…{space}"


def _marked(text: str, strong: Iterable[Span]) -> str:
    text = text.translate(_FOREIGN)
    out: list[str] = []
    end = 0
    for start, stop in strong:
        out += [text[end:start], _OPEN, text[start:stop], _SHUT]
        end = stop
    return "".join((*out, text[end:]))


def _unmarked(line: str) -> tuple[str, tuple[Span, ...]]:
    return _STRONG.sub(r"\1", line), tuple(_spans(line))


def _spans(line: str) -> Iterator[Span]:
    for count, match in enumerate(_STRONG.finditer(line)):
        start = match.start() - 2 * count
        yield start, start + len(match[1])


PieceKind = Literal["text", "code", "table"]

_PART = 4  # words; a shorter sentence may be in the answer by chance
_LEAST = 20  # characters of room that justify another piece
_HEAD_AND_ROW = 3  # lines that a table needs at least
_WORD = re.compile(r"\w+")
_ITEM_MARK = re.compile(r"^[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_BORDER = re.compile(r"(?<!\\)\||\n")
_FENCE_LINE = re.compile(r" {0,3}(?:`{3,}+|~{3,}+)[^\n]*+")
_RULER = re.compile(r"\|[\s|:-]*")  # the delimiter row between a table's head and its rows


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a quote: ``text`` on one line, ``code`` unchanged, or a ``table`` as Markdown with
    a head (empty if the page shows none).

    ``strong`` are the spans of prose to emphasise where the platform can: the words that the quote
    shares with the sentences citing it.
    """

    kind: PieceKind
    text: str
    strong: tuple[Span, ...] = ()

    def runs(self) -> Iterator[tuple[str, bool]]:
        """The non-empty pieces of the text, each with whether it is emphasised."""
        edges = [0, *(edge for span in self.strong for edge in span), len(self.text)]
        for place, (start, end) in enumerate(pairwise(edges)):
            if start < end:
                yield self.text[start:end], place % 2 == 1


def joined(pieces: Iterable[Excerpt]) -> Excerpt:
    return Excerpt("text", *flattened((piece.text, piece.strong) for piece in pieces))


class AnswerWords:
    """The words of an answer, to check which quotes it contains."""

    def __init__(self, answer: Answer) -> None:
        self._words = _words(as_words(without_marks(answer.text)))

    def has(self, quote: str) -> bool:
        """True if the answer contains a whole quote, word for word and in one piece."""
        words = _words(quote)
        return bool(words.strip()) and words in self._words

    def has_part(self, quote: str) -> bool:
        """True if the answer contains a sentence, list item, table row or code line of a quote."""
        parts: list[str] = []
        for part in sentences(quote):
            words = quote[part.start : part.end]
            parts += words.split("\n") if part.kind == "code" else [words]
        return any(self.has(part) for part in parts if len(_WORD.findall(part)) >= _PART)


def excerpts(
    quote: str,
    longest: int,
    columns: Sequence[str] = (),
    *,
    proof: Sequence[Span] | None = None,
    shared: Sequence[Span] = (),
) -> tuple[Excerpt, ...]:
    """A quote in pieces of at most ``longest`` characters in total; "…" stands for omissions.

    ``columns`` are the names above its table rows, if their table began before the quote. ``proof``
    and ``shared`` are as in ``core.answers.Citation``: only the proof is shown, and prose is cut
    around the shared words. Struck-out words of prose are omitted.
    """
    found: list[Excerpt] = []
    room = longest
    whole = ((0, len(quote)),) if proof is None else proof
    for kind, start, end in _pieces(quote):
        spans = [(max(a, start), min(b, end)) for a, b in whole if a < end and start < b]
        if found and room < _LEAST:
            break
        if not spans:
            continue
        excerpt = _excerpt(kind, quote, (start, end), spans, room, columns, shared)
        if excerpt.text:
            found.append(excerpt)
        room -= len(excerpt.text)
    return tuple(found)


def _excerpt(
    kind: PieceKind,
    quote: str,
    place: Span,
    spans: Sequence[Span],
    room: int,
    columns: Sequence[str],
    shared: Sequence[Span],
) -> Excerpt:
    if kind == "table":
        rows = without_controls(_rows([quote[start:end] for start, end in spans]))
        lines = as_markdown(rows, columns=columns).split("\n")
        if sum(map(len, lines[:_HEAD_AND_ROW])) <= room:
            return Excerpt("table", _fitting(lines, room))
        return Excerpt("text", shortened(_in_line(rows), room))
    if kind == "code":
        lines = without_controls("\n".join(_code_lines(quote, *place, spans))).split("\n")
        if len(lines[0]) <= room:
            return Excerpt("code", _fitting(lines, room))
        return Excerpt("text", shortened("\n".join(lines), room))
    runs = [
        (quote[start:end], [(a - start, b - start) for a, b in shared if start <= a and b <= end])
        for span in spans
        for start, end in _standing(quote, *span)
    ]
    return Excerpt("text", *centred(*flattened(runs), room))


def _standing(quote: str, start: int, end: int) -> Iterator[Span]:
    """The spans of prose around struck-out text, which platforms show differently."""
    for match in STRUCK.finditer(quote, start, end):
        if quote[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if quote[start:end].strip():
        yield start, end


def _pieces(quote: str) -> Iterator[tuple[PieceKind, int, int]]:
    for kind, group in groupby(blocks(quote), key=_kind):
        found = list(group)
        if kind == "code":
            yield from (("code", block.start, block.end) for block in found)
        else:
            yield kind, found[0].start, found[-1].end


def _kind(block: Block) -> PieceKind:
    return "table" if block.kind == "row" else "code" if block.kind == "code" else "text"


def _rows(runs: Sequence[str]) -> str:
    """Table rows, with a row of ellipses wherever some are omitted."""
    out = [runs[0]]
    for run in runs[1:]:
        if not _RULER.fullmatch(out[-1].rpartition("\n")[2]):
            cells = max(1, len(_BORDER.findall(run.partition("\n")[0])) - 1)
            out.append(f"|{' … |' * cells}")
        out.append(run)
    return "\n".join(out)


def _code_lines(quote: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[str]:
    """The lines of fenced code to show, with an ellipsis wherever some are omitted."""
    lines = quote[start:end].split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=start)
    is_closed = len(lines) > 1 and _FENCE_LINE.fullmatch(lines[-1]) is not None
    between: list[str] | None = None  # the lines since the last one shown
    for at, line in list(zip(starts, lines, strict=False))[1 : -1 if is_closed else None]:
        if not any(a < at + len(line) and at < b for a, b in spans):
            if between is not None:
                between.append(line)
            continue
        left_out = "".join(between or ()).strip()
        yield from ("…",) if left_out else between or ()
        yield line
        between = []


def _fitting(lines: Sequence[str], room: int) -> str:
    kept: list[str] = []
    room += 1  # the last line has no line end
    for line in lines:
        room -= len(line) + 1
        if kept and room < 0:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept)


def _in_line(rows: str) -> str:
    """The cells of table rows on one line, for tables that do not fit."""
    cells = [cell.strip().replace("\\|", "|") for cell in _BORDER.split(rows)]
    return " · ".join(cell for cell in cells if cell.strip(" :-"))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(_ITEM_MARK.sub('', text)))} "
