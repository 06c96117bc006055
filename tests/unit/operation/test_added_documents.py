"""Files and folders that an operator adds: where they lie, what is refused, what is logged."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.core.errors import Invalid
from bot.core.settings import Settings
from bot.operation.added_documents import AddedDocuments, NewFolder
from bot.operation.configuration import load_settings
from bot.operation.kept_settings import KeptSettings
from bot.storage.audit_log import Audit, AuditFilter
from bot.storage.database import Database
from bot.storage.store import open_store
from tests.fakes import sqlite
from tests.unit.search.test_indexer import write


@pytest.fixture
def given(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data", docs=(str(tmp_path),))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    store = await open_store(sqlite.migrated(tmp_path / "store"))
    yield store.database
    await store.close()


@pytest.fixture
def added(given: Settings, database: Database) -> AddedDocuments:
    return AddedDocuments(given, database)


async def deeds(database: Database) -> list[tuple[str, str, str]]:
    found = Audit(database).entries(AuditFilter(what=("kept", "dropped")))
    return [(one.deed, one.kind, one.object) async for one in found]


async def test_an_uploaded_file_is_private_and_never_over_another(
    added: AddedDocuments, database: Database
) -> None:
    await added.save("tides.md", b"# Tides", replace=False)
    file = added.uploads / "tides.md"
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Invalid, match="already"):
        added.check_names(["tides.md"], replace=False)
    with pytest.raises(Invalid, match="already"):
        await added.save("tides.md", b"other", replace=False)
    assert file.read_bytes() == b"# Tides"
    added.check_names(["tides.md"], replace=True)
    await added.save("tides.md", b"other", replace=True)
    assert os.listdir(added.uploads) == ["tides.md"]
    assert file.read_bytes() == b"other"
    await added.remove("tides.md")
    assert os.listdir(added.uploads) == []
    assert await deeds(database) == [
        *(("kept", "file", "tides.md"),) * 2,
        ("dropped", "file", "tides.md"),
    ]


async def test_a_link_is_replaced_and_removed_and_never_followed(
    added: AddedDocuments, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    write(secret, "kept")
    added.uploads.mkdir(parents=True)
    link = added.uploads / "link.md"
    link.symlink_to(secret)
    with pytest.raises(Invalid):
        await added.save("link.md", b"x", replace=False)
    await added.save("link.md", b"x", replace=True)
    assert (secret.read_text(), link.read_text()) == ("kept", "x")
    link.unlink()
    link.symlink_to(secret)
    await added.remove("link.md")
    assert secret.exists()
    assert not link.is_symlink()


@pytest.mark.parametrize("name", ["../secret.md", "/etc/passwd", "", ".", "..", "a/b", "x\0"])
async def test_only_a_file_of_the_folder_is_removed(
    added: AddedDocuments, name: str, database: Database
) -> None:
    write(added.uploads.parent / "secret.md", "kept")
    (added.uploads / "a").mkdir(parents=True)
    write(added.uploads / "a" / "b", "kept")
    with pytest.raises(Invalid):
        await added.remove(name)
    with pytest.raises(Invalid):
        await added.remove("a")
    assert await deeds(database) == []


@pytest.mark.parametrize("name", ["cat.png", "x.min.js", "a.exe", ".hidden.md"])
def test_a_kind_that_is_not_read_is_refused(added: AddedDocuments, name: str) -> None:
    with pytest.raises(Invalid, match="is not supported"):
        added.check_names([name], replace=False)


async def test_a_long_name_is_shortened_to_what_file_systems_take(added: AddedDocuments) -> None:
    await added.save("长" * 120 + ".md", b"x", replace=False)
    (name,) = os.listdir(added.uploads)
    assert name.endswith("长.md")
    with pytest.raises(Invalid):
        added.check_names(["长" * 120 + ".md"], replace=False)


async def test_a_disk_that_takes_no_file_is_a_sentence(added: AddedDocuments) -> None:
    write(added.uploads, "a file stands where the folder should be")
    with pytest.raises(Invalid, match="could not be stored"):
        await added.save("tides.md", b"x", replace=False)


async def test_uploads_are_followed_as_soon_as_there_is_one(
    added: AddedDocuments, given: Settings, database: Database
) -> None:
    kept = KeptSettings(given, database)
    added.uploads.mkdir(parents=True)
    assert (await kept.read()).settings.docs == given.docs
    await added.save("tides.md", b"# Tides", replace=False)
    assert (await kept.read()).settings.docs == (*given.docs, str(added.uploads))


async def test_a_folder_is_followed_beside_those_of_the_settings(
    added: AddedDocuments,
    given: Settings,
    database: Database,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder, other = tmp_path_factory.mktemp("added"), tmp_path_factory.mktemp("other")
    write(folder / "tides.md", "# Tides")
    write(folder / "cat.png", "x")
    (folder / ".git").mkdir()
    new = added.check(str(folder), given.docs)
    assert new == NewFolder(str(folder), 2, 1)
    await added.add(new)
    await added.add(added.check(str(other), given.docs))
    kept = KeptSettings(given, database)
    assert (await kept.read()).settings.docs == (*given.docs, str(folder), str(other))
    other.rmdir()
    read = await kept.read()
    assert read.settings.docs == (*given.docs, str(folder)), "one that is gone hides no other"
    assert list(read.problems) == [str(other)]
    await added.drop(str(other))
    await added.drop(str(folder))
    assert (await kept.read()).settings.docs == given.docs
    assert ("dropped", "folder", str(folder)) in await deeds(database)
    with pytest.raises(Invalid):
        await added.drop(given.docs[0])


@pytest.mark.parametrize("path", ["nowhere", "FILE", "docs", "~nobody/x", "x\0y", "", "a" * 5_000])
def test_only_a_folder_that_is_there_can_be_added(
    added: AddedDocuments, path: str, tmp_path: Path
) -> None:
    write(tmp_path / "file.md", "x")
    with pytest.raises(Invalid, match="is not a folder"):
        added.check(path.replace("FILE", str(tmp_path / "file.md")), ())


@pytest.mark.parametrize("name", ["data", "data/sources", "", "/", "link"])
def test_the_folder_of_our_own_data_is_refused(
    added: AddedDocuments, name: str, tmp_path: Path
) -> None:
    added.uploads.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(Invalid, match="own data"):
        added.check(str(tmp_path / name), ())


def test_what_is_followed_already_is_refused(
    added: AddedDocuments, given: Settings, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    with pytest.raises(Invalid, match="already searched"):
        added.check(str(tmp_path / "inner"), given.docs)
