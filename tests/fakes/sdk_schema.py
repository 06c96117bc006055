"""Requests held against an SDK's own types, with problems worded as an API words them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from pydantic import TypeAdapter

from tests.fakes.claude_models import Wrong


def check_schema(validator: Validator, request: Mapping[str, Any]) -> None:
    """Raise ``Wrong`` with the first problem of a request body."""
    problem = next(validator.iter_errors(request), None)
    if problem is None:
        return
    while problem.context:
        problem = max(problem.context, key=lambda e: len(e.absolute_path))
    place = ".".join(str(part) for part in problem.absolute_path)
    if problem.validator == "additionalProperties":
        rule: Any = problem.schema
        extra = sorted(set(_of(problem.instance)) - set(rule.get("properties", {})))
        place = f"{place}.{extra[0]}" if place else extra[0]
        raise Wrong(f"{place}: Extra inputs are not permitted")
    if problem.validator == "required":
        missing = sorted(set(_of(problem.validator_value)) - set(_of(problem.instance)))
        raise Wrong(f"{place}.{missing[0]}: Field required".lstrip("."))
    words = problem.message if len(problem.message) < 300 else f"invalid {problem.validator}"
    raise Wrong(f"{place}: {words}".lstrip(": "))


def _of(value: Any) -> list[str]:
    return list(value)


def validator_of(asked: Any) -> Validator:
    """A validator for a type of requests, with no property allowed beyond it."""
    schema = TypeAdapter[Any](asked).json_schema()
    for part in (schema, *schema["$defs"].values()):
        if part.get("type") == "object":
            part.setdefault("additionalProperties", False)
    any_of = _Unions(schema["$defs"])
    extend: Any = jsonschema.validators.extend
    validator: Validator = extend(jsonschema.Draft202012Validator, {"anyOf": any_of})(schema)
    return validator


class _Unions:
    """``anyOf``, but a union told apart by ``type`` or ``role`` is checked in its own branch only.

    That makes it fast (the block union has twenty members) and names the real problem.
    """

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}

    def __call__(
        self, validator: Any, branches: list[Any], instance: Any, schema: Any
    ) -> Iterator[jsonschema.ValidationError]:
        if isinstance(instance, Mapping):
            for tag in ("type", "role"):
                if isinstance(value := instance.get(tag), str):
                    named = [b for b in branches if value in self._tags(b.get("$ref", ""), tag)]
                    # The SDK also takes its own response objects; on the wire only parameters
                    # count.
                    named = [b for b in named if b["$ref"].endswith("Param")] or named
                    if len(named) == 1:
                        yield from validator.descend(instance, named[0])
                        return
        default = jsonschema.Draft202012Validator.VALIDATORS["anyOf"]
        yield from default(validator, branches, instance, schema) or ()

    def _tags(self, reference: str, tag: str) -> tuple[str, ...]:
        """The values of a tag that a referenced definition allows."""
        found = self._found.get((reference, tag))
        if found is None:
            name = reference.removeprefix("#/$defs/")
            rule = self._definitions.get(name, {}).get("properties", {}).get(tag, {})
            options = rule.get("anyOf", [rule])
            found = tuple(v for o in options for v in (o.get("const"), *o.get("enum", ())) if v)
            self._found[reference, tag] = found
        return found
