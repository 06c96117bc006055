"""Detects sentences that give orders to a model or assistant that reads a text for a user.

Such sentences are planted in pages to steer answers ("prompt injection": Greshake et al., Not what
you've signed up for, 2023, arXiv:2302.12173). Documentation is full of legitimate imperatives: "Set
X to Y", "Ignore the warning if …". So an imperative alone is no sign. The signs are what it refers
to: the reader's earlier instructions, its role or mode, its reply, or the user whom it answers.
Supports English, Chinese and German.
"""

from __future__ import annotations

import re
from functools import lru_cache

from bot.text.sentences import sentences

LONGEST = 1_200  # characters of a sentence that are checked, the limit in ``bot.text.sentences``

# ---------------------------------------------------------------- English

_RULES = (
    r"(?:\w{0,3}nstructions?|prompts?|rules|guidelines|directives|directions|orders|context|"
    r"restrictions|constraints)"
)
_EARLIER = (
    r"(?:previous|prior|earlier|preceding|above|foregoing|former|initial|original|existing|system|"
    r"safety|developer)"
)
_FORGET = r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)|bypass|discard|violate)"
_REPLY = r"(?:final |own |next |whole |entire )?(?:answer|response|reply|output|summary|message)s?"
_NO_REPLY = (  # exclude replies of programs, and forms
    r"(?!['’]s\s+(?:header|code|body|status)|\s+(?:headers?|files?|codes?|objects?|body|stream|"
    r"director\w+|formats?|types?|folder|device|handler|schema|model|class|queue|path|function|"
    r"template|units?|drivers?|plugins?|(?:in)?to\s+(?:the|an?|this))\b)"
)
_AI = r"(?:AIs?|A\.I\.|LLMs?|(?:large\s+)?language\s+models?|chat\s?bots?|AI\s+(?:\w+))"
_MODE = (
    r"(?:maintenance|developer|debug|admin(?:istrator)?|god|jailbreak|unrestricted|root|test|DAN)"
)
_SPOKEN = r"^\W*(?:(?:important|attention|urgent|warning|note|notice|stop)\W+)*"
_ENGLISH = (
    rf"\b{_FORGET}\s+(?:\w+\s+){{0,3}}?(?:{_EARLIER}|your)\s+(?:\w+\s+)?{_RULES}",
    rf"\b{_FORGET}\s+(?:all|any|every)\s+(?:of\s+)?(?:the\s+|these\s+)?{_RULES}"
    r"(?!\s+(?:in|from|for|on|with|matching|defined)\b)",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:that\s+)?"
    r"(?:you\s+(?:were|have|had|are)|(?:was\s+|is\s+)?(?:said|written)\b|(?:I|we)\s+(?:said|told))",
    rf"\b(?:break|ignore|forget|abandon)\s+your\s+(?:{_RULES}|training|programming|task|role)\b",
    rf"\bstrictly\s+(?:adhere\s+to|follow|obey)\s+(?:the\s+following|these|this|my)\s+{_RULES}",
    rf"\byou\s+are\s+(?:now|currently|from\s+now\s+on|hereby)\s+(?:\w+\s+)?(?:in|into|under)\s+"
    rf"(?:\w+\s+)?{_MODE}\s+mode",
    r"\byou\s+are\s+(?:now|from\s+now\s+on|henceforth)\s+(?:(?:an?|the|my)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:AI|assistant|chat\s?bot|bot|language\s+model|hacker|pirate|persona|character|poet)\b|DAN\b"
    r"|free\s+(?:from|of)\s+(?:all|any|your)|unrestricted|no\s+longer\s+bound)",
    r"\b(?:from\s+now\s+on|henceforth),?\s+(?:please\s+)?(?:you\s+(?:are|will|must|shall)\s+(?:an?\b"
    r"|only\b|answer|reply|respond|speak)|act\s+as|pretend|reply|respond|answer)\b",
    r"\bact\s+as\s+(?:(?:if|though)\s+you\s+were\b|an?\s+(?:[\w-]+\s+){0,2}(?:AI|assistant|chat\s?bot)\b)"
    rf"|{_SPOKEN}(?:please\s+|now\s+|you\s+(?:must|should|will)\s+)*pretend\s+(?:to\s+be|(?:that\s+)?"
    r"you\s+are)\b",
    rf"\b(?:your|the\s+assistant's)\s+(?:new|real|actual|only|true)\s+(?:task|goal|job|{_RULES})\s+"
    r"(?:is|are)\b|\byour\s+task\s+is\s+now\b",
    rf"{_SPOKEN}(?:new|updated|revised|real|actual)\s+(?:system\s+)?(?:tasks?|{_RULES})\s*:\s",
    rf"{_SPOKEN}(?:system|assistant|override)\s*+(?:(?:message|prompt|note|notice|override)\s*+)?:\s*"
    r"(?:you\b|your\b|ignore|disregard|please|reply|respond|answer|the\s+assistant)",
    rf"{_SPOKEN}(?:(?:message|notes?|{_RULES})\s+(?:to|for)\s+)?(?:all\s+|any\s+|the\s+|every\s+)?"
    rf"{_AI}\s*[:,]",
    rf"{_SPOKEN}(?:message|notes?|{_RULES}|attention)(?:\s*+(?:to|for|:|,))?\s++(?:all\s+|any\s+|every\s+)?"
    rf"{_AI}\s*[:,]",
    rf"\b{_AI}(?:\s+\w+)?\s+(?:reading|processing|parsing|crawling|summari[sz]ing|(?:that|which|who)"
    r"\s+(?:reads?|process\w*|summari[sz]es?))\s+(?:this|the)\b",
    rf"\b(?:if|as|since)\s+(?:you\s+are\s+)?an?\s+{_AI}(?:\s+\w+)?,?\s+(?:you\s+)?(?:must|should|"
    r"have\s+to|are\s+to|please|ignore|include|say|mention)\b",
    rf"{_SPOKEN}(?:(?:please|and|now|always|you\s+(?:must|should|will|may))\s+)*(?:reply|respond|"
    r"answer)\s+(?:(?:only|solely|exclusively|just)\s+(?:with|by)\b|only\s+(?:[\"“'‘]|the\s+word)|"
    r"(?:with|by\s+saying)\s+(?:only|just|exactly|nothing\s+but|the\s+(?:single|exact)\b)|"
    r"(?:to\s+)?(?:every|all|any)\s+questions?\s+(?:with|by)\b)",
    r"\b(?:do\s+not|don['’]t|never|must\s+not)\s+(?:mention|reveal|disclose|tell|warn|inform)\s+"
    rf"(?:\w+\s+){{0,6}}?(?:(?:the|your)\s+users?\b|your\s+{_REPLY}|(?:these|this)\s+{_RULES})",
    r"\b(?:tell|assure|convince|persuade|urge)\s+(?:the|your)\s+users?\s+(?:that|to)\b",
    r"\b(?:add|include|insert|append|put|integrate|mention|end|begin|start|finish|modify|augment|"
    r"enhance|replace|remove|scramble|misspell|rearrange|group|convert|provide|introduce|use|"
    r"combine|substitute|render|jumble|anagram|highlight)\b.{0,160}?\byour\s+"
    rf"{_REPLY}\b{_NO_REPLY}",
    rf"^\W*in\s+your\s+{_REPLY},?\s+(?:tease|suggest|mention|include|say|add|write|recommend)\b",
    r"\bwhen(?:ever)?\s+(?:you\s+)?(?:are\s+)?(?:summari[sz]\w+|asked|cit\w+|quot\w+)\s+(?:about\s+)?"
    r"(?:this|the)\s+\w+,?\s+(?:\w+\s+)?(?:say|state|claim|mention|recommend|tell|reply|answer|"
    r"include)\b",
    r"\b(?:reveal|print|output|repeat|show|leak|disclose|send)\s+(?:\w+\s+){0,2}?(?:your|the)\s+"
    rf"(?:hidden\s+|system\s+|initial\s+|secret\s+)(?:prompt|{_RULES})",
    r"\bcall\s+the\s+\w+\s+tool\s+with\b",
    r"\bthe\s+task\s+that\s+I\s+gave\s+you\b|\bthis\s+is\s+an\s+important\s+message\s+from\s+me\b",
    # Markup of chat templates.
    r"(?<!#)#{2,}+\s*+\(?system_?\s?message\b|\[/?INST\]|<\|(?:im_start|im_end|system|user|assistant|"
    r"endoftext|eot_id)\|>|<</?SYS>>|^\W*</?(?:system|assistant|INFORMATION)>",
)

# ---------------------------------------------------------------- Chinese

_READER = r"(?:用户|用戶|使用者|提问者|提問者)"
_MODEL = (
    r"(?:(?<![A-Za-z])AI|人工智能|人工智慧|大?(?:语言|語言)模型|大模型|"
    r"聊天(?:机器人|機器人)|智能助手)"
)
_RULES_ZH = (
    r"(?:指令|指示|规则|規則|提示词|提示詞|提示语|提示語|系统提示|系統提示|设定|設定|约束|約束)"
)
_FORGET_ZH = r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|抛弃|拋棄)"
_ANSWER_ZH = r"(?:回答|回复|回覆|答复|答覆)"
_CHINESE = (
    rf"{_FORGET_ZH}[^。！？；]{{0,8}}?(?:之前|以前|此前|先前|上述|以上|前面|上面|所有|全部|一切|你的|"
    rf"您的)[^。！？；]{{0,8}}?{_RULES_ZH}",
    rf"{_FORGET_ZH}(?:以上|上面|前面|之前)的?(?:所有|全部|一切)?(?:内容|內容|文字|要求)",
    r"(?:你|您)(?:现在|現在|已经|已經|从现在起|從現在起|将|將)*(?:是|处于|處於|进入|進入|切换到|切換到)"
    r"(?:了)?(?:维护|維護|开发者|開發者|调试|調試|管理员|管理員|越狱|越獄|无限制|無限制)模式",
    r"(?:你|您)(?:现在|現在|从现在起|從現在起)(?:是|扮演)[^。！？]{0,12}?(?:AI|助手|助理|机器人|機器人|"
    r"模型|专家|專家|黑客|駭客)",
    rf"(?:从现在(?:起|开始)|從現在(?:起|開始))[，,]?(?:你|您|请|請)?(?:只|必须|必須|都|要)[^。！？]{{0,12}}?"
    rf"{_ANSWER_ZH}",
    rf"(?:你|您)的(?:新|真正的?|唯一的?)(?:任务|任務|目标|目標|{_RULES_ZH})是",
    rf"(?:只|仅|僅)(?:能|需|要|可|允许|允許)?(?:用|以)?{_ANSWER_ZH}(?:[“「『\"'‘：:]|一个字|一個字)",
    rf"(?:必须|必須|只能)(?:用|以)[“「『\"][^。！？；]{{0,20}}?{_ANSWER_ZH}",
    rf"(?:请|請|务必|務必|必须|必須)?在(?:你的?|您的?)?{_ANSWER_ZH}(?:的?(?:中|里|裡|末尾|开头|開頭|最后|"
    r"最後))(?:必须|必須|请|請|务必|務必|也)?(?:加入|加上|添加|包含|插入|写上|寫上|提到|提及|附上|推荐)",
    rf"(?:不要|不得|切勿|别|別|禁止)(?:告诉|告訴|告知|提醒|向){_READER}",
    rf"(?:告诉|告訴|告知){_READER}[^。！？；]{{0,4}}?(?:说|說|该|該|这|這|，|：)",
    rf"(?:致|给|給|所有|各位)?{_MODEL}(?:助手|助理|读者|讀者)?(?:请|請)?(?:注意|们|們)?[：:]",
    rf"(?:如果|若|作为|作為)(?:你|您)?(?:是|一个|一個)*{_MODEL}[^。！？；]{{0,6}}?(?:你|您|请|請|必须|必須)",
    r"(?:泄露|洩露|透露|输出|輸出|显示|顯示|重复|重複)[^。！？]{0,6}?(?:你|您)的(?:系统|系統)?(?:提示|指令)",
    r"^\W*(?:系统|系統)(?:提示|消息|訊息|指令)[：:]\s*(?:请|請|你|您|必须|必須|忽略|在)",
)

# ---------------------------------------------------------------- German

_RULES_DE = r"(?:Anweisung|Instruktion|Regel|Vorgabe|Befehl|Prompt|Richtlinie|Systemanweisung)\w*"
_REPLY_DE = r"(?:deine|Ihre)[rmn]?\s+(?:Antwort|Ausgabe|Zusammenfassung)\b"
_USER_DE = r"(?:Nutzer|Benutzer|Anwender|Fragesteller)\w*"
_AI_DE = r"(?:KI(?:-\w+)?|Sprachmodell\w*|Chatbots?)"
_GERMAN = (
    r"\b(?:ignorier|vergiss|vergess|missacht|übergeh|verwirf)\w*\s+(?:\w+\s+){0,3}?(?:vorherig|"
    r"vorig|bisherig|früher|obig|vorangehend|vorangegangen|ursprünglich|deine|Ihre)\w*\s+(?:\w+\s+)?"
    rf"{_RULES_DE}",
    rf"\b(?:ignorier|vergiss|vergess)\w*\s+(?:Sie\s+|du\s+)?(?:alle|sämtliche)\s+{_RULES_DE}"
    r"(?!\s+(?:in|aus|für|auf|mit|von|der|des)\b)",
    r"\b(?:du\s+bist|Sie\s+sind|du\s+befindest\s+dich|Sie\s+befinden\s+sich)\s+(?:jetzt|nun|ab\s+"
    r"sofort)\s+(?:im\s+(?:Wartungs|Entwickler|Debug|Admin|Test)\w*|ein\w*\s+(?:\w+\s+)?(?:"
    rf"Assistent|Bot|{_AI_DE}))",
    r"\bab\s+(?:jetzt|sofort)\s+(?:antworte|bist\s+du|antworten\s+Sie)\b",
    r"\b(?:antworte|antworten\s+Sie|erwidere)\s+(?:bitte\s+)?(?:nur|ausschließlich|lediglich)\s+"
    r"(?:noch\s+)?(?:mit|auf)\b",
    rf"\b(?:sage?|sagen\s+Sie|teile|erzähle|verrate|verraten\s+Sie)\s+(?:dem|den|der)\s+{_USER_DE}"
    r",?\s+(?:nicht|dass|mit)\b",
    rf"\b(?:füge?|ergänze?|erwähne?|nenne?)\w*\s.{{0,80}}?{_REPLY_DE}|\bin\s+{_REPLY_DE}\s+.{{0,40}}?"
    r"\b(?:ein|hinzu|erwähne\w*|nenne\w*)\b",
    r"\b(?:deine|Ihre)\s+(?:neue|eigentliche|einzige)\s+Aufgabe\s+(?:ist|lautet)\b",
    rf"^\W*(?:\w+\s+(?:an|für)\s+)?(?:alle\s+|die\s+)?{_AI_DE}\s*:",
)

_ORDER = re.compile("|".join((*_ENGLISH, *_CHINESE, *_GERMAN)), re.IGNORECASE)


@lru_cache(maxsize=4096)  # many sentences cite one passage, and several surfaces show it
def is_order(sentence: str) -> bool:
    """True if a sentence of a page tells a model what to say or to forget.

    Pure. Sentences in languages other than English, Chinese and German are never orders.
    """
    return _ORDER.search(" ".join(sentence[:LONGEST].split())) is not None


def only_orders(text: str) -> bool:
    """True if each sentence of a text is an order."""
    found = sentences(text)
    return bool(found) and all(is_order(text[each.start : each.end]) for each in found)
