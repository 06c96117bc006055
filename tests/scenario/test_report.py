"""Reports with the real program: with a model on a real socket, and with none."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.claude import Fail, FakeClaude, Fault, Reply, researcher
from tests.fakes.server import serve
from tests.scenario.program import Ended, Program
from tests.scenario.serving import ForkServer

QUESTION = "How do we handle keys, travel and lunch?"


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude()


@pytest.fixture
def with_claude(tmp_path: Path, fork_server: ForkServer, claude: FakeClaude) -> Iterator[Program]:
    with serve(claude) as url:
        yield Program(
            tmp_path,
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": url,
                "bot.reasoning.model_service.RETRIES": "0",
            },
            fork_server,
        )


def ask(program: Program, documents: Path, **settings: str) -> Ended:
    common = ("ask", "--json", "--style", "report", "--docs", str(documents))
    return program.run(*common, QUESTION, **settings)


def headings(ended: Ended) -> list[str]:
    return re.findall(r"^## (.+)$", ended.json["answer"], re.MULTILINE)


def revisions(program: Program) -> list[dict[str, Any]]:
    """The revision of each paragraph as the journal keeps it."""
    with sqlite3.connect(program.folder / "data" / "footnote.sqlite") as db:
        rows = db.execute("SELECT result FROM steps WHERE kind = 'revision' ORDER BY at").fetchall()
    return [json.loads(row[0]) for row in rows]


def request_of(request: Mapping[str, Any], words: str) -> bool:
    return words in json.dumps(request["messages"], ensure_ascii=False)


# ---------------------------------------------------------------- with Claude


def test_a_report_is_drafted_revised_and_cited(
    with_claude: Program, claude: FakeClaude, documents: Path
) -> None:
    ended = ask(with_claude, documents)
    assert ended.code == 0, ended.err
    answer = ended.json
    assert (answer["status"], answer["reasoner"]) == ("answered", "claude")
    assert {"Keys", "Travel policy"} <= set(headings(ended))
    quotes = " ".join(citation["quote"] for citation in answer["citations"])
    assert "90 days" in quotes
    assert "Maria Keller" in quotes
    assert "1066" not in answer["answer"], "a claim of the draft that nothing bears out"
    assert answer["doubts"] == []
    assert answer["usage"]["model_calls"] == len(claude.requests)
    assert [r.problem for r in claude.requests if r.problem] == []
    kinds = [step["kind"] for step in answer["steps"]]
    assert kinds.count("draft") == 1
    assert kinds.count("revision") == kinds.count("revise") == kinds.count("query") >= 3
    titles = [step["title"] for step in answer["steps"] if step["kind"] == "revision"]
    assert any(re.fullmatch(r"Revised against \d pages?, \d+% .+: Keys", t) for t in titles)
    keys = next(one for one in revisions(with_claude) if one["heading"] == "Keys")
    assert "1066" in keys["draft"]
    assert keys["queries"]
    assert "90 days" in keys["revised"]
    assert {change["kind"] for change in keys["changes"]} >= {"added", "removed"}


def test_a_revision_that_takes_too_long_leaves_its_part_out(
    with_claude: Program, claude: FakeClaude, documents: Path
) -> None:
    def slow(request: Mapping[str, Any]) -> Reply | Fail:
        reply = researcher(request)
        hangs = request_of(request, '<draft heading=\\"Keys\\"') and "format" not in str(
            request.get("output_config")
        )
        return replace(reply, fault=Fault("stall", seconds=600)) if hangs else reply

    claude.use(slow)
    ended = ask(with_claude, documents, **{"bot.research.report.REVISION_SECONDS": "5"})
    assert (ended.code, ended.json["status"]) == (1, "partial"), ended.err
    text = ended.json["answer"]
    assert "> “Keys” was left out: there was no time left to check it." in text
    assert "1066" not in text
    assert "Maria Keller" in text
    assert [step["kind"] for step in ended.json["steps"]].count("lapse") == 1


def test_when_the_model_goes_away_a_report_keeps_what_is_revised(
    with_claude: Program, claude: FakeClaude, documents: Path
) -> None:
    def goes_away(request: Mapping[str, Any]) -> Reply | Fail:
        gone = request_of(request, '<draft heading=\\"Travel policy\\"')
        return Fail(529) if gone else researcher(request)

    claude.use(goes_away)
    ended = ask(with_claude, documents)
    assert ended.code == 0, ended.err
    assert (ended.json["status"], ended.json["reasoner"]) == ("answered", "closest")
    assert "Keys" in headings(ended)
    assert "No longer covered: " in ended.json["answer"]
    assert any("quoted without the model" in note for note in ended.json["notes"])


# ---------------------------------------------------------------- without a model


def test_without_a_model_a_report_is_the_closest_passages(
    footnote: Program, documents: Path
) -> None:
    ended = ask(footnote, documents)
    assert ended.code == 0, ended.err
    answer = ended.json
    assert (answer["status"], answer["reasoner"]) == ("answered", "closest")
    assert answer["usage"]["model_calls"] == 0
    assert answer["answer"].startswith("### Closest passages\n\n#### ")
    assert answer["suggestions"] == []


def test_an_unknown_style_is_one_sentence(footnote: Program) -> None:
    ended = footnote.run("ask", "--style", "novel", "What?")
    assert ended.code == 2
    assert "novel" in ended.err
