"""Every bench runs at its smallest size, so that none rots while nobody measures with it."""

from __future__ import annotations

import re

import pytest

from tests.bench.__main__ import BENCHES, main

LOGGED = re.compile(r"\[(debug|info|warning|error|critical) *\]|\blevel=")
"""Lines of the log, whose place is stderr: what benches print is read by people and programs."""
WITH_DATA = {"tokens", "rivals", "multihop", "follow_ups", "check", "extraction", "citations"}
"""Benches that read the public data sets."""
ELSEWHERE = {
    "documentation": "tests/unit/bench/test_documentation.py",
    "crash": "tests/scenario/test_crash_campaign.py",
    "flat": "tests/unit/bench/test_flat.py",
}
"""Benches whose work another test does at its smallest size."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.shared if name in WITH_DATA else ())
        for name in BENCHES
        if name not in ELSEWHERE
    ],
)
def test_a_bench_runs_to_its_end(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([name, "--quick"])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= 5  # two are its name
    assert [line for line in printed if LOGGED.search(line)] == []
