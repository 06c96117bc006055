"""The extras of ``pyproject.toml``: packages that only some installations need.

Call ``need`` before importing such a package: its error says what to install. Processes that read
documents import this module, so it imports nothing heavy.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from bot.core.errors import FootnoteError, InvalidSetting
from bot.core.texts import Said, listed, said

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


EXTRAS: dict[Extra, tuple[str, ...]] = {  # with modules that Footnote imports; it may install more
    "browser": ("playwright",),
    "discord": ("discord", "aiohttp"),
    "mcp": ("mcp",),
    "office": ("openpyxl", "oxmsg"),
    "openai": ("openai",),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "pandoc": ("pypandoc",),
    "postgres": ("psycopg", "procrastinate"),
    "slack": ("slack_bolt", "slack_sdk", "aiohttp"),
    "sso": ("authlib", "joserfc"),
    "vectors": ("numpy",),
}


def has_extra(extra: Extra) -> bool:
    return not _missing(extra)


def need(extra: Extra, use: str, error: type[FootnoteError] = InvalidSetting) -> None:
    """Raise ``error`` if the extra is not installed. ``use`` names what needs it: a setting, or the
    ending of a file."""
    if missing := _missing(extra):
        raise error(
            said("extra-needed", use=use, extra=extra, install=_install(extra)),
            detail=f"not installed: {', '.join(missing)}",
        )


def report_extras() -> Said:
    """Return the extras that are not installed, with their uses and how to add them."""
    absent = [extra for extra in EXTRAS if not has_extra(extra)]
    if not absent:
        return said("check-extras-all")
    uses = [said("check-extras-one", extra=one, use=said(f"extra-{one}")) for one in absent]
    return said("check-extras", extras=listed(uses), install=_install(*absent))


def _install(*extras: Extra) -> str:
    return f"pip install 'footnote-bot[{','.join(extras)}]'"


def _missing(extra: Extra) -> list[str]:
    return [module for module in EXTRAS[extra] if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
