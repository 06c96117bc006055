"""Deep research: a graph of sub-questions, each worked on by a loop as soon as it can be.

The planner proposes sub-questions and what each needs; ``reasoning.graphs`` says which of them
stand. A node starts when its needs have ended and one of ``AT_ONCE`` slots is free, never layer by
layer, and hands its findings down. The planner is asked to correct what was refused while the rest
is being worked on, and to extend the graph only when every node has ended: what it is shown then
depends on the graph alone and not on what happened to end first, so an interrupted run asks the
same again. A node that fails takes nobody with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from bot.answers import StepView
from bot.errors import (
    Broken,
    BudgetSpent,
    FootnoteError,
    ModelBroken,
    ModelUnavailable,
    Refused,
    StorageUnavailable,
    Unavailable,
)
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Evidence, Finding, Source
from bot.reasoning.graphs import (
    EXTENSIONS,
    MOST_NODES,
    Graph,
    GraphEdit,
    Node,
    edited,
    handed_down,
    queries_of,
    startable,
)
from bot.reasoning.questions import SubQuestion
from bot.reasoning.reasoner import Reasoner
from bot.research.asked import worded
from bot.research.desk import Reading
from bot.research.failures import attempted
from bot.research.gathered import merge_sources
from bot.research.iterate import iterate
from bot.research.nodes import Remembering, checked
from bot.research.run import Run
from bot.research.shares import RESERVE, Share, Shares

AT_ONCE = 4  # nodes worked on at the same time
REPAIRS = 1  # times that the planner may correct one edit
WHOLE = "whole"  # id of the node that is the question itself, where there is no plan


async def explore(
    run: Run,
    reasoner: Reasoner,
    question: SubQuestion,
    reading: Reading,
    *,
    searches: int,
    links: Sequence[str] = (),
    on_text: Callable[[str], None] | None = None,
) -> Evidence:
    """Gather evidence by a graph of sub-questions, which share ``searches`` and the run's pages
    (see ``research.shares``).

    A plan of one node is the loop of ``research.iterate`` over the question itself, which gets
    ``on_text``, with the queries of the plan. The pages at ``links`` are given to
    every node that needs no other, beside its share. Raises what planning at first raises, and
    what a node raises when not one node came through: ``ModelUnavailable`` if that is among it.
    """
    exploration = _Exploration(run, reasoner, question, reading, searches, tuple(links), on_text)
    try:
        async with asyncio.TaskGroup() as tasks:
            exploration.begin(tasks)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        exploration.close()
    return exploration.evidence()


class _Exploration:
    def __init__(
        self,
        run: Run,
        reasoner: Reasoner,
        question: SubQuestion,
        reading: Reading,
        searches: int,
        links: tuple[str, ...],
        on_text: Callable[[str], None] | None,
    ) -> None:
        self._run = run
        self._reasoner = reasoner
        self._question = question
        self._reading = reading
        self._links = links
        self._on_text = on_text
        pages = run.budget.pages - run.usage.pages - len(links)
        self._shares = Shares(searches, pages)
        self._share_of: dict[str, Share] = {}
        self._read_before: dict[str, frozenset[str]] = {}  # when a node began, by dedupe key
        self._tasks: asyncio.TaskGroup
        self._graph = Graph(most=self._affordable(0))
        self._gathered: dict[str, Evidence] = {}
        self._failures: dict[str, FootnoteError] = {}
        self._first: frozenset[str] = frozenset()  # the nodes that were begun at first
        self._planning = False
        self._extensions_left = EXTENSIONS
        self._is_over = False  # no plan is made any more

    # ------------------------------------------------------------ what is to be done next

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """Plan, and whatever follows from it, as tasks of the group."""
        self._tasks = tasks
        self._planning = True
        tasks.create_task(self._plan())

    def _go_on(self) -> None:
        """Start what can be started; when nothing is left to wait for, ask for more."""
        if all(node.state == "waiting" for node in self._graph.nodes):
            self._first = frozenset(node.id for node in startable(self._graph)[:AT_ONCE])
        working = sum(node.state == "running" for node in self._graph.nodes)
        for node in startable(self._graph)[: AT_ONCE - working]:
            self._set(replace(node, state="running"))
            self._tasks.create_task(self._begin(node))
        if self._planning or any(node.state == "running" for node in self._graph.nodes):
            return
        self._settle()
        if self._may_extend():
            self._planning = True
            self._extensions_left -= 1
            self._graph = self._graph.asked_again(self._extensions_left)
            self._tasks.create_task(self._plan())

    def _may_extend(self) -> bool:
        if self._is_over or not self._graph.turns or self._is_plain(self._graph.nodes[0]):
            return False  # one loop has had all searches, and has tried more than one way
        last = self._graph.turns[-1]
        return (
            self._extensions_left > 0
            and self._graph.room > 0
            and (not last.edit.done or any(self._is_open(id) for id in self._new_ids()))
        )

    # ------------------------------------------------------------ planning

    async def _plan(self) -> None:
        """One edit of the graph, corrected at most once; what is sound of it starts at once."""
        before = len(self._graph.nodes)
        view = self._graph
        for _ in range(1 + REPAIRS):
            edit = await self._edit(view)
            if edit is None:
                break
            # What the planner sees of its own turns must not depend on how far the nodes are.
            view = edited(self._question.text, view, edit)
            self._graph = edited(self._question.text, self._graph, edit)
            self._share_out(len(view.turns[-1].refused))
            view = replace(view, most=self._graph.most)
            self._show_all()
            self._search_ahead()
            if not view.turns[-1].refused:
                break
            self._go_on()
        if not self._graph.nodes:
            self._do_without_plan()
        if len(self._graph.nodes) == before:
            self._is_over = True
        self._planning = False
        self._go_on()

    def _search_ahead(self) -> None:
        """Begin what those nodes will ask first that have to wait: it costs no more than later."""
        working = sum(node.state == "running" for node in self._graph.nodes)
        ready = startable(self._graph)
        begun = ready[: AT_ONCE - working]
        later = ready[len(begun) :]
        later += [n for n in self._graph.nodes if n.state == "waiting" and n not in ready]
        self._run.ahead.renew()  # what was guessed of the question itself was for another time
        for node in later:
            self._begin_search(queries_of(self._graph, node))

    def _begin_search(self, queries: tuple[str, ...]) -> None:
        self._run.ahead.search([worded(q, self._question, self._reading.shown) for q in queries])

    async def _edit(self, view: Graph) -> GraphEdit | None:
        """The planner's edit, or None when it cannot give one and there is something without it."""
        try:
            return await attempted(
                self._run,
                lambda: self._reasoner.plan(self._question, view, self._begin_search),
                inputs=self._named(plan=len(view.turns)),
            )
        except StorageUnavailable:
            raise
        except (BudgetSpent, ModelBroken) as error:
            if isinstance(error, BudgetSpent):
                self._run.notes.error(error, "rests-on-found")
        except (Unavailable, Refused, Broken) as error:
            if not view.nodes:
                raise
            self._run.notes.error(error, "rests-on-found")
        return None

    def _do_without_plan(self) -> None:
        node = Node(WHOLE, self._question.text)
        self._graph = replace(self._graph, nodes=(node,))
        self._share_out()

    def _share_out(self, refused: int = 0) -> None:
        """Give each new node its share; those ``refused`` will probably come back corrected."""
        new = [node.id for node in self._graph.nodes if node.id not in self._share_of]
        if not new:
            return
        if len(self._graph.nodes) == 1 and self._is_plain(self._graph.nodes[0]):
            self._share_of[new[0]] = self._shares.deal_all(new[0])
        else:
            order = [node.id for node in startable(self._graph)]
            new.sort(key=lambda id: order.index(id) if id in order else len(order))
            to_come = min(refused, self._graph.room)
            reserve = min(RESERVE, self._graph.room - to_come)
            self._share_of |= self._shares.deal(new, to_come, reserve)
        self._graph = replace(self._graph, most=self._affordable(len(self._graph.nodes)))

    def _affordable(self, count: int) -> int:
        """How many nodes there may be in all, where there are so many: at least one."""
        return max(1, min(MOST_NODES, count + self._shares.room))

    def _settle(self) -> None:
        """Take back what ended nodes have not used. Of one that failed nobody knows."""
        for id in self._new_ids():
            if evidence := self._gathered.get(id):
                charged = {dedupe_key(source.url) for source in evidence.sources}
                pages = len(charged - self._read_before[id])
                self._shares.settle(id, Share(evidence.searches, pages))
        self._graph = replace(self._graph, most=self._affordable(len(self._graph.nodes)))

    # ------------------------------------------------------------ one node

    async def _begin(self, node: Node) -> None:
        """Work on a node, or leave it out if the budget covers no call for it. The first ones are
        always begun: they search without the model."""
        if node.id not in self._first:
            try:
                await checked(self._run, inputs=self._named(node=node.id))
            except BudgetSpent as error:
                self._is_over = True
                self._run.notes.error(error, "rests-on-found")
                self._set(replace(node, state="failed"))
                self._go_on()
                return
        await self._work(node)

    async def _work(self, node: Node) -> None:
        known, missing = handed_down(self._graph, node)
        share = self._share_of[node.id]
        self._read_before[node.id] = self._certainly_read(node)
        started = monotonic()
        try:
            with self._run.branch(self._line(node.id)):
                evidence = await iterate(
                    self._run,
                    Remembering(self._run, self._reasoner, self._named(node=node.id)),
                    self._asked(node, known, missing),
                    self._reading,
                    searches=share.searches,
                    pages=share.pages,
                    links=() if node.needs else self._links,
                    read_before=self._read_before[node.id],
                    on_text=self._on_text if self._is_plain(node) else None,
                )
        except StorageUnavailable:
            raise
        except (Unavailable, Refused, Broken) as error:
            self._failures[node.id] = error
            ended = replace(node, state="failed", problem=error.sentence)
        else:
            self._gathered[node.id] = evidence
            gaps = evidence.missing or (() if evidence.enough else (node.question,))
            ended = replace(
                node,
                state="done",
                findings=evidence.findings,
                missing=gaps,
                answer=evidence.answer,
            )
        self._set(ended, monotonic() - started)
        self._go_on()

    def _certainly_read(self, node: Node) -> frozenset[str]:
        """The pages that were read when a node begins, however fast the others are: the asker's,
        those of what it needs, and those of all that had ended when it was planned."""
        before = {other.id for turn in self._graph.turns for other in turn.ended}
        wanted = list(node.needs)
        while wanted:
            id = wanted.pop()
            before.add(id)
            wanted += self._graph.node(id).needs
        sources = (s for id in before if id in self._gathered for s in self._gathered[id].sources)
        return frozenset(dedupe_key(url) for url in (*self._links, *(s.url for s in sources)))

    def _asked(
        self, node: Node, known: tuple[Finding, ...], missing: tuple[str, ...]
    ) -> SubQuestion:
        queries = queries_of(self._graph, node)
        if self._is_plain(node):
            question = self._question
            is_searched = question.queries or question.knowledge_queries
            if not (queries and is_searched):
                return question
            return replace(question, queries=queries, knowledge_queries=queries)
        return replace(
            self._question,
            text=node.question,
            queries=queries,
            knowledge_queries=queries,
            known=known,
            missing=missing,
        )

    def _is_plain(self, node: Node) -> bool:
        """Whether a node is the question itself, not cut: it is worked on as without a graph."""
        if node.id != self._graph.nodes[0].id:
            return False
        if node.id == WHOLE:
            return True
        first = self._graph.turns[0]
        return first.edit.done and len(first.accepted) == 1 and not first.refused

    def _named(self, **what: str | int) -> dict[str, str | int]:
        """What tells a part of this graph from those of all others of the run."""
        return {"graph": self._question.text, "reasoner": self._reasoner.name, **what}

    def _is_open(self, id: str) -> bool:
        return self._graph.node(id).is_open

    def _new_ids(self) -> list[str]:
        """The nodes that the planner has not been told about."""
        told = {node.id for turn in self._graph.turns for node in turn.ended}
        return [node.id for node in self._graph.nodes if node.id not in told]

    # ------------------------------------------------------------ the plan that is shown

    def _set(self, node: Node, seconds: float = 0.0) -> None:
        self._graph = self._graph.with_node(node)
        self._show(node, seconds)

    def _show_all(self) -> None:
        for node in self._graph.nodes:
            if node.state == "waiting":
                self._show(node)

    def _show(self, node: Node, seconds: float = 0.0) -> None:
        if self._is_plain(node):
            return
        evidence = self._gathered.get(node.id, Evidence())
        cited = {number for finding in node.findings for number in finding.sources}
        shown = {n.id for n in self._graph.nodes if not self._is_plain(n)}
        self._run.show(
            StepView(
                self._line(node.id),
                "node",
                node.question,
                node.state,
                seconds,
                self._reason(node.id),
                tuple(source.url for source in evidence.sources if source.number in cited),
                needs=tuple(self._line(id) for id in node.needs if id in shown),
            )
        )

    def _reason(self, id: str) -> str:
        """Why a node failed, in the asker's language; "" if it did not."""
        error = self._failures.get(id)
        return self._run.notes.described(error) if error else ""

    def _line(self, id: str) -> str:
        return "" if self._is_plain(self._graph.node(id)) else f"node-{id}"

    def close(self) -> None:
        """Leave no line of the plan open, however it ended."""
        for node in self._graph.nodes:
            if not node.has_ended:
                self._set(replace(node, state="failed"))

    # ------------------------------------------------------------ what it gave

    def evidence(self) -> Evidence:
        """Everything that was found, in the order of the graph."""
        self._raise_if_all_failed()
        whole = self._graph.nodes[0] if self._graph.nodes else None
        if whole and self._is_plain(whole) and whole.id in self._gathered:
            return self._gathered[whole.id]
        for node in self._graph.nodes:
            if reason := self._reason(node.id):
                self._run.note(
                    self._run.texts("part-failed", question=node.question, reason=reason)
                )
        findings = [finding for node in self._graph.nodes for finding in node.findings]
        gathered = [self._gathered[n.id] for n in self._graph.nodes if n.id in self._gathered]
        missing = self._missing()
        return Evidence(
            sources=merge_sources(self._run.sources),
            carrying=self._carrying(gathered),
            findings=tuple(dict.fromkeys(findings)),
            missing=missing,
            enough=bool(findings) and not missing,
            queries=tuple(dict.fromkeys(q for evidence in gathered for q in evidence.queries)),
            notes=tuple(dict.fromkeys(n for evidence in gathered for n in evidence.notes)),
        )

    def _carrying(self, gathered: Sequence[Evidence]) -> tuple[Source, ...]:
        """What carries the answers of the nodes; nothing if one that has an answer named none."""
        if any(evidence.enough and not evidence.carrying for evidence in gathered):
            return ()
        return merge_sources([source for one in gathered for source in one.carrying])

    def _raise_if_all_failed(self) -> None:
        if self._gathered or not self._failures:
            return
        errors = list(self._failures.values())
        raise next((e for e in errors if isinstance(e, ModelUnavailable)), errors[0])

    def _missing(self) -> tuple[str, ...]:
        """What is still unproven: of what the planner has replied to by its word, else by the
        nodes'."""
        turns = self._graph.turns
        last = next((turn.edit for turn in reversed(turns) if not turn.edit.problem), GraphEdit())
        gaps = list(last.missing)
        if last.outgrown:
            gaps.append(self._run.texts("research-outgrown"))
        spoken_for = self._graph.spoken_for
        for node in self._graph.nodes:
            if node.id not in spoken_for:
                gaps += node.missing or ([node.question] if node.is_open else [])
        return tuple(dict.fromkeys(gaps))
