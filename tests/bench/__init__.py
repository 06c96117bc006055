"""Measurements: ``python -m tests.bench [NAME ...]``. They print tables and never fail on time."""
