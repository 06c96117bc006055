"""Deep research with the real program: the question is cut, its parts are researched at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.claude import Fail, FakeClaude, Reply, researcher
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer

# Seven parts, of which two have one that needs it: those are worked on by themselves.
QUESTION = (
    "When was the band AC/DC formed, and then how long ago is that, and in which city, and then "
    "where is that city, and who was its first singer, and who was its first drummer, and who "
    "produced its first album, and which label released that, and who drew its logo?"
)


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude()


@pytest.fixture
def footnote(tmp_path: Path, fork_server: ForkServer, claude: FakeClaude) -> Iterator[Program]:
    wiki = FakeWiki()
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        yield Program(
            tmp_path,
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": claude_url,
                "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
                "bot.reasoning.model_service.RETRIES": "0",
            },
            fork_server,
        )


def test_a_deep_question_is_cut_researched_and_cited(footnote: Program) -> None:
    ended = footnote.run("ask", "--json", "--depth", "deep", QUESTION)
    assert ended.code == 0, ended.err
    answer = ended.json
    nodes = [step for step in answer["steps"] if step["kind"] == "node"]
    assert [node["title"] for node in nodes] == [
        "When was the band AC/DC formed?",
        "then how long ago is that (AC DC)?",
        "in which city (AC DC)?",
        "then where is that city (AC DC)?",
        "who was its first singer (AC DC)?",
        "who was its first drummer (AC DC)?",
        "who produced its first album (AC DC)?",
        "which label released that (AC DC)?",
        "who drew its logo (AC DC)?",
    ]
    assert {node["state"] for node in nodes} == {"done"}
    assert "1973" in " ".join(citation["quote"] for citation in answer["citations"])
    assert "[1]" in answer["answer"]
    assert answer["question"] == QUESTION


def test_the_graph_is_told_line_by_line_with_its_work_summed_up(footnote: Program) -> None:
    ended = footnote.run("ask", "--depth", "deep", QUESTION)
    assert ended.code == 0, ended.err
    lines = [line for line in ended.err.splitlines() if line.strip()]
    told = [line for line in lines if "?" in line]
    assert {line.split("?")[0] for line in told} == {
        "✓ When was the band AC/DC formed",
        "✓ in which city (AC DC)",
        "✓ then how long ago is that (AC DC)",
        "✓ then where is that city (AC DC)",
        "✓ who was its first singer (AC DC)",
        "✓ who was its first drummer (AC DC)",
        "✓ who produced its first album (AC DC)",
        "✓ which label released that (AC DC)",
        "✓ who drew its logo (AC DC)",
    }
    assert sum("1 search · 1 page" in line for line in told) == 2


def test_a_part_that_the_model_declines_is_named_and_the_rest_is_answered(
    footnote: Program, claude: FakeClaude
) -> None:
    def declining(request: Mapping[str, Any]) -> Reply:
        asked = json.dumps(request["messages"][0])
        if request.get("tools") and r"\nin which city (AC DC)?\n" in asked:
            return Reply((), stop_reason="refusal")
        return researcher(request)

    claude.use(declining)
    ended = footnote.run("ask", "--json", "--depth", "deep", QUESTION)
    assert ended.code == 0, ended.err
    nodes = {s["title"]: s["state"] for s in ended.json["steps"] if s["kind"] == "node"}
    assert set(nodes.values()) == {"done", "failed"}
    assert "1973" in ended.json["answer"]
    assert any("could not be researched" in note for note in ended.json["notes"])


def test_when_claude_goes_away_after_the_plan_quotations_answer(
    footnote: Program, claude: FakeClaude
) -> None:
    claude.use(lambda request: Fail(529) if request.get("tools") else researcher(request))
    question = "When was the band AC/DC formed, and in which city?"
    ended = footnote.run("ask", "--json", "--depth", "deep", question)
    assert ended.code == 0, ended.err
    assert ended.json["reasoner"] == "closest"
    assert "1973" in " ".join(citation["quote"] for citation in ended.json["citations"])


def test_without_a_model_nothing_is_planned(footnote: Program) -> None:
    question = "Compare Freddie Mercury and Stone Town"
    ended = footnote.run("ask", "--json", "--depth", "deep", question, FOOTNOTE_REASONER="closest")
    assert ended.code == 0, ended.err
    assert not any(step["kind"] == "node" for step in ended.json["steps"])
    titles = {citation["title"] for citation in ended.json["citations"]}
    assert {"Freddie Mercury", "Stone Town"} <= titles
