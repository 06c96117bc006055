"""The price of a reply, from the prices in FOOTNOTE_PRICES (USD per million tokens)."""

from __future__ import annotations

from bot.reasoning.calls import ModelReply, Tokens
from bot.settings import Price, Settings

HOUR = 2.0  # times the input, for a cache write that is kept for an hour (Claude)


def configured_price(settings: Settings, reply: ModelReply) -> float | None:
    """USD for one reply, its broken-off attempts included; None where its model has no price in
    the settings."""
    price = settings.prices.get(reply.model)
    return None if price is None else sum(cost(price, tokens) for tokens in reply.attempts)


def cost(price: Price, tokens: Tokens) -> float:
    """USD for one attempt."""
    hour = HOUR * price.input if price.cache_write_hour is None else price.cache_write_hour
    return (
        tokens.input * price.input
        + tokens.output * price.output
        + max(0, tokens.cache_write - tokens.hour_write) * price.cache_write
        + tokens.hour_write * hour
        + tokens.cache_read * price.cache_read
    ) / 1_000_000
