"""Understands a message from its words alone, without a model: its language, whether it refers
back, is a plain question, corrects our last answer, or asks about earlier answers and their
sources.

The rewrite by a model would return a plain question unchanged, and costs seconds before anything is
read: it is only called if something needs judgement.

Messages about earlier answers ("What was source 2?", "What does the Keller page say about prices?",
"Summarize this conversation") are answered from the stored answers (``research.pipeline``), without
a search. A number refers to the latest answer that has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from bot.core.lines import label
from bot.core.messages import Citation, Entry, Message, Transcript
from bot.pages.urls import dedupe_key, domain, hosts_in, links_in, links_said
from bot.reasoning.evidence import Rewritten
from bot.text.language import detect
from bot.text.patterns import lazy_regex, listed
from bot.text.sentences import sentences
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords, terms

_PRONOUN = lazy_regex(
    r"\b(?:it|it['’]s|they|they['’]re|them|he|he['’]s|him|she|she['’]s|her|its|their|theirs|his|hers)\b"
    "|[它他她]们|它|(?<!其)他(?!国|人|乡)|她|其(?!他|实|中|它|次|余)|それら?|これら?|彼女たち|彼女|彼ら"
    "|彼(?!岸)|그것들|그것|이것|그들|그녀|그는|그가",
    re.IGNORECASE,
)
_NO_PRONOUN = lazy_regex(
    r"`[^`]*`|\bit (?:takes?|took|rains?|snows?)\b|\bdoes it (?:mean|take)\b"
    r"|\b(?:is|was) it (?:\w+ )?(?:true|possible|legal|safe|ok|necessary|important|better|worth"
    r"|healthy|normal|bad|good|hard|easy|common) (?:to|that|for|if)\b",
    re.IGNORECASE,
)
"""Code, and an "it" that refers to nothing: "How long does it take to boil an egg?"."""

_OPENING = lazy_regex(
    r"^\W*(?:(?:ok|okay|great|thanks|so|also|now|then)\b\W*)*(?:"
    r"(?:and|but|or|what about|how about|what of|what if|what else|how so|go on)\b"
    r"|(?:und|aber|oder|wie (?:ist|steht) es (?:mit|um)|was ist mit)\b"
    r"|(?:et|mais|ou|qu['’]en est-il)\b|(?:y|pero|o|e|ma|ed)\b"
    r"|(?:tell me |any |some )?more\b|(?:why|how|when|where|who|really)(?: not| come)?\W*$)"
    r"|呢[？?]?$|^(?:那|然后|还有)|[はも][？?]$|^(?:では|じゃあ|それでは)|[은는]요?[？?]$|^그(?:럼|러면|리고)"
    "|[这那](?:个|些|种|里|儿)|该(?=[国城市公司地人])|上述"
    "|^(?:为什么|为何|怎么会|怎么办|什么时候|在哪里|谁|多少|なぜ|どうして|いつ|どこ|誰|왜|언제|어디|누가)"
    "(?:吗|ですか|なの|요|인가요|예요)?[？?！!。]*$",
    re.IGNORECASE,
)
_READING = listed(
    "summarize summarise summary sum up read tldr tl dr explain describe page pages article "
    "articles link links url urls post posts site sites website websites paper papers document "
    "documents file files attached attachment upload uploaded "
    "says say said about content contents check look see review point points "
    "main key briefly short overview gist quote compare comparison bullet bullets sentence "
    "sentences word words paragraph paragraphs one two three four five six seven eight nine ten "
    "both them it report write draft give make prepare zusammenfassen "
    "fasse fass zusammen zusammenfassung datei seite worum geht steht dokument anhang angehängte "
    "es diese dieser dieses die der das bitte resume fichier"
)
_READING_EASTERN = lazy_regex(
    "总结|總結|摘要|概括|概述|阅读|读一读|读|主要内容|内容|文章|文件|附件|文档|链接|网页|网站|页面|比较|对比|介绍|简述|要点"
    "|谢谢|帮我|给我|看看|看一下|一下|说了什么|讲了什么|关于什么|报告|[请把用和与这那写两几一二三四五个篇份句话条点中里]"
    "|要約|まとめ|記事|リンク|ページ|比較|読んで|ください|して|下さい"
    "|요약|내용|기사|링크|페이지|비교|읽어|해 ?주세요|주세요"
)


def language_of(transcript: Transcript, message: Message) -> str:
    """The message's language, or that of the thread or the person if the message is too short."""
    said = without_links(message.text)
    has_words = any(char.isalpha() for char in said)
    if has_words and keywords(said) and (has_cjk(said) or len(said) > 3):
        return detect(said)
    spoken = [entry.text for entry in transcript.entries if entry.role == "person"]
    return detect(spoken[-1]) if spoken else message.locale.partition("-")[0] or "en"


def pronoun(text: str) -> re.Match[str] | None:
    """Return the first pronoun of a message that can refer to something before it."""
    return _PRONOUN.search(_NO_PRONOUN.sub(lambda match: "_" * len(match.group()), text))


def goes_on(text: str) -> re.Match[str] | None:
    """Return the beginning (in Chinese, Japanese and Korean also the end) of a message that
    continues what was said: "And …", "What about …", "… 呢？"."""
    return _OPENING.search(text.strip())


def topic_words(said: str) -> list[str]:
    """Return the words of a message besides those that ask to read something."""
    words = [fold(word) for word in content_words(_READING_EASTERN.sub(" ", said))]
    return [w for w in words if w not in _READING | STOP_WORDS and not w.isdigit()]


def without_links(text: str) -> str:
    """Return a text without its links and the Markdown around them."""
    for link in links_in(text):
        text = text.replace(link, " ").replace(link.removeprefix("http://"), " ")
    for host, address in hosts_in(text):
        if len(address) > len(f"https://{host}/"):
            text = text.replace(address.removeprefix("https://"), " ")
    return re.sub(r"[<(]\s*[>)]|\[([^\[\]]*)\]\s*\(\s*\)", r"\1", text).strip()


LONGEST = 300  # characters of a plain message
FEWEST_KEYWORDS = 2

_PREPOSITION = r"(?:in|at|on|to|for|from|by|with|of|during|under)"
_YES_OR_NO = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|might|must)\b"
_ORDERS = (
    r"(?:please|write|list|tell|give|show|name|find|check|describe|make|draft|translate|say|ask"
    r"|look|search|help|suppose|imagine)\b"
)
_PLAINLY_ASKS = {
    "en": re.compile(
        rf"\A(?:(?:{_PREPOSITION} )?"
        r"(?:who|whom|whose|what|which|when|where|how (?:many|much|long|old|tall|high|far|big|large"
        r"|deep|fast|often))\b"
        # Asked late, as in a quiz: "The Forth Bridge is painted in what colour?"
        rf"|(?!{_YES_OR_NO}|{_ORDERS})[^,:]* {_PREPOSITION} (?:what\b|which \w+ ?\?))",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"\A[^，。！；]*(?:谁|什么|哪|几|多少|多大|多高|多长|何时|何地)"),
}
_LEFT_TO_JUDGE = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|ours|you|your|yours|footnote|here|now|nowadays"
    r"|this (?:morning|afternoon|evening|day|week|weekend|month|quarter|season|year|decade|century)"
    r"|say|said|mention\w*|decided?|agreed|settled|discussed|according to"
    r"|(?:last|past) (?:day|week|month|year|\d+ (?:hours|days))|today"
    r"|tonight|tomorrow|yesterday|current(?:ly)?|latest|newest|recent(?:ly)?"
    r"|so far|still|ago"
    r"|news|next|upcoming|should|recommend\w*|compar\w*|differen\w*|versus|vs|than|pros|cons"
    r"|overview|summar\w*|detail\w*|thorough\w*|explain\w*|history)\b"
    r"|[我你您咱它他她]|[这本](?:周|个?星期|个?月|季|年)|现在|目前|今|昨|明天|最新|最近|比较|区别|不同|比|对比|总结|概述|详细|介绍",
    re.IGNORECASE,
)
_ONE_SENTENCE = re.compile(r"[^?？!！;；\n`]+[?？]\s*")


def plain_question(
    transcript: Transcript, message: Message, instructions: str = ""
) -> Rewritten | None:
    """Return the message as a standalone question, or None if a model must decide.

    It is searched verbatim: the model words queries once it has seen the results.
    """
    said = message.text.strip()
    if transcript.entries or message.attachments or instructions.strip() or len(said) > LONGEST:
        return None
    if not _ONE_SENTENCE.fullmatch(said) or _LEFT_TO_JUDGE.search(said):
        return None
    said = " ".join(said.split())
    language = detect(said)
    asks = _PLAINLY_ASKS.get(language)
    is_plain = (
        asks is not None
        and asks.match(said) is not None
        and len(keywords(said)) >= FEWEST_KEYWORDS
        and not (message.links or links_said(said) or hosts_in(said))
        and pronoun(said) is None
        and goes_on(said) is None
    )
    if not is_plain:
        return None
    return Rewritten("search", said, queries=(said,), knowledge_queries=(said,), language=language)


_COMPARES = re.compile(
    r"\b(?:compar\w+|versus|vs|than|unlike|differ\w*|relative to|in contrast)\b", re.IGNORECASE
)
_PUTS_RIGHT = re.compile(r"\b(?:i|we) meant?\b|我们?(?:是)?(?:说|說|指)|我的意思", re.IGNORECASE)
_ENOUGH = 2  # keywords a text needs for its language to be detected


def is_taken(transcript: Transcript, message: Message, question: str) -> bool:
    """Return True if ``question``, a rewording of ``message``, is better than the message
    itself."""
    pictures = any(file.shows for file in message.attachments)
    if not (transcript.entries or pictures) or _compares_unasked(transcript, message, question):
        return False
    return (
        _puts_right(message, question)
        or _is_in_another_language(transcript, message)
        or _takes_from(transcript, message, question)
    )


def _puts_right(message: Message, question: str) -> bool:
    """Return True if a message clarifies an earlier one ("No, I meant the office: when does it
    open?") and the rewording uses the message's own words."""
    return _PUTS_RIGHT.search(message.text) is not None and set(keywords(question)) <= set(
        terms(message.text)
    )


def _takes_from(transcript: Transcript, message: Message, question: str) -> bool:
    """Return True if the rewording has a content word of the thread (or of the message's
    attachments and links) that the message lacks."""
    added = set(keywords(question)).difference(terms(message.text))
    return any(not added.isdisjoint(terms(text)) for text in _around(transcript, message))


def _is_in_another_language(transcript: Transcript, message: Message) -> bool:
    """Return True if a message in the thread that may be meant is in another language."""
    said = (entry.text for entry in transcript.entries)
    return any(
        len(keywords(text)) >= _ENOUGH and detect(text) != detect(message.text) for text in said
    )


def _compares_unasked(transcript: Transcript, message: Message, question: str) -> bool:
    """Return True if a rewording only adds a comparison to a standalone message."""
    return (
        _COMPARES.search(question) is not None
        and _COMPARES.search(message.text) is None
        and set(terms(message.text)) <= set(terms(question))
        and detect(message.text) == "en"  # the language of _COMPARES
        and pronoun(message.text) is None
        and goes_on(message.text) is None
    )


def _around(transcript: Transcript, message: Message) -> Iterator[str]:
    for entry in transcript.entries:
        yield from (entry.name, entry.text, entry.question, *(each.title for each in entry.cited))
    yield message.author.name
    for file in message.attachments:
        yield from (file.name, file.shows)
    yield from message.links


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


def corrected(transcript: Transcript, run: str) -> Entry | None:
    """Return the answer that a message corrects: that of the ``run`` named, which comes last in its
    transcript, or else our last one with footnotes."""
    entries = transcript.entries[-1:] if run else answers_in(transcript)[-1:]
    return entries[0] if entries else None


def asides(transcript: Transcript) -> frozenset[int]:
    """Return the positions of people's messages since our first answer that we did not answer: talk
    among people, which is never the topic of a later question."""
    entries = transcript.entries
    answered = {at - 1 for at, entry in enumerate(entries) if entry.role == "footnote"}
    since = min(answered, default=len(entries))
    later = (at for at in range(since + 1, len(entries)) if entries[at].role == "person")
    return frozenset(later) - answered


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


_DENIES = re.compile(
    r"\W*(?:no|nope|actually|wrong|incorrect|correction|not (?:quite|right|any ?more|any longer)"
    r"|(?:that|this|it)(?:'s|’s| is| was)? (?:wrong|incorrect|outdated|out of date|obsolete"
    r"|no longer|not (?:right|true|correct|so|any ?more)|(?:has |was )?changed))\b"
    r"|\W*(?:不对|不對|不是|错了|錯了|有误|有誤|更正|其实|其實|[这那這]?(?:个|個)?(?:已经|已經)?(?:变|變|改|过时|過時)了?)",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|be|isn't|aren't|has|have|had|can|must|may|do|does|did|now|since|until"
    r"|see|it's|that's|there's|they're|chang\w+|moved?|became|costs?|takes?|starts?|opens?|closes?"
    r"|applies|allows?|needs?|uses?)\b|[是在有为為改变變从從自到見见升降搬]|现|現",
    re.IGNORECASE,
)
# The person corrects their question, not our answer.
_MEANT = re.compile(
    r"\b(?:i|we) (?:mean|meant|was asking|were asking|am asking|asked|want|wanted|need)\b"
    r"|我们?(?:是)?(?:说|說|问|問|指|要|想)|我的意思",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]\W*$")
_DENIAL = re.compile(
    r"^\W*(?:(?:no|nope|actually|correction)\b|不对|不對|不是|更正|其实|其實)[\s,，:：.。;；–—-]*",
    re.I,
)


def correction_in(transcript: Transcript, text: str) -> tuple[str, str]:
    """Split a message into its correction of our last answer and its question, each "" if absent.

    A correction begins with a denial and states a figure, a date, a name or a link. It may be
    wrong; readers see who wrote it.
    """
    said = text.strip()
    if not answers_in(transcript) or not _DENIES.match(said) or _MEANT.search(said):
        return "", ""
    from bot.text.facts import facts

    pieces = [said[each.start : each.end] for each in sentences(said)]
    asked = " ".join(piece for piece in pieces if _ASKS.search(piece))
    stated = " ".join(piece for piece in pieces if not _ASKS.search(piece))
    bare = _DENIAL.sub("", stated, count=1)
    is_stated = _STATES.search(bare) and (facts(bare) or links_said(bare))
    return (stated, asked) if is_stated else ("", "")
