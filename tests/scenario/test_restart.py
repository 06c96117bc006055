"""Settings that are kept in the console while questions are researched: `serve` starts with them in
place, and neither an answer nor a paid call is lost."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import WHO, Place, until_answered, until_shown
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, running

CHANGED = "Settings were changed in the console"
STARTED = "Listening for HTTP on "
CALLS = 3  # that lead to an answer: understanding, a turn over what was opened, writing


def add_a_folder(serving: Serving, folder: Path) -> None:
    """Have one more folder followed, which is a setting that the console keeps."""
    folder.mkdir()
    with httpx.Client(base_url=serving.http, timeout=60) as browser:
        fields, ours = {"path": str(folder), "sure": "yes"}, {"Origin": serving.http}
        sent = browser.post("/sources/add-folder", data=fields, headers=ours)
        assert sent.status_code == 303
    serving.until_said(CHANGED)


@pytest.mark.parametrize("drain", [60, 0])
def test_a_question_in_work_is_answered_once_and_no_call_is_made_twice(
    fork_server: ForkServer,
    thinking: Program,
    place: Place,
    gate: Gate,
    tmp_path: Path,
    drain: int,
) -> None:
    """It is finished before the restart where that takes no longer than a drain may, and
    otherwise goes on after it; what is asked meanwhile comes after it."""
    thinking.settings["bot.operation.serving.DRAIN_SECONDS"] = str(drain)
    with running(fork_server, thinking, place) as serving:
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        add_a_folder(serving, tmp_path / "more")
        place.say(said, WHO)
        if not drain:
            until(lambda: serving.said.count(STARTED) == 2)
        gate.release()
        first, second = until_answered(place, said, 2)
        assert "90 days" in first.text
        assert "security team" in second.text
        assert serving.said.count(STARTED) == 2
        assert ("Resuming 1 unfinished question" in serving.said) == (drain == 0)
        assert len(gate.research) == 2 * CALLS
