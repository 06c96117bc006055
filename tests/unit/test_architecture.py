"""Import rules: rooms above each other, no circle of modules, no platform library in the core."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLATFORM_LIBRARIES = {"slack_bolt", "slack_sdk", "discord"}


def modules() -> dict[str, Path]:
    """All modules of the product, by their names."""
    files = (file for top in ("bot", "adapters") for file in (ROOT / top).rglob("*.py"))
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files
    }


@cache
def imported(file: Path) -> frozenset[str]:
    """Everything that a module imports, also late, and also for its types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
    return frozenset(found)


def graph() -> Mapping[str, set[str]]:
    known = modules()
    return {
        name: {each for each in imported(file) if each in known and each != name}
        for name, file in known.items()
    }


def test_no_modules_import_each_other_in_a_circle() -> None:
    imports = graph()
    # A package is imported with each of its modules, and holds nothing.
    packages = {name for name, file in modules().items() if file.name == "__init__.py"}
    without = {name: each - packages for name, each in imports.items() if name not in packages}
    try:
        TopologicalSorter(without).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_the_core_imports_no_platform_library_and_no_adapter() -> None:
    for name, file in modules().items():
        if name.startswith("bot."):
            tops = {each.partition(".")[0] for each in imported(file)}
            assert not tops & PLATFORM_LIBRARIES, name
            if not name.startswith("bot.cli."):  # commands open the terminal's adapter
                assert "adapters" not in tops, name


def test_adapters_do_not_import_each_other() -> None:
    for name, file in modules().items():
        if name.startswith("adapters.") and name.count(".") > 1:
            own = ".".join(name.split(".")[:2])
            others = {each for each in imported(file) if each.startswith("adapters.")}
            assert all(each == own or each.startswith(f"{own}.") for each in others), name


# From the ground up: a room imports only from itself and from rooms before it.
ROOMS = (
    *("text", "core", "pages", "storage", "rendering", "search", "reasoning", "research", "mcp"),
    *("rights", "service", "operation", "evaluation", "adapters", "cli"),
)


def room(module: str) -> str:
    """The room of a module: its package in ``bot``, or ``adapters``."""
    top, _, rest = module.partition(".")
    if top == "adapters":
        return top
    return "cli" if rest == "__main__" else rest.partition(".")[0]


def test_every_module_is_in_a_room() -> None:
    rooms = {room(name) for name in modules() if name not in ("bot", "adapters")}
    assert rooms == set(ROOMS)


def test_a_room_imports_only_from_the_rooms_below_it() -> None:
    upward = [
        f"{name} imports {each}"
        for name, file in modules().items()
        for each in imported(file) & modules().keys()
        if name not in ("bot", "adapters") and each not in ("bot", "adapters")
        if ROOMS.index(room(each)) > ROOMS.index(room(name))
    ]
    assert upward == []
