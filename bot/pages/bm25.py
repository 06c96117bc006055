"""Scores passages by how well they answer a question, taking their context into account.

BM25 with weighted fields (Robertson, Zaragoza and Taylor, Simple BM25 Extension to Multiple
Weighted Fields, CIKM 2004): a word in the passage counts once, one in its headings, in the page's
title or in the neighbouring passages counts for less. Without the neighbours, a short passage would
score low because a word happens to be a line above it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

from bot.text.language import detect
from bot.text.patterns import listed
from bot.text.terms import STOP_WORDS, content_words, has_cjk, keywords, terms

# Weights relative to an occurrence in the passage itself.
IN_HEADING, IN_TITLE = 1.0, 0.7
BESIDE = (0.35, 0.15)  # in the passage before or after; in the next one
MOST_BESIDE = 2  # occurrences that count in a neighbouring passage

NOMINAL = 80  # terms of a passage of usual length; only longer ones are penalised
B = 0.6  # how much: with 0 not at all, with 1 in proportion to their length
K1 = 1.2  # Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009: usual value
FEW = 0.3  # factor for words in no document, if there are few documents
FEW_PASSAGES = 5.0  # rarity of such a word among 75 passages
EVERYDAY = 0.3  # factor for words that may occur in any question

_EVERYDAY = frozenset(
    term
    for word in listed(
        "mean means meaning work works happen happens use uses used using need needs needed want "
        "wants possible possibly way ways difference differences different differ between example "
        "examples kind kinds type types sort purpose reason explain describe show shows find get "
        "gets getting make makes making set exactly actually currently normally usually simply "
        "thing things something someone anything anyone people person know right wrong good bad "
        "better best big large small long short high low new old first last next every never "
        "always often soon late early quick quickly slow fast easy hard try tries tried trying "
        "look looks like put puts take takes took taken keep keeps kept let lets go goes going "
        "went come comes came say says said see sees seen stop stops stopped start starts started "
        "help helps call called ask asks asked think believe seem seems allow allows allowed "
        "without another whole entire enough able unable instead around really correct correctly "
        "properly specify specified specific certain give given gives tell tells told add adds "
        "added adding change changes changed turn turned handle handles answer question problem "
        "issue whatever anymore already once twice two three several course sure maybe perhaps "
        "vs versus compare compared want wanted trouble accident today nowadays please thanks hello"
    )
    for term in terms(word)
)
_FUNCTION_WORDS = {
    language: frozenset(term for word in words.split() for term in terms(word))
    for language, words in {
        "de": (
            "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein "
            "keine ist sind war waren wird werden wurde hat haben kann können darf dürfen muss "
            "müssen soll sollen will ich du er sie es wir ihr man mir mich uns mein meine unser "
            "unsere sich wer wen wem was wann wo wohin woher wie warum wieso welche welcher "
            "welches wieviel viel viele hoch lange oft für mit von zu zum zur im in am an auf aus "
            "bei nach vor über unter durch um bis ohne gegen wenn dass ob auch noch nur schon "
            "sehr so da hier dort gibt geht macht als"
        ),
        "fr": (
            "le la les un une des du de d l et ou mais ne pas est sont était a ont peut doit faut "
            "je tu il elle on nous vous ils elles mon ma mes son sa ses notre nos votre vos ce "
            "cette ces se qui que quoi quand où comment combien pourquoi quel quelle quels "
            "quelles est-ce à au aux en dans par pour sur avec sans sous entre y si plus très "
            "aussi"
        ),
        "es": (
            "el la los las un una unos unas de del y o pero no es son era hay ha han puede pueden "
            "debe deben yo tú él ella nosotros ellos mi mis su sus nuestro que quién cuándo dónde "
            "cómo cuánto cuánta cuántos cuántas cuál cuáles por para con sin en a al se si más "
            "muy también qué"
        ),
        "it": (
            "il lo la i gli le un uno una di del della dei e o ma non è sono era ha hanno può "
            "possono deve devono io mio mia nostro suo che chi quando dove come quanto quanta "
            "quanti quante quale quali perché a al in per con su da si se più molto anche"
        ),
        "nl": (
            "de het een en of maar niet geen is zijn was heeft hebben kan kunnen mag moet moeten "
            "ik je wij we mijn ons onze wie wat wanneer waar hoe waarom welke welk hoeveel voor "
            "met van naar in op aan bij uit over door om als dat ook nog er"
        ),
        "pt": (
            "o a os as um uma de do da dos das e ou mas não é são era há tem têm pode podem deve "
            "eu meu minha nosso seu sua que quem quando onde como quanto quanta quantos quantas "
            "qual quais por para com sem em no na se mais muito também"
        ),
    }.items()
}
"""Words of any question in other languages; the English ones are no keywords."""

_COMMON_CHARACTERS = frozenset(
    "的了在是和与或及我你您他她它这那哪些该几多少里上下中外前后时会有能要还又把被让给吗呢吧啊就都也很最更再才只不没"
    "为以于从到向对用使写说做装怎么什如何个条种样之其而且但若所者得着过来去出"
)
"""Chinese characters that are mostly one-character words or carry little meaning, and rarely form a
term with a neighbouring character.
"""
_EXAMPLE = re.compile(r"\d+")


def idf(found: int, texts: int) -> float:
    """BM25's inverse document frequency of a word that ``found`` of ``texts`` have, at least 0."""
    return math.log(1 + (texts - found + 0.5) / (found + 0.5))


def weigh(question: str, rarity: Mapping[str, float]) -> dict[str, float]:
    """The weights of a question's terms: their rarity, reduced for everyday words.

    ``rarity`` is that of ``bot.search.provider.Lexicon``. A term missing from it, because another
    question was searched for, gets the average. Empty if none of the terms is in it.
    """
    wanted = keywords(question)
    asked = [rarity[term] for term in wanted if term in rarity]
    if not asked:
        return {}
    average = sum(asked) / len(asked)
    few = FEW if rarity[""] < FEW_PASSAGES else 1.0
    function_words = _FUNCTION_WORDS.get(detect(question), frozenset())
    known = frozenset(term for term in wanted if not is_unknown(term, rarity))
    weights = {
        term: rarity.get(term, average)
        * (1.0 if term in known else few)
        * (EVERYDAY if term in function_words or _is_everyday(term, known) else 1.0)
        for term in wanted
        if term in known or not _crosses_words(term, known)
    }
    # single CJK characters are in the index only between other scripts
    return {term: w for term, w in weights.items() if len(term) > 1 or not has_cjk(term)} or weights


def asked_words(question: str) -> list[str]:
    """The content words of a question without the function words of its language; all if it has no
    others."""
    function_words = _FUNCTION_WORDS.get(detect(question), frozenset()) | STOP_WORDS
    words = content_words(question)
    return [word for word in words if not function_words.issuperset(terms(word))] or words


def is_everyday(word: str) -> bool:
    """True for a word that may occur in any question."""
    return _EVERYDAY.issuperset(terms(word))


def is_unknown(term: str, rarity: Mapping[str, float]) -> bool:
    """True if none of the searched documents contains a term; False if unknown."""
    return term in rarity and rarity[term] >= rarity[""]


def _is_everyday(term: str, known: Collection[str]) -> bool:
    """True if a term says little about a question's topic: an everyday word, a number from an
    example that no text contains, or a pair with a common one-character word.
    """
    if term in _EVERYDAY or not _COMMON_CHARACTERS.isdisjoint(term):
        return True
    return term not in known and _EXAMPLE.fullmatch(term) is not None


def _crosses_words(term: str, known: Collection[str]) -> bool:
    """True if a pair of CJK characters spans a word boundary: it overlaps with a known word ("件还"
    in "文件还在"), or one of its characters is a common one-character word.
    """
    if not has_cjk(term) or len(term) != 2:
        return False
    if not _COMMON_CHARACTERS.isdisjoint(term):
        return True
    return any(other[-1] == term[0] or other[0] == term[1] for other in known if len(other) == 2)


def relevance(
    weights: Mapping[str, float],
    counts: Sequence[Mapping[str, int]],
    lengths: Sequence[int],
    headings: Sequence[Collection[str]],
    title: Collection[str] = (),
) -> list[float]:
    """The score of each passage of a page; 0 if no word of the question is in or near it.

    For each passage, in page order: ``counts`` has the number of occurrences of each weighted term
    and of related ones, ``lengths`` the number of its terms, and ``headings`` the terms of the
    headings above it. ``title`` has the terms of the page's title.
    """
    return [
        relevance_at(place, weights, counts, length, headed, title)
        for place, (length, headed) in enumerate(zip(lengths, headings, strict=True))
    ]


def relevance_at(
    place: int,
    weights: Mapping[str, float],
    counts: Sequence[Mapping[str, int]],
    length: int,
    headed: Collection[str],
    title: Collection[str] = (),
) -> float:
    """The score of the passage at one place: see ``relevance``; ``counts`` may have its neighbours
    only."""
    own = counts[place]
    beside = [
        (share, counts[other])
        for distance, share in enumerate(BESIDE, 1)
        for other in (place - distance, place + distance)
        if 0 <= other < len(counts)
    ]
    k = K1 * (1 - B + B * max(1.0, length / NOMINAL))
    score = 0.0
    for term, weight in weights.items():
        frequency = float(own.get(term, 0))
        for share, near in beside:
            if term in near:
                frequency += share * min(near[term], MOST_BESIDE)
        frequency += IN_HEADING * (term in headed) + IN_TITLE * (term in title)
        score += weight * frequency * (K1 + 1) / (frequency + k)
    return score
