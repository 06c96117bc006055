"""Compiles the modules that Footnote loads, for an image in which bytecode cannot be written later.

The bytecode of all modules would be 80 MB: of the platforms' and models' packages only some are
ever loaded.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import adapters
import bot

sys.dont_write_bytecode = False
for package in (bot, adapters):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name == "bot.__main__" or module.name.startswith("bot.storage.migrations.env"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            sys.stderr.write(f"{module.name} is left out, without {missing.name}\n")
