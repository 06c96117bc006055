"""The commands that list, export, back up, forget and prune what is stored."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

from tests.scenario.program import Program


def test_a_thread_is_listed_exported_and_forgotten(footnote: Program, documents: Path) -> None:
    asked = ("ask", "--thread", "trips", "--docs", str(documents))
    assert footnote.run(*asked, "Who approves expensive journeys?").code == 0
    key = footnote.run("threads", "--json").json[0]["key"]  # type: ignore[index]
    assert key == "terminal:local:cli:trips"
    assert key in footnote.run("threads").out

    exported = footnote.run("export", "trips")
    assert exported.code == 0
    assert "> Who approves expensive journeys?" in exported.out
    assert "Maria Keller" in exported.out
    kept = footnote.run("export", key, "--format", "json").json
    assert kept["said"][0]["run"]["state"] == "answered"

    dry = footnote.run("forget", "thread", "trips", "--dry-run")
    assert (dry.code, "runs with their answers" in dry.out) == (0, True)
    unasked = footnote.run("forget", "thread", "trips")
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    gone = footnote.run("forget", "thread", "trips", "--yes")
    assert (gone.code, "Removed about" in gone.out) == (0, True)
    again = footnote.run("forget", "thread", "trips", "--yes")
    assert (again.code, "There is no thread trips" in again.err) == (2, True)
    database = footnote.folder / "data" / "footnote.sqlite"
    assert b"Maria Keller" not in database.read_bytes()


def test_a_backup_is_restored_and_found_whole(footnote: Program, documents: Path) -> None:
    missing = footnote.run("db", "check")
    assert (missing.code, "There is no database" in missing.err) == (1, True)
    asked = ("ask", "--thread", "trips", "--docs", str(documents))
    assert footnote.run(*asked, "Who approves expensive journeys?").code == 0
    copy = footnote.folder / "copies" / "footnote.sqlite"
    homeless = footnote.run("db", "backup", str(copy))
    assert (homeless.code, "is not a folder" in homeless.err) == (2, True)
    copy.parent.mkdir()
    assert footnote.run("db", "backup", str(copy)).code == 0
    assert copy.stat().st_mode & 0o077 == 0
    me = f"terminal:{getpass.getuser()}"
    assert footnote.run("forget", "user", me, "--yes").code == 0
    log = footnote.folder / "audit.jsonl"
    assert footnote.run("audit", "export", "--output", str(log)).code == 0
    assert log.stat().st_mode & 0o077 == 0

    database = footnote.folder / "data" / "footnote.sqlite"
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)
    database.write_bytes(copy.read_bytes())
    checked = footnote.run("db", "check")
    assert (checked.code, "quotes: " in checked.out) == (0, True)
    assert "Maria Keller" in footnote.run("export", "trips").out
    assert footnote.run(*asked, "Who approves expensive journeys?").code == 0  # after the restore

    again = footnote.run("forget", "again", str(log))
    assert (again.code, "in the log: 1. Forgotten again now: 1." in again.out) == (0, True)
    left = footnote.run("export", "trips").out  # the question after the restore alone
    assert left.count("Who approves expensive journeys?") == 1
    twice = footnote.run("forget", "again", "-", stdin=log.read_text())
    assert (twice.code, "again now: 0." in twice.out) == (0, True)
    assert footnote.run("export", "trips").out == left
    assert footnote.run("db", "check").code == 0
    rows = footnote.run("audit", "export", "--who", me).out.splitlines()
    people = [json.loads(row)["person"].partition(":")[0] for row in rows]
    assert people[0] == "forgotten"  # who asked before
    assert people[-1] == getpass.getuser()

    body = bytearray(database.read_bytes())
    body[:16] = b"no database here"
    database.write_bytes(body)
    broken = footnote.run("db", "check")
    assert (broken.code, "is not a Footnote database" in broken.err) == (1, True)


def test_forgetting_needs_a_platform_and_an_id(footnote: Program) -> None:
    ended = footnote.run("forget", "user", "slak:U1")
    assert (ended.code, "discord, slack, web, terminal" in ended.err) == (2, True)
    for user in ("slack:U1", "web:local"):
        unknown = footnote.run("forget", "user", user)
        assert (unknown.code, unknown.out) == (0, f"Nothing is kept about {user}.\n")


def test_pruning_without_settings_removes_nothing(footnote: Program) -> None:
    ended = footnote.run("db", "prune")
    assert (ended.code, "Nothing was old enough" in ended.out) == (0, True)
