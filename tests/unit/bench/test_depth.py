"""The depth bench: what it takes for the critical path, and that all its ways answer."""

from __future__ import annotations

import pytest

from tests.bench.depth import QUICK
from tests.bench.depth_brain import FINDING_WORDS, finding
from tests.bench.depth_path import chain, critical_path
from tests.bench.depth_peers import Call, peers
from tests.bench.depth_tasks import CHAIN, PARTS, TWO, Task, load_tasks, load_texts
from tests.bench.depth_ways import LAYERS, PLAIN, Measured, ways


def a_call(seconds: float, *rests_on: int, ended: float) -> Call:
    return Call("model", "think", ended - seconds, ended, seconds, list(rests_on))


def test_the_critical_path_is_the_longest_chain_to_the_last_call() -> None:
    calls = [
        a_call(3.0, ended=3.0),
        a_call(0.4, 0, ended=3.4),
        a_call(2.0, 0, ended=5.0),
        a_call(1.0, 1, 2, ended=6.0),
    ]
    assert chain(calls) == [(0, 3.0), (2, 2.0), (3, 1.0)]
    assert critical_path(calls) == 6.0


def test_what_a_call_waited_for_without_using_it_is_not_on_the_path() -> None:
    calls = [a_call(3.0, ended=3.0), a_call(5.0, ended=5.0), a_call(1.0, 0, ended=6.0)]
    assert critical_path(calls) == 4.0


def test_a_run_without_calls_has_no_path() -> None:
    assert critical_path([]) == 0.0


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_tasks(load_texts())


@pytest.mark.shared
def test_every_hop_comes_after_those_that_it_needs(tasks: list[Task]) -> None:
    assert {task.kind for task in tasks} == {TWO, CHAIN, PARTS}
    for task in tasks:
        seen: list[str] = []
        for part in task.parts:
            assert set(part.needs) <= set(seen), task
            seen.append(part.title)
        assert sum(map(len, task.layers)) == len(task.parts)
        assert (len(task.layers[0]) > 1) == (task.kind == PARTS)
        assert len(task.layers[-1]) == 1


@pytest.mark.shared
def test_a_page_proves_its_hop_only_by_a_sentence_of_the_gold_text(tasks: list[Task]) -> None:
    texts = load_texts()
    for part in [part for task in tasks for part in task.parts]:
        assert part.is_shown(f"…\n{texts[part.title]}\n§"), part
        assert not part.is_shown(f"{part.title}: {' '.join(part.fact.split()[:3])}"), part
        assert 0 < len(finding(part).split()) <= FINDING_WORDS


@pytest.mark.shared
async def test_every_way_shows_the_model_all_pages_that_the_question_needs(
    tasks: list[Task],
) -> None:
    task = next(task for task in tasks if task.kind == PARTS)
    compared = ways()
    with peers(QUICK, pages=50, trusting=False) as base:
        names = (PLAIN, LAYERS, "iterate", "graph", "revise")

        async def worked(name: str) -> Measured:
            async with compared[name](task, base, name.replace(" ", "-")) as work:
                return await work()

        measured = {name: await worked(name) for name in names}
    assert {name: m.recall for name, m in measured.items()} == dict.fromkeys(measured, 1.0)
    assert measured[PLAIN].calls <= len(task.parts) + 2  # a page may come unasked
    assert measured[PLAIN].cached == 0
    for name in ("iterate", "graph"):
        assert measured[name].billed * 3 < measured[PLAIN].billed
        assert 0 < measured[name].path < measured[name].wall
