"""Messages and threads of the person at this terminal."""

from __future__ import annotations

import getpass
import os
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from bot.core.messages import TERMINAL, Attachment, Author, Message, Thread
from bot.pages.urls import links_in


def terminal_thread(name: str | None) -> Thread:
    """Return the conversation with this name, or a new one without a name."""
    return Thread(TERMINAL, "local", "cli", name or f"~{secrets.token_hex(6)}")


def is_unnamed(thread: Thread) -> bool:
    return thread.thread.startswith("~")


def terminal_message(thread: Thread, text: str, files: Sequence[Path] = ()) -> Message:
    """Return a message of the person at this terminal, sent now, with indexed files."""
    user = this_user()
    return Message(
        event_id=uuid4().hex,
        thread=thread,
        author=Author(user, user, zone=datetime.now().astimezone().strftime("%z")),
        text=text,
        at=datetime.now(UTC),
        links=tuple(links_in(text)),
        attachments=tuple(Attachment(each.name, "", each.as_uri()) for each in files),
    )


def this_user() -> str:
    """The name of the person at this terminal, as the system knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())
