"""Taking values out of JSON of which nothing is certain: a wrong type is an absent value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list."""
    return (each for each in _list(value) if isinstance(each, dict))


def string(value: Any) -> str:
    """A string, or ""."""
    return value if isinstance(value, str) else ""


def strings(value: Any) -> Iterator[str]:
    """The strings of a list."""
    return (
        (each for each in value if isinstance(each, str)) if isinstance(value, list) else iter(())
    )


def integer(value: Any) -> int | None:
    """A whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
