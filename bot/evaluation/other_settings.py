"""The second settings of ``footnote eval --against``: a file like ``footnote.toml`` with the
differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from bot.configuration import load_settings, settings_class
from bot.errors import Invalid, InvalidSetting
from bot.messages import Depth
from bot.settings import Settings, settings_in_file

DEPTH = "depth"  # not a setting, but a frequent difference between two columns


def other_settings(path: Path, overrides: dict[str, Any]) -> tuple[Settings, Depth | None]:
    """Return the current settings overridden by those of a file, and the depth if the file has one.

    The file overrides the environment and ``overrides``, which come from the command line. Raises
    ``InvalidSetting`` and ``Invalid``.
    """
    if not path.is_file():
        raise Invalid(f"There is no file {path}: name one with settings, like footnote.toml.")
    found = settings_in_file(path, [*settings_class().model_fields, DEPTH])
    depth = found.pop(DEPTH, None)
    if depth is not None and depth not in get_args(Depth):
        raise InvalidSetting(f"depth in {path} must be one of {', '.join(get_args(Depth))}.")
    try:
        return load_settings(**{**overrides, **found}), depth
    except InvalidSetting as error:
        raise InvalidSetting(f"With the settings of {path}: {error.sentence}") from None
