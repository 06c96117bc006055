"""The check of a text: its statements, their passages, verdicts with and without a model."""

from __future__ import annotations

import pytest

from bot.core.errors import Invalid, StorageUnavailable
from bot.core.messages import Answer, RunOptions, Transcript
from bot.core.posting import Unseen
from bot.operation.configuration import load_settings
from bot.pages.passages import Passage
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import Statement, Verdict
from bot.reasoning.reasoner import Researcher
from bot.research.claims import excerpt
from bot.research.pipeline import Pipeline
from tests.fakes.library import a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.reasoning.samples import a_page_read
from tests.unit.research.conftest import OpenRun
from tests.unit.samples import a_message

CHECK = RunOptions(style="check")
SHELF = (
    "Eiffel Tower: it was completed in 1889 for the World's Fair in Paris.",
    "Lunch in the canteen costs 4 euros and is served from noon.",
)
RIGHT = "The Eiffel Tower was completed in 1889 for the World's Fair."
WRONG = "The Eiffel Tower was completed in 1887 for the World's Fair."
DEAR = "Lunch in the canteen costs 9 euros."
UNPROVEN = "The Eiffel Tower was completed by 300 men for the World's Fair in Paris."
UNKNOWN = "Apple was founded in 1976."


async def checked(open_run: OpenRun, text: str, reasoner: Researcher) -> Answer:
    run = await open_run(a_shelf(*SHELF), message=a_message(text), options=CHECK)
    fallback = Closest(run.calls)
    pipeline = Pipeline(run, reasoner, fallback, Transcript(), load_settings(), Unseen())
    return await pipeline.research()


def verdicts(answer: Answer) -> list[tuple[str, str]]:
    """Each verdict with its statement."""
    blocks = answer.text.split("\n\n")
    return [
        (blocks[at].strip("*"), block.removeprefix("> ").partition("\n")[0])
        for at, block in enumerate(blocks[1:])
        if block.startswith("> ") and blocks[at].startswith("**")
    ]


def states(*texts: str) -> Scripted:
    """A model that finds these statements and gives no verdicts."""
    return Scripted(stated=[Statement(text, text, (text,)) for text in texts])


async def test_without_a_verdict_statements_are_judged_by_their_facts(open_run: OpenRun) -> None:
    said = (RIGHT, WRONG, DEAR, UNPROVEN, UNKNOWN)
    answer = await checked(open_run, " ".join(said), states(*said))
    assert verdicts(answer) == [
        ("Supported", RIGHT),
        ("Contradicted", WRONG),
        ("Contradicted", DEAR),
        ("Nothing found", UNPROVEN),
        ("Nothing found", UNKNOWN),
    ]
    assert "Not in the sources: 300" in answer.text
    assert "1 supported, 2 contradicted, 2 with nothing found" in answer.text
    assert answer.doubts == ()
    assert any("1889" in citation.quote for citation in answer.citations)
    assert answer.status == "answered"


@pytest.mark.parametrize(
    ("verdict", "label"),
    [
        (Verdict("supported"), "Supported"),
        (Verdict("partly", "for the World's Fair"), "Partly supported"),
        (Verdict("contradicted", "1887"), "Contradicted"),
        (Verdict("not_supported", "1887"), "Nothing found"),
        (None, "Contradicted"),  # where the model says nothing the rules do
    ],
)
async def test_a_models_verdict_is_told_with_the_nearest_words(
    open_run: OpenRun, verdict: Verdict | None, label: str
) -> None:
    stated = [Statement("It was completed in 1887.", WRONG, ("Eiffel Tower",))]
    reasoner = Scripted(stated=stated, verdicts={WRONG: verdict} if verdict else {})
    answer = await checked(open_run, "It was completed in 1887.", reasoner)
    assert verdicts(answer) == [(label, "It was completed in 1887.")]
    assert "completed in 1889" in answer.text
    assert answer.doubts == ()


async def test_a_checked_text_is_not_verified_again(open_run: OpenRun) -> None:
    answer = await checked(open_run, f"{RIGHT} {WRONG}", states(RIGHT, WRONG))
    assert answer.verification is None


async def test_a_resumed_check_has_the_same_answer(open_run: OpenRun) -> None:
    first = await checked(open_run, f"{RIGHT} {WRONG} {UNKNOWN}", states(RIGHT, WRONG, UNKNOWN))
    again = await checked(open_run, f"{RIGHT} {WRONG} {UNKNOWN}", states(RIGHT, WRONG, UNKNOWN))
    assert (again.text, again.citations) == (first.text, first.citations)


TOWN = "Frome has 26,203 people. It has a college. Its seat is a castle."


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("Frome has 26,203 people.", "Frome has 26,203 people."),
        ("Frome is the seat of a college.", TOWN),
        ("The seat is a castle.", "Its seat is a castle."),
    ],
)
def test_a_quote_is_as_short_as_its_statement_allows(statement: str, shown: str) -> None:
    source = a_page_read(1, "Frome", TOWN)
    assert excerpt(statement, (source, Passage(0, len(TOWN), TOWN)))[1].text == shown


async def test_what_no_source_could_show_is_not_searched(open_run: OpenRun) -> None:
    reasoner = Scripted(stated=[Statement("I like it.", "The author likes it.")])
    answer = await checked(open_run, "I like it.", reasoner)
    assert verdicts(answer) == [("Not checkable", "I like it.")]
    assert answer.queries == ()
    assert answer.status == "not_found"


async def test_what_fails_below_is_raised_as_it_is_and_leaves_no_line_open(
    open_run: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*args: object, **options: object) -> None:
        raise StorageUnavailable("The database is away.")

    run = await open_run(a_shelf(*SHELF), message=a_message(f"{RIGHT} {WRONG}"), options=CHECK)
    monkeypatch.setattr(run, "search", away)
    fallback = Closest(run.calls)
    pipeline = Pipeline(
        run, states(RIGHT, WRONG), fallback, Transcript(), load_settings(), Unseen()
    )
    with pytest.raises(StorageUnavailable):
        await pipeline.research()
    assert {line.state for line in run.steps} == {"failed"}


async def test_a_text_that_states_nothing(open_run: OpenRun) -> None:
    answer = await checked(open_run, "Good morning! How are you?", states())
    assert "Nothing in this text can be checked" in answer.text


async def test_a_statement_in_markdown_is_shown_as_it_stands(open_run: OpenRun) -> None:
    said = "In 1999 **all** [links](https://evil.example) cost 3 €."
    answer = await checked(open_run, said, states(said))
    assert "](https://evil.example)" not in answer.text


async def test_without_a_model_nothing_is_checked(open_run: OpenRun) -> None:
    run = await open_run(a_shelf(*SHELF), message=a_message(RIGHT), options=CHECK)
    none = Closest(run.calls)
    pipeline = Pipeline(run, none, none, Transcript(), load_settings(), Unseen())
    with pytest.raises(Invalid, match="needs a language model"):
        await pipeline.research()
    assert run.usage.searches == 0
