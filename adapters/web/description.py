"""The API's description for programs: OpenAPI 3.2 (https://spec.openapis.org/oas/v3.2.0), which
can describe a stream of events."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.documents import (
    EVENTS,
    Accepted,
    Conversation,
    Failure,
    Question,
    Run,
    Stopping,
)
from adapters.web.limits import MOST_FILES
from bot import __version__
from bot.pages.media import described

NAME_PATTERN = "^[0-9A-Za-z_-]{1,64}$"  # the name of a request
ID_PATTERN = r"^[0-9]+\.[0-9]+(\.end)?$"  # of an event
_TYPES: tuple[type[BaseModel], ...] = (
    Accepted,
    Conversation,
    Failure,
    Question,
    Run,
    Stopping,
    *EVENTS.values(),
)

_EVENTS = """Server-sent events: `plan` (the plan, whole), `text` (all that has been written so
far), `answer` (the answer; while its verification is pending it may be sent again, amended, and
after the last one the stream ends), `removed` (the question was deleted, and the stream ends). Of
states that follow each other fast only the last is sent. Ids grow, number by number; reconnect with
`Last-Event-ID` to continue where you were. 204 means that you have everything."""


@cache
def description() -> dict[str, Any]:
    """Return the whole OpenAPI document."""
    _, schemas = models_json_schema(
        [(each, "serialization" if each is not Question else "validation") for each in _TYPES],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.2.0",
        "info": {
            "title": "Footnote",
            "version": __version__,
            "description": "Ask questions, follow the research, read answers with their sources.",
        },
        "paths": _paths(),
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        # On loopback without a token no authentication is needed.
        "security": [{}, {"token": []}],
    }


def _paths() -> dict[str, Any]:
    run, thread = _path("run", "A run's id."), _path("thread", "A thread's name or key.")
    return {
        "/api/questions": {
            "post": {
                "operationId": "ask",
                "summary": "Put a question",
                "parameters": [
                    {
                        "name": "Idempotency-Key",
                        "in": "header",
                        "description": "Names the request: sent twice it is one question.",
                        "schema": {"type": "string", "pattern": NAME_PATTERN},
                    }
                ],
                "requestBody": {"required": True, "content": _question()},
                "responses": _responses(
                    {"202": ("Taken in.", "Accepted")}, 400, 401, 403, 404, 413, 415, 422, 429, 503
                ),
            }
        },
        "/api/runs/{run}": {
            "get": {
                "operationId": "run",
                "summary": "A run, working or ended",
                "parameters": [run],
                "responses": _responses({"200": ("The run.", "Run")}, 401, 403, 404, 429, 503),
            }
        },
        "/api/runs/{run}/events": {
            "get": {
                "operationId": "events",
                "summary": "What changes in a run, until it has its final answer",
                "description": _EVENTS,
                "parameters": [
                    run,
                    {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "The events.",
                        "content": {"text/event-stream": {"itemSchema": _event_schema()}},
                    },
                    "204": {"description": "You have it all."},
                    **_responses({}, 401, 403, 404, 429, 503),
                },
            }
        },
        "/api/runs/{run}/stop": {
            "post": {
                "operationId": "stop",
                "summary": "Stop a run; what was found until then is its answer",
                "parameters": [run],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"type": "object"}}},
                },
                "responses": _responses(
                    {"202": ("Whether there was anything to stop.", "Stopping")},
                    *(400, 401, 403, 404, 413, 415, 422, 429, 503),
                ),
            }
        },
        "/api/threads/{thread}": {
            "get": {
                "operationId": "thread",
                "summary": "A conversation",
                "parameters": [thread],
                "responses": _responses(
                    {"200": ("The conversation.", "Conversation")}, 401, 403, 404, 429, 503
                ),
            }
        },
    }


def _event_schema() -> dict[str, Any]:
    """Return the schema of an event; the last of those sent together has an id."""
    return {"oneOf": [_event(kind, data) for kind, data in EVENTS.items()]}


def _event(kind: str, data: type[BaseModel]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"const": kind},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"$ref": f"#/components/schemas/{data.__name__}"},
            },
            "id": {"type": "string", "pattern": ID_PATTERN},
        },
    }


def _question() -> dict[str, Any]:
    """Return the body of a question: JSON, or with files a multipart form (RFC 7578) with the same
    fields."""
    asked = Question.model_json_schema()["properties"]
    files = {
        "type": "array",
        "maxItems": MOST_FILES,
        "items": {"type": "string", "format": "binary"},
        "description": f"{described()}.",
    }
    fields = {name: asked[name] for name in ("question", "depth", "thread")}
    form = {"type": "object", "required": ["question"], "properties": {**fields, "files": files}}
    return {**_content("Question"), "multipart/form-data": {"schema": form}}


def _path(name: str, said: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 300}
    return {"name": name, "in": "path", "required": True, "description": said, "schema": schema}


def _content(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _responses(good: dict[str, tuple[str, str]], *failures: int) -> dict[str, Any]:
    told = {
        status: {"description": said, "content": _content(schema)}
        for status, (said, schema) in good.items()
    }
    failed = {"description": "What happened and what to do.", "content": _content("Failure")}
    return {**told, **{str(status): failed for status in failures}}
