"""Channel rules: tone, language, default depth and providers of one channel.

They come from the setting ``channels``; what an admin sets by command goes before it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import get_args

from pydantic import ValidationError

from bot.errors import Invalid
from bot.messages import Depth, RunOptions
from bot.settings import ChannelRules

KEYS = tuple(ChannelRules.model_fields)
DEPTHS: tuple[str, ...] = get_args(Depth)


def options_for(rules: ChannelRules, depth: Depth = "auto") -> RunOptions:
    """The options of a run in a channel; ``depth`` is the asker's choice, which goes first."""
    return RunOptions(
        depth=rules.depth if depth == "auto" else depth,
        providers=rules.providers,
        instructions=_instructions(rules),
    )


def changed(
    rules: ChannelRules, key: str, value: str, known_providers: Collection[str]
) -> ChannelRules:
    """The rules with one of them set from what an admin typed; an empty value unsets it.

    Raises ``Invalid`` with a sentence that names what can be set.
    """
    key = key.strip().lower()
    if key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise Invalid(f"There is no rule {key!r}: set one of {', '.join(KEYS)}.{meant}")
    value = " ".join(value.split())
    new: object = value
    if key == "depth":
        new = value.lower() or "auto"
        if new not in DEPTHS:
            raise Invalid(f"There is no depth {value!r}: choose one of {', '.join(DEPTHS)}.")
    if key == "providers":
        names = tuple(name.lower() for name in value.replace(",", " ").split())
        unknown = [name for name in names if name not in known_providers]
        if unknown:
            raise Invalid(
                f"There is no search provider {unknown[0]!r} here: "
                f"choose among {', '.join(sorted(known_providers))}."
            )
        new = names
    try:
        return ChannelRules.model_validate({**rules.model_dump(), key: new})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise Invalid(f"The rule {key} cannot be set: {problem}.") from None


def shown(rules: ChannelRules) -> list[tuple[str, str]]:
    """The rules that are set, as name and value."""
    values = [
        (key, ", ".join(value) if isinstance(value, tuple) else str(value))
        for key, value in rules.model_dump().items()
    ]
    return [(key, value) for key, value in values if value and (key, value) != ("depth", "auto")]


def _instructions(rules: ChannelRules) -> str:
    sentences = []
    if rules.language:
        sentences.append(f"Answer in this language: {rules.language}.")
    if rules.tone:
        sentences.append(f"Tone: {rules.tone.rstrip('.')}.")
    return " ".join(sentences)
