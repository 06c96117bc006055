"""Index and query terms: lower-cased stems of words, and bigrams of Chinese, Japanese, Korean.

A term consists of letters and digits only, so SQLite's FTS5 ``unicode61`` tokenizer does not split
it. ``terms`` are indexed; ``keywords`` are always a subset of a text's ``terms``. Control
characters and the number of tokens depend on a text's characters alone, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from bot.text.patterns import listed
from bot.text.struck import without_struck

_CJK = (
    "\u1100-\u11ff"  # Hangul letters
    "\u3005-\u3007\u3021-\u3029"  # iteration mark, zero, Hangzhou numerals
    "\u3041-\u3096\u309d-\u309f"  # Hiragana
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Katakana with its length mark
    "\u3105-\u312f\u3131-\u318e"  # Bopomofo, Hangul compatibility letters
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7a3"  # Hangul syllables
    "\U00020000-\U0002fa1f"  # Han, the supplementary plane that SQLite treats as letters
)
_WORD_ASCII = re.compile(r"[a-z0-9]+")
_NO_LETTER_TO_SQLITE = "\u19b0-\u19c9\u1cf2\u1cf3"  # signs whose Unicode category has changed
_WORD = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}{_NO_LETTER_TO_SQLITE}]+")
_IS_CJK = re.compile(f"[{_CJK}]")

_WRITTEN = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}](?:[^\\W_{_CJK}]|['’.&-](?=[^\\W_{_CJK}]))*")

# Each starts with a literal character, which lets ``re`` skip to its occurrences.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d\d\d(?!\d))")  # 1,200 is 1200
_INITIALS = re.compile(r"\.(?<=\b[a-z]\.)(?=[a-z]\b)")  # U.S. is US
_POSSESSIVE = re.compile(r"'s\b")  # Ohm's is Ohm

_ACCENTS = re.compile("[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
    | {"’": "'", "ʼ": "'", "ʹ": None}
)

_LONGEST_WORD = 64  # characters; longer strings are cut, so that they do not fill the index
_MOST_STEMS = 200_000  # cached stems; about 30 MB when full


def terms(text: str) -> list[str]:
    """The terms of a text in order, including repeats; the same function serves index and query.

    Words are case- and accent-folded and lightly stemmed ("Études" → "etude"). Thousands separators
    are dropped ("1,200" → "1200"), decimals become two terms ("3.11" → "3", "11"). A run of
    Chinese, Japanese or Korean characters becomes its overlapping bigrams, a single character
    itself.
    """
    found = _words(text)
    if text.isascii():
        return [_STEMS[word] for word in found]
    result: list[str] = []
    for word in found:
        if _IS_CJK.match(word):
            result.extend(_bigrams(word))
        else:
            result.append(_STEMS[word])
    return result


def keywords(text: str) -> list[str]:
    """The terms of a question that carry meaning: without stop words, each once, in order.

    If a text consists of stop words ("The Who"), all are kept.
    """
    kept: dict[str, None] = {}
    for word in _words(text):
        if _IS_CJK.match(word):
            kept.update(dict.fromkeys(_content_bigrams(word)))
        elif word not in STOP_WORDS:
            kept[_STEMS[word]] = None
    return list(kept or dict.fromkeys(terms(text)))


def content_words(text: str) -> list[str]:
    """The words of a question that carry meaning, as written, each once, in order.

    Corresponds to ``keywords``, but for queries that people read. For Chinese, Japanese and Korean,
    the runs between function words. If a text consists of stop words, all are kept.
    """
    kept: dict[str, str] = {}
    written = [match.group() for match in _WRITTEN.finditer(text)]
    for run in written:
        for word in _between_function_words(run):
            folded = fold(word)
            parts = folded.split("'") if word.isascii() else [folded]
            if not all(part in STOP_WORDS for part in parts):
                kept.setdefault(folded, word)
    return list(kept.values()) or list(dict.fromkeys(written))


def function_words(text: str) -> int:
    """The number of function words in a text: English stop words, and particles and question words
    of Chinese, Japanese and Korean.
    """
    found = 0
    for word in _words(text):
        if not _IS_CJK.match(word):
            found += len(word) > 1 and word in STOP_WORDS
        elif _HANGUL.match(word):
            found += len(_FUNCTION_WORDS.findall(word)) + bool(_KOREAN_ENDING.search(word))
        else:
            rest, replaced = _FUNCTION_WORDS.subn(" ", word)
            found += replaced + sum(character in _FUNCTION_CHARACTERS for character in rest)
            found += len(_JAPANESE_GRAMMAR.findall(rest))
    return found


def _between_function_words(word: str) -> list[str]:
    """A word without its possessive ending; a CJK run in pieces."""
    if not _IS_CJK.match(word):
        return [re.sub(r"['’]s?$", "", word.rstrip(".-"))]
    if _HANGUL.match(word):
        word = _KOREAN_ENDING.sub("", word)
    pieces = _FUNCTION_WORDS.sub(" ", word).translate(_BLANK_FUNCTION_CHARACTERS).split()
    return [piece for whole in pieces for piece in _JAPANESE_GRAMMAR.split(whole) if piece]


def fold(text: str) -> str:
    """Fold case, accents and compatibility forms (full-width, ligatures).

    Japanese voicing marks and Hangul syllables are kept. The length may change.
    """
    if text.isascii():
        return text.lower()
    open_form = unicodedata.normalize("NFKD", text).casefold()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", open_form))
    return unicodedata.normalize("NFC", plain).translate(_LETTERS)


def has_cjk(text: str) -> bool:
    """True if a text contains any Chinese, Japanese or Korean character."""
    return not text.isascii() and _IS_CJK.search(text) is not None


def _words(text: str) -> list[str]:
    """Folded words and whole runs of CJK characters, in order, without struck-out ones."""
    folded = fold(without_struck(text))
    if "," in folded:
        folded = _THOUSANDS.sub("", folded)
    if "." in folded:
        folded = _INITIALS.sub("", folded)
    if "'" in folded:
        folded = _POSSESSIVE.sub("", folded)
    found: list[str] = (_WORD_ASCII if folded.isascii() else _WORD).findall(folded)
    return found


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


# ---------------------------------------------------------------- stemming

_VOWEL = re.compile(r"[aeiou]|(?<=[^aeiou])y")
_SHORT_END = re.compile(r"(?:^|[^aeiou])[aeiouy][^aeiouwxy]$")


def _stem(word: str) -> str:
    """Steps 1 and 5a of Porter's algorithm: plurals, -ed, -ing, final y and e, no derivational
    suffixes.

    Source: M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, steps 1a-1c and
    5a, with its published revision that leaves words of one or two letters alone. Steps 2-4 are
    omitted on purpose: they would give "university" and "universe" the same stem.
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("s"):
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif not word.endswith("ss"):
            word = word[:-1]
    if word.endswith("eed"):
        if _VOWEL.search(word[:-3]):
            word = word[:-1]
    elif word.endswith("ed") and _VOWEL.search(word[:-2]):
        word = _mend(word[:-2])
    elif word.endswith("ing") and _VOWEL.search(word[:-3]):
        word = _mend(word[:-3])
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    return word[:-1] if _has_silent_e(word) else word


def _has_silent_e(word: str) -> bool:
    """True if a final e is removed (step 5a), so that "delete" matches "deleted"; never in words of
    three letters, which would become other words ("use", "us").
    """
    stem = word[:-1]
    if not word.endswith("e") or len(stem) < 3:
        return False
    syllables = len(_VOWEL_THEN_CONSONANT.findall(stem))
    return syllables > 1 or (syllables == 1 and not _SHORT_END.search(stem))


def _mend(stem: str) -> str:
    """Porter's repair after -ed and -ing: conflat → conflate, hopp → hop, fil → file."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    if _SHORT_END.search(stem) and len(_VOWEL_RUN.findall(stem)) == 1:
        return stem + "e"
    return stem


_VOWEL_THEN_CONSONANT = re.compile(r"[aeiouy][^aeiouy]+")  # Porter's measure, m
_VOWEL_RUN = re.compile(r"[aeiouy]+")


class _Stems(dict[str, str]):
    """Cache of stems by word; emptied when it has grown too large."""

    def __missing__(self, word: str) -> str:
        if len(word) > _LONGEST_WORD:
            return word[:_LONGEST_WORD]
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem = self[word] = _stem(word)
        return stem


_STEMS = _Stems()


# ---------------------------------------------------------------- words without meaning

_LISTED = """
    a an the this that these those such
    i me my mine myself we our ours ourselves you your yours yourself he him his himself she her
    hers herself it its itself they them their theirs themselves one ones
    who whom whose what which when where why how whether often
    am is are was were be been being isn aren wasn weren
    do does did done doing don doesn didn have has had having haven hasn hadn
    can could will would shall should may might must cannot couldn wouldn shouldn won ain
    and or but nor so yet if then than because while although though until unless since
    of at by for with about against between into through during before after above below to from
    up down in out on off over under again further here there as per via upon onto within without
    all any both each few more most other others some no not only own same too very just also
    now ever even still else much many lot lots
    s t d ll m re ve o
    please tell give
"""

STOP_WORDS = listed(_LISTED)
"""English function words, and words with which people address a bot. "US" is not one."""

_FUNCTION_CHARACTERS = frozenset("的了吗呢吧啊是在被把从于这那哪谁们您你我他她它")
"""Chinese characters that are rarely part of a name or a term (和, 以, 为 are: 共和国, 以色列)."""

_BLANK_FUNCTION_CHARACTERS = {ord(character): " " for character in _FUNCTION_CHARACTERS}
_JAPANESE_GRAMMAR = re.compile(
    "[はがをにでともへの][\u3041-\u3096]*|(?:です|ます|した|する)[\u3041-\u3096]*"
)

_FUNCTION_WORDS = re.compile(
    "什么|为什么|为何|怎么样|怎么办|怎么|怎样|如何|多少|哪里|哪儿|何时|何处|因为|所以|如果|虽然|但是|"
    "可以|告诉|有没有|是否|一个|一些|关于|什麼|為什麼|為何|怎麼|多少|哪裡|嗎|這|誰|個|們|"
    "想知道|知道|请问|到底|究竟|现在|目前|手头|接下来|一直|已经|应该|之后|以后|之前|以前|时候|能不能|能否|"
    "会不会|是不是|不一样|一样|哪一个|哪一|哪个|哪条|哪些|哪种|哪几|几个|几块|几种|有些|有啥|啥|又|"
    "(?<!迁)就(?![业职绪地近])|(?<![首成京古故迁])都(?![市城])|(?<![偿归返])还(?![原款])|也(?!门)|"
    "里面|位于|弄|"
    "ください|について|どこ|だれ|誰|なぜ|いつ|どの|どう|なに|(?<![几幾])何|"
    "무엇|누구|언제|어디|어떻게|어떤|얼마나|입니까|인가요|합니까|하나요|습니까|있는|하는"
)
"""Function words of several characters, and of one that is also part of other words: 都 is "all",
but not in 首都 (capital), nor is 就 in 就绪 (ready), 还 in 还原 (restore), 何 in 几何.
"""

_HIRAGANA = re.compile("[\u3041-\u309f]")
_JAPANESE_PARTICLES = frozenset("はがをにでともへのかやよねばりるたて")
_KOREAN_PARTICLES = frozenset("은는이가을를의에로와과도만서")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KOREAN_ENDING = re.compile(
    "(?<=[\uac00-\ud7a3]{2})(?:에서는|에서|으로|[은는이가을를의에로와과도])요?$"
)


def _content_bigrams(run: str) -> Iterator[str]:
    """The bigrams of a run without function characters; none if all are.

    Only bigrams of the run itself are returned: a single character between function words would not
    be in an index of bigrams.
    """
    function = [False] * len(run)
    for match in _FUNCTION_WORDS.finditer(run):
        function[match.start() : match.end()] = [True] * (match.end() - match.start())
    for i, character in enumerate(run):
        if character in _FUNCTION_CHARACTERS:
            function[i] = True
    if len(run) == 1:
        if not function[0]:
            yield run
        return
    for i in range(len(run) - 1):
        pair = run[i : i + 2]
        if function[i] or function[i + 1] or _is_inflection(pair, last=i + 2 == len(run), at=i):
            continue
        yield pair


def _is_inflection(pair: str, *, last: bool, at: int) -> bool:
    """True if a bigram is Japanese grammar, or the end of a Korean word with its particle."""
    hiragana = len(_HIRAGANA.findall(pair))
    if hiragana == 2:
        return True
    if hiragana == 1:
        return any(character in _JAPANESE_PARTICLES for character in pair)
    return last and at > 0 and pair[1] in _KOREAN_PARTICLES and _HANGUL.match(pair) is not None


# Terminal escape sequences (ECMA-48: CSI, and OSC up to its end) are removed as a whole, as are
# control characters (C0 and C1, except tab and newline), marks that change the direction of text
# and so can disguise it, and lone surrogates, which cannot be encoded.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f"
    r"\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def without_controls(text: str, instead: str = "") -> str:
    """Replace each control sequence or character with ``instead``."""
    return _CONTROL.sub(instead, text)


CHARACTERS_PER_TOKEN = 4  # of Latin text: Anthropic's own rule of thumb for English
_WIDE = re.compile(
    "[\u1100-\u11ff\u3000-\u30ff\u3105-\u9fff\uac00-\ud7a3\uf900-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile("[\u0250-\u10ff\u1200-\u2fff]")


def estimate(text: str) -> int:
    """The approximate number of tokens: 1 per 4 Latin characters, 1 per CJK character.

    Other scripts (Cyrillic, Arabic, Devanagari) count 1 per 2 characters. Never 0 for a non-empty
    text.
    """
    if text.isascii():
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    wide = len(_WIDE.findall(text))
    other = len(_OTHER.findall(text))
    return wide + -(-other // 2) + -(-(len(text) - wide - other) // CHARACTERS_PER_TOKEN)
