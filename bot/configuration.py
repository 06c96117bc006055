"""Reads the settings of the core and of the declared parts."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import AliasChoices, ValidationError, create_model
from pydantic_settings import SettingsError

from bot import wrong_settings
from bot.errors import InvalidSetting
from bot.platform import platforms
from bot.reasoning.declaration import chosen_reasoner, reasoners
from bot.search.declaration import declarations
from bot.secret_files import ENDING, is_secret, secrets_in_files
from bot.settings import DOTENV, PREFIX, TOML, Settings
from bot.settings_file import nearest_name, settings_in_file

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
        raise InvalidSetting(_explain(error)) from None
    except SettingsError as error:
        raise InvalidSetting(wrong_settings.not_json(error, _env_name)) from None
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
    return [_env_name(field) for field in settings_class().model_fields]


def secret_names() -> list[str]:
    """Return every name that may be set with the suffix ``_FILE``."""
    fields = settings_class().model_fields
    return [_env_name(field) for field, info in fields.items() if is_secret(field, info)]


def _secrets() -> dict[str, str]:
    """Read the secrets held in files, by the name that the settings class accepts."""
    fields = settings_class().model_fields
    names = {
        _env_name(field) if info.validation_alias else field: _env_name(field)
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


def _env_name(field: str) -> str:
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


def _explain(error: ValidationError) -> str:
    fields = settings_class().model_fields
    names = {field: _env_name(field) for field in fields}
    return wrong_settings.sentence(error, fields, names, _places(names))


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
