"""What colleagues said as a source: asked in Slack and Discord, with the rights of who asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenario.places import Said, the_answer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, GENERAL, LIU, SlackPlace, open_slack

OPS, BOARD = "C2OPS", "G3BOARD"
PUBLIC, PRIVATE = "search:read.public", "search:read.private"
KESTREL = "What did we decide about the launch of Kestrel?"


@pytest.fixture
def place() -> Iterator[SlackPlace]:
    with open_slack() as place:
        place.slack.with_scopes(PUBLIC, PRIVATE)
        place.slack.add_channel(OPS, "ops", members=[LIU], bot=False)
        place.slack.add_channel(BOARD, "board", "group", members=[ADA, LIU], bot=False)
        yield place


def ask(place: SlackPlace, text: str, channel: str = GENERAL, user: str = ADA) -> Said:
    mention = "" if channel.startswith("D") else f"{place.slack.mention} "
    said = place.slack.say(user, channel, mention + text)
    return Said(channel, said.ts, said.ts)


def test_a_question_in_a_channel_is_answered_with_what_a_colleague_said(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    place.slack.say(LIU, OPS, "We decided to move the launch of Kestrel to 14 October.")
    with running(fork_server, chatty, place):
        answer = the_answer(place, ask(place, KESTREL))
    assert "14 October" in answer
    assert "liu, #ops, " in answer
