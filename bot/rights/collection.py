"""A collection of documents as the settings declare it: its folders, and who may search them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator


def _listed(value: Any) -> Any:
    """Ids of Discord are numbers, which TOML reads as such."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        is_number = (isinstance(each, int) and not isinstance(each, bool) for each in value)
        return tuple(str(each) if yes else each for each, yes in zip(value, is_number, strict=True))
    return value


Ids = Annotated[tuple[str, ...], BeforeValidator(_listed)]

# The lists of those who may search a collection; one that names the reader is enough.
WHO = ("channels", "people", "slack_groups", "discord_roles", "console_users", "console_groups")


class DocumentCollection(BaseModel):
    """Folders or files, and who may search them.

    ``everybody`` are all who may ask. ``channels`` are ids of Slack and Discord: those who read
    there. The others count where one person alone reads the answer: ``people`` (ids of Slack and
    Discord), ``slack_groups`` and ``discord_roles`` in direct messages, ``console_users`` and
    ``console_groups`` (as the proxy names them) in the console.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=80)
    paths: Ids
    everybody: bool = False
    channels: Ids = ()
    people: Ids = ()
    slack_groups: Ids = ()
    discord_roles: Ids = ()
    console_users: Ids = ()
    console_groups: Ids = ()

    @field_validator("paths", *WHO)
    @classmethod
    def _are_named(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if not given:
            raise ValueError("the list is empty: name some, or leave the line out")
        return given

    @field_validator("channels", "people", "slack_groups", "discord_roles")
    @classmethod
    def _are_ids(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for each in given:
            if not each.isascii() or not each.isalnum():
                raise ValueError(
                    f"“{each}” is no id: write the platform's own, such as C0123ABCD of Slack or "
                    "the number that Discord copies"
                )
        return given

    @model_validator(mode="after")
    def _is_for_somebody(self) -> DocumentCollection:
        if not self.everybody and not any(getattr(self, name) for name in WHO):
            raise ValueError(
                f"nobody may search the collection {self.name}: add everybody = true, or one of "
                f"{', '.join(WHO)}"
            )
        return self


def without_doubles(collections: Sequence[DocumentCollection]) -> None:
    """Raises ``ValueError`` where two collections have one name."""
    names = [each.name for each in collections]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two collections are called {name}: give each a name of its own")
