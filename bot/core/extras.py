"""The extras of ``pyproject.toml``: packages that only some installations need.

Call ``need`` before importing such a package: its error says what to install. Processes that read
documents import this module, so it imports nothing heavy.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, NamedTuple

from bot.core.errors import FootnoteError, InvalidSetting

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
]


class _Contents(NamedTuple):
    use: str
    modules: tuple[str, ...]  # imported by Footnote; the extra may install more


EXTRAS: dict[Extra, _Contents] = {
    "browser": _Contents("web pages built by script", ("playwright",)),
    "discord": _Contents("Discord", ("discord", "aiohttp")),
    "mcp": _Contents("the Model Context Protocol", ("mcp",)),
    "office": _Contents("Excel workbooks, messages of Outlook", ("openpyxl", "oxmsg")),
    "openai": _Contents("models over OpenAI's API", ("openai",)),
    "otel": _Contents(
        "traces for OpenTelemetry", ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    ),
    "pandoc": _Contents("RTF, LaTeX, DocBook, MediaWiki, Textile", ("pypandoc",)),
    "postgres": _Contents("PostgreSQL and its queue", ("psycopg", "procrastinate")),
    "slack": _Contents("Slack", ("slack_bolt", "slack_sdk", "aiohttp")),
    "sso": _Contents("single sign-on for the console", ("authlib", "joserfc")),
    "vectors": _Contents("searching documents by meaning", ("numpy",)),
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
