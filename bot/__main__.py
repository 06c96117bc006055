"""Runs the ``footnote`` command as ``python -m bot``."""

from bot.cli.main import main

main()
