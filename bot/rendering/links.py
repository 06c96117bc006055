"""Links in an answer lead only to what was read: any other keeps its words and loses its target.

A link to a source is printed with the address that is stored: parameters and fragments that the
author of a text added would carry words of the conversation to the page's owner.

Links are taken out where they are written; then a Markdown parser is asked what it would still
make a link of. Platforms parse in ways of their own, so if there is anything left, however it was
written, the whole text loses what links are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from markdown_it import MarkdownIt

from bot.errors import AddressRefused
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Source
from bot.rendering.marks import code_spans

URL = r"(?:https?|ftp|file|mailto|tel|javascript|data|vbscript):[^\s<>\"'`|]+"
_TARGET = r"<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*"
_WORDS = r"(?:\\[^\n]|[^\[\]\\\n])"
_LINK = re.compile(
    rf"(?<!\\)!?\[(?P<label>(?:{_WORDS}|\[{_WORDS}*\])*)\]"
    rf"\((?P<target>{_TARGET})(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
    rf"|(?P<definition>(?m:^) {{0,3}}\[[^\]\n]+\]:\s*\S+[^\n]*)"
    rf"|<(?P<auto>{URL})>"
    rf"|(?P<bare>{URL})",
    re.IGNORECASE,
)
TRAILING = ".,;:!?)]}。，；：！？）】」』”"
_SCHEME = re.compile(URL, re.IGNORECASE)

_parser = MarkdownIt()
_parser.validateLink = lambda url: True  # type: ignore[method-assign]  # to see them all


def addresses(urls: Iterable[str]) -> dict[str, str]:
    """The addresses of sources by the keys under which they are found, however they are written."""
    return {_key(url): url for url in urls}


def stored(url: str, allowed: Mapping[str, str]) -> str | None:
    """The source's own address for one way of writing it; None for what is no source."""
    try:
        return allowed.get(_key(url))
    except AddressRefused:
        return None


def defuse(text: str, allowed: Mapping[str, str]) -> str:
    """The text without links to anything but ``allowed`` (from ``addresses``).

    Links to sources lead to exactly the address that is stored. A label of another link stays as
    words, a bare URL as code, a link definition goes. Code is left alone.
    """
    out: list[str] = []
    coded: list[str] = []  # bare URLs that were made code
    end = 0
    for start, stop in code_spans(text):
        out += [_defuse(text[end:start], allowed, coded), text[start:stop]]
        end = stop
    out.append(_defuse(text[end:], allowed, coded))
    defused = "".join(out)
    outside = _outside_code(defused)
    # A stray backtick in the text pairs with one of ours, and lays the address bare again.
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


def linked_pages(text: str, sources: Iterable[Source]) -> tuple[tuple[int, str], ...]:
    """Number and URL of the sources that a text has links to."""
    targets = {_key(target) for target in link_targets(text)} if "](" in text else frozenset()
    return tuple((each.number, each.url) for each in sources if _key(each.url) in targets)


def _key(url: str) -> str:
    """The key of the page that an address names; parsers encode characters that a link to a file
    may not hold."""
    return unquote(url) if url.startswith("file:") else dedupe_key(url)


def _outside_code(text: str) -> str:
    parts: list[str] = []
    end = 0
    for start, stop in code_spans(text):
        parts.append(text[end:start])
        end = stop
    return "\n".join((*parts, text[end:]))


def _leads_to_source(target: str, allowed: Mapping[str, str]) -> bool:
    """Whether a target is the address of a source to the letter."""
    if target.startswith("file:"):
        return stored(target, allowed) is not None
    return unquote(target) == unquote(stored(target, allowed) or "")


def _disarm(text: str, allowed: Mapping[str, str]) -> str:
    """The text with nothing left that any Markdown makes a link of, but allowed URLs."""
    text = re.sub(r"\](?=[(\[:])", "] ", text)  # no target, reference or definition after a label
    text = re.sub(r"\[(?!\d{1,4}\])", "(", text)  # and no label but a footnote mark
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
    """An address as the target of a Markdown link."""
    return f"<{address}>" if address.count("(") != address.count(")") else address
