"""Sentences that give orders to whoever reads a text for somebody else: to a model or an assistant.

Such sentences are planted in pages to steer answers ("prompt injection": Greshake et al., Not what
you've signed up for, 2023, arXiv:2302.12173). Documentation is full of imperatives, which are
honest: "Set X to Y", "Ignore the warning if …". So an imperative alone is no sign. The signs are
what it is about: the reader's earlier instructions, its role, its rules, its reply, the user it
answers, or what it would say.
"""

from __future__ import annotations

import re
from functools import lru_cache

_RULES = r"(?:instructions?|prompts?|rules|guidelines|directives|context|directions|orders)"
_EARLIER = r"(?:previous|prior|earlier|preceding|above|foregoing|former|initial|original|existing)"
_REPLY = r"(?:final |own |next |whole |entire )?(?:answer|response|reply|output|summary|message)s?"
_SAY = (
    r"(?:reply|respond|answer|output|say|print|write|return|repeat|reveal|state|claim|tell|insert|"
    r"include|append|add|begin|start|end|finish)"
)
_ENGLISH = (
    # Earlier instructions.
    rf"\b(?:ignor|disregard|forget|overrid|overlook|neglect|bypass|discard|drop)\w*\s+"
    rf"(?:\w+\s+){{0,4}}?(?:all\s+|any\s+|every\s+)?(?:of\s+)?(?:your|these|those|the|my|our)?\s*"
    rf"(?:{_EARLIER}|system|safety)\s+(?:\w+\s+)?{_RULES[:3]}{_RULES[3:]}",
    rf"\b(?:ignore|disregard|forget|override)\s+(?:all|any|every|everything)\s+(?:of\s+)?"
    rf"(?:(?:the|your|these|its)\s+)?(?:\w+\s+)?{_RULES}",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:that\s+)?"
    r"(?:(?:you|I|we)\b|(?:was|is|has been|stands)?\s*(?:said|written|above|before))",
    rf"\b(?:ignore|disregard|forget|override|violate|break)\s+your\s+(?:\w+\s+)?"
    rf"(?:{_RULES}|training|programming|task|role|system)",
    r"\b(?:instead of|rather than|before)\s+(?:answering|replying|responding|you\s+(?:answer|reply|"
    r"respond|can\s+solve\s+the\s+task))",
    # Role and mode.
    r"\byou\s+(?:are|act|operate|work|run)\s+(?:now|from now on|henceforth)\b"
    r"(?!\s+(?:ready|able|done|finished|connected|logged|free|set|using|running|in\s+the))",
    r"\b(?:from now on|henceforth),?\s+(?:you\s+(?:are|will|must|shall|act)|act\b|pretend\b|"
    r"(?:reply|respond|answer|speak|talk)\b)",
    r"\byou\s+(?:are|have been|were)\s+(?:now\s+|currently\s+)?(?:switched\s+to|put\s+into|in)\s+"
    r"(?:\w+\s+)?(?:maintenance|developer|debug|admin|god|jailbreak|unrestricted|test|DAN)\s+mode",
    r"\b(?:act|behave|pretend|roleplay|role-play)\s+(?:as\s+(?:if\s+you|an?\s+(?:\w+\s+)?(?:AI|"
    r"assistant|chatbot|language model|expert|DAN))|to\s+be\s+an?\b|that\s+you\s+are)",
    r"\b(?:enter|activate|enable|switch\s+to)\s+(?:developer|god|jailbreak|DAN|unrestricted)\s+mode",
    # The model itself, spoken to.
    r"^\W*(?:(?:important|attention|note|notice|warning|urgent)\W+)?(?:(?:message|note|"
    r"instructions?|instruction)\s+(?:to|for)\s+)(?:all\s+|any\s+|the\s+|every\s+)?"
    r"(?:AI|A\.I\.|LLMs?|language\s+models?|assistants?|chat\s?bots?|bots|models?|agents?)\b",
    r"^\W*(?:dear\s+|hey\s+|hello\s+|attention,?\s+)(?:AI|LLM|language model|chat\s?bot|assistant|"
    r"ChatGPT|Claude|Gemini|Copilot)\b",
    r"\b(?:AI|LLM|language\s+model|chat\s?bot)\s*(?:assistants?|models?|agents?|readers?|systems?)?"
    r"s?\s*[,:]?\s+(?:(?:that|which|who)\s+(?:read|process|summari[sz]e)\w*\s+(?:\w+\s+){1,4})?"
    r"(?:must|should|shall|have\s+to|are\s+(?:required|instructed|ordered|asked))\s+(?:now\s+|"
    r"always\s+|only\s+|never\s+|not\s+)?(?:" + _SAY[3:-1] + r"|ignore|recommend|mention|follow|"
    r"disregard)\b",
    r"\b(?:if|since|when)\s+you\s+are\s+(?:an?\s+)?(?:AI|A\.I\.|LLM|language\s+model|chat\s?bot|"
    r"AI\s+assistant)\b",
    # What it would say.
    rf"^\W*(?:\w+\W+){{0,6}}?{_SAY}\s+(?:back\s+)?(?:only|solely|exclusively|nothing\s+but)\s+"
    r"(?:with|in|by|the\s+(?:word|phrase|sentence|text))\b",
    r"\b(?:do\s+not|don't|never|must\s+not|don’t)\s+(?:mention|reveal|disclose|tell|inform|warn|"
    r"cite|show)\s+(?:\w+\s+){0,6}?(?:(?:to|in)\s+(?:the\s+user|your\s+"
    rf"{_REPLY})|(?:the|your)\s+users?\b|(?:these|this)\s+(?:\w+\s+)?{_RULES})",
    r"\b(?:tell|inform|assure|convince|persuade|advise|instruct|urge)\s+(?:the|your)\s+user\s+"
    r"(?:that|to)\b",
    rf"\b(?:add|include|insert|append|put|integrate|mention|end|begin|start|finish|modify|"
    rf"augment|enhance|replace|remove|scramble|misspell|rearrange|group|convert|provide|introduce|"
    rf"use|combine|substitute|render|jumble|anagram|tease|suggest|write|give|translate)\b"
    rf"[^.!?]{{0,120}}?\b(?:in|into|to|of|at|from|with|for|within|through)?\s*your\s+{_REPLY}(?!['’]s"
    r"\s+(?:header|code|object|status|body)|\s+(?:header|file|code|object|body|stream|director|"
    r"format|type|folder|device|handler|schema|model|class|queue|broker|path|function|template|"
    r"catalog|unit|driver))\b",
    rf"^\W*in\s+your\s+{_REPLY},?\s+(?:\w+\s+)?(?:tease|suggest|mention|include|say|add|use|write)",
    r"\b(?:reveal|print|output|repeat|show|leak|display|send)\s+(?:\w+\s+){0,3}?(?:your|the)\s+"
    r"(?:system\s+prompt|hidden\s+(?:prompt|instructions)|initial\s+(?:prompt|instructions)|"
    r"(?:own\s+)?instructions\b)",
    r"\bcall\s+the\s+\w+\s+tool\s+with\b",
    r"\b(?:please\s+)?do\s+the\s+following\s+(?:first|instead)\b.{0,20}$",
    r"^\W*(?:this\s+is\s+)?an?\s+important\s+message\s+(?:from\s+me|to\s+you)\b",
    rf"\bstrictly\s+(?:adhere\s+to|follow|obey)\s+(?:the\s+following|these|this|my)\s+{_RULES}",
    rf"\b(?:new|updated|real|actual)\s+(?:system\s+)?{_RULES}\s*(?:for\s+you\b|:)\s*(?:you|ignore|"
    r"reply|answer|respond|say)",
    r"#{2,}\s*\(?(?:system|instruction)[\w ]*\)?|\[/?(?:INST|SYSTEM)\]|<\|(?:im_start|im_end|"
    r"system|user|assistant|endoftext)\|?>|<</?SYS>>|</?(?:system|assistant|INFORMATION)>",
)
_CHINESE = (
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|抛弃|拋棄)[^。！？；]{0,12}?"
    r"(?:之前|以前|此前|先前|上述|以上|前面|上面|所有|全部|一切|系统|系統|你的)[^。！？；]{0,10}?"
    r"(?:指令|指示|规则|規則|提示词|提示詞|提示|设定|設定|命令|要求|约束|約束|内容|內容)",
    r"(?:你|您)(?:现在|現在|从现在起|從現在起|从现在开始|從現在開始)(?:已经|已經)?"
    r"(?:是|处于|處於|进入|進入|将|將|要|必须|必須|扮演)",
    r"(?:从现在起|從現在起|从现在开始|從現在開始)[，,]?(?:你|您|请|請)",
    r"(?:只|仅|僅|只能|只需|必须|必須|请|請)(?:回答|回复|回覆|输出|輸出|答复|答覆)"
    r"[“「『\"'：:]",
    r"(?:只能?|仅|僅|必须|必須)(?:用|以)[^。！？；]{0,20}?(?:回答|回复|回覆|答复|答覆)",
    r"(?:在|将|將)?(?:你|您)的(?:回答|回复|回覆|答复|答覆|输出|輸出|摘要)(?:中|里|裡|末尾|开头|開頭|"
    r"最后|最後)?(?:加入|添加|包含|插入|写|寫|提到|提及|说|說|附上|必须|必須|不要)",
    r"(?:不要|不得|切勿|别|別)(?:告诉|告訴|告知|提醒|向)(?:用户|用戶|使用者|读者|讀者|提问者|提問者)",
    r"(?:告诉|告訴|告知)(?:用户|用戶|使用者|提问者|提問者)",
    r"(?:致|给|給|作为|作為|各位|所有)(?:所有|一个|一個)?(?:AI|人工智能|人工智慧|大?语言模型|"
    r"大?語言模型|大模型|聊天机器人|聊天機器人)(?:助手|助理|模型|读者|讀者)?[：:，,]",
    r"(?:假装|假裝|扮演)(?:你|您|成)?(?:是|成)?[^。！？]{0,8}?(?:AI|助手|助理|专家|專家|机器人|機器人)",
    r"(?:泄露|洩露|透露|输出|輸出|显示|顯示|重复|重複)[^。！？]{0,8}?(?:系统提示|系統提示)",
)
_GERMAN = (
    r"\b(?:ignorier|vergiss|vergess|missacht|überge|verwirf)\w*\s+(?:Sie\s+|du\s+|bitte\s+)?"
    r"(?:\w+\s+){0,4}?(?:vorherig|vorig|bisherig|früher|obig|vorangehend|ursprünglich|"
    r"vorhergehend|all|sämtlich|dein|Ihr)\w*\s+(?:\w+\s+){0,2}?"
    r"(?:Anweisung|Instruktion|Regel|Vorgabe|Befehl|Prompt|Richtlinie|System)\w*",
    r"\b(?:du\s+bist|Sie\s+sind|du\s+befindest\s+dich|Sie\s+befinden\s+sich)\s+(?:jetzt|nun|ab\s+"
    r"(?:jetzt|sofort))\s+(?:im|in|ein)\b[^.!?]{0,40}?(?:modus|assistent|bot|KI|Modell)\w*",
    r"\bab\s+(?:jetzt|sofort)\s+(?:antworte|bist\s+du|sind\s+Sie|antworten|schreibe|sprich)\w*",
    r"\b(?:antworte|erwidere|schreibe|sage|gib)\w*\s+(?:Sie\s+|bitte\s+|dem\s+Nutzer\s+)?"
    r"(?:nur|ausschließlich|lediglich)\s+(?:noch\s+)?(?:mit|auf|in|[„“\"»])",
    r"\b(?:sage|sag|teile|erzähle|verrate)\w*\s+(?:Sie\s+)?(?:dem|den|der)\s+(?:Nutzer|Benutzer|"
    r"Anwender|Leser|Fragesteller)\w*\s+(?:nicht|dass|mit)",
    r"\b(?:in|an|zu)\s+(?:deine|Ihre)[rmn]?\s+(?:Antwort|Ausgabe|Zusammenfassung)\b[^.!?]{0,60}?"
    r"(?:ein|hinzu|an|auf|erwähne\w*|schreibe\w*|nenne\w*)\b",
    r"\b(?:füge?|ergänze?|erwähne?|nenne?)\w*\s[^.!?]{0,80}?\b(?:deine|Ihre)[rmn]?\s+(?:Antwort|"
    r"Ausgabe|Zusammenfassung)",
    r"\b(?:Hinweis|Nachricht|Anweisung|Achtung)\w*\s*(?:an|für)?\s*:?\s*(?:alle\s+|den\s+|die\s+)?"
    r"(?:KI|Sprachmodell|Chatbot|Assistent)\w*",
)
_ORDER = re.compile("|".join(f"(?:{one})" for one in (*_ENGLISH, *_CHINESE, *_GERMAN)), re.I)
LONGEST = 1_200  # characters of a sentence that are looked at, as ``bot.text.sentences`` cuts them


@lru_cache(maxsize=4096)  # a passage is cited by many sentences, and shown on many surfaces
def is_order(sentence: str) -> bool:
    """Whether a sentence of a page tells its reader how to answer or what to forget.

    Pure, for English, Chinese and German; other languages are let pass.
    """
    return _ORDER.search(" ".join(sentence[:LONGEST].split())) is not None
