"""Reads ``footnote.toml``, or another settings file, by itself."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import TypeAdapter, ValidationError

from bot.errors import InvalidSetting
from bot.mcp.entry import McpServer
from bot.rights.collection import DocumentCollection, without_doubles
from bot.settings import DOTENV, PREFIX

_collections = TypeAdapter(tuple[DocumentCollection, ...])
_servers = TypeAdapter(tuple[McpServer, ...])


def settings_in_file(path: Path, fields: Sequence[str]) -> dict[str, Any]:
    """Return the settings in a TOML file, unvalidated; ``fields`` are the allowed names.

    Raises ``InvalidSetting`` for invalid TOML and for an unknown name.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} is not valid TOML: {error}. Correct it there.") from None
    for name in found:
        if name not in fields:
            plain = name.lower().removeprefix(PREFIX.lower())
            raise InvalidSetting(f"Unknown setting {name} in {path}.{nearest_name(plain, fields)}")
    return found


def is_set_outside_of_file(field: str) -> bool:
    """Return True if the environment or ``.env``, which override ``footnote.toml``, have a
    setting."""
    name = PREFIX + field.upper()
    there = {**dotenv_values(DOTENV), **os.environ}
    return any(each.upper() == name and value for each, value in there.items())


def readers_in(
    path: Path, fields: Sequence[str]
) -> tuple[tuple[DocumentCollection, ...], tuple[McpServer, ...]]:
    """Return the collections and servers now in a TOML file; ``fields`` as for
    ``settings_in_file``.

    Raises ``InvalidSetting``.
    """
    try:
        found = settings_in_file(path, fields)
        collections = _collections.validate_python(found.get("collections", ()))
        servers = _servers.validate_python(found.get("mcp", ()))
        without_doubles(collections)
        without_doubles(servers)
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be read ({error.strerror}).") from None
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidSetting(
            f"The collections or servers in {path} cannot be used: {problem['msg']}. "
            "`footnote doctor` says what is wrong."
        ) from None
    except ValueError as error:
        raise InvalidSetting(f"{path}: {error}.") from None
    return collections, servers


def nearest_name(name: str, known: Sequence[str]) -> str:
    """Return the end of a sentence about an unknown name: the most similar known one."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
    return f" Did you mean {near}? `footnote doctor --verbose` lists all."
