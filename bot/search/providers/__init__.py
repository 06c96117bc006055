"""The search providers, one module each; ``bot.search.provider`` finds them."""
