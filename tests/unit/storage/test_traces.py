"""All that is kept of a run, read back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.messages import Answer, Citation
from bot.storage.archive import Traces
from bot.storage.store import Store
from tests.unit.samples import NOW, a_page
from tests.unit.storage.past import Past, pages


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)


@pytest.fixture
def traces(store: Store) -> Traces:
    return Traces(store)


async def test_a_run_is_read_back_with_everything_that_belongs_to_it(
    past: Past, traces: Traces
) -> None:
    await past.answered(cited=pages("other"))
    run_id = await past.answered(cited=pages("tower"), numbered=pages("city"), steps=2)
    await past.judged(run_id, "bob")
    kept = await traces.run(run_id)
    assert kept is not None
    assert kept.record.id == run_id
    assert kept.record.answer is not None
    assert kept.ended_at == NOW
    assert [(step.kind, step.attempt) for step in kept.steps] == [
        ("model", 1),
        ("model", 1),
        ("read", 1),
        ("read", 1),
    ]
    assert [(page.number, page.url) for page in kept.pages] == [
        (1, "https://example.org/tower"),
        (2, "https://example.org/city"),
    ]
    assert kept.feedback == {"bob": "good"}


async def test_only_quoted_pages_come_with_their_text(past: Past, traces: Traces) -> None:
    run_id = await past.answered(cited=pages("tower"), numbered=pages("city"))
    kept = await traces.run(run_id)
    assert kept is not None
    quoted, read = kept.pages
    assert quoted.text == "tower is 330 m tall."
    assert (read.text, read.characters) == (None, len("city is 330 m tall."))


async def test_a_page_is_read_whole_by_its_number(past: Past, traces: Traces) -> None:
    run_id = await past.answered(cited=pages("tower"), numbered=pages("city"))
    page = await traces.page(run_id, 2)
    assert page is not None
    assert page.text == "city is 330 m tall."
    assert await traces.page(run_id, 3) is None
    assert await traces.page("r99", 1) is None
    assert await traces.page(run_id, 1, "another hash") is None


async def test_a_page_that_changed_while_it_was_used_is_there_in_both_wordings(
    past: Past, traces: Traces
) -> None:
    run, journal = await past.begun()
    first = a_page(text="It is 324 m tall.")
    second = replace(first, text="It is 330 m tall.", hash="", fetched_at=NOW + timedelta(hours=1))
    await past.read(journal, first)
    await journal.number([first])
    await past.read(journal, replace(second, url=f"{second.url}#again"), second)
    await journal.number([second])
    cited = Citation(1, second.url, "Tower", second.text, second.hash, 0, len(second.text))
    await past.store.save_answer(
        run.id, run.attempt, Answer("answered", "[1]", "?", run.id, (cited,))
    )
    kept = await traces.run(run.id)
    assert kept is not None
    assert [(page.number, page.hash, page.text) for page in kept.pages] == [
        (1, first.hash, None),
        (1, second.hash, second.text),
    ]
    found = await traces.page(run.id, 1, second.hash)
    assert found is not None
    assert found.text == second.text


async def test_a_run_that_works_has_no_end_yet(past: Past, traces: Traces) -> None:
    run, journal = await past.begun()
    await past.read(journal, *pages("tower"))
    kept = await traces.run(run.id)
    assert kept is not None
    assert (kept.ended_at, kept.record.answer, len(kept.steps)) == (None, None, 1)


async def test_there_is_no_run_that_nobody_asked_for(traces: Traces) -> None:
    assert await traces.run("r1") is None
