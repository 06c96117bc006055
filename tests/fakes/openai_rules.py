"""The rules for a request to ``/v1/chat/completions``: the SDK's own types as a schema, and the
documented rules that no schema says (platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema.protocols import Validator

from tests.fakes.claude_models import Wrong
from tests.fakes.pictures import check_image
from tests.fakes.sdk_schema import check_schema, validator_of

# Keywords that strict schemas refuse (docs/guides/structured-outputs, "Supported schemas").
REFUSED_KEYWORDS = frozenset(
    ("allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else")
)


def check(request: Any) -> None:
    """Raise ``Wrong`` with the first problem of a request body."""
    if not isinstance(request, dict):
        raise Wrong("We could not parse the JSON body of your request.")
    check_schema(_validator(), request)
    if "max_tokens" in request and "max_completion_tokens" in request:
        raise Wrong("Setting 'max_tokens' and 'max_completion_tokens' at the same time is wrong.")
    _check_messages(request["messages"])
    for tool in request.get("tools", ()):
        function = tool["function"]
        if function.get("strict"):
            _check_strict(function["parameters"], f"function {function['name']!r}")
    form = request.get("response_format", {}).get("json_schema", {})
    if form.get("strict"):
        _check_strict(form["schema"], f"response_format {form['name']!r}")


@functools.cache
def _validator() -> Validator:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return validator_of(CompletionCreateParamsStreaming)


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    waited: list[str] = []  # calls whose results must come next
    for at, message in enumerate(messages):
        place = f"messages.[{at}]"
        if message["role"] == "tool":
            if message["tool_call_id"] not in waited:
                raise Wrong(
                    f"{place}: messages with role 'tool' must be a response to a preceding message "
                    "with 'tool_calls'."
                )
            waited.remove(message["tool_call_id"])
            continue
        if waited:
            raise Wrong(
                f"{place}: An assistant message with 'tool_calls' must be followed by tool "
                f"messages responding to each 'tool_call_id'. Missing: {', '.join(waited)}"
            )
        if message["role"] == "system" and at:
            raise Wrong(f"{place}: the system prompt must come first")
        if message["role"] == "assistant":
            calls = message.get("tool_calls", [])
            if not calls and not message.get("content"):
                raise Wrong(f"{place}: content or tool_calls are required")
            for call in calls:
                _check_arguments(call["function"]["arguments"], place)
            waited = [call["id"] for call in calls]
        elif not message["content"]:
            raise Wrong(f"{place}.content: must not be empty")
        if isinstance(message.get("content"), list):
            _check_parts(place, message)
    if waited:
        raise Wrong(f"no response to the tool calls {', '.join(waited)}")


def _check_parts(place: str, message: Mapping[str, Any]) -> None:
    """Images are data URLs of the four kinds (docs/guides/images-vision), in user messages."""
    images = [part for part in message["content"] if part["type"] == "image_url"]
    if images and message["role"] != "user":
        raise Wrong(f"{place}.content: images are for user messages")
    for part in images:
        head, found, data = part["image_url"]["url"].partition(";base64,")
        if not found or not head.startswith("data:image/"):
            raise Wrong(f"{place}.content: Invalid image_url: only data URLs are tried here")
        check_image(place, head.removeprefix("data:"), data, len(images))


def _check_arguments(arguments: str, place: str) -> None:
    # What templates of chats make of a call needs its input as an object.
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise Wrong(f"{place}.tool_calls: arguments are not valid JSON: {error}") from None
    if not isinstance(given, dict):
        raise Wrong(f"{place}.tool_calls: arguments must be an object")


def _check_strict(schema: Mapping[str, Any], place: str) -> None:
    if refused := REFUSED_KEYWORDS & set(schema):
        raise Wrong(f"Invalid schema for {place}: {', '.join(refused)} is not permitted.")
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            raise Wrong(f"Invalid schema for {place}: 'additionalProperties' must be false.")
        if set(schema["required"]) != set(schema["properties"]):
            raise Wrong(f"Invalid schema for {place}: 'required' must include every key.")
        for inner in schema["properties"].values():
            _check_strict(inner, place)
    if schema.get("type") == "array":
        _check_strict(schema["items"], place)
