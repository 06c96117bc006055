"""The rules of a request to ``/v1/messages``: the SDK's own types as a schema, and the documented
rules that no schema expresses. Each problem is worded as by the API: the place, then the reason.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
from jsonschema.protocols import Validator

from tests.fakes.claude_models import Wrong
from tests.fakes.claude_replies import Block, sign
from tests.fakes.pictures import MOST_IMAGES, check_image
from tests.fakes.sdk_schema import check_schema, validator_of

MAX_BREAKPOINTS = 4  # build-with-claude/prompt-caching
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")  # agents-and-tools/tool-use/define-tools
TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")

# Keywords that structured outputs and strict tools refuse
# (build-with-claude/structured-outputs, "JSON Schema limitations").
REFUSED_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength
        maxItems uniqueItems patternProperties oneOf not if then else""",
    )
)


def check(request: Any) -> None:
    """Raise ``Wrong`` with the first problem of a request body."""
    if not isinstance(request, dict):
        raise Wrong("the request body must be a JSON object")
    check_schema(_validator(bool(request.get("stream"))), request)
    messages = request["messages"]
    if request["max_tokens"] < 1:
        raise Wrong("max_tokens: must be greater than or equal to 1")
    _check_turns(messages)
    for at, message in enumerate(messages):
        _check_content(f"messages.{at}", message)
    _check_images(messages)
    _check_tool_results(messages)
    _check_tools(request)
    _check_thinking(request)
    _check_caching(request)
    _check_citations(request)


# ---------------------------------------------------------------- the schema


def prepare() -> None:
    """Build the validators now, which takes a second, rather than during the first request."""
    for streaming in (False, True):
        _validator(streaming)


@functools.cache
def _validator(streaming: bool) -> Validator:
    from anthropic.types.message_create_params import (
        MessageCreateParamsNonStreaming,
        MessageCreateParamsStreaming,
    )

    return validator_of(
        MessageCreateParamsStreaming if streaming else MessageCreateParamsNonStreaming
    )


# ---------------------------------------------------------------- turns and content


def _check_turns(messages: list[Block]) -> None:
    if not messages:
        raise Wrong("messages: at least one message is required")
    if messages[0]["role"] != "user":
        raise Wrong("messages: first message must use the user role")
    for at, (one, two) in enumerate(itertools.pairwise(messages), 1):
        if one["role"] == two["role"]:
            raise Wrong(f"messages.{at}: roles must alternate between user and assistant")
    if messages[-1]["role"] == "assistant":
        raise Wrong(
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )


def _check_content(place: str, message: Block) -> None:
    content = message["content"]
    if isinstance(content, str):
        if not content.strip():
            raise Wrong(f"{place}: text content must be non-empty")
        return
    if not content:
        raise Wrong(f"{place}: content must be non-empty")
    late = False
    for at, block in enumerate(content):
        here = f"{place}.content.{at}"
        _check_block(here, block)
        if block["type"] in ("tool_result", "search_result") and message["role"] == "assistant":
            raise Wrong(f"{here}: {block['type']} blocks are for user messages")
        if block["type"] in ("tool_use", "thinking") and message["role"] == "user":
            raise Wrong(f"{here}: {block['type']} blocks are for assistant messages")
        if message["role"] == "user" and block.get("citations") and block["type"] == "text":
            raise Wrong(f"{here}.citations: citations are not allowed in user messages")
        if block["type"] == "tool_result" and late:
            raise Wrong(f"{here}: tool_result blocks must come first in the content")
        late = late or block["type"] != "tool_result"


def _check_block(place: str, block: Block) -> None:
    match block["type"]:
        case "text":
            if not block["text"]:
                raise Wrong(f"{place}.text: text content blocks must be non-empty")
            if not block["text"].strip():
                raise Wrong(f"{place}.text: text content blocks must contain non-whitespace text")
        case "search_result":
            if not block["content"]:
                raise Wrong(f"{place}.content: at least one text block is required")
            if not block["source"] or not block["title"]:
                raise Wrong(f"{place}: source and title must be non-empty")
            for at, part in enumerate(block["content"]):
                _check_block(f"{place}.content.{at}", part)
        case "tool_result":
            inner = block.get("content")
            if isinstance(inner, list):
                for at, part in enumerate(inner):
                    _check_block(f"{place}.content.{at}", part)
            if block.get("is_error") and not inner:
                raise Wrong(f"{place}: content is required when is_error is true")
        case "tool_use":
            if not TOOL_ID.fullmatch(block["id"]):
                raise Wrong(f"{place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
            if not TOOL_NAME.fullmatch(block["name"]):
                raise Wrong(f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        case "thinking":
            if block["signature"] != sign(block["thinking"]):
                raise Wrong(f"{place}: Invalid `signature` in `thinking` block")


def _check_images(messages: list[Block]) -> None:
    """The documented limits of images (build-with-claude/vision)."""
    images = [
        (f"messages.{at}.content.{number}.image.source.{block['source']['type']}", block, message)
        for at, message in enumerate(messages)
        if not isinstance(message["content"], str)
        for number, block in enumerate(message["content"])
        if block["type"] == "image"
    ]
    if len(images) > MOST_IMAGES:
        raise Wrong(f"messages: at most {MOST_IMAGES} images may be provided")
    for place, block, message in images:
        if message["role"] != "user":
            raise Wrong(f"{place}: image blocks are for user messages")
        if block["source"]["type"] != "base64":
            raise Wrong(f"{place}: this stand-in keeps no files and fetches no addresses")
        source = block["source"]
        check_image(place, source["media_type"], source["data"], len(images))


def _check_tool_results(messages: list[Block]) -> None:
    seen: set[str] = set()
    wanted: list[str] = []
    for at, message in enumerate(messages):
        blocks = [] if isinstance(message["content"], str) else message["content"]
        if message["role"] == "user":
            given = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
            for id in given:
                if id not in wanted:
                    raise Wrong(
                        f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: "
                        f"{id}. Each `tool_result` block must have a corresponding `tool_use` "
                        "block in the previous message."
                    )
            if len(set(given)) != len(given):
                raise Wrong(f"messages.{at}: each tool_use must have a single result")
            if missing := [id for id in wanted if id not in given]:
                raise Wrong(
                    f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks "
                    f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                    "corresponding `tool_result` block in the next message."
                )
            wanted = []
        else:
            wanted = [b["id"] for b in blocks if b["type"] == "tool_use"]
            for id in wanted:
                if id in seen:
                    raise Wrong(f"messages.{at}: `tool_use` ids must be unique")
                seen.add(id)


# ---------------------------------------------------------------- tools, thinking, output


def _check_tools(request: Mapping[str, Any]) -> None:
    tools = request.get("tools") or ()
    names = [tool.get("name", "") for tool in tools]
    if len(set(names)) != len(names):
        raise Wrong("tools: Tool names must be unique.")
    for at, tool in enumerate(tools):
        place = f"tools.{at}.custom"
        if not TOOL_NAME.fullmatch(tool.get("name", "")):
            raise Wrong(f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if str(tool.get("type", "")).startswith("web_search_"):
            if "allowed_domains" in tool and "blocked_domains" in tool:
                raise Wrong(f"{place}: allowed_domains and blocked_domains exclude each other")
            continue
        schema = tool.get("input_schema", {})
        if schema.get("type") != "object":
            raise Wrong(f"{place}.input_schema.type: Field required")
        _check_json_schema(f"{place}.input_schema", schema)
        if tool.get("strict"):
            _check_strict(f"{place}.input_schema", schema)
    used = any(
        block["type"] in ("tool_use", "tool_result")
        for message in request["messages"]
        if not isinstance(message["content"], str)
        for block in message["content"]
    )
    if used and not tools:
        raise Wrong("Requests which include `tool_use` or `tool_result` blocks must define tools.")
    choice = request.get("tool_choice")
    if choice and not tools:
        raise Wrong("tool_choice: may only be specified while providing tools")
    if choice and choice["type"] == "tool" and choice["name"] not in names:
        raise Wrong(f"tool_choice: Tool '{choice['name']}' not found in provided tools")
    wanted = (request.get("output_config") or {}).get("format")
    if wanted:
        _check_json_schema("output_config.format.schema", wanted["schema"])
        _check_strict("output_config.format.schema", wanted["schema"])


def _check_json_schema(place: str, schema: Any) -> None:
    if problem := _schema_problem(json.dumps(schema, sort_keys=True)):
        raise Wrong(f"{place}: JSON schema is invalid: {problem}")


@functools.lru_cache(maxsize=256)
def _schema_problem(schema: str) -> str:
    """The fault of a JSON schema, or ""; remembered, for the same tools come every turn."""
    try:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        return str(error.message)
    return ""


def _check_strict(place: str, schema: Any) -> None:
    """The limits of structured outputs and strict tool use."""
    if not isinstance(schema, Mapping):
        return
    if refused := sorted(REFUSED_KEYWORDS & set(schema)):
        raise Wrong(f"{place}: For '{schema.get('type')}' type, '{refused[0]}' is not supported")
    if schema.get("minItems", 0) > 1:
        raise Wrong(f"{place}: For 'array' type, 'minItems' values other than 0 or 1 are refused")
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise Wrong(f"{place}: For 'object' type, 'additionalProperties' must be false")
    for name, part in (schema.get("properties") or {}).items():
        _check_strict(f"{place}.properties.{name}", part)
    _check_strict(f"{place}.items", schema.get("items"))
    for part in schema.get("anyOf") or ():
        _check_strict(f"{place}.anyOf", part)


def _check_thinking(request: Mapping[str, Any]) -> None:
    thinking = request.get("thinking") or {}
    if thinking.get("type") == "enabled":
        if thinking["budget_tokens"] < 1024:
            raise Wrong("thinking.enabled.budget_tokens: must be at least 1024")
        if thinking["budget_tokens"] >= request["max_tokens"]:
            raise Wrong("`max_tokens` must be greater than `thinking.budget_tokens`.")
    choice = (request.get("tool_choice") or {}).get("type")
    if thinking.get("type") in ("adaptive", "enabled") and choice in ("any", "tool"):
        raise Wrong("Thinking may not be enabled when tool_choice forces tool use.")


# ---------------------------------------------------------------- caching and citations


def _check_caching(request: Mapping[str, Any]) -> None:
    found = 0
    for place, block in _walk(request):
        if block.get("cache_control"):
            found += 1
            if block.get("type") in ("thinking", "redacted_thinking"):
                raise Wrong(f"{place}.cache_control: Extra inputs are not permitted")
    if found > MAX_BREAKPOINTS:
        raise Wrong(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {found}."
        )


def _walk(value: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every mapping of the request that could carry ``cache_control`` (not inside tool inputs)."""
    if isinstance(value, Mapping):
        yield place, value
        for key, part in value.items():
            if key not in ("input", "input_schema", "cache_control", "schema"):
                yield from _walk(part, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from _walk(part, f"{place}.{at}")


def _check_citations(request: Mapping[str, Any]) -> None:
    on = {
        bool((block.get("citations") or {}).get("enabled"))
        for _, block in _walk(request["messages"], "messages")
        if block.get("type") in ("search_result", "document")
    }
    if len(on) > 1:
        raise Wrong("citations must be enabled on all or none of the search_result blocks")
    if on == {True} and (request.get("output_config") or {}).get("format"):
        raise Wrong("output_config.format: cannot be used together with citations")
