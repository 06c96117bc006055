"""The bench of rewriting: what it counts, and a model asked, recorded and replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench import follow_ups
from tests.bench.rewriting import Turn, by_model, main, rouge_1, score
from tests.bench.rewriting_model import Replies
from tests.bench.rewriting_pages import WAYS, Documents, ranks
from tests.fakes.claude import FakeClaude
from tests.fakes.server import serve

TALK = [
    Turn("x/1_1", "What is throat cancer?", "What is throat cancer?"),
    Turn("x/1_2", "Is it treatable?", "Is throat cancer treatable?"),
    Turn("x/1_3", "Who was Ada Lovelace?", "Who was Ada Lovelace?"),
]
TALKS = [TALK]


@pytest.fixture
def claude(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClaude]:
    fake = FakeClaude()
    with serve(fake) as url:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        yield fake


@pytest.mark.parametrize(
    ("ours", "recall", "precision", "idle", "invented"),
    [
        ("Is throat cancer treatable?", 1.0, 1.0, 0.0, 0.0),
        ("Is it treatable?", 0.0, None, 0.0, None),
        ("Is throat disease in Spain treatable?", 0.5, 1 / 3, 2.0, 2 / 3),
    ],
)
def test_topic_words_are_counted(
    ours: str, recall: float, precision: float | None, idle: float, invented: float | None
) -> None:
    row = score("x", "way", TALKS, {"x/1_2": ours, "x/1_3": "Who was Ada Lovelace?"})
    assert (row.turns, row.recall, row.idle) == (1, recall, idle)
    assert row.precision == pytest.approx(precision)
    assert row.invented == pytest.approx(invented)
    assert (row.standalone, row.unchanged) == (1, 1.0)
    assert score("x", "way", TALKS, {"x/1_3": "who was she?"}).unchanged == 0.0


def test_rouge_counts_common_words() -> None:
    assert rouge_1("a b c", "a b c") == 1.0
    assert rouge_1("one two", "two three four five") == pytest.approx(2 / 6)
    assert rouge_1("one", "two") == 0.0


async def test_a_model_is_asked_through_the_real_rewriting_recorded_and_replayed(
    claude: FakeClaude, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "replies.jsonl"
    asked = await by_model(TALKS, None, file)
    assert len(claude.requests) == 2
    assert "2 of 2 turns rewritten, 2 calls made" in asked.remark
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {line["turn"] for line in lines} == {"x/1_2", "x/1_3"}
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    replayed = await by_model(TALKS, file, None)
    assert len(claude.requests) == 2
    assert (replayed.questions, replayed.label) == (asked.questions, asked.label)


async def test_a_transcript_may_give_questions_and_lacks_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    file = tmp_path / "questions.jsonl"
    question = "Is throat cancer treatable?"
    file.write_text(json.dumps({"turn": "x/1_2", "question": question}) + "\n\n")
    asked = await by_model(TALKS, file, None)
    assert asked.questions == {"x/1_2": question}
    assert "1 of 2 turns rewritten, 0 calls made" in asked.remark


@pytest.mark.parametrize("line", ["{", '{"turn": "x/1_2"}', '{"turn": "x", "question": 7}', "[]"])
def test_a_line_that_is_no_reply_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text(f"\n{line}\n")
    with pytest.raises(ValueError, match="line 2"):
        Replies.read(file)


@pytest.mark.shared
def test_the_table_has_a_row_for_the_model(
    claude: FakeClaude, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--set", "2019", "--limit", "1"])
    printed = capsys.readouterr().out
    assert f"CAsT 2019  {claude.requests[0].body['model']}" in printed
    assert "CAsT 2020" not in printed


def test_its_help_says_how_a_model_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    assert "--record" in printed
    assert '{"turn": "2019/31_4", "question":' in printed


# ---------------------------------------------------------------- pages found for a follow-up


async def test_a_follow_up_finds_its_page_by_the_topic_only(tmp_path: Path) -> None:
    pages = {
        "tower": ("Eiffel Tower", "The Eiffel Tower is 330 metres tall and stands in Paris."),
        "bridge": ("Forth Bridge", "The Forth Bridge is 110 metres tall and stands in Scotland."),
        "tall": ("Tall people", "How tall is tall? People are seldom tall."),
    }
    talk = follow_ups.Talk(
        "1", "pronoun", "tune", ("Where is the Forth Bridge?", "How tall is it?"), "bridge"
    )
    documents = Documents(tmp_path, pages)
    try:
        found = {name: (await ranks(documents, [talk], way))["1"] for name, way in WAYS.items()}
    finally:
        await documents.aclose()
    assert found["raw turn"] != 1
    assert found["closest passages"] == found["+ title if it leans"] == 1


@pytest.mark.shared
def test_conversations_end_on_a_page_and_keep_the_halves_apart() -> None:
    for talks, pages in (
        (follow_ups.english(), follow_ups.english_pages()),
        (follow_ups.chinese(), follow_ups.chinese_pages()),
    ):
        assert {talk.kind for talk in talks} == set(follow_ups.KINDS)
        assert all(talk.page in pages for talk in talks)
        halves = {half: {t.page for t in talks if t.half == half} for half in ("tune", "held")}
        assert halves["tune"].isdisjoint(halves["held"])
