"""A run is followed through the log, and no words of it are read there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.claude import FakeClaude
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.gate import until
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, ending, start_forked

ASKED, WRITTEN = "zyzzyvasked", "zyzzyvawritten"
QUESTION = f"Could you tell me what the {ASKED} costs, and who sells it?"
PAGE = f"# Prices\n\nThe {ASKED} costs 12 euros. It is sold by {WRITTEN}.\n"
NOWHERE = "http://127.0.0.1:9"


def followed(
    fork_server: ForkServer, program: Program, level: str, wiki: str, documents: Path
) -> tuple[str, list[Mapping[str, Any]], str]:
    """Ask over HTTP; the run, and what was logged until the program has ended."""
    settings = {
        "FOOTNOTE_LOG_LEVEL": level,
        "FOOTNOTE_LOG_FORMAT": "json",
        "FOOTNOTE_WIKIPEDIA_URL": wiki,
        "FOOTNOTE_DOCS": str(documents),
        "FOOTNOTE_PROVIDERS": "local,wikipedia",
    }
    with ending(start_forked(fork_server, program, **settings)) as serving:
        # It shows pages before there is somebody who takes questions.
        until(lambda: httpx.get(f"{serving.http}/readyz").is_success)
        with httpx.Client(base_url=serving.http, timeout=60) as client:
            asked = client.post("/api/questions", json={"question": QUESTION}).json()
            with client.stream("GET", asked["events"]) as events:
                events.read()
            answer = client.get(asked["url"]).json()["answer"]["answer"]
        assert WRITTEN in answer
        serving.end()
        lines = [json.loads(line) for line in serving.said.splitlines()]
        return asked["run"], lines, serving.said


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "prices.md").write_text(PAGE, encoding="utf-8")
    return folder


@pytest.fixture
def thinking(footnote: Program) -> Program:
    footnote.settings |= {"ANTHROPIC_API_KEY": "sk-test"}
    return footnote


@pytest.mark.parametrize("is_away", [False, True])
def test_a_run_is_followed_without_a_word_of_it(
    fork_server: ForkServer, thinking: Program, documents: Path, is_away: bool
) -> None:
    with serve(FakeClaude()) as claude, serve(FakeWiki().app) as wiki:
        thinking.settings |= {"ANTHROPIC_BASE_URL": claude}
        wiki = NOWHERE if is_away else wiki
        run, lines, said = followed(fork_server, thinking, "info", wiki, documents)

    assert ASKED not in said
    assert WRITTEN not in said
    its = [line for line in lines if line.get("run") == run]
    events = [line["event"] for line in its]
    assert events[:2] == ["accepted", "claimed"]
    assert events[-2:] == ["posted", "ended"]
    steps = [line for line in its if line["event"] == "step ended"]
    assert {"search", "read", "write"} <= {line["kind"] for line in steps}
    assert all(line["seconds"] >= 0 for line in steps)
    # Whatever else is told of work while it lasts can be found by its run as well.
    during = lines[lines.index(its[1]) : lines.index(its[-1])]
    others = [line["event"] for line in during if "run" not in line]
    assert [event for event in others if not event.startswith("Index")] == []
    for name in ("thread", "workspace"):
        assert {line[name] for line in its} == {its[0][name]}
    assert {line["attempt"] for line in its[1:]} == {1}
    assert its[-1]["state"] == "answered"


def test_at_the_default_level_only_the_start_and_the_end_are_told(
    fork_server: ForkServer, thinking: Program, documents: Path
) -> None:
    with serve(FakeClaude()) as claude, serve(FakeWiki().app) as wiki:
        thinking.settings |= {"ANTHROPIC_BASE_URL": claude}
        _, lines, _ = followed(fork_server, thinking, "warning", wiki, documents)

    assert [line for line in lines if "run" in line] == []
    assert [line["event"] for line in lines if line["event"].startswith("Listening for HTTP")]
