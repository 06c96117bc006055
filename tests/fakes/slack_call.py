"""One call of the Web API: what was asked, what came of it, and how it is refused."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack_limits import RULES
from tests.fakes.slack_workspace import Json

# Arguments that travel as JSON text when a call is form-encoded.
STRUCTURED = frozenset(
    {
        "attachments",
        "blocks",
        "chunks",
        "loading_messages",
        "message",
        "metadata",
        "prompts",
        "view",
    }
)


class Refused(Exception):
    """Slack answers ``{"ok": false, "error": code, **more}``."""

    def __init__(self, code: str, *messages: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more
        if messages:
            self.more["response_metadata"] = {"messages": list(messages)}

    def json(self) -> Json:
        return {"ok": False, "error": self.code, **self.more}


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was answered. ``began`` and ``seconds`` are of ``time.perf_counter``."""

    method: str
    args: Json
    began: float
    seconds: float
    status: int  # of HTTP; 0: the connection was cut
    error: str | None
    reply: Json = field(default_factory=dict)
    took_effect: bool = False

    @property
    def ok(self) -> bool:
        return self.took_effect and self.error is None


@cache
def known_arguments(method: str) -> dict[str, bool]:
    """The argument names slack_sdk's own client takes for ``method`` → whether it is required."""
    function = getattr(AsyncWebClient, method.replace(".", "_"))
    return {
        name: parameter.default is inspect.Parameter.empty
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("self", "app_token") and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


def checked_arguments(method: str, given: Json) -> Json:
    """``given`` with structured arguments decoded; refuses unknown and missing names."""
    if method not in RULES:
        raise Refused("unknown_method", req_method=method)
    known = known_arguments(method)
    # The SDK adds the workspace to every call (`default_params`), for tokens of a whole org.
    given = {n: value for n, value in given.items() if n != "team_id" or n in known}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise Refused("invalid_arg_name", *(f"[ERROR] unknown argument: {n}" for n in unknown))
    args = {name: value for name, value in given.items() if value is not None}
    missing = sorted(name for name, required in known.items() if required and name not in args)
    if missing:
        raise Refused(
            "invalid_arguments", *(f"[ERROR] missing required field: {name}" for name in missing)
        )
    return {name: _decoded(name, value) for name, value in args.items()}


def _decoded(name: str, value: Any) -> Any:
    if name not in STRUCTURED or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        code = {"metadata": "invalid_metadata_format", "chunks": "invalid_chunks"}.get(
            name, "invalid_blocks_format" if name == "blocks" else "invalid_arguments"
        )
        raise Refused(code, f"[ERROR] {name} is not valid JSON") from None


def truth(value: Any) -> bool:
    """A boolean as Slack reads it from JSON or a form."""
    return value in (True, 1, "1", "true", "True")


def text_of(args: Json, name: str) -> str:
    """A string argument, ``""`` when absent."""
    value = args.get(name, "")
    if not isinstance(value, str):
        raise Refused("invalid_arguments", f"[ERROR] must be a string: {name}")
    return value


def number_of(args: Json, name: str, default: int) -> int:
    try:
        return int(args.get(name, default))
    except (TypeError, ValueError):
        raise Refused("invalid_arguments", f"[ERROR] must be a number: {name}") from None
