"""The price of a reply of Claude.

USD per million tokens, as the model pages and the price list on platform.claude.com gave them in
November 2026 (docs/en/about-claude/pricing, docs/en/models/<model>/overview). Cache writes cost
1.25 times the input for five minutes, twice the input for an hour (same page); what the API worked
on in the US only costs 1.1 times as much (docs/en/manage-claude/data-residency; nothing here asks
for it, but an API workspace may). Cache reads are a tenth of the input, but a twentieth
for Opus 5.5 and (since 7 October 2026) Sonnet 5.5, and a fortieth for Fable and Mythos 5.1.
Haiku 5.5 costs five times as much for prompts above 100,000 tokens. Mythos costs what the Fable of
the same number does (models/fable-5/overview). No price was found for Fable and Mythos 5.2 and for
the Mythos preview: they are left out, as is every model not listed here.

Priority and batch tiers and fast mode have prices of their own; no request here asks for them.

``FOOTNOTE_PRICES`` replaces or extends the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.reasoning.calls import ModelReply, Tokens
from bot.reasoning.prices import cost
from bot.settings import Price, Settings


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

IN_US = 1.1  # times everything

# Other platforms write the same model as "us.anthropic.claude-x-v1:0", "anthropic/claude-x@date"
# or "claude-x[1m]".
_PREFIX = re.compile(r"^(?:[a-z]{2,6}\.)?anthropic[./]")
_SUFFIX = re.compile(r"(?:\[1m\]|-v\d+(?::\d+)?|[-@]\d{8})$")


def claude_price(settings: Settings, reply: ModelReply) -> float | None:
    """USD for one reply, its broken-off attempts included, or None when its model's price is not
    known."""
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
    """A model's name without what a platform or a snapshot adds to it."""
    name = _PREFIX.sub("", model.strip().lower())
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name
