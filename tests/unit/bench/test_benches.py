"""Every bench runs at its smallest size, so that none rots while nobody measures with it.

Some start whole servers and take up to 15 s of processor time each: those run in CI.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.bench.__main__ import BENCHES, main
from tests.bench.chat_stage import HANDBOOK
from tests.scenario.serving import ForkServer
from tests.unit.bench.forked import Forked

LOGGED = re.compile(r"\[(debug|info|warning|error|critical) *\]|\blevel=")
"""Lines of the log, whose place is stderr: what benches print is read by people and programs."""


@dataclass(frozen=True, slots=True)
class Small:
    """The smallest size of a bench: its arguments, and constants by ``module.NAME``."""

    arguments: Sequence[str] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)


# What is preloaded for all modules takes longer to load than the two runs of the smallest size.
PRELOADED = (
    *("anyio", "httpx", "hypothesis", "psycopg", "pydantic_settings", "pytest_asyncio"),
    *("schemathesis.pytest.plugin", "sqlalchemy.ext.asyncio", "structlog", "tests.bench.mutants"),
)
SMALLEST = {
    "startup": Small(["--quick"], {"startup.UNCOUNTED": 0}),
    "overhead": Small(["--quick"]),
    "tokens": Small(["--questions", "1"]),
    "multihop": Small(["--questions", "1", "--pages", "20", "--every", "1190"]),
    "verdicts": Small(["--quick", "--surface", "slack"]),
    "check": Small(["--items", "4", "--failures"]),
    "queries": Small(["--questions", "1"]),
    "own_words": Small(["--questions", "1", "--asked", "1", "--model", "words", "--set", "across"]),
    "quotes": Small(["--every", "400"]),
    "gallery": Small(["--questions", "1"]),
    "indexing": Small(["--passages", "100", "--questions", "1"]),
    "extraction": Small(["--every", "90"], {"extraction.LONG": 5_000, "extraction.AT_ONCE": (2,)}),
    "memory": Small(["--quick", "--only", "^table.md"]),
    "mutants": Small(
        ["--module", "access", "--each", "1"],
        {"mutants.PRELOADED": PRELOADED},
    ),
    "answered": Small(["--answers", "40", "--questions", "2"]),
    "walk": Small(["--list"]),
    "run_page": Small([], {"run_page.ROUNDS": 1}),
    "streams": Small(
        [],
        {
            "streams.SIZES": (3,),
            "streams.MANY": 3,
            "streams.CHANGES": 2,
            "streams.PAUSE": 0.05,
            "streams.IDLE_SECONDS": 0.1,
            "streams.SETTLE_SECONDS": 0.1,
            "streams.CHURNED": 8,
            "streams.AT_A_TIME": 2,
            "streams.VISITS": 3,
            "streams.WRITE_PAUSE": 0.002,
            "streams.PATIENCE": 0.2,
        },
    ),
    "workspaces": Small(
        ["--workspaces", "4", "--seconds", "0.5", "--rate", "10"],
        {"workspaces.ROUNDS": 1, "workspaces.WORKERS": 1},
    ),
    "language": Small(
        ["--half", "tune"],
        {
            "language.CATALOGUES": "*/LC_MESSAGES/[ai]*.mo",
            "language.OF_EACH": 2,
            "language.EVERY": 50,
        },
    ),
    "hostile": Small(
        ["--seconds", "0.3", "--kind", "one_byte_chunks"],
        {
            "hostile.SERVERS": 2,
            "hostile.QUESTIONS": 1,
            "hostile.LINKS": 2,
            "hostile.LOADS": ("hostile",),
            "hostile.SLOW_LINKS": 1,
            "hostile.GOOD_LINKS": 1,
            "chat_stage.HANDBOOK": HANDBOOK / "processes.md",
        },
    ),
    "chat": Small(
        ["--seconds", "0.3"],
        {
            "chat.STARTS": 1,
            "chat.SETTLE_SECONDS": 0.0,
            "chat.SIGNS": 1,
            "chat.INTERACTIONS": 2,
            "chat.FIRST_TOKEN": 0.05,
            "chat.TOKENS_A_SECOND": 2_000.0,
            "chat.LONG_TOKENS": 600,
            "chat_answers.LONG_TOKENS": 600,
            "chat_load.THREADS": 2,
            "chat_stage.HANDBOOK": HANDBOOK / "processes.md",
        },
    ),
}
WITH_DATA = {
    *("tokens", "multihop", "check", "queries", "own_words"),
    *("quotes", "indexing", "extraction", "language"),
}
"""Benches that read the public data sets."""
FORKED = ("workspaces", "hostile", "chat")
"""Benches that start several programs. "memory" shows that they are started as a person would."""
ELSEWHERE = {
    "depth": "tests/unit/bench/test_depth.py",
    "rewriting": "tests/unit/bench/test_rewriting.py",
    "documentation": "tests/unit/bench/test_documentation.py",
    "reading": "tests/unit/bench/test_reading.py",
    "crash": "tests/scenario/test_crash_campaign.py",
    "million": "tests/unit/storage/test_scale.py",
}
"""Benches whose work another test does at its smallest size."""
TOO_LONG = {"load", "connections"}
"""Benches that take most of a minute at their smallest size: run them by hand."""


def test_every_bench_is_run_by_a_test() -> None:
    assert SMALLEST.keys() | ELSEWHERE.keys() | TOO_LONG == BENCHES.keys()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.shared if name in WITH_DATA else ())
        for name in SMALLEST
    ],
)
def test_a_bench_runs_to_its_end(
    name: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name in FORKED:
        fork_server: ForkServer = request.getfixturevalue("fork_server")

        def start(arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> Forked:
            return Forked(fork_server, arguments, environment, Path(folder))

        monkeypatch.setattr("tests.bench.programs.start", start)
    small = SMALLEST[name]
    for place, value in small.constants.items():
        monkeypatch.setattr(f"tests.bench.{place}", value)
    main([name, *small.arguments])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= 5  # two are its name
    assert [line for line in printed if LOGGED.search(line)] == []
