"""Who may ask where: the operator's allow and deny lists.

A deny list wins over an allow list; an empty allow list allows all. Ids are the platforms' own.
"""

from __future__ import annotations

from collections.abc import Collection

from bot.errors import Denied
from bot.messages import Message
from bot.settings import Settings

_ADMIN = "ask an admin of Footnote"


def check_access(settings: Settings, message: Message) -> None:
    """Raises ``Denied`` when the lists do not let the author ask where the message stands."""
    check_author(settings, message)
    author, thread = message.author, message.thread
    if message.direct:
        if not settings.direct_messages:
            raise Denied("denied-direct", "Footnote does not answer direct messages here.")
    elif not _passes([thread.channel], settings.allow_channels, settings.deny_channels):
        raise Denied("denied-channel", f"Footnote does not answer in this channel: {_ADMIN}.")
    if not _passes(author.roles, settings.allow_roles, settings.deny_roles):
        raise Denied("denied-role", f"Your roles do not let you ask Footnote: {_ADMIN}.")


def check_author(settings: Settings, message: Message) -> None:
    """Raises ``Denied`` for what is known of a stored message too: its author and workspace."""
    author, thread = message.author, message.thread
    if not _passes([author.id], settings.allow_users, settings.deny_users):
        raise Denied("denied-user", f"You may not ask Footnote here: {_ADMIN}.")
    if not _passes([thread.workspace], settings.allow_workspaces, settings.deny_workspaces):
        raise Denied("denied-workspace", f"Footnote does not answer in this workspace: {_ADMIN}.")


def is_admin(settings: Settings, message: Message) -> bool:
    """Whether the author may set channel rules."""
    return message.author.admin or message.author.id in settings.admins


def _passes(ids: Collection[str], allowed: Collection[str], denied: Collection[str]) -> bool:
    if any(one in denied for one in ids):
        return False
    return not allowed or any(one in allowed for one in ids)
