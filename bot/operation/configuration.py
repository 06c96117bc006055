"""Reads the settings of the core and of the declared parts, and says what is wrong with them.

A message has the name, the given value, the allowed values, and the way out. It never contains the
value of a secret.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from dotenv import dotenv_values
from pydantic import AliasChoices, BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import SettingsError

from bot.core.errors import InvalidSetting
from bot.core.settings import (
    DOTENV,
    ENDING,
    PREFIX,
    TOML,
    Settings,
    is_secret,
    nearest_name,
    secrets_in_files,
    settings_in_file,
)
from bot.reasoning.reasoner import chosen_reasoner, reasoners
from bot.search.registry import declarations
from bot.service.platform import platforms

# Kubernetes sets environment variables for each service of the namespace. Those of a service named
# "footnote" begin with our prefix.
# https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
SERVICE_LINK = re.compile(
    r"""FOOTNOTE_ (\w{1,80}_)? (
        SERVICE_HOST=.* | SERVICE_PORT(_\w+)?=\d+ | PORT(_\d+_[A-Z]+)?=(tcp|udp|sctp)://.*
        | PORT_\d+_[A-Z]+_(PROTO|PORT|ADDR)=.*
    )""",
    re.VERBOSE,
)

SHOWN = 60  # characters of a value in a message

# Rules for a setting's text that its type does not express.
MEANT: Mapping[str, str] = {
    "console_user_header": "the name of a header: letters, digits and hyphens",
    "console_token": "a text of 16 characters or more",
}

SECRET = ("headers", "env", "oauth")  # tables that may hold secrets

# Examples of JSON in the environment.
JSON: Mapping[str, str] = {
    "prices": '{"model": {"input": 3, "output": 15, "cache_write": 3.75, "cache_read": 0.3}}',
    "channels": '{"C0123": {"language": "English", "depth": "quick"}}',
    "collections": '[{"name": "hr", "paths": ["/srv/docs/hr"], "people": ["U0123"]}]',
    "mcp": '[{"name": "wiki", "url": "https://mcp.example.com/mcp", "everybody": true}]',
}


def load_settings(**overrides: Any) -> Settings:
    """Read all sources; ``overrides`` (from the command line) win, None means not set.

    Raises ``InvalidSetting``, which names the setting and says what to do.
    """
    _refuse_unknown_names()
    given = {name: value for name, value in overrides.items() if value is not None}
    given = {**_secrets(), **given}
    try:
        settings = settings_class()(**given)
    except ValidationError as error:
        raise InvalidSetting(what_is_wrong(error)) from None
    except SettingsError as error:
        raise InvalidSetting(_not_json(error)) from None
    chosen_reasoner(settings)  # refuses an unknown reasoner
    return settings


@cache
def settings_class() -> type[Settings]:
    """Return ``Settings`` extended by the settings of all declared parts."""
    declared = dict.fromkeys(
        [
            *(each.settings for each in declarations().values()),
            *(each.settings for each in platforms().values()),
            *(each.settings for each in reasoners().values()),
        ]
    )
    own = [each for each in declared if not issubclass(Settings, each)]
    return create_model("Settings", __base__=(*own, Settings))


def known_names() -> list[str]:
    """Return every name that may be set in the environment."""
    return [env_name(field) for field in settings_class().model_fields]


def secret_names() -> list[str]:
    """Return every name that may be set with the suffix ``_FILE``."""
    fields = settings_class().model_fields
    return [env_name(field) for field, info in fields.items() if is_secret(field, info)]


def _secrets() -> dict[str, str]:
    """Read the secrets held in files, by the name that the settings class accepts."""
    fields = settings_class().model_fields
    names = {
        env_name(field) if info.validation_alias else field: env_name(field)
        for field, info in fields.items()
        if is_secret(field, info)
    }
    # The environment takes precedence over .env, as for every setting.
    given = {name.upper(): value for name, value in dotenv_values(DOTENV).items() if value}
    for name, value in os.environ.items():
        if value:
            given.pop(name.upper().removesuffix(ENDING), None)
            given.pop(name.upper() + ENDING, None)
    given |= {name.upper(): value for name, value in os.environ.items() if value}
    return secrets_in_files(names, given)


def env_name(field: str) -> str:
    """Return the name of a setting in the environment."""
    alias = settings_class().model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else PREFIX + field.upper()


def _refuse_unknown_names() -> None:
    known, secrets = known_names(), secret_names()
    try:
        links = {n for n, v in os.environ.items() if SERVICE_LINK.fullmatch(f"{n}={v}")}
        names = [*(os.environ.keys() - links), *dotenv_values(DOTENV)]
    except UnicodeDecodeError:
        raise InvalidSetting(f"{DOTENV} is not UTF-8 text: save it as such.") from None
    for name in names:
        plain = name.upper().removesuffix(ENDING) if name.upper().endswith(ENDING) else ""
        is_known = name.upper() in known or plain in secrets
        if name.upper().startswith(PREFIX) and not is_known:
            raise InvalidSetting(f"Unknown setting {name}.{nearest_name(name.upper(), known)}")
    if Path(TOML).is_file():
        settings_in_file(Path(TOML), list(settings_class().model_fields))


def what_is_wrong(error: ValidationError) -> str:
    """Return a sentence about settings that were not accepted."""
    fields = settings_class().model_fields
    names = {field: env_name(field) for field in fields}
    return _sentence(error, fields, names, _places(names))


def _places(names: Mapping[str, str]) -> dict[str, str]:
    """Return where each setting was found, as a suffix for messages (" in .env"), by field; "" for
    the environment."""
    files = {key.upper(): f" in {DOTENV}" for key in dotenv_values(DOTENV)}
    toml = Path(TOML)
    keys = tomllib.loads(toml.read_text(encoding="utf-8")) if toml.is_file() else {}
    environment = {name.upper() for name in os.environ if os.environ[name]}
    return {
        field: ""
        if name in environment
        else files.get(name, f" in {TOML}" if field in keys else "")
        for field, name in names.items()
    }


# ---------------------------------------------------------------- what is wrong


def _not_json(error: SettingsError) -> str:
    """Return the message for a setting that is not valid JSON. Only the field's name is taken from
    the error's text, which may repeat a secret."""
    found = re.search(r'field "(\w+)"', str(error))
    fields = [found[1]] if found is not None and found[1] in JSON else list(JSON)
    names = " or ".join(map(env_name, fields))
    example = " and ".join(JSON[field] for field in fields)
    return f"{names} is not valid JSON: write it like {example}."


def _sentence(
    error: ValidationError,
    fields: Mapping[str, FieldInfo],
    names: Mapping[str, str],
    places: Mapping[str, str],
) -> str:
    """Return a message about the first problem, with the names of other wrong settings.

    ``names`` are the environment names of settings, ``places`` the sources they were found in (" in
    .env"), both by field.
    """
    # First the unknown keys: one of them is often a misspelled missing key.
    problems = error.errors(include_url=False)
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
    by_field: dict[str, Any] = {}
    for problem in problems:
        by_field.setdefault(
            _field(str(problem["loc"][0]) if problem["loc"] else "", fields), problem
        )
    (field, problem), *others = by_field.items()
    found = _message(field, problem, fields.get(field), names, places)
    if not others:
        return found
    more = ", ".join(names.get(name, name) for name, _ in others)
    return f"{found} Look at {more} as well."


def _field(name: str, fields: Mapping[str, FieldInfo]) -> str:
    """Return the field that has this name or alias."""
    for field, info in fields.items():
        alias = info.validation_alias
        if isinstance(alias, AliasChoices) and name in alias.choices:
            return field
    return name


def _message(
    field: str,
    problem: Any,
    info: FieldInfo | None,
    names: Mapping[str, str],
    places: Mapping[str, str],
) -> str:
    name = f"{names.get(field, field)}{places.get(field, '')}"
    if info is None:
        return f"{name} is not right: correct it, or unset it."
    path = [str(part) for part in problem["loc"][1:]]
    if isinstance(part := _nested(info), type):
        if get_origin(_kind(info.annotation)) is tuple:
            return _message_in_list(name, path, problem, part)
        return _message_in_table(name, path, problem, part)
    given = problem.get("input")
    shown = "" if _is_hidden(field, info, given) else f" is {_shown(given)}"
    if problem["type"] == "value_error":  # one of our own validators
        return f"{name}{shown or ' is not right'}: {problem['ctx']['error']}."
    return f"{name}{shown or ' is not right'}: it must be {_allowed(field, info)}.{_way_out(info)}"


def _message_in_table(name: str, path: Sequence[str], problem: Any, part: type[BaseModel]) -> str:
    """Describe a problem in a table of tables, such as channel rules; ``path`` is entry and key."""
    if not path:
        return f"{name} is {_shown(problem.get('input'))}: it must be a table of tables."
    entry, *rest = path
    known = part.model_fields
    if not rest:
        return (
            f"{name} has {_shown(problem.get('input'))} for {entry}: give it a table with "
            f"{', '.join(known)}."
        )
    key = rest[0]
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}."
        return f"{name} has {key} for {entry}, which is not known there: {meant}"
    allowed = _allowed(key, known[key])
    if problem["type"] == "missing":
        return f"{name} lacks {key} for {entry}: it must be {allowed}."
    if key in SECRET:
        return f"{name} has {key} of {entry} that cannot be used: write a table of texts."
    return f"{name} has {_shown(problem.get('input'))} as {key} of {entry}: it must be {allowed}."


def _message_in_list(name: str, path: Sequence[str], problem: Any, part: type[BaseModel]) -> str:
    """Describe a problem in a list of tables, such as collections; ``path`` is index and key."""
    if problem["type"] == "value_error" and len(path) < 2:
        return f"{name} is not right: {problem['ctx']['error']}."
    if not path:
        return f"{name} is {_shown(problem.get('input'))}: it must be a list of tables."
    place, *rest = path
    entry = f"number {int(place) + 1}"
    if problem["type"] == "value_error":
        return f"{name} has {rest[0]} in {entry} that cannot be used: {problem['ctx']['error']}."
    return _message_in_table(name, [entry, *rest], problem, part)


# ---------------------------------------------------------------- what is allowed


def _allowed(field: str, info: FieldInfo) -> str:
    """Return the allowed values of a field, to complete "it must be …"."""
    if field in MEANT:
        return MEANT[field]
    kind = _kind(info.annotation)
    if get_origin(kind) is Literal:
        *all_but_last, last = (str(each) for each in get_args(kind))
        return f"{', '.join(all_but_last)} or {last}" if all_but_last else last
    if kind in (int, float):
        noun = "a whole number" if kind is int else "a number"
        return f"{noun}{_bounds(info)}"
    if kind is bool:
        return "true or false"
    if kind is Path:
        return "the path of a folder"
    if get_origin(kind) is tuple:
        return "a list of texts, separated by commas"
    longest = next((m.max_length for m in info.metadata if hasattr(m, "max_length")), None)
    return "a text" if longest is None else f"a text of at most {longest:,} characters"


def _bounds(info: FieldInfo) -> str:
    found = {
        name: getattr(each, name)
        for each in info.metadata
        for name in ("ge", "gt", "le")
        if getattr(each, name, None) is not None
    }
    if "ge" in found and "le" in found:
        return f" from {found['ge']:,} to {found['le']:,}"
    if "ge" in found:
        return f" of at least {found['ge']:,}"
    return f" above {found['gt']:,}" if "gt" in found else ""


def _way_out(info: FieldInfo) -> str:
    default = info.get_default(call_default_factory=False)
    plain = default is not None and default not in ("", ()) and not isinstance(default, dict)
    if info.is_required() or not isinstance(default, str | int | float) or not plain:
        return " Correct it, or unset it."
    value = str(default).lower() if isinstance(default, bool) else f"{default}"
    return f" Correct it, or unset it: the default is {value.removesuffix('.0')}."


# ---------------------------------------------------------------- types and values


def _kind(annotation: Any) -> Any:
    """Return a type without an optional None."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _kind(next(each for each in get_args(annotation) if each is not type(None)))
    return annotation


def _nested(info: FieldInfo) -> type[BaseModel] | None:
    """Return the type of the values of a setting's table, or of the items of its list of tables."""
    kind = _kind(info.annotation)
    values = get_args(kind)[1] if get_origin(kind) is dict else None
    if get_origin(kind) is tuple:
        values = get_args(kind)[0]
    return values if isinstance(values, type) and issubclass(values, BaseModel) else None


def _is_hidden(field: str, info: FieldInfo, given: object) -> bool:
    """Return True if the value must not be shown: a secret, or an address with a password."""
    in_url = field.endswith("_url") and "?" in str(given)  # services take keys in the query
    return is_secret(field, info) or in_url or "@" in str(given)


def _shown(given: object) -> str:
    text = " ".join(str(given).split())
    return f"“{text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}”"
