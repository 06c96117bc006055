"""Quotes the closest passages; makes a message a question with the thread's own words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from bot.core.messages import Message, Transcript, unquoted
from bot.pages.urls import dedupe_key, hosts_in, links_said
from bot.reasoning.calls import ModelCalls
from bot.reasoning.closest_passages import quoted
from bot.reasoning.evidence import AnswerDelta, Evidence, Rewritten
from bot.reasoning.reasoner import CLOSEST
from bot.reasoning.wording import (
    asides,
    correction_in,
    goes_on,
    language_of,
    pronoun,
    recalled,
    topic_words,
    without_links,
)
from bot.text.language import detect
from bot.text.names import names
from bot.text.patterns import lazy_regex, listed
from bot.text.sentences import sentences
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords, terms

LONGEST_QUERY = 200  # characters
MOST_QUERIES = 4
SHORT = 5  # keywords of a message that may depend on its thread
FILES = 3  # the latest ones of the thread, which a search reads too
FEW = 3  # words besides links and words for reading, up to which a message is about its links
OPENING = 1_000  # characters of an earlier message, enough to show its topic

_TO_US = r"(?: there| all| everyone| everybody| team| folks| bot| footnote| again)*"
_SMALL_TALK = lazy_regex(
    rf"(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day)){_TO_US}"
    r"|(?:ok(?:ay)?,? |great,? )?(?:many )?(?:thanks|thank you|thx|cheers)(?: so much| a lot| very "
    rf"much| for (?:your|the|all|that)[\w ]{{0,40}})?{_TO_US}"
    r"|ok(?:ay)?|great|cool|nice|perfect|got it|bye|goodbye|good night|(?:who|what) are you"
    r"|what can you do(?: for (?:me|us))?|how do you work|how are you(?: today)?|help(?: me)?"
    r"|hallo|guten (?:tag|morgen|abend)|moin|danke(?: schön| sehr)?|vielen dank|wer bist du"
    r"|bonjour|bonsoir|salut|merci(?: beaucoup)?|hola|buenos días|buenas tardes|(?:muchas )?gracias"
    r"|ciao|buongiorno|grazie(?: mille)?|olá|bom dia|obrigad[oa]|hoi|hej|tack|привет|спасибо"
    r"|你好|您好|大家好|嗨|早上好|早安|下午好|晚上好|在吗|(?:好的?[，,]?)?(?:谢谢(?:你|您|大家)?|多谢|感谢)|好的"
    r"|謝謝(?:你|您)?|明白了|知道了|再见|你是谁|您是谁|你(?:能|会|可以)(?:做|干)?(?:些)?什么|帮助"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます)?|안녕(?:하세요|하십니까)?|감사합니다",
    re.IGNORECASE,
)
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_POINTS_TO_PAGE = lazy_regex(
    r"\b(?:that|this|the|these|those|both|first|second|last)\s+(?:\w+\s+){0,2}(?:links?|pages?"
    r"|articles?|urls?|posts?|web ?sites?|sites?|papers?|documents?|pdfs?|files?)\b"
    r"|^\W*(?:please )?(?:summari[sz]e|sum up|read) (?:it|that|this|them)\W*$"
    r"|\bwhat (?:does|do|did) (?:it|they|that|this) (?:say|state|mention)\b"
    r"|\b(?:dies\w{1,2}|das|der|die|dem|den) (?:\w+ )?(?:dokuments?|datei|seite|anhang|pdf)\b"
    r"|它[^它，。？]*(?:说|讲|写|提到)了?什么"
    r"|(?:这|那|上面|刚才|前面|上述|该)[^，。？]{0,5}(?:链接|网页|文章|页面|网站|文件)"
    r"|(?:この|その|さっきの|上の)(?:リンク|ページ|記事)|(?:그|이|위의) ?(?:링크|페이지|기사)",
    re.IGNORECASE,
)
_MARKDOWN_LINK = re.compile(r"\[[^\[\]\n]*+\]\(\s*+<?https?://[^)\s(]*+\)")
_CJK = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_TOKEN = re.compile(rf"[^\W_{_CJK}](?:[^\W{_CJK}]|['’.&-](?=[^\W{_CJK}]))*")
_PREPOSITIONS = listed(
    "for in at on of with from to by für bei von mit aus zu pour chez de para en"
)
_ARTICLES = listed(
    "the a an den die das dem der einen eine einem einer le la les el los un une una"
)


def question_of(transcript: Transcript, message: Message) -> Rewritten:
    """See ``Reasoner.rewrite``: a greeting, links to read, or a search with the thread's topic."""
    if message.unaddressed and not follows_up(transcript, message):
        language = language_of(transcript, message)
        return Rewritten("chat", message.text, language=language, for_us=False)
    stated, asked = correction_in(transcript, message.text)
    if message.corrects_run:
        stated, asked = message.text, ""
    if stated and not asked:
        language = language_of(transcript, message)
        return Rewritten("chat", message.text, language=language, correction=stated)
    taken = _rewritten(transcript, replace(message, text=unquoted(asked or message.text)))
    return replace(taken, correction=stated)


def _rewritten(transcript: Transcript, message: Message) -> Rewritten:
    text = message.text.strip()
    language = language_of(transcript, message)
    if is_small_talk(text):
        return Rewritten("chat", text, language=language)
    if about := recalled(transcript, message, language):
        return about
    said = without_links(text)
    links = _links(transcript, message)
    bare = _POINTS_TO_PAGE.sub(" ", without_links(_MARKDOWN_LINK.sub(" ", text)))
    beside = topic_words(bare)
    sent = tuple(file.url for file in message.attachments if not file.again)
    is_about_file = sent and (not topic_words(said) or _POINTS_TO_PAGE.search(said))
    if (links or is_about_file) and len(beside) <= FEW:
        given = (*links, *sent)
        return Rewritten("links", text, links=given, language=language, whole=not beside)
    question = with_topic(said, _asked(transcript), language) or text
    searched = " ".join(question.split())[:LONGEST_QUERY]
    named = (searched[each.start : each.end] for each in names(searched, language))
    queries = (searched, *named)
    return Rewritten(
        "search",
        question if question != said else text,
        queries=tuple(dict.fromkeys(filter(None, queries)))[:MOST_QUERIES],
        knowledge_queries=(searched,),
        links=(*links, *_files(transcript)),
        first=(*links, *sent),
        language=language,
        own="" if question in (said, text) or goes_on(said) or pronoun(said) else said,
    )


def is_small_talk(text: str) -> bool:
    """Return True if a message is only a greeting, thanks, or a question about the bot itself."""
    said = _AROUND.sub("", " ".join(text.split()))
    return not said or _SMALL_TALK.fullmatch(said) is not None


_RESEARCH = (
    r"(?:show|give|find|list|compare|explain|check|summari[sz]e|look|translate|describe|name|tell"
    r"|zeig|gib|nenn|such|vergleich|erklär|prüf|schau|fass|übersetz|beschreib)(?:en?)?\b"
)
_ASKED_TO = rf"\b(?:can|could|kannst|könntest) (?:you|du) (?:[^\W\d]+ ){{0,6}}{_RESEARCH}"
_OPENS = r"^\W*(?:(?:and|but|ok(?:ay)?|so|no|please|und|aber|also|nein|bitte|danke|thanks)\b\W*)*"
_ASKS = lazy_regex(
    rf"{_OPENS}{_RESEARCH}|{_ASKED_TO}"
    "|^(?:请|請|帮我|幫我|麻烦|再)*(?:列|给|給|举|舉|推荐|查|找|比较|对比|总结|解释|翻译|说明|把|做成)"
    rf"|{_OPENS}(?:(?:since|until|ab|seit|bis) )?(?:what(?! an?\b)|when|where|which|who(?:se)?|why"
    r"|how|was(?! für ein)|wer|wem|wen|wann|wo(?:her|hin|rin)?|warum|wieso|welche[rsnm]?|wie)\b"
    rf"|{_OPENS}(?:is|are|was|were|do|does|did|has|have|can|could|will|would|must|should|gilt"
    "|gelten|ist|sind|hat|haben|kann|können|darf|muss|gibt) (?:it|this|that|there|they|the|these"
    r"|das|es|der|die|dies(?:e[rs]?)?|man)\b"
    "|吗|嗎|呢|(?<!没)什么|什麼|怎么|怎麼|怎样|多少|几|幾|哪|谁|誰|为何|如何|是否|有没有|能不能|会不会|要不要"
    r"|\b(?:doubt|wrong|incorrect|outdated|not (?:right|true|correct)|falsch|veraltet|bezweif"
    r"|stimmt (?:so |das )?nicht|(?:sure|really|sicher|wirklich)\W*\?|are you (?:really )?sure"
    r"|bist du (?:dir )?sicher)"
    "|确定吗|真的吗|不对|不對|有误|错了|過時|过时|更正|不(?:太)?(?:相)?信",
    re.IGNORECASE,
)
"""Requests, questions and doubts."""
_PEOPLE = lazy_regex(
    r"\b(?:i|i['’]\w+|me|my|mine|you|u|your|yours|(?-i:us)|let['’]s|ich|mir|mich|mein\w*|du|dir"
    r"|dich|dein\w*|ihr|euch|euer\w*)\b|[你您我咱]"
    r"|^\W*(?:yes|yeah|yep|nope|sure|right|ja|nee|klar|stimmt|genau)\b(?! nicht)"
    "|^(?:嗯|行|是的|是啊)",
    re.IGNORECASE,
)
"""Words between colleagues: "I", "you", and answers to somebody."""
_TO_FOOTNOTE = lazy_regex(
    rf"{_RESEARCH} (?:me|us|mir|uns)\b|{_ASKED_TO}|\bare you (?:really )?sure"
    r"|\bbist du (?:dir )?sicher"
    r"|\b(?:i|ich) (?:think|thought|doubt|believe|read|heard|glaube|dachte|bezweifle)\b"
    "|给我|我看|我(?:记得|觉得|认为|不(?:太)?(?:相)?信)|我们|咱们",
    re.IGNORECASE,
)
"""What has "I" or "you" in it and may yet be said to Footnote."""
_PLAN = lazy_regex(
    r"\b(?:(?:at|um|gegen) \w+|today|tonight|tomorrow|later|heute|morgen|später"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)\b"
    "|[今明]天|今晚|中午|下午|晚上|一起",
    re.IGNORECASE,
)
_NO_PHRASE = re.compile(r"[^\w\s'’/&+-]|[了吧啊哈呀是在有就还也不没]")
_FEW_WORDS = range(1, 5)  # of a bare noun phrase
_FEW_SIGNS = range(3, 9)  # of one in Chinese


def follows_up(transcript: Transcript, message: Message) -> bool:
    """Return True if a message that addresses nobody reads like a question or a request that
    continues what Footnote answered, rather than talk among people.

    Talk has "I" or "you" in it, or asks and orders nothing. After talk, a message has to ask more
    plainly: a noun phrase alone is not enough.
    """
    said = without_links(message.text).strip()
    about_ours = recalled(transcript, message, language_of(transcript, message))
    if about_ours or correction_in(transcript, said)[0]:
        return True
    is_after_talk = not transcript.entries or transcript.entries[-1].role == "person"
    pieces = [said[each.start : each.end] for each in sentences(said)]
    return any(_asks(piece, is_after_talk) for piece in pieces if not is_small_talk(piece))


def _asks(piece: str, is_after_talk: bool) -> bool:
    if _PEOPLE.search(_TO_FOOTNOTE.sub(" ", piece)):
        return False
    if _ASKS.search(piece):
        return True
    if _PLAN.search(piece):
        return False
    if piece.rstrip().endswith(("?", "？")):
        return not has_cjk(piece)
    return not is_after_talk and _is_noun_phrase(piece)


def _is_noun_phrase(piece: str) -> bool:
    """Return True if a text may be a noun phrase alone: "hotel limit", "Lagerung im Winter"."""
    if _NO_PHRASE.search(piece):
        return False
    if has_cjk(piece):
        return len(piece) in _FEW_SIGNS
    words = [fold(word) for word in piece.split()]
    linking = _PREPOSITIONS | _ARTICLES
    joining = linking | {"and", "or", "und", "oder"}
    is_german = detect(piece) == "de" or len(words) == 1
    return (
        len(words) in _FEW_WORDS
        and not (STOP_WORDS - joining).intersection(words)
        and words[0] not in linking
        and (piece[0].isupper() or not is_german)
    )


def _links(transcript: Transcript, message: Message) -> tuple[str, ...]:
    """Return the links of a message, or the last one before that it points to."""
    links = [*links_said(message.text), *message.links]
    if not links and len(topic_words(message.text)) <= FEW:
        links = [address for host, address in hosts_in(message.text)]
    if not links and _POINTS_TO_PAGE.search(message.text):
        said = [each for each in transcript.entries if each.role == "person"]
        files = [[file.url for file in each.at_hand] for each in said]
        given = [links_said(each.text) for each in said]
        links = [link for pair in zip(given, files, strict=True) for each in pair for link in each]
        links = links[-1:]
    return tuple({dedupe_key(link): link for link in reversed(links)}.values())[::-1]


def _files(transcript: Transcript) -> list[str]:
    """Return the latest files of a thread, each once: no model says whether a question is about
    them, so the closest passages are looked for in them too."""
    sent = [file.url for entry in transcript.entries for file in entry.at_hand]
    return list(dict.fromkeys(reversed(sent)))[:FILES]


# ---------------------------------------------------------------- the topic of a thread


def _asked(transcript: Transcript) -> list[str]:
    """Return what people asked in a thread, oldest first, without what is no question."""
    every = transcript.entries
    mere = {at - 1 for at, each in enumerate(every) if each.corrects and not each.cited}
    left = asides(transcript) | mere
    entries = (each for at, each in enumerate(every) if at not in left)
    said = (each.text for each in entries if each.role == "person")
    return [without_links(text[:OPENING]) for text in said if not is_small_talk(text)]


def with_topic(said: str, asked: list[str], language: str) -> str:
    """Return a message with the topic words of the thread's first and last question before it, if
    its own words do not say what it is about, as those of the first question do."""
    if not asked or said == asked[0] or not leans(said, language):
        return said
    known = set(terms(said))
    topic: dict[str, str] = {}
    for earlier in dict.fromkeys((asked[0], asked[-1])):
        if has_cjk(earlier) != has_cjk(said):
            continue
        kept = without_replaced(earlier, said, language) if goes_on(said) else earlier
        for word in content_words(kept):
            if keywords(word) and known.isdisjoint(terms(word)):
                topic.setdefault(fold(word), word)
    return " ".join((*topic.values(), said))


def leans(said: str, language: str) -> bool:
    """Return True if a message depends on what was said before: it goes on, has a pronoun, or few
    words and no name."""
    if goes_on(said) or pronoun(said):
        return True
    return len(keywords(said)) <= SHORT and not list(_runs(said, language))


def without_replaced(earlier: str, said: str, language: str) -> str:
    """Return an earlier question without the name in whose place a message puts another: of "for
    the Boreal X" after "and for the Cetus Mini?", else of every name."""
    new = list(_runs(said, language))
    old = list(_runs(earlier, language))
    if not new or not old:
        return earlier
    before = _preposition(said, new[0][0])
    alike = [run for run in old if before and _preposition(earlier, run[0]) == before]
    for start, end in reversed(alike or old):
        earlier = f"{earlier[:start]} {earlier[end:]}"
    return earlier


def _runs(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of names: runs of words with a capital or digit. The first word of a sentence
    is none by itself; in German, which capitalizes nouns, no word is."""
    run: list[re.Match[str]] = []
    for token in (*_TOKEN.finditer(text), None):
        goes = token is not None and (token[0][0].isupper() or token[0][0].isdigit())
        if (
            token is not None
            and goes
            and (not run or text[run[-1].end() : token.start()].isspace())
        ):
            run.append(token)
            continue
        if run:
            is_alone = len(run) == 1 and (language == "de" or not text[: run[0].start()].strip())
            if not is_alone or has_cjk(text):
                yield run[0].start(), run[-1].end()
        run = [token] if token is not None and goes else []


def _preposition(text: str, at: int) -> str:
    """Return the preposition before a place, whatever article is between."""
    words = [fold(match[0]) for match in _TOKEN.finditer(text[:at])]
    while words and words[-1] in _ARTICLES:
        words.pop()
    return words[-1] if words and words[-1] in _PREPOSITIONS else ""


class Closest:
    """Implements ``Reasoner``; makes no model calls, raises nothing.

    The operator's ``instructions`` on tone and language are ignored: quotes have no tone.
    """

    name = CLOSEST

    def __init__(self, calls: ModelCalls) -> None:
        del calls  # not needed

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        """Return the message with the topic of its thread."""
        return question_of(transcript, message)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        """Yield the quotes, each below its heading path; nothing if they are no answer."""
        # In a thread: work on whole pages takes 0.1 s, which would block other runs.
        for delta in await asyncio.to_thread(quoted, question, evidence):
            yield delta
