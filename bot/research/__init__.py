"""The research itself: rewrite, gather by a strategy, write, check."""
