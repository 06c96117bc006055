"""Collections of documents and their readers, as the settings declare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator


def _listed(value: Any) -> Any:
    """Convert a list of ids; Discord's ids are numbers, which TOML reads as integers."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        is_number = (isinstance(each, int) and not isinstance(each, bool) for each in value)
        return tuple(str(each) if yes else each for each, yes in zip(value, is_number, strict=True))
    return value


Ids = Annotated[tuple[str, ...], BeforeValidator(_listed)]

# The lists of readers of a collection; it is enough if one of them names the reader.
WHO = ("channels", "people", "slack_groups", "discord_roles", "console_users", "console_groups")


class Readership(BaseModel):
    """The readers of a collection or server in the settings.

    ``everybody`` includes everyone who may ask. ``channels`` are Slack and Discord ids; all who
    read there are included. The other lists apply where only one person reads the answer:
    ``people`` (Slack and Discord ids), ``slack_groups`` and ``discord_roles`` in direct messages,
    ``console_users`` and ``console_groups`` (as the proxy names them) in the console.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: ClassVar[str]  # continues the sentence "no one may …"
    plural: ClassVar[str]

    name: str
    everybody: bool = False
    channels: Ids = ()
    people: Ids = ()
    slack_groups: Ids = ()
    discord_roles: Ids = ()
    console_users: Ids = ()
    console_groups: Ids = ()

    @field_validator(*WHO)
    @classmethod
    def _are_named(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return _not_empty(given)

    @field_validator("channels", "people", "slack_groups", "discord_roles")
    @classmethod
    def _are_ids(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for each in given:
            if not each.isascii() or not each.isalnum():
                raise ValueError(
                    f"“{each}” is not an id: write the platform's own, such as C0123ABCD of Slack "
                    "or the number that Discord copies"
                )
        return given

    @model_validator(mode="after")
    def _is_for_somebody(self) -> Self:
        if not self.everybody and not any(getattr(self, name) for name in WHO):
            raise ValueError(
                f"no one may {self.what} {self.name}: add everybody = true, or one of "
                f"{', '.join(WHO)}"
            )
        return self


class DocumentCollection(Readership):
    """Folders or files, and the readers who may search them."""

    what: ClassVar[str] = "search the collection"
    plural: ClassVar[str] = "collections"

    name: str = Field(min_length=1, max_length=80)
    paths: Ids

    @field_validator("paths")
    @classmethod
    def _has_paths(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        return _not_empty(paths)


def without_doubles(named: Sequence[Readership]) -> None:
    """Raise ``ValueError`` if two collections, or two servers, have the same name."""
    names = [each.name for each in named]
    for each in named:
        if names.count(each.name) > 1:
            raise ValueError(f"two {each.plural} are called {each.name}: give each its own name")


def _not_empty(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given:
        raise ValueError("the list is empty: name some, or leave the line out")
    return given
