"""The journal entry of a streamed call."""

from __future__ import annotations

from pydantic import TypeAdapter

from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Cut, Restart, Suggested, TextDelta
from bot.research.outcomes import StreamOutcome, keep

REPLY = ModelReply("m", (), "end_turn")
_outcome = TypeAdapter(StreamOutcome)


def kept(*deltas: AnswerDelta) -> list[AnswerDelta]:
    found: list[TextDelta | CitationDelta | Cut | Suggested] = []
    for delta in deltas:
        keep(found, delta)
    return list(found)


def test_text_of_one_block_is_joined_and_a_restart_forgets() -> None:
    assert kept(TextDelta("x"), Restart(), TextDelta("a"), TextDelta("b")) == [TextDelta("ab")]


def test_words_of_a_page_are_not_joined_with_those_of_the_reasoner() -> None:
    deltas = (TextDelta("- "), TextDelta("x[1]", verbatim=True), TextDelta("\n"))
    assert kept(*deltas) == list(deltas)


def test_every_kind_of_delta_comes_back_as_itself() -> None:
    deltas = (
        TextDelta("a", opens=True, verbatim=True),
        CitationDelta(1, 2, 3),
        Suggested(("Who built it?",)),
        TextDelta("b"),
        Cut(5),
    )
    stored = _outcome.dump_json(StreamOutcome(deltas, REPLY))
    assert _outcome.validate_json(stored).deltas == deltas


def test_what_was_kept_before_there_were_words_of_pages_is_read() -> None:
    stored = _outcome.dump_python(StreamOutcome((), REPLY), mode="json")
    stored["deltas"] = [{"text": "a", "opens": True}]
    assert _outcome.validate_python(stored).deltas == (TextDelta("a", opens=True),)
