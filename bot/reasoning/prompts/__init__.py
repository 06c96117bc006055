"""The prompts: one Markdown file each, loaded with named placeholders filled in."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->\s*", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def load(name: str, **values: str) -> str:
    """Return the prompt ``name.md`` without its opening comment, each ``{placeholder}`` replaced.

    Raises ``KeyError`` for a placeholder without a value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]], _read(name))


@functools.cache
def _read(name: str) -> str:
    text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", text).strip()
