"""Messages that a run has found may be told only to the readers of its place."""

from __future__ import annotations

import pytest

from bot.core.messages import Audience, Author, Provenance, RunOptions, Thread
from bot.core.reader import (
    EVERYTHING,
    NO_DOCUMENTS,
    Reach,
    Reader,
    attached,
    conversations_in,
    found_in,
    is_document,
)
from bot.operation.configuration import load_settings
from bot.rights.rights import Rights

HERE = Thread("slack", "T1", "C1", "1.0")
SAID = "https://acme.slack.com/archives/C9/p1717400000000100?thread_ts=1717400000.000100&cid=C9"
FILE = "https://acme.slack.com/files/U024BE7LH/F024BERPE/launch_plan.pdf"
FOUND_HERE = found_in(HERE.place)


def reach_of(
    thread: Thread, audience: Audience = "channel", *, guest: bool | None = False
) -> Reach:
    reader = Reader.of(thread, Author("U1", "Ann", guest=guest), audience)
    return Rights(load_settings()).reach(reader)


@pytest.mark.parametrize(
    ("reach", "may"),
    [
        (reach_of(HERE), True),
        (reach_of(Thread("slack", "T1", "C1", "2.0")), True),  # another thread of the channel
        (reach_of(Thread("slack", "T1", "C2", "1.0")), False),
        (reach_of(Thread("slack", "T2", "C1", "1.0")), False),
        (reach_of(Thread("discord", "T1", "C1", "1")), False),
        (reach_of(Thread("slack", "T1", "D1", "1.0"), "person"), False),
        (reach_of(Thread("web", "console", "ann", "1")), False),
        (reach_of(HERE, guest=True), False),
        (reach_of(HERE, "outsiders"), False),
        (reach_of(HERE, "unknown"), False),
        (reach_of(HERE, guest=None), False),  # not known yet
        (NO_DOCUMENTS, False),
        (EVERYTHING, True),  # operators, who can read the database
    ],
)
def test_what_was_found_for_a_place_is_told_there_alone(reach: Reach, may: bool) -> None:
    assert reach.covers(Provenance.of((SAID, FOUND_HERE))) is may
    assert reach.covers(Provenance.of((FILE, FOUND_HERE))) is may
    assert EVERYTHING.includes(reach)


def test_a_run_that_may_find_conversations_is_in_reach_of_its_place_alone() -> None:
    console = reach_of(Thread("web", "console", "ann", "1"))
    assert not console.includes(reach_of(HERE))
    assert not reach_of(Thread("slack", "T1", "C2", "1.0")).includes(reach_of(HERE))
    assert console.includes(NO_DOCUMENTS)
    assert RunOptions().conversations is False


@pytest.mark.parametrize(
    ("url", "is_said"),
    [
        (SAID, True),
        ("https://acme.enterprise.slack.com/archives/C1/p1", True),
        (FILE, True),
        (f"{FILE}?origin_team=T024BE7LD", True),
        ("https://acme.slack.com/docs/T024BE7LD/F024BERPE", True),  # a canvas
        ("https://acme.slack-gov.com/files/U024BE7LH/F024BERPE/plan", True),
        ("https://api.slack.com/docs/message-buttons", False),
        ("https://files.slack.com/files-pri/T1-F1/plan.pdf", False),
        ("https://acme.slack.com.example.org/files/U1/F1/plan", False),
        ("https://discord.com/channels/1/2/3", True),
        ("https://ptb.discord.com/channels/@me/2/3", True),
        ("https://slack.com/archives-of-art", False),
        ("https://notslack.com/archives/C1/p1", False),
        ("https://discord.com/developers/docs", False),
        ("https://example.org/?u=https://acme.slack.com/archives/C1/p1", False),
    ],
)
def test_a_message_or_file_is_told_by_its_address(url: str, is_said: bool) -> None:
    assert is_document(url) is is_said


def test_a_file_that_came_with_a_message_to_footnote_is_told_from_one_that_was_found() -> None:
    sent = attached(FILE)
    assert not is_document(sent)
    assert NO_DOCUMENTS.allows(sent)
    assert conversations_in(f'{{"url": "{sent}", "seen": ["{FILE}", "{SAID}"]}}') == [FILE, SAID]
    assert attached("https://cdn.example/1/2/a.png") != "https://cdn.example/1/2/a.png"
