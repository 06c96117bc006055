"""The request for the statements of a text to be checked, and its reply."""

from __future__ import annotations

from typing import Any

from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import Statement
from bot.reasoning.model.requests import Request, Unusable, json_object, user_turn
from bot.reasoning.model.schemas import STRING, list_of, object_of
from bot.reasoning.model.text import clean, element, line, lines
from bot.reasoning.prompts import load

LONGEST = 500  # characters of a statement
QUERIES = 2
QUERY = 200  # characters
TOKENS = 3_000  # of the reply
SCHEMA = object_of(
    statements=list_of(object_of(text=STRING, alone=STRING, queries=list_of(STRING)))
)


def request(model: str, text: str) -> Request:
    """Return the request for the statements of a text."""
    body = element("draft", clean(text).strip())
    return Request(model, TOKENS, load("statements"), user_turn(body), schema=SCHEMA)


def statements(reply: ModelReply) -> tuple[Statement, ...]:
    """Parse the statements of the reply. Raises ``Unusable``."""
    given = json_object(reply).get("statements")
    if not isinstance(given, list):
        raise Unusable('"statements" must be a list.')
    return tuple(found for item in given if (found := _statement(item)) is not None)


def _statement(item: Any) -> Statement | None:
    if not isinstance(item, dict):
        return None
    text = line(str(item.get("text") or ""), LONGEST)
    alone = line(str(item.get("alone") or ""), LONGEST) or text
    queries = lines(item.get("queries"), QUERY)[:QUERIES]
    return Statement(text or alone, alone, queries) if alone else None
