"""Secrets in files: ``NAME_FILE`` names a file that contains the value of ``NAME``.

Docker and Kubernetes mount secrets as files, and systemd hands them over in the folder
``$CREDENTIALS_DIRECTORY``; the environment, in contrast, is visible to every child process.

A key sent with each request is read again when its file changes (``renewed``), so that it can be
rotated while the process runs. A secret for a lasting connection is read at the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from bot.errors import InvalidSetting
from bot.logs import get_logger

log = get_logger()

ENDING = "_FILE"
LONGEST = 100_000  # characters of a secret
# Addresses that hold a password.
ADDRESSES = ("database_url", "database_listen_url")


def is_secret(field: str, info: FieldInfo) -> bool:
    """Return True for a setting that may come from a file."""
    return field in ADDRESSES or _holds_secret(info.annotation)


def _holds_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(map(_holds_secret, get_args(annotation)))


def secrets_in_files(names: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """Read the secrets from the files that the environment names; returns them by field.

    ``names`` maps each field to its variable; ``given`` is the environment with upper-case names.

    Raises ``InvalidSetting`` for an unusable file, and for a secret that is set twice.
    """
    found: dict[str, str] = {}
    _files.clear()
    for field, name in names.items():
        path = given.get(name + ENDING)
        if not path:
            continue
        if given.get(name):
            raise InvalidSetting(f"{name} and {name}{ENDING} are both set: unset one of them.")
        found[field] = _secret_of(name + ENDING, Path(path))
        secret = found[field].strip()
        _files[name] = _File(Path(path), secret, secret)
    return found


@dataclass
class _File:
    """The file of a secret: its content at the start (``first``) and ``now``, read when the file
    had this ``state``."""

    path: Path
    first: str
    now: str
    state: tuple[int, ...] = ()


_files: dict[str, _File] = {}  # of this process's settings, by name


def renewed(name: str, text: str) -> str:
    """Replace a setting's secret in a text by the file's current content, or by its last content
    while the file is unusable."""
    file = _files.get(name)
    if file is None:
        return text
    before = file.now
    try:
        if (state := _state(file.path)) != file.state:
            file.now, file.state = _secret_of(name + ENDING, file.path).strip(), state
    except (InvalidSetting, OSError) as error:
        log.warning("a secret could not be read again", setting=name + ENDING, why=str(error))
    if file.now != before:
        log.warning("a changed secret was read", setting=name + ENDING)
    return text.replace(file.first, file.now)


def _state(path: Path) -> tuple[int, ...]:
    """A value that differs once a file has changed. Kubernetes replaces the parent folder."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _secret_of(name: str, path: Path) -> str:
    """Return the content of a file without the final line break that editors add."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise InvalidSetting(
            f"{name} names {path}, which does not exist: create it, or correct the path."
        ) from None
    except PermissionError:
        raise InvalidSetting(
            f"{name} names {path}, which Footnote may not read: give its user read permission."
        ) from None
    except OSError as error:
        raise InvalidSetting(
            f"{name} names {path}, which cannot be read ({error.strerror})."
        ) from None
    except UnicodeDecodeError:
        raise InvalidSetting(
            f"{name} names {path}, which is not UTF-8 text: save it as UTF-8."
        ) from None
    if len(text) > LONGEST:
        raise InvalidSetting(f"{name} names {path}, which is too long for a secret.")
    secret = text.rstrip("\r\n")
    if not secret.strip():
        raise InvalidSetting(f"{name} names {path}, which is empty: write the secret into it.")
    return secret
