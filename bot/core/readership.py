"""Collections of documents and MCP servers with their readers, as the settings declare them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from bot.core.errors import InvalidSetting


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


_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _words(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(shlex.split(value))
    return tuple(value) if isinstance(value, list) else value


class OAuth(BaseModel):
    """A client registered at the authorization server ``issuer``, for the client credentials grant
    (RFC 6749 section 4.4), without a person signing in. ``client_secret`` may contain
    ``${NAME}``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str = Field(pattern=r"^https?://")
    client_id: str
    client_secret: SecretStr
    scope: str = ""


class McpServer(Readership):
    """A server: its ``command`` or ``url``, and the readers who may use it.

    ``headers`` (over HTTP) and ``env`` (of a command) may contain ``${NAME}`` from the environment.
    ``oauth`` configures how to obtain a token for a server over HTTP. ``search`` are the tools that
    take a query, ``read`` is the tool that returns the text of a result; if they are empty, known
    or conventional tools are used, provided that they declare to be read-only. ``arguments`` are
    those of tools, in which ``{query}``, ``{limit}``, ``{id}`` and ``{url}`` are replaced.
    ``links`` are prefixes of the web addresses whose pages the server reads; in them ``{id}``
    matches the part that is the id, ``*`` any part. ``seconds`` is the timeout for an answer.
    """

    what: ClassVar[str] = "use the server"
    plural: ClassVar[str] = "servers"

    name: str
    command: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    url: str = ""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    env: dict[str, SecretStr] = Field(default_factory=dict)
    oauth: OAuth | None = None
    search: Ids = ()
    read: str = ""
    arguments: dict[str, dict[str, Any]] = Field(default_factory=dict)
    links: Ids = ()
    seconds: float = Field(default=20.0, gt=0, le=300)

    @field_validator("name")
    @classmethod
    def _is_word(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"the name {name!r} must consist of lowercase letters, digits and hyphens"
            )
        return name

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("write the url like https://mcp.example.com/mcp")
        return url

    @field_validator("links")
    @classmethod
    def _are_beginnings(cls, links: Ids) -> Ids:
        for link in links:
            if urlsplit(link).scheme not in ("http", "https") or not urlsplit(link).hostname:
                raise ValueError(
                    f"write {link!r} of links like https://wiki.example.com/pages/{{id}}"
                )
            if link.count("{id}") > 1 or "*" in urlsplit(link).netloc + urlsplit(link).scheme:
                raise ValueError(
                    f"{link!r} of links may have one {{id}}, and * only behind the host"
                )
        return links

    @model_validator(mode="after")
    def _is_reached(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise ValueError(f"the server {self.name} needs a command or a url, and not both")
        if self.oauth is not None and not self.url:
            raise ValueError(f"the server {self.name} has oauth, which needs a url")
        return self


def fill_variables(name: str, given: Mapping[str, SecretStr]) -> dict[str, str]:
    """Return headers or an environment with variables replaced. Raises ``InvalidSetting`` for an
    unset variable."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise InvalidSetting(
                f"The server {name} of [[mcp]] needs {match[1]} from the environment: set it."
            )
        return found

    return {key: _VARIABLE.sub(value, text.get_secret_value()) for key, text in given.items()}
