"""Guessing the language of a text from its script and its function words."""

from __future__ import annotations

import re
from collections import Counter

DEFAULT = "en"
_LOOKED_AT = 2_000  # characters; enough to tell, however long the text

_SCRIPTS = {
    "ko": re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    "kana": re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]"),
    "han": re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]"),
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}

_CODE_OR_LINK = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]))?")

_FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to is are was were what who when where why how which does did do that "
        "this with for from by has have had its it's it be been about can could you i my on "
        "not there many much in or an a at as he she they",
        "de": "der die das und ist sind war waren wer wo wann warum wie welche welcher welches "
        "nicht ein eine einen einem einer den dem des mit von zu zum zur auf für im es ich "
        "wir sich auch hat haben wurde wird gibt was über in bei als an",
        "fr": "le la les l' d' qu' c' j' n' s' des du un une et est sont était qui que quoi où "
        "quand pourquoi comment quel quelle quels quelles combien dans avec pour pas sur ce "
        "cette ces il elle nous vous au aux de a en été plus par",
        "es": "el la los las un una y es son era qué que quién quien dónde donde cuándo cuando "
        "cómo como cuál cual cuáles cuánto cuánta cuántos cuántas por para con del al se su sus lo "
        "no de en hay está fue más",
        "pt": "o os as um uma e é são era que quem onde quando como qual quais quanto quantos por "
        "quê para com do da dos das no na nos nas ao se seu sua não de em foi mais há você "
        "está",
        "it": "il lo la gli le un una e è sono era che chi dove quando come perché quale quali "
        "quanto quanti per con del della dei delle nel nella al alla si non di in ha hanno "
        "cosa cos' dov' l' dell' nell' all' più stato",
        "nl": "de het een en is zijn was waren wat wie waar wanneer waarom hoe welke niet van "
        "voor met op aan in te dat die deze er naar heeft hebben werd wordt door ook bij om ik je",
        "pl": "i jest są był była było co kto gdzie kiedy dlaczego jak który która które nie w z "
        "na do się że to od przez oraz ile czy po za dla",
        "sv": "och är var vad vem när varför hur vilken vilket vilka inte en ett den det de att "
        "av för med på som till från om har hade finns i",
        "tr": "ve bir bu ne kim nerede nasıl neden hangi kaç için ile mi mı mu mü değil olan "
        "olarak var de da ki",
    }.items()
}

_LETTERS = {
    "de": re.compile("[ßäöü]"),
    "fr": re.compile("[çœèêëàùûîô]"),
    "es": re.compile("[ñ¿¡áíóú]"),
    "pt": re.compile("[ãõâçêó]"),
    "it": re.compile("[èìòàù]"),
    "pl": re.compile("[ąęłńśźż]"),
    "sv": re.compile("[åäö]"),
    "tr": re.compile("[ğışç]"),
}


def detect(text: str) -> str:
    """The BCP 47 primary tag of a text's language; ``en`` where nothing tells.

    Knows en de fr es pt it nl pl sv tr in Latin letters, zh ja ko, ru uk, el, ar fa, he, hi, th.
    Code and links do not count. A name in another script does not make a language: "Who was
    李白?" is English, "什么是 GPT-4？" is Chinese.
    """
    sample = _CODE_OR_LINK.sub(" ", text[:_LOOKED_AT])
    counts = {script: len(pattern.findall(sample)) for script, pattern in _SCRIPTS.items()}
    if not any(counts.values()):
        return DEFAULT
    words = Counter(word.casefold().replace("’", "'") for word in _WORD.findall(sample))
    latin, latin_score = _latin(sample, words)
    # A Chinese character carries about as much as a third of a word of six letters.
    counts["latin"] = -(-counts["latin"] // 3)
    east = counts["kana"] + counts["han"] + counts["ko"]
    others = {script: counts[script] for script in ("cyrillic", "el", "arabic", "he", "hi", "th")}
    script = max(others, key=lambda name: others[name])
    if latin_score >= 2 and counts["latin"] >= max(east, others[script]):
        return latin
    if east >= max(others[script], 1) and (east >= counts["latin"] or latin_score < 2):
        return _eastern(counts)
    if others[script] and (others[script] >= counts["latin"] or latin_score < 2):
        return _other(script, sample)
    return latin


def _latin(sample: str, words: Counter[str]) -> tuple[str, float]:
    """The best language in Latin letters and its score: function words, then typical letters."""
    folded = sample.casefold()
    scores = {
        language: float(sum(count for word, count in words.items() if word in known))
        for language, known in _FUNCTION_WORDS.items()
    }
    for language, pattern in _LETTERS.items():
        scores[language] += 0.4 * min(3, len(pattern.findall(folded)))
    best = max(scores, key=lambda language: (scores[language], language == DEFAULT))
    return (best, scores[best]) if scores[best] >= 1 else (DEFAULT, scores[DEFAULT])


def _eastern(counts: dict[str, int]) -> str:
    if counts["ko"] >= counts["kana"] + counts["han"]:
        return "ko"
    # Japanese is never long without kana, Chinese has none; a foreign name may bring a few.
    return "ja" if 8 * counts["kana"] >= counts["han"] else "zh"


def _other(script: str, sample: str) -> str:
    if script == "cyrillic":
        return "uk" if re.search("[іїєґІЇЄҐ]", sample) else "ru"
    if script == "arabic":
        return "fa" if re.search("[پچژگ]", sample) else "ar"
    return script
