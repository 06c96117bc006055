"""``footnote eval``: the sample without a key, and a set of one's own with Claude and a judge."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.claude import Fail, FakeClaude, Fault, Reply, researcher
from tests.fakes.server import serve
from tests.scenario.program import Program

QUESTIONS = """
- question: How often is the master key rotated?
  words: 90 days
  page: keys.md
  answer: every 90 days
  followups:
    - question: And who does it?
      words: security team
- question: Who approves expensive journeys?
  words: Maria Keller
  page: travel.md
- question: Who won the football world cup in 1998?
  refuse: true
"""


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "company.yaml"
    file.write_text(QUESTIONS, encoding="utf-8")
    return file


# ---------------------------------------------------------------- without a key


def test_the_sample_runs_with_nothing_configured_and_is_kept(footnote: Program) -> None:
    ended = footnote.run("eval")

    assert ended.code in (0, 1), ended.err
    assert "it costs nothing" in ended.err
    assert "as expected" in ended.out
    assert re.search(r"^refused rightly +2 of 2 \(100%\)$", ended.out, re.MULTILINE)
    assert max(map(len, ended.out.splitlines())) <= 100

    again = footnote.run("eval", "--json")
    assert "10 answer(s) of an earlier call kept" in again.err
    assert again.code == ended.code
    assert again.json["complete"]
    assert again.json["figures"]["as_expected"][0] >= 8
    assert again.json["figures"]["usd"] == 0


@pytest.mark.slow
def test_corrected_expectations_ask_nothing_again(
    footnote: Program, documents: Path, questions: Path
) -> None:
    questions.write_text(QUESTIONS.replace("Maria Keller", "Jonas Brandt"), encoding="utf-8")
    first = footnote.run("eval", "--docs", str(documents), str(questions))
    questions.write_text(QUESTIONS, encoding="utf-8")
    second = footnote.run("eval", "--docs", str(documents), str(questions))

    assert first.code == 1
    assert "words missing" in first.out
    assert (second.code, "4 answer(s) of an earlier call kept" in second.err) == (0, True)


@pytest.mark.slow
def test_a_changed_document_has_everything_asked_again(
    footnote: Program, documents: Path, questions: Path
) -> None:
    footnote.run("eval", "--docs", str(documents), str(questions))
    keys = documents / "keys.md"
    keys.write_text(keys.read_text().replace("90 days", "30 days"), encoding="utf-8")
    ended = footnote.run("eval", "--docs", str(documents), str(questions), "--json")

    assert "kept" not in ended.err
    assert ended.json["results"][0]["amiss"] == ["words missing"]


@pytest.mark.slow
def test_two_runs_are_compared(footnote: Program, documents: Path, questions: Path) -> None:
    before = footnote.folder / "before.json"
    whole = footnote.run("eval", "--docs", str(documents), str(questions), "--json")
    before.write_text(whole.out, encoding="utf-8")
    ended = footnote.run(
        *("eval", "--docs", str(documents / "food"), str(questions)),
        *("--depth", "quick", "--against", str(before)),
    )
    assert (whole.code, ended.code) == (0, 1)
    assert re.search(r"^depth +auto +quick$", ended.out, re.MULTILINE)
    assert ended.out.count("✓ → refused") == 3
    assert re.search(r"^refused wrongly +0 of 3 \(0%\) +3 of 3 \(100%\)$", ended.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- question: What?\n  wrods: a\n", "company.yaml, question 1 (“What?”):"),
        ("", "holds no questions"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(
    footnote: Program, questions: Path, text: str, said: str
) -> None:
    questions.write_text(text, encoding="utf-8")
    ended = footnote.run("eval", str(questions))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert said in ended.err


def test_a_judge_needs_a_model(footnote: Program) -> None:
    ended = footnote.run("eval", "--judge")
    assert (ended.code, ended.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in ended.err


# ---------------------------------------------------------------- with Claude


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude()


@pytest.fixture
def thinking(footnote: Program, documents: Path, claude: FakeClaude) -> Iterator[Program]:
    with serve(claude) as url:
        footnote.settings |= {
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": url,
            "bot.reasoning.model_service.RETRIES": "0",
            "FOOTNOTE_DOCS": str(documents),
        }
        yield footnote


def test_tokens_money_and_the_judge_are_counted_and_paid_for_once(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    forecast = thinking.run("eval", str(questions), "--judge", "--budget", "0")
    assert "4 to ask: about" in forecast.err
    assert (forecast.code, claude.requests) == (1, [])

    ended = thinking.run("eval", str(questions), "--judge", "--json")
    figures = ended.json["figures"]
    asked = [one for one in claude.requests if one.finished and not _is_judging(one.body)]
    judged = [one for one in claude.requests if one.finished and _is_judging(one.body)]
    assert figures["model_calls"] == len(asked) > 0
    assert figures["tokens_out"] == sum(one.usage["output_tokens"] for one in asked)
    assert 0 < figures["judging_usd"] < figures["usd"]
    assert len(judged) == 1
    assert ended.json["results"][0]["verdict"]["grade"] == "right"

    claude.requests.clear()
    again = thinking.run("eval", str(questions), "--json")
    assert (claude.requests, again.json["figures"]["usd"]) == ([], figures["usd"])
    fresh = thinking.run("eval", str(questions), "--fresh")
    assert "4 to ask: about" in fresh.err
    assert len(claude.requests) == len(asked)


def _is_judging(request: Mapping[str, Any]) -> bool:
    return "<expected_answer>" in str(request["messages"])


def test_what_goes_beyond_the_budget_is_not_begun(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    ended = thinking.run("eval", str(questions), "--budget", "0")
    assert (ended.code, claude.requests) == (1, [])
    assert "The budget left 4 question(s) unasked" in ended.out


def test_a_wrong_key_ends_it_at_once(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    claude.key = "sk-right"
    ended = thinking.run("eval", str(questions))
    assert (ended.code, ended.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in ended.err
    assert len(claude.requests) <= 4


class Held:
    """Answers until the n-th request that writes an answer, which it leaves waiting."""

    def __init__(self, writing: int) -> None:
        self.reached = threading.Event()
        self._writing = writing

    def __call__(self, request: Mapping[str, Any]) -> Reply | Fail:
        reply = researcher(request)
        if "search_result" in str(request["messages"]) and not request.get("tools"):
            self._writing -= 1
            if self._writing == 0:
                self.reached.set()
                return replace(reply, fault=Fault("stall", seconds=600))
        return reply


@pytest.mark.slow
def test_ctrl_c_shows_what_is_done_and_the_same_command_continues(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    held = Held(writing=3)
    claude.use(held)
    process = thinking.start("eval", str(questions))
    assert held.reached.wait(60)
    process.signal(signal.SIGINT)
    ended = process.finish()
    assert ended.code == 130, ended.err
    assert re.search(r"Interrupted after [0-3] of 4: the same command continues\.", ended.err)
    assert "as expected" in ended.out
    finished = {one.key for one in claude.requests if one.finished}

    claude.use(researcher)
    claude.requests.clear()
    again = thinking.run("eval", str(questions), "--json")
    assert again.json["complete"], again.err
    assert finished & {one.key for one in claude.requests} == set(), "none is paid for again"
