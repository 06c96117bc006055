"""Questions of a data set as ``footnote eval`` reads them."""

from __future__ import annotations

from pathlib import Path

from bot.evaluation.questions import parse
from tests.bench.evaluation_set import as_yaml, write_pages

HANK = {
    "question": "How many: 35 or 36?",
    "answer": "35",
    "aliases": ["no", "thirty-five"],
    "gold": ["Hello Love (song)", "Tennessee"],
}


def test_a_question_expects_any_wording_of_its_answer_and_all_its_pages() -> None:
    [case] = parse(as_yaml([HANK]), "questions.yaml").cases
    [asked] = case.turns
    assert asked.question == "How many: 35 or 36?"
    assert asked.words == (("35", "no", "thirty-five"),)
    assert asked.pages == (("Hello Love (song)",), ("Tennessee",))
    assert asked.answer == "35"


def test_a_page_is_a_file_with_its_title_for_a_heading(tmp_path: Path) -> None:
    write_pages(tmp_path / "pages", {"Hello/Love (song)": "It is a song."})
    [file] = (tmp_path / "pages").iterdir()
    assert file.name == "00001-Hello-Love-song.md"
    assert file.read_text(encoding="utf-8") == "# Hello/Love (song)\n\nIt is a song.\n"
