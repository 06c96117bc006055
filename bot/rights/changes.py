"""Records changes of the rules in the settings in the audit log.

Edits of a settings file or the environment are not observed directly; a process notices a changed
rule when it starts or checks again.
"""

from __future__ import annotations

import hashlib

from bot.core.errors import InvalidSetting
from bot.core.settings import Settings
from bot.rights.rights import Rights
from bot.storage.audit import Actor, note
from bot.storage.database import Database
from bot.storage.rows import fact, keep_fact

RULES = (
    "collections",
    "mcp",
    "channels",
    "allow_workspaces",
    "allow_channels",
    "deny_channels",
    "allow_users",
    "deny_users",
    "allow_roles",
    "direct_messages",
    "guests",
    "admins",
    "admin_groups",
    "console_user_header",
    "console_groups_header",
    "oidc_allow_groups",
)
_SEEN = ("footnote", "", "rules")  # the fact that has the rules as they were last seen


class RuleChanges:
    """Compares the rules with those last seen. ``rights`` holds the current collections."""

    def __init__(self, database: Database, settings: Settings, rights: Rights) -> None:
        self._database = database
        self._settings = settings
        self._rights = rights

    async def look(self) -> None:
        """Record changes; the first call has nothing to compare with. Raises
        ``StorageUnavailable``."""
        seen = {name: _digest(self._value(name)) for name in RULES}
        async with self._database.write() as db:
            before = await fact(db, *_SEEN)
            if before == seen:
                return
            await keep_fact(db, *_SEEN, seen)
            if before is None:
                return
            for name in RULES:
                if before.get(name) != seen[name]:
                    await note(db, "ruled", "setting", name, by=Actor("footnote", "", ""))

    def _value(self, name: str) -> object:
        if name not in ("collections", "mcp"):
            return getattr(self._settings, name)
        try:
            return self._rights.collections if name == "collections" else self._rights.servers
        except InvalidSetting:
            return None  # no one may search any document now


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
