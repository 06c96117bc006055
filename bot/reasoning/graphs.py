"""The graph of a deep run: single-fact sub-questions, their dependencies, and valid additions.
Pure.

A planner only adds nodes. Its additions are validated here: the graph never has a cycle, a missing
dependency, a duplicate question, or more than ``MOST_NODES`` nodes. Refusals are explained in
sentences that the planner can act on; the rest of its edit is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bot.reasoning.evidence import Finding
from bot.text.terms import terms

MOST_NODES = 16
EXTENSIONS = 3  # times the planner may extend its first plan
LONGEST_QUESTION = 300  # characters of a sub-question: longer ones ask several things

NodeState = Literal["waiting", "running", "done", "failed"]

_ID = re.compile(r"[\w.-]{1,20}")
_ANSWER_OF = re.compile(r"\[([\w.-]{1,20})\]")


@dataclass(frozen=True, slots=True)
class NewNode:
    """A sub-question as worded by the planner. ``needs`` are the ids of nodes whose answers it
    depends on; ``queries`` can be searched as soon as it starts, with ``[a]`` replaced by the
    answer of node ``a``."""

    id: str
    question: str
    needs: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphEdit:
    """One reply of the planner: nodes to add, or ``queries`` for the first search of a question
    that needs no nodes.

    ``done`` means that the plan is complete with them, so that the planner is called again only if
    something was not found. ``missing`` lists parts of the question that stay unproven and that no
    node covers; ``outgrown`` means that the graph is too large for the model. ``problem`` describes
    a reply that could not be understood. ``said`` is the reasoner's own record of the reply, which
    the core stores without reading it.
    """

    nodes: tuple[NewNode, ...] = ()
    done: bool = False
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    problem: str = ""
    said: Any = None
    outgrown: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A sub-question of the graph and its results, including the ``answer`` in a few words, if
    there is one. ``problem`` says why it failed."""

    id: str
    question: str
    needs: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    state: NodeState = "waiting"
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()
    problem: str = ""
    answer: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "failed")

    @property
    def is_open(self) -> bool:
        """True if it ended without a complete result."""
        return self.state == "failed" or bool(self.missing) or not self.findings


@dataclass(frozen=True, slots=True)
class PlanTurn:
    """One reply of the planner and the core's answer to it.

    ``accepted`` are the ids added, ``refused`` the reasons why others were not. ``ended`` are the
    nodes that ended since the turn before; empty if the planner is only asked for corrections.
    ``extensions_left`` is the number of extensions left at that time, ``room`` the number of nodes
    that can be added.
    """

    edit: GraphEdit
    accepted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    ended: tuple[Node, ...] = ()
    extensions_left: int = EXTENSIONS
    room: int = MOST_NODES


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes in planning order, and the planner's turns; both only grow."""

    nodes: tuple[Node, ...] = ()
    turns: tuple[PlanTurn, ...] = ()

    def node(self, id: str) -> Node:
        """Return the node with this id. Raises ``KeyError``."""
        for node in self.nodes:
            if node.id == id:
                return node
        raise KeyError(id)

    @property
    def room(self) -> int:
        """The number of nodes that can still be added."""
        return max(0, MOST_NODES - len(self.nodes))

    def with_node(self, changed: Node) -> Graph:
        """Return the graph with one node replaced."""
        nodes = tuple(changed if node.id == changed.id else node for node in self.nodes)
        return replace(self, nodes=nodes)

    def asked_again(self, extensions_left: int) -> Graph:
        """Return the graph for asking the planner to extend it, when every node has ended.

        Its last turn is answered with all nodes that the planner has not yet seen ended.
        """
        told = {node.id for turn in self.turns for node in turn.ended}
        ended = tuple(node for node in self.nodes if node.id not in told)
        last = replace(self.turns[-1], ended=ended, extensions_left=extensions_left, room=self.room)
        return replace(self, turns=(*self.turns[:-1], last))


def edited(asked: str, graph: Graph, edit: GraphEdit) -> Graph:
    """Return the graph with an edit's additions and a turn with the refusals.

    ``asked`` is the whole question, which may only be repeated by a single node.
    """
    check = _Check(asked, graph, edit)
    accepted = check.accepted()
    turn = PlanTurn(
        edit,
        tuple(new.id for new in accepted),
        tuple(check.refused),
        room=graph.room - len(accepted),
    )
    nodes = tuple(Node(new.id, new.question, new.needs, new.queries) for new in accepted)
    return replace(graph, nodes=(*graph.nodes, *nodes), turns=(*graph.turns, turn))


def startable(graph: Graph) -> list[Node]:
    """Return the waiting nodes whose dependencies have ended; those that most others wait for come
    first.

    The order is by the longest chain that depends on a node (highest level first, Hu 1961), then by
    planning: so the critical path is not delayed if there are more nodes than slots.
    """
    heights: dict[str, int] = {}
    for node in _children_first(graph.nodes):
        behind = (heights[other.id] for other in graph.nodes if node.id in other.needs)
        heights[node.id] = 1 + max(behind, default=0)
    ended = {node.id for node in graph.nodes if node.has_ended}
    ready = [n for n in graph.nodes if n.state == "waiting" and ended.issuperset(n.needs)]
    return sorted(ready, key=lambda node: -heights[node.id])


def handed_down(graph: Graph, node: Node) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return the findings and gaps that a node gets from its dependencies, in the order of the
    graph.

    Each finding names its node and question, since the node's own question may refer to them.
    """
    known: list[Finding] = []
    missing: list[str] = []
    for need in graph.nodes:
        if need.id not in node.needs:
            continue
        name = f"{need.id} ({need.question})"
        known += [replace(found, text=f"{name}: {found.text}") for found in need.findings]
        missing += [f"{name}: {gap}" for gap in need.missing]
        if need.is_open and not need.missing:
            missing.append(f"{name}: not found")
    return tuple(known), tuple(missing)


def queries_of(graph: Graph, node: Node) -> tuple[str, ...]:
    """Return a node's queries with the answers of its dependencies filled in; queries without an
    answer are left out."""
    answers = {id: graph.node(id).answer for id in node.needs}
    filled: list[str] = []
    for query in node.queries:
        if all(answers.get(id) for id in _ANSWER_OF.findall(query)):
            filled.append(_ANSWER_OF.sub(lambda found: answers[found[1]], query))
    return tuple(dict.fromkeys(filled))


def _children_first(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes, each after all that depend on it."""
    placed: list[Node] = []
    left = list(nodes)
    while left:
        needed = {id for node in left for id in node.needs}
        ready = [node for node in left if node.id not in needed]
        placed += ready
        left = [node for node in left if node.id in needed]
    return placed


# ---------------------------------------------------------------- validation


@dataclass
class _Check:
    asked: str
    graph: Graph
    edit: GraphEdit
    refused: list[str] = field(default_factory=list)

    def accepted(self) -> list[NewNode]:
        """The nodes that can be added, in the edit's order; ``refused`` explains the others."""
        if self.edit.problem:
            self.refused.append(self.edit.problem)
            return []
        if not self.edit.nodes:
            if not self.graph.nodes:
                self._refuse("Nothing was researched yet: plan at least one sub-question")
            elif not self.edit.done:
                self._refuse("Your reply adds nothing: add sub-questions, or say that it is done")
            return []
        sound = self._sound(self.edit.nodes)
        placed = self._placed(sound)
        for new in sound:
            if new.id not in placed:
                self._refuse(f"{new.id} was not added: {self._unplaced(new, sound)}")
        within = list(placed)[: self.graph.room]
        for id in list(placed)[self.graph.room :]:
            self._refuse(
                f"{id} was not added: this plan can have at most {MOST_NODES} sub-questions. "
                "Keep to those that the answer cannot do without"
            )
        return [new for new in sound if new.id in within]

    def _refuse(self, sentence: str) -> None:
        self.refused.append(f"{sentence}.")

    def _sound(self, nodes: Iterable[NewNode]) -> list[NewNode]:
        """Return the nodes that are well formed and ask something new."""
        sound: list[NewNode] = []
        ids = {node.id for node in self.graph.nodes}
        alone = len(self.edit.nodes) == 1 and not self.graph.nodes
        for new in nodes:
            problem = self._shape(new, ids)
            if not problem and not alone and asks_the_same(new.question, self.asked):
                problem = "it asks the whole question again, which is answered from all findings"
            if not problem and (repeated := self._repeated(new, sound)):
                problem = f"it asks the same as {repeated}. Use {repeated} itself in needs"
            if problem:
                self._refuse(f"{new.id or 'A sub-question'} was not added: {problem}")
            else:
                sound.append(new)
                ids.add(new.id)
        return sound

    def _shape(self, new: NewNode, ids: set[str]) -> str:
        if not _ID.fullmatch(new.id):
            return "its id must be one short word, such as a or b2"
        if new.id in ids:
            return "there is a sub-question with this id already. Give it another one"
        if not new.question.strip():
            return "it asks nothing"
        if len(new.question) > LONGEST_QUESTION and new.question != self.asked:
            most = f"{LONGEST_QUESTION} characters"
            return f"it is longer than {most}. Ask for one fact; split it if it asks for several"
        return ""

    def _repeated(self, new: NewNode, sound: Sequence[NewNode]) -> str:
        """Return the id of a node that asks the same, or ""."""
        earlier = [(n.id, n.question, n.needs) for n in self.graph.nodes]
        earlier += [(n.id, n.question, n.needs) for n in sound]
        for id, question, needs in earlier:
            # "the director found there" is a different question if its dependencies differ.
            elsewhere = needs and new.needs and set(needs) != set(new.needs)
            if not elsewhere and asks_the_same(new.question, question):
                return id
        return ""

    def _placed(self, sound: Sequence[NewNode]) -> dict[str, None]:
        """Return the ids of the nodes whose dependencies all exist, each after its dependencies."""
        there = {node.id for node in self.graph.nodes}
        placed: dict[str, None] = {}
        while True:
            ready = [
                new.id
                for new in sound
                if new.id not in placed and all(n in there or n in placed for n in new.needs)
            ]
            if not ready:
                return placed
            placed |= dict.fromkeys(ready[:1])

    def _unplaced(self, new: NewNode, sound: Sequence[NewNode]) -> str:
        """Return why a well-formed node cannot be placed."""
        there = {node.id for node in self.graph.nodes} | {new.id for new in sound}
        unknown = [need for need in new.needs if need not in there]
        if unknown:
            was = {node.id for node in self.edit.nodes}
            what = "which was refused" if unknown[0] in was else "which does not exist"
            return f"it needs {unknown[0]}, {what}"
        return "its needs lead back to it, or to one that was refused, so it could never start"


def asks_the_same(one: str, other: str) -> bool:
    """Return True if two questions have the same words, in whatever order and form."""
    return frozenset(terms(one)) == frozenset(terms(other))
