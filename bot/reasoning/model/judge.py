"""The request to compare an answer with the expected one, and its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from bot.reasoning.calls import ModelReply
from bot.reasoning.model.requests import Request, Unusable, json_object, user_turn
from bot.reasoning.model.schemas import STRING, object_of, one_of
from bot.reasoning.model.text import clean, element, line, middle_out
from bot.reasoning.prompts import load

Grade = Literal["right", "partly", "wrong"]

QUESTIONS = 4_000  # characters of a conversation's questions
EXPECTED = 4_000  # characters
GIVEN = 8_000  # characters: the beginning and the end of a longer answer
REASON = 300  # characters
MAX_TOKENS = 1_024  # of the reply
SCHEMA = object_of(reason=STRING, grade=one_of(*get_args(Grade)))


def request(model: str, questions: Sequence[str], expected: str, given: str) -> Request:
    """The request to grade the answer ``given`` to the last of a conversation's questions."""
    parts = (
        element("question", clean(middle_out("\n".join(questions), QUESTIONS)).strip()),
        element("expected_answer", clean(middle_out(expected, EXPECTED)).strip()),
        element("given_answer", clean(middle_out(given, GIVEN)).strip()),
    )
    return Request(model, MAX_TOKENS, load("judge"), user_turn("\n\n".join(parts)), schema=SCHEMA)


def parse_verdict(reply: ModelReply) -> tuple[Grade, str]:
    """Parse the grade and its reason. Raises ``Unusable``."""
    given = json_object(reply)
    for grade in get_args(Grade):
        if given.get("grade") == grade:
            return grade, line(str(given.get("reason") or ""), REASON)
    raise Unusable('"grade" must be "right", "partly" or "wrong".')
