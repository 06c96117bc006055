"""Messages about earlier answers of the thread: which answers and footnotes they refer to.

"What was source 2?", "What does the Keller page say about prices?", "Summarize this conversation".
A number refers to the latest answer that has it. Such messages are answered from the stored answers
(``research.pipeline``), without a search; plain ones can be understood without a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from bot.core.answers import Citation
from bot.core.labels import label
from bot.core.messages import Entry, Message, Transcript
from bot.pages.urls import dedupe_key, domain
from bot.reasoning.questions import Rewritten
from bot.reasoning.wording import pronoun, topic_words
from bot.text.patterns import lazy_regex
from bot.text.terms import terms

LONGEST = 300  # characters of a plain message about answers

T = TypeVar("T")

_ORDINALS = {
    **dict.fromkeys(("first", "erste", "ersten", "一"), 1),
    **dict.fromkeys(("second", "zweite", "zweiten", "二"), 2),
    **dict.fromkeys(("third", "dritte", "dritten", "三"), 3),
    **dict.fromkeys(("fourth", "vierte", "vierten", "四"), 4),
    **dict.fromkeys(("fifth", "fünfte", "fünften", "五"), 5),
}
_LATIN = "|".join(word for word in _ORDINALS if word.isascii() or word.startswith("f"))
_SOURCE = r"(?:sources?|footnotes?|references?|citations?|refs?|quellen?|fu(?:ß|ss)noten?|belege?)"
_NUMBER = r"\s*+(?:(?:no\.?|nr\.?|number|#)\s*+)?"
_EASTERN = "(?:来源|脚注|出处|參考|参考)"
_IN_SOURCE = lazy_regex(
    rf"\b(?:the |die |der )?({_LATIN}) {_SOURCE}\b"
    rf"|\b(?:the )?{_SOURCE}{_NUMBER}\[?(\d{{1,3}})\b\]?"
    rf"|\[(\d{{1,3}})\]|{_EASTERN}\s*\[?(\d{{1,3}})\]?"
    rf"|第\s*(\d{{1,3}}|[一二三四五])\s*(?:个|個|條|条)?{_EASTERN}",
    re.IGNORECASE,
)
_TITLED = lazy_regex(
    r"\b(?:the|die|der|das) ((?:(?!the\b)[\w.'’&-]+ ){1,5}?)"
    r"(?:page|article|source|document|doc|paper|site|website|post|seite|quelle|artikel)\b"
    r"|\bdie ([\w.]+)-(?:seite|quelle)\b",
    re.IGNORECASE,
)
_WHICH_SOURCE = lazy_regex(
    r"\W*(?:(?:and|ok|so|und)\W+)?(?:what|which|who|where|was|welche|wo|wer)"
    r"(?:'s| is| was| were| are| ist| war| waren| sind)?(?: in| behind| hinter)? "
    rf"(?:(?:the|your|die|deine|eure) )?(?:{_SOURCE}\b{_NUMBER}"
    r"\[?\d{0,3}\]?|\[\d{1,3}\])(?: about| from)?\W*"
    rf"|\W*(?:what|which|who|was)(?:'s| is| was| ist| war) (?:the |die )?(?:{_LATIN}) {_SOURCE}\W*"
    rf"|\W*(?:(?:and|ok|so|und|what about|was ist mit)\W+)?(?:the |die )?"
    rf"(?:{_SOURCE}{_NUMBER}\[?\d{{1,3}}\b\]?|(?:{_LATIN}) {_SOURCE})\W*"
    rf"|\W*{_EASTERN}\s*+(?:\[?\d{{1,3}}\]?\s*+)?(?:是什么|是哪|在哪|有哪些)\S{{0,3}}\W*"
    rf"|\W*第\s*(?:\d{{1,3}}|[一二三四五])\s*(?:个|条)?{_EASTERN}(?:是什么|是哪|在哪)\S{{0,3}}\W*",
    re.IGNORECASE,
)
_PLEASE = r"\W*(?:(?:please|pls|now|ok(?:ay)?|so|thanks|bitte|nun)\b\W*)*"
_TALK = r"(?:conversation|thread|discussion|chat|talk)(?: so far| until now)?"
_GESPRAECH = r"(?:gesprächs?|unterhaltung|thread|chats?|diskussion|verlaufs?)"
_SO_FAR = r"(?: out)?(?: (?:so far|until now|up to now|in this (?:thread|conversation|chat)))?"
_BISHER = r"(?: (?:wir|bisher|bis jetzt|denn|alles|schon))*"
_ZH_TALK = "(?:对话|会话|對話|讨论|討論|聊天(?:记录)?|线程|讨论串)(?:的)?(?:内容)?"
_ZH_SO_FAR = "(?:到目前为止|目前为止|到现在为止|至今|目前|到目前)?"
_THREAD = lazy_regex(
    rf"{_PLEASE}(?:(?:can|could|would|will) you (?:please )?)?(?:"
    r"(?:summari[sz]e|sum up|recap|wrap up|(?:give (?:me|us) )?(?:an? |the )?"
    rf"(?:short |brief )?(?:summary|recap|tl;?dr) of|tl;?dr:?) (?:this|the|our|that) (?:whole |"
    rf"entire )?{_TALK}|recap)(?:,? please)?\W*"
    rf"|{_PLEASE}what (?:did|have) (?:we|you) (?:find|found|learn(?:ed|t)?|establish(?:ed)?"
    rf"|discover(?:ed)?|discuss(?:ed)?|cover(?:ed)?){_SO_FAR}\W*"
    r"|\W*what do we know (?:so far|by now)\W*"
    rf"|{_PLEASE}(?:(?:kannst|könntest) du (?:bitte )?)?(?:fass(?:e|t)? )?(?:bitte )?"
    rf"(?:dies\w*|das|den|die|unser\w*) (?:ganze[ns]? |bisherige[ns]? )?{_GESPRAECH}"
    r"(?: bisher| bitte)* zusammen(?:fassen)?\W*"
    rf"|\W*(?:eine )?(?:kurze )?zusammenfassung (?:dies\w*|des|der|unser\w*) {_GESPRAECH}\W*"
    rf"|\W*was (?:haben|wissen){_BISHER}(?: heraus\s?gefunden| gefunden| gelernt| erfahren)?\W*"
    r"|\W*(?:请|請)?(?:帮我|幫我)?(?:总结|總結|概括|归纳|汇总|回顾)(?:一下)?(?:我们|我們)?(?:的)?"
    rf"(?:这|這|本|以上|上面|整)?(?:次|个|個|段|场)?(?:的)?{_ZH_TALK}\W*"
    rf"|\W*{_ZH_SO_FAR}[，,]?(?:我们|我們)?{_ZH_SO_FAR}(?:都|已经)?(?:发现|發現|找到|了解|知道|得出)"
    "(?:到|了)*(?:些|了)?(?:什么|什麼|哪些[^，。]{0,6})\\W*",
    re.IGNORECASE,
)
_HERE = "\0"  # placeholder for one of our sources
_ASKS_IT = lazy_regex(
    rf"\W*(?:(?:and|ok|so|und)\W+)?what (?:does|do|did) {_HERE} (?:say|state|mention|report|tell us"
    r"|write)\b[^?]*+\?*+\W*+"
    rf"|{_PLEASE}(?:summari[sz]e|sum up) {_HERE}(?: please)?\W*"
    rf"|\W*was (?:sagt|steht in|schreibt) {_HERE}[^?]*+\?*+\W*+|\W*fass(?:e|t)? {_HERE} zusammen\W*"
    rf"|\W*(?:请|請)?(?:总结|概括)(?:一下)?\s*{_HERE}\W*"
    rf"|[^\w{_HERE}]*+{_HERE}\s*+(?:里|中)?(?:关于|對於|对于)?[^，。？]*(?:说|講|讲|写|提到)了?(?:什么|些什么)\W*",
    re.IGNORECASE,
)
_NO_SOURCE = {
    "en": "No answer in this conversation has a source {number}.",
    "de": "Keine Antwort in diesem Gespräch hat eine Quelle {number}.",
    "zh": "这次对话的回答都没有来源 {number}。",
    "ja": "この会話の回答に出典 {number} はありません。",
    "ko": "이 대화의 답변에는 출처 {number}이(가) 없습니다.",
}


def answers_in(transcript: Transcript) -> list[Entry]:
    """Return our answers in a thread that have footnotes, oldest first."""
    return [entry for entry in transcript.entries if entry.role == "footnote" and entry.cited]


def last_answer(transcript: Transcript) -> Entry | None:
    """Return our last answer in the thread, if it has footnotes."""
    ours = [entry for entry in transcript.entries if entry.role == "footnote"]
    return ours[-1] if ours and ours[-1].cited else None


def pages_of(answers: Sequence[Entry]) -> tuple[str, ...]:
    """Return the distinct addresses of the pages that answers cite, in order."""
    return tuple(dict.fromkeys(cited.url for answer in answers for cited in answer.cited))


def recalled(transcript: Transcript, message: Message, language: str) -> Rewritten | None:
    """Return the rewrite of a message that plainly asks about answers of the thread, or None."""
    said = message.text.strip()
    answers = answers_in(transcript)
    sent = [file for file in message.attachments if not file.again]
    if not answers or sent or len(said) > LONGEST:
        return None
    if asks_for_thread(said):
        return of_thread(transcript, said, language)
    numbers = source_numbers(said)
    if asks_which_source(said):
        meant = with_numbers(transcript, numbers) if numbers else answers[-1:]
        return which_sources(meant, said, language)
    if asks_source(said) and pronoun(said) is None:
        meant = with_numbers(transcript, numbers) or with_titles(transcript, said)
        return of_sources(meant, said, language) if meant else None
    return None


def of_thread(transcript: Transcript, question: str, language: str) -> Rewritten:
    """Ask for the findings of the conversation so far, and what was not found."""
    answers = answers_in(transcript)
    retold = [answer for answer in answers if not _retells(answer)] or answers
    told = [
        entry
        for entry in transcript.entries
        if entry in retold or (entry.role == "footnote" and not entry.cited and _asked(entry))
    ]
    return Rewritten(
        "thread",
        question,
        language=language,
        earlier="\n\n".join(f"{answer.question}\n{answer.text}".strip() for answer in told),
        recalled=tuple(retold),
    )


def which_sources(meant: Sequence[Entry], question: str, language: str) -> Rewritten:
    """Ask for the titles and links of the sources meant; without any, reply that there are none."""
    if meant:
        return Rewritten("sources", question, language=language, recalled=tuple(meant))
    said = _NO_SOURCE.get(language.partition("-")[0], _NO_SOURCE["en"])
    reply = "\n".join(said.format(number=number) for number in source_numbers(question))
    return Rewritten("chat", question, language=language, reply=reply)


def of_sources(meant: Sequence[Entry], question: str, language: str) -> Rewritten:
    """Ask for the content of the sources meant, as a whole or about a topic."""
    beside = topic_words(_TITLED.sub(" ", without_sources(question)))
    titles = dict.fromkeys(label(a.cited[0].title or a.cited[0].url) for a in meant)
    return Rewritten(
        "links",
        f"{question} ({', '.join(titles)})" if beside else question,
        links=pages_of(meant),
        language=language,
        whole=not beside,
        recalled=tuple(meant),
    )


# ---------------------------------------------------------------- which footnotes


def with_numbers(transcript: Transcript, numbers: Collection[int]) -> list[Entry]:
    """Return, for each footnote number, the latest answer that has it, with those footnotes.

    An answer to "What was source 2?" repeats a source under its own number: it is only meant if no
    other answer has the number.
    """
    answers = answers_in(transcript)
    answers.sort(key=lambda answer: not asks_which_source(answer.question))
    meant = (_latest(answers, lambda c, n: c.number == n, n) for n in dict.fromkeys(numbers))
    return [answer for answer in meant if answer is not None]


def with_pages(transcript: Transcript, urls: Collection[str]) -> list[Entry]:
    """Return, for each address, the latest answer that cites its page, with those footnotes."""
    answers, keys = answers_in(transcript), dict.fromkeys(map(dedupe_key, urls))
    meant = (_latest(answers, lambda c, key: dedupe_key(c.url) == key, key) for key in keys)
    return [answer for answer in meant if answer is not None]


def with_titles(transcript: Transcript, text: str) -> list[Entry]:
    """Return the sources that a text names by words of their title or host: "the Keller page"."""
    answers = answers_in(transcript)
    called = (set(terms(match[1] or match[2])) for match in _TITLED.finditer(text))
    meant = (_latest(answers, lambda c, words: words <= _words_of(c), w) for w in called if w)
    return [answer for answer in meant if answer is not None]


def _latest(
    answers: Sequence[Entry], is_meant: Callable[[Citation, T], bool], by: T
) -> Entry | None:
    """The latest answer with a footnote that is meant, reduced to the footnotes for that page."""
    for answer in reversed(answers):
        if first := next((cited for cited in answer.cited if is_meant(cited, by)), None):
            return replace(answer, cited=tuple(c for c in answer.cited if c.url == first.url))
    return None


def _words_of(cited: Citation) -> set[str]:
    host = "" if cited.url.startswith(("file:", "upload:")) else domain(cited.url)
    return {*terms(cited.title), *terms(host.replace(".", " ")), host}


# ---------------------------------------------------------------- questions about them


def source_numbers(text: str) -> list[int]:
    """Return the numbers of our sources in a message: "source 2", "[3]", "the first source"."""
    said = [next(filter(None, match.groups())) for match in _IN_SOURCE.finditer(text)]
    return [int(number) if number.isdecimal() else _ORDINALS[number.lower()] for number in said]


def without_sources(text: str, instead: str = " ") -> str:
    """Return a text without its references to our numbered sources."""
    return _IN_SOURCE.sub(instead, text)


def asks_which_source(message: str) -> bool:
    """Return True if a message asks which our sources were, not what they say."""
    return len(message) <= LONGEST and _WHICH_SOURCE.fullmatch(message) is not None


def asks_for_thread(message: str) -> bool:
    """Return True if a message only asks what the conversation has found so far."""
    return len(message) <= LONGEST and _THREAD.fullmatch(message) is not None


def asks_source(text: str) -> bool:
    """Return True if a message only asks what one of our sources says, in general or about
    something."""
    said = _TITLED.sub(_HERE, without_sources(text, _HERE))
    return said.count(_HERE) == 1 and _ASKS_IT.fullmatch(said) is not None


def _asked(entry: Entry) -> bool:
    """Return True if an answer without footnotes was to a question, not to a greeting."""
    return entry.question.rstrip().endswith(("?", "？")) and not _retells(entry)


def _retells(answer: Entry) -> bool:
    return asks_which_source(answer.question) or asks_for_thread(answer.question)
