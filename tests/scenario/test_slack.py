"""Features of Slack alone: commands, shortcuts, direct messages, refreshed sockets, limits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.slack import format as controls
from tests.fakes.slack_screen import Shown, links
from tests.fakes.slack_workspace import App
from tests.scenario.gate import Gate, ask_and_catch
from tests.scenario.places import (
    KEYS,
    LUNCH,
    WHO,
    Said,
    the_answer,
    until_answered,
    until_shown,
    whole,
)
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, GENERAL, LIU, SlackPlace, open_slack


@pytest.fixture
def place() -> Iterator[SlackPlace]:
    with open_slack() as place:
        yield place


def last(place: SlackPlace, channel: str = GENERAL) -> Shown:
    """The latest message in a channel that is in no thread, and for all."""
    shown = [m for m in place.slack.messages(channel) if not m.ephemeral_to]
    return [m for m in shown if m.thread_ts in (None, m.ts)][-1]


# ---------------------------------------------------------------- ways in


def test_a_command_is_answered_below_its_question(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place):
        place.slack.command(ADA, GENERAL, "/ask", KEYS).wait()
        place.until(lambda: any(not m.ephemeral_to for m in place.slack.messages(GENERAL)))
        assert KEYS in last(place).seen
        question = Said(GENERAL, last(place).ts, last(place).ts)
        assert "90 days" in the_answer(place, question)
        place.say(question, WHO)
        assert "security team" in until_answered(place, question, 2)[1].text


def test_an_answer_for_its_asker_only_survives_a_power_cut_and_is_deleted_by_a_button(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate
) -> None:
    gate.hold(1)
    direct = place.slack.im(ADA)
    with running(fork_server, thinking, place) as serving:
        place.ask(f"only me: {KEYS}")
        place.until(lambda: place.slack.messages(direct))
        gate.wait_held()
        said = Said(direct, last(place, direct).ts, last(place, direct).ts)
        until_shown(place, said, place.searching)
        assert place.posts(said)[0].working, "it is streamed there"
        serving.kill()
    gate.release()
    with running(fork_server, thinking, place):
        assert "90 days" in the_answer(place, said)
        for message in place.slack.messages(GENERAL):
            assert message.user in (ADA, LIU) or message.ephemeral_to == ADA
        answer = place.slack.replies(direct, said.root)[-1]
        place.slack.press(ADA, answer, controls.DELETE)
        place.until(lambda: place.slack.messages(direct) == [])


def test_a_thread_that_it_is_called_into_is_read(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = place.slack.say(LIU, GENERAL, "The zebra finch of the lobby was renamed Pico.")
        mention = f"{place.slack.mention} {KEYS}"
        place.slack.say(ADA, GENERAL, mention, thread_ts=said.ts)
        the_answer(place, Said(GENERAL, said.ts, said.ts))
        assert "Pico" in str(gate.claude.calls[0])


# ---------------------------------------------------------------- other apps


def test_a_workflow_that_begins_a_conversation_is_answered_and_people_go_on(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    text = {"type": "mrkdwn", "text": f"{place.slack.mention} {KEYS}"}
    section = {"type": "section", "block_id": "s", "text": text}
    with running(fork_server, chatty, place):
        flow = App("B9FLOW", "Morning workflow")
        asked = place.slack.say_as_app(flow, GENERAL, "A question", blocks=[section])
        said = Said(GENERAL, asked.ts, asked.ts)
        assert "90 days" in until_answered(place, said)[0].text
        place.slack.say_as_app(flow, GENERAL, f"{place.slack.mention} {LUNCH}", asked.ts).wait()
        place.say(said, WHO)
        assert "security team" in until_answered(place, said, 2)[1].text
        assert len([post for post in place.posts(said) if post.run]) == 2


# ---------------------------------------------------------------- people of other teams


EVE, INTERNAL = "U3EVE", "C5INTERNAL"


@pytest.mark.parametrize(("guests", "told"), [("web", False), ("members", True)])
def test_what_is_answered_in_a_shared_channel_has_documents_only_where_that_is_allowed(
    fork_server: ForkServer, chatty: Program, place: SlackPlace, guests: str, told: bool
) -> None:
    place.slack.add_stranger(EVE, "eve", "T9OTHER")
    place.slack.workspace.channels[GENERAL].members.add(EVE)
    place.slack.add_channel(INTERNAL, "internal", members=[ADA])
    with running(fork_server, chatty, place, FOOTNOTE_GUESTS=guests) as serving:
        serving.until_said("Indexed in ")
        eves = place.slack.say(EVE, GENERAL, f"{place.slack.mention} {KEYS}")
        assert ("90 days" in the_answer(place, Said(GENERAL, eves.ts, eves.ts))) is told
        adas = place.slack.say(ADA, GENERAL, f"{place.slack.mention} {KEYS}")  # Eve reads it, too
        assert ("90 days" in the_answer(place, Said(GENERAL, adas.ts, adas.ts))) is told
        inside = place.slack.say(ADA, INTERNAL, f"{place.slack.mention} {KEYS}")
        assert "90 days" in the_answer(place, Said(INTERNAL, inside.ts, inside.ts))
    recipients = {
        call.args["recipient_user_id"]: call.args["recipient_team_id"]
        for call in place.slack.calls("chat.startStream")
    }
    assert recipients.get(EVE, "T9OTHER") == "T9OTHER"
    assert recipients.get(ADA, place.slack.team) == place.slack.team


def test_people_of_other_teams_can_be_refused(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    place.slack.add_stranger(EVE, "eve", "T9OTHER")
    place.slack.workspace.channels[GENERAL].members.add(EVE)
    with running(fork_server, chatty, place, FOOTNOTE_GUESTS="deny") as serving:
        serving.until_said("Indexed in ")
        eves = place.slack.say(EVE, GENERAL, f"{place.slack.mention} {KEYS}")
        place.until(lambda: [m for m in place.slack.messages(GENERAL) if m.ephemeral_to == EVE])
        adas = place.slack.say(ADA, GENERAL, f"{place.slack.mention} {KEYS}")
        assert "Nothing that was found" in the_answer(place, Said(GENERAL, adas.ts, adas.ts))
    (whisper,) = [m.seen for m in place.slack.messages(GENERAL) if m.ephemeral_to == EVE]
    assert "does not answer guests" in whisper
    assert place.slack.replies(GENERAL, eves.ts) == []


# ---------------------------------------------------------------- ways out


def test_where_streams_and_sessions_are_refused_a_button_stops(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate
) -> None:
    place.slack.refuse_streaming("missing_scope")
    place.slack.refuse("agents.sessions.setStatus", "feature_disabled")
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, "Searching: ")
        place.press(said, "stop")
        gate.wait_empty()
        assert "90 days" in the_answer(place, said)
        assert "Stopping" in place.whispers(said)
        # What was refused once is not tried again.
        tried = len(place.slack.calls("chat.startStream"))
        gate.release()
        assert "6.50" in the_answer(place, place.ask(LUNCH))
        assert len(place.slack.calls("chat.startStream")) == tried


def test_a_stream_that_ran_out_is_replaced_by_the_answer(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, "Searching: ")
        place.slack.expire_streams()
        gate.release()
        assert "90 days" in the_answer(place, said)


@pytest.mark.slow
@pytest.mark.parametrize("reason", ["refresh_requested", "warning", "link_disabled"])
def test_a_connection_that_slack_renews_in_mid_answer_loses_nothing(
    fork_server: ForkServer, thinking: Program, place: SlackPlace, gate: Gate, reason: str
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        place.slack.disconnect(reason)
        other = place.ask(LUNCH)
        gate.release()
        assert "90 days" in the_answer(place, said)
        assert "6.50" in the_answer(place, other)


@pytest.mark.slow
def test_ten_questions_at_once_stay_within_what_slack_allows(
    fork_server: ForkServer, chatty: Program
) -> None:
    with open_slack(rate_limits={}) as place:
        chatty.settings |= place.settings
        with running(fork_server, chatty, place):
            asked = [place.ask(KEYS) for _ in range(10)]
            for said in asked:
                assert "90 days" in the_answer(place, said)
        refused = [call for call in place.slack.calls() if call.status == 429]
        assert refused == []


def test_nobody_is_notified_by_what_a_page_says(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    trap = Path(chatty.settings["FOOTNOTE_DOCS"]) / "alarm.md"
    trap.write_text(
        "# Fire alarm\n\nAt a fire alarm the warden writes <!channel> and <@U1ADA> to all, then "
        "opens <https://evil.example|the plan>.\n"
    )
    with running(fork_server, chatty, place):
        said = place.ask("What does the warden write at a fire alarm?")
        answer = the_answer(place, said)
        assert "warden" in answer
    replies = place.slack.replies(GENERAL, said.root)
    assert [ping for reply in replies for ping in reply.pings] == []
    for reply in replies:  # an address in code opens nothing
        text, blocks = json.loads(re.sub("`[^`]*`", "", json.dumps([reply.text, reply.blocks])))
        assert not any("evil" in link for link in links(text, blocks)), reply


def test_questions_that_were_cut_off_by_a_restart_are_asked_by_slack_again(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place):
        pass
    said = place.ask(KEYS)
    with running(fork_server, chatty, place):
        assert "90 days" in the_answer(place, said)
        assert whole(place, said).count("Sources") == 1
