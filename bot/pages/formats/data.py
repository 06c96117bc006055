"""Converts JSON, YAML, TOML and INI to page text that names each value by its path.

A description of an HTTP interface (OpenAPI, Swagger) is set by path and method. In settings, which
people write and comment, the lines stay as they are, in sections headed by their keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import yaml

from bot.pages.formats.talk import read_chat
from bot.pages.page import Reading
from bot.pages.page_markdown import DEEPEST_HEADING, WIDEST_CELL, Blocks
from bot.text.patterns import listed

LONGEST_VALUE = 200  # characters; a longer text is a paragraph below its key
MOST_YAML = 3_000_000  # characters that are parsed, in about 3 s
MOST_COLUMNS = 30  # of a table
_NAMES = ("name", "title", "id", "key")
_METHODS = listed("get put post delete options head patch trace")
_CONTROLS = re.compile(r"(?<!\\)\\(?:u00|x)(?:0[0-8bBcCeEfF]|1[0-9a-fA-F]|7[fF])")
_API = re.compile(r"""^[ \t{]*["']?(?:openapi|swagger)["']?[ \t]*:""", re.MULTILINE)


def read_json(source: str, people: bytes = b"") -> Reading:
    """Read JSON or JSON lines; other text stays as it is. ``people`` is as in ``read_chat``."""
    source = _CONTROLS.sub("", source)
    try:
        try:
            value = json.loads(source)
        except ValueError:
            value = [json.loads(line) for line in source.split("\n") if line.strip()]
        return read_chat(value, people) or _read_value(value)
    except (ValueError, RecursionError):
        return Reading("", source)


def _read_value(value: Any) -> Reading:
    blocks = Blocks()
    told: tuple[Any, ...] = ()
    if isinstance(value, dict):
        about = value["info"] if isinstance(value.get("info"), dict) else value
        told = about.get("title") or about.get("name"), about.get("version")
        if ("openapi" in value or "swagger" in value) and isinstance(value.get("paths"), dict):
            value = _by_path(value)
    _write(blocks, value, (), 2)
    if blocks.full:
        blocks.heading(1, "The rest of this file was not read")
    return Reading(" ".join(each for each in told if isinstance(each, str)), blocks.text())


def _by_path(spec: dict[str, Any]) -> dict[str, Any]:
    """A description of an interface (https://spec.openapis.org/oas/v3.1.0), by method and path."""
    found = {key: inner for key, inner in spec.items() if key != "paths"}
    for path, item in spec["paths"].items():
        for method, operation in item.items() if isinstance(item, dict) else ():
            name = f"{method.upper()} {path}" if method in _METHODS else f"{path} {method}"
            found[name] = operation
    return found


def _write(blocks: Blocks, value: Any, path: tuple[str, ...], level: int) -> None:
    """Write a value: what is short by line, records as a table, the rest below headings."""
    if blocks.full:
        return
    if level > DEEPEST_HEADING or not isinstance(value, dict | list):
        blocks.code(json.dumps(value, ensure_ascii=False, default=str))
        return
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    if len(rows) > 1 and len(rows) == len(value):
        columns = list(dict.fromkeys(key for row in rows for key in row))
        if 0 < len(columns) <= MOST_COLUMNS:
            cells = [[_shown(row[key]) if key in row else "" for key in columns] for row in rows]
            if max(map(len, chain(*cells))) <= WIDEST_CELL:
                blocks.table([list(map(str, columns)), *cells])
                return
    below: list[tuple[str, Any]] = []
    lines: list[str] = []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value, 1):
        records = isinstance(inner, list) and any(isinstance(each, dict) for each in inner)
        is_section = (level == 2 and isinstance(inner, dict)) or (records and len(inner) > 1)
        shown = "" if is_section else _shown(inner)
        if is_section or len(shown) > LONGEST_VALUE or "\n" in shown:
            below.append((str(key), inner))
        else:
            lines += _lines(inner, (*path, str(key)))
    blocks.code("\n".join(lines))
    for key, inner in below:
        names = (inner.get(name) for name in _NAMES) if isinstance(inner, dict) else ()
        name = next((each for each in names if isinstance(each, str) and each), "")
        blocks.heading(level, name if name and isinstance(value, list) else key)
        if isinstance(inner, str):
            blocks.paragraph(inner)
        else:
            _write(blocks, inner, () if " /" in key else (*path, key), level + 1)


def _lines(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _lines(inner, (*path, str(key)))
    else:
        yield f"{'.'.join(path)}: {_shown(value)}"


def _shown(value: Any) -> str:
    """A value on one line, as people write it."""
    if isinstance(value, dict) and value:
        return ", ".join(f"{key}: {_shown(inner)}" for key, inner in value.items())
    if isinstance(value, list) and value:
        return ", ".join(map(_shown, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# ---------------------------------------------------------------- settings

_TABLE = re.compile(r"[ \t]*\[{1,2}([^\[\]\n]{1,200})\]{1,2}[ \t]*(?:[#;].*)?")
_RECORD = re.compile(rf"- (?:{'|'.join(_NAMES)}):[ \t]+(\S.*)")
_KEY = re.compile(r"([\w\"'$@./-][^:#\n]{0,100}):(?:[ \t].*)?")
_COMMENT = ("#", ";", "//")


def read_settings(source: str) -> Reading:
    """Read YAML, TOML, INI, or lines of names and values."""
    if _API.search(source) and len(source) <= MOST_YAML:
        with suppress(yaml.YAMLError, ValueError, RecursionError):  # then as it is written
            safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            shown = _CONTROLS.sub("", source)
            # Aliases can make a short text a value without end.
            if not any(isinstance(each, yaml.AliasEvent) for each in yaml.parse(shown, safe)):
                return _read_value(yaml.load(shown, safe))  # noqa: S506
    lines = source.expandtabs().split("\n")
    blocks = Blocks()
    starts: dict[int, str] = {}
    inner: set[int] = set()  # starts of records
    is_inner = False  # whether the line after is part of a value
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if found := _TABLE.fullmatch(line):
            starts[at] = found[1]
        if not line.strip() or line.startswith(_COMMENT):
            continue
        if is_inner and (found := _KEY.fullmatch(line.rstrip())):
            starts[at] = found[1].strip("\"' ")
        if found := _RECORD.fullmatch(line.rstrip()):
            starts[at] = found[1].strip("\"' ")
            inner.add(at)
        is_inner = line.startswith((" ", "- "))
    for at, name, part in _divided(lines, dict(sorted(starts.items()))):
        blocks.heading(3 if at in inner else 2, name)
        blocks.code("\n".join(part))
    return Reading("", blocks.text())


def _divided(
    lines: Sequence[str], starts: dict[int, str]
) -> Iterator[tuple[int, str, Sequence[str]]]:
    """The parts of a text with their starts and names; comments above a part belong to it."""
    done, start, name = 0, 0, ""
    for at, following in starts.items():
        begin = at
        while begin > done and lines[begin - 1].startswith(_COMMENT):
            begin -= 1
        yield start, name, lines[done:begin]
        done, start, name = begin, at, following
    yield start, name, lines[done:]
