"""A conversation on every platform: the real program, real sockets, people who see and press."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.server import serve
from tests.scenario.conftest import PLACES
from tests.scenario.gate import Gate
from tests.scenario.places import Place, finished, the_answer, until_answered, until_shown
from tests.scenario.program import Program
from tests.scenario.serving import ending, start_alone

KEYS, WHO = "How often is the master key rotated?", "And who rotates the master key?"
LUNCH = "What does lunch in the canteen cost?"


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with PLACES[request.param]() as place:
        yield place


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def chatty(footnote: Program, documents: Path, place: Place) -> Program:
    """The program connected to the place, with documents and without a model."""
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **place.settings}
    return footnote


@pytest.fixture
def thinking(chatty: Program, gate: Gate) -> Iterator[Program]:
    """The same with Claude, who can be made to wait."""
    with serve(gate) as url:
        chatty.settings |= {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
        yield chatty


# ---------------------------------------------------------------- the whole way


def test_from_the_mention_to_the_removed_reply(thinking: Program, place: Place, gate: Gate) -> None:
    with ending(start_alone(thinking)) as program:
        program.until_said(place.ready)

        gate.hold(after=3)  # understanding, searching, reading: then it thinks
        said = place.ask(KEYS)
        gate.wait_held()
        until_shown(place, said, "Searching: often master key rotated")
        assert place.at_work(said)
        gate.release()
        answer = the_answer(place, said)
        assert "90 days" in answer
        assert "[1]" in answer
        assert "Sources" in answer
        assert "Keys" in answer
        assert "Dig deeper" in answer

        place.say(said, WHO)
        assert "security team" in until_answered(place, said, 2)[1].text

        place.press(said, "good", on=0)
        place.until(lambda: "Thank you" in place.whispers(said))
        place.press(said, "deeper", on=0)
        posts = until_answered(place, said, 3)
        assert len({post.run for post in posts}) == 3
        assert "90 days" in posts[2].text

        place.edit(said, LUNCH)
        place.until(lambda: "6.50" in place.posts(said)[0].text and finished(place, said, 3))
        posts = place.posts(said)
        assert "90 days" not in posts[0].text
        assert len(posts) == 3, "answered anew in the same reply"

        place.delete(said)
        place.until(lambda: all("6.50" not in post.text for post in place.posts(said)))
