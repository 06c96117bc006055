"""The strategies direct and iterate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from bot.core.messages import Transcript
from bot.operation.configuration import load_settings
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import (
    Action,
    AnswerDelta,
    CitationDelta,
    Evidence,
    Finding,
    Finish,
    Malformed,
    Outcome,
    Read,
    Reply,
    Restart,
    Rewritten,
    Search,
    Source,
    SubQuestion,
    TextDelta,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import OnAnswer
from bot.research.pipeline import Pipeline
from bot.research.strategies import EMPTY_NUDGE, FULL, LAST_NUDGE, direct, iterate
from bot.research.working_set import FIRST_QUERIES, Reading, WorkspaceKeeper
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.poster import Streamed
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import BUDGET, OpenRun

FACTS = ("Eiffel tower is 330 m tall.", "The tower was built by Gustave Eiffel.")
SAID = "It is 330 m tall."


def an_answer(source: Source) -> tuple[AnswerDelta, ...]:
    passage = source.passages[0]
    return (TextDelta(SAID, opens=True), CitationDelta(source.number, passage.start, passage.end))


@dataclass
class Answering(Scripted):
    """Answers from the first page it sees; with ``taken_back`` it calls a tool after all."""

    taken_back: bool = False
    opens: int = 2
    told: list[bool] = field(default_factory=list)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        self.told.append(workspace.may_reply)
        deltas = an_answer(workspace.sources[0])
        if on_answer is not None:
            for delta in deltas:
                on_answer(delta)
            if self.taken_back:
                on_answer(Restart())
        return Turn((Finish(),)) if self.taken_back else Turn((Reply(deltas),))


async def the_road(open_run: OpenRun, reasoner: Scripted, shown: list[str]) -> Pipeline:
    reasoner.rewritten = Rewritten("search", "How tall is the tower?", queries=("eiffel tower",))
    run = await open_run(a_shelf(*FACTS))
    settings = load_settings()
    return Pipeline(
        run, reasoner, Closest(run.calls), Transcript(), settings, Streamed(shown.append)
    )


async def test_it_is_shown_as_it_comes_and_no_other_is_written(open_run: OpenRun) -> None:
    reasoner, shown = Answering(), list[str]()
    answer = await (await the_road(open_run, reasoner, shown)).research()
    assert answer.status == "answered"
    assert answer.text == "It is 330 m tall [1]."
    assert [citation.url for citation in answer.citations] == ["https://example.org/1"]
    assert reasoner.evidence == []  # no writer was called
    assert shown[0] == SAID


async def test_a_resumed_run_has_the_same_answer(open_run: OpenRun) -> None:
    """The whole turn comes from the journal then: nothing is told while it is made."""
    first = await (await the_road(open_run, Answering(), [])).research()
    again = await (await the_road(open_run, Answering(), [])).research()
    assert (again.text, again.citations) == (first.text, first.citations)


async def test_what_was_taken_back_is_written_from_the_evidence(open_run: OpenRun) -> None:
    reasoner, shown = Answering(taken_back=True), list[str]()
    answer = await (await the_road(open_run, reasoner, shown)).research()
    assert answer.status == "answered"
    assert len(reasoner.evidence) == 1
    assert shown[: shown.index("") + 1][-1] == ""


@pytest.mark.parametrize("named", [1, 0])
@pytest.mark.parametrize("missing", [(), ("its colour",)])
async def test_the_writer_gets_what_was_named_and_all_only_if_nothing_was(
    open_run: OpenRun, missing: tuple[str, ...], named: int
) -> None:
    found = (Finding("The tower of 1889 is meant.", (1,)),)

    @dataclass
    class Naming(Scripted):
        opens: int = 2

        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            carrying = workspace.sources[:named]
            return Turn((Finish(found, not missing, missing, carrying=carrying),))

    reasoner = Naming()
    answer = await (await the_road(open_run, reasoner, [])).research()
    assert (answer.status, answer.missing) == ("partial" if missing else "answered", missing)
    [evidence] = reasoner.evidence
    assert [source.title for source in evidence.sources] == ["Eiffel", "The"][: named or 2]
    assert evidence.findings == found


QUESTION = SubQuestion("How tall is the tower?")
READING = Reading(shown=2, page_tokens=200)
TEXTS = ("Tower one.", "Tower two.", "Tower three.", "Tower four.", "Tower five.", "Bridge.")


async def play(
    open_run: OpenRun, shelf: Shelf, *turns: Sequence[Action], searches: int = 5, **options: object
) -> tuple[Evidence, Workspace, Scripted]:
    """Run the loop over scripted turns; gives the evidence and the last workspace that was seen."""
    reasoner = Scripted(turns)
    run = await open_run(shelf)
    evidence = await iterate(run, reasoner, QUESTION, READING, searches=searches, **options)  # type: ignore[arg-type]
    return evidence, reasoner.workspaces[-1], reasoner


def outcomes(workspace: Workspace) -> list[Outcome]:
    return [outcome for turn in workspace.turns for outcome in turn.outcomes]


def shown(outcome: Outcome) -> list[list[int]]:
    return [[hit.number for hit in query.hits] for query in outcome.queries]


async def test_hits_are_numbered_over_the_whole_desk_and_a_page_keeps_its_number(
    open_run: OpenRun,
) -> None:
    _, workspace, _ = await play(
        open_run,
        a_shelf(*TEXTS),
        [Search(("tower one", "bridge"))],
        [Search(("tower two bridge",))],
    )
    first, second = outcomes(workspace)
    assert shown(first) == [[1, 2], [3]]
    assert shown(second) == [[2, 1]] or shown(second) == [[2, 3]]


async def test_read_pages_become_sources_in_the_order_asked(open_run: OpenRun) -> None:
    evidence, workspace, _ = await play(
        open_run, a_shelf(*TEXTS), [Search(("tower",))], [Read((2, 1), "a")]
    )
    reads = outcomes(workspace)[1].reads
    assert [(r.number, r.source.number if r.source else None) for r in reads] == [(2, 1), (1, 2)]
    assert [source.number for source in evidence.sources] == [1, 2]
    assert evidence.sources[0].passages[0].text == "Tower two."


async def test_a_hit_that_was_read_says_so_when_it_is_found_again(open_run: OpenRun) -> None:
    _, workspace, _ = await play(
        open_run, a_shelf(*TEXTS), [Search(("bridge",))], [Read((1,))], [Search(("bridge walls",))]
    )
    hit = outcomes(workspace)[2].queries[0].hits[0]
    assert (hit.number, hit.page) == (1, 1)


async def test_a_near_repeat_is_told_and_gets_the_next_results(open_run: OpenRun) -> None:
    shelf = a_shelf(*TEXTS)
    _, workspace, _ = await play(
        open_run,
        shelf,
        [Search(("the tower",))],
        [Search(("tower", "Towers?"))],
        [Search(("towers",))],
    )
    first, second, third = outcomes(workspace)
    assert shown(first) == [[1, 2]]
    assert shown(second) == [[3, 4], [5]]
    assert shown(third) == [[]]
    notes = [query.note for outcome in (second, third) for query in outcome.queries]
    assert notes == [
        'Nearly the same as "the tower"; these are its next results.',
        'Nearly the same as "the tower"; these are its next results.',
        'Nearly the same as "the tower"; it has no further results.',
    ]
    assert shelf.searched == ["the tower"]


async def test_two_searches_of_one_turn_that_ask_the_same_are_one_search(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf(*TEXTS)
    _, workspace, _ = await play(
        open_run, shelf, [Search(("tower",), "a"), Search(("the tower",), "b")]
    )
    assert shelf.searched == ["tower"]
    assert [shown(outcome) for outcome in outcomes(workspace)] == [[[1, 2]], [[3, 4]]]


async def test_an_empty_result_and_a_failed_search_say_so(open_run: OpenRun) -> None:
    shelf = replace(a_shelf(*TEXTS), broken=frozenset({"closed"}))
    _, workspace, _ = await play(open_run, shelf, [Search(("zebra", "closed"))])
    assert [query.note for query in outcomes(workspace)[0].queries] == [
        "Nothing was found.",
        "No search provider answers: shelf is closed.",
    ]
    assert workspace.searches_left == 4


async def test_a_search_that_failed_is_no_answer_and_can_be_made_again(open_run: OpenRun) -> None:
    shelf = replace(a_shelf(*TEXTS), broken=frozenset({"tower"}))
    mended = [Search(("bridge",)), Search(("tower",))], [Search(("tower",))]
    run = await open_run(shelf)
    keeper = WorkspaceKeeper(run, QUESTION, Workspace(searches_left=5), READING)
    for actions in mended:
        await keeper.carry_out(Turn(tuple(actions)))
        shelf.broken = frozenset()
    assert shelf.searched == ["bridge", "tower", "tower"]
    assert [outcome.unanswered for outcome in outcomes(keeper.workspace)] == [False, True, False]
    assert [hit.number for hit in outcomes(keeper.workspace)[2].queries[0].hits]
    assert keeper.workspace.searches_left == 3  # the one that failed is not counted


async def test_when_nothing_can_be_searched_no_turn_is_spent(open_run: OpenRun) -> None:
    reasoner = Scripted([[Search(("tower",))]])
    run = await open_run(replace(a_shelf(*TEXTS), broken=frozenset({"tower"})))
    question = replace(QUESTION, queries=("tower",))
    evidence = await iterate(run, reasoner, question, READING, searches=5)
    assert (reasoner.workspaces, evidence.sources) == ([], ())
    assert run.unanswered == "No search provider answers: shelf is closed."


async def test_reading_again_shows_only_what_was_not_shown(open_run: OpenRun) -> None:
    long = "Tower. " + "\n\n".join(
        f"Paragraph {n} says that the tower is {n} metres tall. " + "Much more is said. " * 12
        for n in range(12)
    )
    evidence, workspace, _ = await play(
        open_run, a_shelf(long), [Search(("tower",))], [Read((1,))], [Read((1,))]
    )
    _, first, second = outcomes(workspace)
    spans = [
        {(p.start, p.end) for p in outcome.reads[0].source.passages}
        for outcome in (first, second)
        if outcome.reads[0].source
    ]
    assert len(spans) == 2
    assert spans[0] & spans[1] == set()
    assert {(p.start, p.end) for p in evidence.sources[0].passages} == spans[0] | spans[1]


async def test_a_page_without_anything_new_says_so(open_run: OpenRun) -> None:
    _, workspace, _ = await play(
        open_run, a_shelf("Tower."), [Search(("tower",))], [Read((1,))], [Read((1,))]
    )
    assert outcomes(workspace)[2].reads[0].note == "All of it that fits the question was shown."


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (Malformed("queries must be a list", "x"), "queries must be a list"),
        (Finish(id="x"), "Finish alone, after you have seen the results of this turn."),
    ],
)
async def test_what_cannot_be_done_is_answered(
    open_run: OpenRun, action: Action, problem: str
) -> None:
    _, workspace, _ = await play(open_run, a_shelf(*TEXTS), [Search(("tower",), "s"), action])
    search, refused = outcomes(workspace)
    assert (search.action, search.problem) == ("s", "")
    assert (refused.action, refused.problem) == ("x", problem)


async def test_an_unknown_hit_is_answered_and_the_others_are_read(open_run: OpenRun) -> None:
    _, workspace, _ = await play(open_run, a_shelf(*TEXTS), [Search(("tower",))], [Read((1, 47))])
    known, unknown = outcomes(workspace)[1].reads
    assert known.source is not None
    assert unknown.note == "There is no hit 47."


async def test_searches_beyond_the_limit_are_refused(open_run: OpenRun) -> None:
    shelf = a_shelf(*TEXTS)
    _, workspace, _ = await play(
        open_run, shelf, [Search(("tower",)), Search(("bridge",))], [Search(("five",))], searches=2
    )
    assert workspace.searches_left == 0
    assert outcomes(workspace)[2].problem == "No searches are left: read, or finish."
    assert shelf.searched == ["tower", "bridge"]


async def test_pages_beyond_the_budget_are_refused_but_known_ones_are_shown(
    open_run: OpenRun,
) -> None:
    reasoner = Scripted([[Search(("tower", "bridge"))], [Read((1, 2))], [Read((3, 1))]])
    run = await open_run(a_shelf(*TEXTS), replace(BUDGET, pages=2))
    await iterate(run, reasoner, QUESTION, READING, searches=5)
    refused, known = outcomes(reasoner.workspaces[-1])[2].reads
    assert refused.note == "No more pages can be read: finish with what there is."
    assert known.note == "All of it that fits the question was shown."


async def test_findings_end_the_loop_and_reach_the_evidence(open_run: OpenRun) -> None:
    finish = Finish((Finding("330 m", (1,)),), enough=False, missing=("the year",))
    evidence, _, reasoner = await play(open_run, a_shelf(*TEXTS), [Search(("tower",))], [finish])
    assert evidence.findings == finish.findings
    assert (evidence.enough, evidence.missing) == (False, ("the year",))
    assert evidence.queries == ("tower",)
    assert len(reasoner.workspaces) == 2


async def test_an_empty_turn_is_nudged_once_and_then_ends_the_loop(open_run: OpenRun) -> None:
    _, workspace, reasoner = await play(open_run, a_shelf(*TEXTS), [Search(("tower",))], [], [])
    assert [turn.nudge for turn in workspace.turns] == ["", EMPTY_NUDGE]
    assert len(reasoner.workspaces) == 3


async def test_a_loop_that_never_finishes_is_ended(open_run: OpenRun) -> None:
    turns: list[list[Action]] = [[Read((number,))] for number in range(50)]
    _, workspace, reasoner = await play(open_run, a_shelf(*TEXTS), *turns, searches=2)
    assert len(reasoner.workspaces) == 8
    assert workspace.turns[-1].nudge == LAST_NUDGE


async def test_a_loop_that_has_seen_much_is_asked_to_end(open_run: OpenRun) -> None:
    filler = "A line about it, and another.\n\n" * (FULL // 6)
    turns: list[list[Action]] = [[Search(("tower",))], [Read((1,))], [Read((2,))], [Finish()]]
    reasoner = Scripted(turns)
    run = await open_run(a_shelf(f"Tower one. {filler}", f"Tower two. {filler}"))
    wide = replace(READING, page_tokens=2 * FULL)
    await iterate(run, reasoner, QUESTION, wide, searches=5)
    workspace = reasoner.workspaces[-1]
    assert [turn.nudge for turn in workspace.turns] == ["", "", LAST_NUDGE]


async def test_a_spent_budget_ends_the_loop_with_what_was_found(open_run: OpenRun) -> None:
    class Spending(Scripted):
        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            if len(workspace.turns) == 2:
                run.budget.check_model_call(replace(run.usage, usd=5.0))
            return await super().next_turn(question, workspace, on_answer)

    run = await open_run(a_shelf(*TEXTS))
    reasoner = Spending([[Search(("tower",))], [Read((1,))]])
    evidence = await iterate(run, reasoner, QUESTION, READING, searches=5)
    assert [source.number for source in evidence.sources] == [1]
    assert run.notes == [
        "The budget of 1.00 USD was spent. The answer uses what was found until then."
    ]


async def test_links_are_read_before_the_first_turn(open_run: OpenRun) -> None:
    _, _, reasoner = await play(open_run, a_shelf(*TEXTS), links=["https://example.org/3"])
    (given,) = reasoner.workspaces[0].given
    assert [read.source.title for read in given.reads if read.source] == ["Tower"]


async def test_what_the_rewrite_suggests_is_searched_before_the_first_turn(
    open_run: OpenRun,
) -> None:
    shelf, reasoner = a_shelf(*TEXTS), Scripted()
    queries = ("tower one", "bridge", "five", "four", "two", "six", "seven", "eight", "nine")
    question = replace(QUESTION, queries=queries)
    await iterate(await open_run(shelf), reasoner, question, READING, searches=5)
    workspace = reasoner.workspaces[0]
    assert shelf.searched == list(queries[:FIRST_QUERIES])
    assert [result.query for result in workspace.results] == shelf.searched
    assert workspace.searches_left == 4


async def test_a_replayed_loop_sees_the_same_desk(open_run: OpenRun) -> None:
    turns: list[list[Action]] = [
        [Search(("tower", "bridge"))],
        [Read((2, 3)), Search(("five",))],
        [Read((1, 9))],
    ]
    shelf = a_shelf(*TEXTS)
    first = await play(open_run, shelf, *turns)
    counted = (list(shelf.searched), list(shelf.read_urls))
    again = await play(open_run, shelf, *turns)
    assert (again[0], again[1]) == (first[0], first[1])
    assert (shelf.searched, shelf.read_urls) == counted


async def test_direct_reads_the_best_pages_of_all_queries(open_run: OpenRun) -> None:
    shelf = a_shelf(*TEXTS)
    run = await open_run(shelf)
    question = replace(QUESTION, queries=("tower two", "bridge"))
    evidence = await direct(run, question, READING)
    assert {source.title for source in evidence.sources} == {"Tower", "Bridge."}
    assert shelf.searched == ["tower two", "bridge"]


async def test_direct_reads_the_links_and_searches_nothing(open_run: OpenRun) -> None:
    shelf = a_shelf(*TEXTS)
    links = ["https://example.org/4", "https://example.org/none"]
    evidence = await direct(await open_run(shelf), QUESTION, READING, links=links)
    assert [source.url for source in evidence.sources] == ["https://example.org/4"]
    assert shelf.searched == []


async def test_direct_may_leave_out_what_does_not_fit(open_run: OpenRun) -> None:
    shelf = a_shelf("Wenne rises near Obringhausen.", "Batista rises to power.", "Fall of a river.")
    question = replace(QUESTION, text="Where does the Wenne rise?", queries=("Wenne rises",))
    every = await direct(await open_run(shelf), question, READING)
    assert len(every.sources) > 1
    fit = await direct(await open_run(shelf), question, READING, choosy=True)
    assert [source.title for source in fit.sources] == ["Wenne"]
    linked = ["https://example.org/3"]
    fit = await direct(await open_run(shelf), question, READING, links=linked, choosy=True)
    assert {source.title for source in fit.sources} == {"Wenne", "Fall"}


async def test_direct_keeps_all_where_nothing_fits(open_run: OpenRun) -> None:
    shelf = a_shelf("Batista rises to power.", "Quinces rise.")
    question = replace(QUESTION, text="Who paints quilts in Oslo?", queries=("rises paints Oslo",))
    found = await direct(await open_run(shelf), question, READING, choosy=True)
    assert found.sources
