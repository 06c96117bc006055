"""Text from people and pages for use in a prompt: cleaned and wrapped, so that it cannot break out.

Content of pages is put between our own tags or in ``search_result`` blocks. Nothing inside may look
like one of these tags, or like the markup with which endpoints and models write blocks, tools and
turns, so that the model always knows where data ends: their ``<`` is written ``&lt;``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.core.lines import label, titled
from bot.core.reader import display_address
from bot.pages.passages import Passage
from bot.text.terms import has_cjk, terms

HEADING_PATH = 400
"""Characters shown of a passage's headings and column names."""

TAGS = (
    "conversation",
    "message",
    "new_message",
    "question",
    "older_sources",
    "operator",
    "earlier_answer",
    "answer",
    "expected_answer",
    "given_answer",
    "known",
    "suggested_queries",
    "results",
    "page",
    "findings",
    "missing",
    "tried",
    "sub_question",
    "report",
    "draft",
    "to_come",
    "ask_next",
    "quote",
    "sentence",
    "pair",
    "before",
    "now",
)
"""The tags of our prompts."""

ENDPOINT_TAGS = (
    "system",
    "system_prompt",
    "system-reminder",
    "assistant",
    "search_result",
    "search_results",
    "tool_use",
    "tool_result",
    "tool_results",
    "function_calls",
    "function_results",
    "invoke",
    "document",
    "documents",
    "document_content",
    "instructions",
    "thinking",
)
"""Tags that models know from elsewhere: for blocks, tools and turns as rendered by endpoints."""

_OURS = re.compile(
    rf"<(?=\s*+/?+\s*+(?:(?:{'|'.join((*TAGS, *ENDPOINT_TAGS))})\b|antml:)"
    r"|\s*+\|\s*+\w++\s*+\|\s*+>|<\s*+/?+\s*+SYS)",  # <|im_start|>, <<SYS>>
    re.IGNORECASE,
)
# Characters invisible to readers of a page: controls other than tab and newline, zero-width and
# bidirectional controls, the tag block (used to smuggle instructions), and lone surrogates, which
# cannot be sent at all.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?] (?=\S)|[。！？](?=.)")
MARGIN = 12  # characters at the end of a snippet that may be part of a cut word


def clean(text: str) -> str:
    """Return text that is safe between our tags: without invisible characters and prompt tags."""
    visible = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _OURS.sub("&lt;", visible)


def line(text: str, limit: int) -> str:
    """Return cleaned text on one line, at most ``limit`` characters."""
    return shorten(_SPACE.sub(" ", clean(text)).strip(), limit)


def name(text: str, limit: int) -> str:
    """Return the cleaned label of a title, heading or name, at most ``limit`` characters."""
    return shorten(label(clean(text)), limit)


def title(url: str, text: str, limit: int) -> str:
    """Return the cleaned title of a page with the sign of its kind, or else its address."""
    return shorten(titled(url, clean(text)) or label(clean(url)), limit)


def person(called: str) -> str:
    """Return the name of a message's author, never that of Footnote itself."""
    shown = name(called, 200)
    return f"{shown} (a person)" if shown.casefold() == "footnote" else shown or "someone"


def cut_around(text: str, wanted: Mapping[str, float], limit: int) -> str:
    """Return at most ``limit`` characters of a text on one line: from its beginning, or from the
    sentence or word that is followed by the most wanted terms, by weight."""
    if len(text) <= limit:
        return text
    places = [
        (found.start() + (i if has_cjk(term) else 0), term)  # the terms of a CJK run are pairs
        for found in _WORD.finditer(text)
        for i, term in enumerate(terms(found.group()))
        if term in wanted
    ]

    def weight(start: int) -> float:
        there = {term for place, term in places if start <= place < start + limit - MARGIN}
        return sum(wanted[term] for term in there)

    sentences = [found.end() for found in _SENTENCE_END.finditer(text)]
    # The first of equals: the beginning, then the sentence nearest to the words.
    best = max([0, *reversed(sentences), *(place for place, _ in places)], key=weight)
    return shorten(f"…{text[best:]}" if best else text, limit)


def listed(value: Any) -> list[Any]:
    """Return a value of a model's JSON as a list; a single value becomes a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def lines(value: Any, limit: int) -> tuple[str, ...]:
    """Return the strings of such a list, each on one line, without duplicates."""
    kept = (line(item, limit) for item in listed(value) if isinstance(item, str))
    return tuple(dict.fromkeys(item for item in kept if item))


def attribute(text: str, limit: int = 200) -> str:
    """Return one line that can be used as an attribute value in double quotes."""
    kept = line(text, limit).replace('"', "'")
    return kept.replace("<", "‹").replace(">", "›")


def shorten(text: str, limit: int) -> str:
    """Return at most ``limit`` characters; an ellipsis marks a cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def middle_out(text: str, limit: int) -> str:
    """Return at most about ``limit`` characters: the beginning and the end, which usually contain
    the request."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half].rstrip()}\n[…]\n{text[-half:].lstrip()}"


def element(tag: str, body: str, **attributes: str | int) -> str:
    """Return ``<tag a="...">body</tag>``, with the (already cleaned) body on its own lines."""
    given = "".join(f' {name}="{attribute(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{given}>\n{body}\n</{tag}>"


def site(url: str) -> str:
    """Return the host as people name it, or a local document's file name."""
    url = display_address(url)
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return host or label(unquote(parts.path.rsplit("/", 1)[-1])) or url


def passage_lines(passages: Sequence[Passage]) -> str:
    """Render passages in page order: with headings where they change, and an ellipsis where text is
    omitted."""
    lines: list[str] = []
    heading, end = "", None
    for passage in passages:
        if passage.heading != heading:
            lines.append(f"§ {name(passage.heading, HEADING_PATH)}" if passage.heading else "§")
            heading = passage.heading
        elif end is not None and passage.start > end + 2:  # more than a line break is missing
            lines.append("[…]")
        lines.append(clean(passage.text).strip())
        end = passage.end
    return "\n".join(lines)
