"""Deep research with the real program: the question is cut, its parts are researched at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.claude import FakeClaude
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.program import Program

QUESTION = "When was the band AC/DC formed, and in which city?"


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude()


@pytest.fixture
def footnote(tmp_path: Path, claude: FakeClaude) -> Iterator[Program]:
    wiki = FakeWiki()
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        yield Program(
            tmp_path,
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": claude_url,
                "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
                "FOOTNOTE_MODEL_RETRIES": "0",
            },
        )


def test_a_deep_question_is_cut_researched_and_cited(footnote: Program) -> None:
    ended = footnote.run("ask", "--json", "--depth", "deep", QUESTION)
    assert ended.code == 0, ended.err
    answer = ended.json
    nodes = [step for step in answer["steps"] if step["kind"] == "node"]
    assert [node["title"] for node in nodes] == [
        "When was the band AC/DC formed?",
        "in which city (AC DC)?",
    ]
    assert {node["state"] for node in nodes} == {"done"}
    assert "1973" in " ".join(citation["quote"] for citation in answer["citations"])
    assert "[1]" in answer["answer"]
    assert answer["question"] == QUESTION
