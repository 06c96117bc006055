"""Greetings, thanks and "what can you do?": answered at once, without a search."""

from __future__ import annotations

import re

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
_LONGEST = 80  # characters; what is longer says more than a greeting

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
    """The reply to a message that is small talk and nothing else; "" for every other message.

    In Chinese, Japanese or Korean if that is the ``language``, else in English.
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
