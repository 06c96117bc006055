"""The refusals of Discord's API: status, JSON code, sentence, and the tree of form errors.

Codes as in "Opcodes and Status Codes" of Discord's documentation
(docs.discord.com/developers/topics/opcodes-and-status-codes#json).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CODES: dict[int, tuple[int, str]] = {
    0: (404, "404: Not Found"),
    10002: (404, "Unknown Application"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    30010: (400, "Maximum number of reactions reached (20)"),
    30032: (400, "Maximum number of application commands reached (100)."),
    30033: (400, "Maximum number of thread participants has been reached (1000)."),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    40094: (400, "This interaction is limited to a fixed number of follow-up messages."),
    40067: (400, "A tag is required to create a forum post in this channel"),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50021: (403, "Cannot execute action on a system message"),
    50024: (403, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50033: (400, "Invalid Recipient(s)"),
    50035: (400, "Invalid Form Body"),
    50068: (400, "Invalid message type"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (400, "Thread is locked"),
    160006: (400, "Maximum number of active threads reached"),
}


class DiscordError(Exception):
    """A refusal: HTTP ``status`` and the JSON ``body`` that goes with it."""

    def __init__(self, status: int, code: int, message: str, errors: Any = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors

    @property
    def body(self) -> dict[str, Any]:
        told: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.errors is not None:
            told["errors"] = self.errors
        return told


def refuse(code: int) -> DiscordError:
    """The refusal with this JSON error code, to be raised."""
    status, message = CODES[code]
    return DiscordError(status, code, message)


def unauthorized() -> DiscordError:
    return DiscordError(401, 0, "401: Unauthorized")


class FormErrors:
    """Collects what is wrong with a body, and is told as Discord's tree of errors."""

    def __init__(self) -> None:
        self.tree: dict[str, Any] = {}

    def add(self, path: Sequence[str | int], code: str, message: str) -> None:
        """``path`` leads to the field; an empty one means the body itself."""
        node = self.tree
        for part in path:
            node = node.setdefault(str(part), {})
        told = node.setdefault("_errors", [])
        if not any(error["code"] == code for error in told):
            told.append({"code": code, "message": message})

    def too_long(self, path: Sequence[str | int], limit: int) -> None:
        self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")

    def required(self, path: Sequence[str | int]) -> None:
        self.add(path, "BASE_TYPE_REQUIRED", "This field is required")

    def raise_if_any(self) -> None:
        if self.tree:
            status, message = CODES[50035]
            raise DiscordError(status, 50035, message, self.tree)


def invalid(path: Sequence[str | int], code: str, message: str) -> DiscordError:
    """50035 with one error at ``path``."""
    wrong = FormErrors()
    wrong.add(path, code, message)
    return DiscordError(400, 50035, CODES[50035][1], wrong.tree)
