"""A worker of the release before, as its package was, on the schema of today."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.storage.tables import HEAD
from tests.fakes.postgres import Postgres
from tests.scenario.places import KEYS, WHO, Place, the_answer, until_answered
from tests.scenario.program import REPOSITORY, Program
from tests.scenario.serving import ForkServer, ending, start_alone, start_forked

PACKAGES = ("bot", "adapters")  # what the wheel holds
TABLES = Path("bot/storage/tables.py")


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
    schema = ("-S", f'HEAD = "{HEAD}"', "--", str(TABLES))
    # What a merge brought counts as the merge's: its number may have been given there.
    changed = git("log", "-1", "-m", "--first-parent", "--format=%H", *schema).decode()
    before = git("rev-parse", "--verify", "--quiet", f"{changed}^") if changed else b""
    return before.decode() or changed or git("rev-parse", "HEAD").decode()


@pytest.fixture
def earlier(tmp_path: Path, record_property: Callable[[str, object], None]) -> Path:
    """The folder of its packages."""
    folder, release = tmp_path / "earlier", the_release_before()
    record_property("release", release or "today's: there is no history")
    folder.mkdir()
    if not release:
        for name in PACKAGES:
            shutil.copytree(REPOSITORY / name, folder / name)
        return folder
    with tarfile.open(fileobj=io.BytesIO(git("archive", release, *PACKAGES))) as archive:
        archive.extractall(folder, filter="data")
    if git("rev-parse", "--is-shallow-repository") == b"false" and not git("tag"):
        assert f'HEAD = "{HEAD}"' not in (folder / TABLES).read_text(), "it is today's"
    return folder


@pytest.mark.live
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
            worker.until_said("Working on questions")
            assert "90 days" in the_answer(place, said)
            place.say(said, WHO)
            assert "security team" in until_answered(place, said, 2)[-1].text
        assert listener.alive
    assert (earlier / "bot" / "__pycache__").is_dir(), "another one ran"
