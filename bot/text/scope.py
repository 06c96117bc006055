"""The scope of a negation, a "may", an "only" or a figure, in a sentence and in its quote.

Each is compared by the word it applies to: "not passed" contradicts "passed" whatever else is
negated in the quote; "three exits" contradicts "one exit" although "three" occurs elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from bot.text.arithmetic import calculations
from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed
from bot.text.numerals import ORDINALS, UNITS, english_number, ordinal_word
from bot.text.phrases import BE, HAVE, Piece, phrased, pieces
from bot.text.terms import STOP_WORDS, keywords, terms

SCOPE = 4  # words after "not", one of which is negated
BEFORE = 7  # words before a word that may negate it
MOST_COUNTED = 20  # larger numbers are rounded, converted or added up
BEHIND = 12  # words after a word that are searched for an exception to it
RETOLD = 0.5  # share of a claim's keywords in a sentence that it is compared with
_NOT = listed("not never no neither nor cannot without nobody none nothing")
_NEGATIVE = listed(
    "fail failed fails refused refuses refuse unable declined denied rejected hardly rarely "
    "without few little only until lack lacks lacking instead rather nor neither except but "
    "less least prevent prevented stop stopped banned forbidden prohibited if unless longer "
    "barely despite although though avoid avoided unlikely against"
)
_SPANS = listed(
    "year dai month week hour minut decad centuri time million billion thousand hundred"
)
_EXCEPT = listed("except unless only but until if excluding apart")
_DIGITS = lazy_regex(r"\d+")
_MAY = listed("could might")
_CERTAIN = lazy_regex(r"\b(?:will|always|has|have|was|were|did)\b", re.IGNORECASE)
_HEDGED = lazy_regex(
    r"\b(?:could|may|might|would|can|possibl\w+|perhaps|likely|said|believed|thought|plan\w*|"
    r"propos\w+|expect\w*|intend\w*|potential\w*|if|seem\w*|appear\w*|suggest\w*|risk\w*|fear\w*|"
    r"worr\w+|concern\w*|probabl\w+|estimated|according|claim\w*|allow\w*|optional\w*|whether|"
    r"sometimes|depend\w*|should|need not|warn\w*|possibility|chance|as\b.{0,20}\bas)\b",
    re.IGNORECASE,
)
_ONLY = lazy_regex(r"\b(?:the only|solely|exclusively|entirely|wholly|always)\b", re.IGNORECASE)
_NARROW = lazy_regex(
    r"\b(?:only|sole|solely|exclusive\w*|single|just|alone|unique|entire\w*|all|wholly|always|"
    r"every|each|no other|must|throughout|whole|completely|fully|any|never|total\w*|nothing)\b",
    re.IGNORECASE,
)
_SUPERLATIVE = lazy_regex(
    r"(?<!at )\b(?:most(?= \w)|least|(?!forest|west|rest|test|guest|latest|"
    r"east|best|latest|harvest|interest|contest|protest|request|conquest|"
    r"arrest|priest|invest|honest|suggest|modest|nest|chest|quest|northwest|"
    r"southwest|earnest)[a-z]{2,}est)\b"
)
_ODDS = lazy_regex(r"\b(?:in|for|to) (?:every|each)\b|\bout of\b", re.IGNORECASE)
_ONE_OF = lazy_regex(
    r"(?:\bone of\b|\bamong\b|\bamongst\b|\bsome of\b|\b(?:second|third|fourth|fifth|sixth|seventh|"
    r"eighth|ninth|tenth|\d+(?:st|nd|rd|th))[\s-]|\bconsidered\b|\bnon-|"
    r"\b(?:regarded|seen|viewed|described|considered|known) as\b)[^,.;]{0,40}$",
    re.IGNORECASE,
)
_OUT_OF = lazy_regex(
    rf"\b(?P<rank>\d+(?:st|nd|rd|th)|{'|'.join(ORDINALS)}) of (?:the |his |her |their |its )?"
    rf"(?P<total>\d+|{'|'.join(UNITS)})\b",
    re.IGNORECASE,
)


def out_of_scope(claim: str, quoted: str) -> str:
    """The word of a claim that has another scope in its quote, or ""."""
    mine = pieces(claim)
    words = frozenset(keywords(claim))
    theirs = [s for s in phrased(quoted) if _share(words, s) >= RETOLD]
    return (
        (_same_figures(claim, quoted) and _not_negated(mine, theirs))
        or _only_possible(claim, mine, theirs)
        or _other_count(claim, mine, phrased(quoted))
        or _other_total(claim, quoted)
        or _other_rank(claim, quoted)
        or _too_narrow(claim, quoted)
    )


def _same_figures(claim: str, quoted: str) -> bool:
    """False for "130 of them are not", which says of the others what the quote says of some."""
    return set(_DIGITS.findall(claim)) <= set(_DIGITS.findall(quoted))


def _share(words: frozenset[str], sentence: Sequence[Piece]) -> float:
    there = {t for piece in sentence for t in terms(piece.text)}
    return len(words & there) / max(1, len(words))


# ---------------------------------------------------------------- negation


def _not_negated(mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    for at, piece in enumerate(mine):
        if not _negates(piece) or _is_quantity(mine, at):
            continue
        verb = next((p for p in mine[at + 1 : at + 1 + SCOPE] if _carries_meaning(p)), None)
        if verb is None:
            continue
        seen = [_is_negated(s, i) for s in theirs for i, p in enumerate(s) if p.key == verb.key]
        if seen and not any(seen):
            return f"{piece.text} {verb.text}"
    return ""


def _negates(piece: Piece) -> bool:
    folded = piece.text.casefold()
    return folded in ("not", "never", "cannot") or folded.endswith(("n't", "n’t"))


def _is_quantity(sentence: Sequence[Piece], at: int) -> bool:
    """True for "not only", "not more than", "not until", "not all": which deny only part."""
    behind = sentence[at + 1].text.casefold() if at + 1 < len(sentence) else ""
    return behind in ("only", "more", "less", "until", "all", "every", "just", "yet", "because")


def _carries_meaning(piece: Piece) -> bool:
    folded = piece.text.casefold()
    is_form = folded in BE or folded in HAVE or folded in ("do", "did", "does", "be", "necessarily")
    return piece.kind == "word" and not is_form and folded not in STOP_WORDS


def _is_negated(sentence: Sequence[Piece], at: int) -> bool:
    window = sentence[max(0, at - BEFORE) : at + 4]
    if any(p.text.casefold() in _EXCEPT for p in sentence[at : at + BEHIND]):
        return True
    return any(
        p.text.casefold() in _NOT or p.text.casefold() in _NEGATIVE or p.text.endswith("n't")
        for p in window
    )


# ---------------------------------------------------------------- what may be


def _only_possible(claim: str, mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    """Detect "has accelerated" where the quote has "could accelerate"."""
    if _HEDGED.search(claim):
        return ""
    # "Staff may work from abroad" is a permission, but not if a claim reports it as done.
    may = _MAY | {"may"} if _CERTAIN.search(claim) else _MAY
    for piece in mine:
        if not _carries_meaning(piece):
            continue
        seen = [_may(s, i, may) for s in theirs for i, p in enumerate(s) if p.key == piece.key]
        if seen and all(seen):
            return seen[0]
    return ""


def _may(sentence: Sequence[Piece], at: int, may: frozenset[str]) -> str:
    for back in range(at - 1, max(-1, at - 3), -1):
        if sentence[back].text.casefold() in may:
            return sentence[back].text
        if _carries_meaning(sentence[back]) and not sentence[back].text.endswith("ly"):
            return ""
    return ""


# ---------------------------------------------------------------- counts


def _other_count(claim: str, mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    """Detect "three deputy ministers" where the quote has "two deputy ministers"."""
    if next(calculations(claim), None) is not None or _ODDS.search(claim):
        return ""
    there = [each for sentence in theirs for each in _counted(sentence)]
    for number, phrase in _counted(mine):
        same = [n for n, other in there if other[-1] == phrase[-1] or other[0] == phrase[0]]
        full = [
            n for n, other in there if other == phrase and n.endswith("th") == number.endswith("th")
        ]
        if number == "2th" and "1th" in full:
            continue  # the successor of the first one
        if number in same or not full or _is_behind(theirs, phrase, number):
            continue
        if _is_count(number) and all(_is_count(n) == _is_count(number) for n in full):
            return f"{number.removesuffix('th')} {' '.join(phrase)}"
    return ""


def _is_behind(theirs: Sequence[Sequence[Piece]], phrase: Sequence[str], number: str) -> bool:
    """True if a table has the number after its noun: "Teams 8"."""
    return any(
        phrase[-1] in terms(one.key) and other.key == number
        for sentence in theirs
        for one, other in pairwise(sentence)
    )


def _is_count(number: str) -> bool:
    return number.endswith("th") or (number.isdigit() and 0 < int(number) <= MOST_COUNTED)


def _counted(sentence: Sequence[Piece]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Numbers with the nouns directly after them."""
    for at, piece in enumerate(sentence):
        if piece.kind != "number" or (piece.text.isdigit() and len(piece.text) == 4):
            continue
        if at > 1 and sentence[at - 1].text == "the" and sentence[at - 2].text == "of":
            continue  # "nine of the ten members": ten is the whole
        phrase: list[str] = []
        for behind in sentence[at + 1 : at + 4]:
            if behind.kind != "word" or behind.text.casefold() in STOP_WORDS:
                break
            phrase.append(behind.key)
        if phrase and not _SPANS.isdisjoint(phrase):
            continue
        if phrase:
            yield piece.key, tuple(phrase[:2])


# ---------------------------------------------------------------- ranks


def _other_total(claim: str, quoted: str) -> str:
    """Detect "The sixth of eight children" where the quote has "the sixth of eleven"."""
    there = {(_rank(match), _total(match)) for match in _OUT_OF.finditer(quoted)}
    for mine in _OUT_OF.finditer(claim):
        totals = {total for rank, total in there if rank == _rank(mine)}
        if totals and _total(mine) not in totals:
            return mine.group()
    return ""


def _rank(match: re.Match[str]) -> int:
    written = match["rank"].casefold()
    return int(written[:-2]) if written[0].isdigit() else ordinal_word(written)


def _total(match: re.Match[str]) -> int | None:
    written = match["total"].casefold()
    return int(written) if written.isdigit() else english_number([written])


def _other_rank(claim: str, quoted: str) -> str:
    """Detect "the oldest" where the quote has "one of the oldest" or "the second oldest"."""
    for mine in _SUPERLATIVE.finditer(claim):
        if _ONE_OF.search(claim, 0, mine.start()):
            continue
        word = mine.group().casefold()
        if word == "most":
            word = claim[mine.start() : mine.end() + 20].split()[1].casefold()
            word = f"most {word.rstrip('.,;')}"
        there = list(re.finditer(rf"\b{re.escape(word)}\b", quoted, re.IGNORECASE))
        if there and all(_ONE_OF.search(quoted, 0, each.start()) for each in there):
            return claim[mine.start() : mine.start() + len(word)]
    return ""


def _too_narrow(claim: str, quoted: str) -> str:
    """Detect "the only", "always" or "entirely" if nothing in the quote says so."""
    mine = _ONLY.search(claim)
    return mine.group() if mine and not _NARROW.search(quoted) else ""
