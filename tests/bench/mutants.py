"""Mutation tests: small faults put into modules of the core, one at a time.

A mutant that no test of its module finds is a survivor: behaviour that no test specifies, code that
nothing needs, or a change that changes nothing. The last kind is listed with its reason in
``mutants_explained.toml``. The sample is the same for the same seed, whatever else a module gains.

Why not mutmut, cosmic-ray or mutatest: the first (3.8) leaves decorated functions and everything
outside of functions alone and takes no sample; the second (8.7) drops no statements and writes into
the working tree; the third (3.1) is for Python 3.8 and coverage 5, and writes into its caches.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import os
import signal
import sys
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tests.bench.frame import REPOSITORY, options, print_table, tell
from tests.bench.mutation import Mutant, mutants

EXPLAINED = Path(__file__).with_name("mutants_explained.toml")
AT_ONCE = 2
SLOWER = 3.0  # times as long as without a mutant, and some seconds: then it counts as noticed
SECONDS = 10.0
# Loaded once, for each mutant's process to begin with. Nothing of ours that is to be mutated.
PRELOADED = (
    *("aiohttp", "aiosqlite", "alembic.command", "anthropic", "anthropic.types.beta", "anyio"),
    *("cryptography", "fluent.runtime", "httpx", "hypothesis", "lxml.html", "markdown_it"),
    *("procrastinate", "prometheus_client", "psycopg_pool", "pydantic_settings", "pytest_asyncio"),
    *("schemathesis.pytest.plugin", "sqlalchemy.ext.asyncio", "stamina", "starlette", "structlog"),
    *("tests.bench.mutants", "trafilatura", "typer", "uvicorn", "xdist"),
)
PYTEST = (
    *("-x", "-p", "no:cacheprovider", "--hypothesis-profile=ci"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # plugins are among what is preloaded
)
PASSED = 10  # added to what pytest says: 1 is what Python says of an exception
_context = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True)
class Part:
    """Modules of the core, and what is run to find out whether their tests notice: ``but`` are
    tests that do the same on another database."""

    modules: Sequence[str]
    tests: Sequence[str]
    but: str = ""


PARTS = {
    "check": Part(
        [
            "bot/research/checking.py",
            "bot/research/verification.py",
            "bot/reasoning/judgement_prompts.py",
        ],
        [
            "tests/unit/research/test_checking.py",
            "tests/unit/research/test_composer.py",
            "tests/unit/research/test_write_and_check.py",
            "tests/unit/research/test_verification.py",
            "tests/unit/reasoning/test_judgement_prompts.py",
        ],
    ),
    "journal": Part(
        ["bot/storage/journal.py"],
        ["tests/unit/storage/test_journal.py", "tests/unit/storage/test_spending.py"],
        "postgres",
    ),
    "dispatch": Part(
        ["bot/service/dispatch/*.py"],
        ["tests/unit/service/dispatch", "tests/contract/test_dispatcher.py"],
        "local-postgres",
    ),
    "retention": Part(
        ["bot/storage/removal.py"],
        [
            "tests/unit/storage/test_audit_log.py",
            "tests/unit/storage/test_word_search.py",
            "tests/unit/storage/test_forgetting.py",
            "tests/unit/storage/test_removal.py",
        ],
        "postgres",
    ),
    "access": Part(["bot/service/access.py"], ["tests/unit/service/test_access.py"]),
    "guard": Part(
        ["bot/pages/guard.py"],
        ["tests/unit/pages/test_guard.py", "tests/unit/pages/test_transport.py"],
    ),
    "blend": Part(["bot/search/blend.py"], ["tests/unit/search/test_blend.py"]),
    "budget": Part(
        ["bot/research/budget.py"],
        ["tests/unit/research/test_budget.py", "tests/unit/research/test_run.py"],
    ),
    "forgetting": Part(
        ["bot/storage/forgetting.py", "bot/service/deletion.py"],
        [
            "tests/unit/storage/test_forgetting.py",
            "tests/unit/storage/test_audit_log.py",
            "tests/unit/storage/test_console.py",
            "tests/unit/service/test_deletion.py",
            "tests/unit/cli/test_forget.py",
        ],
        "postgres",
    ),
}


@dataclass(frozen=True, slots=True)
class Placed:
    """A mutant of a module, whose path counts from the root of the repository."""

    path: str
    mutant: Mutant

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.path, self.mutant.before, self.mutant.after


def main(argv: list[str]) -> None:
    parser = options("mutants", __doc__)
    parser.add_argument("--module", choices=PARTS, action="append", help="only this one")
    parser.add_argument("--each", type=int, default=40, help="mutants of a module, at most")
    parser.add_argument("--all", action="store_true", help="all mutants")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--survivors", action="store_true", help="no table")
    arguments = parser.parse_args(argv)
    if arguments.quick:
        arguments.module, arguments.each = ["access"], 1
    _context.set_forkserver_preload([*PRELOADED])
    known = explained()
    rows: list[Sequence[object]] = []
    left: list[Placed] = []
    for name in arguments.module or PARTS:
        tell(name)
        every = placed(PARTS[name])
        tried = every if arguments.all else sample(every, arguments.each, arguments.seed)
        survived = survivors(PARTS[name], tried)
        without_reason = [each for each in survived if each.identity not in known]
        left += without_reason
        told = len(survived) - len(without_reason)
        share = (len(tried) - len(survived)) / max(1, len(tried) - told)
        row = (name, len(every), len(tried), len(tried) - len(survived), len(survived), told)
        rows.append((*row, f"{share:.0%}"))
    for each in left:
        print(f"{each.path}:{each.mutant.line}")
        print(f"  - {each.mutant.before}\n  + {each.mutant.after}")
    if not arguments.survivors:
        print_table(["module", "all", "tried", "killed", "survived", "explained", "share"], rows)


def placed(part: Part) -> list[Placed]:
    """All mutants of a part."""
    paths = [path for pattern in part.modules for path in sorted(REPOSITORY.glob(pattern))]
    return [
        Placed(path.relative_to(REPOSITORY).as_posix(), each)
        for path in paths
        for each in mutants(path.read_text(encoding="utf-8"))
    ]


def sample(every: Sequence[Placed], number: int, seed: int) -> list[Placed]:
    """So many of them, the same ones whatever mutants there are besides, in their order."""
    by_chance = sorted(every, key=lambda each: _chance(each, seed))
    chosen = {id(each) for each in by_chance[:number]}
    return [each for each in every if id(each) in chosen]


def _chance(each: Placed, seed: int) -> str:
    return hashlib.sha256(repr((seed, each.identity)).encode()).hexdigest()


def explained() -> dict[tuple[str, str, str], str]:
    """The reasons why mutants change nothing that anybody could notice."""
    listed = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["mutant"]
    return {(each["path"], each["before"], each["after"]): each["reason"] for each in listed}


# ---------------------------------------------------------------- running the tests


def survivors(part: Part, tried: Sequence[Placed]) -> list[Placed]:
    """Those with which all tests pass. Exits if some fail without any."""
    began = time.monotonic()
    if _notices(part, None):
        sys.exit(f"The tests fail as it is: pytest {' '.join(part.tests)}")
    limit = SLOWER * (time.monotonic() - began) + SECONDS
    with ThreadPoolExecutor(AT_ONCE) as pool:
        noticed = pool.map(lambda each: _notices(part, each, limit), tried)
        left = []
        for number, (each, is_noticed) in enumerate(zip(tried, noticed, strict=True), 1):
            if not is_noticed:
                left.append(each)
                tell(f"{number} of {len(tried)}: {each.path}:{each.mutant.line} survived")
        return left


def _notices(part: Part, placed: Placed | None, limit: float | None = None) -> bool:
    """Return True if a test fails, or none comes to its end in time (seconds)."""
    process = _context.Process(target=_run_tests, args=(part, placed))
    process.start()
    process.join(limit)
    if process.exitcode is None:
        assert process.pid is not None
        os.killpg(process.pid, signal.SIGKILL)  # with the servers that its tests started
        process.join()
    assert process.exitcode != 1, "the bench itself broke"
    return process.exitcode != PASSED


def _run_tests(part: Part, placed: Placed | None) -> None:
    """In a process of its own, which leads a group."""
    os.setsid()
    os.chdir(REPOSITORY)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    if placed is not None:
        sys.meta_path.insert(0, _Mutated(placed))
    sys.dont_write_bytecode = False
    chosen = ("-k", f"not {part.but}") if part.but else ()
    sys.exit(PASSED + pytest.main([*PYTEST, *chosen, *part.tests]))


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from its mutated source; the working tree stays as it is."""

    def __init__(self, placed: Placed) -> None:
        self._path = REPOSITORY / placed.path
        self._name = placed.path.removesuffix(".py").replace("/", ".")
        self._source = placed.mutant.source

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, self._path, "exec"), module.__dict__)
