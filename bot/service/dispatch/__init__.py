"""Dispatching: where and when a run executes."""
