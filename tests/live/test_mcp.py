"""The Model Context Protocol with others' programs: Footnote's server as npm's inspector sees it,
and the protocol's reference servers as what Footnote searches."""

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
    """The result of one request, as the inspector prints it."""
    ended = subprocess.run(
        [
            str(node()),
            str(MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
            "--cli",
            *target,
            *arguments,
            *("--connect-timeout", str(round(PATIENCE * 1000))),  # milliseconds
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


# ---------------------------------------------------------------- as a client

MEMORY = """{"type":"entity","name":"Anna Berg","entityType":"person","observations":\
["Anna Berg approves journeys that cost more than 2,000 euros.","She sits in Bremen."]}
{"type":"entity","name":"Jonas Brandt","entityType":"person","observations":\
["Jonas Brandt keeps the keys of the lighthouse."]}
""".replace("\\\n", "")


def entry(name: str, *arguments: str, **more: str) -> str:
    """``[[mcp]]`` for a reference server."""
    module = MODULES / f"@modelcontextprotocol/server-{name}/dist/index.js"
    command = json.dumps([str(node()), str(module), *arguments])
    rest = "".join(f"{key} = {value}\n" for key, value in more.items())
    return f'[[mcp]]\nname = "{name}"\ncommand = {command}\neverybody = true\n{rest}'


def test_the_reference_servers_are_searched_and_nothing_of_them_is_changed(tmp_path: Path) -> None:
    files, memory = tmp_path / "files", tmp_path / "memory.jsonl"
    files.mkdir()
    (files / "lighthouse built.md").write_text(
        "# Lighthouse\n\nThe lighthouse was built in 1887.\n"
    )
    memory.write_text(MEMORY)
    by_name = f'{{ path = "{files}", pattern = "**/*{{query}}*" }}'
    (tmp_path / "footnote.toml").write_text(
        'data_dir = "data"\n'
        + entry("memory", env=f'{{ MEMORY_FILE_PATH = "{memory}" }}')
        + entry(
            "filesystem",
            str(files),
            search='["search_files"]',
            read='"read_text_file"',
            arguments=f"{{ search_files = {by_name} }}",
        )
        + entry(
            "everything",
            "stdio",
            search='["get-resource-links", "gzip-file-as-resource"]',
            arguments='{ get-resource-links = { count = 3, words = "{query}" } }',
        )
    )
    program = Program(tmp_path)

    said = " ".join(program.run("doctor").out.split())
    assert (
        "Search (memory): It is searched with search_nodes. Pages are read with open_nodes." in said
    )
    assert (
        "Search (filesystem): It is searched with search_files. Pages are read with read_text"
        in said
    )
    assert "Search (everything): It is searched with get-resource-links." in said
    assert "gzip-file-as-resource says that it changes something, and is not called" in said

    asked = program.run("ask", "--json", "--provider", "memory", "Who is Anna Berg?").json
    assert "Anna Berg approves journeys" in asked["answer"]
    assert asked["citations"][0]["url"] == "mcp:/memory/Anna%20Berg"

    asked = program.run("ask", "--json", "--provider", "filesystem", "lighthouse built").json
    assert "built in 1887" in asked["answer"]

    asked = program.run("ask", "--json", "--provider", "everything", "plaintext resource").json
    assert asked["status"] in ("answered", "not_found"), asked  # its words are about nothing
    assert "everything:" not in " ".join(asked["notes"])
    assert memory.read_text() == MEMORY
    assert [file.name for file in files.iterdir()] == ["lighthouse built.md"]
