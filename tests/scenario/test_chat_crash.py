"""Kill -9 around every call of a run that changes what is seen: one answer, and nothing beside."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.scenario.chat_crash import Moment, Outcome, run_and_kill
from tests.scenario.conftest import PLACES
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer

QUESTION = "Could you tell me how often the master key is rotated?"
AT_ONCE = 6  # programs; they mostly wait for their model


@pytest.fixture
def prepared(tmp_path: Path, documents: Path) -> Program:
    """A folder in which the documents are indexed already."""
    folder = tmp_path / "prepared"
    folder.mkdir()
    program = Program(folder, {"FOOTNOTE_DOCS": str(documents)})
    assert program.run("index", str(documents)).code == 0
    return program


@pytest.mark.parametrize("name", PLACES)
def test_killed_around_any_post_one_answer_is_to_be_seen(
    fork_server: ForkServer, prepared: Program, tmp_path: Path, name: str
) -> None:
    def run(moments: Sequence[Moment]) -> Outcome:
        folder = tmp_path / "-".join(["run", *(f"{m.call}{m.after}" for m in moments)])
        return run_and_kill(fork_server, PLACES[name], prepared, folder, QUESTION, moments)

    whole = run([])
    assert len(whole.posts) == 1
    assert whole.calls >= 3
    once = [[Moment(n, after)] for n in range(1, whole.calls + 1) for after in (False, True)]
    # The second program finds what the first one left, and leaves something else.
    twice = [[Moment(n, True), Moment(m, True)] for n, m in ((1, 1), (2, 1), (2, 2))]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        campaign = [*once, *twice]
        outcomes = list(pool.map(run, campaign))

    killed = 0
    for moments, outcome in zip(campaign, outcomes, strict=True):
        when = f"killed {', then '.join(map(str, moments))}"
        killed += outcome.kills > 0
        assert [post.text for post in outcome.posts] == [outcome.posts[0].text], when
        assert "90 days" in outcome.posts[0].text, when
        assert "⚠" in outcome.posts[0].text, when
        assert "Sources" in outcome.posts[0].text, when
        assert outcome.paid.again == [], when
        assert outcome.paid.known >= 5, when
    assert killed >= len(campaign) * 2 // 3, "the campaign must kill"
