"""Mutants of a module: the same source with one small thing wrong in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {  # as it is written, and what is put instead
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.BitOr: ("|", "&"), ast.BitAnd: ("&", "|"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
SWAPPED_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LARGE = 100  # a number from here on is doubled: one more would be next to nothing
LOGGED = "log"  # what a module calls its logger: its lines are for people, and are not mutated


@dataclass(frozen=True, slots=True)
class Mutant:
    """``source`` is the whole module; ``before`` and ``after`` are what differs, on one line each,
    with the rest of their lines."""

    line: int
    before: str
    after: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """All mutants of a module, in the order of their places."""
    found = sorted(set(_changes(ast.parse(source), source)))
    return [_mutant(source, *change) for change in found]


_Change = tuple[int, int, str]  # where in the source it begins and ends, and what is there instead


def _mutant(source: str, start: int, end: int, new: str) -> Mutant:
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", end)
    last = len(source) if last < 0 else last
    before = " ".join(source[first:last].split())
    after = " ".join(f"{source[first:start]}{new}{source[end:last]}".split())
    line = source.count("\n", 0, start) + 1
    return Mutant(line, before, after, source[:start] + new + source[end:])


def _changes(tree: ast.Module, source: str) -> Iterator[_Change]:
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    lines = source.splitlines()

    def at(line: int, column: int) -> int:  # columns of the tree count bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[_Change]:
        if type(operator) in OPERATORS:
            old, new = OPERATORS[type(operator)]
            place = source.rindex(old, span(left)[1], span(right)[0])
            yield place, place + len(old), new

    for node in _worth_mutating(tree):
        match node:
            case ast.Compare(left, operators, rights):
                for one, operator, other in zip([left, *rights], operators, rights, strict=False):
                    yield from between(one, other, operator)
            case ast.BoolOp(operator, values):
                for one, other in pairwise(values):
                    yield from between(one, other, operator)
            case ast.BinOp(left, operator, right) | ast.AugAssign(left, operator, right):
                yield from between(left, right, operator)
            case ast.UnaryOp(ast.Not(), operand):
                yield *span(node), f"({source[slice(*span(operand))]})"
            case ast.Constant(bool() as value):
                yield *span(node), str(not value)
            case ast.Constant(int() | float() as value):
                yield *span(node), str(value + 1 if abs(value) < LARGE else 2 * value)
            case ast.Call(ast.Name(name) as called) if name in SWAPPED_NAMES:
                yield *span(called), SWAPPED_NAMES[name]
            case ast.Break():
                yield *span(node), "continue"
            case ast.Continue():
                yield *span(node), "break"
            case ast.Expr(ast.Call() | ast.Await()) | ast.Raise():
                yield *span(node), "pass"
            case ast.Return(ast.expr() as value) if not _is_nothing(value):
                yield *span(value), "None"
        for test in _tests(node):
            yield *span(test), "True"
            yield *span(test), "False"


def _tests(node: ast.AST) -> list[ast.expr]:
    """The conditions of a node. A loop that never ends shows nothing more than one that is never
    entered, so that ``while`` has none."""
    match node:
        case ast.If(test) | ast.IfExp(test):
            return [test]
        case ast.comprehension(ifs=tests):
            return tests
        case ast.Assign(value=ast.BoolOp() as test) | ast.Return(ast.BoolOp() as test):
            return [test]
    return []


def _worth_mutating(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but for what no behaviour follows from: annotations, decorators,
    texts, lines of the log, assertions (``strict`` of ``zip`` is one), and tuned numbers, which a
    test could only repeat."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.If(ast.Name("TYPE_CHECKING")):
            return
        case ast.keyword("strict"):
            return
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name)))) if name == LOGGED:
            return
        case ast.Module() | ast.ClassDef():
            parts: list[ast.AST] = [each for each in node.body if not _is_a_number(each)]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = [each for each in node.args.kw_defaults if each is not None]
            parts = [*node.args.defaults, *defaults, *node.body]
        case ast.AnnAssign(value=value):
            parts = [] if value is None else [value]
        case ast.Raise():
            parts = []  # what it says is for people
        case _:
            parts = list(ast.iter_child_nodes(node))
    yield node
    for part in parts:
        yield from _worth_mutating(part)


def _is_a_number(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(value=ast.Constant(int() | float())):
            return True
        case ast.AnnAssign(value=ast.Constant(float())):
            return True
    return False


def _is_nothing(node: ast.expr) -> bool:
    """Return True if it is None, or as good as None for who asks: a test could only tell them
    apart."""
    return isinstance(node, ast.Constant) and not node.value
