"""Finds places to cut a paragraph: between sentences, between words, or as a last resort anywhere.

A link, inline code, math or a footnote mark is never cut if it fits, nor is emphasis unless it is
very long, and a mark stays with the words before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from bot.core.lines import cluster_start
from bot.text.sentences import sentences

Span = tuple[int, int]


def by_sentence(text: str, head: int, emphasis: int) -> Iterator[list[Span]]:
    """The phrases of a paragraph, which may be cut off from their neighbours, sentence by sentence;
    only white space is between them.

    ``head`` is where its words begin (after a list's bullet, for example). Emphasis of up to
    ``emphasis`` characters is not cut.
    """
    found = _phrases(text, head, emphasis)
    starts = [sentence.start for sentence in sentences(text)]
    group: list[Span] = []
    passed = 0
    for phrase in found:
        count = bisect_right(starts, phrase[0])
        if group and count > passed:
            yield group
            group = []
        passed = count
        group.append(phrase)
    if group:
        yield group


def cut(text: str, room: int) -> Iterator[str]:
    """Cut a phrase into pieces of at most ``room`` characters.

    A link that is too long loses its target; code is closed and reopened.
    """
    done = 0
    for start, end, kind in _parts(text):
        if end <= done:
            continue
        while done + room < end:
            if start > done:
                yield text[done:start]
                done = start
                continue
            if kind == "link":
                yield from cut(_label(text[start:end]), room)
            elif kind == "code":
                yield from _cut_code(text[start:end], room)
            else:
                stop = _between_characters(text, start, start + room)
                yield text[start:stop]
                start = done = stop
                continue
            done = end
    if done < len(text):
        yield text[done:]


# ---------------------------------------------------------------- spans that are not cut

_LABEL = r"\[(?:[^\[\]\\]|\\.|\[[^\[\]]{0,500}\]){0,2000}+\]"
_TARGET = r"\((?:<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*+)(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
_MARK = r"\[\d{1,4}\](?!\()|\[\[\d{1,4}\]\](?:\([^()\s]*\))?"
_WHOLE = re.compile(
    rf"\\."
    rf"|(?P<ticks>`+)"
    rf"|(?P<marks>(?:{_MARK})+)"
    rf"|(?P<link>!?{_LABEL}{_TARGET})"
    r"|<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*>"
    r"|https?://[^\s<>，。；：！？、（）「」『』【】《》|]+"
    r"|\$\$[^$]{1,2000}\$\$|(?<![\w$])\$(?=\S)[^$\n]{0,500}(?<=\S)\$(?![\w$])"
    r"|&#?\w{1,32};",
    re.DOTALL,
)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~|\|\|")


def _whole(text: str, start: int) -> Iterator[tuple[int, int, str]]:
    """Spans that must not be cut, in order, each with its kind: ``code``, ``link`` or ""."""
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", text):
        ticks.setdefault(len(run.group()), []).append(run.start())
    at = start
    while match := _WHOLE.search(text, at):
        at = match.end()
        if match["ticks"] is None:
            yield match.start(), at, "link" if match["link"] else ""
            continue
        places = ticks.get(len(match["ticks"]), [])  # none if the first tick is escaped
        following = bisect_right(places, match.start())
        if following < len(places):
            at = places[following] + len(match["ticks"])
            yield match.start(), at, "code"


def _emphasised(text: str, start: int, whole: list[Span]) -> list[Span]:
    """The spans of emphasis; markers without a partner are ignored.

    Source: the flanking rule of CommonMark 0.31 section 6.2, without its rule of three.
    """
    found: list[Span] = []
    waiting: list[tuple[int, str]] = []
    open_markers: set[str] = set()
    spans = iter(whole)
    span = next(spans, None)
    for match in _EMPHASIS.finditer(text, start):
        while span is not None and span[1] <= match.start():
            span = next(spans, None)
        if span is not None and span[0] <= match.start():
            continue
        marker = match.group()
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        if marker in open_markers and before and not before.isspace():
            while waiting:
                opened, other = waiting.pop()
                open_markers.discard(other)
                if other == marker:
                    found.append((opened, match.end()))
                    break
        elif after and not after.isspace() and marker not in open_markers:
            waiting.append((match.start(), marker))
            open_markers.add(marker)
    return found


# ---------------------------------------------------------------- possible cuts

_WIDE = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WIDE_ENDS = "、。，．！？；：）」』】〉》〕”’…"
_NOT_FIRST = (
    "、。，．！？；：）」』】〉》〕”’…—～·々ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ\u3099\u309a"
)
_NOT_LAST = "（「『【〈《〔“‘"
# Text that begins a block in Markdown if it comes first on a line.
_BLOCK = r"(?:[-+*=]|#{1,6}|\d{1,9}[.)]|[-=_*]{2,})(?=\s|$)|[>|]|```|~~~|:?-{2,}"
_STAYS = rf"(?!{_BLOCK}|\[\[?\d{{1,4}}\])"
_WIDE_BREAK = (
    rf"(?<=[{_WIDE}{_WIDE_ENDS}])(?![\s{_NOT_FIRST}\ufe00-\ufe0f]){_STAYS}"
    rf"|(?<=[^\s{_NOT_LAST}])(?=[{_WIDE}])(?![{_NOT_FIRST}])"
)
_BREAKS = re.compile(
    rf"(?:(?:(?<![ \t])[ \t]++)?\n[ \t]*+|(?<![ \t])[ \t]++)(?=\S){_STAYS}|{_WIDE_BREAK}"
)


def _phrases(text: str, head: int, emphasis: int) -> Iterator[Span]:
    whole = [(start, end) for start, end, _ in _whole(text, head)]
    whole += [span for span in _emphasised(text, head, whole) if span[1] - span[0] <= emphasis]
    whole.sort()
    start = 0
    for before, after in _breaks(text, head, whole):
        yield start, before
        start = after
    yield start, len(text.rstrip())


def _breaks(text: str, head: int, whole: list[Span]) -> Iterator[Span]:
    """The gaps at which a cut is possible: white space, or nothing between East Asian letters."""
    at = 0
    covered = 0  # the end of the spans passed so far
    end = len(text.rstrip())
    for match in _BREAKS.finditer(text, head, end):
        while at < len(whole) and whole[at][0] < match.end():
            covered = max(covered, whole[at][1])
            at += 1
        # A cut is possible at the end of a span, but not at white space inside one.
        if match.start() > head and covered <= match.start():
            yield match.span()


# ---------------------------------------------------------------- cutting anywhere


def _parts(text: str) -> Iterator[tuple[int, int, str]]:
    """Divide a phrase into consecutive plain and uncut pieces."""
    done = 0
    for start, end, kind in _whole(text, 0):
        if start > done:
            yield done, start, ""
        yield start, end, kind
        done = end
    if done < len(text):
        yield done, len(text), ""


def _label(link: str) -> str:
    return link[link.index("[") + 1 : link.rindex("](")]


def _cut_code(code: str, room: int) -> Iterator[str]:
    ticks = code[: len(code) - len(code.lstrip("`"))]
    content = code[len(ticks) : len(code) - len(ticks)]
    fence = ticks if len(ticks) <= 3 else "`"
    done = 0
    while done < len(content):
        stop = _between_characters(content, done, done + room - 2 * len(fence))
        yield fence + content[done:stop] + fence
        done = stop


def _between_characters(text: str, start: int, at: int) -> int:
    """A position after ``start``, at or shortly before ``at``, that splits no character."""
    at = max(at, start + 1)
    if at >= len(text):
        return len(text)
    place = cluster_start(text, at)
    if place - 1 > start and text[place - 1] == "\\":
        place -= 1
    return place if place > start else at
