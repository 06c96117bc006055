"""Makes answers and text of pages safe: no pings, and no links except to the sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from markdown_it import MarkdownIt

from bot.core.errors import AddressRefused
from bot.pages.urls import dedupe_key
from bot.rendering.marks import ESCAPE, code_spans, outside_code

URL = r"(?:https?|ftp|file|mailto|tel|javascript|data|vbscript):[^\s<>\"'`|]+"
_WORDS = r"(?:\\[^\n]|[^\[\]\\\n])"
_LABELLED = (
    rf"(?<!\\)!?\[(?P<label>(?:{_WORDS}|\[{_WORDS}*+\])*+)\]"
    r"\((?P<target><[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*+)(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
)
_LINK = re.compile(
    rf"{_LABELLED}|(?P<definition>(?m:^) {{0,3}}\[[^\]\n]+\]:\s*\S+[^\n]*)"
    rf"|<(?P<auto>{URL})>"
    rf"|(?P<bare>{URL})",
    re.IGNORECASE,
)
TRAILING = ".,;:!?)]}。，；：！？）】」』”"
_SCHEME = re.compile(URL, re.IGNORECASE)

_parser = MarkdownIt()
_parser.validateLink = lambda url: True  # type: ignore[method-assign]  # to see them all


def addresses(urls: Iterable[str]) -> dict[str, str]:
    """The addresses of sources by a key that is the same for all spellings of an address."""
    return {_key(url): url for url in urls}


def stored(url: str, allowed: Mapping[str, str]) -> str | None:
    """The stored address of a source for any spelling of it; None for other addresses."""
    try:
        return allowed.get(_key(url))
    except AddressRefused:
        return None


def defuse(text: str, allowed: Mapping[str, str]) -> str:
    """Remove links to anything except ``allowed`` (from ``addresses``).

    Links to sources get exactly the stored address. Of other links the label stays as words, a bare
    URL becomes code, and a link definition is removed. Code is left alone.
    """
    coded: list[str] = []  # bare URLs that became code
    defused = outside_code(text, lambda part: _defuse(part, allowed, coded))
    outside = "\n".join(defused[start:stop] for start, stop in _plain_spans(defused))
    # A stray backtick in the text pairs with one of ours and exposes the address again.
    if any(url in outside for url in coded):
        return _disarm(defused, allowed)
    if all(_leads_to_source(target, allowed) for target in link_targets(defused)):
        return defused
    return _disarm(defused, allowed)


def link_targets(text: str) -> Iterator[str]:
    """The targets of links and images in any syntax of CommonMark."""
    for block in _parser.parse(text):
        for token in block.children or ():
            target = token.attrs.get("href") or token.attrs.get("src")
            if target is not None:
                yield str(target)


def linked_pages(text: str, sources: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Number and URL of the sources that a text links to, of these numbers and URLs."""
    targets = {_key(target) for target in link_targets(text)} if "](" in text else frozenset()
    return tuple((number, url) for number, url in sources if _key(url) in targets)


def _key(url: str) -> str:
    """The key of an address's page. File addresses are unquoted, since parsers encode characters
    that their links may not contain.
    """
    return unquote(url) if url.startswith("file:") else dedupe_key(url)


def _leads_to_source(target: str, allowed: Mapping[str, str]) -> bool:
    if target.startswith("file:"):
        return stored(target, allowed) is not None
    return unquote(target) == unquote(stored(target, allowed) or "")


def _disarm(text: str, allowed: Mapping[str, str]) -> str:
    """Remove all that any Markdown dialect turns into a link, except allowed URLs."""
    text = re.sub(r"\](?=[(\[:])", "] ", text)  # no target, reference or definition after a label
    text = re.sub(r"\[(?!\d{1,4}\])", "(", text)  # no label except a footnote mark
    text = text.replace("<", "‹")
    return _SCHEME.sub(
        lambda m: stored(m.group(), allowed) or m.group().replace(":", ": ", 1),
        text,
    )


def _defuse(text: str, allowed: Mapping[str, str], coded: list[str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match["definition"] is not None:
            return ""
        if match["label"] is not None:
            target = match["target"].strip("<>")
            is_image = match.group().startswith("!")
            address = None if is_image else stored(target, allowed)
            if address is None:
                return _defuse(match["label"], allowed, coded)
            if target.startswith("file:") or target == address:
                return match.group()
            return f"[{match['label']}]({_as_target(address)})"
        url: str = match["auto"] or match["bare"]
        bare = url.rstrip(TRAILING) if match["bare"] else url
        if (address := stored(bare, allowed)) is not None:
            return match.group().replace(bare, address, 1)
        coded.append(bare)
        return f"`{bare}`{url[len(bare) :]}"

    return _LINK.sub(replace, text)


def _as_target(address: str) -> str:
    return f"<{address}>" if address.count("(") != address.count(")") else address


WORD_JOINER = "\u2060"

# Slack: docs.slack.dev/messaging/formatting-message-text (mentions, channels, dates). Discord:
# docs.discord.com/developers/reference#message-formatting (also commands, emoji, times, guides).
_LIVE = re.compile(
    r"<(?=![A-Za-z]|@[!&]?\w|\#[\w&]|/[^\s<>:]+(?:\ [^\s<>:]+){0,2}:\d|a?:\w+:\d|t:-?\d|id:\w)"
    r"|[@＠](?=(?:everyone|here|channel|group)(?!\w))",
    re.IGNORECASE | re.VERBOSE,
)

# Elements that run or load something, hide text or cover a page; "List<T>" and "<b>" do not.
_TAG = re.compile(
    r"<(?=!--|/?(?:a|applet|audio|base|body|button|embed|form|frame|frameset|head|html|iframe|img|"
    r"image|input|link|math|meta|noscript|object|plaintext|script|select|source|style|svg|template|"
    r"textarea|title|video|xmp)(?![\w-])|[A-Za-z][^<>]*?[\s/\"']on[a-z]+\s*=)",
    re.IGNORECASE,
)

_EASTERN = "\u3001-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_LETTER = f"[^\\W_{_EASTERN}]"
_DOMAIN = (
    rf"(?<!{_LETTER})(?:{_LETTER}(?:(?:{_LETTER}|-){{0,61}}{_LETTER})?\.){{1,20}}"
    rf"(?:(?!\d){_LETTER}){{2,24}}(?!{_LETTER}|-)"
)
_ADDRESS = re.compile(
    rf"{_LABELLED}|(?P<url>(?i:{URL}))"
    rf"|(?P<bare>{_DOMAIN})(?P<rest>(?::\d{{1,5}}(?!{_LETTER}))?(?:[/?\#][^\s<>`|\\{_EASTERN}]*)?)"
)
_JOINED = tuple("`/@.-_")  # an address after one of these is part of something longer
_TRAILING_MARKUP = TRAILING + "*_~\"'’"


def without_pings(text: str) -> str:
    """Neutralise mentions, channels, dates, commands and emoji of Slack and Discord.

    Code is included: that is harmless, and platforms differ in what they treat as code.
    """
    return _LIVE.sub(lambda match: match.group() + WORD_JOINER, text)


def without_autolinks(text: str, allowed: Mapping[str, str], *, names: bool = True) -> str:
    """Neutralise every address in Markdown that a platform would turn into a link by itself.

    ``allowed`` are the sources (``addresses``); links to them stay and get the stored address.
    Other links keep their words; code is unchanged. Other addresses that lead somewhere
    ("evil.example/path") become code, as ``defuse`` does with whole URLs. A mere name
    ("Booking.com") still reads the same; without ``names`` it is left alone.
    """
    if _has_stray_tick(text):
        # It would pair with a backtick of ours and end the code early.
        text = _outside_code(text, allowed, may_be_code=False, names=names)
    text = defuse(text, allowed)
    return _outside_code(text, allowed, may_be_code=not _has_stray_tick(text), names=names)


def unwrapped(text: str, urls: Iterable[str]) -> str:
    """An answer's Markdown for programs, in which no address links to anything but its sources
    ``urls``; the rest is unchanged.
    """
    return without_autolinks(text, addresses(urls), names=False)


def portable(text: str, urls: Iterable[str]) -> str:
    """An answer's Markdown for pasting and piping anywhere: no links except to its sources
    ``urls``, no pings in any chat, no active HTML outside code.
    """
    return outside_code(without_pings(unwrapped(text, urls)), without_tags)


def without_tags(text: str) -> str:
    """Neutralise tags that would have an effect if the text is taken for HTML."""
    return _TAG.sub(f"<{WORD_JOINER}", text)


def _outside_code(text: str, allowed: Mapping[str, str], *, may_be_code: bool, names: bool) -> str:
    out: list[str] = []
    end = 0
    for start, stop in _plain_spans(text):
        out += [text[end:start], *_disarmed(text, start, stop, allowed, may_be_code, names)]
        end = stop
    return "".join(out)


def _has_stray_tick(text: str) -> bool:
    """True if there is a backtick outside code that may open some."""
    return any("`" in ESCAPE.sub("", text[start:stop]) for start, stop in _plain_spans(text))


def _plain_spans(text: str) -> list[tuple[int, int]]:
    edges = [edge for span in code_spans(text) for edge in span]
    return list(zip([0, *edges[1::2]], [*edges[::2], len(text)], strict=True))


def _disarmed(
    text: str, start: int, stop: int, allowed: Mapping[str, str], may_be_code: bool, names: bool
) -> Iterator[str]:
    done = start
    for match in _ADDRESS.finditer(text, start, stop):
        if match["label"] is not None:  # handled by defuse
            continue
        whole = match.group()
        address = whole
        if match["url"] or match["rest"]:
            address = whole.rstrip(TRAILING if match["url"] else _TRAILING_MARKUP)
        source = stored(address if match["url"] else f"https://{address}", allowed)
        if source is not None:
            shown = source if match["url"] else source.partition("://")[2]
            if unquote(shown) != unquote(address):
                yield text[done : match.start()]
                yield shown
                done = match.start() + len(address)
            continue
        goes_somewhere = address != match["bare"] or address.lower().startswith("www.")
        if not (goes_somewhere or names):
            continue
        yield text[done : match.start()]
        done = match.start() + len(address)
        before, after = text[match.start() - 1 : match.start()], text[done : done + 1]
        if may_be_code and goes_somewhere and before not in _JOINED and after != "`":
            yield f"`{address}`"
        else:
            inert = address.replace(WORD_JOINER, "").replace(".", f".{WORD_JOINER}")
            yield inert.replace(":", f"{WORD_JOINER}:") if match["url"] else inert
    yield text[done:stop]
