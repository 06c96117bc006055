"""Secrets in files: ``NAME_FILE`` names a file that holds what ``NAME`` would be.

Docker and Kubernetes mount secrets as files, and systemd hands them over in the folder
``$CREDENTIALS_DIRECTORY``; what is in the environment can be read by every child process.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from bot.errors import InvalidSetting

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
    """The secrets of files that ``given``, the environment with upper-case names, names: by the
    field of each, whose names are in ``names``.

    Raises ``InvalidSetting`` for a file that cannot be used, and for a secret that is given twice.
    """
    found: dict[str, str] = {}
    for field, name in names.items():
        path = given.get(name + ENDING)
        if not path:
            continue
        if given.get(name):
            raise InvalidSetting(f"{name} and {name}{ENDING} are both set: unset one of them.")
        found[field] = _secret_of(name + ENDING, Path(path))
    return found


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
