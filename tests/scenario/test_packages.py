"""A package of a third party, installed from a folder, adds parts to the running program."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.program import REPOSITORY, Program
from tests.scenario.serving import BRISK, ending, start_alone

PACKAGE = Path(__file__).parent / "package"
ENTRY_POINTS = """[footnote.platforms]
letterbox = letterbox:PLATFORM

[footnote.strategies]
first-page = first_page:STRATEGY

[footnote.reasoners]
headings = headings:REASONER

[footnote.search_providers]
noticeboard = noticeboard:PROVIDER
"""


def install(folder: Path) -> None:
    """The package as pip leaves it behind: its modules, and metadata with its entry points."""
    folder.mkdir()
    for module in PACKAGE.glob("*.py"):
        if module.stem != "__init__":
            shutil.copy(module, folder)
    metadata = folder / "letterbox-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: letterbox\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    folder.mkdir()
    return folder


@pytest.fixture
def extended(tmp_path: Path, documents: Path, letters: Path) -> Program:
    """Footnote with documents and the package."""
    install(tmp_path / "package")
    settings = {
        "PYTHONPATH": f"{REPOSITORY}:{tmp_path / 'package'}",
        "FOOTNOTE_DOCS": str(documents),
        "FOOTNOTE_LETTERBOX_FOLDER": str(letters),
        "FOOTNOTE_CONSOLE": "off",
        **BRISK,
    }
    return Program(tmp_path, settings)


def answer_to(letters: Path, name: str, seconds: float = 60.0) -> Mapping[str, Any]:
    file = letters / f"{name}.answer"
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if file.is_file() and (text := file.read_text(encoding="utf-8")):
            answer: dict[str, Any] = json.loads(text)
            return answer
        time.sleep(0.02)
    raise AssertionError(f"{name} was not answered")


def test_questions_of_its_platform_are_answered(extended: Program, letters: Path) -> None:
    with ending(start_alone(extended)) as program:
        program.until_said("letterbox")
        (letters / "lunch.question").write_text("When is the canteen open?", encoding="utf-8")
        answer = answer_to(letters, "lunch")
        assert answer["status"] == "answered"
        assert any("11:30 to 14:00" in quote for quote in answer["quotes"])
        assert program.end() == 0
    threads = extended.run("threads", "--json")
    assert [each["key"] for each in json.loads(threads.out)] == ["letterbox:home:hall:lunch"]
    forgotten = extended.run("forget", "user", "letterbox:neighbour", "--yes")
    assert forgotten.code == 0, forgotten.err
    assert json.loads(extended.run("threads", "--json").out) == []


def test_the_doctor_checks_it_and_knows_its_settings(extended: Program) -> None:
    ended = extended.run("doctor", "--verbose")
    assert "Letterbox: letters are taken from" in ended.out
    assert "FOOTNOTE_LETTERBOX_FOLDER" in ended.out
    without = extended.run("doctor", FOOTNOTE_LETTERBOX_FOLDER="")
    assert "Letterbox: not connected. Set FOOTNOTE_LETTERBOX_FOLDER" in without.out


def test_an_unknown_platform_is_told_with_those_there_are(extended: Program) -> None:
    ended = extended.run("forget", "user", "letterbax:neighbour")
    assert ended.code == 2
    assert "discord, letterbox, slack, web, terminal" in ended.err


def test_its_strategy_is_chosen_by_name(extended: Program) -> None:
    ended = extended.run(
        "ask", "--json", "When is the canteen open?", FOOTNOTE_STRATEGY="first-page"
    )
    assert ended.code == 0, ended.err
    assert ended.json["usage"]["pages"] == 1
    assert "11:30 to 14:00" in ended.json["answer"]
    wrong = extended.run("ask", "When is the canteen open?", FOOTNOTE_STRATEGY="last-page")
    assert wrong.code == 2
    assert "auto, check, direct, first-page, graph, iterate, revise" in wrong.err


def test_its_reasoner_is_chosen_by_name(extended: Program) -> None:
    asked = "When is the canteen open?"
    ended = extended.run("ask", "--json", asked, FOOTNOTE_REASONER="headings")
    assert ended.code == 0, ended.err
    assert ended.json["reasoner"] == "headings"
    assert ended.json["answer"].startswith("See “")
    wrong = extended.run("ask", asked, FOOTNOTE_REASONER="footings")
    assert wrong.code == 2
    assert "auto, claude, closest, headings, openai" in wrong.err


def test_its_search_provider_is_asked(extended: Program) -> None:
    notice = "The lift is out of order until Friday, use the stairs in the north wing."
    up = {"FOOTNOTE_NOTICEBOARD_NOTICE": notice}
    ended = extended.run("ask", "--json", "Until when is the lift out of order?", **up)
    assert ended.code == 0, ended.err
    assert "until Friday" in ended.json["answer"]
    assert ended.json["citations"][0]["url"] == "https://noticeboard.example/lift"
