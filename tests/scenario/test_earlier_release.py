"""A worker of the release before, as its package was, on the schema of today."""

from __future__ import annotations

import asyncio
import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa

from bot.dispatch.attempts import Executor
from bot.dispatch.postgres import PostgresDispatcher
from bot.messages import Author, Message, RunOptions, Thread
from bot.storage.store import open_store
from bot.storage.tables import HEAD, runs
from tests.fakes.postgres import Postgres
from tests.scenario.places import KEYS, WHO, Place, the_answer, until_answered
from tests.scenario.program import REPOSITORY, Program
from tests.scenario.serving import ForkServer, ending, start_alone, start_forked

PACKAGES = ("bot", "adapters")  # what the wheel holds
TABLES = Path("bot/storage/tables.py")
BEFORE_SECONDS = 120.0  # to start a worker whose modules were never compiled
WATCHES = "0019"  # the schema that brought standing questions


def git(*arguments: str) -> bytes:
    """The output of git; empty if it fails or there is no history."""
    try:
        return subprocess.run(
            ["git", *arguments], cwd=REPOSITORY, check=True, capture_output=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return b""


def the_release_before() -> str:
    """The last tag before this commit; while there is none, the last commit of the schema before.

    Where that much history is not there, the oldest that is; "" without any.
    """
    if tag := git("describe", "--tags", "--abbrev=0", "HEAD^"):
        return tag.decode()
    before, changed = around(HEAD)
    return before or changed or git("rev-parse", "HEAD").decode()


def around(schema: str) -> tuple[str, str]:
    """The last commit before a schema, and the first with it; "" where history does not reach."""
    introduced = ("-S", f'HEAD = "{schema}"', "--", str(TABLES))
    # What a merge brought counts as the merge's: its number may have been given there.
    log = git("log", "-m", "--first-parent", "--format=%H", *introduced).decode().split()
    changed = log[-1] if log else ""
    before = git("rev-parse", "--verify", "--quiet", f"{changed}^") if changed else b""
    return before.decode(), changed


def unpack(release: str, folder: Path) -> None:
    """Put the packages of a commit into a folder."""
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(git("archive", release, *PACKAGES))) as archive:
        archive.extractall(folder, filter="data")


@pytest.fixture
def earlier(tmp_path: Path, record_property: Callable[[str, object], None]) -> Path:
    """The folder with the packages of the release before."""
    folder, release = tmp_path / "earlier", the_release_before()
    record_property("release", release or "today's: there is no history")
    if not release:
        for name in PACKAGES:
            shutil.copytree(REPOSITORY / name, folder / name)
        return folder
    unpack(release, folder)
    if git("rev-parse", "--is-shallow-repository") == b"false" and not git("tag"):
        assert f'HEAD = "{HEAD}"' not in (folder / TABLES).read_text(), "it is today's"
    return folder


@pytest.mark.parametrize("place", ["slack"], indirect=True)
def test_its_worker_answers_on_todays_schema_beside_todays_listener(
    fork_server: ForkServer, thinking: Program, place: Place, postgres: Postgres, earlier: Path
) -> None:
    thinking.settings |= {"FOOTNOTE_DATABASE_URL": postgres.migrated()}
    before = replace(thinking, settings=thinking.settings | {"PYTHONPATH": str(earlier)})
    with ending(start_forked(fork_server, thinking, "--no-work")) as listener:
        place.meet(thinking, listener)
        listener.until_said(place.ready)
        said = place.ask(KEYS)
        with ending(start_alone(before, command="worker")) as worker:
            worker.until_said("Working on questions", BEFORE_SECONDS)
            assert "90 days" in the_answer(place, said)
            place.say(said, WHO)
            assert "security team" in until_answered(place, said, 2)[-1].text
        assert listener.alive
    assert (earlier / "bot" / "__pycache__").is_dir(), "another one ran"


@pytest.mark.parametrize("place", ["slack"], indirect=True)
def test_a_worker_that_knows_no_standing_questions_leaves_a_look_to_others(
    fork_server: ForkServer, thinking: Program, place: Place, postgres: Postgres, tmp_path: Path
) -> None:
    release, _ = around(WATCHES)
    if not release:
        pytest.skip("the history does not reach the releases without standing questions")
    unpack(release, tmp_path / "earlier")
    url = postgres.migrated()
    thinking.settings |= {"FOOTNOTE_DATABASE_URL": url}
    old = {"PYTHONPATH": str(tmp_path / "earlier")}
    before = replace(thinking, settings=thinking.settings | old)
    with ending(start_forked(fork_server, thinking, "--no-work")) as listener:
        place.meet(thinking, listener)
        listener.until_said(place.ready)
        asyncio.run(queue_a_look(url))
        said = place.ask(KEYS)
        with ending(start_alone(before, command="worker")) as worker:
            worker.until_said("Working on questions", BEFORE_SECONDS)
            assert "90 days" in the_answer(place, said)  # queued later, and answered
        assert asyncio.run(look_of(url)) == ("due", 0)
        with ending(start_forked(fork_server, thinking, command="worker")):
            # Its standing question was deleted meanwhile: so is the look.
            place.until(lambda: asyncio.run(look_of(url)) is None)


async def queue_a_look(url: str) -> None:
    store = await open_store(url)
    thread = Thread("slack", "T1", "C1", "watch-1a2b3c")
    message = Message("e1", thread, Author("U1", "Ada"), "What does it cost?", datetime.now(UTC))
    await store.accept("look", message, RunOptions(watch="1a2b3c"), message.at)
    executor = cast(Executor, None)  # with no places to work it is never called
    async with PostgresDispatcher(url, store, executor, 0, platforms={"slack"}) as dispatcher:
        await dispatcher.submit("look", thread)
    await store.close()


async def look_of(url: str) -> tuple[str, int] | None:
    """The state and the attempts of the look, as long as it is there."""
    store = await open_store(url)
    async with store.database.read() as db:
        query = sa.select(runs.c.state, runs.c.attempt).where(runs.c.id == "look")
        row = (await db.execute(query)).one_or_none()
    await store.close()
    return None if row is None else (row.state, row.attempt)
