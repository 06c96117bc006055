"""A server that hangs, floods, lies, asks or logs: one sentence, and the other sources go on."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.core.errors import Broken, CredentialsRefused, InvalidSetting
from bot.core.reader import Reach
from bot.core.readership import McpServer
from bot.operation.configuration import load_settings
from bot.search.blend import Search, SearchResult
from bot.search.mcp_source import McpSource
from bot.search.provider import Hit, ProviderKind, Query
from bot.search.registry import server_declaration
from tests.fakes import mcp_server
from tests.fakes.server import serve

FAKE = Path(__file__).parents[2] / "fakes" / "mcp_server.py"
HARBOUR = Query("When is the harbour system backed up?", 5)


class Shelf:
    """The other source."""

    name = "shelf"
    kind: ProviderKind = "knowledge"

    async def search(self, query: Query) -> list[Hit]:
        return [Hit(f"Page {n}", f"https://shelf.example/{n}", "", self.name) for n in range(6)]


@asynccontextmanager
async def searching(server: McpServer) -> AsyncIterator[tuple[Search, McpSource]]:
    declaration = server_declaration(server)
    source: Any = declaration.build(load_settings(), httpx.AsyncClient)
    policies = {server.name: declaration.policy(None)}  # type: ignore[arg-type]
    search = Search([source, Shelf()], policies=policies)
    try:
        yield search, source
    finally:
        await search.aclose()


NOTHING: dict[str, str] = {}


def server(tmp_path: Path, kind: str, env: dict[str, str] = NOTHING, **more: Any) -> McpServer:
    return McpServer(
        name="tickets",
        command=(sys.executable, str(FAKE), kind),
        env={k: SecretStr(v) for k, v in {"CALLS": f"{tmp_path}/calls", **env}.items()},
        everybody=True,
        **{"seconds": 20.0, **more},
    )


def calls(tmp_path: Path) -> list[dict[str, Any]]:
    file = tmp_path / "calls"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def own(found: SearchResult) -> list[Hit]:
    return [hit for hit in found.hits if hit.provider == "tickets"]


@pytest.mark.parametrize("kind", ["good", "chatter", "samples"])
async def test_a_server_that_answers_is_searched_and_read_whatever_it_does_beside(
    tmp_path: Path, kind: str
) -> None:
    async with searching(server(tmp_path, kind)) as (search, _):
        found = await search.search(HARBOUR)
        (hit,) = own(found)
        page = await search.read(hit.url)
        assert found.failures == ()
        assert hit.url == "mcp:/tickets/OPS-7?https%3A%2F%2Ftickets.example%2Fbrowse%2FOPS-7"
        assert "backed up at 03:40" in getattr(page, "text", "")
        sites = (("tickets.example", 1), ("shelf.example", 0))
        for site, count in sites:
            narrowed = await search.search(replace(HARBOUR, domains=(site,)))
            assert len(own(narrowed)) == count
        assert "One other tool is never called." in str(await search.report("tickets"))
    assert {call["name"] for call in calls(tmp_path)} == {"search", "fetch"}


@pytest.mark.parametrize(
    ("kind", "seconds", "sentence"),
    [
        ("hang", 0.5, "tickets: It did not answer within 0.5 s: try again later."),
        ("mute", 0.5, "tickets: It did not answer within 0.5 s: try again later."),
        ("greets", 20.0, "tickets: It sent more than 8 MB: that is not read."),
        ("flood", 20.0, "tickets: It sent more than 8 MB: that is not read."),
        ("notices", 20.0, "tickets: It sent more than 8 MB: that is not read."),
        ("lies", 20.0, "tickets: It sent a result that is not of the form that it declares."),
        ("dies", 20.0, "tickets: The connection to it broke: try again later."),
    ],
)
async def test_a_server_that_does_harm_costs_one_sentence(
    tmp_path: Path, kind: str, seconds: float, sentence: str
) -> None:
    # Forget the peak of earlier tests, which would hide that of this one.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with searching(server(tmp_path, kind, seconds=seconds)) as (search, _):
        found = await search.search(HARBOUR)
        assert found.failures == (sentence,)
        assert len(found.hits) == 5
        assert (await search.search(HARBOUR)).hits == found.hits  # and again
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 60_000, "it was read whole"  # kilobytes; what was sent is 100 MB


async def test_a_server_that_hangs_in_its_calls_is_ended_and_started_again(tmp_path: Path) -> None:
    async with searching(server(tmp_path, "hang")) as (_, source):
        await source.report()
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await source.search(HARBOUR)
        await source.report()
    starts = (tmp_path / "calls.starts").read_text(encoding="utf-8")
    assert starts.count("started") == 2


@pytest.mark.parametrize(
    ("kind", "listed", "sentence"),
    [
        ("changes", (), "Its tool search says that it changes something, and is not called."),
        ("changes", ("search",), "Its tool search says that it changes something"),
        ("silent", (), "Its tool search does not say that it changes nothing"),
        ("good", ("delete_everything",), "Its tool delete_everything says that it changes"),
        ("good", ("find",), "It has no tool find: its tools are search, fetch"),
    ],
)
async def test_a_tool_that_may_change_something_is_never_called(
    tmp_path: Path, kind: str, listed: tuple[str, ...], sentence: str
) -> None:
    async with searching(server(tmp_path, kind, search=listed)) as (search, source):
        with pytest.raises(Broken, match=sentence):
            await source.search(HARBOUR)
        with pytest.raises(Broken, match=sentence):
            await search.report("tickets")
    assert calls(tmp_path) == []


async def test_a_tool_that_says_nothing_is_called_where_the_operator_names_it(
    tmp_path: Path,
) -> None:
    named = server(tmp_path, "silent", search=("search",))
    async with searching(named) as (search, _):
        assert own(await search.search(HARBOUR))


async def test_a_server_out_of_reach_is_not_even_asked(tmp_path: Path) -> None:
    shut = Reach((("mcp:/tickets", False),), removed=False)
    async with searching(server(tmp_path, "good")) as (search, _):
        found = await search.search(Query(HARBOUR.text, 5, reach=shut))
    assert (own(found), found.failures, calls(tmp_path)) == ([], (), [])


async def test_a_command_that_is_not_there_and_a_variable_that_is_not_set_say_so(
    tmp_path: Path,
) -> None:
    missing = McpServer(name="tickets", command=("/no/such/program",), everybody=True)
    async with searching(missing) as (_, source):
        with pytest.raises(Broken, match="/no/such/program cannot be started"):
            await source.report()
    unset = server(tmp_path, "good", env={"TOKEN": "${NOT_SET_ANYWHERE}"})
    async with searching(unset) as (_, source):
        with pytest.raises(InvalidSetting, match="needs NOT_SET_ANYWHERE from the environment"):
            await source.report()


# ---------------------------------------------------------------- over HTTP


Answering = Callable[[Request], Awaitable[Response]]


def answering(then: Answering) -> Starlette:
    """A server that shakes hands, and answers its first call as ``then`` says."""

    async def answer(request: Request) -> Response:
        if request.headers.get("authorization") != "Bearer open sesame":
            return Response(status_code=401)
        told = await request.json()
        if told.get("method") != "initialize":
            return await then(request) if "id" in told else Response(status_code=202)
        version = told["params"]["protocolVersion"]
        info = {"name": "fake", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        return JSONResponse({"jsonrpc": "2.0", "id": told["id"], "result": result})

    return Starlette(routes=[Route("/mcp", answer, methods=["POST"])])


async def good(request: Request) -> Response:
    told = await request.json()
    method = told["method"]
    results: dict[str, Callable[[], Any]] = {
        "tools/list": lambda: {"tools": mcp_server.tools()},
        "tools/call": lambda: mcp_server.found(told["params"]),
    }
    if method in results:
        return JSONResponse({"jsonrpc": "2.0", "id": told["id"], "result": results[method]()})
    error = {"code": -32601, "message": "no"}
    return JSONResponse({"jsonrpc": "2.0", "id": told["id"], "error": error})


async def flood(request: Request) -> Response:
    told = await request.json()
    if told["method"] == "server/discover":
        error = {"code": -32601, "message": "no"}
        return JSONResponse({"jsonrpc": "2.0", "id": told["id"], "error": error})

    async def body() -> AsyncIterator[bytes]:
        yield b'{"jsonrpc":"2.0","id":1,"result":{"x":"'
        for _ in range(100):
            yield b"x" * 1_000_000

    return StreamingResponse(body(), media_type="application/json")


async def test_a_flood_over_http_is_not_read_and_wrong_credentials_are_called_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve(answering(flood)) as url:
        there = McpServer(
            name="tickets",
            url=f"{url}/mcp",
            headers={"Authorization": SecretStr("Bearer ${SESAME}")},
            everybody=True,
        )
        monkeypatch.setenv("SESAME", "open sesame")
        async with searching(there) as (search, _):
            found = await search.search(HARBOUR)
            assert found.failures == ("tickets: It sent more than 8 MB: that is not read.",)
        monkeypatch.setenv("SESAME", "shut")
        async with searching(there) as (_, source):
            with pytest.raises(CredentialsRefused, match="HTTP 401"):
                await source.report()
        assert httpx.get(f"{url}/nowhere").status_code == 404  # it is still there


def with_tokens(asked: list[str]) -> Starlette:
    """The same behind an authorization server, which notes what is asked of it."""
    inner = answering(good)

    def root(request: Request) -> str:
        return str(request.base_url).rstrip("/")

    async def resource(request: Request) -> Response:
        here = root(request)
        return JSONResponse({"resource": f"{here}/mcp", "authorization_servers": [here]})

    async def metadata(request: Request) -> Response:
        here = root(request)
        return JSONResponse(
            {
                "issuer": here,
                "authorization_endpoint": f"{here}/authorize",
                "token_endpoint": f"{here}/token",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
            }
        )

    async def token(request: Request) -> Response:
        asked.append(f"{request.headers['authorization']} {(await request.body()).decode()}")
        return JSONResponse({"access_token": "open sesame", "token_type": "Bearer"})

    return Starlette(
        routes=[
            Route("/.well-known/oauth-protected-resource/mcp", resource),
            Route("/.well-known/oauth-authorization-server", metadata),
            Route("/token", token, methods=["POST"]),
            *inner.routes,
        ]
    )


async def test_a_token_is_got_from_the_issuer_that_is_named_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setenv("SECRET", "s3cret")
    with serve(with_tokens(asked)) as url:
        for issuer, works in ((url, True), ("https://elsewhere.example", False)):
            oauth = {"issuer": issuer, "client_id": "us", "client_secret": "${SECRET}"}
            there = McpServer.model_validate(
                {"name": "tickets", "url": f"{url}/mcp", "oauth": oauth, "everybody": True}
            )
            asked.clear()
            async with searching(there) as (search, _):
                found = await search.search(HARBOUR)
                assert bool(own(found)) == works, found.failures
                assert bool(asked) == works
                if works:
                    page = await search.read(own(found)[0].url)
                    assert "03:40" in getattr(page, "text", "")
                    assert "grant_type=client_credentials" in asked[0]
                    assert b64encode(b"us:s3cret").decode() in asked[0]
                else:
                    assert len(found.failures) == 1
