"""Plans without a model: divides a question about several things by its own words.

Two kinds are recognized: several questions in one message, and a comparison of two things (see
``extractive.rewrite.sides``), each of which gets its own question. Everything else stays undivided,
because the loop itself follows names from page to page. No part depends on another.
"""

from __future__ import annotations

import re

from bot.reasoning.extractive.hops import first_queries
from bot.reasoning.extractive.rewrite import sides
from bot.reasoning.graphs import Graph, GraphEdit, NewNode
from bot.reasoning.questions import SubQuestion
from bot.text.lazy_regex import lazy_regex
from bot.text.sentences import sentences

PARTS = 4  # parts of one question

_LEANS = lazy_regex(  # refers to the question before: cannot be asked alone
    r"\b(?:he|she|it|they|them|his|her|its|their|this|that|these|those|there|then|both|one)\b"
    "|[他她它]|这|那|其|這",
    re.IGNORECASE,
)


def plan(question: SubQuestion, graph: Graph) -> GraphEdit:
    """Return all parts in the first edit; later edits add nothing."""
    if graph.turns:
        return GraphEdit(done=True)
    parts = _questions(question.text) or sides(question.text) or [question.text]
    nodes = tuple(
        NewNode(chr(ord("a") + at), part, queries=tuple(first_queries(part)))
        for at, part in enumerate(parts[:PARTS])
    )
    return GraphEdit(nodes, done=True)


def _questions(text: str) -> list[str]:
    """Return the questions of a text that has only questions, if each can be asked alone."""
    found = [text[s.start : s.end].strip() for s in sentences(text)]
    asked = [part for part in found if part]
    alone = all(
        part.endswith(("?", "？")) and (not at or not _LEANS.search(part))
        for at, part in enumerate(asked)
    )
    return asked if 1 < len(asked) <= PARTS and alone else []
