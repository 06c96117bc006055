"""Detects sentences that give a role to another name than their quote does.

Compared are the name after "by" or directly before a verb, the name after "of" ("mother of Selim"),
and the name at the start of a predicate ("Odinga would become"). A name without a role in the quote
is not reported, nor is a role that the quote gives to a pronoun.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.text.listed import listed
from bot.text.names import ROLES
from bot.text.phrases import BE, HAVE, Piece, is_verb, phrased, pieces, same_name
from bot.text.terms import STOP_WORDS

REACH = 5  # pieces after a verb that are searched for the name it is done to, or from
MIN_SAID = 3  # words of a predicate that make it distinctive
MOST_SAID = 0.75  # share of them in a clause that says the same
_CLAUSE_WORDS = listed("which while whereas although though but where after before because when")
_MODALS = listed("would will could may might must should can did does has had")
_JOINS = listed("and , or &")
_ADVERBS = listed("also then later first originally jointly partly subsequently soon finally never")
_AWAY = listed("from to over against under for with at")
_LABILE = listed(
    "star featur open mov start begin end form chang join marri meet includ play gain win"
)
"""Verbs that the same name may precede and follow: "Ann starred", "the film starred Ann"."""

_ARTICLES = listed("the a an his her its their")
_TITLES = listed(
    "sultan king queen emperor president minister author writer actor actress singer director "
    "chancellor general leader king's city state government"
)
_ALSO_CALLED = listed("known called alias aka née nee born")
_GENERIC = listed(
    "one part member number end time year home city town village state capital member side lot "
    "list name form kind type most some many all version edition north south east west"
)
_KIN = {
    word: group
    for group, words in {
        "parent": "father mother parent parents stepmother stepfather",
        "child": "son daughter child sons daughters children",
        "grandparent": "grandfather grandmother grandparents",
        "grandchild": "grandson granddaughter grandsons granddaughters grandchild",
        "uncle": "uncle aunt",
        "nephew": "nephew niece",
        "sibling": "brother sister siblings half-brother half-sister",
        "cousin": "cousin",
        "student": "student pupil disciple",
        "teacher": "teacher mentor",
    }.items()
    for word in words.split()
}
_INVERSE = {
    frozenset(pair)
    for pair in (
        ("parent", "child"),
        ("grandparent", "grandchild"),
        ("uncle", "nephew"),
        ("uncle", "cousin"),
        ("nephew", "cousin"),
        ("student", "teacher"),
        ("sibling", "parent"),
        ("sibling", "child"),
    )
}


@dataclass(frozen=True, slots=True)
class _Act:
    """A verb with the names of its agents and of its objects."""

    verb: str
    text: str
    doers: tuple[Piece, ...]
    others: tuple[Piece, ...]
    is_by: bool = False


def misplaced(claim: str, quoted: str) -> str:
    """The name in a claim that has the role of another one in the quote, or ""."""
    mine, theirs = pieces(claim), phrased(quoted)
    return (
        _other_doer(mine, theirs)
        or _other_whole(mine, theirs)
        or _other_kin(mine, theirs)
        or _other_subject(mine, theirs)
    )


# ---------------------------------------------------------------- verbs


def _other_doer(mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    there = [act for sentence in theirs for act in _acts(sentence)]
    for act in _acts(mine):
        same = [each for each in there if each.verb == act.verb]
        if not same:
            continue
        doers = [name for each in same for name in each.doers]
        others = [name for each in same for name in each.others]
        for doer in act.doers:
            if _has(doers, doer):
                continue
            if _has(others, doer):
                return f"{doer.text} {act.text}"
            is_told = act.is_by or any(each.is_by for each in same)
            if is_told and all(each.doers for each in same) and _is_named(doer, theirs):
                return f"{doer.text} {act.text}"
        for other in act.others:
            if _has(doers, other) and not _has(others, other):
                return f"{act.text} {other.text}"
    return ""


def _acts(sentence: Sequence[Piece]) -> Iterator[_Act]:
    for at, piece in enumerate(sentence):
        if not is_verb(piece) or piece.key in _LABILE:
            continue
        is_passive = _is_passive(sentence, at)
        behind = _by(sentence, at)
        before = _before(sentence, at)
        if behind:
            yield _Act(piece.key, piece.text, behind, (), is_by=True)
        elif not is_passive:
            yield _Act(piece.key, piece.text, before, _behind(sentence, at))


def _is_passive(sentence: Sequence[Piece], at: int) -> bool:
    for back in range(at - 1, max(-1, at - 4), -1):
        folded = sentence[back].text.casefold()
        if folded in BE:
            return True
        if folded not in _ADVERBS and folded not in ("not", "and") and not is_verb(sentence[back]):
            return False
    return False


def _by(sentence: Sequence[Piece], at: int) -> tuple[Piece, ...]:
    """The names after "by" that belong to a verb: "written and directed by Chor Yuen"."""
    for place in range(at + 1, min(len(sentence), at + 5)):
        piece = sentence[place]
        if piece.text == "by":
            return _listed_names(sentence, place + 1)
        if not (piece.text in _JOINS or is_verb(piece) or piece.text in ("for", "also")):
            return ()
    return ()


def _before(sentence: Sequence[Piece], at: int) -> tuple[Piece, ...]:
    """The names directly before a verb in the active voice."""
    back = at - 1
    while back >= 0 and (sentence[back].text in _ADVERBS or sentence[back].text in HAVE):
        back -= 1
    found: list[Piece] = []
    while back >= 0 and (sentence[back].kind == "name" or sentence[back].text in _JOINS):
        if sentence[back].kind == "name":
            found.append(sentence[back])
        elif not found:
            return ()
        back -= 1
    if back >= 0 and sentence[back].text in ("of", "by", "with", "in", "from", "to", "for", "at"):
        return ()
    return tuple(found)


def _behind(sentence: Sequence[Piece], at: int) -> tuple[Piece, ...]:
    """The names that are the object of a verb, or follow its "from", "over" or "against"."""
    found: list[Piece] = []
    for place in range(at + 1, min(len(sentence), at + 1 + REACH)):
        piece = sentence[place]
        if piece.kind == "name":
            before = sentence[place - 1].text
            if place == at + 1 or before in _AWAY or before in _ARTICLES:
                found += _listed_names(sentence, place)
            break
        if piece.kind == "mark" or piece.text in ("that", "which", "who", "when", "by"):
            break
    return tuple(found)


# ---------------------------------------------------------------- subjects


def _other_subject(mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    """Detect "Kibaki became prime minister" where the quote has "Odinga would become prime
    minister".
    """
    if len(mine) < MIN_SAID or mine[0].kind != "name" or not _is_predicate(mine[1]):
        return ""
    said = {p.key for p in mine[1:] if _is_significant(p)}
    if len(said) < MIN_SAID or any(
        p.kind == "name" and p is not mine[0] and same_name(p, mine[0]) for p in mine
    ):
        return ""
    best = ""
    for sentence in theirs:
        for clause in _clauses(sentence):
            there = {p.key for p in clause if _is_significant(p)}
            if len(said & there) < MOST_SAID * len(said):
                continue
            if any(p.kind == "name" and same_name(p, mine[0]) for p in clause):
                return ""
            subject = _subject(clause)
            if subject is None or not _is_named(mine[0], theirs):
                return ""
            best = mine[0].text
    return best


def _is_predicate(piece: Piece) -> bool:
    return is_verb(piece) or piece.text in BE or piece.text in HAVE


def _is_significant(piece: Piece) -> bool:
    return piece.kind != "mark" and not (
        piece.kind == "word" and piece.text.casefold() in STOP_WORDS
    )


def _clauses(sentence: Sequence[Piece]) -> Iterator[Sequence[Piece]]:
    """A sentence, divided where another clause begins."""
    start = 0
    for at, piece in enumerate(sentence):
        is_new = piece.text == ";" or piece.text.casefold() in _CLAUSE_WORDS
        if is_new and at > start:
            yield sentence[start:at]
            start = at + 1
    yield sentence[start:]


def _subject(clause: Sequence[Piece]) -> Piece | None:
    """The name at the start of a clause, if a verb follows it."""
    for at, piece in enumerate(clause):
        if piece.kind == "name":
            behind = clause[at + 1 : at + 3]
            is_subject = any(_is_predicate(p) or p.text in _MODALS for p in behind)
            return piece if is_subject else None
        if piece.kind != "mark" and piece.text.casefold() not in _ARTICLES:
            return None
    return None


# ---------------------------------------------------------------- "of"


def _other_whole(mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    """Detect "the mother of Suleiman" where the quote has "the mother of Selim"."""
    for noun, owners in _owned(mine):
        if noun in _GENERIC or noun in STOP_WORDS:
            continue
        there = [names for sentence in theirs for other, names in _owned(sentence) if other == noun]
        known = [name for names in there for name in names]
        if (
            not known
            or not owners
            or len(there) != sum(piece.key == noun for sentence in theirs for piece in sentence)
        ):
            continue  # also used without an owner: "his mother"
        first = owners[0]
        if _has(known, first) or _is_alias(first, theirs):
            continue
        if _is_named(first, theirs):
            return f"{noun} of {first.text}"
    return ""


def _other_kin(mine: Sequence[Piece], theirs: Sequence[Sequence[Piece]]) -> str:
    """Detect "the father of George" where the quote has "the son of George"."""
    for noun, owners in _owned(mine):
        kin = _KIN.get(noun)
        if kin is None or not owners:
            continue
        there = {
            _KIN[other]
            for sentence in theirs
            for other, names in _owned(sentence)
            if other in _KIN and names and same_name(names[0], owners[0])
        }
        if there and kin not in there and all(frozenset((kin, t)) in _INVERSE for t in there):
            return f"{noun} of {owners[0].text}"
    return ""


def _owned(sentence: Sequence[Piece]) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    """Nouns with the names they belong to: "daughter of Peter", "Peter's daughter"."""
    for at, piece in enumerate(sentence):
        if (
            piece.kind == "word"
            and at + 2 < len(sentence)
            and sentence[at + 1].text in ("of", "to")
        ):
            place = at + 2
            while place < len(sentence) and _is_before_a_name(sentence[place]):
                place += 1
            if names := _listed_names(sentence, place):
                yield piece.key, names
        rest = sentence[at + 1 : at + 5]
        if piece.kind == "name" and len(rest) > 2 and rest[0].text in "'’" and rest[1].text == "s":
            yield from ((noun.key, (piece,)) for noun in rest[2:4] if noun.kind == "word")


def _is_before_a_name(piece: Piece) -> bool:
    """True for an article, a role and a slash: "the", "actor" and "/"."""
    return piece.text in _ARTICLES or piece.text == "/" or piece.text in ROLES


def _listed_names(sentence: Sequence[Piece], start: int) -> tuple[Piece, ...]:
    """The names of a list that begins at ``start``: "A, B and C"."""
    found: list[Piece] = []
    place = start
    while place < len(sentence) and sentence[place].text in (*_ARTICLES, "both"):
        place += 1
    while place < len(sentence):
        if sentence[place].kind == "name":
            if not _is_epithet(sentence, place):
                found.append(sentence[place])
        elif sentence[place].text == "(":
            while place + 1 < len(sentence) and sentence[place].text != ")":
                place += 1
                if sentence[place].kind == "name":  # its short form
                    found.append(sentence[place])
        elif sentence[place].text not in _JOINS and sentence[place].text != "-":
            break
        place += 1
    return tuple(found)


def _is_epithet(sentence: Sequence[Piece], at: int) -> bool:
    """True if a name only specifies the next word: "the Ottoman sultan"."""
    behind = sentence[at + 1] if at + 1 < len(sentence) else None
    if behind is None or behind.kind != "word" or behind.text in STOP_WORDS:
        return False
    return behind.text in _TITLES


def _has(known: Sequence[Piece], name: Piece) -> bool:
    return any(same_name(name, each) for each in known)


def _is_alias(name: Piece, theirs: Sequence[Sequence[Piece]]) -> bool:
    """True if the quote gives a name as an alias or as part of a title."""
    for sentence in theirs:
        for at, piece in enumerate(sentence):
            if piece.kind != "name" or not same_name(name, piece):
                continue
            before = {each.text.casefold() for each in sentence[max(0, at - 4) : at]}
            is_titled = any(
                p.kind == "number" and p.key.endswith("th") for p in sentence[max(0, at - 3) : at]
            )
            if is_titled or not before.isdisjoint(_ALSO_CALLED):
                return True
    return False


def _is_named(name: Piece, theirs: Sequence[Sequence[Piece]]) -> bool:
    return any(
        piece.kind == "name" and same_name(name, piece) for sentence in theirs for piece in sentence
    )
