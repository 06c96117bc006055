"""Parts that declare themselves: their settings, and the discovery of those in installed packages.

A search provider or a platform is declared by one value at module level. A package names that value
in an entry point group, and Footnote finds it there without any change to its own code.
https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from bot.errors import InvalidSetting

T = TypeVar("T")


class PartSettings(BaseModel):
    """Base of a part's own settings, which are read from the same places as all others.

    Every field has a default and a ``description``, and begins with the part's name, so that no two
    parts share one; ``footnote doctor`` lists them. In the environment a field is ``FOOTNOTE_`` and
    its name in capitals, unless it is a ``named_field``.
    """

    model_config = ConfigDict(frozen=True)


def named_field(*names: str, description: str) -> Any:
    """A setting under the name that the part's own documentation gives it; None by default.

    The first name is the one shown; the field itself is called like it, in lower case.
    """
    lower = [name.lower() for name in names]
    return Field(
        default=None, validation_alias=AliasChoices(*names, *lower), description=description
    )


def installed(group: str, kind: type[T], what: str) -> Iterator[T]:
    """The parts that packages declare in an entry point group; ``what`` names such a part.

    Raises ``InvalidSetting`` for a package whose part cannot be loaded.
    """
    for point in entry_points(group=group):
        package = point.dist.name if point.dist else point.value
        try:
            loaded = point.load()
        except Exception as error:
            raise InvalidSetting(
                f"The {what} {point.name} of the package {package} cannot be loaded: "
                "update or remove that package.",
                detail=f"{type(error).__name__}: {error}",
            ) from error
        if not isinstance(loaded, kind):
            raise InvalidSetting(
                f"{point.value} of the package {package} declares no {what}: update or remove "
                "that package."
            )
        yield loaded
