"""Claude as a reasoner of Footnote: its settings, checked without the SDK, and the prices of its
models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from bot.core.credentials import ClaudeSettings, claude_address, claude_key
from bot.core.measurements import Observe, nothing_observed
from bot.core.plugins import Setup, Step
from bot.core.settings import Price, Settings
from bot.core.texts import Said
from bot.reasoning.calls import ModelReply, Tokens
from bot.reasoning.reasoner import (
    Declaration,
    Models,
    ReasonerFactory,
    cost,
    without_name,
)

if TYPE_CHECKING:
    from bot.reasoning.claude_api import ClaudeEndpoint


def models(settings: ClaudeSettings) -> Models:
    return Models(
        without_name(settings.model, "claude"), without_name(settings.small_model, "claude")
    )


def _price(input: float, output: float, cache_read: float) -> Price:
    return Price(input=input, output=output, cache_write=1.25 * input, cache_read=cache_read)


PRICES: Mapping[str, Price] = {
    "claude-fable-5-1": _price(10, 50, 0.25),
    "claude-mythos-5-1": _price(10, 50, 0.25),
    "claude-fable-5": _price(10, 50, 1.00),
    "claude-mythos-5": _price(10, 50, 1.00),
    "claude-opus-5-5": _price(4, 20, 0.20),
    "claude-opus-5": _price(5, 25, 0.50),
    "claude-opus-4-8": _price(5, 25, 0.50),
    "claude-opus-4-7": _price(5, 25, 0.50),
    "claude-opus-4-6": _price(5, 25, 0.50),
    "claude-opus-4-5": _price(5, 25, 0.50),
    "claude-sonnet-5-5": _price(2, 10, 0.10),
    "claude-sonnet-5": _price(2, 10, 0.20),
    "claude-sonnet-4-6": _price(3, 15, 0.30),
    "claude-sonnet-4-5": _price(3, 15, 0.30),
    "claude-haiku-5-5": _price(0.10, 0.50, 0.01),
    "claude-haiku-4-5": _price(1, 5, 0.10),
}

LONG_PROMPT = 100_000  # tokens of one prompt, cached ones included
LONG_PRICES: Mapping[str, Price] = {"claude-haiku-5-5": _price(0.50, 2.50, 0.05)}

IN_US = 1.1  # factor for all prices

# Other platforms name the same model "us.anthropic.claude-x-v1:0", "anthropic/claude-x@date" or
# "claude-x[1m]".
_PREFIX = re.compile(r"^(?:[a-z]{2,6}\.)?anthropic[./]")
_SUFFIX = re.compile(r"(?:\[1m\]|-v\d+(?::\d+)?|[-@]\d{8})$")


def claude_price(settings: Settings, reply: ModelReply) -> float | None:
    """Return the USD for one reply, including interrupted attempts; None if its model's price is
    unknown."""
    usd = 0.0
    for tokens in reply.attempts:
        price = _price_of(settings, reply.model, tokens)
        if price is None:
            return None
        usd += cost(price, tokens)
    return usd * (IN_US if reply.geo == "us" else 1.0)


def _price_of(settings: Settings, model: str, tokens: Tokens) -> Price | None:
    names = (model, plain_name(model))
    for name in names:
        if name in settings.prices:
            return settings.prices[name]
    prompt = tokens.input + tokens.cache_write + tokens.cache_read
    tables = (LONG_PRICES, PRICES) if prompt > LONG_PROMPT else (PRICES,)
    for table in tables:
        if names[1] in table:
            return table[names[1]]
    return None


def plain_name(model: str) -> str:
    """Return a model's name without additions for a platform or snapshot."""
    name = _PREFIX.sub("", model.strip().lower())
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name


def claude_service(
    settings: ClaudeSettings, observe: Callable[[str], Observe] = nothing_observed
) -> ClaudeEndpoint:
    from bot.reasoning.claude_api import ClaudeEndpoint

    return ClaudeEndpoint(settings, claude_key(settings), claude_address(settings), observe)


def _open(
    settings: ClaudeSettings, observe: Callable[[str], Observe], wait: bool
) -> AbstractAsyncContextManager[ReasonerFactory]:
    from bot.reasoning.model_reasoner import open_reasoner

    claude_key(settings), claude_address(settings)  # report wrong settings before loading the SDK
    return open_reasoner(
        "claude", settings, models(settings), lambda: claude_service(settings, observe), wait=wait
    )


async def _check(settings: ClaudeSettings) -> Said:
    from bot.reasoning.model_reasoner import probe

    return await probe(claude_service(settings), models(settings))


REASONER = Declaration(
    name="claude",
    settings=ClaudeSettings,
    open=_open,
    check=_check,
    is_on=lambda settings: settings.anthropic_api_key is not None,
    needed=lambda settings: (
        settings.reasoner == "claude" or settings.anthropic_base_url is not None
    ),
    models=models,
    service=claude_service,
    price=claude_price,
    setup=Setup(
        "Claude",
        lambda: (
            Step(
                "connect-claude-key",
                "connect-claude-open",
                link="https://console.anthropic.com/settings/keys",
            ),
            Step("connect-claude-enter", "connect-claude-field", field="anthropic_api_key"),
        ),
        ("anthropic_api_key",),
        "connect-claude-connected",
    ),
)
