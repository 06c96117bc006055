"""The loop's three tools, and the conversion of tool calls to actions.

Strict schemas make well-formed input likely, not certain: an endpoint may not support ``strict``,
and a call may be cut off. Understandable input is accepted; the rest becomes a ``Malformed`` with a
message that the model can act on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.pages.passages import Passage
from bot.reasoning.calls import ModelReply, ToolCall
from bot.reasoning.evidence import Finding, Source
from bot.reasoning.model.requests import Tool
from bot.reasoning.model.schemas import BOOLEAN, INTEGER, STRING, list_of, object_of
from bot.reasoning.workspace import Action, Finish, Malformed, Read, Search
from bot.text.terms import without_controls

AT_ONCE = 6  # queries of one search, hits of one read
QUERY = 200  # characters
ANSWER = 80  # characters; a longer text is not a short answer
LONGEST_NUMBER = 9  # digits of the number of a hit or page
_LEAD_IN = re.compile(r"[:：]\s*$")
_PASSAGE = re.compile(r"(?:[a-z]+ *)?(\d{1,6})(?:[.:](\d{1,6}))?", re.IGNORECASE)
CUT_OFF = (
    "Your call was cut off at the output limit before it was complete. "
    "Call again, much shorter: fewer items, fewer words."
)

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        (
            "Search 1 to 6 different queries at once, each 2 to 6 keywords for one fact. Returns "
            "numbered hits, with the passages of those that fit best. Counts as one search."
        ),
        object_of(queries=list_of(STRING, minItems=1)),
    ),
    Tool(
        "read",
        (
            "Open 1 to 6 hits by number, or show more of an open page. Returns the passages that "
            "fit the question."
        ),
        object_of(ids=list_of(INTEGER, minItems=1)),
    ),
    Tool(
        "finish",
        "End the research. Call it alone, after you have seen all results.",
        object_of(
            use=list_of(
                STRING, description='passages that prove the answer: "3.2"; a whole page: "3"'
            ),
            enough=BOOLEAN | {"description": "they prove the whole answer"},
            missing=list_of(STRING, description="what stays unproven, in a few words each"),
            findings=list_of(
                object_of(
                    text=STRING | {"description": "one short sentence"}, pages=list_of(INTEGER)
                )
            ),
            answer=STRING | {"description": "the answer in a few words, or empty"},
        ),
    ),
)


class _Unclear(Exception):
    """The input cannot be understood; the message says what it should be."""


def actions(reply: ModelReply, pages: Mapping[int, Source]) -> list[Action]:
    """Return the actions of a turn, one for each tool call, in order.

    ``pages`` maps numbers in the workspace to the shown pages: a finish can refer only to these.
    """
    calls = [block for block in reply.content if isinstance(block, ToolCall)]
    found: list[Action] = []
    for call in calls:
        cut = reply.stop_reason == "max_tokens" and call is calls[-1] and call.unparsed
        found.append(Malformed(CUT_OFF, call.id) if cut else _action(call, pages))
    return found


def _action(call: ToolCall, pages: Mapping[int, Source]) -> Action:
    id, name, given = call.id, call.name, call.input
    if call.unparsed:
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
        raise _Unclear("queries must be a list of 1 to 6 short strings. Call search again.")
    return tuple(dict.fromkeys(query[:QUERY] for query in queries))[:AT_ONCE]


def _ids(value: Any) -> tuple[int, ...]:
    ids = _integers([value] if isinstance(value, int | str) else value)
    if not ids:
        raise _Unclear("ids must be a list of 1 to 6 hit numbers. Call read again.")
    return tuple(dict.fromkeys(ids))[:AT_ONCE]


def _finish(given: Any, id: str, pages: Mapping[int, Source]) -> Finish:
    enough, value = _field(given, "enough", "finish"), given.get("findings") or []
    if not isinstance(value, list):
        raise _Unclear("findings must be a list of {text, pages}. Call finish again.")
    findings = tuple(finding for item in value if (finding := _finding(item, pages)) is not None)
    missing = given.get("missing") or ()
    return Finish(
        findings=findings,
        enough=enough is True,
        missing=tuple(_strings([missing] if isinstance(missing, str) else missing)),
        id=id,
        answer=_answer(given.get("answer")),
        carrying=_carrying(given.get("use"), pages),
        none_carries=given.get("use") == [] and enough is not True and not findings,
    )


def _carrying(value: Any, pages: Mapping[int, Source]) -> tuple[Source, ...]:
    """Return the named pages, with the named passages (``"3.2"``) or all (``"3"``); references to
    anything not shown are ignored.

    A passage includes its lead-in ("The following is prohibited:").
    """
    named: dict[int, set[int]] = {}
    for item in value if isinstance(value, list | tuple) else [value]:
        found = _PASSAGE.fullmatch(str(item).strip())
        if found is None or int(found[1]) not in pages:
            continue
        number = int(found[1])
        every = range(len(pages[number].passages))
        chosen = [int(found[2]) - 1] if found[2] else every
        named.setdefault(number, set()).update(at for at in chosen if at in every)
    return tuple(
        replace(pages[number], passages=_with_lead_ins(pages[number].passages, chosen))
        for number, chosen in named.items()
        if chosen
    )


def _with_lead_ins(passages: Sequence[Passage], chosen: set[int]) -> tuple[Passage, ...]:
    kept: list[Passage] = []
    for at in range(len(passages) - 1, -1, -1):
        leads_in = bool(kept) and _LEAD_IN.search(passages[at].text) is not None
        if at in chosen or (leads_in and kept[-1] is passages[at + 1]):
            kept.append(passages[at])
    return tuple(reversed(kept))


def _answer(value: Any) -> str:
    """Return a short answer such as a name, figure or date; "" if it is longer, since cutting it
    would change it."""
    (words,) = _strings([value]) or ("",)
    return words if len(words) <= ANSWER else ""


def _finding(item: Any, pages: Mapping[int, Source]) -> Finding | None:
    """Return a finding without invalid page numbers, or None if it is empty."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise _Unclear("Each finding must be {text, pages}. Call finish again.")
    text = " ".join(item["text"].split())
    sources = [pages[n].number for n in _integers(item.get("pages")) if n in pages]
    return Finding(text, tuple(dict.fromkeys(sources))) if text else None


def _strings(value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    cleaned = (" ".join(without_controls(i, " ").split()) for i in value if isinstance(i, str))
    return [item for item in cleaned if item]


def _integers(value: Any) -> list[int]:
    """Return the integers of a list; "3" and 3.0 count as 3."""
    found: list[int] = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, bool):
            continue
        if isinstance(item, int) or (isinstance(item, float) and item.is_integer()):
            found.append(int(item))
        elif isinstance(item, str) and item.strip().isdecimal() and len(item) <= LONGEST_NUMBER:
            found.append(int(item.strip()))
    return found
