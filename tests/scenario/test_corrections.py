"""Corrections in Slack: kept as a source for those who may read them, until they are taken back."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from adapters.slack import format as controls
from tests.fakes.discord_state import PRIVATE_THREAD, Channel
from tests.scenario.acme import Acme
from tests.scenario.crashing import crashing
from tests.scenario.places import KEYS, Said, the_answer, until_answered
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, BOARD, GENERAL, LIU, OPS, SlackPlace, open_channels

CORRECTION = "No, that changed in May: the master key is rotated every 45 days now."


@pytest.fixture
def place() -> Iterator[SlackPlace]:
    with open_channels() as place:
        yield place


@pytest.fixture
def chatty(footnote: Program, documents: object, place: SlackPlace) -> Program:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **place.settings}
    return footnote


def ask(place: SlackPlace, channel: str, user: str = ADA) -> Said:
    return place.ask_in(channel, user, KEYS)


def correct(place: SlackPlace, asked: Said, text: str = CORRECTION) -> str:
    """Correct the answer to a question in its thread; what Footnote says to that."""
    the_answer(place, asked)
    mention = "" if asked.channel.startswith("D") else f"{place.slack.mention} "
    place.slack.say(ADA, asked.channel, mention + text, thread_ts=asked.root)
    return until_answered(place, asked, 2)[1].text


def kept(program: Program) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(program.folder / "data" / "footnote.sqlite")) as database:
        return database.execute(
            "SELECT place, statement FROM corrections WHERE NOT removed"
        ).fetchall()


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
            assert re.search(r"\[1\] ✎ 更正：ada、#general、\d{4} 年 \d+ 月 \d+ 日", answer), answer

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


# ---------------------------------------------------------------- Discord


def correct_in(acme: Acme, channel: Channel, text: str, *, privately: bool = False) -> Said:
    """Correct the answer to a question in its thread, perhaps a private one."""
    said = acme.ask_in(channel, acme.ada, KEYS)
    acme.until(lambda: acme.has_ended(said, channel, 1))
    if privately:
        acme.thread(said).type = PRIVATE_THREAD
    acme.say(said, text)
    acme.until(lambda: acme.has_ended(said, channel, 2))
    assert "Noted: " in acme.posts(said)[-1].text
    return said


def test_in_discord_a_correction_is_told_where_its_thread_may_be_read(
    fork_server: ForkServer, footnote: Program, documents: object, acme: Acme
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **acme.settings}
    board, ops = acme.places["board"], acme.places["ops"]
    with running(fork_server, footnote, acme):
        public = correct_in(acme, acme.general, CORRECTION)
        correct_in(acme, board, CORRECTION.replace("45", "30"))
        correct_in(acme, ops, CORRECTION.replace("45", "15"), privately=True)
        guild = f"discord:{acme.guild.id}"
        places = [where for where, _ in kept(footnote)]
        assert sorted(place.count(":") for place in places) == [1, 2, 3]
        assert {guild, f"{guild}:{board.id}"} < set(places)

        found = {}
        for channel in (acme.general, ops, board):
            said = acme.ask_in(channel, acme.ada, KEYS)
            acme.until(partial(acme.has_ended, said, channel, 1))
            text = "".join(post.text for post in acme.posts(said))
            assert re.search(r"Correction by Ada, #general, \d+ \w+ \d{4}", text), text
            found[channel.name] = [days for days in ("45", "30", "15") if f"{days} days" in text]
        assert found == {"general": ["45"], "ops": ["45"], "board": ["45", "30"]}

        noted = acme.discord.posts(acme.thread(public))[-1]
        (button,) = [id for _, id in noted.buttons if id.startswith("footnote:retract:")]
        message = acme.discord.message(acme.thread(public), noted)
        acme.discord.people.press(acme.ben, message, button)
        acme.discord.people.press(acme.ada, message, button)
        acme.until(lambda: len(kept(footnote)) == 2)


# ---------------------------------------------------------------- killed


@pytest.mark.slow
def test_killed_around_any_commit_a_correction_is_kept_once(
    footnote: Program, tmp_path: Path
) -> None:
    page = tmp_path / "documents" / "keys.md"
    page.parent.mkdir()
    page.write_text("# Keys\n\nThe master key is rotated every 90 days.\n")
    begun = footnote.run("ask", KEYS, "--docs", str(page.parent), "--thread", "keys", "--json")
    assert begun.code == 0, begun.err
    prepared = tmp_path / "data"

    def rows(folder: Path) -> list[tuple[int, int]]:
        with closing(sqlite3.connect(folder / "footnote.sqlite")) as db:
            return db.execute(
                "SELECT (SELECT count(*) FROM corrections), "
                "(SELECT count(*) FROM audit WHERE deed = 'corrected')"
            ).fetchall()

    environment = footnote.environment({"FOOTNOTE_DOCS": str(page.parent)})
    with crashing(environment) as process:
        say = partial(process.do, question=CORRECTION, thread="keys")
        whole = say(shutil.copytree(prepared, tmp_path / "whole"))
        assert json.loads(whole["out"])["corrects"], whole
        assert whole["commits"] >= 3
        for commit in range(1, whole["commits"] + 1):
            moment = f"before commit {commit} of {whole['commits']}"
            folder = shutil.copytree(prepared, tmp_path / str(commit))
            assert say(folder, commit)["died"], moment
            assert json.loads(say(folder)["out"])["corrects"], moment
            assert rows(folder) == [(1, 1)], moment
