"""Optional parts: plug-ins that other packages declare, and the extras of ``pyproject.toml``.

A search provider or a platform is declared by one module-level value. A package names that value in
an entry point group, where Footnote finds it without changes to its own code.
https://packaging.python.org/en/latest/specifications/entry-points/

Call ``need`` before importing a package of an extra: its error says what to install.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from bot.core.errors import FootnoteError, InvalidSetting

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


Extra = Literal[
    "browser",
    "discord",
    "mcp",
    "office",
    "openai",
    "otel",
    "pandoc",
    "postgres",
    "slack",
    "sso",
    "vectors",
    "workspaces",
]


class _Contents(NamedTuple):
    use: str
    modules: tuple[str, ...]  # imported by Footnote; the extra may install more


EXTRAS: dict[Extra, _Contents] = {
    "browser": _Contents("web pages built by script", ("playwright",)),
    "discord": _Contents("Discord", ("discord", "aiohttp")),
    "mcp": _Contents("the Model Context Protocol", ("mcp",)),
    "office": _Contents("Excel workbooks", ("openpyxl",)),
    "openai": _Contents("models over OpenAI's API", ("openai",)),
    "otel": _Contents(
        "traces for OpenTelemetry", ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    ),
    "pandoc": _Contents("RTF, LaTeX, DocBook, MediaWiki, Textile", ("pypandoc",)),
    "postgres": _Contents("PostgreSQL and its queue", ("psycopg", "procrastinate")),
    "slack": _Contents("Slack", ("slack_bolt", "slack_sdk", "aiohttp")),
    "sso": _Contents("single sign-on for the console", ("authlib", "joserfc")),
    "vectors": _Contents("searching documents by meaning", ("numpy",)),
    "workspaces": _Contents("an app for many Slack workspaces", ("cryptography",)),
}


def has_extra(extra: Extra) -> bool:
    return not _missing(extra)


def need(extra: Extra, use: str, error: type[FootnoteError] = InvalidSetting) -> None:
    """Raise ``error`` if the extra is not installed. ``use`` begins its message: "Reading .xlsx
    files"."""
    if missing := _missing(extra):
        raise error(
            f"{use} needs the extra '{extra}': {_install(extra)}.",
            detail=f"not installed: {', '.join(missing)}",
        )


def report_extras() -> str:
    """Return the extras that are not installed, with their uses and how to add them."""
    absent = [extra for extra in EXTRAS if not has_extra(extra)]
    if not absent:
        return "all are installed"
    uses = ", ".join(f"{extra} ({EXTRAS[extra].use})" for extra in absent)
    return f"without {uses}. `{_install(*absent)}` adds what you need of them"


def _install(*extras: Extra) -> str:
    return f"pip install 'footnote-bot[{','.join(extras)}]'"


def _missing(extra: Extra) -> list[str]:
    return [module for module in EXTRAS[extra].modules if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
