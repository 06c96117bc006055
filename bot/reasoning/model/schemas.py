"""JSON schemas of replies and tool inputs, in the form required for strict decoding."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}


def one_of(*words: str) -> Schema:
    """Return the schema of one of these strings."""
    return {"type": "string", "enum": [*words]}


def list_of(items: Schema, **more: Any) -> Schema:
    """Return the schema of a list; ``more`` are further keywords."""
    return {"type": "array", "items": items, **more}


def object_of(**properties: Schema) -> Schema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
