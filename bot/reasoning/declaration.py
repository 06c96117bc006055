"""Reasoners: their declaration, the choice by the settings, and the cost of replies.

A package declares a reasoner by a ``Declaration`` in its entry point group ``footnote.reasoners``.
Footnote's own are found in the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bot.core.errors import InvalidSetting
from bot.core.measurements import Observe
from bot.core.plugins import load_parts
from bot.core.settings import Price, Settings
from bot.reasoning.calls import ModelReply, Tokens

if TYPE_CHECKING:
    from bot.reasoning.model.service import Service
    from bot.reasoning.reasoner import ReasonerFactory


HOUR = 2.0  # times the input price, for cache writes kept for an hour (Claude)


def configured_price(settings: Settings, reply: ModelReply) -> float | None:
    """Return the USD for one reply, including interrupted attempts; None if the settings have no
    price for its model."""
    price = settings.prices.get(reply.model)
    return None if price is None else sum(cost(price, tokens) for tokens in reply.attempts)


def cost(price: Price, tokens: Tokens) -> float:
    """Return the USD for one attempt."""
    hour = HOUR * price.input if price.cache_write_hour is None else price.cache_write_hour
    return (
        tokens.input * price.input
        + tokens.output * price.output
        + max(0, tokens.cache_write - tokens.hour_write) * price.cache_write
        + tokens.hour_write * hour
        + tokens.cache_read * price.cache_read
    ) / 1_000_000


ENTRY_POINTS = "footnote.reasoners"
CLOSEST = "closest"  # used if nothing else is chosen, or the model is away


@dataclass(frozen=True, slots=True)
class Models:
    """The names of the large and the small model at their service."""

    large: str
    small: str


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Declaration(Generic[S]):
    """A reasoner as its package declares it, in a module that loads no SDK.

    ``name`` selects it in FOOTNOTE_REASONER, and before a colon in FOOTNOTE_MODEL. ``settings`` is
    its own subclass of ``Settings``, or that class. ``open`` yields a factory that makes a reasoner
    per run; ``Observe`` records the calls of each model, and the flag is False if the SDK may be
    imported in the background. ``check`` returns its line for `footnote doctor`, and raises
    ``FootnoteError``, which says what to do. ``switched_on`` returns True if the settings ask for
    it while FOOTNOTE_REASONER is auto, ``needed`` if doctor must fail when it is unreachable.
    ``models`` returns None if it has none; ``service`` opens their service, for calls outside a
    run. ``price`` returns the USD for a reply, None if unknown. ``open``, ``models`` and
    ``service`` raise ``InvalidSetting`` or ``CredentialsRefused`` if the settings cannot work.
    """

    name: str
    settings: type[S]
    open: Callable[
        [S, Callable[[str], Observe], bool], AbstractAsyncContextManager[ReasonerFactory]
    ]
    check: Callable[[S], Awaitable[str]]
    switched_on: Callable[[S], bool] = lambda settings: False
    needed: Callable[[S], bool] = lambda settings: True
    models: Callable[[S], Models | None] = lambda settings: None
    service: Callable[[S], Service[Any]] | None = None
    price: Callable[[S, ModelReply], float | None] = configured_price


@cache
def reasoners() -> dict[str, Declaration[Any]]:
    """Return all reasoners by name, Footnote's own and those of other packages.

    Raises ``InvalidSetting`` for a package whose reasoner cannot be loaded.
    """
    found = load_parts(ENTRY_POINTS, Declaration, "reasoner")
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def chosen_reasoner(settings: Settings) -> Declaration[Any]:
    """Return the reasoner chosen by the settings. Raises ``InvalidSetting`` for an unknown one."""
    known = reasoners()
    if settings.reasoner != "auto":
        if settings.reasoner not in known:
            names = ", ".join(("auto", *known))
            raise InvalidSetting(
                f"FOOTNOTE_REASONER is {settings.reasoner!r}: set it to one of {names}."
            )
        return known[settings.reasoner]
    named = settings.model.partition(":")[0] if ":" in settings.model else ""
    if named in known:
        return known[named]
    able = (each for each in known.values() if isinstance(settings, each.settings))
    on = next((each for each in able if each.switched_on(settings)), None)
    if on is None and named and "model" in settings.model_fields_set:
        services = " or ".join(f"{each.name}:" for each in known.values() if each.service)
        raise InvalidSetting(
            f"FOOTNOTE_MODEL is {settings.model!r}, but there is no reasoner {named!r}: begin it "
            f"with {services}, or unset it to be answered with quotations."
        )
    return on or known[CLOSEST]


def models_of(settings: Settings) -> Models | None:
    """Return the models of the chosen reasoner, or None."""
    return chosen_reasoner(settings).models(settings)


def who_answers(settings: Settings) -> str:
    """Return the name of the large model, or of the reasoner if it has none."""
    models = models_of(settings)
    return models.large if models else chosen_reasoner(settings).name


def price_of(settings: Settings, reply: ModelReply) -> float | None:
    """Return the USD for a reply of any reasoner's model, or None if its price is unknown."""
    prices = (each.price(settings, reply) for each in reasoners().values())
    return next((usd for usd in prices if usd is not None), None)


def without_name(model: str, name: str) -> str:
    """Return a model's name at its service: ``gpt-a`` for ``openai:gpt-a``."""
    return model.removeprefix(f"{name}:")
