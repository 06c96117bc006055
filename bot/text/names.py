"""Finds names in a sentence, and checks whether a text contains them.

A name is a run of capitalized words, an abbreviation or a model number, and in Chinese, Japanese
and Korean a quoted title or a transliteration with middle dots. No dictionary is used: the decision
depends on position, the surrounding words, and lists of words that are capitalized without being a
name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.text.patterns import listed
from bot.text.sentences import ABBREVIATED_TITLES, BEGINNERS
from bot.text.terms import STOP_WORDS, fold, has_cjk, terms


@dataclass(frozen=True, slots=True)
class Name:
    """The name at ``text[start:end]``; ``words`` are those that a text must contain, folded."""

    start: int
    end: int
    words: tuple[str, ...]


_LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u04ff\u1e00-\u1eff"
_TOKEN = re.compile(  # letters directly after a digit are a unit or part of a code: "5GHz"
    rf"(?<![{_LETTER}0-9])"
    rf"(?:(?:[{_LETTER}]\.){{2,}}|[{_LETTER}](?:[{_LETTER}0-9]|['’.&-](?=[{_LETTER}0-9]))*)"
)
_WORD = re.compile(rf"[{_LETTER}0-9]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z\u00e0-\u00ff])[A-Z]")
_JOINED = re.compile(r"[ \u00a0]{1,2}|\. ")
_BEGINS = re.compile(r"(?:^|[:;!?。：；]|\.\s|[-*•|>#]\s|[\"“‘«(\[「『])[\s*_\"“‘«(\[]{0,8}$")
_CONNECTORS = listed(
    "of the de da do dos das del della di du des van von der den ten ter zu zur la le les el al "
    "bin ibn y e et för och"
)
_ORDER = re.compile(r"[IVX]{1,5}")  # World War II is also the Second World War
_QUALIFIER = re.compile(r"(?:(?<!\s)\s++)?\([^()]*+\)\s*+")  # "(song)", "(near Pleasant Plains)"
_ARTICLES = frozenset({"the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los"})
_CAPITAL_NEXT = re.compile(r" [^\W\d_a-z]\w*")
_CAPITALIZED_RUN = re.compile(r"(?<!\w)[A-Z]\w+(?: [A-Z]\w+)+(?!\w)")
_CJK_NAMES = re.compile(
    "《([^》\n]{1,40})》|『([^』\n]{1,40})』|「([^」\n]{1,30})」"
    "|((?<![\u30a1-\u30fa\u30fc])[\u30a1-\u30fa\u30fc]++(?:[·・‧][\u30a1-\u30fa\u30fc]+)+)"
    "|([\u4e00-\u9fff]{1,2}(?:[·・‧][\u4e00-\u9fff]{1,2})+)"  # its start is unknown
)

_NOT_NAMES = listed(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december i i'm i'll i'd i've ok okay am pm a.m "
    "p.m bc ad bce ce b.c a.d tv no yes none not please note source sources answer question "
    "according none unlike like besides overall additionally however moreover furthermore "
    "meanwhile therefore thus hence instead otherwise nevertheless nonetheless finally "
    "initially originally currently previously formerly later earlier eventually afterwards "
    "subsequently recently today yesterday tomorrow together based given following including "
    "founded born known located established built several many most some various different both "
    "neither either each every another such despite among amongst between beyond along around "
    "across throughout prior due thanks once twice first second third fourth fifth last next "
    "one two three four five six seven eight nine ten eleven twelve dozens hundreds thousands "
    "millions people scientists researchers historians experts critics scholars others someone "
    "everyone nobody nothing everything something anyone whether whereas whenever wherever "
    "whoever whatever perhaps maybe probably possibly certainly indeed clearly only even just "
    "also still then now here there again rumour rumor legend tradition counting including "
    "excluding combining taking adding leaving fahrenheit celsius kelvin"
)
"""Words capitalized at the start of a sentence, or always, without being names."""

_ROLES = listed(
    "president king queen prince princess emperor empress lord lady sir dame saint pope bishop "
    "archbishop cardinal father mother brother sister captain colonel general admiral major "
    "lieutenant sergeant commander professor doctor minister prime chancellor senator governor "
    "mayor judge justice secretary chairman chairwoman chief director manager author singer "
    "songwriter actor actress composer writer novelist poet painter artist musician producer "
    "performer player coach historian scientist physicist chemist engineer inventor founder "
    "former ex late young old great new american-born"
)
_KINDS = listed(
    "river lake mount mountain mountains hill valley city town village state province district "
    "county municipality region island islands sea ocean bay gulf desert forest park university "
    "college school institute academy museum library church cathedral temple palace castle "
    "house street road avenue square bridge tower station airport harbour harbor port company "
    "corporation corp inc ltd limited group party league team club association society "
    "organization organisation foundation council committee commission ministry department "
    "agency office bureau band album song single film movie book novel series show magazine "
    "newspaper journal award awards prize medal festival war battle treaty act law constitution "
    "republic kingdom empire union federation north south east west northern southern eastern "
    "western central upper lower national international royal federal saint st mt dr jr sr "
    "world"
)
"""Words for the kind of thing that a name denotes: a text may leave them out."""

_PREDICATES = listed(
    "is was has had became becomes remains won lost wrote died lived served joined left moved "
    "said says began went came made gave took held met led ran grew fell rose built sold bought "
    "cost contains consists includes covers lies stands borders hosts plays means won't isn't "
    "wasn't hasn't does did can could will would may might must"
)
"""Verbs in the singular: a single first word before one of them is a name, or the topic itself."""

_SAME = tuple(
    listed(group)
    for group in (
        "oscar oscars academy",
        "games olympic olympics olympiad",
        "france french frenchman frenchmen",
        "netherlands dutch holland nederland",
        "spain spanish spaniard spaniards spanien",
        "denmark danish dane danes",
        "switzerland swiss",
        "wales welsh welshman",
        "ireland irish irishman",
        "england english englishman",
        "scotland scottish scots scot",
        "uk britain british briton britons",
        "poland polish pole poles",
        "finland finnish finn finns",
        "iceland icelandic icelander",
        "greece greek greeks hellenic",
        "norway norwegian norwegians norse",
        "portugal portuguese",
        "peru peruvian",
        "philippines filipino filipinos philippine",
        "thailand thai thais siam",
        "germany german germans deutschland",
        "monaco monegasque",
        "cyprus cypriot",
        "burma burmese myanmar",
        "congo congolese",
        "rome roman romans",
        "asia asian asians",
        "us usa america american americans",
        "ussr soviet soviets",
        "czech czechia czechoslovakia",
        "argentina argentine argentinian argentinean",
        "naples neapolitan",
        "moscow muscovite",
        "christ christian christians christianity",
        "islam islamic muslim muslims",
        "jew jews jewish judaism",
        "buddha buddhist buddhists buddhism",
        "bible biblical",
        "photo photograph photography",
        "slovenia slovenian slovene slovenes",
        "serbia serbian serb serbs",
        "croatia croatian croat croats",
        "hungary hungarian hungarians magyar",
        "turkey turkish turk turks",
        "sweden swedish swede swedes",
        "catalonia catalan catalans",
        "flanders flemish fleming",
        "venice venetian venetians",
        "lebanon lebanese",
        "rico rican ricans",
        "afghanistan afghan afghans",
        "kazakhstan kazakh kazakhs",
        "wien vienna",
        "goa goan",
        "cuba cuban cubans",
        "laos lao laotian",
        "emperor kaiser tsar",
    )
)
_SHORT_FORMS = {
    "united states of america": "us",
    "united states": "us",
    "united kingdom": "uk",
    "great britain": "uk",
    "soviet union": "ussr",
}
_LONG_FORM = re.compile("|".join(_SHORT_FORMS))
_DEMONYMS = ("ian", "ans", "ians", "an", "ean", "ese", "ish", "i", "er", "ers", "ic", "ism", "ist")
_PLACES = ("", "s", "e", "ia", "a", "y", "ey", "en", "ium", "istan", "as", "land", "um", "o")


# ---------------------------------------------------------------- finding


def names(text: str, language: str, masked: bytes = b"") -> Iterator[Name]:
    """The names of a sentence in ``language``, except those where ``masked`` is not 0.

    German capitalizes every noun: only its abbreviations and model numbers are returned.
    """
    tokens = [
        match for match in _TOKEN.finditer(text) if not any(masked[match.start() : match.end()])
    ]
    run: list[re.Match[str]] = []
    bridge: list[re.Match[str]] = []
    for token in tokens:
        if run and not _JOINED.fullmatch(text, (bridge or run)[-1].end(), token.start()):
            yield from _name(text, run, language)
            run, bridge = [], []
        if _is_capitalized(token.group()):
            run += [*bridge, token]
            bridge = []
        elif run and token.group() in _CONNECTORS:
            bridge.append(token)
        else:
            yield from _name(text, run, language)
            run, bridge = [], []
    yield from _name(text, run, language)
    for match in _CJK_NAMES.finditer(text):
        title = match.group(match.lastindex or 0)
        words = [_compact(title)] if has_cjk(title) else _WORD.findall(fold(title))
        if words:
            yield Name(match.start(), match.end(), tuple(words))


def capitalized_runs(query: str, language: str) -> list[str]:
    """The runs of capitalized words of a query ("Jackson County Courthouse"). Empty for German: all
    nouns are capitalized."""
    return [] if language.partition("-")[0] == "de" else _CAPITALIZED_RUN.findall(query)


def has_pair(text: str, pair: tuple[str, str]) -> bool:
    """True if a text contains two words next to each other, regardless of capitalization."""
    one, other = map(re.escape, pair)
    return re.search(rf"(?<!\w){one}\W{{1,3}}{other}(?!\w)", text, re.IGNORECASE) is not None


def name_in(title: str, text: str) -> frozenset[str]:
    """Return the words by which a text names a title; empty if it does not.

    All words of the title, or those of its name without a disambiguation: "Hello Love" of "Hello
    Love (song)", "McRae" of "McRae, Arkansas" (as written).
    """
    words = frozenset(terms(title)) - _ARTICLES
    if words and words <= frozenset(terms(text)):
        return words
    whole = _QUALIFIER.sub(" ", title).strip()
    place, comma, _ = whole.partition(",")
    name = place.strip()
    if comma:
        found = _has_name(text, name, re.NOFLAG)
    else:
        found = name != title and _has_name(text, name, re.IGNORECASE)
    return frozenset(terms(name)) if found else frozenset()


def _has_name(text: str, name: str, flags: re.RegexFlag) -> bool:
    """Return True if a text contains a name, not as part of a longer name."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags) if name else None
    if found is None:
        return False
    before = text[: found.start()].split(" ")[1:-1]  # the first word always has a capital
    follows_capital = bool(before) and before[-1][:1].isupper()
    return not follows_capital and not _CAPITAL_NEXT.match(text, found.end())


def _is_capitalized(token: str) -> bool:
    return any(character.isupper() for character in token)


def _name(text: str, run: list[re.Match[str]], language: str) -> Iterator[Name]:
    """The name in a run of capitalized words, if there is one."""
    run = list(run)
    begins = bool(run) and _BEGINS.search(text[max(0, run[0].start() - 8) : run[0].start()])
    if run and (begins or run[0].group() in ("The", "A", "An")):
        first = run[0].group()
        lone = len(run) == 1
        is_action = first.endswith("ing") and not lone and run[1].group() in _CONNECTORS
        if _is_no_name(first) or is_action or (lone and not _can_open(text, run[0])):
            run = run[1:]
            while run and run[0].group() in _CONNECTORS:
                run = run[1:]
    if language == "de":
        run = [token for token in run if _is_code(token.group())]
    words = _shortened(" ".join(_required(token.group()) for token in run)).split()
    specific = [word for word in words if word not in _KINDS and word not in _ROLES]
    if specific:
        start, end = run[0].start(), run[-1].end()
        yield Name(start, end - (text[start:end].endswith(("'s", "’s")) * 2), tuple(specific))


def _is_no_name(word: str) -> bool:
    folded = word.casefold().replace("’", "'")
    return folded in _NOT_NAMES or folded in STOP_WORDS or folded in BEGINNERS


def _can_open(text: str, token: re.Match[str]) -> bool:
    """True if a single first word is a name: an abbreviation, a possessive, or before a verb."""
    word = token.group()
    if _is_code(word) or word.endswith(("'s", "’s")):
        return True
    following = re.match(r"\s+([a-z']+)", text[token.end() : token.end() + 24])
    if following is None:
        return False
    verb = following.group(1)
    is_derived = word.endswith(("ly", "ing", "ness", "ment", "tion", "sion"))
    return not is_derived and (verb in _PREDICATES or (verb.endswith("ed") and len(verb) > 4))


def _is_code(word: str) -> bool:
    """True for an abbreviation, a model number or a brand's own spelling: NASA, U.S., B-29, iOS."""
    bare = word.replace(".", "")
    if len(bare) < 2:
        return False
    return bare.isupper() or any(c.isdigit() for c in bare) or bool(_INNER_CAPITAL.search(bare))


def _required(token: str) -> str:
    """A token as a text must contain it, folded; "" if it need not contain it."""
    word = re.sub(r"['’]s?$", "", token)
    if word in _CONNECTORS or _is_no_name_anywhere(word) or _ORDER.fullmatch(word):
        return ""
    folded = fold(word).replace(".", "") if _is_code(word) else fold(word)
    is_initial = len(folded.strip(".")) < 2
    return "" if is_initial or folded in ABBREVIATED_TITLES else folded


def _is_no_name_anywhere(word: str) -> bool:
    folded = word.casefold()
    return folded in STOP_WORDS or folded in _NOT_NAMES


def _shortened(folded: str) -> str:
    """Replace countries by their initials; texts rarely use one form consistently."""
    return _LONG_FORM.sub(lambda match: _SHORT_FORMS[match.group()], folded)


def _compact(text: str) -> str:
    return "".join(fold(text).split())


# ---------------------------------------------------------------- looking up


class NamesIn:
    """The words of a text that can support names."""

    def __init__(self, text: str) -> None:
        folded = _shortened(" ".join(fold(text).split()))
        self._compact = _compact(text)
        self._has_cjk = has_cjk(text)
        self._has_letters = any(len(word) > 1 for word in _WORD.findall(text))
        # Words of the folded text, and words as names are found: "m²" folds to "m2".
        as_found = (_required(token) for token in _TOKEN.findall(text))
        self._words = frozenset((*_WORD.findall(folded), *as_found))
        self._stems = frozenset(stem for word in self._words for stem in terms(word))
        self._acronyms = _acronyms(text)
        self._same = frozenset(word for group in _SAME if group & self._words for word in group)
        self._roots = frozenset(root for word in self._words for root in _roots(word, _PLACES))
        self._derived = frozenset(root for word in self._words for root in _roots(word, _DEMONYMS))

    def bear_out(self, words: tuple[str, ...], written: str) -> bool:
        """True if the text has all words of a name, or the initials of it as ``written``.

        A name in a script that the text does not use cannot be looked up and counts as supported.
        """
        if all(self._has(word) for word in words):
            return True
        initials = "".join(word[0] for word in _TOKEN.findall(written) if _is_capitalized(word))
        return len(initials) > 1 and fold(initials) in self._words

    def _has(self, word: str) -> bool:
        if has_cjk(word):
            return not self._has_cjk or word in self._compact or self._has_parts(word)
        if not self._has_letters and self._has_cjk:
            return True
        if word in self._words or word in self._same or word in self._acronyms:
            return True
        stems = terms(word)
        if all(stem in self._stems or self._has_kindred(stem) for stem in stems):
            return True
        if word in self._compact and ("-" in word or "&" in word or any(map(str.isdigit, word))):
            return True
        return not self._roots.isdisjoint(_roots(word, _DEMONYMS)) or not self._derived.isdisjoint(
            _roots(word, _PLACES)
        )

    def _has_kindred(self, stem: str) -> bool:
        """True if the text has a word of the same family: "Senator" for "Senate"."""
        return len(stem) > 4 and not family(stem).isdisjoint(self._stems)

    def _has_parts(self, word: str) -> bool:
        parts = re.split("[·・‧]", word)
        # A word may precede the first part without a space ("是冯·布劳恩"): only the part's last
        # character is looked for.
        return len(parts) > 1 and all(part in self._compact for part in (parts[0][-1:], *parts[1:]))


_ENDINGS = {
    **dict.fromkeys(("ion", "ation", "ition", "ication", "ment", "ement"), 4),
    **dict.fromkeys(("al", "er", "or", "abl", "ibl", "iv", "ag", "anc", "enc", "li", "iti"), 5),
}
"""Derivational endings, as spelled in terms (without a silent e, with i for y), and the fewest
letters that must remain: "port" is not the stem of "portal".
"""


def family(term: str) -> frozenset[str]:
    """The term with other derivational endings; not all results are words."""
    if not term.isascii() or not term.isalpha():
        return frozenset()
    bases = {term}
    if term.endswith(("e", "i")):  # "store", and "notifi" for "notify"
        bases.add(term[:-1])
    for ending, least in _ENDINGS.items():
        if term.endswith(ending) and len(term) - len(ending) >= least:
            bases.add(term.removesuffix(ending))
    found = {
        f"{base}{ending}"
        for base in bases
        for ending, least in _ENDINGS.items()
        if len(base) >= least
    }
    return frozenset(found | bases | {f"{base}e" for base in bases if base != term})


def _roots(word: str, endings: tuple[str, ...]) -> Iterator[str]:
    """The stems of a word without one of the endings, if long enough to be distinctive."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= 4 - (len(ending) > 2):
            yield word.removesuffix(ending) if ending else word


def _acronyms(text: str) -> frozenset[str]:
    """The initials of every run of capitalized words: short forms that a claim may use."""
    found: set[str] = set()
    run: list[str] = []
    end = -1
    for token in _TOKEN.finditer(text):
        word = token.group()
        is_near = 0 < token.start() - end <= 2
        end = token.end()
        if not is_near:
            run = []
        if _is_capitalized(word):
            run.append(word[0])
            parts = word.split("-")  # Metro-Goldwyn-Mayer
            if len(parts) > 2:
                found.add(fold("".join(part[:1] for part in parts)))
            found.update(fold("".join(run[-size:])) for size in range(2, min(6, len(run)) + 1))
            if _is_code(word):
                found.add(fold(word.replace(".", "")))
        elif word not in _CONNECTORS and word not in ("and", "for"):
            run = []
    return frozenset(found)
