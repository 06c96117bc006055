"""Answered before, on every platform: an earlier answer is offered beside research or given in its
place, to those who may read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.fakes.discord_state import Channel, User
from tests.scenario.acme import Acme
from tests.scenario.gate import Gate
from tests.scenario.places import (
    KEYS,
    LUNCH,
    Place,
    Said,
    the_answer,
    until_answered,
    until_shown,
)
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, BOARD, GENERAL, LIU, OPS, SlackPlace, open_channels

TODAY = r"\d{1,2} \w+ \d{4}"
SAME = re.compile(rf"Already answered here on {TODAY}, sources still the same\.")
CHANGED = re.compile(rf"Already answered here on {TODAY}; its sources have changed since\.")
AGAIN = "could you tell me how often the master key is rotated"  # KEYS in other letters


def told(text: str) -> int:
    """The number of times that a text points to an earlier answer."""
    return text.count("Already answered ")


# ---------------------------------------------------------------- on every platform


def test_an_earlier_answer_is_shown_at_once_while_research_goes_on(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place, FOOTNOTE_ANSWERED_BEFORE="beside") as program:
        program.until_said(place.ready)
        first = place.ask(KEYS)
        assert told(the_answer(place, first)) == 0
        calls = len(gate.research)

        gate.hold()
        again = place.ask(AGAIN)
        gate.wait_held()
        until_shown(place, again, "The master key is rotated every 90 days")
        place.until(lambda: SAME.search(place.posts(again)[0].text))
        assert place.at_work(again)
        gate.release()
        answer = the_answer(place, again)
        assert len(gate.research) > calls
        assert SAME.search(answer)
        assert told(answer) == (2 if place.name == "slack" else 1)  # whose plan stays visible
        assert "remark" not in answer
        assert "Dig deeper" in answer

        # What did not help anybody is offered to nobody.
        for said in (first, again):
            place.press(said, "bad")
            place.until(lambda said=said: "What is wrong" in place.whispers(said))  # type: ignore[misc]
        assert told(the_answer(place, place.ask(KEYS))) == 0


def test_an_earlier_answer_is_given_until_somebody_wants_research_or_a_source_changes(
    fork_server: ForkServer, thinking: Program, documents: Path, place: Place, gate: Gate
) -> None:
    with running(fork_server, thinking, place, FOOTNOTE_ANSWERED_BEFORE="instead") as program:
        program.until_said(place.ready)
        assert told(the_answer(place, place.ask(KEYS))) == 0
        calls = len(gate.research)

        again = place.ask(AGAIN)
        given = the_answer(place, again)
        assert len(gate.research) == calls
        assert SAME.search(given)
        assert told(given) == 1
        assert "every 90 days" in given
        assert "[1]" in given
        assert "The earlier answer" in given
        assert ("Research again" in given, "Dig deeper" in given) == (True, False)

        place.press(again, "deeper")
        researched = until_answered(place, again, 2)[1].text
        assert len(gate.research) > calls
        assert told(researched) == 0
        assert "every 90 days" in researched
        assert "Dig deeper" in researched

        # Also one that a button began can be opened.
        given = the_answer(place, place.ask(KEYS))
        assert "The earlier answer" in given
        assert ":deeper:" not in given

        calls = len(gate.research)
        place.say(again, "Research again, please.")
        assert "every 90 days" in until_answered(place, again, 3)[2].text
        assert len(gate.research) > calls

        page = documents / "keys.md"
        page.write_text(page.read_text().replace("90 days", "45 days"))
        assert thinking.run("index", str(documents)).code == 0
        changed = the_answer(place, place.ask(KEYS))
        assert "every 45 days" in changed
        assert CHANGED.search(changed)
        calls = len(gate.research)
        assert "every 45 days" in the_answer(place, place.ask(KEYS))
        assert len(gate.research) == calls, "the new answer is given from now on"


# ---------------------------------------------------------------- where it may be read


@pytest.fixture
def slack() -> Iterator[SlackPlace]:
    with open_channels() as place:
        yield place


def test_slack_tells_of_answers_in_public_channels_only(
    fork_server: ForkServer, footnote: Program, documents: Path, slack: SlackPlace
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **slack.settings}
    with running(fork_server, footnote, slack, FOOTNOTE_ANSWERED_BEFORE="instead"):
        public = slack.ask_in(OPS, LIU, KEYS)
        the_answer(slack, public)
        for channel in (BOARD, slack.slack.im(LIU)):
            the_answer(slack, slack.ask_in(channel, LIU, LUNCH))

        given = the_answer(slack, slack.ask_in(GENERAL, ADA, KEYS))
        assert re.search(rf"> Already answered in #ops on {TODAY}, sources still the same\.", given)
        (link,) = re.findall(r"<(https?://[^|>]+)\|The earlier answer>", given)
        assert link.endswith(f"/archives/{OPS}/p{public.id.replace('.', '')}")
        secret = the_answer(slack, slack.ask_in(GENERAL, ADA, LUNCH))
        assert (told(secret), "6.50" in secret) == (0, True)
        assert "回答过" in the_answer(slack, slack.ask_in(BOARD, LIU, LUNCH))


def test_discord_tells_of_answers_in_channels_that_all_may_read_only(
    fork_server: ForkServer, footnote: Program, documents: Path, acme: Acme
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **acme.settings}
    ops, board = acme.places["ops"], acme.places["board"]

    def answered(channel: Channel, user: User, text: str) -> tuple[Said, str]:
        said = acme.ask_in(channel, user, text)
        acme.until(partial(acme.has_ended, said, channel, 1))
        return said, acme.posts(said)[0].text

    with running(fork_server, footnote, acme, FOOTNOTE_ANSWERED_BEFORE="instead"):
        public, _ = answered(ops, acme.ben, KEYS)
        answered(board, acme.ada, LUNCH)
        _, given = answered(acme.general, acme.ada, KEYS)
        assert re.search(rf"> Already answered in #ops on {TODAY}, sources still the same\.", given)
        place = f"{acme.guild.id}/{acme.thread(public).id}/{public.id}"
        assert f"[The earlier answer](<https://discord.com/channels/{place}>)" in given
        _, secret = answered(acme.general, acme.ada, LUNCH)
        assert (told(secret), "6.50" in secret) == (0, True)
        _, given = answered(board, acme.ada, LUNCH)
        assert told(given) == 1


# ---------------------------------------------------------------- in a terminal


def test_the_terminal_offers_and_gives_an_earlier_answer(
    footnote: Program, documents: Path
) -> None:
    asking = ("ask", KEYS, "--docs", str(documents))
    first = footnote.run(*asking, "--json", FOOTNOTE_ANSWERED_BEFORE="beside").json
    assert first["answered_before"] is None

    beside = footnote.run(*asking, FOOTNOTE_ANSWERED_BEFORE="beside")
    assert SAME.search(beside.out)
    assert told(beside.out) == 1
    assert "Sources:" in beside.out

    given = footnote.run(*asking, "--json", FOOTNOTE_ANSWERED_BEFORE="instead").json
    before = given["answered_before"]
    assert list(before) == ["run", "at", "place", "link", "sources", "is_given", "sentence"]
    assert (before["place"], before["link"]) == ("", "")
    assert (before["sources"], before["is_given"]) == ("same", True)
    assert before["sentence"] in given["answer"]
    assert [step["kind"] for step in given["steps"]] == ["before"]
    assert given["citations"] == first["citations"]
    assert given["queries"] == []

    words = footnote.run(*asking, FOOTNOTE_ANSWERED_BEFORE="instead")
    assert told(words.out) == 1
    asking = ("ask", f"{KEYS} Research again.", *asking[2:])
    again = footnote.run(*asking, "--json", FOOTNOTE_ANSWERED_BEFORE="instead").json
    assert (again["answered_before"], again["question"]) == (None, KEYS)
    assert again["queries"] == first["queries"]
