"""Selects the words of a passage that answer a question: sentences, list items, table rows,
code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from bot.pages.passages import Passage
from bot.reasoning.extractive.relevance import WeightedQuestion, of_terms
from bot.reasoning.extractive.words import term_tuple
from bot.text.orders import is_order
from bot.text.sentences import Sentence, sentences
from bot.text.terms import has_cjk

MOST_SENTENCES = 3
MOST_ROWS = 4  # of a table or list
CJK_CHARACTERS = 1.7  # counted as one word
NAMED = 0.5  # of the weight of a row's or item's beginning is added, since that is its subject
HEAD = 5  # lines of code searched upwards for the beginning of a statement
LEADS_IN = 0.6  # of its score remains for a sentence that ends in a colon
LED_TO = 20  # additional words allowed for code after a lead-in sentence
FIGURE, CODE = 0.08, 0.12  # of the question's weight is added for the kind of content it asks for

_LETTER = re.compile(r"[^\W_]")
_DIGIT = re.compile(r"\d|[一二三四五六七八九十]")
_DIVIDER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NAME = re.compile(r"[ \t]*(?:\|([^|\n]*)|(?:[-*+•‣◦]|\d{1,3}[.)])([^:：\n]{1,60})[:：])")
_QUOTED = re.compile(r"^[ \t]*> ?", re.MULTILINE)
_WORDS = re.compile(r"\S+")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"#{1,6}[ \t]+")
# Words at the beginning of a sentence that refer to the one before.
_POINTS_BACK = re.compile(
    r"(?:This|That|These|Those|It|They|Its|Their|Such|However|Otherwise|Instead|Therefore)\b"
    r"|[这该此它其]|但是|因此|否则|然而"
)


def count_words(text: str) -> int:
    """Count words; in Chinese, Japanese and Korean, ``CJK_CHARACTERS`` characters count as one."""
    if not has_cjk(text):
        return len(_WORDS.findall(text))
    marks = [" " if has_cjk(mark) else mark for mark in text]
    others = [word for word in "".join(marks).split() if any(map(str.isalnum, word))]
    return round(sum(map(has_cjk, text)) / CJK_CHARACTERS) + len(others)


def brief(passage: Passage, asked: WeightedQuestion, most_words: int) -> str:
    """Return the most relevant pieces of a passage, in at most about ``most_words`` words.

    The result is Markdown, verbatim except for omissions between pieces, in the passage's order. A
    table row comes below its table's header if the passage has it, a line of code within its fence.
    There is at least one piece, however long it is.
    """
    if passage.in_code:
        piece = Sentence(0, len(passage.text), "code")
        return _code(passage, [piece], 0, asked, most_words)
    parts = [
        part for part in sentences(passage.text) if not _DIVIDER.fullmatch(_of(passage, part))
    ] or sentences(passage.text)
    parts = [part for part in parts if not is_order(_of(passage, part))] or parts
    parts = [part for part in parts if part.kind != "heading"] or parts
    parts = [part for part in parts if _LETTER.search(_of(passage, part))] or parts
    rated = [_rate(_of(passage, part), part, asked) for part in parts]
    best = max(range(len(parts)), key=lambda i: (rated[i], -i))
    if parts[best].kind == "code":
        return _code(passage, parts, best, asked, most_words)
    if parts[best].kind == "row":
        return _rows(passage, parts, rated, best, most_words)
    first = last = best
    spent = count_words(_of(passage, parts[best]))
    wide = MOST_ROWS if parts[best].kind == "item" else MOST_SENTENCES
    while last - first + 1 < wide:
        grown = [
            at
            for at in (last + 1, first - 1)
            if 0 <= at < len(parts)
            and parts[at].kind not in ("row", "code")
            and spent + count_words(_of(passage, parts[at])) <= most_words
        ]
        if not grown:
            break
        points_back = _POINTS_BACK.match(_of(passage, parts[first])) is not None
        # First pieces needed to understand others, then more relevant ones, then following ones.
        at = max(
            grown,
            key=lambda i: (
                _leads_in(_of(passage, parts[i])) or (points_back and i < first),
                rated[i],
                i,
            ),
        )
        spent += count_words(_of(passage, parts[at]))
        first, last = min(first, at), max(last, at)
    text = _running(passage, parts[first : last + 1])
    following = parts[last + 1] if last + 1 < len(parts) else None
    if following is not None and following.kind == "code" and _leads_in(text):
        code = _block(passage, following)
        if spent + count_words(code) <= most_words + LED_TO:
            return f"{text}\n\n{code}"
    return text


def _of(passage: Passage, part: Sentence) -> str:
    return passage.text[part.start : part.end]


def _rate(text: str, part: Sentence, asked: WeightedQuestion) -> float:
    """Return the share of the question's weight in a piece, plus a bonus for the kind of content
    asked for."""
    words = term_tuple(text)
    rated = (
        sum(asked.weights[term] * share for term, share in of_terms(asked.terms, words).items())
        / asked.total
    )
    pairs = asked.pairs.intersection(pairwise(words))
    rated += 0.1 * len(pairs)
    if _leads_in(text):
        rated *= LEADS_IN
    if part.kind in ("row", "item"):
        named = asked.terms.intersection(term_tuple(_named(text)))
        rated += NAMED * sum(asked.weights[term] for term in named) / asked.total
    if "figure" in asked.cues and _DIGIT.search(text):
        rated += FIGURE
    if "steps" in asked.cues and part.kind == "code":
        rated += CODE
    return rated


def _named(text: str) -> str:
    """The subject of a table row or list item: its first cell, or the words before its colon."""
    found = _NAME.match(text)
    return (found[1] or found[2] or "") if found else ""


def _leads_in(text: str) -> bool:
    return text.rstrip().endswith((":", "："))


def _running(passage: Passage, parts: Sequence[Sentence]) -> str:
    """Return pieces of running text and lists as in the passage; headings as plain words."""
    text = ""
    end = None
    for part in parts:
        between = "" if end is None else passage.text[end : part.start]
        if end is not None:
            text += "\n\n" if between.strip() else between
        words = _of(passage, part)
        text += _HEADING.sub("", words, count=1) if part.kind == "heading" else words
        end = part.end
    first = parts[0].start
    if "\n" in text and all(_QUOTED.match(line) for line in text.split("\n")[1:]):
        return _QUOTED.sub("", text)  # in a block quote, whose first sign is left out
    margin = first - (passage.text.rfind("\n", 0, first) + 1)
    return re.sub(rf"\n[ \t]{{1,{margin}}}", "\n", text) if margin else text


def _rows(
    passage: Passage, parts: Sequence[Sentence], rated: Sequence[float], best: int, most: int
) -> str:
    """Return the best rows of a table, below its header.

    If the passage has no header, ``bot.research.answer.write`` takes the column names from its
    heading.
    """
    rows = _table(passage, parts, best)
    head = _head(passage, parts[rows[0]])
    if head and len(rows) > 1:
        first = rows.pop(0)
        best = max(rows, key=lambda i: (rated[i], -i)) if best == first else best
    else:
        head = ""
    spent = count_words(head.partition("\n")[0]) + count_words(_of(passage, parts[best]))
    kept = {best}
    for i in sorted((i for i in rows if i != best and rated[i] > 0), key=lambda i: -rated[i]):
        more = count_words(_of(passage, parts[i]))
        if len(kept) < MOST_ROWS and spent + more <= most and rated[i] >= rated[best] / 2:
            kept.add(i)
            spent += more
    lines = [_of(passage, parts[i]) for i in sorted(kept)]
    return "\n".join([head, *lines] if head else lines)


def _table(passage: Passage, parts: Sequence[Sentence], row: int) -> list[int]:
    """Return the rows of the table that contains a row."""

    def go_on(one: Sentence, other: Sentence) -> bool:
        between = passage.text[one.end : other.start]
        return one.kind == other.kind == "row" and not _EMPTY_LINE.search(between)

    first = last = row
    while first and go_on(parts[first - 1], parts[first]):
        first -= 1
    while last + 1 < len(parts) and go_on(parts[last], parts[last + 1]):
        last += 1
    return list(range(first, last + 1))


def _head(passage: Passage, row: Sentence) -> str:
    """Return a row with the divider below it; "" if there is none, so that it is not a header."""
    divider = passage.text[row.end :].lstrip("\n").partition("\n")[0]
    return f"{_of(passage, row)}\n{divider}" if _DIVIDER.fullmatch(divider) else ""


def _block(passage: Passage, part: Sentence) -> str:
    """Return a block of code without its indentation in a list."""
    margin = passage.text[passage.text.rfind("\n", 0, part.start) + 1 : part.start]
    code = _of(passage, part)
    if not margin or margin.strip():
        return code
    return "\n".join(line.removeprefix(margin) for line in code.split("\n"))


def _code(
    passage: Passage, parts: Sequence[Sentence], best: int, asked: WeightedQuestion, most: int
) -> str:
    """Return a block of code, or its best lines if it is long, with its lead-in sentence."""
    lines = _block(passage, parts[best]).split("\n")
    fence = _FENCE.match(lines[0])
    opening = lines[0] if fence else "```"
    closing = fence.group(1) if fence else "```"
    body = lines[1:] if fence else lines
    if body and _FENCE.match(body[-1]):
        body = body[:-1]
    lead = ""
    if best and parts[best - 1].kind in ("paragraph", "item"):
        lead = _of(passage, parts[best - 1])
    left = most - count_words(lead)
    if lead and left < most // 3:
        lead, left = "", most
    code = "\n".join((opening, *_lines(body, asked, left), closing))
    return f"{lead}\n\n{code}" if lead else code


def _lines(body: Sequence[str], asked: WeightedQuestion, most: int) -> list[str]:
    """Return lines around the most relevant one, as many as fit."""
    if sum(count_words(line) for line in body) <= most:
        return list(body)
    rated = [sum(asked.weights[t] for t in asked.terms.intersection(term_tuple(x))) for x in body]
    first = last = max(range(len(body)), key=lambda i: (rated[i], -i), default=0)
    while first and last - first < HEAD and body[first][:1].isspace():
        first -= 1  # to the beginning of the line's statement
    spent = sum(count_words(line) for line in body[first : last + 1])
    while True:
        if last + 1 < len(body) and spent + count_words(body[last + 1]) <= most:
            last += 1
            spent += count_words(body[last])
        elif first and spent + count_words(body[first - 1]) <= most:
            first -= 1
            spent += count_words(body[first])
        else:
            return list(body[first : last + 1])
