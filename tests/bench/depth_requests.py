"""Reads requests of the depth bench to its model, and the replies.

Requests are those of the Messages API; what is looked for in their words is as Footnote and the
reference loops write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.claude_replies import Reply
from tests.fakes.claude_requests import search_results, texts_of, user_texts

HIT = re.compile(r"^(\d+)\. (.*)$", re.M)
RESULT = re.compile(r"(?:Page (\d+): )?(.*?)(?: \(whole page\))?")
PASSAGE = re.compile(r"^\d+\.\d+ ", re.M)  # what numbers the passages on a desk
PAGE = re.compile(r'<page number="(\d+)" title="([^"]*)"[^>]*>(.*?)</page>', re.S)


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page's number and what is shown of its text."""

    number: int
    text: str


def role(request: Mapping[str, Any]) -> str:
    """The purpose of a call of Footnote's, in a word."""
    form = (request.get("output_config") or {}).get("format") or {}
    wanted = set((form.get("schema") or {}).get("properties") or ())
    for name, property in (
        ("rewrite", "kind"),
        ("plan", "nodes"),
        ("draft", "paragraphs"),
        ("query", "queries"),
    ):
        if property in wanted:
            return name
    if request.get("tools"):
        return "think"
    return "revise" if tagged("\n".join(user_texts(request)), "draft") else "write"


def chosen_titles(request: Mapping[str, Any], reply: Reply) -> list[str]:
    """The titles of the hits that a reply asks to read."""
    numbers = hits("\n".join(user_texts(request)))
    ids = [
        id
        for block in reply.content
        if block["type"] == "tool_use" and block["name"] == "read"
        for id in block["input"]["ids"]
    ]
    return [title for title, number in numbers.items() if number in ids]


def said_strings(reply: Reply) -> list[str]:
    """Every string in a reply's calls and JSON, and its lines."""
    found: list[str] = []
    for block in reply.content:
        if block["type"] == "tool_use":
            found += _strings(block["input"])
        elif block["type"] == "text":
            for line in block["text"].splitlines():
                found.append(line)
                try:
                    found += _strings(json.loads(line))
                except ValueError:
                    continue
    return found


def shown_titles(request: Mapping[str, Any]) -> set[str]:
    """The pages whose text stands in a request."""
    return set(pages(request))


def pages(request: Mapping[str, Any]) -> dict[str, OpenPage]:
    """Title → the page with all the text that is shown of it, as an element or a search result."""
    found: dict[str, OpenPage] = {}
    shown = PAGE.findall(all_shown(request))
    for result in search_results(request):
        number = _numbered(result)[1] or "0"
        shown.append((number, title_of(result), "\n".join(texts_of(result["content"]))))
    for number, title, body in shown:
        earlier = found[title].text if title in found else ""
        found[title] = OpenPage(int(number), f"{earlier}\n{PASSAGE.sub('', body)}")
    return found


def title_of(result: Mapping[str, Any]) -> str:
    """The page's title alone of a search result."""
    return str(_numbered(result)[2])


def hits(shown: str) -> dict[str, int]:
    """Title → number of the hits shown. Where a snippet follows the title after a colon, which a
    title may have too, each of its beginnings is taken for one."""
    found: dict[str, int] = {}
    for number, words in HIT.findall(shown):
        parts = words.removesuffix(" (open)").split(": ")
        for end in range(len(parts), 0, -1):
            found.setdefault(": ".join(parts[:end]), int(number))
    return found


def tagged(shown: str, tag: str) -> str:
    """The content of the last such element; "" without one."""
    return (elements(shown, tag) or [""])[-1]


def elements(shown: str, tag: str) -> list[str]:
    """The contents of all such elements."""
    return [str(f) for f in re.findall(rf"<{tag}(?: [^>]*)?>\n?(.*?)\n?</{tag}>", shown, re.S)]


def heading(shown: str) -> str:
    """Of the paragraph that is being worked on."""
    found = re.findall(r'<draft heading="([^"]*)"', shown)
    return str(found[-1])


def searched(request: Mapping[str, Any]) -> set[str]:
    """The queries of this conversation's searches, those made before it began included."""
    shown = "\n".join(user_texts(request))
    return set(re.findall(r'<results query="([^"]*)"', shown)) | {
        query
        for message in request["messages"]
        if message["role"] == "assistant" and not isinstance(message["content"], str)
        for block in message["content"]
        if block["type"] == "tool_use"
        for query in (*block["input"].get("queries", ()), block["input"].get("query"))
        if query
    }


def chosen_ids(request: Mapping[str, Any]) -> set[int]:
    """The numbers of the hits that were chosen in this conversation."""
    return {
        id
        for message in request["messages"]
        if message["role"] == "assistant" and not isinstance(message["content"], str)
        for block in message["content"]
        if block["type"] == "tool_use" and block["name"] == "read"
        for id in block["input"]["ids"]
    }


def all_shown(request: Mapping[str, Any]) -> str:
    return "\n".join(user_texts(request))


def system_text(request: Mapping[str, Any]) -> str:
    system = request.get("system") or ""
    return system if isinstance(system, str) else "\n".join(block["text"] for block in system)


def _numbered(result: Mapping[str, Any]) -> re.Match[str]:
    found = RESULT.fullmatch(result["title"])
    assert found is not None
    return found


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value
    return [s for v in inner for s in _strings(v)] if isinstance(value, Mapping | list) else []
