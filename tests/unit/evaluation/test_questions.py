"""Files of questions: what may be written, and the sentence for what may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.eval import SAMPLE
from bot.errors import Invalid
from bot.evaluation import questions
from bot.evaluation.questions import CaseTurn, load_questions, parse

WHOLE = """
# A comment.
- question: Who approves
    travel?
  words: Keller
  page: travel.md
  answer: Maria Keller.
- When is lunch?
- question: And keys?
  words: [90, [days, nights]]
  page: [[a.md, b.md], c.md]
  followups:
    - By whom?
    - question: Since when?
      refuse: yes
"""


def test_everything_that_may_be_written() -> None:
    found = parse(WHOLE, "q.yaml")

    assert [case.number for case in found.cases] == [1, 2, 3]
    assert found.cases[0].turns == (
        CaseTurn("Who approves travel?", 3, (("Keller",),), (("travel.md",),), "Maria Keller."),
    )
    assert found.cases[1].turns == (CaseTurn("When is lunch?", 8),)
    keys, by_whom, since = found.cases[2].turns
    assert keys.words == (("90",), ("days", "nights"))
    assert keys.pages == (("a.md", "b.md"), ("c.md",))
    assert (by_whom.question, since.question, since.refuse) == ("By whom?", "Since when?", True)
    assert found.cases[2].texts == ("And keys?", "By whom?", "Since when?")
    assert [found.cases[2].name(turn) for turn in range(3)] == ["3", "3.1", "3.2"]
    assert (found.size, found.followups) == (5, 2)


@pytest.mark.parametrize("written", ["no", "1:30", "2019-03-01", "0x10", "1e3", "null", "~", "on"])
def test_a_value_is_taken_as_it_is_written(written: str) -> None:
    """YAML 1.1 would make a boolean, 90 minutes, a date, 16, 1000.0 and nothing of these."""
    found = parse(f"- question: What?\n  words: {written}\n", "q.yaml")
    assert found.cases[0].turns[0].words == ((written,),)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 0, "holds no questions"),
        ("[]", 0, "holds no questions"),
        ("question: What?", 1, "must be a list"),
        ("- question: What?\n  wrods: a", 2, 'did you mean "words"?'),
        ("- words: a", 1, '"question" is missing'),
        ("- question: What?\n  question: Who?", 2, "stands here twice"),
        ("- question:\n  words: a", 1, '"question" is empty'),
        ("- question: '...'\n", 1, "write what you want to know"),
        ("- question: What?\n  words: []", 2, '"words" is empty'),
        ("- question: What?\n  words: {a: b}", 2, "must be a text or a list"),
        ("- question: What?\n  words: [[a, [b]]]", 2, "must be a text here"),
        ("- question: What?\n  words: '**'", 2, "nothing to look for"),
        ("- question: What?\n  refuse: perhaps", 2, "must be true or false"),
        ("- question: What?\n  refuse: true\n  page: a.md", 3, 'has no "page"'),
        ("- question: What?\n  followups: Who?", 2, "must be a list"),
        (
            "- question: A?\n  followups:\n    - question: B?\n      followups: [C]",
            4,
            "of its own",
        ),
        ("- What?\n- Who?\n- What?", 3, "stands on line 1"),
        ("- [a, b]", 1, 'has the key "question"'),
        ("- question: Who: me?", 1, "into quotes"),
        ('- question: "Who?\n  words: a\n', 1, "check quotes"),
        ("- What?\n\x07", 2, "control character"),
        ("- What?\n---\n- Who?", 2, "not valid YAML"),
        ("- &a [*a]", 1, 'has the key "question"'),
        ("- !!python/object:os.system {question: What, x: y}", 1, '"x" is not known'),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(text, "q.yaml")

    sentence = caught.value.sentence
    assert said in sentence
    assert sentence.startswith(f"q.yaml, line {line}: " if line else "q.yaml ")
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence


def test_a_file_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(Invalid, match="nested too deeply"):
        parse("[" * 1_500, "q.yaml")


YAMLISH = st.text(st.sampled_from("- :\n'\"[]{}&*!|>#%@`,?~abcquestionwords\t\u2028")) | st.text()


def problem_of(text: str) -> str:
    """The problem of a file, or "" where all its questions can be asked."""
    try:
        found = parse(text, "q.yaml")
    except Invalid as error:
        return error.sentence
    assert all(turn.question.strip() for case in found.cases for turn in case.turns)
    return ""


@given(YAMLISH)
def test_any_text_gives_questions_or_one_sentence(text: str) -> None:
    assert re.fullmatch(r"(q\.yaml(, line \d+:)? .+)?", problem_of(text))


LINES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(st.lists(LINES.filter(lambda text: any(map(str.isalnum, text))), min_size=1, unique=True))
def test_quoted_questions_come_out_as_they_went_in(asked: list[str]) -> None:
    quoted = ["'" + text.replace("'", "''") + "'" for text in asked]
    found = parse("\n".join(f"- question: {text}" for text in quoted), "q.yaml")
    assert [case.texts for case in found.cases] == [(text,) for text in asked]


def test_a_file_that_is_not_there_not_a_file_too_large_or_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "q.yaml"
    with pytest.raises(Invalid, match="There is no file"):
        load_questions(file)
    with pytest.raises(Invalid, match="cannot be read"):
        load_questions(tmp_path)
    file.write_bytes(b"- What?\n- \xff\n")
    with pytest.raises(Invalid, match="line 2: this is not UTF-8"):
        load_questions(file)
    monkeypatch.setattr(questions, "LARGEST", 10)
    with pytest.raises(Invalid, match="larger than 10 bytes"):
        load_questions(file)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "q.yaml"
    file.write_bytes("- What?\n".encode("utf-8-sig"))
    assert load_questions(file).cases[0].texts == ("What?",)


def test_the_sample_shows_every_key() -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    assert load_questions(SAMPLE).followups >= 1
    assert all(f"{key}:" in text for key in questions.KEYS)
