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
    assert re.search(r"^refused rightly +2 of 2$", ended.out, re.MULTILINE)
    assert max(map(len, ended.out.splitlines())) <= 100
    page = footnote.folder / "data" / "demo" / "eval" / "sample.html"
    assert page.as_uri() in ended.err
    assert "Who won the football world cup in 1998?" in page.read_text(encoding="utf-8")

    again = footnote.run("eval", "--json")
    assert "10 answers of an earlier call kept" in again.err
    assert again.code == ended.code
    assert again.json["complete"]
    assert again.json["sides"][0]["figures"]["as_expected"]["count"] >= 8
    assert again.json["sides"][0]["figures"]["usd"] == 0


def test_corrected_expectations_ask_nothing_again(
    footnote: Program, documents: Path, questions: Path
) -> None:
    questions.write_text(QUESTIONS.replace("Maria Keller", "Jonas Brandt"), encoding="utf-8")
    first = footnote.run("eval", "--docs", str(documents), str(questions))
    questions.write_text(QUESTIONS, encoding="utf-8")
    second = footnote.run("eval", "--docs", str(documents), str(questions))

    assert first.code == 1
    assert "words missing" in first.out
    assert (second.code, "4 answers of an earlier call kept" in second.err) == (0, True)


def test_a_changed_document_has_everything_asked_again(
    footnote: Program, documents: Path, questions: Path
) -> None:
    footnote.run("eval", "--docs", str(documents), str(questions))
    keys = documents / "keys.md"
    keys.write_text(keys.read_text().replace("90 days", "30 days"), encoding="utf-8")
    ended = footnote.run("eval", "--docs", str(documents), str(questions), "--json")

    assert "kept" not in ended.err
    assert ended.json["sides"][0]["results"][0]["amiss"] == ["words missing"]


def test_two_settings_are_compared(footnote: Program, documents: Path, questions: Path) -> None:
    other = footnote.folder / "small.toml"
    other.write_text(f'docs = "{documents / "food"}"\ndepth = "quick"\n', encoding="utf-8")
    page = footnote.folder / "page.html"
    ended = footnote.run(
        *("eval", "--docs", str(documents), str(questions)),
        *("--against", str(other), "--html", str(page), "--json"),
    )

    assert ended.code == 0, "the settings at work decide"
    assert ended.json["differ"] == ["1", "1.1", "2"]
    first, second = ended.json["sides"]
    assert (first["name"], second["name"]) == ("as set", "small.toml")
    assert second["figures"]["refused_wrongly"] == {"count": 3, "of": 3}
    assert second["settings"]["depth"] == "quick"
    assert "The settings differ" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [("- question: What?\n  wrods: a\n", "company.yaml, line 2:"), ("", "holds no questions")],
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
            "bot.reasoning.model.failures.RETRIES": "0",
            "FOOTNOTE_DOCS": str(documents),
        }
        yield footnote


def test_tokens_money_and_the_judge_are_counted_and_paid_for_once(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    forecast = thinking.run("eval", str(questions), "--judge", "--dry-run")
    assert "4 to ask: about" in forecast.err
    assert "for the judge. Budget: " in forecast.err
    assert (forecast.code, forecast.out, claude.requests) == (0, "", [])

    ended = thinking.run("eval", str(questions), "--judge", "--json")
    side = ended.json["sides"][0]
    figures = side["figures"]
    asked = [one for one in claude.requests if one.finished and not _is_judging(one.body)]
    judged = [one for one in claude.requests if one.finished and _is_judging(one.body)]
    assert figures["model_calls"] == len(asked) > 0
    assert sum(kind["calls"] for kind in figures["kinds"].values()) == len(asked)
    assert "write" in figures["kinds"]
    assert figures["output_tokens"] == sum(one.usage["output_tokens"] for one in asked)
    assert 0 < figures["judging_usd"] < figures["usd"]
    assert len(judged) == 1
    assert side["results"][0]["verdict"]["grade"] == "right"

    sent = len(claude.requests)
    fresh = thinking.run("eval", str(questions), "--fresh", "--dry-run")
    assert "4 to ask: about" in fresh.err
    again = thinking.run("eval", str(questions), "--judge", "--json")
    assert len(claude.requests) == sent
    assert again.json["sides"][0]["figures"] == figures


def _is_judging(request: Mapping[str, Any]) -> bool:
    return "<expected_answer>" in str(request["messages"])


def test_what_goes_beyond_the_budget_is_not_begun(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    ended = thinking.run("eval", str(questions), "--budget", "0")
    assert (ended.code, claude.requests) == (1, [])
    assert "The budget left 4 questions unasked" in ended.out


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


def test_ctrl_c_shows_what_is_done_and_the_same_command_continues(
    thinking: Program, claude: FakeClaude, questions: Path
) -> None:
    held = Held(writing=3)
    claude.use(held)
    process = thinking.start("eval", str(questions), "--parallel", "1")
    assert held.reached.wait(60)
    process.signal(signal.SIGINT)
    ended = process.finish()
    assert ended.code == 130, ended.err
    assert "Interrupted after 2 of 4: the same command continues." in ended.err
    assert "as expected" in ended.out
    finished = {one.key for one in claude.requests if one.finished}

    claude.use(researcher)
    claude.requests.clear()
    again = thinking.run("eval", str(questions), "--json")
    assert again.json["complete"], again.err
    assert "2 answers of an earlier call kept" in again.err
    assert finished & {one.key for one in claude.requests} == set(), "none is paid for again"
