"""Planning: the request for an edit of the graph, and parsing of its reply to a ``GraphEdit``.

Each of the planner's turns is rendered from its own data alone, so that a later request begins with
all of an earlier one and the prompt cache stays valid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from bot.reasoning.calls import (
    BOOLEAN,
    STRING,
    ModelReply,
    ModelTurn,
    Request,
    Unusable,
    UserTurn,
    as_list,
    clean,
    element,
    json_object,
    line,
    lines,
    list_of,
    object_of,
    prompt,
    sendable,
    user_turn,
)
from bot.reasoning.evidence import SubQuestion
from bot.reasoning.graphs import Graph, GraphEdit, NewNode, Node, PlanTurn
from bot.reasoning.tool_loop import QUESTION, findings_lines, opening, with_cache_points

QUERIES = 3  # of a sub-question
QUERY = 200  # characters
GAP = 300  # characters of what is missing
MOST = 20  # nodes read from one reply; further ones are ignored
TOGETHER = 6  # facts that one loop can search for in a turn
FIRST = 8  # queries of the first search

_NODE = object_of(id=STRING, question=STRING, needs=list_of(STRING), queries=list_of(STRING))
SCHEMA = object_of(
    queries=list_of(STRING), nodes=list_of(_NODE), done=BOOLEAN, missing=list_of(STRING)
)
FORM = (
    'Reply with one JSON object and nothing else: {"queries": [], "nodes": [{"id", "question", '
    '"needs", "queries"}], "done", "missing"}'
)


def plan_request(common: Request, question: SubQuestion, graph: Graph, now: datetime) -> Request:
    """Return the request for the next edit; ``common`` is an empty request to the same model."""
    turns = plan_turns(question, graph, now)
    return replace(common, system=prompt("plan"), turns=turns, schema=SCHEMA)


def plan_turns(
    question: SubQuestion, graph: Graph, now: datetime
) -> tuple[UserTurn | ModelTurn, ...]:
    """Return the conversation so far: the question, then each edit and its results."""
    asked = "\n\n".join(opening(now, question.text, question.language))
    turns: list[UserTurn | ModelTurn] = [*user_turn(asked)]
    for turn in graph.turns:
        turns.append(ModelTurn(sendable(turn.edit.said or ())))
        turns += user_turn(_answer(turn))
    return with_cache_points(turns)


def worth_cutting(question: str, edit: GraphEdit) -> GraphEdit:
    """Return a first edit, simplified if no graph is needed: if the planner gave queries instead of
    sub-questions, or if at most ``TOGETHER`` sub-questions could be worked on at once, the only
    node is the question itself, with the first query of each sub-question that can be searched now.

    One loop can search for that many facts in a turn, and follows chains with everything it has
    read in view, in as many turns and with fewer tokens.
    """
    if edit.nodes:
        if not edit.done or _widest(edit.nodes) > TOGETHER:
            return edit
        of_nodes = [[query for query in node.queries if "[" not in query] for node in edit.nodes]
        queries = dict.fromkeys(query for each in zip_longest(*of_nodes) for query in each if query)
    else:
        queries = dict.fromkeys(edit.queries)
        if not queries:
            return edit
    whole = NewNode("a", question, queries=tuple(queries)[:FIRST])
    return replace(edit, nodes=(whole,), done=True, missing=())


def _widest(nodes: Sequence[NewNode]) -> int:
    """Return the number of nodes at the widest level; a node is one level below its
    dependencies."""
    levels: dict[str, int] = {}
    for node in nodes:
        levels[node.id] = 1 + max((levels.get(need, 0) for need in node.needs), default=0)
    return max(Counter(levels.values()).values(), default=0)


def edit_of(reply: ModelReply) -> GraphEdit:
    """Parse the reply to an edit; an error becomes the edit's problem."""
    try:
        given = json_object(reply)
    except Unusable as unusable:
        return GraphEdit(problem=f"{unusable.problem} {FORM}.", said=reply.content)
    items = given.get("nodes") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return GraphEdit(problem=f'"nodes" must be a list of objects. {FORM}.', said=reply.content)
    return GraphEdit(
        nodes=tuple(_new_node(item) for item in items[:MOST]),
        done=given.get("done") is True,
        missing=lines(given.get("missing"), GAP),
        queries=lines(given.get("queries"), QUERY),
        said=reply.content,
    )


def _new_node(item: dict[str, Any]) -> NewNode:
    return NewNode(
        id=_name(item.get("id")),
        question=line(str(item.get("question") or ""), QUESTION),
        needs=tuple(dict.fromkeys(_name(need) for need in as_list(item.get("needs")))),
        queries=lines(item.get("queries"), QUERY)[:QUERIES],
    )


def _name(value: Any) -> str:
    return line(str(value), QUERY) if isinstance(value, str | int) else ""


# ---------------------------------------------------------------- results of an edit


def _answer(turn: PlanTurn) -> str:
    parts = []
    if turn.accepted:
        parts.append(f"Added: {', '.join(turn.accepted)}.")
    parts += [clean(sentence) for sentence in turn.refused]
    if not turn.ended:
        parts.append(
            "Correct what was refused: send only sub-questions that are still to be added, or "
            "none and done. Those that were added are being researched."
        )
        return "\n".join(parts)
    parts += [_ended(node) for node in turn.ended]
    times = 1 + turn.extensions_left
    last = (
        f"You may add to the plan {times} more times, this one included"
        if times > 1
        else "This is the last time that you may add to the plan"
    )
    parts.append(
        f"{last}, {turn.room} sub-questions in all. Add what the answer still needs and no "
        "sub-question has asked yet, or none and done."
    )
    return "\n\n".join(parts)


def _ended(node: Node) -> str:
    """Render a sub-question with its findings, their pages, and what is missing."""
    lines = [findings_lines(node.findings, {})] if node.findings else ["(Nothing was found.)"]
    lines += [f"missing: {line(gap, GAP)}" for gap in node.missing]
    if node.problem:
        lines.append(f"It could not be researched: {line(node.problem, GAP)}")
    asked = {"question": node.question}
    return element("sub_question", "\n".join(lines), id=node.id, **asked)
