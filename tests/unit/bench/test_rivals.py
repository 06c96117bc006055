"""The comparison with others: what its oracle answers, and what is judged right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.bench.desk import Hop
from tests.bench.rivals import Ask, Outcome, Pages, footnote, loop, measure, one_call, run
from tests.bench.rivals_oracle import Oracle, Task
from tests.fakes.claude import FakeClaude
from tests.fakes.server import serve

Program = Callable[[Pages, str], AbstractAsyncContextManager[Ask]]
TEXTS = {
    "Lanternwick": "Lanternwick is a novel by Maud Ferris. It was printed in 1901.",
    "Maud Ferris": "Maud Ferris was a novelist who was born in the port of Oldhaven.",
    "Gravel": "Gravel is made of small stones, and lies in rivers.",
}
NOVEL = Hop("Lanternwick novel author", "Lanternwick", "Maud Ferris")
BORN = Hop("Maud Ferris born", "Maud Ferris", "Oldhaven")
TASK = Task("Where was the author of Lanternwick born?", ("Oldhaven",), (NOVEL, BORN))
LOST = Task(
    "When did the author of Lanternwick die?",
    ("1930",),
    (NOVEL, Hop("Maud Ferris died", "Maud Ferris", "1930")),
)


async def outcomes(program: Program) -> list[Outcome]:
    """What comes of the question that the pages answer, and of the one that they do not."""
    pages, fake = Pages(TEXTS), FakeClaude(trusting=True)
    with serve(fake) as url:
        async with program(pages, url) as ask:
            return await measure([TASK, LOST], pages, fake, ask)


@pytest.mark.parametrize(
    ("program", "right", "cited"),
    [
        pytest.param(footnote, True, True, id="Footnote"),
        pytest.param(loop, True, False, id="plain loop"),
        pytest.param(one_call, False, False, id="one call"),
    ],
)
async def test_only_what_was_shown_is_answered(program: Program, right: bool, cited: bool) -> None:
    """A chain of two pages is answered by those who search, and cited by those who cite."""
    known, lost = await outcomes(program)
    assert (known.right, known.cited, known.quoted) == (right, cited, cited)
    assert not lost.right
    assert known.counted.calls >= 1


def report_prompt(*titles: str) -> dict[str, object]:
    """A request as gpt-researcher makes it for its report."""
    shown = "\n".join(
        f"Source: http://127.0.0.1:1/pages/{number}\nTitle: {title}\nContent: {TEXTS[title]}\n"
        for number, title in enumerate(titles)
    )
    asked = f'Information: "{shown}"\n---\nUsing the above, answer the following query: "?"'
    return {"system": "You research.", "messages": [{"role": "user", "content": asked}]}


def test_a_report_links_the_pages_of_its_facts_and_no_others() -> None:
    """The answer follows once every fact was shown; a page without a fact is not linked."""
    (block,) = Oracle(TASK)(report_prompt("Lanternwick", "Gravel", "Maud Ferris")).content
    assert TASK.conclusion in block["text"]
    assert "pages/0)" in block["text"]
    assert "pages/2)" in block["text"]
    assert "pages/1)" not in block["text"]


def test_a_report_has_no_answer_if_a_fact_was_not_shown() -> None:
    """One page of two tells the first fact only."""
    (block,) = Oracle(TASK)(report_prompt("Lanternwick", "Gravel")).content
    assert "Maud Ferris" in block["text"]
    assert TASK.conclusion not in block["text"]


async def test_a_rival_that_does_not_run_is_named_and_the_others_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here its environment has a Python, and no gpt-researcher."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    await run([TASK], Pages(TEXTS), tmp_path)
    printed = capsys.readouterr().out
    assert "gpt-researcher 0.15.1 gave no answer" in printed
    assert "plain loop" in printed
