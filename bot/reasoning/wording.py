"""Tells from the words of a message alone its language, whether it refers back, and what it is
about besides its links."""

from __future__ import annotations

import re

from bot.core.messages import Message, Transcript
from bot.pages.mentions import hosts_in
from bot.pages.urls import links_in
from bot.text.language import detect
from bot.text.patterns import lazy_regex, listed
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords

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
    "documents file files says say said about content contents check look see review point points "
    "main key briefly short overview gist quote compare comparison bullet bullets sentence "
    "sentences word words paragraph paragraphs one two three four five six seven eight nine ten "
    "both them it report write draft give make prepare zusammenfassen "
    "fasse fass zusammen zusammenfassung datei seite worum geht "
    "es diese dieser dieses die der das bitte resume fichier"
)
_READING_EASTERN = lazy_regex(
    "总结|總結|摘要|概括|概述|阅读|读一读|读|主要内容|内容|文章|文件|链接|网页|网站|页面|比较|对比|介绍|简述|要点"
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
