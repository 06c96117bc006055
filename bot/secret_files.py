"""Secrets in files: ``NAME_FILE`` names a file that holds what ``NAME`` would be.

Docker and Kubernetes mount secrets as files, and systemd hands them over in the folder
``$CREDENTIALS_DIRECTORY``; what is in the environment can be read by every child process.

A key that goes with each request is read again when its file has changed (``renewed``), so that it
can be changed while the process works. A secret that opens a lasting connection is read at the
start.
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
    """True for a setting that may come from a file."""
    return field in ADDRESSES or _holds_secret(info.annotation)


def _holds_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(map(_holds_secret, get_args(annotation)))


def secrets_in_files(names: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """The secrets by field, from the files that the environment names.

    ``names`` has the variable of each field, ``given`` the environment with upper-case names.

    Raises ``InvalidSetting`` for a file that cannot be used, and for a secret that is given twice.
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
    """The file of a secret: its content at the start (``first``), and ``now``, as of a ``state`` of
    the file."""

    path: Path
    first: str
    now: str
    state: tuple[int, ...] = ()


_files: dict[str, _File] = {}  # of this process' settings, by name


def renewed(name: str, text: str) -> str:
    """A text with a setting's secret in it, with the secret as its file holds it now, or as it held
    it last while the file cannot be used."""
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
    """Differs once a file was changed or replaced. Kubernetes replaces the folder above it."""
    told = path.stat()
    return told.st_ino, told.st_mtime_ns, told.st_size


def _secret_of(name: str, path: Path) -> str:
    """The content of a file without the line break at its end, which editors add."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise InvalidSetting(
            f"{name} names {path}, which does not exist: create it, or correct the path."
        ) from None
    except PermissionError:
        raise InvalidSetting(
            f"{name} names {path}, which may not be read: let the user that Footnote runs as read "
            "it."
        ) from None
    except OSError as error:
        raise InvalidSetting(
            f"{name} names {path}, which cannot be read ({error.strerror})."
        ) from None
    except UnicodeDecodeError:
        raise InvalidSetting(
            f"{name} names {path}, which is not UTF-8 text: write it so."
        ) from None
    if len(text) > LONGEST:
        raise InvalidSetting(f"{name} names {path}, which is too long for a secret.")
    secret = text.rstrip("\r\n")
    if not secret.strip():
        raise InvalidSetting(f"{name} names {path}, which is empty: write the secret into it.")
    return secret
