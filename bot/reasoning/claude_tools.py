"""The loop's three tools, and how a call of one becomes an action.

Strict schemas make well-formed input likely, not certain: an endpoint may not know ``strict``, and
a call may be cut off. What can be understood is taken as meant; the rest becomes a ``Malformed``
whose words the model can act on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from anthropic.types import RawMessageStreamEvent
from pydantic_core import from_json

from bot.reasoning.claude_endpoint import Again
from bot.reasoning.claude_messages import UNPARSED, Block
from bot.reasoning.desks import Action, Finish, Malformed, Read, Search
from bot.reasoning.evidence import Finding
from bot.text.control import without_controls

AT_ONCE = 4  # queries of one search, hits of one read
QUERY = 200  # characters
FINDINGS = '"findings"'
ANSWER = 80  # characters; more is no answer in a few words
LONGEST_NUMBER = 9  # digits of a number that stands for a hit or page
CUT_OFF = (
    "Your call was cut off at the output limit before it was complete. "
    "Call again, much shorter: fewer items, fewer words."
)

TOOLS: tuple[Block, ...] = (
    {
        "name": "search",
        "description": (
            "Search with 1 to 4 different queries at once. Returns about ten numbered hits for "
            "each, with title, site and snippet, and the best passages of the best ones. Queries "
            "are short and atomic: 2 to 6 keywords "
            "that a page stating one fact would contain. Counts as one search however many "
            "queries it holds."
        ),
        "strict": True,
        "input_schema": {
            "type": "object",
            "properties": {
                "queries": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "description": "1 to 4 queries, each for one fact",
                }
            },
            "required": ["queries"],
            "additionalProperties": False,
        },
    },
    {
        "name": "read",
        "description": (
            "Open 1 to 4 hits by their numbers. Returns the passages of each page that fit the "
            "question best, and the page's own number, by which findings name it."
        ),
        "strict": True,
        "input_schema": {
            "type": "object",
            "properties": {
                "ids": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "minItems": 1,
                    "description": "1 to 4 hit numbers",
                }
            },
            "required": ["ids"],
            "additionalProperties": False,
        },
    },
    {
        "name": "finish",
        "description": (
            "End the research: what was found, whether it answers the whole question, what is "
            "still unproven. Call it alone, after you have seen all results."
        ),
        "strict": True,
        "input_schema": {
            "type": "object",
            # In this order they are written: see EnoughWatch.
            "properties": {
                "enough": {
                    "type": "boolean",
                    "description": "true only if the findings answer the whole question",
                },
                "missing": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "what is still unproven, in a few words each",
                },
                "findings": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {
                                "type": "string",
                                "description": "one fact as a full sentence",
                            },
                            "sources": {
                                "type": "array",
                                "items": {"type": "integer"},
                                "description": "numbers of the pages that say so",
                            },
                        },
                        "required": ["text", "sources"],
                        "additionalProperties": False,
                    },
                },
                "answer": {
                    "type": "string",
                    "description": "the answer in a few words, as a query could hold it, or empty",
                },
            },
            "required": ["enough", "missing", "findings", "answer"],
            "additionalProperties": False,
        },
    },
)


class _Unclear(Exception):
    """The input cannot be understood; the words say what it should have been."""


def actions(content: Sequence[Block], stop_reason: str, pages: Collection[int]) -> list[Action]:
    """The actions of a turn, one for each tool call, in their order.

    ``pages`` are the page numbers on the desk: a finding can rest on no others.
    """
    calls = [block for block in content if block["type"] == "tool_use"]
    found: list[Action] = []
    for call in calls:
        cut = stop_reason == "max_tokens" and call is calls[-1] and UNPARSED in call
        found.append(Malformed(CUT_OFF, call["id"]) if cut else _action(call, pages))
    return found


class EnoughWatch:
    """Sees in a turn's events that it will be a finish that is enough and misses nothing.

    That is certain before the findings are listed, when they come last and nothing was called
    before. ``on_enough`` is called once. A reply that breaks off and is sent again may decide
    otherwise: who is called here goes by the whole turn in the end.
    """

    def __init__(self, on_enough: Callable[[], None] | None) -> None:
        self._on_enough = on_enough
        self._written = ""
        self._index: int | None = None

    def __call__(self, event: RawMessageStreamEvent | Again) -> None:
        if self._on_enough is None:
            return
        if isinstance(event, Again):
            self._written, self._index = "", None
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            if self._index is not None or event.content_block.name != "finish":
                self._on_enough = None  # not a finish alone
            self._index = event.index
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            self._written += event.delta.partial_json
            if FINDINGS in self._written:
                self._decide(self._on_enough)

    def _decide(self, on_enough: Callable[[], None]) -> None:
        self._on_enough = None
        try:
            given = from_json(self._written, allow_partial=True)
        except ValueError:
            return
        if given.get("enough") is True and given.get("missing") == []:
            on_enough()


def _action(call: Block, pages: Collection[int]) -> Action:
    id, name, given = str(call["id"]), call.get("name"), call.get("input")
    if UNPARSED in call:
        return Malformed(f"The input of {name} was not valid JSON. Call it again.", id)
    try:
        match name:
            case "search":
                return Search(_queries(_field(given, "queries", name)), id)
            case "read":
                return Read(_ids(_field(given, "ids", name)), id)
            case "finish":
                return _finish(given, id, pages)
            case _:
                words = f"There is no tool {name!r}. The tools are search, read and finish."
                return Malformed(words, id)
    except _Unclear as unclear:
        return Malformed(str(unclear), id)


def _field(given: Any, name: str, tool: Any) -> Any:
    if not isinstance(given, dict) or name not in given:
        raise _Unclear(f"{tool} needs {name!r}. Call it again with it.")
    return given[name]


def _queries(value: Any) -> tuple[str, ...]:
    queries = _strings([value] if isinstance(value, str) else value)
    if not queries:
        raise _Unclear("queries must be a list of 1 to 4 short strings. Call search again.")
    return tuple(dict.fromkeys(query[:QUERY] for query in queries))[:AT_ONCE]


def _ids(value: Any) -> tuple[int, ...]:
    ids = _integers([value] if isinstance(value, int | str) else value)
    if not ids:
        raise _Unclear("ids must be a list of 1 to 4 hit numbers. Call read again.")
    return tuple(dict.fromkeys(ids))[:AT_ONCE]


def _finish(given: Any, id: str, pages: Collection[int]) -> Finish:
    value = _field(given, "findings", "finish")
    if not isinstance(value, list):
        raise _Unclear("findings must be a list of {text, sources}. Call finish again.")
    findings = tuple(finding for item in value if (finding := _finding(item, pages)) is not None)
    missing = given.get("missing") or ()
    return Finish(
        findings=findings,
        enough=given.get("enough") is True,
        missing=tuple(_strings([missing] if isinstance(missing, str) else missing)),
        id=id,
        answer=_answer(given.get("answer")),
    )


def _answer(value: Any) -> str:
    """A name, a figure, a date; "" for what is longer, cut off it would be another answer."""
    (words,) = _strings([value]) or ("",)
    return words if len(words) <= ANSWER else ""


def _finding(item: Any, pages: Collection[int]) -> Finding | None:
    """A finding without page numbers that do not exist, or None for one that says nothing."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise _Unclear("Each finding must be {text, sources}. Call finish again.")
    text = " ".join(item["text"].split())
    sources = [n for n in _integers(item.get("sources")) if n in pages]
    return Finding(text, tuple(dict.fromkeys(sources))) if text else None


def _strings(value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    cleaned = (" ".join(without_controls(i, " ").split()) for i in value if isinstance(i, str))
    return [item for item in cleaned if item]


def _integers(value: Any) -> list[int]:
    """The integers of a list; "3" and 3.0 are meant as 3."""
    found: list[int] = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, bool):
            continue
        if isinstance(item, int) or (isinstance(item, float) and item.is_integer()):
            found.append(int(item))
        elif isinstance(item, str) and item.strip().isdecimal() and len(item) <= LONGEST_NUMBER:
            found.append(int(item.strip()))
    return found
