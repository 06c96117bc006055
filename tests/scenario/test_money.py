"""Money: ``usage`` is exactly what the endpoint counted, and a day's limit holds across processes.

Fakes of Claude and of a wiki on real sockets, the real SDK between.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.cli.usage import spent_this_month
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.reasoning.calls import ModelReply
from bot.reasoning.reasoner import price_of
from bot.storage.spending import Amount
from tests.fakes.claude import Fail, FakeClaude, Fault, Recorded, Reply, researcher, says
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.postgres import Postgres
from tests.fakes.server import serve
from tests.scenario.program import Ended, Program
from tests.scenario.serving import ForkServer, ending, start_forked

QUESTION = (
    "Could you tell me when the band AC/DC was formed, and then how long ago is that, and in which "
    "city, and then where is that, and who was its singer, and who was its first drummer, and who "
    "produced its first album, and which label released that, and who drew its logo?"
)


DAY = 0.05  # USD that a person may spend


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude(minimum_cache=64)  # so that short conversations are cached too


@pytest.fixture
def footnote(tmp_path: Path, fork_server: ForkServer, claude: FakeClaude) -> Iterator[Program]:
    with serve(claude) as claude_url, serve(FakeWiki().app) as wiki_url:
        yield Program(
            tmp_path,
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": claude_url,
                "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
                "bot.reasoning.model_service.RETRIES": "0",
            },
            fork_server,
        )


def bill(requests: list[Recorded], settings: Settings | None = None) -> dict[str, Any]:
    """The endpoint's charge for these requests, by its own counts.

    Of a reply that broke off, it has reported one token of output (in ``message_start``).
    """
    settings = settings or load_settings()
    sums: dict[str, Any] = dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens"), 0)
    micro = 0.0
    for request in requests:
        if request.status != 200:
            continue
        usage = request.usage
        reply = ModelReply(
            request.body["model"],
            (),
            "",
            input_tokens=usage["input_tokens"],
            output_tokens=usage["output_tokens"] if request.finished else 1,
            cache_read_tokens=usage["cache_read_input_tokens"],
            cache_write_tokens=usage["cache_creation_input_tokens"],
        )
        sums["input_tokens"] += reply.input_tokens + reply.cache_write_tokens
        sums["output_tokens"] += reply.output_tokens
        sums["cached_tokens"] += reply.cache_read_tokens
        micro += 1_000_000 * (price_of(settings, reply) or 0.0)
    return {**sums, "usd": micro / 1_000_000}


def check(ended: Ended, requests: list[Recorded], calls: int) -> None:
    """Every number of ``usage`` is the one that was billed."""
    usage, billed = ended.json["usage"], bill(requests)
    assert usage["model_calls"] == calls
    # Each call's cost is rounded to a millionth of a dollar.
    assert usage.pop("usd") == pytest.approx(billed.pop("usd"), abs=0.5e-6 * len(requests))
    assert {name: usage[name] for name in billed} == billed
    assert usage["searches"] == len({s["title"] for s in steps(ended, "search")})
    assert usage["pages"] == len([s for s in steps(ended, "read") if s["state"] == "done"])


def steps(ended: Ended, kind: str) -> list[dict[str, Any]]:
    return [step for step in ended.json["steps"] if step["kind"] == kind]


def spent_today(footnote: Program) -> Amount:
    settings = load_settings(data_dir=footnote.folder / "data")
    lines = asyncio.run(spent_this_month(settings, datetime.now(UTC).date()))
    return next(line.today for line in lines if line.scope == "workspace")


class Held:
    """Answers as the researcher does, but holds the n-th call until it is let go."""

    def __init__(self, call: int) -> None:
        self.call, self.seen = call, 0
        self.reached, self.let_go = threading.Event(), threading.Event()

    def __call__(self, request: Mapping[str, Any]) -> Reply | Fail:
        self.seen += 1
        if self.seen == self.call:
            self.reached.set()
            self.let_go.wait(60)
        return researcher(request)


# ---------------------------------------------------------------- usage is exact


def test_usage_is_what_the_endpoint_counted_cache_included(
    footnote: Program, claude: FakeClaude
) -> None:
    ended = footnote.run("ask", "--json", "--depth", "deep", QUESTION)
    assert ended.code == 0, ended.err
    assert ended.json["usage"]["cached_tokens"] > 0
    check(ended, claude.requests, len(claude.requests))
    today = spent_today(footnote)
    assert today.questions == 1
    for name in ("model_calls", "input_tokens", "output_tokens", "cached_tokens", "usd"):
        assert getattr(today, name) == ended.json["usage"][name]


def test_a_stream_that_was_cut_is_paid_for_and_is_one_call(
    footnote: Program, claude: FakeClaude
) -> None:
    cut = says("It was in " * 40, fault=Fault("cut", after=9))
    broken: list[bool] = []

    def brain(request: Mapping[str, Any]) -> Reply | Fail:
        if "search_result" in json.dumps(request["messages"]) and not request.get("tools"):
            broken.append(True)
            if len(broken) == 1:
                return cut
        return researcher(request)

    claude.use(brain)
    ended = footnote.run("ask", "--json", "--depth", "quick", QUESTION)
    assert ended.code == 0, ended.err
    assert len(broken) == 2
    check(ended, claude.requests, len(claude.requests) - 1)
    assert spent_today(footnote).usd == ended.json["usage"]["usd"]


def test_a_run_that_was_killed_and_resumed_is_counted_once(
    footnote: Program, claude: FakeClaude
) -> None:
    held = Held(3)
    claude.use(held)
    process = footnote.start("ask", "--json", "--depth", "standard", QUESTION)
    assert held.reached.wait(60)
    process.signal(signal.SIGKILL)
    process.finish()
    before = spent_today(footnote)
    assert (before.model_calls, before.questions) == (2, 1)
    finished = list(claude.requests[:2])
    claude.requests.clear()
    held.let_go.set()
    ended = footnote.run("ask", "--json", "--depth", "standard", QUESTION)
    assert ended.code == 0, ended.err
    assert "Continuing run" in ended.err
    kept = [*finished, *(r for r in claude.requests if r.finished)]
    check(ended, kept, len(kept))
    after = spent_today(footnote)
    assert after.questions == 1
    assert after.model_calls == ended.json["usage"]["model_calls"]
    assert after.usd == ended.json["usage"]["usd"]


def test_what_a_stopped_run_spent_is_spent(footnote: Program, claude: FakeClaude) -> None:
    """The call that was cut off had told its input; that is counted as well."""
    slow = says("Well, " * 400, fault=Fault("stall", after=4, seconds=30.0))
    begun = threading.Event()

    def brain(request: Mapping[str, Any]) -> Reply | Fail:
        if request.get("tools"):
            begun.set()
            return slow
        return researcher(request)

    claude.use(brain)
    process = footnote.start("ask", "--json", "--depth", "standard", QUESTION)
    assert begun.wait(60)
    process.signal(signal.SIGINT)
    ended = process.finish()
    assert ended.json["status"] == "stopped"
    told = bill(claude.requests)
    today = spent_today(footnote)
    assert today.usd == ended.json["usage"]["usd"]
    # It had told its input, unless the stop came before even that.
    without = bill(claude.requests[:1])
    assert today.input_tokens in (told["input_tokens"], without["input_tokens"])


def test_an_unknown_price_is_said_once_and_counts_as_nothing(
    footnote: Program, claude: FakeClaude
) -> None:
    claude.models = ["house-model", "claude-haiku-5-5"]
    ended = footnote.run(
        "ask", "--json", "--depth", "standard", QUESTION, FOOTNOTE_MODEL="house-model"
    )
    assert ended.code == 0, ended.err
    notes = [note for note in ended.json["notes"] if "house-model" in note]
    assert notes == ["The price of house-model is not known: its cost is not in the total."]
    known = [r for r in claude.requests if r.body["model"] == "claude-haiku-5-5"]
    assert ended.json["usage"]["usd"] == pytest.approx(bill(known)["usd"], abs=1e-6)
    assert spent_today(footnote).unpriced_calls == len(claude.requests) - len(known)
    table = footnote.run("usage")
    assert "FOOTNOTE_PRICES" in table.out


# ---------------------------------------------------------------- a day's limit


def test_a_days_limit_ends_the_gathering_and_then_refuses_questions(
    footnote: Program, claude: FakeClaude
) -> None:
    limit = {"FOOTNOTE_USER_DAILY_USD": "0.0001"}
    first = footnote.run("ask", "--json", "--depth", "standard", QUESTION, **limit)
    assert first.json["reasoner"] == "closest", first.err
    told = "Your budget of 0.0001 USD for today was spent. This was found and quoted"
    assert first.json["answer"].startswith(told)
    assert [note for note in first.json["notes"] if "budget" in note] == []
    claude.requests.clear()
    second = footnote.run("ask", "--json", "Who wrote Dune?", **limit)
    assert second.code == 1
    assert "Your research budget for today is spent. You can ask again at 00:00 UTC" in second.err
    assert claude.requests == []
    assert spent_today(footnote).questions == 1


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_fifty_questions_at_once_exceed_a_persons_day_by_one_call_at_most(
    request: pytest.FixtureRequest,
    fork_server: ForkServer,
    footnote: Program,
    claude: FakeClaude,
    database: str,
) -> None:
    """On PostgreSQL two workers share the day with each other."""
    # A busy machine lets calls fail, which is not what this is about.
    footnote.settings |= {
        "FOOTNOTE_USER_DAILY_USD": f"{DAY}",
        "bot.reasoning.model_service.RETRIES": "5",
    }
    with ExitStack() as stack:
        if database == "postgres":
            server: Postgres = request.getfixturevalue("postgres")
            footnote.settings |= {"FOOTNOTE_DATABASE_URL": server.migrated()}
            for _ in range(2):
                worker = start_forked(fork_server, footnote, command="worker")
                stack.enter_context(ending(worker)).until_said("Working on questions")
            serving = start_forked(fork_server, footnote, "--no-work")
        else:
            serving = start_forked(fork_server, footnote)
        stack.enter_context(ending(serving))
        runs = asyncio.run(ask_at_once(serving.http, 50))

    costs = [bill([each])["usd"] for each in claude.requests]
    assert DAY <= sum(costs) < DAY + max(costs)
    by_model = [run for run in runs if run["answer"]["reasoner"] != "closest"]
    assert by_model
    without = [run["answer"]["answer"] for run in runs if run not in by_model]
    assert len(without) > 25
    told = "Your budget of 0.05 USD for today was spent. This was found and quoted"
    assert [text for text in without if not text.startswith(told)] == []


async def ask_at_once(url: str, number: int) -> list[dict[str, Any]]:
    """Put questions to the console, each in a conversation of its own; their ended runs."""
    async with AsyncExitStack() as stack:

        async def ask(each: int) -> dict[str, Any]:
            # From many addresses: one alone may only ask so many a minute.
            transport = httpx.AsyncHTTPTransport(local_address=f"127.0.0.{2 + each}")
            client = httpx.AsyncClient(base_url=url, timeout=60, transport=transport)
            await stack.enter_async_context(client)
            accepted = await client.post("/api/questions", json={"question": f"{each}. {QUESTION}"})
            assert accepted.is_success, accepted.text
            return await when_ended(client, accepted.json()["url"])

        return await asyncio.gather(*map(ask, range(number)))


async def when_ended(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """A run once its stream of events has ended."""
    async with client.stream("GET", f"{path}/events") as events:
        async for _ in events.aiter_bytes():
            pass
    run: dict[str, Any] = (await client.get(path)).json()
    return run


# ---------------------------------------------------------------- footnote usage


def test_usage_lists_workspaces_channels_and_people(footnote: Program) -> None:
    footnote.run("ask", "--json", "Hello there")
    accounts = footnote.run("usage", "--json").json["accounts"]
    assert [(a["scope"], a["platform"], a["id"]) for a in accounts[:2]] == [
        ("workspace", "terminal", "local"),
        ("channel", "terminal", "cli"),
    ]
    assert [a["scope"] for a in accounts] == ["workspace", "channel", "user"]
    assert all(a["today"] == a["month"] == accounts[0]["today"] for a in accounts)
