"""Shared parts of the three kinds of Office Open XML documents (ECMA-376, part 2)."""

from __future__ import annotations

from bot.pages.formats.packages import Package
from bot.pages.properties import said_title

_MAIN = "officeDocument"
_CORE = "core-properties"


def main_part(package: Package, usual: str) -> str:
    """The name of the part that holds the document itself."""
    for each in package.relationships("").values():
        if each.kind == _MAIN:
            return each.target
    return usual


def core_title(package: Package) -> str:
    """The title in the document's properties; "" for what a program put there by itself."""
    for each in package.relationships("").values():
        if each.kind == _CORE and each.target in package:
            root = package.tree(each.target)
            return said_title("" if root is None else root.findtext("{*}title") or "")
    return ""
