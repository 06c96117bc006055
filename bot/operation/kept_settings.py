"""Settings that an operator made in the console, kept in the database.

``read`` returns the settings with the kept ones among them: those of the environment, ``.env``,
``footnote.toml`` and the command line win. ``keep(values)`` stores values by the names of fields
(``slack_bot_token``, ``docs``), as their JSON: a secret is a text, a list of texts a list.
``docs`` are followed beside those of other sources, and so is ``Settings.uploads_path`` once it has
files. ``drop(names)`` deletes values. Both add their names to the audit log, and take effect when a
process reads them: `footnote serve` does so when its ``Reception.restart`` is set, commands that
answer in the terminal at their start (``read_kept``).

Secrets are encrypted with ``FOOTNOTE_ENCRYPTION_KEYS``. Without these, the embedded database in the
data folder has a key of its own there, in a file that only its owner may read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import Any

import sqlalchemy as sa
from pydantic import SecretStr, ValidationError

from bot.core.errors import InvalidSetting
from bot.core.messages import CONSOLE
from bot.core.settings import Settings, is_key, is_secret
from bot.core.texts import Sentence, said
from bot.operation.configuration import env_name, what_is_wrong
from bot.storage.audit_log import note
from bot.storage.database import Database, database_of
from bot.storage.encryption import Seal, new_key
from bot.storage.tables import facts, keep_fact
from bot.storage.workspaces import Workspaces

_PLACE = (CONSOLE, "settings")  # platform and workspace of these facts
KEY = "footnote.key"  # in the data folder


@dataclass(frozen=True, slots=True)
class Kept:
    """The ``settings`` with the kept ones, the names of those in use, and what is wrong with
    others, by name: a sentence."""

    settings: Settings
    names: frozenset[str] = frozenset()
    problems: Mapping[str, Sentence] = field(default_factory=dict)


class KeptSettings:
    """See the module docstring. ``settings`` are those of all other sources."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._key_path = settings.data_dir.expanduser() / KEY

    async def read(self) -> Kept:
        """Return the settings with those that are kept. Raises ``StorageUnavailable``."""
        settings, names, problems = self._settings, set[str](), dict[str, Sentence]()
        for name, kept in (await Workspaces(self._database).facts(*_PLACE)).items():
            if name in self._settings.model_fields_set and name != "docs":
                continue
            try:
                value = await self._open(name, kept)
                if name == "docs":
                    gone = _gone(value)
                    problems |= gone
                    value = [*settings.docs, *(each for each in value if each not in gone)]
                settings = with_setting(settings, name, value)
                names.add(name)
            except InvalidSetting as error:
                problems[name] = error.said
        if _has_files(settings.uploads_path):
            docs = (*settings.docs, str(settings.uploads_path))
            settings = settings.model_copy(update={"docs": docs})
        return Kept(settings, frozenset(names), problems)

    async def docs(self) -> tuple[str, ...]:
        """Return the folders that are kept. Raises ``StorageUnavailable``."""
        kept = (await Workspaces(self._database).facts(*_PLACE)).get("docs")
        return tuple(kept["value"]) if kept else ()

    async def keep(self, values: Mapping[str, Any]) -> None:
        """Store values. Raises ``InvalidSetting`` for one that is not allowed and for a secret that
        could not be encrypted, and ``StorageUnavailable``."""
        for name, value in values.items():
            if name in self._settings.model_fields_set and name != "docs":
                raise InvalidSetting(said("kept-given", name=env_name(name)))
            with_setting(self._settings, name, value)
        closed = {name: self._close(name, value) for name, value in values.items()}
        async with self._database.write() as db:
            for name, kept in closed.items():
                await keep_fact(db, *_PLACE, name, kept)
                await note(db, "kept", "setting", env_name(name))

    async def drop(self, names: Sequence[str]) -> None:
        """Delete kept values. Raises ``StorageUnavailable``."""
        platform, workspace = _PLACE
        kept = facts.c.platform == platform, facts.c.workspace == workspace
        async with self._database.write() as db:
            for name in names:
                found = await db.execute(sa.delete(facts).where(*kept, facts.c.name == name))
                if found.rowcount:
                    await note(db, "dropped", "setting", env_name(name))

    def _close(self, name: str, value: Any) -> dict[str, Any]:
        if not _is_secret(self._settings, name):
            return {"value": value}
        return {"closed": Seal(self._keys(make=True)).close(str(value))}

    async def _open(self, name: str, kept: Any) -> Any:
        """Return a kept value; one encrypted with an older key is stored with the first again.
        Raises ``InvalidSetting``."""
        if "closed" not in kept:
            return kept["value"]
        closed = str(kept["closed"])
        try:
            seal = Seal(self._keys(make=False))
            value = seal.open(closed)
        except InvalidSetting as error:
            given = self._settings.database_url or self._settings.encryption_keys
            where = "FOOTNOTE_ENCRYPTION_KEYS" if given else self._key_path
            raise InvalidSetting(
                said("kept-key-gone", where=str(where)),
                detail=error.sentence,
            ) from None
        if not seal.is_first(closed):
            await Workspaces(self._database).remember(*_PLACE, name, self._close(name, value))
        return value

    def _keys(self, *, make: bool) -> Sequence[SecretStr]:
        """Return the keys of the settings and, for the embedded database, that of the data folder;
        ``make`` makes one if there is none. Raises ``InvalidSetting`` if there is none."""
        given = self._settings.encryption_keys
        path = self._key_path
        if self._settings.database_url:
            if not given:
                raise InvalidSetting(said("kept-key-none"))
            return given
        if make and not given and not path.exists():
            try:
                with suppress(FileExistsError):  # another process has written one meanwhile
                    write_whole(path, new_key().encode())
            except OSError as error:
                told = said("kept-key-unwritten", path=str(path), why=str(error))
                raise InvalidSetting(told) from None
        return (*given, *_key_in(path))


async def read_kept(settings: Settings) -> Kept:
    """Open the database and return the settings with those that are kept. Raises
    ``StorageUnavailable``."""
    async with database_of(settings) as database:
        return await KeptSettings(settings, database).read()


def _gone(folders: Sequence[str]) -> dict[str, Sentence]:
    missing = (each for each in folders if not Path(each).is_dir())
    return {each: said("kept-folder-gone", path=each) for each in missing}


def _has_files(folder: Path) -> bool:
    try:
        return any(name[0] != "." for name in os.listdir(folder))
    except OSError:
        return False


def _is_secret(settings: Settings, name: str) -> bool:
    fields = type(settings).model_fields
    if name not in fields:
        raise InvalidSetting(f"There is no setting {name}.")
    return is_secret(name, fields[name])


def with_setting(settings: Settings, name: str, value: Any) -> Settings:
    """Return the settings with one more value. Raises ``InvalidSetting`` if it is not allowed."""
    _is_secret(settings, name)
    try:
        checked = type(settings)(**{name: value})
    except ValidationError as error:
        raise InvalidSetting(what_is_wrong(error)) from None
    return settings.model_copy(update={name: getattr(checked, name)})


def _key_in(path: Path) -> Sequence[SecretStr]:
    """Return the key in a file, if any. Raises ``InvalidSetting``."""
    try:
        key = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(said("kept-key-unreadable", path=str(path), why=str(error))) from None
    if not is_key(key):
        raise InvalidSetting(said("kept-key-other", path=str(path)))
    return (SecretStr(key),)


def write_whole(path: Path, body: bytes, *, replace: bool = False) -> None:
    """Write a file that only its owner may read, whole or not at all. Raises ``OSError``, and
    without ``replace`` ``FileExistsError`` for a file or link that has the name already."""
    with TemporaryDirectory(prefix=".", dir=path.parent) as hidden:  # documents in it are not read
        descriptor, partial = mkstemp(dir=hidden)
        with open(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(descriptor)
        # Neither follows a link that has the name; a link is never made over a file.
        (os.replace if replace else os.link)(partial, path)
