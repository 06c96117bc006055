"""The requests to verify an answer's sentences against their quotes, and to restate those that
fail, and their replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from bot.core.messages import Judgement
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import CitationDelta, Claim, Restated, Verdict
from bot.reasoning.model.requests import Request, numbered, user_turn
from bot.reasoning.model.schemas import INTEGER, STRING, list_of, object_of, one_of
from bot.reasoning.model.text import clean, element, line, listed, middle_out, name
from bot.reasoning.prompts import load

QUESTION = 2_000  # characters
ANSWER = 6_000  # characters
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


def request(model: str, question: str, text: str, claims: Sequence[Claim]) -> Request:
    """Return the request to verify claims of a text, the answer to a question."""
    return Request(
        model,
        200 + TOKENS * len(claims),
        load("verify"),
        user_turn(material(question, text, claims)),
        schema=SCHEMA,
    )


def material(
    question: str,
    text: str,
    claims: Sequence[Claim],
    said: Sequence[Mapping[str, str]] = (),
    others: Sequence[Claim] = (),
) -> str:
    """Render a question, its answer, the distinct quotes of the claims and the others, and the
    claims; ``said`` are further attributes of each claim."""
    numbers = _numbers((*claims, *others))
    parts = [element("question", clean(middle_out(question, QUESTION)).strip())] if question else []
    parts.append(element("answer", clean(middle_out(text, ANSWER)).strip()))
    for (words, place), number in numbers.items():
        where = {"place": name(place, PLACE)} if place else {}
        body = clean(middle_out(words, QUOTE)).strip()
        parts.append(element("quote", body, number=number, **where))
    for at, claim in enumerate(claims):
        cites = ", ".join(map(str, _numbers_of(claim, numbers)))
        body = clean(middle_out(claim.text, SENTENCE)).strip()
        more = said[at] if said else {}
        parts.append(element("sentence", body, number=at + 1, quotes=cites, **more))
    return "\n\n".join(parts)


def _numbers(claims: Iterable[Claim]) -> dict[tuple[str, str], int]:
    """Return the distinct quotes of claims with their places, numbered from 1."""
    quotes = dict.fromkeys(quote for claim in claims for quote in _quotes(claim))
    return {quote: number for number, quote in enumerate(quotes, start=1)}


def _numbers_of(claim: Claim, numbers: Mapping[tuple[str, str], int]) -> list[int]:
    return [numbers[quote] for quote in dict.fromkeys(_quotes(claim))]


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


RESTATED_TOKENS = 180  # of the reply, per sentence
RESTATED = object_of(
    sentences=list_of(object_of(sentence=INTEGER, text=STRING, quotes=list_of(INTEGER)))
)


def restate_request(
    model: str,
    question: str,
    answer: str,
    claims: Sequence[Claim],
    verdicts: Sequence[Verdict],
    others: Sequence[Claim] = (),
) -> Request:
    """The request to restate unsupported claims of an answer (Markdown), each with its verdict;
    ``others`` are its other claims, whose quotes may be used too."""
    said = [
        {"verdict": verdict.judgement} | ({"words": verdict.words} if verdict.words else {})
        for verdict in verdicts
    ]
    return Request(
        model,
        200 + RESTATED_TOKENS * len(claims),
        load("restate"),
        user_turn(material(question, answer, claims, said, others)),
        schema=RESTATED,
    )


def parse_restatements(
    reply: ModelReply, claims: Sequence[Claim], others: Sequence[Claim] = ()
) -> tuple[Restated, ...]:
    """Parse the new wording of each claim, with the citations of quotes that are not its own.
    Raises ``Unusable``."""
    every = (*claims, *others)
    numbers = _numbers(every)
    cited: dict[int, CitationDelta] = {}
    for claim in every:
        for quote, citation in zip(_quotes(claim), claim.citations, strict=False):
            cited.setdefault(numbers[quote], citation)
    found = [Restated()] * len(claims)
    for at, item in numbered(reply, "sentences", "sentence", len(claims)):
        if not isinstance(item.get("text"), str):
            continue
        own = _numbers_of(claims[at], numbers)
        named = (each for each in listed(item.get("quotes")) if type(each) is int)
        added = [cited[each] for each in dict.fromkeys(named) if each in cited and each not in own]
        found[at] = Restated(line(item["text"], SENTENCE), tuple(added))
    return tuple(found)
