"""JSON schemas of replies and of the inputs of tools, in the form that strict decoding asks for."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}


def one_of(*words: str) -> Schema:
    """One of these strings."""
    return {"type": "string", "enum": [*words]}


def list_of(items: Schema, **more: Any) -> Schema:
    """A list; ``more`` are further keywords of its schema."""
    return {"type": "array", "items": items, **more}


def object_of(**properties: Schema) -> Schema:
    """An object that has all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
