"""Deep research: a graph of sub-questions, then a loop over the question itself.

The planner proposes sub-questions and their dependencies; ``reasoning.graphs`` validates them. Each
sub-question that others depend on gets its own loop, at most ``AT_ONCE`` at the same time. A loop
starts as soon as its dependencies have ended, not layer by layer, and passes its findings on. The
other sub-questions get no loop: their queries, with the answers filled in, are the first search of
the loop over the question itself, which also gets the passages found by the sub-questions. That
loop judges everything in one turn, searches for what is missing, and may answer at once.

The planner corrects rejected sub-questions while the others are in progress. It extends the graph
only if it said that it needs the answers first, and only when every node has ended: its input then
depends on the graph alone, not on timing, so that an interrupted run repeats the same call. A
failing node does not affect the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from time import monotonic

from pydantic import TypeAdapter

from bot.core.errors import (
    Broken,
    BudgetSpent,
    FootnoteError,
    ModelBroken,
    Refused,
    StorageUnavailable,
    Unavailable,
)
from bot.core.messages import StepView
from bot.reasoning.evidence import Evidence, Source, SubQuestion
from bot.reasoning.graphs import (
    EXTENSIONS,
    Graph,
    GraphEdit,
    Node,
    edited,
    handed_down,
    queries_of,
    startable,
)
from bot.reasoning.reasoner import Researcher
from bot.research.outcomes import Failure
from bot.research.run import Run
from bot.research.selection import merge_sources
from bot.research.strategies import (
    GRAPH,
    READING,
    Declaration,
    OneCall,
    Task,
    iterate,
    prefetch,
)
from bot.research.working_set import FIRST_QUERIES, Reading, worded

_verdict = TypeAdapter(Failure | None)


AT_ONCE = 4  # nodes in progress at the same time
NODE_SEARCHES = 3  # searches per node: the first and two more wordings
NODE_PAGES = 5  # pages that a node may choose, and that may be opened for it
REPAIRS = 1  # corrections the planner may make to one edit
WHOLE = "whole"  # the id of the loop over the question itself


async def explore(
    run: Run,
    reasoner: Researcher,
    question: SubQuestion,
    reading: Reading,
    *,
    searches: int,
    links: Sequence[str] = (),
    on_text: Callable[[str], None] | None = None,
) -> Evidence:
    """Gather evidence by a graph of sub-questions and a loop of ``searches`` searches over the
    question, with ``on_text`` as in ``iterate``.

    The pages at ``links`` are given to that loop, and to every node without dependencies. Raises
    the errors of the first plan and of the loop over the question.
    """
    exploration = _Exploration(run, reasoner, question, reading, tuple(links))
    try:
        async with asyncio.TaskGroup() as tasks:
            exploration.begin(tasks)
        return await exploration.conclude(searches, on_text)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        exploration.close()


class _Exploration:
    def __init__(
        self,
        run: Run,
        reasoner: Researcher,
        question: SubQuestion,
        reading: Reading,
        links: tuple[str, ...],
    ) -> None:
        self._run = run
        self._reasoner = reasoner
        self._question = question
        self._reading = reading
        self._links = links
        self._tasks: asyncio.TaskGroup
        self._graph = Graph()
        self._gathered: dict[str, Evidence] = {}
        self._failures: dict[str, FootnoteError] = {}
        self._first: frozenset[str] = frozenset()  # the nodes started first
        self._planning = False
        self._extensions_left = EXTENSIONS
        self._is_over = False  # no more planning

    # ------------------------------------------------------------ scheduling

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """Start planning and the work that follows, as tasks of the group."""
        self._tasks = tasks
        self._planning = True
        tasks.create_task(self._plan())

    def _go_on(self) -> None:
        """Start all nodes that can start; when none is in progress, plan further."""
        ready = self._ready()
        if all(node.state == "waiting" for node in self._graph.nodes):
            self._first = frozenset(node.id for node in ready[:AT_ONCE])
        for node in ready[: AT_ONCE - self._working]:
            self._set(replace(node, state="running"))
            self._tasks.create_task(self._begin(node))
        if self._planning or self._working or self._is_complete:
            return
        if self._graph.room > 0:
            self._planning = True
            self._extensions_left -= 1
            self._graph = self._graph.asked_again(self._extensions_left)
            self._tasks.create_task(self._plan())

    @property
    def _working(self) -> int:
        return sum(node.state == "running" for node in self._graph.nodes)

    @property
    def _is_complete(self) -> bool:
        """True if the planner will not extend the graph."""
        turns = self._graph.turns
        if self._is_over or not turns or self._extensions_left == 0:
            return True
        return turns[-1].edit.done or bool(turns[-1].edit.problem)

    def _ready(self) -> list[Node]:
        """Return the nodes whose loop can start, those that most others wait for first."""
        needed = {need for node in self._graph.nodes for need in node.needs}
        every = not self._is_complete
        return [node for node in startable(self._graph) if every or node.id in needed]

    # ------------------------------------------------------------ planning

    async def _plan(self) -> None:
        """Plan one edit of the graph, corrected at most once; valid nodes start at once."""
        before = len(self._graph.nodes)
        view = self._graph
        for _ in range(1 + REPAIRS):
            edit = await self._edit(view)
            if edit is None:
                break
            # The planner's view of its own turns must not depend on the nodes' progress.
            view = edited(self._question.text, view, edit)
            self._graph = edited(self._question.text, self._graph, edit)
            for node in self._graph.nodes:
                if node.state == "waiting":
                    self._show(node)
            self._search_ahead()
            if not view.turns[-1].refused:
                break
            self._go_on()
        if len(self._graph.nodes) == before:
            self._is_over = True
        self._planning = False
        self._go_on()

    def _search_ahead(self) -> None:
        """Prefetch the first searches of waiting nodes: they cost no more now than later."""
        begun = self._ready()[: AT_ONCE - self._working]
        self._run.prefetcher.renew()  # the earlier guesses were for the question itself
        for node in self._graph.nodes:
            if node.state == "waiting" and node not in begun:
                shown, queries = self._reading.shown, queries_of(self._graph, node)
                self._run.prefetcher.search([worded(q, self._question, shown) for q in queries])

    async def _edit(self, view: Graph) -> GraphEdit | None:
        """Return the planner's edit, or None if it fails and the graph already has nodes."""
        try:
            return await self._run.attempted(
                lambda: self._reasoner.plan(self._question, view),
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

    # ------------------------------------------------------------ one node

    async def _begin(self, node: Node) -> None:
        """Work on a node, or skip it if the budget covers no call for it. The first nodes always
        start: they search without the model."""
        if node.id not in self._first and (refused := await self._refused(node)) is not None:
            self._is_over = True
            self._run.notes.error(refused.error, "rests-on-found")
            self._set(replace(node, state="failed"))
            self._go_on()
            return
        await self._work(node)

    async def _refused(self, node: Node) -> Failure | None:
        """Return why the budget covers no model call for a node, now or on an earlier attempt."""

        async def look() -> Failure | None:
            try:
                self._run.budget.check_model_call(self._run.usage)
            except BudgetSpent as error:
                return Failure.of(error)
            return None

        inputs = {**self._named(node=node.id), "asked": self._run.now.isoformat()}
        return await self._run.step("begin", inputs, look, _verdict, title="")

    async def _work(self, node: Node) -> None:
        known, missing = handed_down(self._graph, node)
        queries = queries_of(self._graph, node)
        asked = replace(
            self._question,
            text=node.question,
            queries=queries,
            knowledge_queries=queries,
            known=known,
            missing=missing,
        )
        started = monotonic()
        try:
            with self._run.branch(_line(node.id)):
                evidence = await iterate(
                    self._run,
                    self._reasoner,
                    asked,
                    self._reading,
                    searches=NODE_SEARCHES,
                    pages=NODE_PAGES,
                    links=() if node.needs else self._links,
                    stage=self._named(node=node.id),
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

    def _named(self, **what: str | int) -> dict[str, str | int]:
        """Return inputs that identify a part of this graph among all graphs of the run."""
        return {"graph": self._question.text, "reasoner": self._reasoner.name, **what}

    # ------------------------------------------------------------ the question itself

    async def conclude(self, searches: int, on_text: Callable[[str], None] | None) -> Evidence:
        """Work on the question with the nodes' findings and the queries of the other nodes."""
        for node in self._graph.nodes:
            if reason := self._reason(node.id):
                text = self._run.texts("part-failed", question=node.question, reason=reason)
                self._run.note(text)
        left = [node for node in self._graph.nodes if not node.has_ended]
        for node in left:
            self._set(replace(node, state="running"))
        started = monotonic()
        evidence = await iterate(
            self._run,
            self._reasoner,
            self._asked(left),
            self._reading,
            searches=searches,
            links=self._links,
            placed=self._carrying(),
            on_text=on_text,
            stage=self._named(node=WHOLE),
        )
        for node in left:
            self._set(replace(node, state="done"), monotonic() - started)
        gathered = [*self._of_nodes(), evidence]
        return replace(
            evidence,
            sources=merge_sources(self._run.sources),
            queries=tuple(dict.fromkeys(query for one in gathered for query in one.queries)),
            notes=tuple(dict.fromkeys(note for one in gathered for note in one.notes)),
        )

    def _asked(self, left: Sequence[Node]) -> SubQuestion:
        """Return the question with the findings so far and the queries of the remaining nodes."""
        question = self._question
        ended = [node for node in self._graph.nodes if node.has_ended]
        gaps = [gap for node in ended for gap in node.missing or (node.question,) * node.is_open]
        of_nodes = zip_longest(*(queries_of(self._graph, node) for node in left))
        queries = dict.fromkeys(query for each in of_nodes for query in each if query)
        if queries and (question.queries or question.knowledge_queries):
            first = tuple(queries)[:FIRST_QUERIES]
            question = replace(question, queries=first, knowledge_queries=first)
        return replace(
            question,
            known=tuple(dict.fromkeys(finding for node in ended for finding in node.findings)),
            missing=tuple(dict.fromkeys(gaps)),
        )

    def _carrying(self) -> list[Source]:
        """Return the pages behind the nodes' findings, in the order of the graph."""
        found: list[Source] = []
        for evidence in self._of_nodes():
            cited = {number for finding in evidence.findings for number in finding.sources}
            found += evidence.carrying or [s for s in evidence.sources if s.number in cited]
        order = list(dict.fromkeys(source.number for source in found))
        return sorted(merge_sources(found), key=lambda source: order.index(source.number))

    def _of_nodes(self) -> list[Evidence]:
        nodes = self._graph.nodes
        return [self._gathered[node.id] for node in nodes if node.id in self._gathered]

    # ------------------------------------------------------------ the plan that is shown

    def _set(self, node: Node, seconds: float = 0.0) -> None:
        self._graph = self._graph.with_node(node)
        self._show(node, seconds)

    def _show(self, node: Node, seconds: float = 0.0) -> None:
        if self._is_whole:
            return
        evidence = self._gathered.get(node.id, Evidence())
        cited = {number for finding in node.findings for number in finding.sources}
        self._run.show(
            StepView(
                _line(node.id),
                "node",
                node.question,
                node.state,
                seconds,
                self._reason(node.id),
                tuple(source.url for source in evidence.sources if source.number in cited),
                needs=tuple(_line(id) for id in node.needs),
                found=tuple(finding.text for finding in node.findings),
            )
        )

    @property
    def _is_whole(self) -> bool:
        return self._is_complete and len(self._graph.nodes) == 1

    def _reason(self, id: str) -> str:
        """Return why a node failed, in the asker's language; "" if it did not."""
        error = self._failures.get(id)
        return self._run.notes.described(error) if error else ""

    def close(self) -> None:
        for node in self._graph.nodes:
            if not node.has_ended:
                self._set(replace(node, state="failed"))


def _line(id: str) -> str:
    return f"node-{id}"


async def _graph(task: Task, reasoner: Researcher) -> Evidence:
    if task.question.kind == "search":  # while the planner thinks
        prefetch(task.run, task.question)
    return await explore(
        task.run,
        reasoner,
        task.sub_question(),
        READING,
        searches=task.searches,
        links=task.links,
        on_text=task.on_text,
    )


STRATEGY = Declaration(GRAPH, lambda task: OneCall(task, _graph))
