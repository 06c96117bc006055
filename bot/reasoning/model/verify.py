"""The requests to verify an answer's sentences against their quotes, and to restate those that
fail, and their replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from bot.answers import Judgement
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import Claim, Verdict
from bot.reasoning.model.requests import Request, numbered, user_turn
from bot.reasoning.model.schemas import INTEGER, STRING, list_of, object_of, one_of
from bot.reasoning.model.text import clean, element, line, middle_out, name
from bot.reasoning.prompts import load

QUESTION = 2_000  # characters
QUOTE = 6_000  # characters: the beginning and the end of a longer one
SENTENCE = 2_000  # characters
PLACE = 200  # characters of a page's title and headings
WORDS = 200  # characters of the unsupported words
TOKENS = 60  # of the reply, per sentence
SCHEMA = object_of(
    verdicts=list_of(
        object_of(sentence=INTEGER, verdict=one_of(*get_args(Judgement)), words=STRING)
    )
)


def request(model: str, question: str, claims: Sequence[Claim]) -> Request:
    """Return the request to verify the claims of the answer to a question."""
    return Request(
        model,
        200 + TOKENS * len(claims),
        load("verify"),
        user_turn(material(question, claims)),
        schema=SCHEMA,
    )


def material(question: str, claims: Sequence[Claim], said: Sequence[Mapping[str, str]] = ()) -> str:
    """Render a question, the distinct quotes of its answer's claims, and the claims; ``said`` are
    further attributes of each claim."""
    numbers: dict[tuple[str, str], int] = {}
    for claim in claims:
        for quote in _quotes(claim):
            numbers.setdefault(quote, len(numbers) + 1)
    parts = [element("question", clean(middle_out(question, QUESTION)).strip())]
    for (words, place), number in numbers.items():
        where = {"place": name(place, PLACE)} if place else {}
        body = clean(middle_out(words, QUOTE)).strip()
        parts.append(element("quote", body, number=number, **where))
    for at, claim in enumerate(claims):
        cites = ", ".join(str(numbers[quote]) for quote in dict.fromkeys(_quotes(claim)))
        text = clean(middle_out(claim.text, SENTENCE)).strip()
        more = said[at] if said else {}
        parts.append(element("sentence", text, number=at + 1, quotes=cites, **more))
    return "\n\n".join(parts)


def _quotes(claim: Claim) -> list[tuple[str, str]]:
    """Return the quotes of a claim, each with its place."""
    places = claim.places or ("",) * len(claim.quotes)
    return list(zip(claim.quotes, places, strict=True))


def verdicts(reply: ModelReply, claims: Sequence[Claim]) -> tuple[Verdict | None, ...]:
    """Parse the verdict on each claim; None if the reply has none. Raises ``Unusable``."""
    found: list[Verdict | None] = [None] * len(claims)
    for at, item in numbered(reply, "verdicts", "sentence", len(claims)):
        for judgement in get_args(Judgement):
            if item.get("verdict") == judgement:
                words = line(str(item.get("words") or ""), WORDS)
                found[at] = Verdict(judgement, words)
    return tuple(found)


ANSWER = 6_000  # characters
RESTATED_TOKENS = 160  # of the reply, per sentence
RESTATED = object_of(sentences=list_of(object_of(sentence=INTEGER, text=STRING)))


def restate_request(
    model: str, question: str, answer: str, claims: Sequence[Claim], verdicts: Sequence[Verdict]
) -> Request:
    """The request to restate unsupported claims of an answer (Markdown), each with its verdict."""
    said = [
        {"verdict": verdict.judgement} | ({"words": verdict.words} if verdict.words else {})
        for verdict in verdicts
    ]
    context = element("answer", clean(middle_out(answer, ANSWER)).strip())
    asked = material(question, claims, said)
    return Request(
        model,
        200 + RESTATED_TOKENS * len(claims),
        load("restate"),
        user_turn(f"{context}\n\n{asked}"),
        schema=RESTATED,
    )


def parse_restatements(reply: ModelReply, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Parse the new wording of each claim; "" if the quotes support none. Raises ``Unusable``."""
    found = [""] * len(claims)
    for at, item in numbered(reply, "sentences", "sentence", len(claims)):
        if isinstance(item.get("text"), str):
            found[at] = line(item["text"], SENTENCE)
    return tuple(found)
