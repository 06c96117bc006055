"""Running text cut to the words that matter in it, with ellipses for what is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.answers import Span
from bot.rendering.lines import cluster_start, one_line, shortened
from bot.text.terms import has_cjk

_OPEN, _SHUT = "\ufdd1", "\ufdd2"  # noncharacters, around what matters while text is put together
_FOREIGN = str.maketrans({_OPEN: "\ufffd", _SHUT: "\ufffd"})
_STRONG = re.compile(f"{_OPEN}([^{_SHUT}]*){_SHUT}")
_AROUND = 24  # characters around each of the words that matter, where not all of them fit


def flattened(runs: Iterable[tuple[str, Sequence[Span]]]) -> tuple[str, tuple[Span, ...]]:
    """Pieces of a text on one line with an ellipsis between them; ``runs`` are the pieces, each
    with the spans of what matters in it. Returned is the line with these spans."""
    line = ""
    for text, strong in runs:
        piece = one_line(_marked(text, strong))
        line = f"{line}{_between(line, piece)}{piece}" if line else piece
    return _unmarked(line)


def centred(text: str, strong: Sequence[Span], longest: int) -> tuple[str, tuple[Span, ...]]:
    """A line in at most ``longest`` characters around the words ``strong``, and where these are.

    Cut between words, Chinese and Japanese between characters. A line that holds nothing that
    matters is cut at its end.
    """
    if len(text) <= longest or not strong:
        return shortened(text, longest), tuple(s for s in strong if len(text) <= longest)
    kept = _that_fit(text, strong, longest)
    low, high = 0, len(text)  # characters around them
    while low < high:
        middle = (low + high + 1) // 2
        if len(_pieced(text, _windows(text, kept, middle), ())) <= longest:
            low = middle
        else:
            high = middle - 1
    shown = _pieced(text, _windows(text, kept, low), kept)
    line, spans = _unmarked(shown)
    if len(line) > longest:  # one word that is longer than there is room
        return shortened(line, longest), ()
    return line, spans


def _that_fit(text: str, strong: Sequence[Span], longest: int) -> Sequence[Span]:
    """The spans that can be shown with a few words around each; at least one."""
    kept = list(strong)
    while len(kept) > 1:
        if len(_pieced(text, _windows(text, kept, _AROUND), ())) <= longest:
            break
        kept.pop()
    return kept


def _windows(text: str, strong: Iterable[Span], around: int) -> list[Span]:
    """The pieces shown, with at most this many characters around each span."""
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
    """The first beginning of a word from ``at`` on, ``last`` where there is none before it."""
    if at == 0 or text[at - 1] == " " or has_cjk(text[at - 1 : at + 1]):
        return cluster_start(text, at)
    space = text.find(" ", at, last)
    return space + 1 if space >= 0 else last


def _word_end(text: str, at: int, first: int) -> int:
    """The last end of a word up to ``at``, ``first`` where there is none behind it."""
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
    """The ellipsis between two pieces, with spaces except in Chinese and Japanese."""
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
