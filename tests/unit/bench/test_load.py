"""The load bench: what it reads out of the marks and the log of the database."""

from __future__ import annotations

import pytest

from tests.bench.load import Asking, delays_of
from tests.bench.load_store import Run, kind_of
from tests.bench.load_words import follow_up, page_about, question_about, text_about, topic_of
from tests.unit.samples import a_thread


def a_run(thread: str, accepted: float, started: float, ended: float) -> Run:
    return Run("r", thread, accepted, started, started, ended, "answered", 1)


def test_a_run_that_waited_for_its_thread_counts_from_when_that_was_free() -> None:
    runs = [
        a_run("a", accepted=0.0, started=0.1, ended=10.0),
        a_run("b", accepted=0.5, started=0.7, ended=10.0),
        a_run("a", accepted=1.0, started=10.3, ended=20.0),
        a_run("a", accepted=30.0, started=30.4, ended=40.0),  # nobody was before it any more
    ]
    delays, wakes = delays_of(runs)
    assert delays == pytest.approx([0.1, 0.2, 0.4])
    assert wakes == pytest.approx([0.3])


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("BEGIN", "BEGIN"),
        ("SELECT runs.id FROM runs WHERE runs.id = $1", "SELECT runs"),
        ("INSERT INTO steps (run_id) VALUES ($1) RETURNING steps.id", "INSERT steps"),
        ("UPDATE runs SET state=$1", "UPDATE runs"),
        ("SELECT id FROM procrastinate_fetch_job_v2($1, $2)", "procrastinate_fetch_job_v2"),
    ],
)
def test_statements_are_counted_by_what_they_do_to_which_table(statement: str, kind: str) -> None:
    assert kind_of(statement) == kind


def test_questions_have_topics_and_threads_of_their_own_and_follow_ups_share_them() -> None:
    threads = [a_thread(str(number)) for number in range(20)]
    asked = Asking(threads).questions(8, followed=4)
    assert len(asked) == 10
    assert len({thread.key for thread, _ in asked}) == 8
    assert len({topic_of(words) for _, words in asked}) == 8
    assert asked[0][0] == asked[1][0]


def test_a_page_holds_what_is_asked_about_its_topic() -> None:
    assert topic_of(question_about(12)) == topic_of(follow_up(12)) == 12
    assert "Halvern-12" in text_about(12, 3)
    assert all(part.encode() in page_about(12, 3) for part in text_about(12, 3).split("\n\n"))
