"""Recognizes requests that only a model can fulfil, questions about an answer of Footnote's, and
forms of texts.

Texts to be written, translated or reworded are no questions: searching for them finds nonsense.
Without a model they are declined, and that is said.
"""

from __future__ import annotations

import re

from bot.text.lazy_regex import lazy_regex

_PLEASE = r"\W*(?:(?:please|pls|kindly|now|ok(?:ay)?|thanks|great|hey|hi|footnote)\b\W*)*"
_CAN_YOU = (
    r"(?:(?:can|could|would|will) you (?:please )?|i(?:'d| would) like you to |help me (?:to )?)?"
)
_IT = r"(?:it|that|this|(?:your|the|that|this)(?: last)? (?:answer|reply|text|one))"
_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|finnish|polish"
    "|czech|russian|ukrainian|greek|turkish|arabic|hebrew|hindi|chinese|mandarin|cantonese|japanese"
    "|korean|vietnamese|thai|indonesian|words"
)
_CHORE = lazy_regex(
    rf"{_PLEASE}{_CAN_YOU}(?:"
    r"(?:translate|rephrase|reword|rewrite|paraphrase|proofread|polish|spell-?check)\b"
    r"|(?:correct|fix|improve) (?:the |my |this )?(?:grammar|spelling|wording|text|sentence|email)"
    r"|(?:write|compose|draft|make up|tell)(?: me| us)? (?:an?|some|the) (?:[\w'-]+ ){0,3}"
    r"(?:poem|haiku|limerick|song|rap|joke|story|riddle|e-?mail|letter|reply|response|message"
    r"|tweet|toast|speech|invitation|greeting|slogan|apology|thank-you note|birthday card)\b)"
    r"|\W*(?:请|帮我|请帮我|麻烦)?(?:翻译|改写|润色|校对)"
    r"|\W*(?:请|帮我|请帮我|给我)?写(?:一)?[首封个段篇条]?[^，。？]{0,8}(?:诗|邮件|信|回复|笑话|故事|祝福)",
    re.IGNORECASE,
)
_SHORTER = lazy_regex(
    rf"{_PLEASE}{_CAN_YOU}(?:(?:(?:make|keep|say) {_IT} )?(?:much |a bit |even )?(?:shorter|briefer"
    rf"|more concise)|shorten {_IT}|(?:be|more) (?:brief|concise)|tl;?dr|in short|in brief"
    rf"|(?:summari[sz]e|sum up) (?:your|the)(?: last)? (?:answer|reply)"
    r"|in (?:one|a single|two) sentences?)(?: please)?\W*"
    r"|\W*(?:请)?(?:再)?(?:简短|短|简洁|精简|简单)(?:一)?(?:点|些)(?:吧|儿)?\W*|\W*一句话(?:总结|概括)?\W*",
    re.IGNORECASE,
)
_OTHER_FORM = lazy_regex(
    rf"{_PLEASE}{_CAN_YOU}(?:(?:translate|rephrase|reword|rewrite|simplify|put|say|give) {_IT}\b.*"
    rf"|(?:{_IT} )?in(?:to)? (?:plain |simple |simpler )?(?:{_LANGUAGES})(?: please)?"
    r"|(?:as|in|make|turn \w+ into) (?:an? )?(?:table|list|bullet points|bullets)(?: please)?"
    r"|(?:longer|simpler|more simply)(?: please)?)\W*"
    r"|\W*(?:请)?(?:把(?:它|这个|答案)?)?(?:翻译(?:一下|成.{1,4})?|译成.{1,4}|用.{1,4}(?:说|回答|再说一遍))\W*"
    r"|\W*(?:请)?(?:做成|列成|整理成)?(?:表格|列表)\W*",
    re.IGNORECASE,
)
_LONG_FORM = lazy_regex(
    rf"{_PLEASE}{_CAN_YOU}(?:write|draft|prepare|give|create|produce|compile)(?: me| us)?"
    r" (?:an?|the) (?:[\w-]+ ){0,3}"
    r"(?:report|essay|article|white ?paper|overview|briefing|dossier)\b"
    r"(?: (?:about|on|of|over|regarding))?"
    r"|\W*(?:请|帮我|请帮我|给我)?写(?:一)?[篇份](?:关于|有关)?(?=.*(?:报告|文章|综述|论文|概述))",
    re.IGNORECASE,
)
_GENRE = lazy_regex(r"的?(?:报告|文章|综述|论文|概述)\W*$")

_NEEDS_MODEL = {
    "en": "That takes a language model, and none is at work now: I can search, read and quote. Ask "
    "a question, and I answer with footnotes to the words each sentence rests on.",
    "zh": "这需要语言模型，而目前没有使用：我可以搜索、阅读和摘录原文。"
    "请提一个问题，我会附上脚注作答。",
    "ja": "それには言語モデルが必要ですが、今は使っていません。"
    "検索して読み、原文を引用することはできます。質問をどうぞ。",
    "ko": "그 일에는 언어 모델이 필요한데 지금은 쓰지 않고 있습니다. "
    "검색하고 읽고 인용할 수 있으니 질문을 주세요.",
}


def is_chore(message: str) -> bool:
    """Whether a message wants a text of its own written, translated or reworded."""
    return _CHORE.match(message) is not None and _LONG_FORM.match(message) is None


def wants_shorter(message: str) -> bool:
    """Whether a message wants nothing but our last answer in fewer words."""
    return _SHORTER.fullmatch(message) is not None


def wants_other_form(message: str) -> bool:
    """Whether a message wants our last answer in another language or form."""
    return _OTHER_FORM.fullmatch(message) is not None


def without_long_form(message: str) -> str | None:
    """The subject of a long text that is asked for, or None when none is."""
    match = _LONG_FORM.match(message)
    if match is None:
        return None
    return _GENRE.sub("", message[match.end() :]).strip() or message


def needs_model(language: str) -> str:
    """A reply that this cannot be done now, in Chinese, Japanese or Korean or else in English."""
    return _NEEDS_MODEL.get(language, _NEEDS_MODEL["en"])
