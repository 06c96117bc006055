"""Verification beside the posting, on every platform: posted at once, amended in its place."""

from __future__ import annotations

from tests.fakes.claude_brain import doubter
from tests.scenario.gate import Gate, ask_and_catch
from tests.scenario.places import WHO, Place, until_answered, until_shown
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running

WRITTEN = 3  # model calls until there is an answer; the next one verifies it


def test_an_answer_is_read_before_it_is_verified_and_then_amended(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    gate.claude.use(doubter)
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate, after=WRITTEN)
        (post,) = until_answered(place, said)
        assert "90 days" in post.text
        assert "⚠" not in post.text
        gate.release()
        until_shown(place, said, "⚠")
        (amended,) = until_answered(place, said)
        assert (amended.id, amended.run) == (post.id, post.run)
        assert "90 days" in amended.text


def test_a_follow_up_waits_for_the_answer_to_be_amended(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    gate.claude.use(doubter)
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate, after=WRITTEN)
        until_answered(place, said)
        place.say(said, WHO)
        gate.release()
        first, second = until_answered(place, said, 2)
        assert "⚠" in first.text
        assert "security team" in second.text
