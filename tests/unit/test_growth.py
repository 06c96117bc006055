"""The time of every pattern and of what reads messages grows no faster than the text.

Strangers write messages, pages and names; models repeat them. A pattern that looks at a text once
from each of its characters takes seconds for what fits into one message, and holds all questions of
the process meanwhile.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator

import pytest

from tests.unit.growth import (
    LENGTHS,
    MORE_TOKENS,
    TOKENS,
    attacks_on,
    growth,
)
from tests.unit.product_patterns import product_patterns

PARTS = 8  # tests that share the patterns


@pytest.fixture(autouse=True)
def _no_collection_while_measuring() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_is_slower_than_linear(part: int) -> None:
    for each in product_patterns()[part::PARTS]:
        attacks = [*attacks_on(each.pattern), *(("", token, "\0") for token in TOKENS)]
        found = growth(each.run, attacks)
        assert found is None, f"{each.name}: {found}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_is_slower_than_linear_on_longer_texts(part: int) -> None:
    for each in product_patterns()[part::PARTS]:
        tails = ("", "\0", "\n", "]", ")")
        tokens = [("", token, tail) for token in (*TOKENS, *MORE_TOKENS) for tail in tails]
        attacks = [*attacks_on(each.pattern, most=5_000), *tokens]
        found = growth(each.run, attacks, (*LENGTHS, 16_000))
        assert found is None, f"{each.name}: {found}"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\[+\d{1,3}\]+",
        r"\s+$",
        r"<!--.*?-->",
        r"\w+\s+x",
        r"\(https?://[^)]*\)x",
        r"(a|b|ab)*c",
        r"(?:[^\[\]]|!?\[[^\[\]]*\](?:\(a\))?)*?\]",
        r"[A-Za-z_][\w.]*\[",
        r"^\s*-\s",
        r"(?P<name>.+?)[ \t]+:[ \t]*$",
    ],
)
def test_one_that_is_slower_is_found(pattern: str) -> None:
    compiled = re.compile(pattern, re.MULTILINE)
    attacks = [*attacks_on(compiled), *(("", token, "\0") for token in TOKENS)]
    assert growth(lambda text: compiled.sub("", text), attacks, (*LENGTHS, 16_000)) is not None


def test_all_modules_are_looked_through() -> None:
    names = {each.name.partition(":")[0] for each in product_patterns()}
    assert {"bot.text.facts._SILENT", "bot.text.figures._NUMBER", "adapters.slack.format"} <= {
        *names,
        *(name.rpartition(".")[0] for name in names),
    }
    assert len(names) > 300
