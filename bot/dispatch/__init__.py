"""Where and when a run executes."""
