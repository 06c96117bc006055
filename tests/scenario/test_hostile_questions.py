"""Messages that are made to keep their reader busy: others notice nothing of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.hostile_words import SIGNS, repeated
from tests.scenario.places import LUNCH, Said, the_answer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, GENERAL, LIU, SlackPlace, open_slack

ACK_SECONDS = 3.0  # that Slack waits: docs.slack.dev/apis/events-api#responding


@pytest.fixture
def place() -> Iterator[SlackPlace]:
    with open_slack() as place:
        yield place


def test_another_persons_question_is_taken_and_answered_meanwhile(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    slack = place.slack
    with running(fork_server, chatty, place):
        before = len(slack.deliveries)
        for signs in SIGNS:
            opened = slack.say(ADA, GENERAL, f"{slack.mention} {repeated(signs)}")
            slack.say(ADA, GENERAL, repeated(signs), thread_ts=opened.ts)
        asked = slack.say(LIU, GENERAL, f"{slack.mention} {LUNCH}")
        assert "6.50" in the_answer(place, Said(GENERAL, asked.ts, asked.ts))
        place.until(place.acknowledged)
        taken = [delivery.ack_seconds for delivery in slack.deliveries[before:]]
        assert max(seconds for seconds in taken if seconds is not None) < ACK_SECONDS
