"""Access to the console: who asks, and what they may see."""
