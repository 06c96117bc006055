"""All settings, typed, on one screen, and the files that they are read from.

They come from the command line, the environment, ``.env`` and ``footnote.toml`` in the working
directory; the first wins. What answers adds those kept in the console (``kept_settings``). In the
environment and ``.env`` a setting is ``FOOTNOTE_`` plus its name in capitals, except the few that
carry the name their platform's own docs use (``ANTHROPIC_API_KEY``); in ``footnote.toml`` it is the
name as below. Lists are separated by commas.

A secret may come from a file: ``NAME_FILE`` names the file that contains the value of ``NAME``.
Docker and Kubernetes mount secrets as files, and systemd hands them over in the folder
``$CREDENTIALS_DIRECTORY``; the environment, in contrast, is visible to every child process. A key
sent with each request is read again when its file changes (``renewed``), so that it can be rotated
while the process runs. A secret for a lasting connection is read at the start.
"""

from __future__ import annotations

import base64
import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from dotenv import dotenv_values
from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from bot.core.errors import InvalidSetting, without_credentials
from bot.core.logs import get_logger
from bot.core.messages import Depth
from bot.core.readership import DocumentCollection, McpServer, Readership, without_doubles
from bot.core.texts import said

PREFIX = "FOOTNOTE_"
DOTENV = ".env"
TOML = "footnote.toml"
ENDING = "_FILE"
LONGEST = 100_000  # characters of a secret
# Addresses that hold a password.
ADDRESSES = ("database_url", "database_listen_url")

log = get_logger()


def _split(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


StrList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
SecretList = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split)]
# Becomes part of a header: ASCII only, without white space or brackets.
_CONTACT = re.compile(r"https?://[!-'*-~]{3,200}|[!-'*-~]{1,100}@[!-'*-~]{3,100}")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)


class Price(BaseModel):
    """USD per million tokens, with cache writes kept for five minutes and for an hour (by default
    twice the input price)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float = Field(ge=0)
    cache_read: float = Field(ge=0)
    cache_write_hour: float | None = Field(default=None, ge=0)


class ChannelRules(BaseModel):
    """Rules for questions in one channel; empty fields have no effect.

    ``tone`` is free text, ``language`` a language's name or tag, ``depth`` the default depth,
    ``providers`` the only providers to search, ``daily_usd`` the channel's limit per day (UTC),
    which replaces ``channel_daily_usd``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tone: str = Field(default="", max_length=1_000)
    language: str = Field(default="", max_length=40)
    depth: Depth = "auto"
    providers: tuple[str, ...] = ()
    daily_usd: float | None = Field(default=None, gt=0)


class Settings(BaseSettings):
    """See the module docstring for where values come from."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=DOTENV,
        toml_file=TOML,
        env_ignore_empty=True,
        extra="ignore",  # unknown names are reported by ``load_settings`` with the nearest one
        frozen=True,
        validate_default=True,
        defer_build=True,  # only one of its many subclasses is ever instantiated
    )

    # --- the model; without one the closest passages are quoted. Reasoners declare their own
    # settings, see bot/reasoning/reasoner.py
    reasoner: str = "auto"
    model: str = "claude-sonnet-5-5"
    small_model: str = "claude-haiku-5-5"
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    model_timeout: float = Field(120.0, gt=0)  # seconds for one model call
    prices: dict[str, Price] = {}  # model → price; replaces or extends the built-in table

    # --- searching; search providers and platforms declare their own settings, see core/plugins.py
    providers: StrList = ()  # empty: all that are switched on, else Wikipedia
    conversations: bool = True  # a chat's own messages, for questions asked there
    docs: StrList = ()  # folders or files to index
    docs_poll: int = Field(10, ge=0)  # seconds between looks for changes in them; 0: at start
    collections: tuple[DocumentCollection, ...] = ()  # parts of docs and their readers
    mcp: tuple[McpServer, ...] = ()  # servers of the Model Context Protocol, likewise
    wikipedia_url: str = "https://{language}.wikipedia.org"  # any MediaWiki, with its path
    language: str = "en"  # of the wiki, if the question does not show it
    blocked_domains: StrList = ()
    keep_documents_from_web: bool = True  # queries to the web leave out words found only there

    # --- search of documents by meaning, with an OpenAI-compatible endpoint
    embeddings_url: str = ""  # OpenAI-compatible; with or without /v1/embeddings
    embeddings_model: str = ""  # its name at the endpoint
    embeddings_api_key: SecretStr | None = None
    embeddings_query_prefix: str = ""  # put before a question, as the model expects
    embeddings_passage_prefix: str = ""  # ... and before a passage

    # --- reading
    fetch_allow: StrList = ()  # hosts, host:port, CIDRs, :port exempt from address checks
    fetch_max_bytes: int = Field(10_000_000, ge=10_000)
    reading_memory: int = Field(500_000_000, ge=300_000_000)  # bytes, all processes together
    fetch_proxy: SecretStr | None = None  # for pages, in place of HTTPS_PROXY; off: none
    # What the proxy of pages is asked to connect to: an address checked here, a name checked
    # here, or a name that only the proxy can resolve.
    fetch_proxy_target: Literal["address", "name", "unresolved"] = "address"
    reader_url: str = ""  # a service that returns Markdown for a URL appended to it or put at {url}
    reader_api_key: SecretStr | None = None
    browser: str = ""  # a Chromium for pages built by script: its path, or its name on PATH
    browser_sandbox: Literal["on", "off"] = "on"  # off: for root in a container of its own
    robots: Literal["respect", "ignore"] = "respect"  # sites' robots.txt
    contact: str = ""  # web or mail address of the operator, sent to sites

    ca_bundle: Path | None = None  # authorities (PEM) to trust besides the usual ones

    strategy: str = "auto"  # how to gather evidence; auto: by the question and its depth

    # --- budget of one run
    max_seconds: float = Field(300.0, gt=0)  # of work, in all attempts
    max_usd: float = Field(2.0, gt=0)

    # What earlier answers quote is found by other questions, where their readers may see them.
    earlier_answers: bool = True

    # --- the check of an answer
    verify: Literal["on", "off"] = "on"  # sentences, by the small model

    # --- daily limits (UTC), in USD of model calls and in questions; None: no limit
    user_daily_usd: float | None = Field(None, gt=0)
    user_daily_questions: int | None = Field(None, ge=1)
    channel_daily_usd: float | None = Field(None, gt=0)
    workspace_daily_usd: float | None = Field(None, gt=0)
    corrections_per_day: int = Field(20, ge=0)  # per person; 0: corrections are off

    # --- who may ask where, by the platforms' ids; an empty allow list allows all
    allow_workspaces: StrList = ()
    allow_channels: StrList = ()
    deny_channels: StrList = ()
    allow_users: StrList = ()
    deny_users: StrList = ()
    allow_roles: StrList = ()
    direct_messages: bool = True
    # people from outside the team (guest accounts, Slack Connect): web only, like members, denied
    guests: Literal["web", "members", "deny"] = "web"
    admins: StrList = ()  # users who may set channel rules, besides the platform's admins
    admin_groups: StrList = ()  # console groups whose members may do so too
    followups: Literal["thread", "mention"] = "thread"  # what is answered in our threads
    channels: dict[str, ChannelRules] = {}  # channel id → rules; an admin command changes them

    # --- the HTTP endpoint of `footnote serve`
    http_host: str = "127.0.0.1"
    http_port: int = Field(8080, ge=0, le=65_535)
    public_url: str = ""  # its public address, such as https://example.com/footnote

    otlp_url: str = ""  # OpenTelemetry collector that receives a trace of each run

    # --- the web console; beyond loopback it needs a token, a header or an OpenID provider
    console: Literal["auto", "on", "off"] = "auto"  # auto: wherever it is safe
    # who may keep settings in the console: operators, where it is open to this machine alone (auto)
    console_setup: Literal["auto", "on", "off"] = "auto"
    console_token: SecretStr | None = Field(None, min_length=16)  # asked for once by the browser
    console_user_header: str = Field("", pattern=r"^[A-Za-z0-9-]*$")  # set by a proxy to the user
    console_groups_header: str = Field("", pattern=r"^[A-Za-z0-9-]*$")  # … and their groups
    # trusted proxies: addresses, CIDRs; empty: with a user header this machine's, otherwise none
    console_proxies: StrList = ()

    # --- single sign-on for the console, by OpenID Connect
    oidc_issuer: str = ""  # the issuer in the provider's discovery document: https://…
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr | None = None  # None: a public client with PKCE only
    oidc_scopes: StrList = ("openid", "profile", "email")
    oidc_user_claim: str = "sub"  # the claim that identifies people
    oidc_groups_claim: str = "groups"  # the claim with their groups; dots for nested objects
    oidc_session_hours: float = Field(10.0, gt=0, le=720)  # after which people sign in again
    oidc_allow_groups: StrList = ()  # whose members may sign in; empty: everyone at the provider

    # --- storage and processes
    data_dir: Path = Field(default_factory=lambda: _user_data())
    database_url: str = ""  # empty: SQLite in data_dir
    database_connections: int = Field(9, ge=4)  # of this process to PostgreSQL, at most
    # PostgreSQL's own address, if database_url is that of a pooler in transaction mode
    database_listen_url: str = ""
    encryption_keys: SecretList = ()  # the first encrypts workspaces' tokens, all decrypt
    # steps of runs that have ended, and pages no answer cites; None: for ever
    keep_steps_days: int | None = Field(None, ge=1)
    keep_messages_days: int | None = Field(None, ge=1)  # messages, with their runs and answers
    audit_days: int | None = Field(400, ge=1)  # rows of the audit log
    audit_reads: bool = True  # log who opened what in the console
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    # Format of log lines; auto: console on a terminal, else logfmt.
    log_format: Literal["auto", "console", "logfmt", "json"] = "auto"

    @field_validator("*")
    @classmethod
    def _has_scheme(cls, value: Any, info: ValidationInfo) -> Any:
        """Check every address, including those declared by search providers."""
        name = str(info.field_name)
        is_address = name.endswith("_url") and not name.startswith("database_")
        if is_address and value and not _SCHEME.match(value):
            raise ValueError("write https://… (or http://…) before it")
        return value

    @field_validator("encryption_keys")
    @classmethod
    def _are_keys(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if not all(is_key(key.get_secret_value()) for key in keys):
            raise ValueError("a key is 44 characters that `footnote keys new` prints")
        return keys

    @field_validator("collections", "mcp")
    @classmethod
    def _are_distinct(cls, named: tuple[Readership, ...]) -> tuple[Readership, ...]:
        without_doubles(named)
        return named

    @field_validator("contact")
    @classmethod
    def _is_reachable(cls, contact: str) -> str:
        if contact and not _CONTACT.fullmatch(contact):
            raise ValueError("write a web address (https://…) or a mail address")
        return contact

    @field_validator("console_proxies")
    @classmethod
    def _are_networks(cls, listed: tuple[str, ...]) -> tuple[str, ...]:
        for each in listed:
            try:
                ip_network(each, strict=False)
            except ValueError:
                raise ValueError(
                    f"{each} is not an IP address or network: write 10.0.0.7 or 10.0.0.0/8"
                ) from None
        return listed

    @field_validator("public_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = urlsplit(url)
        is_plain = parts.hostname and not parts.query and "@" not in parts.netloc
        if url and (parts.scheme not in ("http", "https") or not is_plain):
            raise ValueError("write it like https://footnote.example.com")
        return url.rstrip("/")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # Even for a missing file, this source is slow: it goes through all fields.
        dotenv = (dotenv_settings,) if Path(DOTENV).exists() else ()
        return (init_settings, env_settings, *dotenv, TomlConfigSettingsSource(settings_cls))

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Hide passwords in addresses: tracebacks and logs show settings."""
        for name, value in super().__repr_args__():
            yield name, without_credentials(value) if isinstance(value, str) else value

    @property
    def database(self) -> str:
        """The SQLAlchemy URL of the store."""
        path = self.data_dir.expanduser() / "footnote.sqlite"
        return self.database_url or f"sqlite+aiosqlite:///{path}"

    @property
    def root(self) -> str:
        """The public path prefix, such as ``/footnote``; "" for none."""
        return urlsplit(self.public_url).path

    @property
    def index_path(self) -> Path:
        """The SQLite file of the local documents' index."""
        return self.data_dir.expanduser() / "index.sqlite"

    @property
    def uploads_path(self) -> Path:
        """The folder of the documents that are uploaded in the console."""
        return self.data_dir.expanduser() / "sources"

    @property
    def collection_paths(self) -> tuple[str, ...]:
        """The paths of all collections."""
        return tuple(path for each in self.collections for path in each.paths)

    @property
    def has_embedder(self) -> bool:
        """True if documents are searched by meaning as well as by words."""
        return bool(self.embeddings_url)


def is_key(text: str) -> bool:
    """Return True if a text is a Fernet key: 32 bytes in URL-safe base64.

    https://github.com/fernet/spec/blob/master/Spec.md
    """
    try:
        return len(base64.b64decode(text, altchars=b"-_", validate=True)) == 32
    except ValueError:
        return False


def _user_data() -> Path:
    try:
        return user_data_path("footnote")
    except RuntimeError:  # a user without a home
        raise InvalidSetting(
            "There is no home folder to keep data in: set FOOTNOTE_DATA_DIR to a folder."
        ) from None


# ---------------------------------------------------------------- footnote.toml


def settings_in_file(path: Path, fields: Sequence[str]) -> dict[str, Any]:
    """Return the settings in a TOML file, unvalidated; ``fields`` are the allowed names.

    Raises ``InvalidSetting`` for invalid TOML and for an unknown name.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(said("toml-invalid", path=str(path), why=str(error))) from None
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
        collections = TypeAdapter(tuple[DocumentCollection, ...]).validate_python(
            found.get("collections", ())
        )
        servers = TypeAdapter(tuple[McpServer, ...]).validate_python(found.get("mcp", ()))
        without_doubles(collections)
        without_doubles(servers)
    except OSError as error:
        told = said("kept-key-unreadable", path=str(path), why=str(error.strerror))
        raise InvalidSetting(told) from None
    except ValueError as error:  # pydantic's own text repeats the value, which may be a secret
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InvalidSetting(said("toml-unusable", path=str(path)), detail=why) from None
    return collections, servers


def nearest_name(name: str, known: Sequence[str]) -> str:
    """Return the end of a sentence about an unknown name, with a similar known one, if any."""
    # Without the prefix, which would make all names similar.
    plain = {each.removeprefix(PREFIX): each for each in known}
    near = difflib.get_close_matches(name.removeprefix(PREFIX), plain, n=1)
    meant = f" Did you mean {plain[near[0]]}?" if near else ""
    return f"{meant} `footnote doctor --verbose` lists all."


# ---------------------------------------------------------------- secrets in files


def is_secret(field: str, info: FieldInfo) -> bool:
    """Return True for a setting that may come from a file."""
    return field in ADDRESSES or _holds_secret(info.annotation)


def _holds_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(map(_holds_secret, get_args(annotation)))


def secrets_in_files(names: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """Read the secrets from the files that the environment names; returns them by field.

    ``names`` maps each field to its variable; ``given`` is the environment with upper-case names.

    Raises ``InvalidSetting`` for an unusable file, and for a secret that is set twice.
    """
    found: dict[str, str] = {}
    _files.clear()
    for field, name in names.items():
        path = given.get(name + ENDING)
        if not path:
            continue
        if given.get(name):
            raise InvalidSetting(f"{name} and {name}{ENDING} are both set: unset one of them.")
        found[field] = _secret_of(name + ENDING, Path(path))
        secret = found[field].strip()
        _files[name] = _File(Path(path), secret, secret)
    return found


@dataclass
class _File:
    """The file of a secret: its content at the start (``first``) and ``now``, read when the file
    had this ``state``."""

    path: Path
    first: str
    now: str
    state: tuple[int, ...] = ()


_files: dict[str, _File] = {}  # of this process's settings, by name


def renewed(name: str, text: str) -> str:
    """Replace a setting's secret in a text by the file's current content, or by its last content
    while the file is unusable."""
    file = _files.get(name)
    if file is None:
        return text
    before = file.now
    try:
        if (state := _state(file.path)) != file.state:
            file.now, file.state = _secret_of(name + ENDING, file.path).strip(), state
    except (InvalidSetting, OSError) as error:
        log.warning("a secret could not be read again", setting=name + ENDING, why=str(error))
    if file.now != before:
        log.warning("a changed secret was read", setting=name + ENDING)
    return text.replace(file.first, file.now)


def _state(path: Path) -> tuple[int, ...]:
    """A value that differs once a file has changed. Kubernetes replaces the parent folder."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _secret_of(name: str, path: Path) -> str:
    """Return the content of a file without the final line break that editors add."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise InvalidSetting(
            f"{name} names {path}, which does not exist: create it, or correct the path."
        ) from None
    except PermissionError:
        raise InvalidSetting(
            f"{name} names {path}, which Footnote may not read: give its user read permission."
        ) from None
    except OSError as error:
        raise InvalidSetting(
            f"{name} names {path}, which cannot be read ({error.strerror})."
        ) from None
    except UnicodeDecodeError:
        raise InvalidSetting(
            f"{name} names {path}, which is not UTF-8 text: save it as UTF-8."
        ) from None
    if len(text) > LONGEST:
        raise InvalidSetting(f"{name} names {path}, which is too long for a secret.")
    secret = text.rstrip("\r\n")
    if not secret.strip():
        raise InvalidSetting(f"{name} names {path}, which is empty: write the secret into it.")
    return secret
