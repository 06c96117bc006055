"""Deep research: the graph's order, its planner and its failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import (
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
    RunLost,
    StorageUnavailable,
)
from bot.reasoning.evidence import Evidence, Finding, Finish, SubQuestion, Turn, Workspace
from bot.reasoning.graphs import EXTENSIONS, MOST_NODES, GraphEdit, NewNode
from bot.reasoning.reasoner import OnAnswer
from bot.research.graph import AT_ONCE, NODE_PAGES, NODE_SEARCHES, explore
from bot.research.run import Run
from bot.research.working_set import Reading
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query
from tests.fakes.journal import MemoryJournal
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.research.graph_stage import (
    ASKED,
    LAST,
    PLANNING,
    PLENTY,
    READING,
    Ending,
    Reader,
    Timed,
    a_run,
    complete,
    found,
    node,
    play,
    text,
)
from tests.unit.samples import NOW

# ---------------------------------------------------------------- when nodes begin


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[NewNode], dict[str, float], set[str]]:
    """Random graphs in any order of their nodes, seconds for each node, and who fails."""
    count = draw(st.integers(2, MOST_NODES - 1))
    nodes = [
        node(chr(ord("a") + at), *[chr(ord("a") + n) for n in range(at) if draw(st.booleans())][:3])
        for at in range(count)
    ]
    seconds = {text(n.id): float(draw(st.integers(1, 9))) for n in nodes}
    failing = {n.id for n in nodes[1:] if draw(st.integers(0, 4)) == 0}
    return draw(st.permutations(nodes)), seconds, failing


@given(plans())
@settings(max_examples=60, deadline=None)
def test_a_node_begins_when_its_needs_have_ended_and_a_slot_is_free(
    plan: tuple[list[NewNode], dict[str, float], set[str]],
) -> None:
    nodes, seconds, failing = plan
    broken = ModelBroken("The model answered nonsense: try again.")
    reasoner = Timed(
        edits=complete(*nodes), seconds=seconds, endings={text(id): broken for id in failing}
    )

    @in_virtual_time
    async def run() -> None:
        await play(reasoner)

    run()
    begun, ended = reasoner.begun, reasoner.ended
    assert begun.pop(ASKED.text) == max(ended[text(n.id)] for n in nodes)
    ended.pop(ASKED.text)
    assert set(begun) == set(ended) == {text(n.id) for n in nodes}, "whatever fails, all are done"

    def working(at: float) -> int:
        return sum(begun[t] <= at < ended[t] for t in begun)

    start = reasoner.planned[0] + PLANNING
    for new in nodes:
        at = begun[text(new.id)]
        ready = max([start, *(ended[text(need)] for need in new.needs)])
        assert working(at) <= AT_ONCE
        assert at >= ready
        moments = {ready, *(t for t in (*begun.values(), *ended.values()) if ready <= t < at)}
        assert at == ready or all(working(t) == AT_ONCE for t in moments), new.id


@in_virtual_time
async def test_it_takes_as_long_as_its_critical_path_not_its_layers() -> None:
    reasoner = Timed(
        edits=complete(node("a"), node("b"), node("c", "a"), node("d", "b")),
        seconds={text("a"): 1, text("b"): 5, text("c"): 5, text("d"): 1},
    )
    began = now()
    await play(reasoner)
    assert reasoner.begun[text("c")] == reasoner.ended[text("a")]
    assert reasoner.begun[ASKED.text] == began + PLANNING + 6.0, "layer by layer it would be 10"


@in_virtual_time
async def test_when_slots_are_scarce_the_longest_chain_goes_first() -> None:
    roots = [node(id) for id in "abcd"]
    reasoner = Timed(edits=complete(*roots, node("e"), node("f", "e"), node("g", "f")))
    began = now()
    await play(reasoner)
    assert reasoner.begun[text("e")] == began + PLANNING
    assert reasoner.begun[ASKED.text] == began + PLANNING + 3.0


@dataclass
class Slow(Shelf):
    """Answers a search after 0.4 s."""

    asked_at: dict[str, float] = field(default_factory=dict)

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        assert query.text not in self.asked_at, "asked twice"
        self.asked_at[query.text] = now()
        await asyncio.sleep(0.4)
        return await super().search(query, providers, kind)


@in_virtual_time
async def test_what_waiting_nodes_ask_first_is_searched_when_the_plan_is_known() -> None:
    shelf = Slow(a_shelf("One tells of all.").pages)
    roots = [replace(node(id), queries=(f"{id * 3} all",)) for id in "abcde"]
    child = replace(node("f", "a"), queries=("fff all",))
    reasoner = Timed(edits=complete(*roots, child))
    run = a_run(shelf, prefetch_pages=4)
    began = now()
    await play(reasoner, run)
    await run.prefetcher.aclose()
    assert set(shelf.asked_at) == {f"{id * 3} all" for id in "abcdef"}
    assert set(shelf.asked_at.values()) == {began + PLANNING}
    later = sorted(reasoner.begun[text(id)] - began - PLANNING for id in "ef")
    assert later == pytest.approx([1.4, 1.4]), "nobody who begins later waits for a search"
    assert run.usage.searches == 6, "each is paid for once, by whoever asks"


# ---------------------------------------------------------------- what nodes are told


@in_virtual_time
async def test_findings_flow_to_children_and_the_question_in_the_order_of_the_graph() -> None:
    reasoner = Timed(
        edits=complete(node("a"), node("b"), node("c", "b", "a")), seconds={text("a"): 9}
    )
    evidence = await play(reasoner)
    assert [finding.text for finding in reasoner.asked[text("c")].known] == [
        "a (What is aaa?): What is aaa? Yes.",
        "b (What is bbb?): What is bbb? Yes.",
    ]
    known = reasoner.asked[ASKED.text].known
    assert [finding.text for finding in known] == [f"{text(i)} Yes." for i in "abc"]
    assert [finding.text for finding in evidence.findings] == [f"{ASKED.text} Yes."]
    assert (evidence.enough, evidence.missing) == (True, ())


@in_virtual_time
async def test_an_answer_is_put_into_the_queries_that_wait_for_it() -> None:
    shelf = Slow(a_shelf("One tells of all.").pages)
    child = replace(node("b", "a"), queries=("[a] all", "[z] all"))
    other = replace(node("c", "b"), queries=("[b] [a]",))
    reasoner = Timed(
        edits=complete(node("a"), child, other),
        endings={text("a"): replace(found(), answer="Ada Lovelace")},
    )
    run = a_run(shelf, prefetch_pages=4)
    await play(reasoner, run)
    assert reasoner.asked[text("b")].queries == ("Ada Lovelace all",)
    assert reasoner.desks_of[text("b")][0].results, "it was searched before the first turn"
    assert reasoner.asked[text("c")].queries == (), "the answer of b is not known"
    assert set(shelf.asked_at) == {"Ada Lovelace all"}


@in_virtual_time
async def test_a_failed_node_is_isolated_told_to_its_children_and_noted() -> None:
    run = a_run()
    reasoner = Timed(
        edits=complete(node("a"), node("b"), node("c", "a")),
        endings={text("a"): ModelRefused("The model declined: ask in another way.")},
    )
    evidence = await play(reasoner, run)
    assert reasoner.asked[text("c")].missing == ("a (What is aaa?): not found",)
    whole = reasoner.asked[ASKED.text]
    assert (len(whole.known), whole.missing) == (2, (text("a"),))
    assert evidence.enough
    assert run.notes == [
        "“What is aaa?” could not be researched: The model declined: ask in another way."
    ]
    states = {line.id: (line.state, line.detail) for line in run.steps}
    assert states["node-a"] == ("failed", "The model declined: ask in another way.")
    assert states["node-c"] == ("done", "")


@in_virtual_time
async def test_every_node_may_try_other_wordings_and_the_first_ones_get_the_links() -> None:
    links = ("https://example.org/1",)
    queries = [replace(node(id), queries=("one",)) for id in "ab"]
    reasoner = Timed(edits=complete(*queries, node("c", "a")))
    await play(reasoner, a_run(a_shelf("One tells of all.")), links=links)
    workspaces = {id: reasoner.desks_of[text(id)][0] for id in "abc"}
    left = {id: workspace.searches_left for id, workspace in workspaces.items()}
    assert left == {"a": NODE_SEARCHES - 1, "b": NODE_SEARCHES - 1, "c": NODE_SEARCHES}
    assert {workspace.pages_left for workspace in workspaces.values()} <= {
        NODE_PAGES - 1,
        NODE_PAGES,
    }
    assert [bool(workspace.sources) for workspace in workspaces.values()] == [True, True, False]
    whole = reasoner.desks_of[ASKED.text][0]
    assert whole.searches_left == 10
    assert {source.url for source in whole.sources} == set(links)


@in_virtual_time
async def test_what_no_other_needs_is_searched_for_the_question_itself() -> None:
    shelf = a_shelf("One tells of Ada all.", "Two tells of all.")
    leaves = [
        replace(node("b", "a"), queries=("[a] all", "[a] school years")),
        replace(node("c"), queries=("two",)),
    ]
    reasoner = Timed(
        edits=(GraphEdit((node("a"), *leaves), done=True),),
        endings={text("a"): replace(found(), answer="Ada")},
    )
    run = a_run(shelf)
    await explore(run, reasoner, ASKED, READING, searches=10)
    assert set(reasoner.asked) == {text("a"), ASKED.text}
    assert reasoner.asked[ASKED.text].queries == ("Ada all", "two", "Ada school years")
    [workspace] = reasoner.desks_of[ASKED.text]
    assert [result.query for result in workspace.results] == ["Ada all", "two", "Ada school years"]
    assert workspace.searches_left == 9
    states = {line.id: line.state for line in run.steps if line.kind == "node"}
    assert states == {"node-a": "done", "node-b": "done", "node-c": "done"}


@in_virtual_time
async def test_the_question_has_the_passages_that_its_parts_rest_on() -> None:
    class Carrying(Reader):
        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            turn = await super().next_turn(question, workspace, on_answer)
            [action] = turn.actions
            if question.text == text("a") and isinstance(action, Finish):
                return Turn((replace(action, carrying=workspace.sources[:1]),))
            return turn

    reasoner = Carrying(edits=complete(node("a"), node("b")), reads=(1, 2))
    run = reading_run(pages=24)
    evidence = await play(reasoner, run)
    first = reasoner.desks_of[ASKED.text][0]
    assert first.sources == reasoner.desks_of[text("a")][-1].sources[:1]
    last = reasoner.desks_of[ASKED.text][-1]
    assert {source.url for source in last.sources} <= {source.url for source in evidence.sources}


def reading_run(pages: int, count: int = 9) -> Run:
    shelf = a_shelf(*[f"Page {n} says fact {n} of {count}." for n in range(count)])
    return a_run(shelf, budget=replace(PLENTY, pages=pages))


@in_virtual_time
async def test_a_spent_share_is_told_to_the_model_and_no_spent_budget_to_the_asker() -> None:
    reasoner = Reader(edits=complete(*[node(id) for id in "abcd"]), reads=(1, 2, 3, 4, 5, 6))
    run = reading_run(pages=24)
    await explore(
        run,
        reasoner,
        replace(ASKED, queries=()),
        Reading(shown=8, page_tokens=200),
        searches=10,
    )
    last = reasoner.desks_of[text("a")][-1].turns[-1].outcomes[0].reads
    assert [read.note for read in last if read.source is None] == [
        "No more pages can be read: finish with what there is."
    ]
    assert run.usage.pages < 24
    assert list(run.notes) == []


# ---------------------------------------------------------------- what ends it


@pytest.mark.parametrize("error", [RunLost("gone"), StorageUnavailable("full")])
def test_a_lost_run_or_store_ends_all_at_once(error: FootnoteError) -> None:
    @in_virtual_time
    async def run() -> None:
        reasoner = Timed(
            edits=complete(node("a"), node("b")),
            seconds={text("b"): 100},
            endings={text("a"): error},
        )
        a = a_run()
        began = now()
        with pytest.raises(type(error)):
            await play(reasoner, a)
        assert now() - began == PLANNING + 1.0
        assert text("b") not in reasoner.ended
        assert {line.state for line in a.steps} == {"failed"}

    run()


@in_virtual_time
async def test_what_the_loop_over_the_question_raises_is_raised() -> None:
    away = ModelUnavailable("The model does not answer: try again.")
    reasoner = Timed(edits=complete(node("a")), endings={ASKED.text: away})
    run = a_run()
    with pytest.raises(ModelUnavailable):
        await play(reasoner, run)
    assert run.notes == [], "whoever takes over says it once"
    assert {line.id: line.state for line in run.steps} == {"node-a": "done", "node-z": "failed"}


@in_virtual_time
async def test_a_cancelled_run_leaves_no_task_and_no_open_line() -> None:
    run = a_run()
    reasoner = Timed(edits=complete(node("a"), node("b", "a")), seconds={text("a"): 50})
    work = asyncio.create_task(play(reasoner, run))
    await asyncio.sleep(PLANNING + 1)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert {line.state for line in run.steps} == {"failed"}
    assert len(asyncio.all_tasks()) == 1


@in_virtual_time
async def test_a_spent_budget_begins_nothing_more_and_is_said_once() -> None:
    run = a_run()

    class Spending(Timed):
        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            turn = await super().next_turn(question, workspace, on_answer)
            if question.text == text("a"):
                run.budget = replace(run.budget, model_calls=0)
                run.budget.check_model_call(run.usage)
            return turn

    reasoner = Spending(
        edits=(GraphEdit((node("a"), node("b"), node("c", "b"))),), seconds={text("b"): 3}
    )
    evidence = await play(reasoner, run)
    assert set(reasoner.begun) == {text("a"), text("b"), ASKED.text}
    whole = reasoner.asked[ASKED.text]
    assert [finding.text for finding in whole.known] == ["What is bbb? Yes."]
    assert whole.missing == (text("a"), text("c"))
    assert evidence.enough
    assert len(run.notes) == 1
    assert {line.id: line.state for line in run.steps} == {
        "node-a": "done",
        "node-b": "done",
        "node-c": "failed",
    }
    assert len(reasoner.planned) == 1


# ---------------------------------------------------------------- the plan that is shown


@in_virtual_time
async def test_nodes_are_lines_with_their_needs_and_states() -> None:
    run = a_run()
    reasoner = Timed(edits=complete(node("a"), node("b", "a")))
    seen: list[dict[str, str]] = []
    publish: Callable[[object], None] = lambda plan: seen.append(  # noqa: E731
        {line.id: line.state for line in run.steps}
    )
    run.publish = publish
    await play(reasoner, run)
    assert [(line.id, line.kind, line.title, line.needs) for line in run.steps] == [
        ("node-a", "node", text("a"), ()),
        ("node-b", "node", text("b"), ("node-a",)),
        ("node-z", "node", text("z"), ("node-a", "node-b")),
    ]
    assert seen[2] == {"node-a": "waiting", "node-b": "waiting", "node-z": "waiting"}
    assert {"node-a": "running", "node-b": "waiting", "node-z": "waiting"} in seen
    assert {"node-a": "done", "node-b": "running", "node-z": "waiting"} in seen
    assert {"node-a": "done", "node-b": "done", "node-z": "running"} in seen
    assert seen[-1] == {"node-a": "done", "node-b": "done", "node-z": "done"}


@in_virtual_time
async def test_what_was_refused_is_corrected_while_the_rest_is_worked_on() -> None:
    reasoner = Timed(
        edits=(
            GraphEdit((node("a"), node("b", "q"))),
            GraphEdit((node("b", "a"), node(LAST, "b")), done=True),
        ),
        seconds={text("a"): 5},
    )
    began = now()
    await play(reasoner)
    assert reasoner.begun[text("a")] == began + PLANNING == reasoner.planned[1]
    assert reasoner.begun[text("b")] == began + PLANNING + 5
    correcting = reasoner.graphs[1]
    assert correcting.turns[0].refused == ("b was not added: it needs q, which does not exist.",)
    assert [node.state for node in correcting.nodes] == ["waiting"], "not how far it is by now"


@in_virtual_time
async def test_a_plan_that_stays_wrong_goes_on_with_what_is_sound_of_it() -> None:
    wrong = GraphEdit((node("b", "q"),), done=True)
    reasoner = Timed(edits=(GraphEdit((node("a"), node("c", "a"), *wrong.nodes)), wrong))
    evidence = await play(reasoner)
    assert set(reasoner.begun) == {text("a"), ASKED.text}
    assert len(reasoner.planned) == 2
    assert evidence.enough


@pytest.mark.parametrize(
    "reasoner",
    [
        Timed(edits=(GraphEdit(problem="no JSON"), GraphEdit(problem="no JSON"))),
        Timed(edits=(GraphEdit(), GraphEdit(done=True))),
        Timed(edits=(GraphEdit((NewNode("a", ASKED.text),), done=True),)),
        Timed(edits=(GraphEdit((NewNode("a", "So what about all this?"),), done=True),)),
        Timed(planning={0: ModelBroken("nonsense")}),
    ],
    ids=["unreadable", "empty", "uncut", "reworded", "broken"],
)
def test_without_a_plan_the_question_itself_is_worked_on(reasoner: Timed) -> None:
    @in_virtual_time
    async def run() -> None:
        run = a_run()
        await play(reasoner, run)
        assert list(reasoner.asked) == [ASKED.text]
        assert reasoner.workspaces[0].searches_left == 10
        assert reasoner.workspaces[0].pages_left == PLENTY.pages
        assert run.steps == (), "no line for a part that is the whole"

    run()


@in_virtual_time
async def test_the_planner_extends_the_graph_when_all_has_ended() -> None:
    reasoner = Timed(
        edits=(
            GraphEdit((node("a"), node("b"))),
            GraphEdit((node("c", "a"),)),
            GraphEdit(done=True),
        ),
        seconds={text("b"): 7},
    )
    await play(reasoner)
    assert reasoner.planned[1] == reasoner.ended[text("b")]
    seen = reasoner.graphs[1].turns[-1]
    assert [(n.id, n.state, n.findings[0].text) for n in seen.ended] == [
        ("a", "done", "What is aaa? Yes."),
        ("b", "done", "What is bbb? Yes."),
    ]
    assert [n.id for n in reasoner.graphs[2].turns[-1].ended] == ["c"]
    assert len(reasoner.planned) == 3


@in_virtual_time
async def test_it_is_extended_three_times_at_most() -> None:
    edits = tuple(GraphEdit((node(chr(ord("a") + n)),)) for n in range(8))
    reasoner = Timed(edits=edits)
    await play(reasoner)
    assert len(reasoner.planned) == 1 + EXTENSIONS
    left = [graph.turns[-1].extensions_left for graph in reasoner.graphs[1:]]
    assert left == [2, 1, 0]


@in_virtual_time
async def test_what_is_missing_is_looked_for_by_the_question_and_not_planned_again() -> None:
    missing = Finish((Finding("Half of it."),), enough=False, missing=("the other half",))
    endings: tuple[tuple[Ending, tuple[str, ...]], ...] = (
        (missing, ("the other half",)),
        (Finish(), (text("a"),)),
        (ModelBroken("x"), (text("a"),)),
    )
    for ending, gaps in endings:
        reasoner = Timed(edits=complete(node("a"), node("b")), endings={text("a"): ending})
        evidence = await play(reasoner)
        assert len(reasoner.planned) == 1
        assert reasoner.asked[ASKED.text].missing == gaps
        assert evidence.enough, "by the word of the loop over the question"


NONSENSE = GraphEdit(problem="That was not valid JSON.")
REPEATED = GraphEdit((NewNode("y", text("a")),))


@pytest.mark.parametrize(
    ("edits", "planning"),
    [
        ((), {1: ModelUnavailable("away")}),
        ((), {1: BudgetSpent("Spent.")}),
        ((NONSENSE, NONSENSE), {}),
        ((REPEATED, REPEATED), {}),
        ((NONSENSE,), {2: ModelBroken("nonsense")}),
        ((GraphEdit(done=True, outgrown=True),), {}),
    ],
    ids=["away", "no budget", "unreadable", "refused", "broken when corrected", "outgrown"],
)
def test_a_planner_that_says_nothing_of_use_is_followed_by_the_question(
    edits: tuple[GraphEdit, ...], planning: dict[int, FootnoteError]
) -> None:
    reasoner = Timed(
        edits=(GraphEdit((node("a"), node("b"))), *edits),
        endings={text("b"): Finish((), enough=False, missing=("the year of b",))},
        planning=planning,
    )

    @in_virtual_time
    async def run() -> None:
        await play(reasoner)
        assert reasoner.asked[ASKED.text].missing == ("the year of b",)

    run()


@in_virtual_time
async def test_a_model_that_is_away_when_planning_begins_is_for_the_road() -> None:
    with pytest.raises(ModelUnavailable):
        await play(Timed(planning={0: ModelUnavailable("away")}))


@in_virtual_time
async def test_a_plan_that_cannot_be_extended_rests_on_what_there_is() -> None:
    for error in (ModelUnavailable("The model is away."), BudgetSpent("Spent.")):
        run = a_run()
        reasoner = Timed(edits=(GraphEdit((node("a"), node("b"))),), planning={1: error})
        evidence = await play(reasoner, run)
        assert len(reasoner.asked[ASKED.text].known) == 2
        assert evidence.enough
        assert run.notes == [f"{error.sentence} The answer uses what was found until then."]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelUnavailable("Away: try again."), "暂时无法连接模型。管理员可以查看原因。"),
        (CredentialsRefused("The key is wrong."), "暂时无法连接模型。管理员可以查看原因。"),
        (ModelRefused("It declined: ask otherwise."), "模型拒绝处理这个问题。请换一种问法。"),
        (ModelBroken("Nonsense: try again."), "模型的回复无法使用。请重试，或缩小问题的范围。"),
    ],
)
def test_why_a_part_failed_is_said_in_the_askers_language(
    error: FootnoteError, reason: str
) -> None:
    run = a_run(locale="zh-Hans")
    reasoner = Timed(edits=complete(node("a"), node("b")), endings={text("b"): error})

    @in_virtual_time
    async def work() -> None:
        await play(reasoner, run)

    work()
    assert list(run.notes) == [f"未能查明“{text('b')}”：{reason}"]
    details = {line.id: line.detail for line in run.steps}
    assert details == {"node-a": "", "node-b": reason, "node-z": ""}


def again(journal: MemoryJournal) -> MemoryJournal:
    """The state that the next attempt at the run finds."""
    return MemoryJournal(journal.shelved)


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("Away."), ModelRefused("No."), ModelBroken("?"), BudgetSpent("Spent.")],
)
def test_what_failed_fails_again_where_it_failed_before(error: FootnoteError) -> None:
    shelf = a_shelf(*[f"Page {n} says fact {n}." for n in range(4)])
    edits = complete(node("a"), node("b"), node("c", "a"))

    @in_virtual_time
    async def work() -> None:
        failing = Reader(edits=edits, endings={text("a"): error})
        first = a_run(shelf, journal := MemoryJournal())
        expected = await play(failing, first)
        healthy = Reader(edits=edits)
        resumed = a_run(shelf, again(journal))
        assert await play(healthy, resumed) == expected
        assert healthy.asked[text("c")] == failing.asked[text("c")]
        assert len(healthy.desks_of[text("a")]) == 2, "it is asked up to where it failed"
        assert resumed.sources == first.sources, "what it had read by then is there too"
        assert list(resumed.notes) == list(first.notes)
        assert resumed.usage.pages == first.usage.pages

    work()


@in_virtual_time
async def test_a_planner_that_could_not_extend_the_plan_does_not_on_the_next_attempt() -> None:
    edits = (GraphEdit((node("a"), node("b"))), GraphEdit((node("c"),), done=True))
    journal = MemoryJournal()
    away = Timed(edits=edits, planning={1: ModelUnavailable("Away.")})
    expected = await play(away, a_run(journal=journal))
    assert await play(Timed(edits=edits), a_run(journal=again(journal))) == expected


@in_virtual_time
async def test_an_edited_question_does_not_fail_because_the_earlier_one_did() -> None:
    journal = MemoryJournal()
    edits = complete(node("a"), node("b"))
    await play(Timed(edits=edits, endings={text("a"): ModelRefused("No.")}), a_run(journal=journal))
    edited = a_run(journal=again(journal))
    edited.now = NOW.replace(year=NOW.year + 1)
    assert (await play(Timed(edits=edits), edited)).enough


@in_virtual_time
async def test_who_is_begun_when_a_budget_runs_out_is_the_same_on_every_attempt() -> None:
    edits = complete(node("a"), node("b"), node("c", "a"), node("d", "b"))

    class Spending(Timed):
        """Spends the budget with the end of b."""

        run: Run

        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            turn = await super().next_turn(question, workspace, on_answer)
            if question.text == text("b"):
                self.run.budget = replace(self.run.budget, model_calls=0)
            return turn

    async def attempt(journal: MemoryJournal, **seconds: float) -> tuple[Spending, Evidence]:
        reasoner = Spending(edits=edits, seconds={text(id): of for id, of in seconds.items()})
        reasoner.run = a_run(journal=journal)
        return reasoner, await play(reasoner, reasoner.run)

    first, expected = await attempt(journal := MemoryJournal(), a=1, b=3, c=9)
    assert set(first.begun) == {text("a"), text("b"), text("c"), ASKED.text}
    # b is the first to end now: but c was begun, and what it found is paid for.
    second, evidence = await attempt(again(journal), a=4, b=1, c=9)
    assert set(second.begun) == set(first.begun)
    assert evidence == expected
    # And d was not, though there is budget left where it could begin.
    third = Timed(edits=edits)
    assert await play(third, a_run(journal=again(journal))) == expected
    assert text("d") not in third.begun
