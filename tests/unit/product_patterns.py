"""Every regular expression of the product, found by importing all of its modules."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import adapters
import bot

_METHODS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_AT_START = {"match", "fullmatch"}


@dataclass(frozen=True, slots=True)
class ProductPattern:
    """A pattern, where it is defined, and the methods it is called with (empty: unknown)."""

    name: str
    pattern: re.Pattern[str]
    methods: frozenset[str]

    @property
    def run(self) -> Callable[[str], object]:
        """Uses the pattern on a text as the product does: from the start only, or everywhere."""
        if self.methods and self.methods <= _AT_START:
            tried = [getattr(self.pattern, method) for method in sorted(self.methods)]
            return lambda text: [each(text) for each in tried]
        return lambda text: self.pattern.sub("", text)


@cache
def product_patterns() -> tuple[ProductPattern, ...]:
    """All patterns of text in ``bot`` and ``adapters``, each once, by name.

    Those of modules, their classes and containers, and those given to functions of ``re`` as a
    literal.
    """
    found: dict[tuple[str, int, bool], ProductPattern] = {}
    modules = {module.__name__: module for module in product_modules()}
    nodes = {
        name: list(ast.walk(ast.parse(Path(str(module.__file__)).read_text())))
        for name, module in modules.items()
    }
    methods = _methods(nodes)
    for name, module in modules.items():
        literals = ((f"{name}:{line}", each, {how}) for line, each, how in _literals(nodes[name]))
        held = (
            (f"{name}.{variable}", each, methods.get((name, variable), set()))
            for variable, value in vars(module).items()
            if not variable.startswith("__")
            for each in _inside(value, module, 3)
        )
        for where, pattern, how in (*held, *literals):
            key = pattern.pattern, pattern.flags, bool(how) and how <= _AT_START
            found.setdefault(key, ProductPattern(where, pattern, frozenset(how)))
    return tuple(sorted(found.values(), key=lambda each: each.name))


def product_modules() -> tuple[ModuleType, ...]:
    names = [
        info.name
        for package in (bot, adapters)
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return tuple(
        importlib.import_module(name)
        for name in names
        if not name.endswith("__main__") and ".migrations" not in name
    )


def _inside(value: object, module: ModuleType, depth: int) -> Iterator[re.Pattern[str]]:
    """The patterns in a value: itself, or in its parts."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif type(value).__name__ == "_LazyRegex":
        yield re.compile(value.pattern, value._flags)  # type: ignore[attr-defined]
    elif depth and isinstance(value, Mapping):
        for each in (*value.keys(), *value.values()):
            yield from _inside(each, module, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _inside(each, module, depth - 1)
    elif depth and isinstance(value, type) and value.__module__ == module.__name__:
        for each in list(vars(value).values()):
            yield from _inside(each, module, depth - 1)


def _methods(modules: Mapping[str, Sequence[ast.AST]]) -> dict[tuple[str, str], set[str]]:
    """The methods that each variable is called with, in its own module and in those that import it.

    A variable that is also passed on as a value has unknown uses: it is left out.
    """
    found: dict[tuple[str, str], set[str]] = {}
    passed: set[tuple[str, str]] = set()
    for name, nodes in modules.items():
        owner = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        called: set[int] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called.add(id(node.value))
                if node.attr in _METHODS:
                    key = owner.get(node.value.id, (name, node.value.id))
                    found.setdefault(key, set()).add(node.attr)
        for node in nodes:
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            if is_read and id(node) not in called:
                passed.add(owner.get(node.id, (name, node.id)))  # type: ignore[attr-defined]
    return {key: methods for key, methods in found.items() if key not in passed}


def _literals(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, re.Pattern[str], str]]:
    """The patterns that are given to functions of ``re`` where they are used."""
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=how),
                args=[ast.Constant(value=str(pattern)), *_],
            ) if how in _METHODS:
                yield node.lineno, re.compile(pattern), how
