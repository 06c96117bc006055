"""Word knowledge of the extractive reasoner: names in a question, and words of relations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from bot.text.listed import listed
from bot.text.names import names
from bot.text.sentences import sentences
from bot.text.terms import STOP_WORDS, fold, has_cjk, keywords, terms

# ---------------------------------------------------------------- names in a question

_QUOTED = re.compile(r"[\"“《「『]([^\"”》」』\n]{1,80})[\"”》」』]")
_TOKEN = re.compile(r"[^\W_](?:[\w]|['’.&-](?=\w))*|[^\w\s]")
_JOINING = listed(
    "of the de da do dos das no na del della di du des van von der den la le les el al and with in "
    "for a an to on at by & y e et , :"
)
_LONGEST_JOINT = 2  # words without a capital within a name: "Girl Who Kicked the Hornets' Nest"
_POSSESSIVE = re.compile(r"['’]s?$")


def named(question: str) -> list[str]:
    """Return the names in a question: quoted titles and runs of capitalized words, longest first.

    Titles may contain small words and commas ("Songs I Wrote with Amy"), so each run is returned
    whole and in parts.
    """
    found = [match.group(1).strip(" ,.?!") for match in _QUOTED.finditer(question)]
    tokens = list(_TOKEN.finditer(question))
    at = 0
    while at < len(tokens):
        if not _opens(tokens, at):
            at += 1
            continue
        last = _last_of_run(tokens, at)
        found.append(_written(question, tokens, at, last))
        parts = _parts(question, tokens, at, last)
        found += parts if len(parts) > 1 else []
        at = last + 1
    return [name for name in dict.fromkeys(found) if name and fold(name) not in STOP_WORDS]


def _is_capital(token: re.Match[str]) -> bool:
    return token.group()[0].isupper() or token.group()[0].isdigit()


def _opens(tokens: list[re.Match[str]], at: int) -> bool:
    """Return True if a name begins here: a capital, but not of a sentence's first word; not a lone
    number."""
    word = tokens[at].group()
    if word[0].isdigit():
        return at + 1 < len(tokens) and tokens[at + 1].group()[0].isupper()
    if at == 0 and fold(word).replace("'s", "") in STOP_WORDS:
        return False
    return word[0].isupper()


def _last_of_run(tokens: list[re.Match[str]], first: int) -> int:
    last = at = first
    while at + 1 < len(tokens):
        following = tokens[at + 1]
        if _is_capital(following):
            at += 1
            last = at
        elif following.group().casefold() in _JOINING and at + 1 - last <= _LONGEST_JOINT:
            at += 1
        else:
            break
    return last


def _parts(question: str, tokens: list[re.Match[str]], first: int, last: int) -> list[str]:
    parts = []
    at = first
    while at <= last:
        if not _is_capital(tokens[at]):
            at += 1
            continue
        end = at
        while end < last and not _POSSESSIVE.search(tokens[end].group()):
            if _is_capital(tokens[end + 1]):
                end += 1
            elif (
                tokens[end + 1].group() == "of" and end + 2 <= last and _is_capital(tokens[end + 2])
            ):
                end += 2
            else:
                break
        parts.append(_written(question, tokens, at, end))
        at = end + 1
    return parts


def _written(question: str, tokens: list[re.Match[str]], first: int, last: int) -> str:
    return _POSSESSIVE.sub("", question[tokens[first].start() : tokens[last].end()])


# ---------------------------------------------------------------- titles

_DISAMBIGUATION = re.compile(r"(?:(?<!\s)\s++)?[(（][^()（）]*[)）]$")


@lru_cache(maxsize=20_000)
def term_tuple(text: str) -> tuple[str, ...]:
    """Return ``terms``, cached: the same snippets are examined every turn."""
    return tuple(terms(text))


@lru_cache(maxsize=20_000)
def name_terms(text: str) -> frozenset[str]:
    """Return the terms of all names in a text."""
    return frozenset(
        term for name in names(text, "en") for word in name.words for term in terms(word)
    )


def title_terms(title: str) -> tuple[str, ...]:
    """Return the terms of a title without its disambiguation: Brand (play)."""
    return term_tuple(_DISAMBIGUATION.sub("", title))


def holds(terms_of_text: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Return True if ``wanted`` occurs consecutively."""
    size = len(wanted)
    if not size or wanted[0] not in terms_of_text:
        return False
    return any(terms_of_text[i : i + size] == wanted for i in range(len(terms_of_text) - size + 1))


def mentions(question: str, title: str) -> float:
    """Return the certainty that a question names the page with this title, from 0 to 1.

    The question must contain the title's words consecutively; a single word must be capitalized
    too, so that "country" does not name the page Country.
    """
    wanted = title_terms(title)
    if not holds(term_tuple(question), wanted) or all(term in STOP_WORDS for term in wanted):
        return 0.0
    if has_cjk(title):
        return 1.0 if len("".join(wanted)) > 1 else 0.5
    first = re.search(r"[^\W_]+", title)
    if first is None or first.group() not in question:
        return 0.6 if len(wanted) > 1 else 0.0
    return 1.0 if first.group()[0].isupper() or first.group()[0].isdigit() else 0.0


# ---------------------------------------------------------------- relations

_RELATIONS = {
    "performer singer artist band musician": "performed recorded sung singer band by album song "
    "single musician group released performer artist",
    "author writer": "author written wrote by novel book writer play poem",
    "director": "directed director by film",
    "producer": "produced producer by",
    "composer": "composed composer by opera music ballet",
    "creator founder developer designer architect inventor": "created creator founded founder "
    "developed developer designed designer architect invented by",
    "publisher": "published publisher by",
    "born birthplace birth": "born birth native",
    "died death": "died death buried",
    "spouse wife husband married": "married wife husband spouse",
    "mother father parent mothered": "mother father son daughter",
    "child son daughter children": "son daughter child children",
    "sibling brother sister": "brother sister sibling",
    "located location situated": "in located near lies",
    "country nation state city county district region continent": "in country republic nation "
    "state city capital town county district province region continent",
    "citizen citizenship nationality": "citizen nationality born",
    "team club": "played plays club team",
    "headquartered headquarters based": "headquartered headquarters based",
    "alma mater educated attended attend school": "graduated attended university college school",
    "played plays actor actress stars": "played plays starring portrayed role actor",
    "label record": "records label",
    "language": "language speak spoken",
    "owned owner owns": "owned owner subsidiary",
}
"""Words with which a question asks for a relation → words with which a page states it."""

TELLING = {
    asked: frozenset(term for word in telling.split() for term in terms(word))
    for asking, telling in _RELATIONS.items()
    for word in asking.split()
    for asked in terms(word)
}
"""The same table, by terms."""

PLACEHOLDERS = frozenset(
    terms(
        "country state city county town village place location area region district continent "
        "nation province located born birthplace birth died name named called person people "
        "performer singer author writer director producer composer spouse citizen kind type part "
        "instance term"
    )
)
"""Terms that stand for an unknown name in a question: they find little by themselves."""


# ---------------------------------------------------------------- questions by relation

RARE = 0.5  # share of the maximum weight that a word must have to name the question's subject

_PROPER = re.compile(r"(?<=[^\s.?!])\s+[\"“'(]*(?-i:[A-Z][a-zà-ÿ]{1,})(?![\w.]*[_\d(.])|[\"“]\w+")
"""A capitalized word that is neither a sentence's first nor an identifier, or a quoted title."""
_RELATIVE = re.compile(
    r"\w\s+(?:who|whom|whose|which|that|where|same)\b|\b(?:of|by) (?:the )?\w+ of\b"
)
_RELATION_OF_RELATION = re.compile(
    "(?<=[^，。？的]{2})的[^，。？的]++的|(?:の[^、。？の]++){2}|의 [^?의]+의 "
)


def asks_by_relation(question: str, rarity: Mapping[str, float] | None = None) -> bool:
    """Return True if a question names something and asks for another thing by its relation to it.

    "Who leads the country where Buyende lies?" does, and names on Buyende's page are leads. Most
    questions about documentation do not: names on the pages found would lead away from them. If
    ``rarity`` is known, a name that many documents have (the product's own) does not count.
    """
    if has_cjk(question):
        return _RELATION_OF_RELATION.search(question) is not None
    relates = any(t in TELLING or t in PLACEHOLDERS for t in keywords(question))
    is_clause = _RELATIVE.search(question) is not None
    least = RARE * (rarity or {}).get("", 0.0)
    is_named = any(
        (rarity or {}).get(term, least) >= least
        for match in _PROPER.finditer(question)
        for term in terms(match.group())[:1]
    )
    return (relates and is_clause) or (is_named and (relates or is_clause))


CLOSE_WORDS = 4
IS_TITLE, IN_THE_TITLE, IN_SNIPPET = 1.0, 0.8, 0.55  # where a hit has the lead's name
_CODE = re.compile(r"(?<!`)(`{1,20}+)(?!`)(?:(?!\1).)+?\1(?!`)|(?<![^\W_])[^\W_]++_\w+", re.DOTALL)
"""Code spans, fenced blocks and words written like variables: their capitals are not names."""


@lru_cache(maxsize=4_000)
def sentences_of(text: str) -> tuple[tuple[str, str], ...]:
    """Return the sentences of a text, each as written and with its code blanked."""
    prose = _CODE.sub(lambda code: " " * len(code.group()), text)
    return tuple((text[s.start : s.end], prose[s.start : s.end]) for s in sentences(text))


@lru_cache(maxsize=4_000)
def names_of(sentence: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names in a sentence, each with the last words before it."""
    return tuple(
        (
            re.sub(r"\s+", " ", sentence[name.start : name.end].strip(".")),
            term_tuple(sentence[max(0, name.start - 40) : name.start])[-CLOSE_WORDS:],
        )
        for name in names(sentence, "en")
    )


def prominence(name: tuple[str, ...], title: str, texts: Sequence[str]) -> float:
    """The prominence of a name on a page: as its title, in its title, in its text, or 0.0."""
    if name == title_terms(title):
        return IS_TITLE
    if holds(term_tuple(title), name):
        return IN_THE_TITLE
    return IN_SNIPPET if any(holds(term_tuple(text), name) for text in texts) else 0.0
