"""The outline of a report that is made of the sections of pages."""

from __future__ import annotations

from bot.reasoning.evidence import Evidence
from bot.reasoning.extractive.report import draft
from bot.reasoning.questions import Rewritten
from tests.unit.reasoning.samples import a_page_read

QUESTION = Rewritten("search", "Which fee does a craft pay in the harbour?")


def test_the_columns_of_a_long_table_are_no_section() -> None:
    rows = "\n".join(f"| craft {n} | {n} kroner for each day in the harbour |" for n in range(40))
    text = (
        f"## Rates\n\n| craft | fee |\n|---|---|\n{rows}\n\n"
        "## Payment\n\nEach craft pays its fee at the office of the harbour."
    )
    drafted = draft(QUESTION, Evidence((a_page_read(1, "Fees", text),)))
    assert {each.heading for each in drafted} == {"Fees › Rates", "Fees › Payment"}
