"""Questions that ask the same in other words, and questions that only look like it."""

from __future__ import annotations

from itertools import combinations

import pytest

from bot.reasoning.graphs import Graph, GraphEdit, NewNode, edited
from bot.reasoning.wording import asks_the_same, interrogatives


@pytest.mark.parametrize(
    ("question", "asked_for"),
    [
        ("Who directed Jaws?", {"who"}),
        ("By whom was Jaws directed?", {"who"}),
        ("Whose wife was she?", {"whose"}),
        ("When and where was Marie Curie born?", {"when", "where"}),
        ("How many people live in Lyon?", {"how many"}),
        ("How much does it weigh?", {"how many"}),
        ("How often does it rain?", {"how often"}),
        ("How is glass made?", {"how"}),
        ("How come it fell?", {"why"}),
        ("WHICH bridge fell?", {"what"}),
        ("the population of Lyon", {"what"}),
        ("What happened somehow, wherever?", {"what"}),
        ("居里夫人何时何地出生？", {"when", "where"}),
        ("居里夫人什么时候出生？", {"when"}),
        ("他哪一年出生", {"when"}),
        ("居里夫人在哪里出生？", {"where"}),
        ("他在哪個大學學習？", {"what"}),
        ("谁导演了泰坦尼克号？", {"who"}),
        ("为什么下雨？", {"why"}),
        ("玻璃是怎么做的？", {"how"}),
        ("北京有多少人？", {"how many"}),
        ("他写了几本书？", {"how many"}),
        ("几内亚的首都是什么？", {"what"}),
        ("キュリー夫人はいつどこで生まれましたか", {"when", "where"}),
        ("퀴리 부인은 언제 태어났습니까", {"when"}),
        ("왜곡은 무엇입니까", {"what"}),
    ],
)
def test_what_a_question_asks_for(question: str, asked_for: set[str]) -> None:
    assert interrogatives(question) == asked_for


@pytest.mark.parametrize(
    "questions",
    [
        [
            "When was Marie Curie born?",
            "Where was Marie Curie born?",
            "Why was Marie Curie born?",
            "How was Marie Curie born?",
            "When and where was Marie Curie born?",
        ],
        ["Who founded Oslo?", "When was Oslo founded?", "Who founded Oslo, and when?"],
        [
            "What did Dune sell?",
            "How many did Dune sell?",
            "Where did Dune sell?",
            "How often did Dune sell?",
        ],
        [
            "居里夫人何时出生？",
            "居里夫人在哪里出生？",
            "居里夫人为什么出生？",
            "居里夫人何时何地出生？",
        ],
        ["谁导演了泰坦尼克号？", "什么时候导演了泰坦尼克号？", "多少导演了泰坦尼克号？"],
    ],
)
def test_who_when_where_and_why_are_different_questions(questions: list[str]) -> None:
    for one, other in combinations(questions, 2):
        assert not asks_the_same(one, other), (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("When was Marie Curie born?", "Tell me when Marie Curie was born"),
        ("What is the height of the tower?", "Which is the height of the tower?"),
        ("What is the population of Lyon?", "the population of Lyon"),
        ("Where and when was Marie Curie born?", "When and where was Marie Curie born?"),
        ("居里夫人何时出生？", "居里夫人什么时候出生"),
        ("居里夫人在哪里出生？", "居里夫人在何处出生"),
    ],
)
def test_other_words_for_the_same_thing_are_no_other_question(one: str, other: str) -> None:
    assert asks_the_same(one, other)


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "When and where was Marie Curie born?",
            ["When was Marie Curie born?", "Where was Marie Curie born?"],
        ),
        ("Who founded Oslo, and when?", ["Who founded Oslo?", "When was Oslo founded?"]),
        ("居里夫人何时何地出生？", ["居里夫人什么时候出生？", "居里夫人在哪里出生？"]),
    ],
)
def test_a_question_for_two_things_may_be_cut_into_both(asked: str, parts: list[str]) -> None:
    nodes = tuple(NewNode(f"n{at}", part) for at, part in enumerate(parts))
    graph = edited(asked, Graph(), GraphEdit(nodes, done=True))
    assert [node.question for node in graph.nodes] == parts
    again = edited(asked, graph, GraphEdit((NewNode("x", asked), NewNode("y", parts[0]))))
    first, second = again.turns[-1].refused
    assert "it asks the whole question again" in first
    assert "it asks the same as n0" in second
