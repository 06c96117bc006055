"""Short stages for the tests of reports."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def short_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    for stage, seconds in {"DRAFT": 10.0, "QUERY": 2.0, "READING": 5.0, "REVISION": 8.0}.items():
        monkeypatch.setattr(f"bot.research.report.{stage}_SECONDS", seconds)
