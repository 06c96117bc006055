"""The request to compare two versions of sentences by meaning, and its reply."""

from __future__ import annotations

from contextlib import suppress

from bot.reasoning.calls import ModelReply
from bot.reasoning.model.requests import Request, Unusable, numbered, user_turn
from bot.reasoning.model.schemas import BOOLEAN, INTEGER, list_of, object_of
from bot.reasoning.model.text import clean, element, middle_out
from bot.reasoning.prompts import load
from bot.reasoning.reasoner import Pairs

QUESTION = 2_000  # characters
SENTENCE = 2_000  # characters
TOKENS = 30  # of the reply, per pair
SCHEMA = object_of(pairs=list_of(object_of(pair=INTEGER, same=BOOLEAN)))


def request(model: str, question: str, pairs: Pairs) -> Request:
    """Return the request to compare the earlier and the present sentence of each pair."""
    parts = [element("question", clean(middle_out(question, QUESTION)).strip())]
    for number, versions in enumerate(pairs, start=1):
        before, now = (clean(middle_out(one, SENTENCE)).strip() for one in versions)
        both = f"{element('before', before)}\n{element('now', now)}"
        parts.append(element("pair", both, number=number))
    return Request(
        model,
        200 + TOKENS * len(pairs),
        load("compare"),
        user_turn("\n\n".join(parts)),
        schema=SCHEMA,
    )


def same(reply: ModelReply, count: int) -> tuple[bool | None, ...]:
    """Return True for each of ``count`` pairs with the same meaning; None if the reply does not say
    or is contradictory."""
    said: list[set[bool]] = [set() for _ in range(count)]
    with suppress(Unusable):  # a malformed reply means unknown
        for at, item in numbered(reply, "pairs", "pair", count):
            if isinstance(item.get("same"), bool):
                said[at].add(item["same"])
    return tuple(one.pop() if len(one) == 1 else None for one in said)
