"""All settings, typed, on one screen.

They come from the command line, the environment, ``.env`` and ``footnote.toml`` in the working
directory; the first wins. In the environment and ``.env`` a setting is ``FOOTNOTE_`` plus its name
in capitals, except the few that carry the name their platform's own docs use
(``ANTHROPIC_API_KEY``); in ``footnote.toml`` it is the name as below. Lists are separated by
commas.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from bot.credentials import without_credentials
from bot.errors import InvalidSetting
from bot.mcp.entry import McpServer
from bot.messages import Depth
from bot.rights.collection import DocumentCollection, Readership, without_doubles

PREFIX = "FOOTNOTE_"
DOTENV = ".env"
TOML = "footnote.toml"


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
    # settings, see bot/reasoning/declaration.py
    reasoner: str = "auto"
    model: str = "claude-sonnet-5-5"
    small_model: str = "claude-haiku-5-5"
    thinking: Literal["adaptive", "off"] = "adaptive"
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    max_output_tokens: int = Field(8_000, ge=256, le=20_000)
    model_timeout: float = Field(120.0, gt=0)  # seconds for one model call
    model_retries: int = Field(4, ge=0, le=10)
    prices: dict[str, Price] = {}  # model → price; replaces or extends the built-in table

    # --- searching search providers and platforms declare their own settings, see bot/plugins.py
    providers: StrList = ()  # empty: all that are switched on, else Wikipedia
    conversations: bool = True  # a chat's own messages, for questions asked there
    docs: StrList = ()  # folders or files to index
    collections: tuple[DocumentCollection, ...] = ()  # parts of docs and their readers
    mcp: tuple[McpServer, ...] = ()  # servers of the Model Context Protocol, likewise
    wikipedia_url: str = "https://{language}.wikipedia.org"  # any MediaWiki, with its path
    language: str = "en"  # of the wiki, if the question does not show it
    blocked_domains: StrList = ()
    topk: int = Field(10, ge=1, le=50)  # hits shown for a query
    keep_documents_from_web: bool = True  # queries to the web leave out words found only there

    # --- search of documents by meaning: an endpoint, or a folder with an ONNX model
    embeddings_url: str = ""  # OpenAI-compatible; with or without /v1/embeddings
    embeddings_model: str = ""  # its name at the endpoint
    embeddings_api_key: SecretStr | None = None
    embeddings_input_type: bool = False  # tell the endpoint whether a text is a query
    embeddings_model_dir: Path | None = None
    embeddings_pooling: Literal["mean", "cls", "last"] | None = None  # None: as the folder says
    embeddings_query_prefix: str | None = None  # put before a question, as the model expects
    embeddings_passage_prefix: str | None = None  # ... and before a passage
    embeddings_max_tokens: int | None = Field(None, ge=16)  # of a text; longer ones are cut

    # --- reading
    fetch_allow: StrList = ()  # hosts, host:port, CIDRs, :port exempt from address checks
    fetch_max_bytes: int = Field(10_000_000, ge=10_000)
    fetch_timeout: float = Field(20.0, gt=0)  # seconds for one page, redirects included
    reading_memory: int = Field(500_000_000, ge=300_000_000)  # bytes, all processes together
    fetch_proxy: SecretStr | None = None  # for pages, in place of HTTPS_PROXY; off: none
    # What the proxy of pages is asked to connect to: an address checked here, a name checked
    # here, or a name that only the proxy can resolve.
    fetch_proxy_target: Literal["address", "name", "unresolved"] = "address"
    page_ttl: float = Field(86_400.0, ge=0)  # seconds a stored page counts as fresh
    reader_url: str = ""  # a service that returns Markdown for a URL appended to it or put at {url}
    reader_api_key: SecretStr | None = None
    browser: str = ""  # a Chromium for pages built by script: its path, or its name on PATH
    browser_sandbox: Literal["on", "off"] = "on"  # off: for root in a container of its own
    robots: Literal["respect", "ignore"] = "respect"  # sites' robots.txt
    contact: str = ""  # web or mail address of the operator, sent to sites
    prefetch_pages: int = Field(8, ge=0)  # read before the reasoner chooses; 0: none

    ca_bundle: Path | None = None  # authorities (PEM) to trust besides the usual ones

    strategy: str = "auto"  # how to gather evidence; auto: by the question and its depth

    # --- budget of one run
    max_model_calls: int = Field(24, ge=1)
    max_searches: int = Field(5, ge=1)  # search actions of one loop
    max_queries: int = Field(40, ge=1)  # sent to providers
    max_pages: int = Field(20, ge=1)
    max_input_tokens: int = Field(400_000, ge=1_000)
    max_written_tokens: int = Field(100_000, ge=256)  # output of all calls
    max_seconds: float = Field(300.0, gt=0)  # of work, in all attempts
    max_usd: float = Field(2.0, gt=0)
    read_tokens: int = Field(1_200, ge=100)  # passages of one page given to the reasoner

    # What earlier answers quote is found by other questions, where their readers may see them.
    earlier_answers: bool = True

    # --- stages of a report, in seconds; a part that misses one is left out
    draft_seconds: float = Field(90.0, gt=0)  # of the whole report, from memory
    query_seconds: float = Field(15.0, gt=0)  # to decide what to search for one part
    reading_seconds: float = Field(30.0, gt=0)  # to search and read for one part
    revision_seconds: float = Field(60.0, gt=0)  # to rewrite one part from the pages read
    verify: Literal["on", "off"] = "on"  # sentences, by the small model
    verify_first: bool = False  # verify before posting the answer
    show_drafts: bool = False  # of parts that were left out, marked as drafts from memory

    # --- daily limits (UTC), in USD of model calls and in questions; None: no limit
    user_daily_usd: float | None = Field(None, gt=0)
    user_daily_questions: int | None = Field(None, ge=1)
    uploads_per_day: int = Field(40, ge=1)  # MB of files that one person may send in the console
    channel_daily_usd: float | None = Field(None, gt=0)
    workspace_daily_usd: float | None = Field(None, gt=0)
    watches_per_person: int = Field(10, ge=0)  # standing questions; 0: none are allowed
    corrections_per_day: int = Field(20, ge=0)  # per person; 0: corrections are off
    watch_days: int = Field(60, ge=1)  # without interest until a standing question ends

    # --- who may ask where, by the platforms' ids; an empty allow list allows all
    allow_workspaces: StrList = ()
    deny_workspaces: StrList = ()
    allow_channels: StrList = ()
    deny_channels: StrList = ()
    allow_users: StrList = ()
    deny_users: StrList = ()
    allow_roles: StrList = ()
    deny_roles: StrList = ()
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

    # who may read /metrics; auto: the console's operators; open: everyone
    metrics: Literal["auto", "open", "off"] = "auto"
    otlp_url: str = ""  # OpenTelemetry collector that receives a trace of each run

    # --- the web console; beyond loopback it needs a token, a header or an OpenID provider
    console: Literal["auto", "on", "off"] = "auto"  # auto: wherever it is safe
    console_token: SecretStr | None = Field(None, min_length=16)  # asked for once by the browser
    console_user_header: str = Field("", pattern=r"^[A-Za-z0-9-]*$")  # set by a proxy to the user
    console_groups_header: str = Field("", pattern=r"^[A-Za-z0-9-]*$")  # … and their groups
    # trusted proxies: addresses, CIDRs; empty: with a user header this machine's, otherwise none
    console_proxies: StrList = ()
    console_questions: int = Field(20, ge=1)  # per client and minute

    # --- single sign-on for the console, by OpenID Connect
    oidc_issuer: str = ""  # the issuer in the provider's discovery document: https://…
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr | None = None  # None: a public client with PKCE only
    oidc_scopes: StrList = ("openid", "profile", "email")
    oidc_user_claim: str = "sub"  # the claim that identifies people
    oidc_groups_claim: str = "groups"  # the claim with their groups; dots for nested objects
    oidc_allow_groups: StrList = ()  # whose members may sign in; empty: everyone at the provider
    oidc_session_hours: float = Field(10.0, gt=0, le=720)  # after which people sign in again

    # --- storage and processes
    data_dir: Path = Field(default_factory=lambda: _user_data())
    database_url: str = ""  # empty: SQLite in data_dir
    database_connections: int = Field(9, ge=4)  # of this process to PostgreSQL, at most
    database_pooler: Literal["none", "transaction"] = "none"  # mode of a PgBouncer before it
    database_listen_url: str = ""  # bypasses the pooler, to receive notifications
    encryption_keys: SecretList = ()  # the first encrypts workspaces' tokens, all decrypt
    keep_pages_days: int | None = Field(None, ge=1)  # pages no answer cites; None: for ever
    keep_steps_days: int | None = Field(None, ge=1)  # steps of runs that have ended
    keep_messages_days: int | None = Field(None, ge=1)  # messages, with their runs and answers
    keep_spending_days: int | None = Field(400, ge=32)  # spending of people and places
    audit_days: int | None = Field(400, ge=1)  # rows of the audit log
    audit_reads: bool = True  # log who opened what in the console
    audit_texts: bool = False  # include the questions' text in its export
    # What runs the questions; auto: PostgreSQL's queue if that is the database, else `serve`
    # itself.
    dispatcher: Literal["auto", "local", "postgres"] = "auto"
    concurrency: int = Field(256, ge=1)  # runs at once in this process
    drain_seconds: float = Field(10.0, ge=0)  # for runs in progress when `serve` ends
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
    def collection_paths(self) -> tuple[str, ...]:
        """The paths of all collections."""
        return tuple(path for each in self.collections for path in each.paths)

    @property
    def has_embedder(self) -> bool:
        """True if documents are searched by meaning as well as by words."""
        return bool(self.embeddings_url or self.embeddings_model_dir)


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
