from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import sqlite
from tests.fakes.server import serve
from tests.scenario.acme import Acme, open_acme
from tests.scenario.discord_place import open_discord
from tests.scenario.gate import Gate
from tests.scenario.places import OpenPlace, Place
from tests.scenario.program import CommandLine, Program
from tests.scenario.serving import ForkServer
from tests.scenario.slack_place import open_slack
from tests.scenario.web_place import open_web

PLACES: dict[str, OpenPlace] = {"slack": open_slack, "discord": open_discord, "web": open_web}

everywhere = pytest.mark.parametrize("place", PLACES, indirect=True)

DOCUMENTS = {
    "travel.md": """# Travel policy

Travel is approved by the head of department. A journey that costs more than 2,000 euros is
approved by Maria Keller, the finance director.

## Trains

First class is paid for journeys of more than four hours. Tickets are booked at least 14 days
ahead through the travel desk.
""",
    "keys.md": """# Keys

The master key is rotated every 90 days by the security team. A lost key is reported to the
security team within one hour.
""",
    "food/canteen.txt": "The canteen is open from 11:30 to 14:00. Lunch costs 6.50 euros.\n",
    "history.html": """<html><head><title>Company history</title></head><body><article>
<h1>Company history</h1><p>The company was founded in Bremen in 1987 by Maria Keller and Jonas
Brandt. It moved to Hamburg in 1994, where it has had its offices in an old coffee store in the
harbour ever since.</p></article></body></html>""",
    "zh.md": "# 差旅\n\n差旅费用超过两千欧元时，由财务总监批准。火车票需要提前十四天预订。\n",
}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder of company documents."""
    folder = tmp_path / "documents"
    for name, text in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def footnote(tmp_path: Path, fork_server: ForkServer) -> Program:
    """The program with nothing configured."""
    return Program(tmp_path, starter=fork_server)


@pytest.fixture
def alone(footnote: Program) -> Program:
    """The same, started from the command line."""
    return replace(footnote, starter=CommandLine())


@pytest.fixture(
    params=["slack", *(pytest.param(name, marks=pytest.mark.slow) for name in ("discord", "web"))]
)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """The other two are slow, but for what has the mark ``everywhere``: the contracts of
    ``tests/contract`` hold what platforms do differently."""
    with PLACES[request.param]() as place:
        yield place


@pytest.fixture
def acme() -> Iterator[Acme]:
    with open_acme() as acme:
        yield acme


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def chatty(footnote: Program, documents: Path, place: Place) -> Program:
    """The program connected to the place, with documents, an empty store and without a model."""
    sqlite.migrated(footnote.folder / "data")
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **place.settings}
    return footnote


@pytest.fixture
def thinking(chatty: Program, gate: Gate) -> Iterator[Program]:
    """The same with Claude, who can be made to wait."""
    with serve(gate) as url:
        chatty.settings |= {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
        yield chatty
