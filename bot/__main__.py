"""Runs the ``footnote`` command as ``python -m bot``."""

from bot.cli import main

main()
