"""The bench of mutants: what is made wrong and what is left alone, and which of them are taken."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.bench.frame import REPOSITORY
from tests.bench.mutants import PARTS, Placed, explained, placed, sample
from tests.bench.mutation import Mutant, mutants

EVERY = [each for part in PARTS.values() for each in placed(part)]


def after(source: str) -> list[str]:
    return [each.after for each in mutants(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a <= b"]),
        ("a == b != c", ["a != b != c", "a == b == c"]),
        ("a not in b", ["a in b"]),
        ("a is None", ["a is not None"]),
        ("a = b + c * d", ["a = b - c * d", "a = b + c / d"]),
        ("a += b", ["a -= b"]),
        ("f(a or b or c)", ["pass", "f(a and b or c)", "f(a or b and c)"]),
        ("a = b(not c)", ["a = b((c))"]),
        ("a = [1, 2.5, 300, True]", [
            "a = [2, 2.5, 300, True]",
            "a = [1, 3.5, 300, True]",
            "a = [1, 2.5, 600, True]",
            "a = [1, 2.5, 300, False]",
        ]),
        ("a = min(b, c)", ["a = max(b, c)"]),
        ("if a: b = c", ["if True: b = c", "if False: b = c"]),
        ("a = [b for b in c if d]", ["a = [b for b in c if True]", "a = [b for b in c if False]"]),
        ("a = b if c else d", ["a = b if True else d", "a = b if False else d"]),
        ("while a:\n    break", ["continue"]),
        ("async def f():\n    await g()", ["pass"]),
        ("def f(a=1):\n    return a", ["def f(a=2):", "return None"]),
        ("def f():\n    return None", []),
        ("def f():\n    raise E('too many: ' + 1)", ["pass"]),
    ],
)  # fmt: skip
def test_one_small_thing_is_wrong_in_each(source: str, expected: list[str]) -> None:
    assert sorted(after(source)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""Text with 1 < 2."""',
        "LIMIT = 40",
        "LIMIT: float = 40.0",
        "a: int | None = None",
        "def f(a: int | None) -> int | None: ...",
        "log.info('done', seconds=1)",
        "assert a < b",
        "a = zip(b, c, strict=True)",
        "a = f'{b + 1}'",
        "if TYPE_CHECKING:\n    a = 1",
        "@d(frozen=True)\nclass C:\n    SIZE = 3",
    ],
)
def test_what_no_behaviour_follows_from_is_left_alone(source: str) -> None:
    assert after(source) == []


def test_a_mutant_tells_its_line_and_what_differs_there() -> None:
    source = "a = '東京'; b = c < d\ne = (\n    f\n    # and not\n    and g\n)\n"
    found = mutants(source)
    assert [(each.line, each.before, each.after) for each in found] == [
        (1, "a = '東京'; b = c < d", "a = '東京'; b = c <= d"),
        (3, "f # and not and g", "False"),
        (3, "f # and not and g", "True"),
        (5, "and g", "or g"),
    ]
    assert found[0].source == source.replace("<", "<=")


def test_every_mutant_of_the_core_is_a_module_that_differs() -> None:
    for each in sample(EVERY, 200, 1):
        assert ast.parse(each.mutant.source)
        assert each.mutant.before != each.mutant.after


def test_the_sample_stays_the_same_when_a_module_grows() -> None:
    def some(numbers: Sequence[int]) -> list[Placed]:
        return [Placed("a.py", Mutant(1, f"a = {n}", f"a = {n + 1}", "")) for n in numbers]

    whole = sample(some(range(100)), 20, 1)
    assert len(whole) == 20
    assert set(sample(some(range(50)), 20, 1)) >= {
        each for each in whole if each in some(range(50))
    }
    assert sample(some(range(100)), 20, 2) != whole
    assert sample(some(range(5)), 20, 1) == some(range(5))


def test_what_is_explained_is_still_one_mutant() -> None:
    """And not two, of which only one might have been thought of."""
    found = Counter(each.identity for each in EVERY)
    assert {found[identity] for identity in explained()} == {1}
    assert all(explained().values())


def test_modules_and_tests_of_every_part_exist() -> None:
    for part in PARTS.values():
        for pattern in (*part.modules, *part.tests):
            assert list(REPOSITORY.glob(pattern)), pattern
