"""The time of every pattern and of what reads messages grows no faster than the text.

Strangers write messages, pages and names; models repeat them. A pattern that looks at a text once
from each of its characters takes seconds for what fits into one message, and holds all questions of
the process meanwhile.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.hostile_words import SIGNS
from tests.unit.growth import (
    LENGTHS,
    MORE_TOKENS,
    MOST,
    TOKENS,
    Attack,
    attacks_on,
    cpu_seconds,
    growth,
)
from tests.unit.product_patterns import product_patterns
from tests.unit.readers_of_text import WITH_ARGUMENTS, Reader, caches, readers_of_text

PARTS = 8  # tests that share the patterns
NESTED = (
    *(
        ("[", "]"),
        ("[", "5]"),
        ("[9", "]"),
        ("(", ")"),
        ("[a](", "b)"),
        ("![", "](u)"),
        ("[[1]", "]"),
    ),
    *(("**", "**"), ("*a ", "*"), ("_a ", "_"), ("`", "``"), ("$", "$"), ("<b>", "</b>")),
    *(("> ", "x"), ("- ", " "), ("  ", "- a\n"), ("「", "」"), ("“", "”"), ("【", "1】")),
)


@pytest.fixture(autouse=True)
def _no_collection_while_measuring() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_is_slower_than_linear(part: int) -> None:
    for each in product_patterns()[part::PARTS]:
        found = growth(each.run, attacks_on(each.pattern, most=40))
        assert found is None, f"{each.name}: {found}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_is_slower_than_linear_on_longer_texts(part: int) -> None:
    for each in product_patterns()[part::PARTS]:
        tails = ("", "\0", "\n")
        tokens = [("", token, tail) for token in (*TOKENS, *MORE_TOKENS) for tail in tails]
        attacks = [*attacks_on(each.pattern, most=800), *tokens]
        found = growth(each.run, attacks, (*LENGTHS, 16_000))
        assert found is None, f"{each.name}: {found}"


# ---------------------------------------------------------------- functions


def slower_than_linear(
    functions: Mapping[str, Reader], attacks: Sequence[Attack], lengths: Sequence[int]
) -> dict[str, str]:
    """The functions of text that are, each with an attack."""
    empty = caches()

    def read(function: Reader, text: str) -> None:
        for each in empty:
            each()
        function(text)

    found = {}
    for name, function in functions.items():
        grown = growth(partial(read, function), attacks, lengths)
        if grown is not None:
            found[name] = str(grown)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("functions", "signs"),
    [(readers_of_text, SIGNS[:8]), (lambda: WITH_ARGUMENTS, SIGNS)],
    ids=["a text", "a text and more"],
)
def test_nothing_that_reads_text_is_slower_than_linear(
    functions: Callable[[], Mapping[str, Reader]], signs: Sequence[str]
) -> None:
    attacks = [("", each, " a?") for each in signs]
    assert slower_than_linear(functions(), attacks, (64, 500, 2_000)) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("opening", "closing"), NESTED)
def test_nor_of_signs_inside_each_other(opening: str, closing: str) -> None:
    def read(text: str) -> None:
        for function in WITH_ARGUMENTS.values():
            function(text)

    def nested(length: int) -> str:
        depth = length // (len(opening) + len(closing))
        return f"{opening * depth}9{closing * depth}"

    for each in caches():
        each()
    short, long = (cpu_seconds(read, nested(length)) for length in (1_000, 4_000))
    assert long < max(0.5, MOST * short)


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
@given(st.lists(st.tuples(st.sampled_from((*SIGNS, *TOKENS, *MORE_TOKENS)), st.integers(1, 60))))
def test_no_text_is_an_error(name: str, repeated: list[tuple[str, int]]) -> None:
    WITH_ARGUMENTS[name]("".join(token * times for token, times in repeated))


# ---------------------------------------------------------------- the measure itself


@pytest.mark.parametrize(
    "pattern",
    [
        r"\[+\d{1,3}\]+",
        r"\w+\s+x",
        r"\([^)]*\)x",
        *(
            pytest.param(each, marks=pytest.mark.slow)  # seconds each
            for each in (
                r"\s+$",
                r"<!--.*?-->",
                r"(a|b|ab)*c",
                r"(?:[^\[\]]|!?\[[^\[\]]*\](?:\(a\))?)*?\]",
                r"[A-Za-z_][\w.]*\[",
                r"^\s*-\s",
                r"(?P<name>.+?)[ \t]+:[ \t]*$",
            )
        ),
    ],
)
def test_one_that_is_slower_is_found(pattern: str) -> None:
    compiled = re.compile(pattern, re.MULTILINE)
    attacks = [*attacks_on(compiled), *(("", token, "\0") for token in TOKENS)]
    assert growth(lambda text: compiled.sub("", text), attacks) is not None


def test_all_modules_are_looked_through() -> None:
    names = {each.name.partition(":")[0] for each in product_patterns()}
    assert {"bot.text.facts._SILENT", "bot.text.figures._NUMBER", "adapters.slack.format"} <= {
        *names,
        *(name.rpartition(".")[0] for name in names),
    }
    assert len(names) > 300
