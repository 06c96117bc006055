"""The Model Context Protocol: Footnote as its server, and as the client of fakes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.fakes.server import serve
from tests.scenario.gate import Gate
from tests.scenario.places import KEYS, WHO
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

FAKE = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
SALARIES = "# Salaries\n\nThe salary of Jonas Brandt is 7,300 euros a month.\n"
PAYROLL = "What is the salary of Jonas Brandt?"


def words(result: Any) -> str:
    """The text of a tool's result or a resource."""
    return "\n".join(each.text for each in getattr(result, "content", None) or result.contents)


async def test_a_program_that_starts_it_asks_searches_and_reads(
    footnote: Program, documents: Path
) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "bot", "mcp", "--docs", str(documents), "--provider", "local"],
        env=footnote.environment({}),
        cwd=footnote.folder,
    )
    signs: list[tuple[float, str | None]] = []

    async def progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        signs.append((progress, message))

    async with Client(command) as client:
        asked = await client.call_tool("ask", {"question": KEYS}, progress_callback=progress)
        told = asked.structured_content
        assert told is not None, words(asked)
        assert told["status"] == "answered"
        assert "90 days" in told["answer"]
        text = (documents / "keys.md").read_text(encoding="utf-8")
        assert all(cited["quote"] in text for cited in told["citations"])
        assert "  > The master key is rotated every 90 days" in words(asked)
        assert signs == sorted(signs)
        assert signs

        follow_up = await client.call_tool("ask", {"question": WHO, "thread": told["thread"]})
        assert follow_up.structured_content is not None
        assert "security team" in follow_up.structured_content["answer"]
        assert follow_up.structured_content["thread"] == told["thread"]

        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed][-1] == told["resource"]
        assert "90 days" in words(await client.read_resource(told["resource"]))
        page = words(await client.read_resource(f"{told['resource']}/pages/1"))
        assert "A lost key is reported" in page

        found = (await client.call_tool("search", {"query": "canteen"})).structured_content
        assert found is not None
        read = await client.call_tool("read", {"url": found["results"][0]["url"]})
        assert "11:30" in words(read)

        made_up = await client.call_tool("read", {"url": "http://127.0.0.1/?secret=90"})
        assert made_up.is_error
        assert "Only pages that `search` has found" in words(made_up)
        wrong = await client.call_tool("ask", {"question": KEYS, "depth": "bottomless"})
        assert wrong.is_error
        with pytest.raises(MCPError):
            await client.read_resource("footnote://answers/0000")


@asynccontextmanager
async def visiting(serving: Serving, **headers: str) -> AsyncIterator[Client]:
    """A client of the console's ``/mcp`` as one person."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{serving.http}/mcp", http_client=http)) as client,
    ):
        yield client


async def test_over_http_everybody_has_their_own_rights(
    footnote: Program, documents: Path, fork_server: ForkServer
) -> None:
    (documents / "hr").mkdir()
    (documents / "hr" / "salaries.md").write_text(SALARIES, encoding="utf-8")
    (footnote.folder / "footnote.toml").write_text(
        '[[collections]]\nname = "payroll"\npaths = ["documents/hr"]\nconsole_groups = ["hr"]\n',
        encoding="utf-8",
    )
    footnote.settings |= {
        "FOOTNOTE_DOCS": str(documents),
        "FOOTNOTE_CONSOLE_USER_HEADER": "X-User",
        "FOOTNOTE_CONSOLE_GROUPS_HEADER": "X-Groups",
    }
    with ending(start_forked(fork_server, footnote)) as serving:
        serving.until_said("Indexed in")
        async with (
            visiting(serving, **{"X-User": "anna", "X-Groups": "hr"}) as anna,
            visiting(serving, **{"X-User": "ben"}) as ben,
        ):
            told = (await anna.call_tool("ask", {"question": PAYROLL})).structured_content
            assert told is not None
            assert "7,300" in told["answer"]
            secret = told["citations"][0]["url"]
            assert "7,300" in words(await anna.call_tool("read", {"url": secret}))

            asked = await ben.call_tool("ask", {"question": PAYROLL})
            found = await ben.call_tool("search", {"query": "salary of Jonas Brandt"})
            seen = [str(asked.structured_content), str(found.structured_content)]
            assert not [each for each in seen if "7,300" in each or "salaries.md" in each]
            # Another page was found and may be read; this one may not, whichever server offers it.
            assert (await ben.call_tool("read", {"url": secret})).is_error
            for uri in (told["resource"], f"{told['resource']}/pages/1"):
                with pytest.raises(MCPError):
                    await ben.read_resource(uri)
            assert told["resource"] not in {e.uri for e in (await ben.list_resources()).resources}

        audited = footnote.run("audit", "export").out.splitlines()
        rows = {
            (row["person"], row["deed"], row["kind"], row["outcome"])
            for row in map(json.loads, audited)
        }
        assert ("anna", "asked", "run", "done") in rows
        assert ("anna", "read", "page", "done") in rows
        assert {("ben", "read", "run", "refused"), ("ben", "read", "page", "refused")} <= rows
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.post(f"{serving.http}/mcp", json={})).status_code == 403


@asynccontextmanager
async def calling(program: Program, fork_server: ForkServer, way: str) -> AsyncIterator[Client]:
    """A client of the program, which it starts itself or reaches over HTTP."""
    if way == "stdio":
        arguments = ["-m", "bot", "mcp"]
        environment = program.environment({})
        started = StdioServerParameters(
            command=sys.executable, args=arguments, env=environment, cwd=program.folder
        )
        async with Client(started) as client:
            yield client
        return
    with ending(start_forked(fork_server, program)) as serving:
        serving.until_said("web is connected.")
        async with visiting(serving) as client:
            yield client


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_a_call_that_is_given_up_stops_its_question(
    footnote: Program, documents: Path, fork_server: ForkServer, gate: Gate, way: str
) -> None:
    gate.hold()
    with serve(gate) as url:
        footnote.settings |= {
            "FOOTNOTE_DOCS": str(documents),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": url,
        }
        async with calling(footnote, fork_server, way) as client:
            asking = asyncio.create_task(client.call_tool("ask", {"question": KEYS}))
            await asyncio.to_thread(gate.wait_held)
            asking.cancel()
            await asyncio.to_thread(gate.wait_empty)  # the model is not waited for any more
            gate.release()
            again = await client.call_tool("ask", {"question": WHO})  # and it goes on
            assert again.structured_content is not None
            answers = [each.uri for each in (await client.list_resources()).resources]
            stopped = [uri for uri in answers if uri != again.structured_content["resource"]]
            assert "stopped" in words(await client.read_resource(stopped[0])).lower()


# ---------------------------------------------------------------- as a client


def connected(program: Program, *kinds: str) -> None:
    """``footnote.toml`` with fake servers of these kinds, each called by its kind.

    Only a server that hangs gets a short time: the others answer however slow the machine is.
    """
    entries = [
        f'[[mcp]]\nname = "{kind}"\ncommand = ["{sys.executable}", "{FAKE}", "{kind}"]\n'
        f'env = {{ CALLS = "{program.folder}/calls" }}\n'
        f"seconds = {1 if kind == 'hang' else 60}\neverybody = true\n"
        for kind in kinds
    ]
    (program.folder / "footnote.toml").write_text("\n".join(entries), encoding="utf-8")


def test_a_question_is_answered_from_a_server_whatever_another_one_does(
    footnote: Program, documents: Path
) -> None:
    connected(footnote, "good", "hang", "dies")
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents)}
    ended = footnote.run("ask", "--json", "When is the harbour system backed up?")
    told = ended.json
    assert ended.code == 0, ended.err
    assert "backed up at 03:40" in told["answer"]
    (cited,) = [each for each in told["citations"] if "03:40" in each["quote"]]
    assert cited["url"] == "https://tickets.example/browse/OPS-7"
    assert cited["via"] == "good"
    notes = " ".join(told["notes"])
    assert "hang: It did not answer within 1 s" in notes
    assert "dies: The connection to it broke" in notes


def test_a_link_to_a_page_of_a_server_is_read_by_it(footnote: Program) -> None:
    connected(footnote, "good")
    with (footnote.folder / "footnote.toml").open("a", encoding="utf-8") as file:
        file.write('links = ["https://tickets.example/browse/{id}"]\n')
    link = "https://tickets.example/browse/OPS-7"
    told = footnote.run("ask", "--json", f"What does {link} say of the backup?").json
    assert "backed up at 03:40" in told["answer"]
    assert [(each["url"], each["via"]) for each in told["citations"]] == [(link, "good")]
    called = (footnote.folder / "calls").read_text(encoding="utf-8")
    assert '"name": "fetch"' in called


def test_the_doctor_says_what_of_a_server_is_called_and_what_is_wrong(footnote: Program) -> None:
    connected(footnote, "good", "changes")
    ended = footnote.run("doctor")
    said = " ".join(ended.out.split())
    searched = "Search (good): It is searched with search. Pages are read with fetch."
    assert f"{searched} One other tool is never called." in said
    assert "✗ Search (changes): Its tool search says that it changes something" in said
    assert ended.code == 1
