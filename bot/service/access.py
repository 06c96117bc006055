"""Access rules: the operator's allow and deny lists, and the rule for guests.

A deny list wins over an allow list; an empty allow list allows all. Ids are the platforms' own.
"""

from __future__ import annotations

from collections.abc import Collection

from bot.core.errors import Denied
from bot.core.messages import CONSOLE, Message
from bot.core.settings import Settings
from bot.storage.audit_log import Audit
from bot.storage.database import Database

_ADMIN = "ask an admin of Footnote"

# The console in these lists: its workspace, and its channel and person if no proxy identifies
# people.
IN_CONSOLE, LOCAL = "console", "local"
# The workspace of Discord's direct and group messages in these lists, named as in Discord's links.
IN_NO_SERVER = "@me"
NO_ROLES = (
    "FOOTNOTE_ALLOW_ROLES lets only people with roles ask, and nobody has one in the console: name "
    "people in FOOTNOTE_ALLOW_USERS in its place"
)


async def admit(settings: Settings, database: Database, message: Message) -> None:
    """Check access as ``check_access`` does, and record a refusal in the audit log."""
    async with Audit(database).refusals(message):
        check_access(settings, message)


def check_access(settings: Settings, message: Message) -> None:
    """Raise ``Denied`` if the lists do not let the author ask in the message's place."""
    check_author(settings, message)
    author, thread = message.author, message.thread
    if not settings.direct_messages and (message.direct or thread.workspace == IN_NO_SERVER):
        raise Denied("denied-direct", "Footnote does not answer direct messages here.")
    allowed, denied = settings.allow_channels, settings.deny_channels
    if not message.direct and not _passes([thread.channel], allowed, denied):
        _check_console(message, "FOOTNOTE_ALLOW_CHANNELS", thread.channel, denied)
        raise Denied("denied-channel", f"Footnote does not answer in this channel: {_ADMIN}.")
    if not _passes(author.roles, settings.allow_roles):
        if thread.platform == CONSOLE:
            values = {"setting": "FOOTNOTE_ALLOW_ROLES", "instead": "FOOTNOTE_ALLOW_USERS"}
            raise Denied("denied-console-roles", f"{NO_ROLES}.", values=values)
        raise Denied("denied-role", f"Your roles do not let you ask Footnote: {_ADMIN}.")


def check_author(settings: Settings, message: Message) -> None:
    """Raise ``Denied`` because of the author or workspace, which are known for stored messages
    too."""
    author, thread = message.author, message.thread
    if settings.guests == "deny" and author.guest:
        raise Denied("denied-guest", f"Footnote does not answer guests here: {_ADMIN}.")
    if settings.guests == "deny" and author.guest is None:
        raise Denied("denied-unknown", "It cannot be told now whether you are a guest: ask again.")
    if not _passes([author.id], settings.allow_users, settings.deny_users):
        _check_console(message, "FOOTNOTE_ALLOW_USERS", author.id, settings.deny_users)
        raise Denied("denied-user", f"You may not ask Footnote here: {_ADMIN}.")
    if not _passes([thread.workspace], settings.allow_workspaces):
        _check_console(message, "FOOTNOTE_ALLOW_WORKSPACES", thread.workspace)
        raise Denied("denied-workspace", f"Footnote does not answer in this workspace: {_ADMIN}.")


def shut_to_console(settings: Settings) -> list[str]:
    """Return a sentence for each list that keeps everyone from asking in an open console because it
    names other places only. Lists of channels and users may name people known to a proxy or an
    OpenID provider."""
    needed = [("workspaces", settings.allow_workspaces, IN_CONSOLE)]
    if not (settings.console_user_header or settings.oidc_issuer):
        needed += [
            ("channels", settings.allow_channels, LOCAL),
            ("users", settings.allow_users, LOCAL),
        ]
    said = [
        f"FOOTNOTE_ALLOW_{name.upper()} does not name it: add {id} to the list"
        for name, allowed, id in needed
        if allowed and id not in allowed
    ]
    return said + ([NO_ROLES] if settings.allow_roles else [])


def _check_console(message: Message, setting: str, id: str, denied: Collection[str] = ()) -> None:
    """Raise a ``Denied`` that names the list without the console: operators read it, and often did
    not think of the console when making the list."""
    if message.thread.platform == CONSOLE and id not in denied:
        raise Denied(
            "denied-console",
            f"{setting} names other places only: the operator can add {id} to it.",
            values={"setting": setting, "id": id},
        )


def is_admin(settings: Settings, message: Message) -> bool:
    """Return True if the author may set channel rules."""
    return message.author.admin or message.author.id in settings.admins


def _passes(ids: Collection[str], allowed: Collection[str], denied: Collection[str] = ()) -> bool:
    if any(one in denied for one in ids):
        return False
    return not allowed or any(one in allowed for one in ids)
