"""Dispatching: the place and time of a run's execution."""
