"""Detects questions that were asked before.

A repeat has the same words in the same order, so that every figure, date, name, negation and
preposition is the same. Only variations that do not change the meaning are allowed: capitals,
accents, articles, politeness, contractions, "France's capital" for "the capital of France", a
leading phrase ("In 2024, …"), the position of the auxiliary verb ("tell me how often it is
checked"), and Chinese particles. All other pairs count as different questions, even if they mean
the same.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bot.messages import Message, Transcript
from bot.text.lazy_regex import lazy_regex
from bot.text.terms import STOP_WORDS, fold, has_cjk, keywords

MOST_TERMS = 64  # per question

_ARTICLES = frozenset(("a", "an", "the"))
_ASKING = frozenset(("who", "whom", "whose", "what", "which", "when", "where", "why", "how"))
_WHETHER = frozenset(("whether", "if"))
_AUXILIARIES = frozenset(
    ("is", "are", "was", "were", "can", "could", "will", "would", "shall", "should", "may", "must")
)  # without "do", "have" and "might", which change the verb, or are words of their own
_POLITE = lazy_regex(
    r"^(?:(?:hi|hey|hello|please|pls|kindly|ok|okay|so|and|can you|could you|would you|will you"
    r"|do you (?:happen to )?know|does any(?:one|body)(?: here)? know|any idea|remind me|i wonder"
    r"|i(?:'m| am| was) wondering|tell me|tell us|let me know|i want to know"
    r"|i(?:'d| would) like to know"
    r"|footnote|请问|請問|请|請|麻烦|麻煩|告诉我|告訴我|我想知道|想知道)(?:[\s,:!，：！]+|(?<=[\u4e00-\u9fff])))+"
)
_THANKS = lazy_regex(r"(?:(?<![\s,])[\s,]++)?(?:please|thanks|thank you|谢谢|謝謝)[\s.!?。！？]*+$")
_PUT_FIRST = lazy_regex(
    r"^((?:in|on|at|as of|during|since|until|before|after|by|for|from|under) [^,?!]{1,40}), (.+)$"
)
_CONTRACTED = (
    (re.compile(r"\b(who|what|where|when|why|how|it|that|there|here|he|she)'s\b"), r"\1 is"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"\b([\w-]{1,64})'s ([\w-]+)"), r"\2 of \1"),
)
_PARTICLES = str.maketrans("", "", "的了吗呢吧啊嘛嗎")
_WORD = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d\d\d(?!\d))")
_SHOUTED = lazy_regex(r"\b[A-Z]{2,}\b")
_SILENT = lazy_regex(r"[\w\s.,;:?!'\"“”‘’()\[\]…。，、；：？！「」『』（）《》`*_-]")
_MINUS = lazy_regex(r"(?<![\w)])[-\u2212](?=\d)")

_OF_ITS_TIME = lazy_regex(
    r"\b(?:now|nowadays|today|tonight|tomorrow|yesterday|current(?:ly)?|latest|newest|recent(?:ly)?"
    r"|presently|right away|at the moment|at present|so far|up to date|to date|still|yet|already"
    r"|ago|upcoming|live|breaking|news|headlines|weather|forecast|stock price|share price"
    r"|exchange rate|what time|what day|as we speak"
    r"|(?:this|next|last|past|coming) (?:\w+ )?(?:hours?|morning|afternoon|evening|night|days?"
    r"|weeks?|weekend|months?|quarter|season|years?|decade|century|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday))\b"
    r"|现在|現在|目前|当前|當前|如今|今天|今日|今晚|今年|今|明天|明年|昨|最新|最近|近来|近來|近期|刚刚|剛剛|即将|即將"
    r"|[这這本上下](?:一?[个個])?(?:周|週|星期|月|季|年)|天气|天氣|股价|股價|汇率|匯率|新闻|新聞|几点|幾點",
    re.IGNORECASE,
)
_PERSONAL = lazy_regex(r"\b(?:my|mine|me|myself|am i|i am|i'm)\b|我(?!们|們)", re.IGNORECASE)
_LOCAL = lazy_regex(
    r"\b(?:here|we|us|our|ours|this (?:channel|chat|server|room|group|team|thread))\b"
    r"|这里|這裡|我们|我們|咱们|咱們|本群|本频道|本頻道",
    re.IGNORECASE,
)
_ANEW = lazy_regex(
    r"\b(?:anew|afresh|from scratch|research (?:it |this |that )?again|look (?:it )?up again)\b"
    r"|重新(?:研究|查|搜|找|回答)|再(?:研究|查|搜)一[次遍]",
    re.IGNORECASE,
)
# A request for new research as a separate clause: a whole message, its end or its beginning.
_WISH = (
    r"(?:(?:please|but|and|then|now|can you|could you),? ){0,4}"
    r"(?:research|search|check|look|answer|try)(?: (?:it|this|that))?(?: up)?"
    r" (?:again|anew|afresh|from scratch)(?:,? (?:please|thanks|thank you))?"
    r"|(?:请|請|麻烦|麻煩)?(?:重新(?:研究|查|搜|找|回答)|再(?:研究|查|搜))(?:一?下|一[次遍])?(?:吧|谢谢|謝謝)?"
)
_ASIDE = lazy_regex(
    rf"^\W*(?:{_WISH})\W*$"
    rf"|(?:(?<=[?？!！。…])|[.,，;；:：(（\n]|\s[-–—]+(?=\s))\s{{0,4}}(?:{_WISH})\W*$"
    r"|\s(?:please )?research again\W*$"
    r"|\s重新研究\W*$"
    rf"|^\W*(?:{_WISH})\s*[.,，。;；:：!！\n–—-]+\s*(?=\S)",
    re.IGNORECASE,
)


def is_repeat(question: str, earlier: str) -> bool:
    """Return True if two standalone questions are the same question: see the module docstring."""
    return _said(question) == _said(earlier)


def terms_of(question: str) -> list[str]:
    """Return the terms by which a question is indexed and found; equal for repeats."""
    words, _ = _said(question)
    kept = [
        one for term in keywords(" ".join(words)) for one in (term if has_cjk(term) else [term])
    ]
    return list(dict.fromkeys(kept))[:MOST_TERMS]


def is_of_its_time(question: str) -> bool:
    """Return True if the answer depends on the time of asking: "today", "the latest"."""
    return _OF_ITS_TIME.search(question) is not None


def is_personal(question: str) -> bool:
    """Return True if the answer may depend on who asks: "my manager"."""
    return _PERSONAL.search(_POLITE.sub("", question.lower())) is not None


def is_local(question: str) -> bool:
    """Return True if the answer may depend on where a question is asked: "our team", "here"."""
    return _LOCAL.search(question) is not None


def wants_research(message: str) -> bool:
    """Return True if a message explicitly asks for new research: "research this anew"."""
    return bool(_ANEW.search(message) or _ASIDE.search(message))


def as_asked(transcript: Transcript, message: Message) -> Message:
    """Return the message for a reasoner, without a clause that requests new research, which must
    not be searched for; if nothing else is left, it repeats the thread's last question."""
    text = _ASIDE.sub("", message.text).strip()
    if text == message.text.strip():
        return message
    asked = [entry.question for entry in transcript.entries if entry.question]
    return replace(message, text=text or (asked[-1] if asked else message.text))


def _said(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A question's words in normalized form, and its significant symbols: C++, C#, $5, -5."""
    text = " ".join(question.replace("’", "'").split())
    if not text.isupper():  # "US" is not "us", nor "WHO" a question word
        text = _SHOUTED.sub(_marked, text)
    symbols = (*_MINUS.findall(text), *_SILENT.sub("", text))
    text = _THANKS.sub("", _POLITE.sub("", text.lower()))
    for pattern, instead in _CONTRACTED:
        text = pattern.sub(instead, text)
    text = _PUT_FIRST.sub(r"\2 \1", text.rstrip("?!.。？！ "))
    if has_cjk(text):
        text = text.translate(_PARTICLES)
    words = _WORD.findall(_THOUSANDS.sub("", fold(text)))
    return tuple(_in_one_order([word for word in words if word not in _ARTICLES])), symbols


def _in_one_order(words: list[str]) -> list[str]:
    """Return the words of an English question with its first auxiliary verb at the end, so that
    "how often is it checked" equals "how often it is checked", and "is it open" equals "whether it
    is open"."""
    begins = words[0] if words else ""
    if begins not in _ASKING | _WHETHER | _AUXILIARIES:
        return words
    words = words[begins in _WHETHER :]
    at = next((at for at, word in enumerate(words) if word in _AUXILIARIES), None)
    return words if at is None else [*words[:at], *words[at + 1 :], words[at]]


def _marked(shouted: re.Match[str]) -> str:
    word = shouted.group()
    is_another = word.lower() in STOP_WORDS or word == "US"
    return f"{word}0{word}" if is_another else word
