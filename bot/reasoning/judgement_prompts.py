"""The requests to the small model to judge texts and pictures, and their replies: it verifies an
answer's sentences against their quotes, restates those that fail, compares versions of sentences,
names the statements of a text, grades an answer, and writes down what pictures show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, get_args

from bot.core.messages import Judgement
from bot.pages.pictures import Picture
from bot.reasoning.calls import (
    BOOLEAN,
    INTEGER,
    STRING,
    ModelReply,
    Request,
    Unusable,
    as_list,
    clean,
    element,
    json_object,
    line,
    lines,
    list_of,
    middle_out,
    name,
    numbered,
    object_of,
    one_of,
    prompt,
    user_turn,
)
from bot.reasoning.evidence import CitationDelta, Claim, Restated, Statement, Verdict
from bot.reasoning.reasoner import Pairs

QUESTION = 2_000  # characters
ANSWER = 6_000  # characters
QUOTE = 6_000  # characters: the beginning and the end of a longer one
SENTENCE = 2_000  # characters
PLACE = 200  # characters of a page's title and headings
WORDS = 200  # characters of the unsupported words
FRAME_TOKENS = 200  # of a reply, besides its sentences
VERDICT_TOKENS = 60  # of the reply, per sentence
VERDICTS = object_of(
    verdicts=list_of(
        object_of(
            sentence=INTEGER,
            verdict=one_of(*get_args(Judgement)),
            words=STRING,
            quotes=list_of(INTEGER),
        )
    )
)


def verify_request(
    model: str, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
) -> Request:
    """Return the request to verify claims of a text, the answer to a question; ``others`` are its
    claims on whose quotes those ``anywhere`` may rest."""
    return Request(
        model,
        FRAME_TOKENS + VERDICT_TOKENS * len(claims),
        prompt("verify"),
        user_turn(material(question, text, claims, others=others)),
        schema=VERDICTS,
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
        more = said[at] if said else {"anywhere": "yes"} if claim.anywhere else {}
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


def parse_verdicts(
    reply: ModelReply, claims: Sequence[Claim], others: Sequence[Claim] = ()
) -> tuple[Verdict | None, ...]:
    """Parse the verdict on each claim; None if the reply has none. Raises ``Unusable``."""
    found: list[Verdict | None] = [None] * len(claims)
    for at, item in numbered(reply, "verdicts", "sentence", len(claims)):
        for judgement in get_args(Judgement):
            if item.get("verdict") == judgement:
                words = line(str(item.get("words") or ""), WORDS)
                is_free = claims[at].anywhere
                added = _added(item, claims[at], (*claims, *others)) if is_free else ()
                found[at] = Verdict(judgement, words, added)
    return tuple(found)


def _added(
    item: Mapping[str, Any], claim: Claim, every: Sequence[Claim]
) -> tuple[CitationDelta, ...]:
    """Return the citations of the quotes that a reply names for a claim besides its own."""
    numbers = _numbers(every)
    cited: dict[int, CitationDelta] = {}
    for each in every:
        for quote, citation in zip(_quotes(each), each.citations, strict=False):
            cited.setdefault(numbers[quote], citation)
    own = _numbers_of(claim, numbers)
    named = (number for number in as_list(item.get("quotes")) if type(number) is int)
    return tuple(cited[n] for n in dict.fromkeys(named) if n in cited and n not in own)


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
        FRAME_TOKENS + RESTATED_TOKENS * len(claims),
        prompt("restate"),
        user_turn(material(question, answer, claims, said, others)),
        schema=RESTATED,
    )


def parse_restatements(
    reply: ModelReply, claims: Sequence[Claim], others: Sequence[Claim] = ()
) -> tuple[Restated, ...]:
    """Parse the new wording of each claim, with the citations of quotes that are not its own.
    Raises ``Unusable``."""
    found = [Restated()] * len(claims)
    for at, item in numbered(reply, "sentences", "sentence", len(claims)):
        if not isinstance(item.get("text"), str):
            continue
        added = _added(item, claims[at], (*claims, *others))
        found[at] = Restated(line(item["text"], SENTENCE), added)
    return tuple(found)


PAIR_TOKENS = 30  # of the reply, per pair
COMPARED = object_of(pairs=list_of(object_of(pair=INTEGER, same=BOOLEAN)))


def compare_request(model: str, question: str, pairs: Pairs) -> Request:
    """Return the request to compare the earlier and the present sentence of each pair."""
    parts = [element("question", clean(middle_out(question, QUESTION)).strip())]
    for number, versions in enumerate(pairs, start=1):
        before, now = (clean(middle_out(one, SENTENCE)).strip() for one in versions)
        both = f"{element('before', before)}\n{element('now', now)}"
        parts.append(element("pair", both, number=number))
    return Request(
        model,
        FRAME_TOKENS + PAIR_TOKENS * len(pairs),
        prompt("compare"),
        user_turn("\n\n".join(parts)),
        schema=COMPARED,
    )


def parse_comparison(reply: ModelReply, count: int) -> tuple[bool | None, ...]:
    """Return True for each of ``count`` pairs with the same meaning; None if the reply does not say
    or is contradictory."""
    said: list[set[bool]] = [set() for _ in range(count)]
    with suppress(Unusable):  # a malformed reply means unknown
        for at, item in numbered(reply, "pairs", "pair", count):
            if isinstance(item.get("same"), bool):
                said[at].add(item["same"])
    return tuple(one.pop() if len(one) == 1 else None for one in said)


STATEMENT = 500  # characters of a statement
QUERIES = 2
QUERY = 200  # characters
STATEMENTS_TOKENS = 3_000  # of the reply
STATEMENTS = object_of(
    statements=list_of(object_of(text=STRING, alone=STRING, queries=list_of(STRING)))
)


def statements_request(model: str, text: str) -> Request:
    """Return the request for the statements of a text."""
    body = element("draft", clean(text).strip())
    return Request(
        model, STATEMENTS_TOKENS, prompt("statements"), user_turn(body), schema=STATEMENTS
    )


def parse_statements(reply: ModelReply) -> tuple[Statement, ...]:
    """Parse the statements of the reply. Raises ``Unusable``."""
    given = json_object(reply).get("statements")
    if not isinstance(given, list):
        raise Unusable('"statements" must be a list.')
    return tuple(found for item in given if (found := _statement(item)) is not None)


def _statement(item: Any) -> Statement | None:
    if not isinstance(item, dict):
        return None
    text = line(str(item.get("text") or ""), STATEMENT)
    alone = line(str(item.get("alone") or ""), STATEMENT) or text
    queries = lines(item.get("queries"), QUERY)[:QUERIES]
    return Statement(text or alone, alone, queries) if alone else None


Grade = Literal["right", "partly", "wrong"]

QUESTIONS = 4_000  # characters of a conversation's questions
EXPECTED = 4_000  # characters
GIVEN = 8_000  # characters: the beginning and the end of a longer answer
REASON = 300  # characters
GRADE_TOKENS = 1_024  # of the reply
GRADED = object_of(reason=STRING, grade=one_of(*get_args(Grade)))


def grade_request(model: str, questions: Sequence[str], expected: str, given: str) -> Request:
    """The request to grade the answer ``given`` to the last of a conversation's questions."""
    parts = (
        element("question", clean(middle_out("\n".join(questions), QUESTIONS)).strip()),
        element("expected_answer", clean(middle_out(expected, EXPECTED)).strip()),
        element("given_answer", clean(middle_out(given, GIVEN)).strip()),
    )
    return Request(
        model, GRADE_TOKENS, prompt("judge"), user_turn("\n\n".join(parts)), schema=GRADED
    )


def parse_verdict(reply: ModelReply) -> tuple[Grade, str]:
    """Parse the grade and its reason. Raises ``Unusable``."""
    given = json_object(reply)
    for grade in get_args(Grade):
        if given.get("grade") == grade:
            return grade, line(str(given.get("reason") or ""), REASON)
    raise Unusable('"grade" must be "right", "partly" or "wrong".')


SHOWN_TOKENS = 3_000  # of the reply, for each picture
PICTURE_NAME = 300  # characters: more than file systems allow, and a page
SHOWN = object_of(pictures=list_of(object_of(picture=INTEGER, text=STRING)))


def picture_request(model: str, pictures: Sequence[Picture]) -> Request:
    """Return the request to write down what a few pictures show."""
    count = len(pictures)
    words = [f"{count} picture{'s' if count > 1 else ''} above."]
    for number, picture in enumerate(pictures, start=1):
        words.append(f"Picture {number}: {name(picture.name, PICTURE_NAME) or 'without a name'}")
    turns = user_turn("\n".join(words))
    tokens = 500 + SHOWN_TOKENS * count
    return Request(model, tokens, prompt("see"), turns, schema=SHOWN, pictures=tuple(pictures))


def parse_pictures(reply: ModelReply, count: int) -> tuple[str, ...]:
    """Parse what each picture shows; "" if the reply does not tell. Raises ``Unusable``."""
    found = [""] * count
    for at, item in numbered(reply, "pictures", "picture", count):
        found[at] = str(item.get("text") or "").strip()
    return tuple(found)
