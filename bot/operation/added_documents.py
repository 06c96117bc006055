"""Documents that an operator adds in the console: uploaded files, and folders of the server.

Files lie in a folder of Footnote's own in the data folder, which is followed like those of
FOOTNOTE_DOCS as soon as it has one. Folders are kept as the setting ``docs`` (``KeptSettings``).
Everything that is added or removed is in the audit log. Errors have sentences of the catalogs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.core.errors import invalid
from bot.core.settings import Settings
from bot.operation.kept_settings import KeptSettings, write_whole
from bot.search.folders import FOLDER, list_documents, reads
from bot.storage.audit_log import Audit
from bot.storage.database import Database

LONGEST_NAME = 200  # bytes of a file's name; file systems allow 255


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder that may be added: its real path, and how many files were found and can be read."""

    path: str
    found: int
    documents: int


class AddedDocuments:
    """See the module docstring. ``given`` are the settings without those kept in the console."""

    def __init__(self, given: Settings, database: Database) -> None:
        self._kept = KeptSettings(given, database)
        self._audit = Audit(database)
        self._data = given.data_dir.expanduser()
        self.uploads = given.uploads_path

    # ------------------------------------------------------------ files

    def check_names(self, names: Sequence[str], *, replace: bool) -> None:
        """Raise ``Invalid`` for a kind that is not read, and for the name of a file that is there
        and may not be replaced."""
        for name in names:
            if not reads(name):
                raise invalid("sources-not-read", name=name)
            if not replace and os.path.lexists(self.uploads / _short(name)):
                raise invalid("sources-exists", name=name)

    async def save(self, name: str, body: bytes, *, replace: bool) -> None:
        """Store a file. ``name`` is free of folders (``forms.safe_name``). Raises ``Invalid``."""
        await asyncio.to_thread(self._write, _short(name), body, replace)
        await self._audit.note("kept", "file", name)

    def _write(self, name: str, body: bytes, replace: bool) -> None:
        try:
            os.makedirs(self.uploads, mode=0o700, exist_ok=True)
            write_whole(self.uploads / name, body, replace=replace)
        except OSError as error:
            if error.filename2 is not None and isinstance(error, FileExistsError):  # of os.link
                raise invalid("sources-exists", name=name) from None
            why = error.strerror or type(error).__name__
            raise invalid("sources-not-stored", name=name, why=why) from None

    async def remove(self, name: str) -> None:
        """Delete an uploaded file. Raises ``Invalid`` if there is none of this name."""
        try:
            if name not in os.listdir(self.uploads):  # so it is no path
                raise FileNotFoundError(name)
            os.unlink(self.uploads / name)
        except OSError:
            raise invalid("sources-gone") from None
        await self._audit.note("dropped", "file", name)

    # ------------------------------------------------------------ folders

    def check(self, path: str, followed: Sequence[str]) -> NewFolder:
        """Look into a folder that is to be added to those that are followed; takes a second for
        150,000 files. Raises ``Invalid``."""
        try:
            root = Path(path).expanduser()
            real = root.resolve(strict=True)
            is_usable = root.is_absolute() and real.is_dir() and os.access(real, os.R_OK | os.X_OK)
        except (OSError, RuntimeError, ValueError):
            is_usable = False
        if not is_usable:
            raise invalid("sources-no-folder", path=path)
        data = self._data.resolve()
        if data.is_relative_to(real) or real.is_relative_to(data):
            raise invalid("sources-own-folder", path=path)
        if any(real.is_relative_to(os.path.realpath(each)) for each in followed):
            raise invalid("sources-followed", path=path)
        listing = list_documents([real])
        left = sum(count for (_, mark), count in listing.unread.items() if mark != FOLDER)
        return NewFolder(str(real), len(listing.documents) + left, len(listing.documents))

    async def folders(self) -> tuple[str, ...]:
        """Return the folders that were added."""
        return await self._kept.docs()

    async def add(self, folder: NewFolder) -> None:
        """Follow a folder from the next start on. Raises ``StorageUnavailable``."""
        await self._kept.keep({"docs": [*await self.folders(), folder.path]})
        await self._audit.note("kept", "folder", folder.path)

    async def drop(self, path: str) -> None:
        """Follow a folder no longer. Raises ``Invalid`` if it was not added."""
        folders = await self.folders()
        if path not in folders:
            raise invalid("sources-gone")
        await self._kept.keep({"docs": [each for each in folders if each != path]})
        await self._audit.note("dropped", "folder", path)


def _short(name: str) -> str:
    stem, ending = os.path.splitext(name)
    room = LONGEST_NAME - len(ending.encode())
    return stem.encode()[:room].decode(errors="ignore") + ending
