"""Fixtures and hooks of all tests: no settings from outside, no skips in CI."""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import structlog
from hypothesis import HealthCheck, settings
from pydantic import AliasChoices

from bot.operation.configuration import settings_class
from tests.fakes import sqlite
from tests.fakes.postgres import Postgres, a_postgres
from tests.scenario.serving import ForkServer

# How fast a machine is, and how busy, is no property of the code.
settings.register_profile(
    "any", deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
# For a change of a parser, a splitter or the guard: pytest --hypothesis-profile=thorough
settings.register_profile("thorough", settings.get_profile("any"), max_examples=1000)
# In CI the same every time; elsewhere new ones, which find unforeseen cases.
settings.register_profile("ci", settings.get_profile("any"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "any")

# Compiled once: the programs that tests start would each spend two seconds on it, and on these
# tests themselves whoever runs them again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
# Tests of values and pure functions, and of the run: what a contributor runs while writing.
FAST = (
    "tests/unit/text/",
    "tests/unit/rendering/",
    "tests/unit/reasoning/",
    "tests/unit/research/",
    "tests/unit/test_architecture.py",
    "tests/unit/core/test_messages.py",
    "tests/contract/test_strategy.py",
)
# Of these the ones over whole data sets, and of SDKs over sockets, take longer than all others.
LONG = ("test_reasoner_data.py", "test_facts_data.py", "test_graph_replay.py", "test_endpoint.py")
# What needs more than Python and pip (servers, a browser, node, the history of the repository), or
# takes longest: installations, crash campaigns and benches. So does every test with ``shared``.
SLOW = (
    "tests/live/",
    "tests/scenario/test_chat_crash.py",
    "tests/scenario/test_crash.py",
    "tests/scenario/test_crash_campaign.py",
    "tests/scenario/test_packages.py",
    "tests/unit/bench/test_benches.py",
    "tests/unit/search/test_indexer_crash.py",
)
OURS = ("FOOTNOTE_", "ANTHROPIC_", "OPENAI_", "SLACK_", "DISCORD_")
KEYS = {  # what search providers are told under names of their own
    str(name)
    for field in settings_class().model_fields.values()
    if isinstance(field.validation_alias, AliasChoices)
    for name in field.validation_alias.choices
}


def log_with_plain_tracebacks() -> None:
    """structlog as it is by default, but for Rich's tracebacks: each takes 0.1 s to draw."""
    structlog.reset_defaults()
    processors = structlog.get_config()["processors"][:-1]
    formatter = structlog.dev.plain_traceback
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=formatter)
    structlog.configure(processors=[*processors, plain])


log_with_plain_tracebacks()

# Clients of HTTP over loopback need no certificates; reading the machine's takes 60 ms for each.
for library in (httpx, httpx2):
    transports: Any = importlib.import_module(f"{library.__name__}._transports.default")
    transports.create_ssl_context = functools.cache(library.create_ssl_context)

sqlite.compile_each_statement_once()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(OURS) or name in KEYS:
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _log_configured_by_one_test_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo ``configure_logging``: it keeps the stderr of the test, which is closed after it."""
    monkeypatch.setattr("bot.core.logs._level", logging.NOTSET)
    monkeypatch.setattr("bot.core.logs._format", "console")
    monkeypatch.setattr("bot.core.logs._is_set_up", True)
    yield
    log_with_plain_tracebacks()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets beside the repository."""
    return SHARED / "data"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this test process."""
    with a_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """An empty database of it, with today's schema, for as long as the test takes."""
    with postgres.lent() as url:
        yield url


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """Starts programs cheaply; one process for all tests of this one."""
    fork_server = ForkServer()
    yield fork_server
    fork_server.close()


@pytest.fixture
def reading_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, for modules that are about what is done with them."""
    from tests.unit.search.readers import Inside

    monkeypatch.setattr("bot.search.indexer.Readers", Inside)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the collector of garbage what is there from the start.

    Twelve thousand tests and the modules that they import are never garbage: looking at them again
    and again takes a fifth of the collection, and a tenth of the tests.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.relative_to(ROOT)
        if path.as_posix().startswith(SLOW) or item.get_closest_marker("shared"):
            item.add_marker("slow")
        elif path.as_posix().startswith(FAST) and path.name not in LONG:
            item.add_marker("fast")
    if not SHARED.is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="the public data sets are not there"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report  # type: ignore[return-value]
