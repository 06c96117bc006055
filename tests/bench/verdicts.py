"""The time from the last word of an answer to the verdicts on its sentences, on each surface.

Every call of the fake Claude takes 1.5 s. One sentence of each answer is found contradicted and is
then put in other words: the answer is posted, amended when the verdicts are there, and amended
again when the correction is. Slack and Discord are fakes over real sockets; the console is what
its pages are made of. Times count from the last byte of the written answer, to the moment the
platform has taken what is shown.

Run: python -m tests.bench verdicts [--quick]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.answers import Answer
from bot.app import open_app
from bot.configuration import load_settings
from bot.messages import RunOptions
from bot.posting import Poster, PostState, Reply, RunRef
from bot.search.indexer import Indexer
from tests.bench.overhead import question, write_documents
from tests.bench.table import print_table
from tests.contract.discord_harness import discord_stage
from tests.contract.harness import PlatformHarness
from tests.contract.slack_harness import slack_stage
from tests.contract.web_harness import web_stage
from tests.fakes.claude import FakeClaude, says
from tests.fakes.claude import Reply as Said
from tests.fakes.claude_brain import SENTENCE, paraphraser
from tests.fakes.server import serve

SECONDS = 1.5  # that a call of the model takes
QUICK_SECONDS = 0.05
RUNS = 3
WITHIN = 2.0  # seconds, from the last word to the mark

SURFACES: Mapping[str, Callable[[Path], AbstractAsyncContextManager[PlatformHarness]]] = {
    "slack": slack_stage,
    "discord": discord_stage,
    "web": web_stage,
}


def wrong_once(request: Mapping[str, Any]) -> Said:
    """As ``paraphraser``, but of two sentences that are verified the first is contradicted."""
    content = str(request["messages"][-1]["content"])
    found = SENTENCE.findall(content)
    if "<sentence " not in content:
        return paraphraser(request)
    if "verdict=" in content:
        return says(
            json.dumps(
                {"sentences": [{"sentence": 1, "text": "It was built then.", "quotes": [1]}]}
            )
        )
    verdicts = [
        {
            "sentence": int(number),
            "verdict": "contradicted" if number == "1" else "supported",
            "words": "",
        }
        for number, _, _ in found
    ]
    return says(json.dumps({"verdicts": verdicts}))


@dataclass
class Timed:
    """A poster whose replies note when the platform has taken them, of ``time.time``."""

    poster: Poster
    taken: list[float] = field(default_factory=list)
    amends = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.poster, name)

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        reply = await self.poster.open(run, saved)
        finish = reply.finish

        async def timed(answer: Answer) -> None:
            await finish(answer)
            self.taken.append(time.time())

        reply.finish = timed  # type: ignore[method-assign]
        return reply


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the last word."""

    posted: float
    judged: float
    marked: float
    corrected: float


async def measured(surface: str, seconds: float, runs: int) -> list[Times]:
    """The times of some answers on a surface."""
    claude = FakeClaude(wrong_once, first_token=seconds)
    with tempfile.TemporaryDirectory() as name, serve(claude) as url:
        folder = Path(name)
        (folder / "docs").mkdir()
        write_documents(folder / "docs")
        settings = load_settings(
            data_dir=folder / "data",
            docs=(str(folder / "docs"),),
            anthropic_api_key="sk-test",
            anthropic_base_url=url,
        )
        Indexer(settings.index_path).index(settings.docs)
        async with SURFACES[surface](folder) as stage:
            poster = Timed(stage.poster())
            platform = stage.ask("Is it there?").thread.platform
            found = []
            async with open_app(settings, {platform: poster}) as app:
                for number in range(runs):
                    claude.requests.clear()
                    poster.taken.clear()
                    message = stage.ask(question(number))
                    run_id, _ = await app.service.accept(message, RunOptions())
                    await app.dispatcher.submit(run_id, message.thread)
                    await app.dispatcher.wait(run_id)
                    found.append(_times(claude, poster.taken))
            return found


def _times(claude: FakeClaude, taken: Sequence[float]) -> Times:
    *_, written, judged, _restated = claude.requests
    assert "<sentence " not in str(written.body["messages"]), "the answer was not written last"
    assert len(taken) == 3, f"posted {len(taken)} times, not thrice"
    at = [each - written.ended for each in (taken[0], judged.ended, taken[1], taken[2])]
    return Times(*at)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="verdicts", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look in seconds, a fast model")
    parser.add_argument("--surface", choices=SURFACES, help="only this one")
    given = parser.parse_args(arguments)
    seconds, runs = (QUICK_SECONDS, 1) if given.quick else (SECONDS, RUNS)
    rows = []
    for surface in (given.surface,) if given.surface else SURFACES:
        times = asyncio.run(measured(surface, seconds, runs))
        cells = [_median(times, name) for name in ("posted", "judged", "marked", "corrected")]
        rows.append((surface, *(f"{cell:.2f} s" for cell in cells), f"< {WITHIN:.0f} s"))
    header = (
        "from the last word",
        "posted",
        "verdicts",
        "marks shown",
        "corrected",
        "marks, target",
    )
    print_table(header, rows)


def _median(times: Sequence[Times], name: str) -> float:
    values: list[float] = [getattr(each, name) for each in times]
    return statistics.median(values)


if __name__ == "__main__":
    main([])
