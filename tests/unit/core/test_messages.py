"""Values that are stored: answers of earlier versions still load."""

from __future__ import annotations

from pydantic import TypeAdapter

from bot.core.messages import Answer, Citation

CITED = Citation(1, "https://e.org/t", "Tower", "330 m", "hash", 0, 5)
_adapter = TypeAdapter(Answer)


def test_an_answer_of_an_earlier_version_loads() -> None:
    stored = _adapter.dump_python(Answer("answered", "It is tall [1].", "?", "r1", (CITED,)))
    del stored["linked"]
    found = _adapter.validate_python(stored)
    assert (found.linked, found.text) == ((), "It is tall [1].")


def test_an_answer_comes_back_from_json_as_it_was() -> None:
    answer = Answer("answered", "Tall [1].", "?", "r1", (CITED,), linked=((2, "file:///a"),))
    assert _adapter.validate_json(_adapter.dump_json(answer)) == answer
    assert answer.targets == {1: "https://e.org/t", 2: "file:///a"}
