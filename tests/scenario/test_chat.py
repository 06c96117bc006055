"""A conversation on every platform: the real program, real sockets, people who see and press."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.fakes.pdf import Typed, pdf
from tests.scenario.conftest import everywhere
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import (
    KEYS,
    LUNCH,
    WHO,
    Place,
    finished,
    the_answer,
    until_answered,
    until_shown,
    whole,
)
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running

# ---------------------------------------------------------------- the whole way


@everywhere
def test_from_the_mention_to_the_removed_reply(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place) as program:
        program.until_said(place.ready)
        gate.hold(after=2)  # understanding, a turn over what was opened: then it writes
        said = place.ask(KEYS)
        gate.wait_held()
        until_shown(place, said, place.searching)
        until_shown(place, said, "often master key rotated")
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
        place.until(lambda: place.thanks in place.whispers(said) and place.acknowledged())
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


def test_chinese_questions_are_answered_in_a_chinese_frame(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place):
        answer = the_answer(place, place.ask("差旅费用由谁批准？", locale="zh-CN"))
    assert "财务总监" in answer
    assert "来源" in answer
    assert "深入研究" in answer
    assert "Sources" not in answer


@everywhere
def test_somebody_who_may_not_ask_is_told_in_private(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place, FOOTNOTE_ALLOW_USERS="nobody"):
        said = place.ask(KEYS)
        place.until(lambda: place.denied in place.whispers(said))
        assert place.posts(said) == []


def test_a_file_that_is_sent_along_is_read(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    words = b"The fountain in the courtyard is drained every November by Olga Petrova.\n"
    with running(fork_server, chatty, place):
        asking = "Who drains the fountain in the courtyard?"
        said = place.ask(asking, files={"courtyard.txt": words})
        answer = the_answer(place, said)
        assert "Olga Petrova" in answer
        assert "courtyard" in answer.partition("Olga Petrova")[2]  # its source


def test_what_was_not_read_or_searched_is_said_in_the_answer_itself(
    fork_server: ForkServer, chatty: Program, place: Place, documents: Path
) -> None:
    (documents / "boats").mkdir()
    report = pdf([[Typed(72, 700, "The Heron has two masts.")], []], drawn="0 0 m 9 9 l S")
    (documents / "boats" / "report.pdf").write_bytes(report)
    (documents / "boats" / "letter.xyz").write_bytes(b"\0\1")
    with running(fork_server, chatty, place) as serving:
        serving.until_said("Indexed in ")
        said = place.ask("How many masts does the Heron have in the boats folder?")
        found = the_answer(place, said)
        assert "ⓘ Searched only in: boats folder\n" in found
        assert "ⓘ Part of this could not be read: report.\n" in found
        nothing = the_answer(place, place.ask("Which zebra finch owns the harp?"))
        assert "ⓘ 1 of 7 files here are of kinds that are not read (.xyz 1)." in nothing


# ---------------------------------------------------------------- stopping and changing


def test_the_word_stop_ends_the_work(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.say(said, "stop")
        gate.wait_empty()
        posts = until_answered(place, said)
        assert len(posts) == 1
        assert "90 days" in posts[0].text, "what was found is kept"
        gate.release()
        place.say(said, WHO)
        assert "security team" in until_answered(place, said, 2)[1].text, "the thread is free"


@everywhere
def test_the_platforms_own_stop_ends_the_work(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.stop(said)
        gate.wait_empty()
        assert "90 days" in the_answer(place, said)


def test_a_question_edited_while_it_is_answered_is_answered_anew(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.edit(said, LUNCH)
        gate.wait_empty()
        gate.release()
        answer = the_answer(place, said)
        assert "6.50" in answer
        assert "90 days" not in answer


def test_a_question_deleted_while_it_is_answered_leaves_nothing(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.delete(said)
        gate.wait_empty()
        place.until(lambda: place.posts(said) == [] and not place.at_work(said))
        assert len(gate.claude.requests) == 2


def test_a_second_question_in_a_busy_thread_waits_and_is_told_so(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.say(said, f"{place.mention}{WHO}")
        place.until(lambda: "Queued" in place.whispers(said) + whole(place, said))
        gate.release()
        first, second = until_answered(place, said, 2)
        assert "90 days" in first.text
        assert "security team" in second.text


# ---------------------------------------------------------------- never twice, never lost


def test_events_that_come_again_change_nothing(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        place.tell_again()
        place.until(place.acknowledged)
        gate.release()
        the_answer(place, said)
        calls = len(gate.claude.requests)
        place.tell_again()
        place.until(place.acknowledged)
        place.lose_connection()
        place.say(said, WHO)
        assert len(until_answered(place, said, 2)) == 2
        assert len(gate.claude.requests) == 2 * calls


@pytest.mark.slow
def test_many_questions_at_once_get_an_answer_each(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place):
        asked = [place.ask(KEYS if number % 2 else LUNCH) for number in range(20)]
        for number, said in enumerate(asked):
            posts = until_answered(place, said)
            assert len(posts) == 1
            assert ("90 days" if number % 2 else "6.50") in posts[0].text
        assert len({place.posts(said)[0].run for said in asked}) == 20


def test_a_connection_lost_in_mid_answer_loses_nothing(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        place.lose_connection()
        place.say(said, WHO)
        gate.release()
        first, second = until_answered(place, said, 2)
        assert "90 days" in first.text
        assert "security team" in second.text


def test_an_answer_is_whole_when_the_platform_limits_every_post(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.limit(2)
        gate.release()
        answer = the_answer(place, said)
        assert "90 days" in answer
        assert "Sources" in answer


def test_a_post_whose_confirmation_is_lost_is_not_posted_twice(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place):
        place.cut()
        assert "90 days" in the_answer(place, place.ask(KEYS))


def test_an_answer_waits_for_a_platform_that_is_down(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        place.down()
        gate.release()
        until(lambda: len([r for r in gate.research if r.finished]) == 3)
        assert "90 days" not in whole(place, said)
        place.up()
        assert "90 days" in the_answer(place, said)
        assert len(gate.research) == 3


@pytest.mark.parametrize("ending_by", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_in_mid_run_continues_it_in_the_same_reply(
    fork_server: ForkServer,
    thinking: Program,
    place: Place,
    gate: Gate,
    ending_by: signal.Signals,
) -> None:
    thinking.settings["bot.operation.serving.DRAIN_SECONDS"] = "0"
    with running(fork_server, thinking, place) as first:
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        first.signal(ending_by)
        first.wait()
    gate.wait_empty()
    gate.release()
    with running(fork_server, thinking, place) as second:
        assert "90 days" in the_answer(place, said)
        assert len(gate.research) == 3, "no finished model call is made again"
        second.until_said("Resuming 1 unfinished question")


def test_what_is_asked_in_a_thread_between_two_starts_is_answered(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place):
        said = place.ask(KEYS)
        the_answer(place, said)
    place.say(said, WHO)
    with running(fork_server, chatty, place):
        assert "security team" in until_answered(place, said, 2)[1].text
        assert len(place.posts(said)) == 2
