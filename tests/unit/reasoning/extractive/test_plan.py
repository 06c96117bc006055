"""A question is cut without a model only where its own words part it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reasoning.extractive.plan import plan
from bot.reasoning.graphs import Graph, edited
from bot.reasoning.questions import SubQuestion


def parts(text: str) -> list[str]:
    graph = edited(text, Graph(), plan(SubQuestion(text), Graph()))
    assert graph.turns[0].refused == ()
    return [node.question for node in graph.nodes]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (
            "When did the Forth Bridge open? When did the Tay Bridge fall?",
            ["When did the Forth Bridge open?", "When did the Tay Bridge fall?"],
        ),
        ("东京塔有多高？埃菲尔铁塔有多高？", ["东京塔有多高？", "埃菲尔铁塔有多高？"]),
        (
            "Compare the Forth Bridge and the Tay Bridge in length",
            ["Forth Bridge length", "Tay Bridge length"],
        ),
        (
            "Who was born earlier, Steven Spielberg or Ridley Scott?",
            ["Steven Spielberg born earlier", "Ridley Scott born earlier"],
        ),
        ("What is the main difference between Rust and Go?", ["Rust", "Go"]),
        ("比较北京和上海的人口", ["北京 人口", "上海 人口"]),
        ("北京和上海哪个人口更多？", ["北京 人口", "上海 人口"]),
        ("比較東京塔與艾菲爾鐵塔的高度", ["東京塔 高度", "艾菲爾鐵塔 高度"]),
        ("埃菲尔铁塔与东京塔有什么区别？", ["埃菲尔铁塔", "东京塔"]),
    ],
)
def test_what_its_own_words_part_is_cut(text: str, cut: list[str]) -> None:
    assert parts(text) == cut


@pytest.mark.parametrize(
    "text",
    [
        "Who wrote Romeo and Juliet?",
        "Who built the Forth Bridge? When was he born?",
        "The tower is old. How tall is it?",
        "What did Marie Curie and Pierre Curie discover in Paris?",
        "Where was the director of Jaws born?",
        "东京塔有多高？它是什么时候建成的？",
        "谁写了《罗密欧与朱丽叶》？",
        "tower",
        "?",
    ],
)
def test_everything_else_stays_whole(text: str) -> None:
    assert parts(text) == [text]


def test_parts_are_begun_at_once_and_searched_by_their_own_words() -> None:
    edit = plan(SubQuestion("Which is taller, the Eiffel Tower or the Chrysler Building?"), Graph())
    assert [node.needs for node in edit.nodes] == [(), ()]
    assert "Eiffel Tower" in edit.nodes[0].queries
    assert not any("Chrysler" in query for query in edit.nodes[0].queries)
    assert edit.done


@given(st.text(max_size=200))
def test_any_text_has_a_plan_that_is_never_extended(text: str) -> None:
    question = SubQuestion(text.strip() or "?")
    graph = edited(question.text, Graph(), plan(question, Graph()))
    assert plan(question, graph).nodes == ()
