"""The command line: each command is in a module of its own, loaded when it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

import bot.cli
from bot.cli.main import COMMANDS, command_named
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer

SHARED = {"__init__", "command", "main", "output", "records"}


def test_every_module_is_a_command() -> None:
    modules = {file.stem for file in Path(bot.cli.__file__).parent.glob("*.py")}
    assert modules - SHARED == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_of_a_command_what_its_module_says(name: str) -> None:
    assert " ".join(command_named(name).help.split("\n\n")[0].split()) == COMMANDS[name]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--help",), 0, "Answer one question, with footnotes."),
        (("ask", "--help"), 0, "--depth"),
        (("forget", "thread", "-h"), 0, "--dry-run"),
        (("db",), 2, "prune"),
        (("indx",), 2, "Did you mean 'index'"),
        (("audit", "exprt"), 2, "No such command 'exprt'"),
        (("ask",), 2, "Missing argument 'QUESTION'"),
        (("check", "nowhere.txt"), 2, "nowhere.txt cannot be read"),
    ],
)
def test_calls_and_errors(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path, fork_server: ForkServer
) -> None:
    ended = Program(tmp_path, starter=fork_server).run(*words)
    assert ended.code == code, ended.err
    assert said in " ".join((ended.out + ended.err).split())
