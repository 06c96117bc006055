"""What people send in Slack besides words, read and answered by the running program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.fakes.claude_brain import researcher
from tests.fakes.claude_replies import Reply, says
from tests.fakes.claude_requests import asked_last, search_results
from tests.fakes.slack_people import pasted_table
from tests.scenario.gate import Gate
from tests.scenario.places import KEYS, LUNCH, Said, the_answer, until_answered
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, GENERAL, LIU, OPS, SlackPlace, open_slack

EVE = "U3EVE"
BADGES = "# Badges\n\nA lost badge costs 25 euros and is replaced by the front desk.\n"


@pytest.fixture
def place() -> Iterator[SlackPlace]:
    with open_slack() as place:
        place.slack.add_channel(OPS, "ops", members=[ADA, LIU], bot=False)
        yield place


def ask(
    place: SlackPlace, text: str, user: str = ADA, root: str | None = None, **more: Any
) -> Said:
    said = place.slack.say(user, GENERAL, f"{place.slack.mention} {text}".strip(), root, **more)
    return Said(GENERAL, said.ts, root or said.ts)


def test_a_forwarded_question_is_answered(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place) as serving:
        serving.until_said("Indexed in ")
        asked = place.slack.say(LIU, OPS, KEYS)
        shared = place.slack.forwarded(OPS, asked.ts)
        assert "90 days" in the_answer(place, ask(place, "", attachments=[shared]))


def test_a_bare_mention_answers_the_message_above(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place) as serving:
        serving.until_said("Indexed in ")
        above = place.slack.say(LIU, GENERAL, KEYS)
        assert "90 days" in the_answer(place, ask(place, "", root=above.ts))


def test_a_model_sees_the_table_and_the_forward_of_question_and_thread(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        asked = place.slack.say(LIU, OPS, "The lobby finch is ~Pip~ Pico.")
        shared = place.slack.forwarded(OPS, asked.ts)
        root = place.slack.say(LIU, GENERAL, "Look:", attachments=[shared])
        table = pasted_table([["Lift", "Price"], ["Cetus", "4120"]])
        the_answer(place, ask(place, KEYS, root=root.ts, attachments=[table]))
        seen = str(gate.claude.calls[0])
        assert "~~Pip~~ Pico" in seen
        assert "#ops" in seen
        assert "| Cetus | 4120 |" in seen


def test_a_file_sent_earlier_in_the_thread_is_a_page(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place) as serving:
        serving.until_said("Indexed in ")
        file = place.slack.add_file(LIU, "badges.md", BADGES.encode(), "text/markdown")
        root = place.slack.say(LIU, GENERAL, "New rules.", files=[file])
        said = ask(place, "What does a lost badge cost?", root=root.ts)
        assert "25 euros" in the_answer(place, said)
        place.slack.say(ADA, GENERAL, "Who replaces a lost badge?", root.ts)
        assert "front desk" in until_answered(place, said, 2)[1].text


def test_code_that_is_shared_is_summed_up(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place) as serving:
        serving.until_said("Indexed in ")
        code = b'"""Backups are kept for 21 days."""\n\n\ndef prune() -> None:\n    pass\n'
        file = place.slack.add_file(LIU, "backup.py", code, "text/x-python")
        said = ask(place, "Summarize the attached file", files=[file])
        assert "21 days" in the_answer(place, said)


def test_a_model_chooses_a_file_of_the_thread(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate
) -> None:
    def chooses(request: Mapping[str, Any]) -> Reply:
        rewrites = "a lost badge" in asked_last(request) and not search_results(request)
        chosen = says('{"kind":"links","links":["badges.md"]}')
        return chosen if rewrites and "<new_message" in asked_last(request) else researcher(request)

    gate.claude.use(chooses)
    with running(fork_server, thinking, place):
        file = place.slack.add_file(LIU, "badges.md", BADGES.encode(), "text/markdown")
        root = place.slack.say(LIU, GENERAL, "New rules.", files=[file])
        assert "25 euros" in the_answer(place, ask(place, "What is a lost badge?", root=root.ts))
        assert 'files="badges.md"' in str(gate.claude.calls[0])


def test_files_of_another_team_are_read_or_named(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    place.slack.add_stranger(EVE, "eve", "T9OTHER")
    place.slack.workspace.channels[GENERAL].members.add(EVE)
    with running(fork_server, chatty, place, FOOTNOTE_GUESTS="members") as serving:
        serving.until_said("Indexed in ")
        file = place.slack.add_file(EVE, "badges.md", BADGES.encode(), "text/markdown")
        said = ask(place, "What does a lost badge cost?", EVE, files=[file])
        assert "25 euros" in the_answer(place, said)
        place.slack.refuse("files.info", "file_not_found")
        other = place.slack.add_file(EVE, "x.md", b"x", "text/markdown")
        said = ask(place, LUNCH, EVE, files=[other])
        assert "6.50" in the_answer(place, said)
        place.press(said, "details")
        place.until(lambda: f"could not read the file {other.id}" in place.whispers(said))
