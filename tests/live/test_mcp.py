"""Footnote's server of the Model Context Protocol, as npm's inspector of the protocol sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live.emulate import MODULES, node
from tests.scenario.program import PATIENCE, Program
from tests.scenario.serving import ending, start_alone

pytestmark = pytest.mark.live

TOKEN = "a-token-of-the-console"
QUESTION = "How often is the master key rotated?"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text(
        "# Keys\n\nThe master key is rotated every 90 days by the security team.\n"
    )
    # Programs that start a server pass little of their own environment on.
    (tmp_path / "footnote.toml").write_text('docs = ["docs"]\ndata_dir = "data"\n')
    return Program(tmp_path, {"FOOTNOTE_CONSOLE_TOKEN": TOKEN})


def inspected(program: Program, target: list[str], *arguments: str) -> dict[str, Any]:
    """What the inspector prints of one request."""
    ended = subprocess.run(
        [
            str(node()),
            str(MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
            "--cli",
            *target,
            *arguments,
        ],
        cwd=program.folder,
        env=program.environment({"HOME": str(program.folder)}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def walk(program: Program, target: list[str]) -> None:
    tools = inspected(program, target, "--method", "tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools] == ["ask", "search", "read"]

    call = ("--method", "tools/call", "--tool-name", "ask", "--tool-arg", f"question={QUESTION}")
    told = inspected(program, target, *call)["structuredContent"]
    assert told["status"] == "answered"
    assert "rotated every 90 days" in told["citations"][0]["quote"]

    uri = told["resource"]
    listed = inspected(program, target, "--method", "resources/list")["resources"]
    assert uri in [each["uri"] for each in listed]
    page = inspected(program, target, "--method", "resources/read", "--uri", f"{uri}/pages/1")
    assert "The master key" in page["contents"][0]["text"]


def test_the_inspector_walks_footnote_mcp(program: Program) -> None:
    walk(program, [sys.executable, "-m", "bot", "mcp"])


def test_the_inspector_walks_mcp_of_footnote_serve(program: Program) -> None:
    with ending(start_alone(program)) as serving:
        serving.until_said("web is connected.")
        walk(program, [f"{serving.http}/mcp", "--header", f"Authorization: Bearer {TOKEN}"])
