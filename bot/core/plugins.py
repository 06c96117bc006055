"""Plug-in parts: the base of their settings, and their discovery in installed packages.

A search provider or a platform is declared by one module-level value. A package names that value in
an entry point group, where Footnote finds it without changes to its own code.
https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from bot.core.errors import InvalidSetting

T = TypeVar("T")


class PartSettings(BaseModel):
    """Base of a part's own settings, which are read from the same sources as all others.

    Every field has a default and a ``description``, and begins with the part's name, so that no two
    parts share one; ``footnote doctor`` lists them. In the environment a field is named
    ``FOOTNOTE_`` plus its name in capitals, unless it is a ``named_field``.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)  # see ``Settings``


def named_field(*names: str, description: str) -> Any:
    """Define a setting under the name used in the part's own documentation; None by default.

    The first name is the one shown; the field has the same name in lower case.
    """
    lower = [name.lower() for name in names]
    return Field(
        default=None, validation_alias=AliasChoices(*names, *lower), description=description
    )


@dataclass(frozen=True, slots=True)
class Step:
    """A step of connecting a part. ``text`` is the id of a text that says what to do, ``label`` of
    the name of its ``link``, or of the setting that it asks for (``field``); ``copied`` is a text
    to copy."""

    text: str
    label: str = ""
    link: str = ""
    field: str = ""
    copied: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """How an operator connects a part in the console. ``steps`` returns the steps, ``fields`` are
    the settings that they ask for; ``connected`` is the id of a text for afterwards, in which
    ``$name`` is the bot's name."""

    title: str
    steps: Callable[[], Sequence[Step]]
    fields: tuple[str, ...]
    connected: str


def points(group: str) -> EntryPoints:
    """Return the entry points of a group, from all packages."""
    found: EntryPoints = all_points().select(group=group)
    return found


@cache
def all_points() -> Any:
    """Return the entry points of all packages; cached, since reading their metadata takes 4 ms."""
    return entry_points()  # SelectableGroups in Python 3.11, EntryPoints in later ones


def load_parts(group: str, kind: type[T], what: str) -> Iterator[T]:
    """Yield the parts that packages declare in an entry point group; ``what`` names such a part.

    Raises ``InvalidSetting`` for a package whose part cannot be loaded.
    """
    for point in points(group):
        yield load_part(point, kind, what)


def load_part(point: EntryPoint, kind: type[T], what: str) -> T:
    """Load the part of one entry point. Raises as ``load_parts`` does."""
    package = point.dist.name if point.dist else point.value
    try:
        part = point.load()
    except Exception as error:
        raise InvalidSetting(
            f"The {what} {point.name} of the package {package} cannot be loaded: "
            "update or remove that package.",
            detail=f"{type(error).__name__}: {error}",
        ) from error
    if not isinstance(part, kind):
        raise InvalidSetting(
            f"{point.value} of the package {package} declares no {what}: update or remove "
            "that package."
        )
    return part
