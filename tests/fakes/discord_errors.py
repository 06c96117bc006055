"""Refusals of Discord's API, and request bodies checked against its own OpenAPI document.

Codes as in "Opcodes and Status Codes" of Discord's documentation
(docs.discord.com/developers/topics/opcodes-and-status-codes#json). The document, if present, is
beside the repository (``shared/schemas/discord-openapi.json``). It is made stricter (properties
that an object does not name are refused) and adjusted where the real API accepts more than its
document says (see ``_ALSO_TAKEN``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

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
    30010: (400, "Maximum number of reactions reached (20)"),
    30032: (400, "Maximum number of application commands reached (100)."),
    40060: (400, "Interaction has already been acknowledged."),
    40094: (400, "This interaction is limited to a fixed number of follow-up messages."),
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
    """A refusal, with HTTP ``status`` and JSON ``body``."""

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
    """Return the refusal with this JSON error code."""
    status, message = CODES[code]
    return DiscordError(status, code, message)


def unauthorized() -> DiscordError:
    return DiscordError(401, 0, "401: Unauthorized")


class FormErrors:
    """Collects the faults of a body for Discord's tree of errors."""

    def __init__(self) -> None:
        self.tree: dict[str, Any] = {}

    def add(self, path: Sequence[str | int], code: str, message: str) -> None:
        """Add a fault; ``path`` leads to the field, and an empty one means the body itself."""
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
    """Return error 50035 with one fault at ``path``."""
    wrong = FormErrors()
    wrong.add(path, code, message)
    return DiscordError(400, 50035, CODES[50035][1], wrong.tree)


OPENAPI = Path(__file__).parents[3] / "shared" / "schemas" / "discord-openapi.json"

_BOOLEAN = {"type": ["boolean", "null"]}
# Fields that discord.py sends and the real API accepts, although its document lacks them.
_ALSO_TAKEN: dict[str, dict[str, Any]] = {
    "ApplicationCommandCreateRequest": {"nsfw": _BOOLEAN},
    "ApplicationCommandUpdateRequest": {"nsfw": _BOOLEAN},
    "ApplicationCommandPatchRequestPartial": {"nsfw": _BOOLEAN},
    "MessageEditRequestPartial": {"tts": _BOOLEAN},
    "BaseCreateMessageCreateRequest": {"tts": _BOOLEAN},
    "IncomingWebhookUpdateRequestPartial": {"tts": _BOOLEAN},
    "IncomingWebhookUpdateForInteractionCallbackRequestPartial": {"tts": _BOOLEAN},
    "CreateForumThreadRequest": {"type": {"type": "integer"}},
    "RichEmbed": {"flags": {"type": "integer"}},
}


@cache
def _document() -> dict[str, Any] | None:
    if not OPENAPI.is_file():
        return None
    document: dict[str, Any] = json.loads(OPENAPI.read_text(encoding="utf-8"))
    schemas = document["components"]["schemas"]
    for name, extra in _ALSO_TAKEN.items():
        schemas[name]["properties"] |= extra
    for schema in _objects(schemas):
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
    # Ids are strings in the document, but numbers are accepted too.
    schemas["SnowflakeType"] = {
        "anyOf": [
            {"type": "string", "pattern": "^(0|[1-9][0-9]*)$"},
            {"type": "integer", "minimum": 0},
        ]
    }
    return document


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "properties" in node and isinstance(node["properties"], dict):
            yield node
        for value in node.values():
            yield from _objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from _objects(value)


@cache
def _validator(method: str, path: str) -> Draft202012Validator | None:
    document = _document()
    if document is None:
        return None
    operation = document["paths"].get(path, {}).get(method.lower(), {})
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if schema is None:
        return None
    whole = schema["schema"] | {"components": document["components"]}
    return Draft202012Validator(whole)


def check_body(method: str, path: str, body: Any, wrong: FormErrors) -> None:
    """Collect in ``wrong`` the faults that the operation's schema finds in ``body``.

    ``path`` is the template as in the document, e.g. ``/channels/{channel_id}/messages``.
    """
    validator = _validator(method, path)
    if validator is not None:
        for error in validator.iter_errors(body):
            _collect(error, wrong)


def _collect(error: ValidationError, wrong: FormErrors) -> None:
    if error.validator in ("oneOf", "anyOf") and error.context:
        for inner in _likeliest(error.context):
            _collect(inner, wrong)
        return
    path = list(error.absolute_path)
    limit: Any = error.validator_value
    match error.validator:
        case "required":
            for name in limit:
                if isinstance(error.instance, dict) and name not in error.instance:
                    wrong.required([*path, name])
        case "additionalProperties":
            known = error.schema["properties"] if isinstance(error.schema, dict) else {}
            for name in cast(dict[str, Any], error.instance):
                if name not in known:
                    wrong.add([*path, name], "UNKNOWN_FIELD", f"There is no field {name!r} here.")
        case "maxLength":
            wrong.too_long(path, limit)
        case "maxItems":
            wrong.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")
        case "minLength" | "minItems":
            wrong.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be at least {limit} in length.")
        case "maximum":
            wrong.add(
                path, "NUMBER_TYPE_MAX", f"int value should be less than or equal to {limit}."
            )
        case "minimum":
            wrong.add(path, "NUMBER_TYPE_MIN", f"int value should be at least {limit}.")
        case "pattern":
            wrong.add(path, "NUMBER_TYPE_COERCE", f'Value "{error.instance}" is not snowflake.')
        case "enum" | "const":
            wrong.add(path, "BASE_TYPE_CHOICES", f"Value must be one of {limit}.")
        case "uniqueItems":
            wrong.add(path, "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains this.")
        case _:
            wrong.add(path, "BASE_TYPE_BAD_TYPE", error.message[:200])


def _likeliest(errors: Iterable[ValidationError]) -> list[ValidationError]:
    """Return the errors of the alternative that the client most likely meant: the one whose type
    fits, or else the one with the deepest and fewest errors."""
    branches: dict[Any, list[ValidationError]] = {}
    for error in errors:
        branches.setdefault(error.schema_path[0], []).append(error)

    def strangeness(branch: list[ValidationError]) -> tuple[int, int, int]:
        other_kind = sum(_is_other_kind(error) for error in branch)
        depth = max(len(error.absolute_path) for error in branch)
        return other_kind, -depth, len(branch)

    return min(branches.values(), key=strangeness)


def _is_other_kind(error: ValidationError) -> bool:
    """Return True if ``type`` names another component, option or callback, or the value has another
    JSON type (null, for instance)."""
    named = error.validator in ("enum", "const") and list(error.path)[-1:] == ["type"]
    return named or (error.validator == "type" and not error.path)
