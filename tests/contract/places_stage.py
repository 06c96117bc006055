"""Stage of the contract of places: fake Slack and Discord, the real SDKs, posters and rights.

Each document has a word of its own, so that what a place is shown tells which documents were used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from adapters.discord.client import FootnoteClient, api_of, library_log
from adapters.discord.platform import DiscordPlatform
from adapters.discord.settings import DiscordSettings
from adapters.slack.platform import open_slack
from adapters.slack.settings import SlackSettings
from bot.core.egress import Egress
from bot.operation.app import open_app
from bot.operation.configuration import load_settings
from bot.service.reception import Reception
from bot.storage.store import RunRecord, Store, open_store
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.slack import FakeSlack

MANIFEST = Path(__file__).parents[2] / "adapters" / "slack" / "manifest.yaml"
QUESTION = "What is the passphrase of the gate?"

# A folder each. "open" is for everybody, "loose" is in no collection, "here" lists each channel of
# the table, whatever its kind, and "mine" lists the asker.
SECRETS = {"open": "kiwiopen", "loose": "kiwiloose", "here": "kiwihere", "mine": "kiwimine"}


def write_documents(docs: Path) -> None:
    for name, secret in SECRETS.items():
        (docs / name).mkdir(parents=True)
        text = f"# Gate {secret}\n\nThe passphrase of the gate at {name} is {secret}.\n"
        (docs / name / f"{name}.md").write_text(text, encoding="utf-8")


def toml(docs: Path, channels: Sequence[str], people: Sequence[str]) -> str:
    return f"""
docs = ["{docs}"]

[[collections]]
name = "open"
paths = ["{docs / "open"}"]
everybody = true

[[collections]]
name = "here"
paths = ["{docs / "here"}"]
channels = {json.dumps(list(channels))}

[[collections]]
name = "mine"
paths = ["{docs / "mine"}"]
people = {json.dumps(list(people))}
"""


def secrets_in(text: str) -> frozenset[str]:
    """Return the documents whose word a text holds."""
    return frozenset(name for name, secret in SECRETS.items() if secret in text)


@dataclass
class Answering:
    """Footnote at work on a fake platform, with its own poster."""

    docs: Path
    store: Store
    runs: list[str]

    async def run(self, number: int) -> RunRecord:
        """Return the run accepted as ``number`` (from 0), once it has ended."""
        async with asyncio.timeout(60):
            while len(self.runs) <= number:
                await asyncio.sleep(0.005)
            while True:
                record = await self.store.run(self.runs[number])
                assert record is not None
                if record.state not in ("accepted", "running"):
                    return record
                await asyncio.sleep(0.005)

    async def used(self, number: int) -> frozenset[str]:
        """Return the documents that the answer of a run rests on."""
        record = await self.run(number)
        rests_on = record.answer.rests_on if record.answer is not None else ()
        return frozenset(
            name for name in SECRETS if (self.docs / name / f"{name}.md").as_uri() in rests_on
        )


class Counting(Reception):
    """Remembers which runs began."""

    runs: list[str]

    async def _accept(self, *args: Any, **options: Any) -> Any:
        accepted = await super()._accept(*args, **options)
        if accepted.new:
            self.runs.append(accepted.run_id)
        return accepted


class HastyClient(FootnoteClient):
    """Does not wait the five seconds that Discord wants between two new sessions."""

    guilds_seconds = 0.05

    async def before_identify_hook(
        self, shard_id: int | None, *, initial: bool = False
    ) -> None: ...


@asynccontextmanager
async def _answering(
    platform: Any, settings: Any, store: Store, docs: Path, connected: Callable[[], Any]
) -> AsyncIterator[Answering]:
    async with open_app(settings, {platform.name: platform.poster}, store=store) as app:
        reception = Counting(
            settings, store, app.service, app.dispatcher, {platform.name: platform.poster}
        )
        reception.runs = []
        ready = asyncio.Event()
        running = asyncio.create_task(platform.run(reception, ready.set))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
            await connected()
            yield Answering(docs, store, reception.runs)
        finally:
            for task in (waiting, running):
                task.cancel()
            await asyncio.gather(waiting, running, return_exceptions=True)
            await reception.aclose()


def _common(data: Path, folder: Path) -> dict[str, Any]:
    return {
        "data_dir": data,
        "database_url": sqlite.migrated(folder),
        "providers": "local",
        "reasoner": "closest",
    }


@asynccontextmanager
async def slack_answers(
    slack: FakeSlack, docs: Path, data: Path, folder: Path, **more: Any
) -> AsyncIterator[Answering]:
    """``docs`` are indexed in ``data``; ``footnote.toml`` is in the working directory."""
    settings = cast(
        SlackSettings,
        load_settings(
            slack_bot_token=slack.bot_token,
            slack_app_token=slack.app_token,
            slack_api_url=slack.api_url,
            **_common(data, folder),
            **more,
        ),
    )
    store = await open_store(settings.database_url)
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(open_slack(settings, Workspaces(store.database)))
        connected = slack.sockets.connected

        async def is_connected() -> None:
            await slack.until(lambda: slack.sockets.connected > connected)

        yield await stack.enter_async_context(
            _answering(platform, settings, store, docs, is_connected)
        )


@asynccontextmanager
async def discord_answers(
    discord: FakeDiscord, docs: Path, data: Path, folder: Path, **more: Any
) -> AsyncIterator[Answering]:
    """See ``slack_answers``."""
    settings = cast(
        DiscordSettings,
        load_settings(
            discord_token=discord.token,
            discord_api_url=discord.url,
            **_common(data, folder),
            **more,
        ),
    )
    store = await open_store(settings.database_url)
    library_log(discord.token)
    with api_of(settings):
        client = HastyClient(egress=Egress.of(settings))
        platform = DiscordPlatform(client, discord.token, Workspaces(store.database))

        async def commands_known() -> None:
            await discord.until(discord.registered)

        try:
            async with _answering(platform, settings, store, docs, commands_known) as answering:
                yield answering
        finally:
            await platform.aclose()
