"""Finds the links that a message asks to read, and pages linked earlier, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.messages import Message, Transcript
from bot.pages.mentions import hosts_in, links_said
from bot.pages.urls import dedupe_key, links_in
from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed
from bot.text.terms import STOP_WORDS, content_words, fold

FEW = 3  # words besides links and words for reading, up to which a message is about its links

_READING = listed(
    "summarize summarise summary sum up read tldr tl dr explain describe page pages article "
    "articles link links url urls post posts site sites website websites paper papers document "
    "documents says say said content contents check look see review point points main key briefly "
    "short overview gist quote compare comparison bullet bullets sentence sentences word words "
    "paragraph paragraphs one two three four five six seven eight nine ten both them it"
)
_READING_EASTERN = lazy_regex(
    "总结|摘要|概括|概述|阅读|读一读|读|主要内容|内容|文章|链接|网页|网站|页面|比较|对比|介绍|简述|要点"
    "|谢谢|帮我|给我|看看|看一下|一下|说了什么|讲了什么|[请把用和与这那两几一二三四五个篇句话条点中里]"
    "|要約|まとめ|記事|リンク|ページ|比較|読んで|ください|して|下さい"
    "|요약|내용|기사|링크|페이지|비교|읽어|해 ?주세요|주세요"
)
_ASKS_TO_READ = lazy_regex(
    r"\b(?:summari[sz]e|summary|sum up|tl;?dr|read|review|explain|describe|compare|go through"
    r"|look at|check out|what (?:does|do|is|are) .{0,300}\b(?:say|about|in))\b"
    r"|总结|摘要|概括|概述|阅读|读一下|看一下|看看|介绍|(?:说|讲|写|提到)了?些?什么|比较|对比"
    r"|要約|読んで|まとめ|요약|읽어",
    re.IGNORECASE,
)
_PAGE = (
    r"(?:links?|pages?|articles?|urls?|posts?|web ?sites?|sites?|papers?|documents?|pdfs?|ones?)"
)
_POINTS_TO_PAGES = lazy_regex(
    rf"\b(?:that|this|the|these|those|both|first|second|last)\s+(?:\w+\s+){{0,2}}{_PAGE}\b"
    r"|(?:这|那|上面|刚才|前面|上述|该)[^，。？]{0,5}(?:链接|网页|文章|页面|网站)"
    r"|(?:この|その|さっきの|上の)(?:リンク|ページ|記事)|(?:그|이|위의) ?(?:링크|페이지|기사)",
    re.IGNORECASE,
)
_ONLY_POINTS = lazy_regex(
    r"\W*(?:(?:please|can you|could you)\s+)?(?:summari[sz]e|sum up|read|compare|review) "
    r"(?:it|that|this|them|both|these|those)(?: please)?\W*|(?:请)?(?:总结|概括)(?:一下)?\W*",
    re.IGNORECASE,
)
_IT_SAYS = lazy_regex(
    r"\bwhat (?:does|do|did) (?:it|they|that|this) (?:say|state|mention|report|write)\b"
    r"|它(?:还)?(?:关于|对)?[^，。？]{0,100}(?:说|讲|写|提到)了?些?什么",
    re.IGNORECASE,
)
"""Refers to a page if one was linked directly before."""

_SEVERAL = lazy_regex(
    r"\b(?:these|those|both|them|all|links|pages|articles|papers)\b|这些|那些|两|几", re.IGNORECASE
)
_MARKDOWN_LINK = lazy_regex(r"\[[^\[\]\n]*\]\(\s*<?https?://[^)\s]*\)")
_BEFORE_DOMAIN = lazy_regex(
    r"(?:\b(?:on|from|at|in|within|via|by|according to)\s+(?:the\s+)?|site:\s*|[在从])$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RequestedLinks:
    """Links to read, whether the message is only about them, and whether about them as a whole."""

    links: tuple[str, ...] = ()
    only_they: bool = False
    whole: bool = False


def requested_links(transcript: Transcript, message: Message) -> RequestedLinks:
    """Return the links of a message, or those of the thread that it refers to."""
    text = message.text
    searched = {dedupe_key(f"https://{host}") for host in restricted_to(text)}
    links = [
        link for link in (*links_said(text), *message.links) if dedupe_key(link) not in searched
    ]
    asks = asks_to_read(text)
    said = _MARKDOWN_LINK.sub(" ", text)
    if asks and not links:
        for at, host, link in bare_hosts(text):
            if not _BEFORE_DOMAIN.search(text[:at]):
                links.append(link)
                said = said.replace(host, " ")
    links = list({dedupe_key(link): link for link in reversed(links)}.values())[::-1]
    beside = topic_words(without_links(said))
    if links:
        return RequestedLinks(tuple(links), len(beside) <= FEW, not beside)
    pointed = _pointed_at(transcript, text) if asks else ()
    pointing = _POINTS_TO_PAGES.sub(" ", text)
    beside = topic_words(pointing) if pointed else beside
    return RequestedLinks(
        pointed, bool(pointed) and len(beside) <= FEW, bool(pointed) and not beside
    )


def asks_to_read(text: str) -> bool:
    """Return True if a message asks about the content of a page."""
    return _ASKS_TO_READ.search(text) is not None


def without_links(text: str) -> str:
    """Return a text without its links and the Markdown around them."""
    for link in links_in(text):
        text = text.replace(link, " ").replace(link.removeprefix("http://"), " ")
    for host, address in hosts_in(text):
        if len(address) > len(f"https://{host}/"):
            text = text.replace(address.removeprefix("https://"), " ")
    return re.sub(r"[<(]\s*[>)]|\[([^\[\]]*)\]\s*\(\s*\)", r"\1", text).strip()


def bare_hosts(text: str) -> list[tuple[int, str, str]]:
    """Return the positions of hosts without scheme and path, with the address of each."""
    found: list[tuple[int, str, str]] = []
    position = 0
    for host, address in hosts_in(text):
        position = text.index(host, position)
        if len(address) <= len(f"https://{host}/"):
            found.append((position, host, address))
        position += len(host)
    return found


def restricted_to(text: str) -> list[str]:
    """Return the hosts a message wants to search: "on docs.python.org", "site:example.org"."""
    spaced = text.replace("site:", "site: ")
    return [host for at, host, _ in bare_hosts(spaced) if _BEFORE_DOMAIN.search(spaced[:at])]


def topic_words(said: str) -> list[str]:
    """Return the words of a message besides those that ask to read something."""
    words = [fold(word) for word in content_words(_READING_EASTERN.sub(" ", said))]
    return [w for w in words if w not in _READING | STOP_WORDS and not w.isdigit()]


def _pointed_at(transcript: Transcript, text: str) -> tuple[str, ...]:
    """Return links of earlier messages that a message refers to: the last link, or all of the last
    message."""
    said = [entry.text for entry in transcript.entries if entry.role == "person"]
    if _IT_SAYS.search(text) and said and (linked := links_said(said[-1])):
        return tuple(linked)
    if not (_POINTS_TO_PAGES.search(text) or _ONLY_POINTS.fullmatch(text.strip())):
        return ()
    several = _SEVERAL.search(text) is not None
    found: list[str] = []
    for entry in reversed(transcript.entries):
        if entry.role == "person":
            found = [*links_said(entry.text), *found]
        if found and (not several or len(found) > 1):
            break
    return tuple(dict.fromkeys(found if several else found[-1:]))
