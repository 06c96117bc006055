"""What to ask next: questions about pages that a run came across and did not use.

Made without a model. They can be answered, since the pages are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.answers import Citation
from bot.pages.urls import dedupe_key
from bot.text.control import without_controls
from bot.text.language import detect
from bot.text.terms import keywords, terms

MOST = 3
SAME = 0.7  # share of common terms (Jaccard) from which two titles are about the same
LONGEST_TITLE = 70  # characters; what is longer is a sentence, or stuffed with search words
_FEWEST = 2  # characters of a title that says something
_NAME_WORDS = 6  # a title of more words is read as a headline, not as the name of a thing


@dataclass(frozen=True, slots=True)
class Offer:
    """A page that a search found, or that was read, and that no sentence cites."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class _Wording:
    """How to ask about a thing by its name, and about a page by its headline."""

    thing: str
    headline: str


_WORDINGS = {
    "en": _Wording("Tell me more about {}", "What does “{}” say?"),
    "zh": _Wording("请介绍一下{}", "《{}》讲了什么？"),
    "zh-Hant": _Wording("請介紹一下{}", "《{}》講了什麼？"),
    "ja": _Wording("{}について詳しく教えてください", "「{}」には何が書かれていますか？"),
    "ko": _Wording("{}에 대해 더 알려 주세요", "“{}”에는 어떤 내용이 있나요?"),
    "de": _Wording("Erzähl mir mehr über {}", "Was steht in „{}“?"),
    "fr": _Wording("Que peut-on dire de plus sur {} ?", "Que dit « {} » ?"),
    "es": _Wording("Cuéntame más sobre {}", "¿Qué dice «{}»?"),
    "pt": _Wording("Conte-me mais sobre {}", "O que diz “{}”?"),
    "it": _Wording("Dimmi di più su {}", "Che cosa dice «{}»?"),
    "nl": _Wording("Vertel me meer over {}", "Wat staat er in “{}”?"),
    "pl": _Wording("Opowiedz mi więcej na temat: {}", "O czym mówi „{}”?"),
    "sv": _Wording("Berätta mer om {}", "Vad står det i ”{}”?"),
    "tr": _Wording("{} hakkında daha fazla bilgi ver", "“{}” ne anlatıyor?"),
    "ru": _Wording("Расскажи подробнее на тему: {}", "О чём говорится в «{}»?"),
    "uk": _Wording("Розкажи докладніше на тему: {}", "Про що йдеться в «{}»?"),
}

_QUESTION = re.compile(r"[?？]$")
_HEADLINE = re.compile(
    r"[:：!！;；,，]"
    r"|^(?:how|why|what|when|where|who|which|the \d+|\d+ \w+|wie|warum|comment|pourquoi|cómo"
    r"|por qué|cuándo)\b|^(?:如何|为什么|為什麼|怎么|怎麼)"
    r"|\b(?:is|are|was|were|has|have|will|can|says?|you|your|i|we|ist|sind|est|es)\b",
    re.IGNORECASE,
)
# "Eiffel Tower - Wikipedia", "Eiffel Tower | Facts, History & Height | Britannica"
_SITE = re.compile(r"\s+[|·•»]\s+|\s+[-–—]\s+(?=[^-–—|·•»]*$)|\s*[|_]\s*(?=\S{1,20}$)")
_NO_TITLE = re.compile(
    r"^(?:home(?:page)?|index|untitled|document|login|sign in|not found|error|40[34]\b.*"
    r"|access denied|just a moment.*|redirecting.*|首页|首頁|主页|主頁|登录|登入|无标题|無標題)$"
    r"|^\S+\.(?:html?|php|aspx?|pdf|md|txt)$|^\w+://|^www\."
    r"|\(disambiguation\)$|[(（]消歧[义義][)）]$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`<>\[\]{}|\\^~#@]+")


def suggest(
    question: str,
    answer_text: str,
    citations: Iterable[Citation],
    offered: Sequence[Offer],
    limit: int = MOST,
) -> tuple[str, ...]:
    """Up to ``limit`` standalone questions in the asker's language, the most related first.

    Each is about one of the ``offered`` pages: one whose title shares a word with the question
    or several with the answer, that was not cited, and that asks neither the question itself nor
    what another suggestion asks. Ties go in the order offered.
    """
    asked = frozenset(keywords(question))
    answered = frozenset(keywords(answer_text))
    citations = tuple(citations)
    used = {dedupe_key(citation.url) for citation in citations}
    taken = [asked, *(frozenset(keywords(_name(citation.title))) for citation in citations)]
    rated: list[tuple[float, int, str, frozenset[str]]] = []
    for place, offer in enumerate(offered):
        title = _name(offer.title)
        about = frozenset(keywords(title))
        if dedupe_key(offer.url) in used or not _says_something(title):
            continue
        score = _relation(about, asked, answered)
        if score > 0:
            rated.append((-score, place, title, about))
    chosen: list[str] = []
    for _, _, title, about in sorted(rated, key=lambda rating: rating[:2]):
        if len(chosen) >= limit:
            break
        if not any(_alike(about, other) for other in taken):
            taken.append(about)
            chosen.append(_worded(title, question))
    return tuple(chosen)


def _relation(about: frozenset[str], asked: frozenset[str], answered: frozenset[str]) -> float:
    """How much of a title the question and the answer speak of; 0 where that is chance.

    A word of the question weighs twice one of the answer. Chinese terms are bigrams, so a name of
    three characters counts as two.
    """
    in_question = len(about & asked)
    in_answer = len((about & answered) - asked)
    if in_question == 0 and in_answer < 2:
        return 0.0
    return (2 * in_question + in_answer) / (1 + len(about))


def _alike(about: frozenset[str], other: frozenset[str]) -> bool:
    union = about | other
    return len(about & other) >= SAME * len(union)


def _name(title: str) -> str:
    """A page's title without its site's name, markup and control characters, on one line."""
    line = " ".join(without_controls(title, " ").split())
    head = _SITE.split(line, maxsplit=1)[0]
    return " ".join(_MARKUP.sub(" ", head).split()).strip(" .,;:-–—")


def _says_something(title: str) -> bool:
    return (
        _FEWEST <= len(title) <= LONGEST_TITLE
        and not _NO_TITLE.search(title)
        and bool(terms(title))
        and not title.isdigit()
    )


def _worded(title: str, question: str) -> str:
    if _QUESTION.search(title):
        return title
    wording = _WORDINGS.get(_language(question), _WORDINGS["en"])
    is_headline = len(title.split()) > _NAME_WORDS or _HEADLINE.search(title)
    return (wording.headline if is_headline else wording.thing).format(title)


def _language(question: str) -> str:
    """The language of a question; Chinese with a traditional character is ``zh-Hant``."""
    language = detect(question)
    if language == "zh" and any(_is_traditional(character) for character in question):
        return "zh-Hant"
    return language


def _is_traditional(character: str) -> bool:
    """Whether a character is of the traditional script only: in Big5 and not in GB 2312."""
    if not "\u4e00" <= character <= "\u9fff":
        return False
    return bool(character.encode("big5", "ignore")) and not character.encode("gb2312", "ignore")
