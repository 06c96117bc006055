"""Exhaustive research with the real program: in rounds, until one finds nothing new."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.core.lines import LOCAL
from tests.fakes.claude import Fail, FakeClaude, Fault, Reply, researcher, says, tool
from tests.fakes.claude_requests import desk_pages, search_results, tagged, user_texts
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.discord_place import DiscordPlace
from tests.scenario.gate import Gate
from tests.scenario.places import KEYS, Place, the_answer, until_shown
from tests.scenario.program import Ended, Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import GENERAL

ISLES = [f"{first}{last}" for first in ("Nor", "Sand", "Ey", "Kal") for last in
         ("holm", "vik", "strand", "ness", "fjord", "mark", "dal", "berg")]  # fmt: skip
DARK = ["Thule", "Avalon"]  # isles without a lighthouse, or a page
QUESTION = "List every lighthouse of the Grey Isles with the year in which it was lit."
IN_A_ROUND = 6  # searches, of two isles each


@dataclass
class Explorer:
    """Looks for each isle by its name; ``hold`` is the number of the call that is held, if any."""

    hold: int = 0
    calls: int = 0
    reached: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        self.calls += 1
        reply = explored(request) if request.get("tools") else researcher(request)
        if self.calls == self.hold:
            self.reached.set()
            return replace(reply, fault=Fault("stall", seconds=600))
        return reply


def explored(request: Mapping[str, Any]) -> Reply:
    shown = "\n".join(user_texts(request))
    searches = json.dumps(request["messages"]).count('"name": "search"')
    tried = (tagged(shown, "tried") or "") + json.dumps(request["messages"])
    left = [isle for isle in (*ISLES, *DARK) if f"{isle} lighthouse" not in tried]
    id = f"toolu_{len(request['messages'])}"
    if left and searches < IN_A_ROUND:
        return says(tool("search", {"queries": [f"{isle} lighthouse" for isle in left[:2]]}, id))
    known = tagged(shown, "known") or ""
    lit = {
        number: found[0]
        for number, body in desk_pages(request).items()
        if (found := re.search(r"\w+ Light was lit in \d+", body)) and found[0] not in known
    }
    done = {
        "use": [str(number) for number in lit],
        "findings": [{"text": said, "pages": [number]} for number, said in lit.items()],
        "missing": [f"the lighthouse of {isle}" for isle in DARK] if not left else [],
        "enough": not left,
        "answer": "",
    }
    return says(tool("finish", done, id))


@pytest.fixture
def explorer() -> Explorer:
    return Explorer()


@pytest.fixture
def claude(explorer: Explorer) -> FakeClaude:
    return FakeClaude(explorer)


@pytest.fixture
def isles(tmp_path: Path, fork_server: ForkServer, claude: FakeClaude) -> Iterator[Program]:
    pages = {
        f"{isle} Light": f"'''{isle} Light''' is a lighthouse. {isle} Light was lit in {1801 + at}."
        for at, isle in enumerate(ISLES)
    }
    with serve(claude) as claude_url, serve(FakeWiki(pages).app) as wiki_url:
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


def ask(isles: Program, *options: str) -> Ended:
    return isles.run("ask", *options, "--depth", "exhaustive", QUESTION)


def test_limits_come_first_then_rounds_until_one_finds_nothing_new(isles: Program) -> None:
    ended = ask(isles)
    told = [line.split("  ")[0] for line in ended.err.splitlines()]
    assert told == [
        "✓ Understand the question",
        "✓ Up to 150 searches, 40 minutes and about 4.00 USD. "
        "Stop it at any time to get what was found.",
        "✓ After 13 of 150 searches: 12 facts found",
        "✓ After 25 of 150 searches: 24 facts found",
        "✓ After 35 of 150 searches: 32 facts found",
        "✓ After 35 of 150 searches: 32 facts found",
        "✓ Write the answer",
    ]


def test_the_answer_rests_on_all_rounds_and_says_what_was_looked_for(
    isles: Program, claude: FakeClaude
) -> None:
    answer = ask(isles, "--json").json
    assert answer["usage"]["searches"] == 35
    assert answer["missing"] == [f"the lighthouse of {isle}" for isle in DARK]
    assert answer["answer"].endswith(
        "Not found: - the lighthouse of Thule - the lighthouse of Avalon"
    )
    [writing] = [call for call in claude.calls if "The block quote at the end says" in str(call)]
    passages = str(search_results(writing))
    assert [isle for isle in ISLES if f"{isle} Light was lit in" not in passages] == []
    assert "Norvik lighthouse; " in (tagged("\n".join(user_texts(writing)), "tried") or "")


def test_stopped_it_gives_each_fact_of_the_rounds_that_ended(
    isles: Program, explorer: Explorer
) -> None:
    explorer.hold = 13  # in the second round
    process = isles.start("ask", "--json", "--depth", "exhaustive", QUESTION)
    assert explorer.reached.wait(60)
    process.signal(signal.SIGINT)
    answer = process.finish().json
    assert answer["status"] == "stopped"
    lines = answer["answer"].splitlines()
    assert len(lines) == 12
    assert lines[0] == "- Norholm Light was lit in 1801 [1]"
    assert len(answer["citations"]) == 12


@pytest.mark.slow
def test_killed_it_goes_on_where_it_was(
    isles: Program, claude: FakeClaude, explorer: Explorer
) -> None:
    explorer.hold = 13
    process = isles.start("ask", "--depth", "exhaustive", QUESTION)
    assert explorer.reached.wait(60)
    process.signal(signal.SIGKILL)
    process.finish()
    finished = {request.key for request in claude.requests if request.finished}
    claude.requests.clear()
    answer = ask(isles, "--json").json
    assert answer["usage"]["searches"] == 35
    assert len(answer["missing"]) == len(DARK)
    assert len(finished) == 12
    assert finished & {request.key for request in claude.requests} == set()


@pytest.mark.slow
@pytest.mark.parametrize(("calls", "facts"), [(12, 12), (22, 32)])  # the second can only write
def test_when_the_model_goes_away_the_facts_found_are_the_answer(
    isles: Program, claude: FakeClaude, explorer: Explorer, calls: int, facts: int
) -> None:
    claude.use(lambda request: Fail(529) if explorer.calls == calls else explorer(request))
    answer = ask(isles, "--json").json
    assert len(answer["answer"].splitlines()) == facts
    assert any("quoted without the model" in note for note in answer["notes"])


def test_what_ends_it_early_is_said(isles: Program) -> None:
    most = {"bot.research.budget.EXHAUSTIVE_SEARCHES": "25"}
    ended = isles.run("ask", "--json", "--depth", "exhaustive", QUESTION, **most)
    assert ended.json["status"] == "partial"
    assert ended.json["usage"]["searches"] == 25
    assert "The budget of 25 searches was spent." in ended.json["notes"]


def test_a_rule_of_the_channel_may_choose_it_in_chat(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    known = {"slack": GENERAL, "web": LOCAL}
    channel = place.general.id if isinstance(place, DiscordPlace) else known[place.name]
    rules = json.dumps({channel: {"depth": "exhaustive"}})
    with running(fork_server, thinking, place, FOOTNOTE_CHANNELS=rules):
        gate.hold(after=1)  # understanding
        said = place.ask(KEYS)
        gate.wait_held()
        until_shown(place, said, "Up to 150 searches, 40 minutes and about 4.00 USD.")
        gate.release()
        answer = the_answer(place, said)
        assert "90 days" in answer
        assert "Dig deeper" not in answer
