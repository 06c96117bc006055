"""Recognizes messages that need no search: greetings and thanks, which are answered at once, and
requests that only a model can fulfil.

Requests to write, translate or reword a text are not questions, and searching for them finds
nonsense. Without a model they are declined with a sentence that says so.
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
    """Return True if a message asks to write, translate or reword a text."""
    return _CHORE.match(message) is not None and _LONG_FORM.match(message) is None


def wants_shorter(message: str) -> bool:
    """Return True if a message only asks for our last answer in fewer words."""
    return _SHORTER.fullmatch(message) is not None


def wants_other_form(message: str) -> bool:
    """Return True if a message asks for our last answer in another language or form."""
    return _OTHER_FORM.fullmatch(message) is not None


def without_long_form(message: str) -> str | None:
    """Return the subject of a requested long text, or None."""
    match = _LONG_FORM.match(message)
    if match is None:
        return None
    return _GENRE.sub("", message[match.end() :]).strip() or message


def needs_model(language: str) -> str:
    """The reply that this needs a model, in Chinese, Japanese, Korean or otherwise English."""
    return _NEEDS_MODEL.get(language, _NEEDS_MODEL["en"])


_TO_US = r"(?: there| all| everyone| everybody| team| folks| bot| footnote| again)*"
_GREETING = re.compile(
    rf"(?:hi|hello|hey|howdy|greetings|yo|good (?:morning|afternoon|evening|day)){_TO_US}"
    r"(?:,? how (?:are you|is it going|are things)(?: doing)?(?: today)?)?|how are you(?: today)?"
    r"|hallo|guten (?:tag|morgen|abend)|moin|bonjour|bonsoir|salut|hola|buenos días|buenas tardes"
    r"|ciao|buongiorno|olá|bom dia|hoi|goedendag|hej|привет|здравствуйте"
    r"|你好|您好|大家好|嗨|哈喽|早上好|早安|上午好|下午好|晚上好|在吗"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|はじめまして|どうも"
    r"|안녕(?:하세요|하십니까)?|좋은 아침(?:입니다|이에요)?",
    re.IGNORECASE,
)
_THANKS = re.compile(
    rf"(?:ok(?:ay)?,? |great,? |perfect,? |cool,? )?(?:many )?(?:thanks|thank you|thx|ty|cheers)"
    rf"(?: so much| a lot| very much| a bunch| for (?:your|the|all|that)[\w ]{{0,40}})?{_TO_US}"
    r"|ok(?:ay)?|great|cool|nice|perfect|awesome|got it|well done|good bot|bye|goodbye|see you"
    r"(?: later)?|good night|never ?mind|danke(?: schön| sehr)?|vielen dank|merci(?: beaucoup)?"
    r"|(?:muchas )?gracias|grazie(?: mille)?|obrigad[oa]|bedankt|dank je|tack|спасибо"
    r"|(?:好的?[，,]?)?(?:谢谢(?:你|您|大家)?|多谢|感谢|谢啦)|好的|辛苦了|明白了|知道了|再见|拜拜"
    r"|ありがとう(?:ございます|ございました)?|了解(?:です|しました)?|さようなら|おやすみ(?:なさい)?"
    r"|감사합니다|고마워요?|고맙습니다|알겠습니다|안녕히 (?:계세요|가세요)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    rf"(?:{_GREETING.pattern})?[,!.\s]*(?:who|what) are you|what can you do(?: for (?:me|us))?"
    r"|what do you do|how do you work|how can you help(?: (?:me|us))?|help(?: me)?"
    r"|are you (?:a |an )?(?:bot|robot|human|person|ai|real)|what is your name|what's your name"
    r"|你是谁|您是谁|你(?:能|会|可以)(?:做|干)?(?:些)?什么|你叫什么(?:名字)?|帮助|怎么用"
    r"|あなたは誰(?:ですか)?|何ができますか|何ができるの|使い方|ヘルプ"
    r"|누구(?:세요|예요|십니까)|(?:무엇을|뭘) 할 수 있(?:나요|어요|습니까)|도움말",
    re.IGNORECASE,
)
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_LONGEST = 80  # characters; longer messages are more than a greeting

_HELLO = {"en": "Hello!", "zh": "你好！", "ja": "こんにちは。", "ko": "안녕하세요."}
_WELCOME = {
    "en": "You are welcome. Ask on in this thread whenever you like: its topic is carried along.",
    "zh": "不客气。可以在这个话题里继续提问，我会沿用前面的主题。",
    "ja": "どういたしまして。このスレッドで続けて質問できます。話題は引き継がれます。",
    "ko": "천만에요. 이 스레드에서 이어서 물어보세요. 주제를 이어 갑니다.",
}
_SELF = {
    "en": "I am Footnote: ask a question, and I search, read and answer with numbered footnotes to "
    "the words each sentence rests on. No language model is at work now, so my answers are "
    "quotations.",
    "zh": "我是 Footnote：请提一个问题，我会搜索、阅读并作答，"
    "每句话都附有编号脚注，指向所依据的原文。目前没有使用语言模型，所以我的回答是原文摘录。",
    "ja": "Footnote です。質問をいただくと、検索して読み、"
    "根拠となる原文への番号付き脚注を添えて答えます。今は言語モデルを使っていないため、回答は引用になります。",
    "ko": "저는 Footnote입니다. 질문을 주시면 검색하고 읽은 뒤, "
    "근거가 되는 원문에 번호 각주를 달아 답합니다. "
    "지금은 언어 모델 없이 동작하므로 답은 인용문입니다.",
}


def reply_to(message: str, language: str) -> str:
    """Return the reply to a message that is only small talk; "" for every other message.

    It is in Chinese, Japanese or Korean if that is the ``language``, otherwise in English.
    """
    said = _AROUND.sub("", " ".join(message.split()))
    if not said or len(said) > _LONGEST:
        return ""
    spoken = language if language in _SELF else "en"
    if _ABOUT.fullmatch(said):
        return _SELF[spoken]
    if _THANKS.fullmatch(said):
        return _WELCOME[spoken]
    if _GREETING.fullmatch(said):
        return f"{_HELLO[spoken]} {_SELF[spoken]}"
    return ""
