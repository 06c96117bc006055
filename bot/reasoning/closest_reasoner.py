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
    correction_in,
    goes_on,
    language_of,
    pronoun,
    recalled,
    topic_words,
    without_links,
)
from bot.text.names import names
from bot.text.patterns import lazy_regex, listed
from bot.text.terms import content_words, fold, has_cjk, keywords, terms

LONGEST_QUERY = 200  # characters
MOST_QUERIES = 4
SHORT = 5  # keywords of a message that may depend on its thread
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
    stated, asked = correction_in(transcript, message.text)
    if stated and not asked:
        language = language_of(transcript, message)
        return Rewritten("chat", message.text, language=language, correction=stated)
    taken = _rewritten(transcript, replace(message, text=asked or message.text))
    return replace(taken, correction=stated)


def _rewritten(transcript: Transcript, message: Message) -> Rewritten:
    text = message.text.strip()
    language = language_of(transcript, message)
    if is_small_talk(text):
        return Rewritten("chat", text, language=language)
    if about := recalled(transcript, message, language):
        return about
    said = without_links(unquoted(text))
    links = _links(transcript, message)
    bare = _POINTS_TO_PAGE.sub(" ", without_links(_MARKDOWN_LINK.sub(" ", text)))
    beside = topic_words(bare) if links else []
    sent = tuple(file.url for file in message.attachments if not file.again)
    if sent and not links and not topic_words(said):
        return Rewritten("links", text, links=sent, language=language, whole=True)
    if links and len(beside) <= FEW:
        return Rewritten("links", text, links=links, language=language, whole=not beside)
    question = with_topic(said, _asked(transcript), language) or text
    searched = " ".join(question.split())[:LONGEST_QUERY]
    named = (searched[each.start : each.end] for each in names(searched, language))
    queries = (searched, *named)
    return Rewritten(
        "search",
        question if question != said else text,
        queries=tuple(dict.fromkeys(filter(None, queries)))[:MOST_QUERIES],
        knowledge_queries=(searched,),
        links=links,
        language=language,
    )


def is_small_talk(text: str) -> bool:
    """Return True if a message is only a greeting, thanks, or a question about the bot itself."""
    said = _AROUND.sub("", " ".join(text.split()))
    return not said or _SMALL_TALK.fullmatch(said) is not None


def _links(transcript: Transcript, message: Message) -> tuple[str, ...]:
    """Return the links of a message, or the last one before that it points to."""
    links = [*links_said(message.text), *message.links]
    if not links and len(topic_words(message.text)) <= FEW:
        links = [address for host, address in hosts_in(message.text)]
    if not links and _POINTS_TO_PAGE.search(message.text):
        said = [each.text for each in transcript.entries if each.role == "person"]
        links = [link for text in said for link in links_said(text)][-1:]
    return tuple({dedupe_key(link): link for link in reversed(links)}.values())[::-1]


# ---------------------------------------------------------------- the topic of a thread


def _asked(transcript: Transcript) -> list[str]:
    """Return what people asked in a thread, oldest first."""
    said = (each.text for each in transcript.entries if each.role == "person")
    return [without_links(text[:OPENING]) for text in said if not is_small_talk(text)]


def with_topic(said: str, asked: list[str], language: str) -> str:
    """Return a message with the topic words of the thread's first and last question before it, if
    its own words do not say what it is about."""
    if not asked or not leans(said, language):
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
