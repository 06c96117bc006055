"""Edits of a graph of sub-questions: accepted ones, and the reasons given for refused ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reasoning.evidence import Finding
from bot.reasoning.graphs import (
    EXTENSIONS,
    LONGEST_QUESTION,
    MOST_NODES,
    Graph,
    GraphEdit,
    NewNode,
    Node,
    edited,
    handed_down,
    queries_of,
    startable,
)
from bot.text.terms import keywords

ASKED = "Which of the two was born earlier, the director of Jaws or the director of Alien?"
A = NewNode("a", "Who directed Jaws?")
B = NewNode("b", "Who directed Alien?")
C = NewNode("c", "When was the director of Jaws born?", ("a",))


def add(graph: Graph, *nodes: NewNode, done: bool = False) -> Graph:
    return edited(ASKED, graph, GraphEdit(nodes, done))


def refused(graph: Graph) -> str:
    """All that the last edit was told."""
    return " ".join(graph.turns[-1].refused)


def ids(graph: Graph) -> list[str]:
    return [node.id for node in graph.nodes]


# ---------------------------------------------------------------- what stands


def test_sound_nodes_are_added_in_the_order_of_the_edit() -> None:
    graph = add(Graph(), C, A, B)
    assert ids(graph) == ["c", "a", "b"]
    assert {node.state for node in graph.nodes} == {"waiting"}
    assert graph.turns[0].accepted == ("c", "a", "b")
    assert refused(graph) == ""
    assert graph.turns[0].room == MOST_NODES - 3


def test_a_later_edit_may_need_what_is_there() -> None:
    graph = add(add(Graph(), A), C)
    assert graph.node("c").needs == ("a",)
    assert len(graph.turns) == 2


def test_what_is_sound_stands_beside_what_is_refused() -> None:
    graph = add(Graph(), A, replace(A, id="z"), B)
    assert ids(graph) == ["a", "b"]
    assert refused(graph) == "z was not added: it asks the same as a. Use a itself in needs."


# ---------------------------------------------------------------- what is refused, and how


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (NewNode("a", "Who directed Rocky?"), "already. Give it another one"),
        (NewNode("", "Who directed Rocky?"), "its id must be one short word"),
        (NewNode("x" * 21, "Who directed Rocky?"), "its id must be one short word"),
        (NewNode("x y", "Who directed Rocky?"), "its id must be one short word"),
        (NewNode("x", " "), "it asks nothing"),
        (NewNode("x", "Who " + "r" * LONGEST_QUESTION), "longer than 300 characters"),
        (NewNode("x", "Where was he born?", ("q",)), "it needs q, which does not exist"),
        (NewNode("x", "Where was she born?", ("x",)), "its needs lead back to it"),
        (NewNode("x", ASKED), "it asks the whole question again"),
        (NewNode("x", "who DIRECTED 'Jaws'"), "it asks the same as a"),
    ],
)
def test_a_node_that_cannot_stand_is_refused_with_a_reason(node: NewNode, told: str) -> None:
    graph = add(add(Graph(), A), node, B)
    assert ids(graph) == ["a", "b"]
    assert told in refused(graph)


@pytest.mark.parametrize(
    ("length", "starts"), [(2, 0), (3, 0), (5, 2)], ids=["pair", "triangle", "behind others"]
)
def test_a_circle_is_refused_and_what_hangs_on_it(length: int, starts: int) -> None:
    circle = [
        NewNode(f"n{n}", f"What is fact {n}?", (f"n{(n + 1) % length}",)) for n in range(length)
    ]
    behind = NewNode("behind", "What follows from all that?", ("n0",))
    graph = add(Graph(), *circle[starts:], behind, *circle[:starts], A)
    assert ids(graph) == ["a"]
    assert len(graph.turns[-1].refused) == length + 1


def test_a_node_that_needs_a_refused_one_says_so() -> None:
    graph = add(Graph(), A, NewNode("z", A.question), NewNode("y", "When was he born?", ("z",)))
    assert "y was not added: it needs z, which was refused." in graph.turns[-1].refused


def test_more_nodes_than_there_is_room_for_are_left_out_with_their_needs_kept() -> None:
    chain = [
        NewNode(f"n{n}", f"What is fact {n}?", (f"n{n + 1}",) if n < 17 else ()) for n in range(18)
    ]
    graph = add(Graph(), *chain)
    assert ids(graph) == [f"n{n}" for n in range(2, 18)]
    assert "n1 was not added: this plan can have at most 16 sub-questions" in refused(graph)


def test_an_edit_without_nodes_is_refused_unless_it_is_done() -> None:
    assert "plan at least one" in refused(add(Graph(), done=True))
    graph = add(Graph(), A)
    assert "adds nothing" in refused(add(graph))
    assert refused(add(graph, done=True)) == ""


def test_a_reply_that_was_not_understood_is_told_so() -> None:
    graph = edited(ASKED, Graph(), GraphEdit((A,), problem="That was not valid JSON."))
    assert ids(graph) == []
    assert refused(graph) == "That was not valid JSON."


def test_the_question_itself_may_be_the_only_node_of_a_first_plan() -> None:
    assert ids(add(Graph(), NewNode("a", ASKED))) == ["a"]


# ---------------------------------------------------------------- the same question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How tall is the Eiffel Tower?", "how tall is the EIFFEL tower"),
        ("How tall is the Eiffel Tower?", "The Eiffel Tower is how tall?"),
        ("埃菲尔铁塔有多高？", "埃菲尔铁塔有多高"),
    ],
)
def test_these_ask_the_same(one: str, other: str) -> None:
    graph = add(Graph(), NewNode("a", one), NewNode("b", other))
    assert "b was not added: it asks the same as a" in refused(graph)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How tall is the Eiffel Tower?", "How old is the Eiffel Tower?"),
        ("What was the population of Lyon?", "What was the population of Lille?"),
        (
            "What was the total annual revenue of the cloud computing division of Microsoft in "
            "the fiscal year 2021?",
            "What was the total annual revenue of the cloud computing division of Microsoft in "
            "the fiscal year 2022?",
        ),
        (
            "What was the total annual revenue of the cloud computing division of Microsoft in "
            "the fiscal year 2021?",
            "What was the total annual revenue of the cloud computing division of Oracle in "
            "the fiscal year 2021?",
        ),
        (
            "北京市在2020年第七次全国人口普查中公布的常住人口总数是多少？",
            "上海市在2020年第七次全国人口普查中公布的常住人口总数是多少？",
        ),
    ],
)
def test_these_do_not_ask_the_same(one: str, other: str) -> None:
    graph = add(Graph(), NewNode("a", one), NewNode("b", other))
    assert refused(graph) == ""


def test_the_same_words_about_other_needs_are_another_question() -> None:
    born = "When was the director found there born?"
    graph = add(Graph(), A, B, NewNode("c", born, ("a",)), NewNode("d", born, ("b",)))
    assert ids(graph) == ["a", "b", "c", "d"]
    again = add(graph, NewNode("e", born, ("a",)))
    assert "e was not added: it asks the same as c" in refused(again)


def test_what_failed_is_not_asked_again_either() -> None:
    graph = add(Graph(), A, B)
    graph = graph.with_node(replace(graph.node("a"), state="failed"))
    assert "it asks the same as a" in refused(add(graph, replace(A, id="x")))


# ---------------------------------------------------------------- any edit at all

IDS = st.one_of(st.sampled_from("abcdefgh"), st.text(max_size=3))
WORDS = st.lists(
    st.sampled_from(["tower", "Paris", "Lyon", "height", "age", "1990", "the", "塔", "高度"]),
    max_size=8,
).map(" ".join)
NODES = st.builds(
    NewNode,
    id=IDS,
    question=st.one_of(WORDS, st.text(max_size=30), st.just(ASKED)),
    needs=st.lists(IDS, max_size=3).map(tuple),
)
EDITS = st.builds(GraphEdit, nodes=st.lists(NODES, max_size=12).map(tuple), done=st.booleans())


@given(st.lists(EDITS, max_size=5))
def test_whatever_is_added_the_graph_stays_sound(edits: list[GraphEdit]) -> None:
    graph = Graph()
    for edit in edits:
        before = graph
        graph = edited(ASKED, graph, edit)
        turn = graph.turns[-1]
        assert graph.nodes[: len(before.nodes)] == before.nodes, "only ever added to"
        assert len(turn.accepted) + len(turn.refused) >= len(edit.nodes), "each one is answered"
        assert turn.refused or turn.accepted or (edit.done and before.nodes)
    assert len(graph.nodes) <= MOST_NODES
    assert len(set(ids(graph))) == len(graph.nodes)
    placed: set[str] = set()
    for _ in graph.nodes:  # needs exist and there is no circle
        placed |= {node.id for node in graph.nodes if placed.issuperset(node.needs)}
    assert placed == set(ids(graph))
    asked = {(frozenset(keywords(n.question)), frozenset(n.needs)) for n in graph.nodes}
    assert len(asked) == len(graph.nodes), "no question twice"


@given(st.lists(EDITS, min_size=1, max_size=3))
def test_a_graph_is_worked_off_to_its_end(edits: list[GraphEdit]) -> None:
    graph = Graph()
    for edit in edits:
        graph = edited(ASKED, graph, edit)
    order: list[str] = []
    while ready := startable(graph):
        assert all(graph.node(need).has_ended for node in ready for need in node.needs)
        order.append(ready[0].id)
        graph = graph.with_node(replace(ready[0], state="done"))
    assert sorted(order) == sorted(ids(graph))


# ---------------------------------------------------------------- what is begun, and what is told


def test_the_longest_chain_is_begun_first() -> None:
    graph = add(Graph(), A, B, C, NewNode("d", "In which town did he grow up?", ("c",)))
    assert [node.id for node in startable(graph)] == ["a", "b"]
    graph = add(Graph(), B, A, C)
    assert [node.id for node in startable(graph)] == ["a", "b"]


def test_a_node_is_ready_when_its_needs_have_ended_even_failed() -> None:
    graph = add(Graph(), A, C)
    graph = graph.with_node(replace(graph.node("a"), state="running"))
    assert startable(graph) == []
    graph = graph.with_node(replace(graph.node("a"), state="failed"))
    assert [node.id for node in startable(graph)] == ["c"]


def test_findings_are_handed_down_in_the_order_of_the_graph() -> None:
    graph = add(Graph(), A, B, NewNode("c", "Which of them is older?", ("b", "a")))
    for id, name in (("b", "Ridley Scott"), ("a", "Steven Spielberg")):
        found = Finding(f"{name} did.", (ord(id) - ord("a") + 1,))
        graph = graph.with_node(replace(graph.node(id), state="done", findings=(found,)))
    known, missing = handed_down(graph, graph.node("c"))
    assert known == (
        Finding("a (Who directed Jaws?): Steven Spielberg did.", (1,)),
        Finding("b (Who directed Alien?): Ridley Scott did.", (2,)),
    )
    assert missing == ()


@pytest.mark.parametrize(
    ("need", "told"),
    [
        (Node("a", A.question, state="failed"), "a (Who directed Jaws?): not found"),
        (Node("a", A.question, state="done"), "a (Who directed Jaws?): not found"),
        (
            Node("a", A.question, state="done", missing=("the first name",)),
            "a (Who directed Jaws?): the first name",
        ),
    ],
)
def test_children_are_told_what_is_missing(need: Node, told: str) -> None:
    graph = add(Graph(), A, C).with_node(need)
    assert handed_down(graph, graph.node("c")) == ((), (told,))


def test_the_planner_is_told_each_end_once() -> None:
    graph = add(Graph(), A, B)
    for node in graph.nodes:
        graph = graph.with_node(replace(node, state="done"))
    asked = graph.asked_again(EXTENSIONS - 1)
    assert [node.id for node in asked.turns[-1].ended] == ["a", "b"]
    assert (asked.turns[-1].extensions_left, asked.turns[-1].room) == (2, 14)
    more = add(asked, C)
    more = more.with_node(replace(more.node("c"), state="done")).asked_again(1)
    assert [node.id for node in more.turns[-1].ended] == ["c"]
    assert more.turns[0] == asked.turns[0], "what was told is never told differently"


# ---------------------------------------------------------------- what is searched


@pytest.mark.parametrize(
    ("queries", "filled"),
    [
        (("Jaws director",), ("Jaws director",)),
        (("[a] year of birth",), ("Steven Spielberg year of birth",)),
        (("[a] and [a]",), ("Steven Spielberg and Steven Spielberg",)),
        (("[b] film", "films of [a]"), ("films of Steven Spielberg",)),  # b has no answer
        (("[d] film",), ()),  # is not needed
        (("[a]", "Steven Spielberg"), ("Steven Spielberg",)),
        (("[sic] film",), ()),
        (("[]", "a [ b"), ("[]", "a [ b")),
        ((), ()),
    ],
)
def test_answers_take_their_places_in_queries(
    queries: tuple[str, ...], filled: tuple[str, ...]
) -> None:
    c = replace(C, needs=("a", "b"), queries=queries)
    graph = add(Graph(), A, B, c, NewNode("d", "Who directed Heat?"))
    graph = graph.with_node(replace(graph.node("a"), state="done", answer="Steven Spielberg"))
    graph = graph.with_node(replace(graph.node("b"), state="done"))
    graph = graph.with_node(replace(graph.node("d"), state="done", answer="Michael Mann"))
    assert queries_of(graph, graph.node("c")) == filled


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_answer_is_never_filled_in_itself(query: str, answer: str) -> None:
    c = replace(C, queries=(f"[a] {query}",))
    graph = add(Graph(), A, c)
    graph = graph.with_node(replace(graph.node("a"), state="done", answer=f"[a]{answer}"))
    assert all(f"[a]{answer}" in filled for filled in queries_of(graph, graph.node("c")))
