"""The documented limits of messages, embeds, components, threads and commands.

Sources: docs.discord.com/developers/resources/message (content, embeds, nonce),
/components/reference (components of messages and modals), /interactions/application-commands
(commands).
They apply even if the OpenAPI document is missing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from tests.fakes.discord_errors import FormErrors
from tests.fakes.discord_state import COMPONENTS_V2, TEXT_DISPLAY, Json, nested

CONTENT = 2_000
EMBEDS, EMBED_TOTAL, FIELDS = 10, 6_000, 25
EMBED_TEXTS = {"title": 256, "description": 4_096, "url": 2_048}
FIELD_NAME, FIELD_VALUE, FOOTER, AUTHOR = 256, 1_024, 2_048, 256
ROWS, BUTTONS, CUSTOM_ID, LABEL, BUTTON_URL = 5, 5, 100, 80, 512
NONCE = 25
THREAD_NAME = 100
COMMANDS = {1: 100, 2: 15, 3: 15}  # per type: chat input, user, message
COMMAND_NAME, COMMAND_DESCRIPTION, COMMAND_TOTAL = 32, 100, 8_000
OPTIONS, CHOICES, CHOICE = 25, 25, 100
OPTIONS_IN_MENU, OPTION, PLACEHOLDER = 25, 100, 150
ACTION_ROW, BUTTON, STRING_SELECT, LINK, PREMIUM = 1, 2, 3, 5, 6
# Components V2: of a message with that flag, nested ones included; characters of all their texts.
COMPONENTS, TEXT = 40, 4_000
SECTION, THUMBNAIL, GALLERY, FILE, SEPARATOR, CONTAINER = 9, 11, 12, 13, 14, 17
LABEL_OF_FIELD, UPLOAD, RADIO, TEXT_INPUT = 18, 19, 21, 4
MODAL_PARTS, MODAL_TITLE, FIELD_LABEL, FIELD_DESCRIPTION = 5, 45, 45, 100
INPUT, INPUT_PLACEHOLDER, UPLOADS, RADIO_OPTIONS = 4_000, 100, 10, 10
_IN_CONTAINER = (ACTION_ROW, SECTION, TEXT_DISPLAY, GALLERY, FILE, SEPARATOR)
_TOP = (*_IN_CONTAINER, CONTAINER)
_PARTS = {CONTAINER: _IN_CONTAINER, SECTION: (TEXT_DISPLAY,)}
_WEB = re.compile(r"(https?|discord)://\S+", re.IGNORECASE)

Path = tuple[str | int, ...]


def check_message(
    body: Json, wrong: FormErrors, path: Path = (), before: Json | None = None
) -> None:
    """Collect in ``wrong`` where ``body`` exceeds the limits of a message.

    ``before`` is the message that ``body`` changes, with its content, embeds, attachments and
    flags.
    """
    before = before or {}
    was_v2 = bool(before.get("flags", 0) & COMPONENTS_V2)
    v2 = was_v2 or bool((body.get("flags") or 0) & COMPONENTS_V2)
    _text(body, "content", CONTENT, wrong, path)
    nonce = body.get("nonce")
    if isinstance(nonce, str) and len(nonce) > NONCE:
        wrong.too_long((*path, "nonce"), NONCE)
    _check_embeds(body.get("embeds") or [], wrong, (*path, "embeds"))
    at, components = (*path, "components"), body.get("components") or []
    if v2:
        _check_legacy(body, {} if was_v2 else before, wrong, path)
        _check_v2(components, _file_names(body, before), wrong, at)
    else:
        _check_rows(components, wrong, at)
    _check_allowed(body.get("allowed_mentions"), wrong, (*path, "allowed_mentions"))


def _check_legacy(body: Json, before: Json, wrong: FormErrors, path: Path) -> None:
    """Content and embeds are not allowed beside the flag. An edit that sets it must empty them:
    content by null, embeds by [] (github.com/discord/discord-api-docs/issues/7787)."""
    for name in ("content", "embeds", "poll", "sticker_ids"):
        stays = before.get(name) and (name not in body or (name == "embeds" and body[name] is None))
        if body.get(name) or stays:
            told = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            wrong.add((*path, name), "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", told)


def _file_names(body: Json, before: Json) -> set[str]:
    files = body["attachments"] if "attachments" in body else before.get("attachments")
    return {str(file.get("filename")) for file in files or []}


def _text(
    body: Json, name: str, limit: int, wrong: FormErrors, path: Path, *, required: bool = False
) -> int:
    value = body.get(name)
    where = (*path, name)
    if value is None or value == "":
        if required:
            wrong.required(where)
        return 0
    if not isinstance(value, str):
        wrong.add(where, "STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
        return 0
    if len(value) > limit:
        wrong.too_long(where, limit)
    return len(value.strip())


def _check_embeds(embeds: list[Json], wrong: FormErrors, path: Path) -> None:
    if len(embeds) > EMBEDS:
        wrong.too_long(path, EMBEDS)
    total = 0
    for i, embed in enumerate(embeds):
        at = (*path, i)
        for name, limit in EMBED_TEXTS.items():
            length = _text(embed, name, limit, wrong, at)
            total += length if name != "url" else 0
        if embed.get("url") and not _WEB.fullmatch(str(embed["url"])):
            wrong.add((*at, "url"), "URL_TYPE_INVALID_URL", "Not a well formed URL.")
        fields = embed.get("fields") or []
        if len(fields) > FIELDS:
            wrong.too_long((*at, "fields"), FIELDS)
        for j, one in enumerate(fields):
            where = (*at, "fields", j)
            total += _text(one, "name", FIELD_NAME, wrong, where, required=True)
            total += _text(one, "value", FIELD_VALUE, wrong, where, required=True)
        total += _text(embed.get("footer") or {}, "text", FOOTER, wrong, (*at, "footer"))
        total += _text(embed.get("author") or {}, "name", AUTHOR, wrong, (*at, "author"))
        if not any(value for name, value in embed.items() if name not in ("type", "flags")):
            wrong.add(at, "BASE_TYPE_REQUIRED", "An embed needs something to show.")
    if total > EMBED_TOTAL:
        told = f"Embed size exceeds maximum size of {EMBED_TOTAL}"
        wrong.add(path, "MAX_EMBED_SIZE_EXCEEDED", told)


def _check_v2(components: list[Json], files: set[str], wrong: FormErrors, path: Path) -> None:
    """Collect where components beside the flag IS_COMPONENTS_V2 are wrong."""
    whole = nested(components)
    if len(whole) > COMPONENTS:
        told = f"The number of components exceeds the maximum of {COMPONENTS}"
        wrong.add(path, "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", told)
    if sum(len(str(one.get("content") or "")) for one in whole) > TEXT:
        told = f"The displayable text exceeds the maximum size of {TEXT}"
        wrong.add(path, "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", told)
    ids = [one["id"] for one in whole if one.get("id")]
    if len(set(ids)) < len(ids):
        wrong.add(path, "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
    _check_parts(components, _TOP, files, set(), wrong, path)


def _check_parts(
    parts: list[Json],
    kinds: tuple[int, ...],
    files: set[str],
    seen: set[str],
    wrong: FormErrors,
    path: Path,
) -> None:
    for i, part in enumerate(parts):
        at, kind = (*path, i), part.get("type")
        if kind not in kinds:
            wrong.add((*at, "type"), "BASE_TYPE_CHOICES", f"Value must be one of {kinds}.")
        elif kind == ACTION_ROW:
            _check_row(part, seen, wrong, at)
        elif kind == TEXT_DISPLAY:
            _text(part, "content", TEXT, wrong, at, required=True)
        elif kind == FILE:
            _check_file(part, files, wrong, (*at, "file", "url"))
        elif kind in _PARTS:
            inner = part.get("components") or []
            longest = 3 if kind == SECTION else COMPONENTS
            if not 1 <= len(inner) <= longest:
                told = f"Must be between 1 and {longest} in length."
                wrong.add((*at, "components"), "BASE_TYPE_BAD_LENGTH", told)
            _check_parts(inner, _PARTS[kind], files, seen, wrong, (*at, "components"))
            if kind == SECTION:
                _check_accessory(part.get("accessory"), seen, wrong, (*at, "accessory"))


def _check_accessory(part: Json | None, seen: set[str], wrong: FormErrors, path: Path) -> None:
    if part is None:
        wrong.required(path)
    elif part.get("type") == BUTTON:
        _check_button(part, wrong, path)
        _check_custom_id(part, seen, wrong, path)
    elif part.get("type") != THUMBNAIL:
        wrong.add((*path, "type"), "BASE_TYPE_CHOICES", "Value must be one of (2, 11).")


def _check_file(part: Json, files: set[str], wrong: FormErrors, path: Path) -> None:
    scheme, _, name = str((part.get("file") or {}).get("url")).partition("://")
    if scheme != "attachment" or name not in files:
        told = "The referenced attachment was not found"
        wrong.add(path, "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", told)


def _check_rows(rows: list[Json], wrong: FormErrors, path: Path) -> None:
    if len(rows) > ROWS:
        wrong.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {ROWS} in length.")
    seen: set[str] = set()
    for i, row in enumerate(rows):
        at = (*path, i)
        if row.get("type") == ACTION_ROW:
            _check_row(row, seen, wrong, at)
        else:
            wrong.add((*at, "type"), "BASE_TYPE_CHOICES", "Value must be one of (1,).")


def _check_row(row: Json, seen: set[str], wrong: FormErrors, at: Path) -> None:
    parts = row.get("components") or []
    if not 1 <= len(parts) <= BUTTONS:
        told = f"Must be between 1 and {BUTTONS} in length."
        wrong.add((*at, "components"), "BASE_TYPE_BAD_LENGTH", told)
    for j, part in enumerate(parts):
        where = (*at, "components", j)
        if part.get("type") == BUTTON:
            _check_button(part, wrong, where)
        if part.get("type") == STRING_SELECT:
            _check_menu(part, alone=len(parts) == 1, wrong=wrong, where=where)
        _check_custom_id(part, seen, wrong, where)


def _check_custom_id(part: Json, seen: set[str], wrong: FormErrors, where: Path) -> None:
    id = part.get("custom_id")
    if id is None:
        return
    if not 1 <= len(id) <= CUSTOM_ID:
        told = f"Must be between 1 and {CUSTOM_ID} in length."
        wrong.add((*where, "custom_id"), "BASE_TYPE_BAD_LENGTH", told)
    if id in seen:
        told = "Component custom id cannot be duplicated"
        wrong.add((*where, "custom_id"), "COMPONENT_CUSTOM_ID_DUPLICATED", told)
    seen.add(id)


def _check_menu(menu: Json, *, alone: bool, wrong: FormErrors, where: Path) -> None:
    if not alone:
        told = "The specified component exceeds the maximum width"
        wrong.add(where, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", told)
    if not menu.get("custom_id"):
        wrong.required((*where, "custom_id"))
    _text(menu, "placeholder", PLACEHOLDER, wrong, where)
    options = menu.get("options") or []
    if not 1 <= len(options) <= OPTIONS_IN_MENU:
        told = f"Must be between 1 and {OPTIONS_IN_MENU} in length."
        wrong.add((*where, "options"), "BASE_TYPE_BAD_LENGTH", told)
    values = [option.get("value") for option in options]
    if len(set(values)) < len(values):
        told = "The specified option value is already used"
        wrong.add((*where, "options"), "COMPONENT_OPTION_VALUE_DUPLICATED", told)
    for number, option in enumerate(options):
        for name in ("label", "value"):
            _text(option, name, OPTION, wrong, (*where, "options", number), required=True)


def _check_button(button: Json, wrong: FormErrors, where: Path) -> None:
    _text(button, "label", LABEL, wrong, where)
    style, url = button.get("style"), button.get("url")
    if not (button.get("label") or button.get("emoji")) and style != PREMIUM:
        wrong.required((*where, "label"))
    if style == LINK:
        _text(button, "url", BUTTON_URL, wrong, where, required=True)
        if url and not _WEB.fullmatch(url):
            told = f'Scheme "{url.partition(":")[0]}" is not supported. Scheme must be one of '
            told += "('http', 'https', 'discord')."
            wrong.add((*where, "url"), "URL_TYPE_INVALID_SCHEME", told)
        if button.get("custom_id"):
            told = "A custom id and url cannot both be specified"
            wrong.add(
                (*where, "custom_id"), "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", told
            )
    elif style in (1, 2, 3, 4):
        if not button.get("custom_id"):
            wrong.required((*where, "custom_id"))
        if url:
            told = "A custom id and url cannot both be specified"
            wrong.add(
                (*where, "custom_id"), "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", told
            )
    elif style != PREMIUM:
        wrong.add(
            (*where, "style"), "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6)."
        )


def _check_allowed(allowed: Json | None, wrong: FormErrors, path: Path) -> None:
    for kind in ("users", "roles"):
        listed = (allowed or {}).get(kind) or []
        if len(listed) > 100:
            wrong.too_long((*path, kind), 100)
        if listed and kind in ((allowed or {}).get("parse") or []):
            told = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            wrong.add(path, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", told)


def check_modal(modal: Json, wrong: FormErrors, path: Path) -> None:
    """Collect in ``wrong`` where a form exceeds its limits.

    docs.discord.com/developers/interactions/receiving-and-responding, modal; labels, text inputs,
    file uploads and radio groups as in /components/reference.
    """
    _text(modal, "title", MODAL_TITLE, wrong, path, required=True)
    seen: set[str] = set()
    _text(modal, "custom_id", CUSTOM_ID, wrong, path, required=True)
    parts = modal.get("components") or []
    if not 1 <= len(parts) <= MODAL_PARTS:
        told = f"Must be between 1 and {MODAL_PARTS} in length."
        wrong.add((*path, "components"), "BASE_TYPE_BAD_LENGTH", told)
    for i, part in enumerate(parts):
        at = (*path, "components", i)
        if part.get("type") == TEXT_DISPLAY:
            _text(part, "content", TEXT, wrong, at, required=True)
        elif part.get("type") == LABEL_OF_FIELD:
            _text(part, "label", FIELD_LABEL, wrong, at, required=True)
            _text(part, "description", FIELD_DESCRIPTION, wrong, at)
            _check_field(part.get("component") or {}, seen, wrong, (*at, "component"))
        else:  # a text input in a row is deprecated
            wrong.add((*at, "type"), "BASE_TYPE_CHOICES", "Value must be one of (10, 18).")


def _check_field(field: Json, seen: set[str], wrong: FormErrors, at: Path) -> None:
    if not field.get("custom_id"):
        wrong.required((*at, "custom_id"))
    _check_custom_id(field, seen, wrong, at)
    kind = field.get("type")
    if kind == TEXT_INPUT:
        _text(field, "placeholder", INPUT_PLACEHOLDER, wrong, at)
        _text(field, "value", INPUT, wrong, at)
        for name, least in (("min_length", 0), ("max_length", 1)):
            if not least <= (field.get(name) or least) <= INPUT:
                told = f"int value should be {least} to {INPUT}."
                wrong.add((*at, name), "NUMBER_TYPE_MAX", told)
    elif kind == UPLOAD:
        if not 1 <= (field.get("max_values") or 1) <= UPLOADS:
            wrong.add(
                (*at, "max_values"), "NUMBER_TYPE_MAX", f"int value should be 1 to {UPLOADS}."
            )
    elif kind == RADIO:
        options = field.get("options") or []
        if not 2 <= len(options) <= RADIO_OPTIONS:
            told = f"Must be between 2 and {RADIO_OPTIONS} in length."
            wrong.add((*at, "options"), "BASE_TYPE_BAD_LENGTH", told)
        for number, option in enumerate(options):
            for name in ("label", "value"):
                _text(option, name, OPTION, wrong, (*at, "options", number), required=True)
    else:
        told = "Value must be one of (4, 19, 21)."
        wrong.add((*at, "type"), "BASE_TYPE_CHOICES", told)


def check_choices(choices: list[Json], wrong: FormErrors, path: Path) -> None:
    """Collect in ``wrong`` where the choices of an option exceed their limits."""
    if len(choices) > CHOICES:
        wrong.too_long(path, CHOICES)
    for j, choice in enumerate(choices):
        _text(choice, "name", CHOICE, wrong, (*path, j), required=True)
        if isinstance(choice.get("value"), str):
            _text(choice, "value", CHOICE, wrong, (*path, j), required=True)


def check_thread(body: Json, wrong: FormErrors) -> None:
    name = body.get("name")
    if not isinstance(name, str) or not 1 <= len(name.strip()) <= THREAD_NAME:
        told = f"Must be between 1 and {THREAD_NAME} in length."
        wrong.add(("name",), "BASE_TYPE_BAD_LENGTH", told)
    if body.get("auto_archive_duration") not in (None, 60, 1440, 4320, 10080):
        told = "Value must be one of (60, 1440, 4320, 10080)."
        wrong.add(("auto_archive_duration",), "BASE_TYPE_CHOICES", told)


def check_command(command: Json, wrong: FormErrors, path: Path = ()) -> None:
    """Collect in ``wrong`` where one application command exceeds its limits."""
    kind = command.get("type") or 1
    _text(command, "name", COMMAND_NAME, wrong, path, required=True)
    if kind == 1:
        _check_command_name(str(command.get("name")), wrong, (*path, "name"))
        _text(command, "description", COMMAND_DESCRIPTION, wrong, path, required=True)
    else:
        for name in ("description", "options"):
            if command.get(name):
                told = "Context menu commands cannot have this field"
                wrong.add((*path, name), "APPLICATION_COMMAND_CONTEXT_MENU_FIELD", told)
    _check_options(command.get("options") or [], wrong, (*path, "options"))
    if _command_length(command) > COMMAND_TOTAL:
        told = f"Command exceeds maximum size ({COMMAND_TOTAL})"
        wrong.add(path, "APPLICATION_COMMAND_TOO_LARGE", told)


def _check_options(options: list[Json], wrong: FormErrors, path: Path) -> None:
    if len(options) > OPTIONS:
        wrong.too_long(path, OPTIONS)
    names: set[str] = set()
    optional_seen = False
    for i, option in enumerate(options):
        at = (*path, i)
        name = str(option.get("name"))
        _check_command_name(name, wrong, (*at, "name"))
        _text(option, "description", COMMAND_DESCRIPTION, wrong, at, required=True)
        if name in names:
            wrong.add((*at, "name"), "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
                      "Option name already exists")  # fmt: skip
        names.add(name)
        if option.get("required") and optional_seen:
            wrong.add((*at, "required"), "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
                      "Required options must be placed before non-required options")  # fmt: skip
        optional_seen |= not option.get("required")
        choices = option.get("choices") or []
        check_choices(choices, wrong, (*at, "choices"))
        if option.get("autocomplete") and (choices or option.get("type") not in (3, 4, 10)):
            told = "Autocomplete is for options without choices that are typed"
            wrong.add((*at, "autocomplete"), "APPLICATION_COMMAND_AUTOCOMPLETE_INVALID", told)
        _check_options(option.get("options") or [], wrong, (*at, "options"))


def _check_command_name(name: str, wrong: FormErrors, path: Path) -> None:
    fits = all(c in "-_'" or unicodedata.category(c)[0] in "LN" for c in name)
    if not (fits and 1 <= len(name) <= COMMAND_NAME and name == name.lower()):
        told = "Command name is invalid"
        wrong.add(path, "APPLICATION_COMMAND_INVALID_NAME", told)


def _command_length(command: Json) -> int:
    """Return the total length of names, descriptions and choice values of a command."""

    def own(part: Json) -> int:
        texts: list[Any] = [part.get("name"), part.get("description"), part.get("value")]
        inner = [*(part.get("options") or []), *(part.get("choices") or [])]
        return sum(len(t) for t in texts if isinstance(t, str)) + sum(map(own, inner))

    return own(command)
