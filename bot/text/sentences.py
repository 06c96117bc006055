"""Divides text into blocks and sentences, with spans, in English, Chinese, Japanese and Korean.

Supports the Markdown of pages and answers: headings, list items, table rows, code fences. The rules
for the end of an English sentence follow the orthographic evidence of Kiss and Strunk, Unsupervised
Multilingual Sentence Boundary Detection, Computational Linguistics 32(4), 2006 (abbreviation,
initial, number; the form of the next word), with fixed lists instead of trained ones. The running
time is linear in the text. Clauses that say that something was not found are recognized, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bot.text.patterns import listed
from bot.text.struck import STRUCK

BlockKind = Literal["heading", "paragraph", "item", "row", "code"]

LONGEST = 1_200  # characters of one sentence or table row; a longer one is cut between words
LINE_BEGINS = 10_000  # characters of a line that are checked to determine its block
LONGEST_CODE = 4_000  # characters of one code fence; a longer one is cut between lines
LONGEST_INLINE_CODE = 200  # characters between two backticks that are taken for inline code


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, list item, table row or code fence: ``text[start:end]``.

    ``level`` is that of a heading (1-6), else 0. ``gap``: an empty line, or the beginning of the
    text, precedes it.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    gap: bool = True


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text[start:end]``, without the white space around it; ``kind`` is that of its block."""

    start: int
    end: int
    kind: BlockKind


# ---------------------------------------------------------------- blocks

_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+(?=\S)")
_OPENERS = frozenset("#|-*+•‣◦`~0123456789")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in order; together they cover everything except white space.

    Consecutive lines are one paragraph. An unclosed fence runs to the end.
    """
    lines = _LINE.finditer(text)
    open_block: Block | None = None  # a paragraph or item that the next line may continue
    previous_end = -1
    for match in lines:
        start, end = match.span()
        line = text[start : min(end, start + LINE_BEGINS)]
        stripped = line.strip() or text[start:end].strip()
        if not stripped:
            continue
        gap = previous_end < 0 or text.find("\n", previous_end, start) != start - 1
        previous_end = end
        kind, level = _kind(line, stripped)
        if kind is None and open_block is not None and not gap:
            open_block = Block(open_block.kind, open_block.start, end, 0, open_block.gap)
            continue
        if open_block is not None:
            yield _trimmed(text, open_block)
            open_block = None
        if kind == "code":
            code, previous_end = _fence(text, match, lines)
            yield Block("code", code[0], code[1], 0, gap)
        elif kind in ("heading", "row"):
            yield _trimmed(text, Block(kind, start, end, level, gap))
        else:
            open_block = Block(kind or "paragraph", start, end, 0, gap)
    if open_block is not None:
        yield _trimmed(text, open_block)


def _kind(line: str, stripped: str) -> tuple[BlockKind | None, int]:
    """The kind of block that a line opens, with the level of a heading; None for plain text."""
    if stripped[0] not in _OPENERS:
        return None, 0
    if _FENCE.match(line):
        return "code", 0
    if heading := _HEADING.match(line):
        return "heading", len(heading.group(1))
    if stripped[0] == "|":
        return "row", 0
    if _ITEM.match(line):
        return "item", 0
    return None, 0


def _fence(
    text: str, opening: re.Match[str], lines: Iterator[re.Match[str]]
) -> tuple[tuple[int, int], int]:
    """The span of a code fence, given its opening line, and the end of its last line."""
    marker = _FENCE.match(opening.group())
    fence = marker.group(1) if marker else "```"
    end = opening.end()
    for match in lines:
        stripped = match.group().strip()
        if stripped:
            end = match.end()
        if stripped.startswith(fence) and not stripped.strip(fence[0]):
            break
    trimmed = _trimmed(text, Block("code", opening.start(), end))
    return (trimmed.start, trimmed.end), end


def _trimmed(text: str, block: Block) -> Block:
    start, end = _strip(text, block.start, block.end)
    return Block(block.kind, start, end, block.level, block.gap)


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# ---------------------------------------------------------------- sentences

_CLOSERS = "\"'”’»)\\]」』）》】〉〕*_"
_MARKS = r"(?:[ \t]?(?:\[+\d{1,3}(?:, ?\d{1,3})*\]+|【\d{1,3}】))*+"  # stay with the sentence
# Starts with one character class, which lets ``re`` skip to candidates; then tells them apart.
_END = re.compile(
    r"[.!?…。！？｡।؟۔](?:"
    rf"(?<=[.!?…])(?<![.!?…][.!?…])[.!?…]*+[{_CLOSERS}~]*+{_MARKS}(?=\s|$)"
    rf"|(?<=[。！？｡])(?<![。！？｡][。！？｡])[。！？｡]*+[{_CLOSERS}]*+{_MARKS}"
    rf"|(?<=[\u3040-\u30ff\u3400-\u9fff][!?])[!?]*+[{_CLOSERS}]*+{_MARKS}"
    rf"|(?<=[।؟۔])[{_CLOSERS}]*+{_MARKS}(?=\s|$)"
    r")"
)
_FULL_STOPS = frozenset("。！？｡")
_LAST_WORD = re.compile(r"(?:[^\W\d_]\.){1,12}$|[\w'’-]{1,24}\.$")
_NEXT_WORD = re.compile(r"\s*([(\[\"'“‘«*_~☐☑ ]*)(\w+)?")
_QUOTED_ON = re.compile(r"[”’」』]")


ABBREVIATED_TITLES = listed(
    "mr mrs ms mx dr prof st ste mt ft gen col lt cmdr sgt capt maj adm gov sen rep rev hon "
    "pres fr sr messrs mme mlle vs"
)
"""Abbreviations that are always followed by a name or another word."""

_ABBREVIATIONS = listed(
    "jr sr inc ltd co corp bros dept univ assn est etc al cf approx ca c esp incl ed eds trans "
    "vol vols no nos p pp fig figs ch sec art op cit sp spp ph.d m.d b.c a.d jan feb mar apr "
    "jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun ave blvd rd bzw usw vgl nr bd "
    "hrsg sog inkl ggf geb dipl av apdo núm av p.ej env éd"
)
"""Abbreviations after which a sentence may end, if the next word looks like a beginning."""

_COUNTED = listed("no nos vol vols p pp fig figs ch sec art op c ca nr bd sp ed")
"""Abbreviations that are followed by a number."""

BEGINNERS = listed(
    "the a an this that these those it its he she they we i you his her their our my there here "
    "in on at by for from with as after before during when while where who what which why how "
    "if but and or so yet although though however since because then also both some many most "
    "all no not one two according despite under over until today later der die das ein eine er "
    "sie es le la les un une il elle el los las una"
)
"""Words that are hardly ever capitalized except at the beginning of a sentence."""

_GERMAN_MONTHS = listed(
    "januar jänner februar märz april mai juni juli august september oktober november dezember "
    "jahrhundert jh"
)


_TICKS = re.compile("`+")
_BOX = re.compile("[☐☑☒]")


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order; together they cover everything except white space.

    A heading, a table row, a code fence and what has a tick box count as one sentence each; a list
    item is divided like a paragraph, its mark belonging to the first sentence. Footnote marks after
    a full stop belong to the sentence before them.
    """
    return [sentence for block in blocks(text) for sentence in sentences_of(text, block)]


def sentences_of(text: str, block: Block) -> Iterator[Sentence]:
    """The sentences of one block; see ``sentences``."""
    if block.kind == "code":
        spans = _cut(text, block.start, block.end, LONGEST_CODE, "\n")
    elif block.kind in ("row", "heading") or _BOX.search(text, block.start, block.end):
        spans = _cut(text, block.start, block.end, LONGEST, " ")
    else:
        mark = _ITEM.match(text, block.start) if block.kind == "item" else None
        body = mark.end() if mark else block.start
        spans = _sentence_spans(text, block.start, body, block.end)
    for start, end in spans:
        yield Sentence(start, end, block.kind)


def _sentence_spans(text: str, start: int, body: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans from ``start`` on; end marks are searched for from ``body`` on."""
    first = start
    whole = _whole_spans(text, body, end)
    inside = next(whole, None)
    for match in _END.finditer(text, body, end):
        while inside is not None and inside[1] <= match.start():
            inside = next(whole, None)
        if inside is not None and inside[0] < match.start() and match.end() < inside[1]:
            continue  # `SELECT ... INTO` is one piece
        if match.end() < end and _ends_here(text, match, first, end):
            yield from _cut(text, first, match.end(), LONGEST, "\n")
            first = match.end()
            while first < end and text[first].isspace():
                first += 1
    if first < end:
        yield from _cut(text, first, end, LONGEST, "\n")


def _whole_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of inline code and of struck-out text, in order."""
    code = _code_spans(text, start, end)
    if text.find("~~", start, end) < 0:
        return code
    struck = (match.span() for match in STRUCK.finditer(text, start, end))
    return iter(sorted((*code, *struck)))


def _code_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of inline code: between backtick runs of equal length (CommonMark 0.31, 6.1)."""
    runs = [match.span() for match in _TICKS.finditer(text, start, end)]
    following: dict[int, int] = {}  # length of a run to the next one of that length
    closing: list[int | None] = [None] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        length = runs[place][1] - runs[place][0]
        closing[place] = following.get(length)
        following[length] = place
    place = 0
    while place < len(runs):
        partner = closing[place]
        if partner is not None and runs[partner][1] - runs[place][0] <= LONGEST_INLINE_CODE:
            yield runs[place][0], runs[partner][1]
            place = partner
        place += 1


def _ends_here(text: str, match: re.Match[str], first: int, end: int) -> bool:
    """True if an end mark ends the sentence that began at ``first``."""
    at, after = match.span()
    following = _NEXT_WORD.match(text, after, min(end, after + 40))
    opener, word = (following.group(1), following.group(2) or "") if following else ("", "")
    if text[at] in _FULL_STOPS:
        # 「……。」と言った continues after its quotation.
        return not (_QUOTED_ON.search(match.group()) and word[:1] in ("と", "っ"))
    if word[:1].islower() and not opener:
        return False
    if text[at] != "." or match.group().startswith(".."):
        return True
    before = _LAST_WORD.search(text, max(first, at - 24), at + 1)
    if before is None:
        return True
    last = before.group().rstrip(".")
    return not _is_abbreviation(last, word) and not _is_ordinal(last, word)


def _is_abbreviation(last: str, following: str) -> bool:
    """True if the full stop after ``last`` only marks an abbreviation, given the next word."""
    folded = last.casefold()
    if folded in ABBREVIATED_TITLES:
        return True
    if folded in _COUNTED and following[:1].isdigit():
        return True
    is_initial = len(last) == 1 and last.isupper()
    if not (is_initial or "." in last or folded in _ABBREVIATIONS):
        return False
    if folded in ("no", "mar", "sun", "sat", "ed", "art", "sec", "c", "dec") and last.islower():
        return False  # the word, not the abbreviation, which is capitalized: "No. 5", "Mar. 5"
    return bool(following) and following.casefold() not in BEGINNERS


def _is_ordinal(last: str, following: str) -> bool:
    """True for German dates and centuries: am 3. Mai, im 19. Jahrhundert."""
    return last.isdigit() and len(last) <= 2 and following.casefold() in _GERMAN_MONTHS


# ---------------------------------------------------------------- cutting long sentences

_BREAKS = re.compile(r"\s")
_SOFT_BREAKS = re.compile(r"[、，；：,;:]")


def _cut(text: str, start: int, end: int, longest: int, prefer: str) -> Iterator[tuple[int, int]]:
    """Cut a span into pieces of at most ``longest`` characters; rarely needed.

    It is cut at the last ``prefer`` of a piece if that is in its second half, else at the last
    white space, else after the last comma, else between any two whole characters.
    """
    while end - start > longest:
        limit = start + longest
        at = _break(text, start, limit, prefer)
        yield _strip(text, start, at)
        start = at
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def _break(text: str, start: int, limit: int, prefer: str) -> int:
    preferred = text.rfind(prefer, start + (limit - start) // 2, limit)
    if preferred > start:
        return preferred
    if text[limit].isspace():
        return limit
    for pattern, offset in ((_BREAKS, 0), (_SOFT_BREAKS, 1)):
        places = [match.start() for match in pattern.finditer(text, start + 1, limit)]
        if places:
            return places[-1] + offset
    at = limit
    while at > limit - 16 and unicodedata.combining(text[at]):
        at -= 1
    return at


_FOUND = (
    r"(?:found|shown|proven|proved|established|determined|confirmed|verified|settled|located|"
    r"identified|named|stated|mentioned|given|said|told|answered)"
)
_GAP = re.compile(
    r"\b(?:could|can|cannot|can['’]t|couldn['’]t)(?: not)?(?: be)? " + _FOUND + r"\b"
    r"|\b(?:was|were|is|are|has|have)(?: not|n['’]t)(?: been)?(?: \w+)? " + _FOUND + r"\b"
    r"|\bnot found\b"
    r"|\b(?:nothing (?:here |else |there )?|no (?:\w+ ){1,4}?)"
    r"(?:was |were |is |are |could be |has been |have been )?"
    r"(?:found|turned up|brought up|given|mentioned|stated|says|say|gives|give|gave|mentions|"
    r"mention|names|states|shows|show)\b"
    r"|\bremains? (?:open|unknown|unclear|unproven|unconfirmed)\b"
    r"|\b(?:nicht |keine?\w* .{0,40}?\b)(?:gefunden|belegt|genannt|angegeben|feststell\w+)\b"
    r"|(?:[未没沒]有?(?:能)?|无法|無法|不能)(?:找到|查到|查明|确认|確認|证实|證實|提及|提到|说明|說明|给出|給出)",
    re.IGNORECASE,
)
_NOT_A_GAP = re.compile(r"\b(?:until|till|before|after|because|by)\b", re.IGNORECASE)
_OF_THE_QUESTION = re.compile(
    r"\b(?:your|the) question (?:does(?: not|n['’]t)|leaves|names no)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"(?<=[;,—–])\s+|(?<=[；，])|(?<!\s)\s++(?=(?:and|but|while|although|though|as|so)\s)"
)


def without_gaps(sentence: str) -> str:
    """Remove the clauses in which a sentence says that something was not found.

    Of "It joins the Lahn near Lollar; where it rises was not found." the first clause remains. A
    statement that something was not found "until 1985" or "by the police" is a fact and stays.
    """
    clauses = _CLAUSE.split(sentence)
    kept = [each for each in clauses if not _is_gap(each)]
    return sentence if len(kept) == len(clauses) else " ".join(kept).strip(" ;,—–；，")


def says_gap(sentence: str) -> bool:
    """True if any clause of a sentence says that something was not found."""
    return any(map(_is_gap, _CLAUSE.split(sentence)))


def _is_gap(clause: str) -> bool:
    if _OF_THE_QUESTION.search(clause):
        return True  # "because your question does not say which update"
    return _GAP.search(clause) is not None and not _NOT_A_GAP.search(clause)
