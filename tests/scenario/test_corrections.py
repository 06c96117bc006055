"""Corrections in Slack: kept as a source for those who may read them, until they are taken back."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from adapters.slack import format as controls
from tests.scenario.places import KEYS, Said, the_answer, until_answered
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, GENERAL, LIU, SlackPlace, open_slack

OPS, BOARD = "C2OPS", "G3BOARD"
CORRECTION = "No, that changed in May: the master key is rotated every 45 days now."


@pytest.fixture
def place() -> Iterator[SlackPlace]:
    with open_slack() as place:
        place.slack.add_channel(OPS, "ops", members=[ADA, LIU])
        place.slack.add_channel(BOARD, "board", "group", members=[ADA, LIU])
        yield place


@pytest.fixture
def chatty(footnote: Program, documents: object, place: SlackPlace) -> Program:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **place.settings}
    return footnote


def ask(place: SlackPlace, channel: str, user: str = ADA) -> Said:
    mention = "" if channel.startswith("D") else f"{place.slack.mention} "
    said = place.slack.say(user, channel, mention + KEYS)
    return Said(channel, said.ts, said.ts)


def correct(place: SlackPlace, asked: Said, text: str = CORRECTION) -> str:
    """Correct the answer to a question in its thread; what Footnote says to that."""
    the_answer(place, asked)
    mention = "" if asked.channel.startswith("D") else f"{place.slack.mention} "
    place.slack.say(ADA, asked.channel, mention + text, thread_ts=asked.root)
    return until_answered(place, asked, 2)[1].text


def kept(program: Program) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(program.folder / "data" / "footnote.sqlite")) as database:
        return database.execute("SELECT place, statement FROM corrections").fetchall()


def test_a_correction_is_a_source_where_it_may_be_read_until_its_author_removes_it(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place):
        asked = ask(place, GENERAL)
        noted = correct(place, asked)
        assert "Noted: " in noted
        assert re.search(r"45 days now.* \(ada, \d+ \w+ \d{4}\)", noted), noted
        # What comes twice is kept once.
        place.tell_again()
        place.until(place.acknowledged)
        ((where, _),) = kept(chatty)
        assert where == f"slack:{place.slack.workspace.team}"

        for channel in (GENERAL, OPS, BOARD, place.slack.im(LIU)):
            answer = the_answer(place, ask(place, channel, LIU))
            assert "90 days" in answer
            assert "45 days now" in answer
            assert re.search(r"\[2\] 更正：ada, \d+ \w+ \d{4}", answer), answer

        reply = place.slack.replies(GENERAL, asked.root)[-1]
        place.slack.press(LIU, reply, controls.RETRACT)
        place.until(lambda: "可以移除" in place.whispers(asked))
        assert "45 days" in the_answer(place, ask(place, GENERAL))
        place.slack.press(ADA, reply, controls.RETRACT)
        place.until(lambda: "Removed. " in place.whispers(asked))
        assert "45 days" not in the_answer(place, ask(place, GENERAL))


@pytest.mark.parametrize("where", ["private", "direct"])
def test_a_correction_of_a_private_place_stays_there(
    fork_server: ForkServer, chatty: Program, place: SlackPlace, where: str
) -> None:
    here = BOARD if where == "private" else place.slack.im(ADA)
    with running(fork_server, chatty, place):
        asked = ask(place, here)
        assert "Noted: " in correct(place, asked)
        assert "45 days now" in the_answer(place, ask(place, here))
        for channel, user in ((GENERAL, ADA), (place.slack.im(LIU), LIU)):
            answer = the_answer(place, ask(place, channel, user))
            assert "90 days" in answer
            assert "45 days" not in answer


def test_an_edit_changes_a_correction_and_deleting_the_message_removes_it(
    fork_server: ForkServer, chatty: Program, place: SlackPlace
) -> None:
    with running(fork_server, chatty, place):
        asked = ask(place, GENERAL)
        the_answer(place, asked)
        text = f"{place.slack.mention} {CORRECTION}"
        said = place.slack.say(ADA, GENERAL, text, thread_ts=asked.root)
        until_answered(place, asked, 2)
        place.slack.edit(GENERAL, said.ts, text.replace("45", "30"))
        place.until(lambda: any("30 days" in post.text for post in place.posts(asked)))
        place.until(lambda: "30 days" in str(kept(chatty)))
        answer = the_answer(place, ask(place, GENERAL))
        assert ("30 days now" in answer, "45 days" in answer) == (True, False)
        place.slack.delete(GENERAL, said.ts)
        place.until(lambda: kept(chatty) == [])
        assert "30 days" not in the_answer(place, ask(place, GENERAL))
