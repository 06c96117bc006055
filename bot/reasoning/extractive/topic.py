"""Finds the topic of an English question, and whether a follow-up names it itself, without a model.
English; no model.

A follow-up shows by its words that it leans on what was said: by a pronoun ("Is it treatable?"),
by its opening ("What about ...", "Why?"), or by naming a part or property of something without
the thing ("What are the causes?"). What a question is about is told by the words before a noun
phrase: articles and prepositions stand before what is talked about, auxiliaries before what it
does (a light version of the noun phrases of Grosz, Joshi and Weinstein's centering, Computational
Linguistics 21(2), 1995, without a parser).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bot.text.listed import listed
from bot.text.terms import STOP_WORDS, fold, terms

Lean = Literal["none", "pronoun", "opening", "part"]
"""How a message leans on the conversation: not at all, or by what."""

FEW = 2  # content words with which a message hardly names its own topic
LONG = 400  # characters with which it surely does

_TOKEN = re.compile(r"[^\W_](?:\w|['’.&/-](?=\w))*|[^\w\s]")

_PRONOUNS = listed("it it's they they're them their theirs he he's him his she she's her hers its")
_PERSONAL = listed("he he's him his she she's her hers")
POSSESSIVES = listed("its their theirs his hers")
_POINTING = listed("this that these those such")
_SUBSTITUTES = listed("one ones else another same others")

_JUDGED = (
    "true|possible|legal|safe|ok|okay|necessary|important|better|worth|healthy|normal|bad|good|"
    "hard|easy|wise|common|ethical"
)
_EMPTY_IT = re.compile(
    r"\bit (?:take|takes|took|rain|rains|snow|snows)\b"
    rf"|\b(?:is|was) it (?:\w+ )?(?:{_JUDGED}) (?:to|that|for|if)\b"
    r"|\bit (?:is|was) (?:\w+ ){1,2}(?:to|that)\b|\bdoes it mean\b",
    re.IGNORECASE,
)
"""An "it" that stands for nothing: "How long does it take to ...", "Is it safe to ..."."""

_CODE_OR_EMPTY_IT = re.compile(rf"`[^`]*`|{_EMPTY_IT.pattern}", re.IGNORECASE)
_INTERJECTIONS = "interesting|ok|okay|great|thanks|cool|wow|so|and|but|or|also|now|then|hm+"
_INTERJECTED = rf"^\W*(?:(?:{_INTERJECTIONS})\b\W*)*"
_ASKING = "what|how|when|where|who|why|which|is|are|was|were|does|did|do"
_PLACING = "in|on|at|for|with|the|before|after|since|during"
_OPENING = re.compile(
    rf"{_INTERJECTED}(?:what about|how about|what of|what else|how so|what if|more (?:about|on)"
    r"|go on|(?:any|some) more|(?:can you )?tell me more\W*$|(?:why|how) (?:not|come)\b\W*$"
    r"|(?:why|how|when|where|who|really)\b\W*$)"
    rf"|^\W*(?:and|but|or) (?:{_ASKING}|{_PLACING})\b",
    re.IGNORECASE,
)
_OPENING_WORDS = re.compile(
    rf"^\W*(?:(?:{_INTERJECTIONS}|what about|how about|what of)\b\W*)+", re.IGNORECASE
)
_DEFINING = re.compile(
    r"^\W*(?:(?:tell me|explain|describe)(?: more)?(?: about)?|what(?:'s| is| are| was| were)"
    r"|who(?:'s| is| are| was| were)|define|what does) "
    r"(?!(?:an? )?(?:the|some|other|good|typical|common|popular|important|main|key|similar)\b)"
    r"(?:an? )?[\w'-]+(?: [\w'-]+){0,2}\W*$",
    re.IGNORECASE,
)
"""Asks what something is, and so names it: "What is anemia?", "Tell me about lung cancer."."""

_THERE = re.compile(r"\bthere\b(?! (?:is|are|was|were|any|a|an|been)\b)", re.IGNORECASE)
_THERE_IS = re.compile(r"\b(?:is|are|was|were|be|been|will|has|have) there\b", re.IGNORECASE)
_ANY = re.compile(r"^(?:are|is|were|was) there (?:any|some|a|other)\b", re.IGNORECASE)

# Nouns for a part or property: without "of ..." they lean on the thing they belong to.
_PARTS = listed(
    "type types kind kinds cause causes symptom symptoms treatment treatments effect effects "
    "benefit benefits advantage advantages disadvantage disadvantages pros cons difference "
    "differences similarity similarities history origin origins roots cost costs price prices "
    "example examples reason reasons purpose role roles function functions components feature "
    "features characteristic characteristics risk risks danger dangers sign signs stage stages "
    "method methods population capital founder founders author authors director producer members "
    "meaning definition impact impacts influence influences consequences result results outcome "
    "evidence argument arguments theme themes character characters plot ending rules requirements "
    "version versions variant variants alternative alternatives competitor competitors theory "
    "theories findings problem problems issues solution solutions factor factors steps source "
    "sources ingredients diet habitat test tests cure cures rate rates criticism awards success "
    "importance significance structure design conditions goal goals strategies opportunities"
)
_BETWEEN_TWO = listed(
    "role roles impact impacts importance influence influences significance evidence result results"
)
"""Parts that belong to two things: "the role of slavery" is still one in something."""
_BINDING = listed("of in for between on to about from with at that who which whose by against")
_ADJECTIVES = listed(
    "main key major important famous popular best worst biggest largest oldest newest first last "
    "current next other different various common possible typical good similar interesting short "
    "long long-term short-term side negative positive recent new many"
)
_RANKING = listed(
    "main key major important best worst biggest largest oldest newest youngest first last current "
    "next other different various possible typical interesting similar successful smart"
)
_GENERAL = (
    _PARTS
    | _ADJECTIVES
    | listed(
        "thing things fact facts information way ways people something anything everything details "
        "article articles time times year years day days lot relationship side term "
        "terms kind sort idea ideas someone anyone everyone part parts issue question topic "
        "subject example"
    )
)
_VERBS = listed(
    "differ differs affect affects affected cause causes caused work works worked happen happens "
    "happened use used uses using mean means meant become became make makes made making cost costs "
    "treat treated fix fixed spread help helps helped describe explain compare compared know known "
    "learn learned find found go going come came get gets getting take takes took look looks like "
    "need needs want wants start started stop stopped begin began end ended change changed choose "
    "chosen live lived eat eats drink die died kill killed grow grown build built invented created "
    "considered called named held say said see seen think thought believe play played plays won "
    "lose lost buy sell bought sold run runs ran try tried keep become compare discuss enabled "
    "influenced founded famous good bad important different write writes wrote "
    "written direct directed compose composed sing sung sang speak spoken publish published win "
    "move moved join joined leave left pay paid open opened close closed"
)
_SEPARATING = STOP_WORDS | listed(
    "around near like tell describe explain originally away how's what's"
)
_AUXILIARIES = listed("did does do can could will would should has have had may might must")
_SUBJECT_FOLLOWS = listed("is are was were do does did")
_BEFORE_NOUNS = listed(
    "the a an of about in on for with from to by between is are was were does do did your my our "
    "and or than versus vs as at into during"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase with its "the", and how likely it is what the question is about."""

    text: str
    weight: float


# ---------------------------------------------------------------- leaning


def lean(message: str, topic: str) -> Lean:
    """The way a message refers to a conversation about ``topic``."""
    if len(message) > LONG:
        return "none"
    words = [fold(match.group()) for match in _TOKEN.finditer(message)]
    if _OPENING.match(message) or not _with_content(words):
        return "opening"
    if _has_pronoun(message, words):
        return "pronoun"
    if _EMPTY_IT.search(message):
        return "none"
    about = [term for term in terms(topic) if term not in STOP_WORDS]
    said = frozenset(terms(message))
    if about and not said.issuperset(about) and about[-1] in _pointed_at(words):
        return "part"  # "the experiment", of the Stanford Experiment
    if not said.isdisjoint(about) or _has_name(message) or _DEFINING.match(message):
        return "none"
    return "part" if _is_part(message, words) else "none"


def pronoun(message: str) -> re.Match[str] | None:
    """The first pronoun of a message that can stand for its topic."""
    meant = _without_empty_it(message)
    return next((m for m in _TOKEN.finditer(meant) if fold(m.group()) in _PRONOUNS), None)


def is_personal(message: str) -> bool:
    """Whether a message speaks of "he" or "she"."""
    return any(fold(match.group()) in _PERSONAL for match in _TOKEN.finditer(message))


def without_opening(message: str) -> str:
    """The rest of "And what about Mars?": Mars."""
    return _OPENING_WORDS.sub("", message.strip()).rstrip(" ?!.")


def _without_empty_it(message: str) -> str:
    """A message of the same length without code and without an "it" that stands for nothing."""
    return _CODE_OR_EMPTY_IT.sub(lambda match: "_" * len(match.group()), message)


def _with_content(words: list[str]) -> list[str]:
    return [word for word in words if word[:1].isalnum() and word not in STOP_WORDS]


def _has_pronoun(message: str, words: list[str]) -> bool:
    """Whether a message has a pronoun that it does not itself say the meaning of."""
    if not pronoun(message):
        words = [word for word in words if word not in _PRONOUNS]
    for at, word in enumerate(words):
        before = words[at - 1 : at]
        if word in _PRONOUNS and not _is_named_in(words[:at]):
            return True
        is_relative = word == "that" and bool(_with_content(before))  # the thing that ...
        if word in _POINTING and not is_relative and not _is_named_in(words[:at]):
            return True
        is_explained = words[at + 1 : at + 2] == ["of"] or (word == "same" and "as" in words[at:])
        if word in _SUBSTITUTES and not is_explained:
            return True
    return _THERE.search(message) is not None and not _THERE_IS.search(message)


def _pointed_at(words: list[str]) -> set[str]:
    """The terms of words right after "the", "this" or "that"."""
    return {
        term
        for before, word in pairwise(words)
        if before in _POINTING or before == "the"
        for term in terms(word)
    }


def _is_named_in(words: list[str]) -> bool:
    """Whether an earlier clause of the same message names something: "What is X, and is it ...".

    ``words`` are those before a pronoun.
    """
    breaks = [at for at, word in enumerate(words) if word in (",", "and", "if", "when", ".", "?")]
    clause = words[: breaks[-1]] if breaks else []
    return bool(_specific(clause))


def _has_name(message: str) -> bool:
    """Whether a message has a capitalized word beside its first."""
    words = [match.group() for match in _TOKEN.finditer(message) if match.group()[0].isalpha()]
    return any(word[:1].isupper() and not re.match(r"I(?:['’]|$)", word) for word in words[1:])


def _is_part(message: str, words: list[str]) -> bool:
    """Whether a message names a part, a property or a known thing without saying of what."""
    if _says_of_what(words):
        return False
    if _ANY.match(message) or (len(_specific(words)) <= FEW and not _has_subject(words)):
        return True
    for at, word in enumerate(words):
        following = words[at + 1 : at + 2]
        is_bound = _BINDING.intersection(following) or _with_content(following)
        if word in _PARTS and not is_bound and not _is_own(words[:at]):
            return True
        if word == "the" and _is_unbound(words[at + 1 :]):
            return True
    return False


def _says_of_what(words: list[str]) -> bool:
    """Whether a part says what it belongs to: "symptoms of anemia", "a relation between ..."."""
    return any(
        part in _PARTS and part not in _BETWEEN_TWO and of in ("of", "between") and _specific(thing)
        for part, of, thing in (
            (w, words[i + 1], words[i + 2 : i + 3]) for i, w in enumerate(words[:-2])
        )
    )


def _is_own(before: list[str]) -> bool:
    """Whether the words before a part say of what: "conflict theory", "its causes"."""
    last = before[-1] if before else ""
    return last in POSSESSIVES or bool(_specific(before[-1:]))


def _has_subject(words: list[str]) -> bool:
    """Whether a noun stands right after a form of be or do: "How is cassoulet made?"."""
    return any(before in _SUBJECT_FOLLOWS and _specific([word]) for before, word in pairwise(words))


def _specific(words: list[str]) -> list[str]:
    """The words that can name a topic."""
    return [w for w in _with_content(words) if w not in _GENERAL and w not in _VERBS]


def _is_unbound(words: list[str]) -> bool:
    """Whether what follows "the" ends without an "of ...": "the system", "the largest ever"."""
    for at, word in enumerate(words):
        if word in _BINDING:
            return False
        if not word[:1].isalnum() or (at and word in STOP_WORDS):
            return at > 0
    return bool(words)


# ---------------------------------------------------------------- phrases


def phrases(question: str) -> list[Phrase]:
    """The noun phrases of a question, the likeliest topic first."""
    return sorted(_phrases(question), key=lambda phrase: -phrase.weight)


def _phrases(question: str) -> Iterator[Phrase]:
    """Runs of words that are neither function words nor verbs."""
    run: list[re.Match[str]] = []
    before = previous = ""
    for match in _TOKEN.finditer(question):
        word = fold(match.group())
        is_verb = word in _VERBS and match.group().islower()
        if word[:1].isalnum() and word not in _SEPARATING and not is_verb:
            before = before if run else previous
            run.append(match)
        else:
            yield from _phrase(question, run, before, word)
            run = []
        previous = word
    yield from _phrase(question, run, before, "")


def _phrase(question: str, run: list[re.Match[str]], before: str, after: str) -> Iterator[Phrase]:
    """The phrase in a run of words, without what is no part of it, and its weight."""
    run = run[:]
    while run and fold(run[0].group()) in _RANKING:
        run.pop(0)
    if run and before in _AUXILIARIES and run[0].group()[0].isupper():
        named = next((at for at, m in enumerate(run) if not m.group()[0].isupper()), len(run))
        run = run[:named]  # "did Netflix shift": the verb is no part of the name
    while len(run) > 1 and run[-1].group().islower() and run[-1].group().endswith("ed"):
        run.pop()
    if not run:
        return
    text = question[run[0].start() : run[-1].end()]
    words = [match.group() for match in run]
    is_first = not before
    weight = 0.5 * min(3, len(words))
    weight += 2.0 if any(word[:1].isupper() for word in words[is_first:]) else 0.0
    weight += 1.0 if before in _BEFORE_NOUNS else 0.0
    weight += 1.0 if before in ("of", "about") else 0.0
    weight += 1.0 if text.endswith(("'s", "’s")) else 0.0
    weight -= 2.5 if all(fold(word) in _GENERAL for word in words) else 0.0
    weight -= 1.0 if len(words) == 1 and re.fullmatch("[a-z]+(?:ing|ed|ly)", text) else 0.0
    weight -= 5.0 if after == "!" else 0.0
    article = "the " if before == "the" else ""
    yield Phrase(article + re.sub(r"['’]s?$", "", text), weight)
