"""Splits a sentence into names, figures and words, to compare word order.

This is not a parser: it uses a few rules about English that nearly always hold. A name is one piece
whatever its length, a verb is recognized by its form, and its agent by "by" or a position directly
before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed
from bot.text.names import names
from bot.text.numerals import english_number, ordinal_word
from bot.text.sentences import sentences
from bot.text.terms import terms

PieceKind = Literal["name", "number", "word", "mark"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A name, a number, a word or a punctuation mark of a sentence.

    ``key`` is the stem of a word, the value of a number ("3", "3rd"), the mark itself or the last
    word of a name. ``words`` are the words that distinguish a name, folded.
    """

    kind: PieceKind
    text: str
    key: str
    words: frozenset[str] = frozenset()


_PIECE = lazy_regex(r"\d[\d,.]*(?:st|nd|rd|th)?%?(?![\w])|[^\W_](?:[\w'’]|[-.](?=\w))*|[^\w\s]")
_ORDINAL = lazy_regex(r"(\d+)(?:st|nd|rd|th)")
_IRREGULAR = dict(
    pair.split(":")
    for pair in listed(
        "wrote:write written:write won:win sang:sing sung:sing sold:sell bought:buy built:build "
        "led:lead gave:give given:give took:take taken:take made:make became:become held:hold "
        "met:meet taught:teach beat:beat beaten:beat lent:lend drew:draw drawn:draw chose:choose "
        "chosen:choose found:find fought:fight knew:know known:know left:leave lost:lose "
        "paid:pay ran:run saw:see seen:see sent:send shot:shoot spoke:speak spoken:speak "
        "stole:steal stolen:steal told:tell said:say wore:wear grew:grow grown:grow fell:fall "
        "fallen:fall rose:rise risen:rise began:begin begun:begin broke:break broken:break "
        "brought:bring caught:catch came:come fed:feed flew:fly flown:fly forgot:forget got:get "
        "kept:keep laid:lay lay:lie lain:lie put:put read:read set:set shook:shake spent:spend "
        "stood:stand struck:strike swore:swear threw:throw thrown:throw went:go gone:go "
        "overtook:overtake overtaken:overtake owns:own hosts:host"
    )
)
_NO_VERBS = listed("united red bed need seed speed feed indeed hundred kindred sacred breed shed")
BE = listed("is are was were be been being gets got became become becomes")
HAVE = listed("has have had having")


@lru_cache(maxsize=1024)
def pieces(sentence: str) -> tuple[Piece, ...]:
    """The pieces of one sentence, in order."""
    found: list[Piece] = []
    spans = sorted(names(sentence, "en"), key=lambda name: name.start)
    end = 0
    for name in spans:
        if name.start < end:
            continue
        found += map(_piece, _PIECE.findall(sentence[end : name.start]))
        text = sentence[name.start : name.end]
        found.append(Piece("name", text, name.words[-1], frozenset(name.words)))
        end = name.end
    found += map(_piece, _PIECE.findall(sentence[end:]))
    return tuple(found)


@lru_cache(maxsize=512)
def phrased(text: str) -> tuple[tuple[Piece, ...], ...]:
    """The sentences of a text, as pieces."""
    return tuple(pieces(text[each.start : each.end]) for each in sentences(text))


def _piece(text: str) -> Piece:
    folded = text.casefold()
    if not (text[0].isalnum()):
        return Piece("mark", text, text)
    if text[0].isdigit():
        ordinal = _ORDINAL.fullmatch(text)
        if ordinal:
            return Piece("number", text, f"{ordinal[1]}th")
        return Piece("number", text, folded.replace(",", "").rstrip("."))
    if order := ordinal_word(folded):
        return Piece("number", text, f"{order}th")
    if (count := english_number([folded])) is not None:
        return Piece("number", text, f"{count}")
    return Piece("word", text, _stem(folded))


@lru_cache(maxsize=20_000)
def _stem(folded: str) -> str:
    return _IRREGULAR.get(folded) or next(iter(terms(folded)), folded)


def is_verb(piece: Piece) -> bool:
    """True if a word is a verb in the past tense, by its form."""
    folded = piece.text.casefold()
    if piece.kind != "word" or not piece.text.islower():
        return False
    return folded in _IRREGULAR or (
        folded.endswith("ed") and len(folded) > 4 and folded not in _NO_VERBS
    )


def same_name(one: Piece, other: Piece) -> bool:
    """True if two names may be the same: the shorter is part of the longer."""
    return one.words <= other.words or other.words <= one.words
