"""Runs the processes: serving, workers, health, metrics, traces."""
