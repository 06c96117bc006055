"""The program with Claude: fakes of Claude and of a wiki on real sockets, the real SDK between."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.claude import Fail, FakeClaude, Reply, researcher, says
from tests.fakes.claude_brain import paraphraser
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.program import Ended, Program
from tests.scenario.serving import ForkServer

QUESTION = "Could you tell me when the band AC/DC was formed, and in which city?"


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude()


@pytest.fixture
def wiki() -> FakeWiki:
    return FakeWiki()


@pytest.fixture
def footnote(
    tmp_path: Path, fork_server: ForkServer, claude: FakeClaude, wiki: FakeWiki
) -> Iterator[Program]:
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


def quotes(ended: Ended) -> str:
    return " ".join(citation["quote"] for citation in ended.json["citations"])


def test_a_question_is_researched_written_and_cited(
    footnote: Program, claude: FakeClaude, wiki: FakeWiki
) -> None:
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    answer = ended.json
    assert answer["reasoner"] == "claude"
    assert "1973" in quotes(ended)
    assert "[1]" in answer["answer"]
    assert [step["kind"] for step in answer["steps"]][0::1].count("write") == 1
    assert answer["usage"]["model_calls"] == len(claude.requests)
    assert answer["usage"]["usd"] > 0
    assert answer["doubts"] == []
    assert wiki.complaints == []


def test_a_follow_up_is_asked_with_what_was_said(footnote: Program, claude: FakeClaude) -> None:
    footnote.run("ask", "--json", "--thread", "rock", QUESTION)
    claude.requests.clear()
    ended = footnote.run("ask", "--json", "--thread", "rock", "And who?")
    assert ended.code == 0, ended.err
    assert "AC/DC" in json.dumps(claude.calls[0], ensure_ascii=False)
    assert "AC DC" in ended.json["question"]


def test_the_small_model_reads_the_sentences_with_their_quotes(
    footnote: Program, claude: FakeClaude
) -> None:
    def brain(request: Mapping[str, Any]) -> Reply:
        if "<sentence number=" not in json.dumps(request["messages"]):
            return paraphraser(request)
        assert request["model"].startswith("claude-haiku")
        if "verdict=" in json.dumps(request["messages"]):
            return says(json.dumps({"sentences": []}))
        wrong = {"sentence": 1, "verdict": "not_supported", "words": "the sea"}
        return says(json.dumps({"verdicts": [wrong]}))

    claude.use(brain)
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    assert [doubt["reason"] for doubt in ended.json["doubts"]] == [
        "its footnotes do not say: the sea"
    ]
    assert "⚠" in ended.json["answer"]
    found = ended.json["verification"]
    assert (found["state"], found["problem"]) == ("done", "")
    (sentence,) = found["sentences"]
    assert sentence["sentence"] == ended.json["doubts"][0]["sentence"]
    assert (sentence["verdict"], sentence["outcome"]) == ("not_supported", "marked")
    kinds = [step["kind"] for step in ended.json["steps"]]
    assert (kinds.count("verify"), kinds.count("restate")) == (1, 1)
    assert ended.json["usage"]["model_calls"] == len(claude.requests)


def test_an_answer_stands_where_it_cannot_be_verified(
    footnote: Program, claude: FakeClaude
) -> None:
    def brain(request: Mapping[str, Any]) -> Reply | Fail:
        if "<sentence number=" in json.dumps(request["messages"]):
            return Fail(529)
        return paraphraser(request)

    claude.use(brain)
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    assert (ended.json["doubts"], ended.json["notes"]) == ([], [])
    assert ended.json["verification"]["state"] == "failed"
    assert "1973" in quotes(ended)


def test_quick_takes_two_model_calls(footnote: Program) -> None:
    ended = footnote.run("ask", "--json", "--depth", "quick", QUESTION)
    assert ended.code == 0, ended.err
    assert ended.json["usage"]["model_calls"] == 2


def test_an_endpoint_without_citations_is_asked_for_marks(
    tmp_path: Path, fork_server: ForkServer, wiki: FakeWiki
) -> None:
    refusal = "search_result blocks are not supported by this endpoint"
    claude = FakeClaude(refuses={"search_result": refusal})
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        footnote = Program(
            tmp_path,
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": claude_url,
                "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
            },
            fork_server,
        )
        ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    assert "1973" in quotes(ended)
    assert "[1]" in ended.json["answer"]


# ---------------------------------------------------------------- trouble


def test_a_wrong_key_is_one_sentence(footnote: Program, claude: FakeClaude) -> None:
    claude.key = "sk-right"
    ended = footnote.run("ask", QUESTION)
    assert ended.code == 2
    assert "ANTHROPIC_API_KEY" in ended.err
    assert "sk-test" not in ended.err + ended.out


def test_when_claude_cannot_be_reached_quotations_answer(
    footnote: Program, claude: FakeClaude
) -> None:
    claude.use(lambda request: Fail(529))
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    assert ended.json["reasoner"] == "closest"
    assert "1973" in quotes(ended)
    assert ended.json["notes"]


def test_a_refusal_is_said(footnote: Program, claude: FakeClaude) -> None:
    claude.use(lambda request: Reply((), stop_reason="refusal"))
    ended = footnote.run("ask", "--json", QUESTION)
    assert (ended.code, ended.json["status"]) == (1, "failed")
    assert "declined" in ended.err


def test_a_model_that_only_talks_is_ended_and_what_it_read_is_quoted(
    footnote: Program, claude: FakeClaude
) -> None:

    def talker(request: Mapping[str, Any]) -> Reply | Fail:
        return says("Let me think about that.") if request.get("tools") else researcher(request)

    claude.use(talker)
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.json["status"] == "partial", "from the pages that were opened with the hits"
    assert "1973" in quotes(ended)
    assert ended.json["usage"]["model_calls"] < 8


def test_a_spent_budget_is_said_in_the_answer(footnote: Program) -> None:
    ended = footnote.run("ask", "--json", QUESTION, **{"bot.research.budget.MODEL_CALLS": "1"})
    assert any("1 model call" in note for note in ended.json["notes"])
    assert ended.json["usage"]["model_calls"] == 2, "and the answer is still written"


# ---------------------------------------------------------------- stopping


class Held:
    """A brain that answers, but holds the n-th call until it is let go."""

    def __init__(self, call: int) -> None:
        self.reached = threading.Event()
        self._call = call
        self._calls = 0

    def __call__(self, request: Mapping[str, Any]) -> Reply | Fail:
        from dataclasses import replace

        from tests.fakes.claude import Fault

        self._calls += 1
        reply = researcher(request)
        if self._calls == self._call:
            self.reached.set()
            return replace(reply, fault=Fault("stall", seconds=600))
        return reply


def test_ctrl_c_stops_the_run_and_shows_what_was_found(alone: Program, claude: FakeClaude) -> None:
    held = Held(call=3)  # rewrite, finish, then this
    claude.use(held)
    process = alone.start("ask", "--json", QUESTION)
    assert held.reached.wait(60)
    process.signal(signal.SIGINT)
    ended = process.finish()
    assert (ended.code, ended.json["status"]) == (1, "stopped")
    assert "1973" in quotes(ended)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_was_ended_from_outside_continues_when_asked_again(
    footnote: Program, claude: FakeClaude, ending: signal.Signals
) -> None:
    held = Held(call=3)  # rewrite, finish, then this
    claude.use(held)
    process = footnote.start("ask", "--json", QUESTION)
    assert held.reached.wait(60)
    process.signal(ending)
    assert process.finish().code != 0
    finished = {request.key for request in claude.requests if request.finished}
    claude.use(FakeClaude()._brain or [])
    claude.requests.clear()
    ended = footnote.run("ask", "--json", QUESTION)
    assert ended.code == 0, ended.err
    assert "Continuing run" in ended.err
    assert finished & {request.key for request in claude.requests} == set()
    assert len(finished) == 2


def test_a_run_left_by_two_interrupts_is_continued_and_answered(
    footnote: Program, claude: FakeClaude
) -> None:
    held = Held(call=3)
    claude.use(held)
    process = footnote.start("ask", "--json", QUESTION)
    assert held.reached.wait(60)
    process.signal(signal.SIGINT)
    process.signal(signal.SIGINT)
    if process.finish().code == 130:  # the second one came before the first had stopped the run
        claude.use(FakeClaude()._brain or [])
        ended = footnote.run("ask", "--json", QUESTION)
        assert (ended.code, ended.json["status"]) == (0, "answered")


def test_an_unanswered_question_is_finished_first_and_stdout_holds_the_one_asked_for(
    footnote: Program, claude: FakeClaude
) -> None:
    held = Held(call=3)
    claude.use(held)
    process = footnote.start("ask", "--json", "--thread", "rock", QUESTION)
    assert held.reached.wait(60)
    process.signal(signal.SIGKILL)
    process.finish()
    claude.use(FakeClaude()._brain or [])
    ended = footnote.run("ask", "--json", "--thread", "rock", "And who?")
    assert ended.json["status"] == "answered", ended.err
    assert "AC DC" in ended.json["question"], "the follow-up was asked after its question's answer"
    assert "an earlier question that was interrupted" in ended.err


def test_a_chat_reply_leads_nowhere_and_steers_no_terminal(
    footnote: Program, claude: FakeClaude
) -> None:
    reply = json.dumps(
        {
            "kind": "chat",
            "question": "hi",
            "queries": [],
            "knowledge_queries": [],
            "links": [],
            "language": "en",
            "depth": "quick",
            "long_form": False,
            "reply": "Hello [1]. See [here](https://evil.example/x) \x1b]0;pwned\x07!",
        }
    )
    claude.use([says(reply)])
    ended = footnote.run("ask", "--json", "hi")
    assert ended.json["answer"] == "Hello. See here !"
