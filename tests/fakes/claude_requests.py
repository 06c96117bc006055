"""Reading a request to the fake Claude: its texts, its search results, the words that matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.claude_replies import Block

STOP = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be by can could did do does for from had has have how i in is it
        its me my of on or our please so tell than that the their them then there they this
        to was we were what when where which who whom whose why will with would you your
        about""",
    )
)
PAGE = re.compile(r'<page number="(\d+)"[^>]*>\n(.*?)\n</page>', re.S)
PASSAGE = re.compile(r"^\d+\.\d+ ", re.M)  # what numbers the passages on a desk
TITLE = re.compile(r"Page (\d+): ")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def user_texts(request: Mapping[str, Any]) -> list[str]:
    """Every text of the user's turns, tool results included, in order."""
    found: list[str] = []
    for message in request["messages"]:
        if message["role"] == "user":
            content = message["content"]
            found += [content] if isinstance(content, str) else texts_of(content)
    return found


def texts_of(blocks: Sequence[Block]) -> list[str]:
    """The texts of blocks, those in tool results included."""
    found: list[str] = []
    for block in blocks:
        if block["type"] == "text":
            found.append(block["text"])
        elif block["type"] == "tool_result":
            inner = block.get("content") or ""
            found += [inner] if isinstance(inner, str) else texts_of(inner)
    return found


def asked_last(request: Mapping[str, Any]) -> str:
    """The last text of the user's turns."""
    texts = user_texts(request)
    return texts[-1] if texts else ""


def search_results(request: Mapping[str, Any]) -> list[Block]:
    """The request's search results, those of tools included, as citations count them."""
    blocks = [
        block
        for message in request["messages"]
        if not isinstance(message["content"], str)
        for block in message["content"]
    ]
    inner = [
        each
        for block in blocks
        if block["type"] == "tool_result" and not isinstance(block.get("content") or "", str)
        for each in block["content"]
    ]
    return [block for block in (*blocks, *inner) if block["type"] == "search_result"]


def tagged(words: str, tag: str) -> str | None:
    """The content of the last such tag; None if there is none."""
    found = re.findall(rf"<{tag}(?: [^>]*)?>\n?(.*?)\n?</{tag}>", words, re.S)
    return found[-1] if found else None


def keywords(words: str) -> list[str]:
    """The words to search for, at most eight; a text in Chinese, Japanese or Korean as it is."""
    if CJK.search(words):
        return [re.sub(r"[？?。！!，,\s]+", " ", words).strip()]
    tokens = re.findall(r"[^\W_][\w'’.-]*", words)
    kept = [t.rstrip(".'’-") for t in tokens if t.lower().rstrip(".") not in STOP]
    return list(dict.fromkeys(kept))[:8] or tokens[:4]


def overlap_of(wanted: set[str], words: str) -> int:
    """The number of the wanted words that a text has."""
    return len(wanted & {w.lower() for w in re.findall(r"\w[\w'’-]*", words)})


def desk_pages(request: Mapping[str, Any]) -> dict[int, str]:
    """The text of each page on the desk, by its number."""
    pages: dict[int, str] = {}
    for result in search_results(request):
        number = TITLE.match(result["title"])
        if number is not None:
            body = "\n".join(part["text"] for part in result["content"])
            pages[int(number[1])] = "\n".join(
                filter(None, (pages.get(int(number[1])), PASSAGE.sub("", body)))
            )
    for number, body in PAGE.findall("\n".join(user_texts(request))):
        pages[int(number)] = PASSAGE.sub("", body)
    return pages
