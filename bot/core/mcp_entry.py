"""A Model Context Protocol server to search, as configured by ``[[mcp]]`` in the settings."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar
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

from bot.core.collection import Ids, Readership
from bot.core.errors import InvalidSetting

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
