"""One call of the Web API: its arguments, its outcome, and the validation of its arguments.

Blocks, views and metadata are validated three times: by the published JSON schema of Block Kit (if
the shared data is present), by the models of slack_sdk, and by documented limits that are in
neither of them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack_limits import MARKDOWN, MESSAGE_BLOCKS, METADATA_BYTES, RULES, VIEW_BLOCKS
from tests.fakes.slack_workspace import Json

# Arguments that travel as JSON text when a call is form-encoded.
STRUCTURED = frozenset(
    {"attachments", "blocks", "chunks", "metadata", "prompts", "unfurls", "view"}
)


class Refused(Exception):
    """Slack responds with ``{"ok": false, "error": code, **more}``."""

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
    """A call with its response. ``began`` and ``seconds`` are of ``time.perf_counter``."""

    method: str
    args: Json
    began: float
    seconds: float
    status: int  # HTTP status; 0: the connection was cut
    error: str | None
    reply: Json = field(default_factory=dict)
    took_effect: bool = False

    @property
    def ok(self) -> bool:
        return self.took_effect and self.error is None


@cache
def known_arguments(method: str) -> dict[str, bool]:
    """Return the argument names of slack_sdk's own client for ``method`` → True if required."""
    function = getattr(AsyncWebClient, method.replace(".", "_"))
    return {
        name: parameter.default is inspect.Parameter.empty
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("self", "app_token") and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


def checked_arguments(method: str, given: Json, documented: dict[str, bool] | None = None) -> Json:
    """Decode the structured arguments in ``given``; refuse unknown and missing names, compared with
    slack_sdk's or the ``documented`` ones."""
    if method not in RULES:
        raise Refused("unknown_method", req_method=method)
    known = known_arguments(method) if documented is None else documented
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
    """Parse a boolean as Slack does, from JSON or a form."""
    return value in (True, 1, "1", "true", "True")


def text_of(args: Json, name: str) -> str:
    """Return a string argument, ``""`` if absent."""
    value = args.get(name, "")
    if not isinstance(value, str):
        raise Refused("invalid_arguments", f"[ERROR] must be a string: {name}")
    return value


def number_of(args: Json, name: str, default: int) -> int:
    try:
        return int(args.get(name, default))
    except (TypeError, ValueError):
        raise Refused("invalid_arguments", f"[ERROR] must be a number: {name}") from None


SCHEMA = Path(__file__).parents[3] / "shared" / "schemas" / "slack-blocks.schema.json"

# https://docs.slack.dev/reference/block-kit/blocks: surfaces of each block
MESSAGES_ONLY = frozenset(
    {"context_actions", "markdown", "plan", "table", "task_card", "data_table"}
)
FIELD_TEXT = 2_000
ELEMENT_TEXT = 2_000  # a text object within context


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and its position: a JSON pointer relative to the checked value."""

    pointer: str
    message: str

    def line(self, root: str) -> str:
        """Format the fault as in Slack's ``response_metadata.messages``."""
        return f"[ERROR] {self.message} [json-pointer:{root}{self.pointer}]"


@lru_cache(maxsize=1)
def _validators() -> dict[str, list[Draft7Validator]]:
    """Return the schema's definitions by block type; empty without the schema."""
    if not SCHEMA.exists():
        return {}
    definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["definitions"]
    found: dict[str, list[Draft7Validator]] = {}
    for reference in definitions["KnownBlock"]["anyOf"]:
        name = reference["$ref"].rsplit("/", 1)[1]
        for shape in definitions[name].get("anyOf", [definitions[name]]):
            kind = shape["properties"]["type"]["const"]
            validator = Draft7Validator({**shape, "definitions": definitions})
            found.setdefault(kind, []).append(validator)
    return found


def faults_in_blocks(blocks: Any, limit: int = MESSAGE_BLOCKS, home: bool = False) -> list[Fault]:
    """Return all faults of ``blocks``; ``home`` tells that they belong to a view."""
    if not isinstance(blocks, list):
        return [Fault("", "must be an array")]
    if len(blocks) > limit:
        return [Fault("", f"no more than {limit} items allowed [length:{len(blocks)}]")]
    faults: list[Fault] = []
    for number, block in enumerate(blocks):
        at = f"/{number}"
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            faults.append(Fault(at, "missing required field: type"))
            continue
        if home and block["type"] in MESSAGES_ONLY:
            faults.append(Fault(f"{at}/type", f"{block['type']} is not allowed in a view"))
        faults += _by_schema(block, at) or _by_models(block, at) or _by_limits(block, at)
    return faults + ([] if faults else _across(blocks))


def _by_schema(block: dict[str, Any], at: str) -> list[Fault]:
    known = _validators()
    if not known:
        return []
    shapes = known.get(block["type"])
    if shapes is None:
        return [Fault(f"{at}/type", f"unsupported type: {block['type']}")]
    tried = [sorted(shape.iter_errors(block), key=lambda e: len(e.path)) for shape in shapes]
    if not all(tried):
        return []
    return [
        Fault(at + "".join(f"/{step}" for step in error.absolute_path), error.message[:300])
        for error in min(tried, key=len)
    ]


def _by_models(block: dict[str, Any], at: str) -> list[Fault]:
    try:
        parsed = Block.parse(json.loads(json.dumps(block)))
        if parsed is None:
            return [Fault(f"{at}/type", f"unsupported type: {block['type']}")]
        parsed.to_dict()
    except (SlackObjectFormationError, TypeError, AttributeError, KeyError, ValueError) as error:
        return [Fault(at, str(error))]
    return []


def _by_limits(block: dict[str, Any], at: str) -> list[Fault]:
    faults = list(_empty_texts(block, at))
    kind = block["type"]
    if kind in ("actions", "context", "context_actions") and not block.get("elements"):
        faults.append(Fault(f"{at}/elements", "no fewer than 1 items required"))
    if kind == "context":
        faults += _long_texts(block.get("elements"), f"{at}/elements", ELEMENT_TEXT)
    if kind == "table":
        faults += _of_table(block, at)
    if kind == "context_actions":
        faults += _of_context_actions(block, f"{at}/elements")
    if kind == "section":
        faults += _long_texts(block.get("fields"), f"{at}/fields", FIELD_TEXT)
    names = [str(one["action_id"]) for one in _interactive(block) if one.get("action_id")]
    faults += [
        Fault(at, f'`action_id` "{name}" already exists')
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    return faults + [
        Fault(at, "invalid url")
        for one in _interactive(block)
        if not str(one.get("url", "https://")).startswith(("http://", "https://"))
    ]


TABLE_ROWS, TABLE_COLUMNS, TABLE_CHARACTERS = 100, 20, 10_000


def _of_table(block: dict[str, Any], at: str) -> Iterator[Fault]:
    """https://docs.slack.dev/reference/block-kit/blocks/table-block"""
    rows = block["rows"]
    if len(rows) > TABLE_ROWS:
        yield Fault(f"{at}/rows", f"no more than {TABLE_ROWS} items allowed")
    for number, row in enumerate(rows):
        where = f"{at}/rows/{number}"
        if not 1 <= len(row) <= TABLE_COLUMNS:
            yield Fault(where, f"1 to {TABLE_COLUMNS} items")
        for cell in row:
            if cell.get("type") not in ("raw_text", "raw_number", "rich_text"):
                yield Fault(where, "failed to match any allowed schemas")
            elif cell["type"] == "raw_text" and not cell.get("text"):
                yield Fault(where, "must be more than 0 characters")
            elif cell["type"] == "rich_text" and not all(
                part.get("elements") for part in cell.get("elements") or [{}]
            ):
                yield Fault(where, "missing required field: elements")
    if len(block.get("column_settings", [])) > TABLE_COLUMNS:
        yield Fault(f"{at}/column_settings", f"no more than {TABLE_COLUMNS} items allowed")


def characters_in_cells(node: Any) -> int:
    """Return the number of characters in the cells of tables."""
    if isinstance(node, list):
        return sum(map(characters_in_cells, node))
    if not isinstance(node, dict):
        return 0
    own = len(node["text"]) if isinstance(node.get("text"), str) else 0
    return own + sum(characters_in_cells(node.get(inside)) for inside in ("rows", "elements"))


ICONS = ("trash",)
MOST_VIEWERS = 10  # ids in `visible_to_user_ids`
CONFIRM_TEXTS = {"title": 100, "text": 300, "confirm": 30, "deny": 30}


def _of_context_actions(block: dict[str, Any], at: str) -> Iterator[Fault]:
    """https://docs.slack.dev/reference/block-kit/block-elements/icon-button-element"""
    for number, element in enumerate(block["elements"]):
        where = f"{at}/{number}"
        if not element.get("action_id"):
            yield Fault(where, "missing required field: action_id")
        if element["type"] == "feedback_buttons":
            for name in ("positive_button", "negative_button"):
                if not element[name].get("value"):
                    yield Fault(f"{where}/{name}", "missing required field: value")
        elif element["type"] == "icon_button":
            if element["icon"] not in ICONS:
                yield Fault(f"{where}/icon", "must be a valid enum value")
            viewers = element.get("visible_to_user_ids", [])
            if len(viewers) > MOST_VIEWERS or not all(id[:1] in ("U", "W") for id in viewers):
                yield Fault(f"{where}/visible_to_user_ids", f"up to {MOST_VIEWERS} ids of users")
            for name, most in CONFIRM_TEXTS.items():
                text = element.get("confirm", {}).get(name, {}).get("text", "")
                if len(text) > most:
                    yield Fault(f"{where}/confirm/{name}", f"must be less than {most + 1}")
        else:
            yield Fault(f"{where}/type", f"unsupported type: {element['type']}")


def _interactive(block: dict[str, Any]) -> list[dict[str, Any]]:
    inside = ("actions", "context_actions")
    elements = block.get("elements") if block["type"] in inside else None
    found = [one for one in elements or [] if isinstance(one, dict)]
    accessory = block.get("accessory")
    return found + ([accessory] if isinstance(accessory, dict) else [])


def _long_texts(items: Any, at: str, limit: int) -> Iterator[Fault]:
    for number, item in enumerate(items or []):
        if isinstance(item, dict) and len(str(item.get("text", ""))) > limit:
            yield Fault(f"{at}/{number}/text", f"must be less than {limit + 1} characters")


def _empty_texts(node: Any, at: str) -> Iterator[Fault]:
    """Yield faults of empty text objects and rich text."""
    if isinstance(node, dict):
        if (
            node.get("type") in ("plain_text", "mrkdwn", "text", "markdown")
            and node.get("text") == ""
        ):
            yield Fault(f"{at}/text", "must be more than 0 characters")
        for key, inner in node.items():
            yield from _empty_texts(inner, f"{at}/{key}")
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from _empty_texts(inner, f"{at}/{number}")


def _across(blocks: list[dict[str, Any]]) -> list[Fault]:
    faults = []
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > MARKDOWN:
        faults.append(Fault("", f"markdown blocks hold more than {MARKDOWN} characters in all"))
    tables = [block for block in blocks if block["type"] == "table"]
    if len(tables) > 1:
        faults.append(Fault("", "only_one_table_allowed"))
    if characters_in_cells(tables) > TABLE_CHARACTERS:
        faults.append(Fault("", f"the cells hold more than {TABLE_CHARACTERS} characters"))
    names = [block["block_id"] for block in blocks if block.get("block_id")]
    faults += [
        Fault("", f'`block_id` "{name}" already exists')
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    return faults


def faults_in_view(view: Any, kinds: tuple[str, ...] = ("home", "modal")) -> list[Fault]:
    """Return all faults of a view for views.publish (``home``) or views.open (``modal``)."""
    if not isinstance(view, dict):
        return [Fault("", "must be an object")]
    if view.get("type") not in kinds:
        return [Fault("/type", f"must be one of: {', '.join(kinds)}")]
    faults = [Fault(f"/{key}", "additional property") for key in view if key not in View.attributes]
    if view["type"] == "modal" and not view.get("title"):
        faults.append(Fault("/title", "missing required field: title"))
    faults += [
        Fault(f"/blocks{fault.pointer}", fault.message)
        for fault in faults_in_blocks(view.get("blocks"), VIEW_BLOCKS, home=True)
    ]
    if not faults:
        try:
            View(**json.loads(json.dumps(view))).to_dict()
        except (SlackObjectFormationError, TypeError, AttributeError) as error:
            faults.append(Fault("", str(error)))
    return faults


def fault_in_metadata(metadata: Any) -> str | None:
    """Return the error code for metadata other than ``{event_type, event_payload}``."""
    if not isinstance(metadata, dict):
        return "invalid_metadata_format"
    if not metadata:
        return None  # chat.update removes metadata with an empty object
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        return "invalid_metadata_format"
    if set(metadata) - {"event_type", "event_payload", "entities"} or len(kind) > 255:
        return "invalid_metadata_schema"
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > METADATA_BYTES:
        return "metadata_too_large"
    return None
