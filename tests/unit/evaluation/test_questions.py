"""Files of questions: what may be written, and the sentence for what may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.eval import SAMPLE
from bot.core.errors import Invalid
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
        CaseTurn("Who approves travel?", (("Keller",),), (("travel.md",),), "Maria Keller."),
    )
    assert found.cases[1].turns == (CaseTurn("When is lunch?"),)
    keys, by_whom, since = found.cases[2].turns
    assert keys.words == (("90",), ("days", "nights"))
    assert keys.pages == (("a.md", "b.md"), ("c.md",))
    assert (by_whom.question, since.question, since.refuse) == ("By whom?", "Since when?", True)
    assert found.cases[2].texts == ("And keys?", "By whom?", "Since when?")
    assert [found.cases[2].name(turn) for turn in range(3)] == ["3", "3.1", "3.2"]
    assert found.size == 5


@pytest.mark.parametrize("written", ["no", "1:30", "2019-03-01", "0x10", "1e3", "null", "~", "on"])
def test_a_value_is_taken_as_it_is_written(written: str) -> None:
    """YAML 1.1 would make a boolean, 90 minutes, a date, 16, 1000.0 and nothing of these."""
    found = parse(f"- question: What?\n  words: {written}\n", "q.yaml")
    assert found.cases[0].turns[0].words == ((written,),)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "", "holds no questions"),
        ("[]", "", "holds no questions"),
        ("question: What?", "", "holds no questions"),
        ("- What?\n- words: a", ", question 2", 'has the key "question"'),
        ("- question: ''", ", question 1", "question"),
        ("- question: What?\n  wrods: a", ", question 1 (“What?”)", '"wrods" is not known here'),
        ("- question: What?\n  words: ''", ", question 1 (“What?”)", '"words" must be a text'),
        ("- question: What?\n  words: []", ", question 1 (“What?”)", '"words" must be a text'),
        ("- question: What?\n  words: [[]]", ", question 1 (“What?”)", '"words" must be a text'),
        ("- question: What?\n  page: {a: b}", ", question 1 (“What?”)", '"page" must be a text'),
        ("- question: What?\n  words: '*|'", ", question 1 (“What?”)", '"words" must be a text'),
        ("- question: What?\n  answer: [a]", ", question 1 (“What?”)", '"answer" must be a text'),
        ("- question: What?\n  refuse: perhaps", ", question 1 (“What?”)", "true or false"),
        ("- question: What?\n  refuse: true\n  page: a.md", ", question 1 (“What?”)", "nothing"),
        ("- question: What?\n  followups: Who?", ", question 1 (“What?”)", "must be a list"),
        (
            "- question: A?\n  followups:\n    - question: B?\n      followups: [C]",
            ", question 1 (“A?”), follow-up 1 (“B?”)",
            '"followups" is not known here',
        ),
        ("- What?\n- Who?\n- What?", ", question 3", "the same as 1"),
        ("- [a, b]", ", question 1", 'has the key "question"'),
        ("- question: Who: me?", ", line 1", "into quotes"),
        ('- question: "Who?\n  words: a\n', ", line", "check quotes"),
        ("- What?\n\x07", "", "is not YAML"),
        ("- What?\n---\n- Who?", ", line 2", "not YAML"),
        ("- &a [*a]", ", line 1", "recursive"),
        ("- !!python/object:os.system {question: What, x: y}", ", question 1", '"x" is not known'),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(text, "q.yaml")

    sentence = caught.value.sentence
    assert said in sentence
    assert sentence.startswith(f"q.yaml{place}")
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence


def test_a_file_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(Invalid, match="is not YAML"):
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
    assert re.fullmatch(r"(q\.yaml(, (line|question) \d+.*:)? .+)?", problem_of(text))


LINES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(st.lists(LINES.filter(lambda text: any(map(str.isalnum, text))), min_size=1, unique=True))
def test_quoted_questions_come_out_as_they_went_in(asked: list[str]) -> None:
    quoted = ["'" + text.replace("'", "''") + "'" for text in asked]
    found = parse("\n".join(f"- question: {text}" for text in quoted), "q.yaml")
    assert [case.texts for case in found.cases] == [(text,) for text in asked]


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    file = tmp_path / "q.yaml"
    for path in (file, tmp_path):
        with pytest.raises(Invalid, match="cannot be read"):
            load_questions(path)
    file.write_bytes(b"- What?\n- \xff\n")
    with pytest.raises(Invalid, match="is not UTF-8"):
        load_questions(file)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "q.yaml"
    file.write_bytes("- What?\n".encode("utf-8-sig"))
    assert load_questions(file).cases[0].texts == ("What?",)


def test_the_sample_shows_every_key() -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    found = load_questions(SAMPLE)
    assert found.size > len(found.cases)
    assert all(f"{key}:" in text for key in questions.KEYS)
