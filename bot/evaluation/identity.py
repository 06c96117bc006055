"""An identifier of everything that answers depend on: settings, documents, and the program
itself."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import SecretStr

import bot
from bot.search.index_report import documents_digest
from bot.settings import Settings

# Prefixes of settings that do not affect answers, only where and for whom Footnote works.
_BESIDE = (
    *("slack_", "discord_", "allow_", "deny_", "http_", "public_url", "console", "metrics"),
    *("admins", "direct_messages", "followups", "channels", "keep_", "data_dir", "database_url"),
    *("encryption_keys", "dispatcher", "concurrency", "drain_seconds", "log_", "user_daily_"),
    *("channel_daily_", "workspace_daily_", "guests", "verify_first", "earlier_answers"),
)


def identity(settings: Settings) -> str:
    """Return a digest of everything that an answer depends on, 16 hexadecimal digits.

    For secrets only their presence counts. Raises ``StorageUnavailable`` if the index of the
    documents cannot be read.
    """
    values = {name: _comparable(value) for name, value in settings if not name.startswith(_BESIDE)}
    documents = documents_digest(settings.index_path, settings.docs) if settings.docs else ""
    whole = json.dumps([values, documents, _program()], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _comparable(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return bool(value.get_secret_value())
    if isinstance(value, tuple):
        return [_comparable(each) for each in value]
    return value


@cache
def _program() -> str:
    """Return a digest of the code, prompts and texts that produce answers."""
    top = Path(bot.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(top.rglob("*")):
        inside = path.relative_to(top)
        if path.suffix in (".py", ".md", ".ftl") and inside.parts[0] not in (
            "handbook",
            "evaluation",
        ):
            digest.update(f"{inside}\0".encode() + path.read_bytes())
    return digest.hexdigest()
