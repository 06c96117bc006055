"""The lines of a plan, and what was done under each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import StepView
from bot.core.texts import texts_for
from bot.rendering.plan import branches, work
from tests.unit.samples import A_GRAPH

EN = texts_for("en")


def test_steps_stand_under_their_line_however_deep_and_lines_keep_their_order() -> None:
    steps = (
        StepView("plan", "plan", "Plan", "done"),
        StepView("node-a", "node", "A?", "running"),
        StepView("node-b", "node", "B?", "running"),
        StepView("1", "search", "b", "done", parent="node-b"),
        StepView("2", "think", "Judge", "running", parent="node-a"),
        StepView("3", "read", "deeper", "done", parent="1"),
        StepView("4", "write", "Write", "waiting"),
    )
    found = branches(steps)
    assert [branch.line.id for branch in found] == ["plan", "node-a", "node-b", "4"]
    assert [[step.id for step in branch.steps] for branch in found] == [[], ["2"], ["1", "3"], []]
    assert [step.id for step in found[1].under_way] == ["2"]


def test_a_step_whose_line_is_not_there_stands_by_itself() -> None:
    found = branches((StepView("1", "search", "b", "done", parent="gone"),))
    assert [branch.line.id for branch in found] == ["1"]


def test_what_was_done_is_summed_up() -> None:
    by_id = {branch.line.id: work(branch, EN) for branch in branches(A_GRAPH)}
    assert by_id == {
        "plan": "",
        "node-a": "2 searches · 2 pages",
        "node-b": "1 search",
        "node-c": "",
        "node-d": "1 page",
    }


def test_a_page_that_another_line_has_read_counts_as_well() -> None:
    line = StepView("node-a", "node", "A?", "done", sources=("https://e.org/",))
    assert work(branches((line,))[0], EN) == "1 page"


@pytest.mark.parametrize(("locale", "said"), [("zh-Hans", "搜索 2 次 · 阅读 2 页")])
def test_it_is_said_in_the_readers_language(locale: str, said: str) -> None:
    assert work(branches(A_GRAPH)[1], texts_for(locale)) == said


@given(
    st.lists(
        st.builds(
            StepView,
            id=st.sampled_from("abcdef"),
            kind=st.just("read"),
            title=st.just("t"),
            state=st.just("done"),
            parent=st.sampled_from("abcdef "),
        ),
        unique_by=lambda step: step.id,
    )
)
def test_no_step_is_lost_whatever_stands_under_what(steps: list[StepView]) -> None:
    found = branches(steps)
    shown = [step.id for branch in found for step in (branch.line, *branch.steps)]
    assert sorted(shown) == sorted(step.id for step in steps)
