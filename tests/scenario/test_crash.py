"""Kill -9 around every commit of a run: it continues, and nothing finished is done again."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.claude import FakeClaude
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.crashing import Crashing, crashing
from tests.scenario.program import Program

QUESTION = "Could you tell me when the band AC/DC was formed, and in which city?"

REQUESTS_OF_A_SEARCH = 4  # titles, title search, text search, text search with fewer words


class Campaign:
    """Runs that die when told, against peers that count."""

    def __init__(self, process: Crashing, claude: FakeClaude, wiki: FakeWiki) -> None:
        self._process = process
        self.claude = claude
        self.wiki = wiki

    def ask(self, folder: Path, commit: int = 0, *, after: bool = False) -> dict[str, Any]:
        return self._process.do(folder, commit, question=QUESTION, after=after)

    def forget(self) -> None:
        self.claude.requests.clear()
        self.wiki.calls.clear()

    def model_calls(self) -> Counter[str]:
        return Counter(request.key for request in self.claude.requests if request.finished)

    def wiki_calls(self) -> Counter[str]:
        """Searches and reads; what a wiki is asked about itself once per process is no step."""
        return Counter(
            json.dumps(dict(call.parameters), sort_keys=True)
            for call in self.wiki.calls
            if call.parameters.get("meta") != "siteinfo"
        )


def spent_in(folder: Path) -> tuple[int, ...]:
    """The total spending in a data folder's database, the prompt cache aside."""
    with sqlite3.connect(folder / "footnote.sqlite") as db:
        counted = db.execute(
            "SELECT sum(questions), sum(model_calls), sum(output_tokens), "
            "sum(input_tokens + cached_tokens) FROM spending WHERE scope = 'user'"
        ).fetchone()
    return tuple(counted)


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    claude, wiki = FakeClaude(), FakeWiki()
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        program = Program(tmp_path)
        environment = program.environment(
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": claude_url,
                "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
                "bot.reasoning.model_service.RETRIES": "0",
                # What is done ahead is no step: nobody paid for it, and it may be done again.
                "bot.service.research_service.PREFETCHED_PAGES": "0",
            }
        )
        with crashing(environment) as process:
            yield Campaign(process, claude, wiki)


def test_killed_around_any_commit_a_run_continues_and_repeats_nothing_finished(
    campaign: Campaign, tmp_path: Path
) -> None:
    whole = campaign.ask(tmp_path / "whole")
    assert whole["status"] == "answered", whole
    expected = json.loads(whole["out"])
    model_calls, wiki_calls = campaign.model_calls(), campaign.wiki_calls()
    assert sum(model_calls.values()) >= 3
    assert sum(wiki_calls.values()) >= 2

    for commit in range(1, whole["commits"] + 1):
        # After the last commit the run is over, and asking again is another question.
        for after in (False, True) if commit < whole["commits"] else (False,):
            moment = f"{'after' if after else 'before'} commit {commit} of {whole['commits']}"
            folder = tmp_path / f"{commit}-{after}"
            campaign.forget()
            died = campaign.ask(folder, commit, after=after)
            assert died["died"], moment
            done = campaign.model_calls(), campaign.wiki_calls()
            again = campaign.ask(folder)
            assert again["status"] == "answered", moment
            answer = json.loads(again["out"])
            for same in ("answer", "citations", "question", "queries"):
                assert answer[same] == expected[same], f"{same} {moment}"
            assert answer["usage"]["model_calls"] == expected["usage"]["model_calls"], moment
            assert spent_in(folder) == spent_in(tmp_path / "whole"), f"paid for once {moment}"
            # One step may have been finished by the peer and not yet kept by us; none after a
            # commit, for then nothing was in flight but what the commit kept.
            for now, before, most in (
                (campaign.model_calls(), model_calls, 0 if after else 1),
                (campaign.wiki_calls(), wiki_calls, 0 if after else REQUESTS_OF_A_SEARCH),
            ):
                repeated = now - before
                assert sum(repeated.values()) <= most, f"{moment}: {repeated}"
                assert set(now) == set(before), moment
            assert done[0] <= campaign.model_calls(), moment
