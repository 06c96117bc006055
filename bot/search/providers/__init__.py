"""The search providers, one module each; ``bot.search.declaration`` finds them."""
