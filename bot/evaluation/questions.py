"""YAML files of questions with expectations of their answers.

The file is a list; each item is a question, or a mapping with these keys:

    question    what is asked (must be there)
    words       words that must stand in the answer
    page        a page that must be among its sources: an address, the end of one, or a title
    answer      the expected answer, for --judge
    refuse      true: it must not be answered
    followups   questions asked after it in the same thread, each an item like this one

``words`` and ``page`` may be lists: each item is required; of a nested list, one item is enough.
Values are read as text, never as YAML's numbers, dates or booleans: ``no`` is the word "no"
(https://yaml.org/spec/1.2.2/, section 10.1, the failsafe schema).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot.core.errors import Invalid, InvalidQuestion
from bot.core.lines import shortened
from bot.core.messages import clean_question

KEYS = ("question", "words", "page", "answer", "refuse", "followups")
FLAGS = {"true": True, "yes": True, "false": False, "no": False}
MARKS = str.maketrans("", "", "`*|")  # Markdown, of which expected words do not consist
NAMED = 60  # characters of a question in an error

Groups = tuple[tuple[str, ...], ...]
"""Each group is required; one of its items is enough."""


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """A question and the expectations of its answer."""

    question: str
    words: Groups = ()
    pages: Groups = ()
    answer: str = ""
    refuse: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A question and its follow-ups, asked in order in one thread."""

    number: int
    turns: tuple[CaseTurn, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(turn.question for turn in self.turns)

    def name(self, turn: int) -> str:
        """The name of a turn in tables: "3" for the question, "3.1" for its first follow-up."""
        return f"{self.number}.{turn}" if turn else str(self.number)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A file of questions."""

    name: str
    cases: tuple[Case, ...]

    @property
    def size(self) -> int:
        """The number of questions, follow-ups included."""
        return sum(len(case.turns) for case in self.cases)


def load_questions(path: Path) -> QuestionSet:
    """Read a file of questions; raises ``Invalid`` with the place of the problem."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Invalid(f"{path} cannot be read ({error.strerror}): name a file in YAML.") from None
    except UnicodeDecodeError:
        raise Invalid(f"{path} is not UTF-8 text: save it as such.") from None
    return parse(text, path.name)


def parse(text: str, name: str) -> QuestionSet:
    """Parse the questions in a YAML text; ``name`` is used in errors. Raises ``Invalid``."""
    try:
        # It makes text, lists and mappings, whatever the tags.
        items = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join((error.problem or error.context or "it cannot be read").split())
        hint = "check quotes, brackets and indentation"
        if "mapping values" in problem:
            hint = 'put a text with ": " in it into quotes'
        line = mark.line + 1 if mark else 1
        raise Invalid(f"{name}, line {line}: this is not YAML ({problem}); {hint}.") from None
    except (yaml.YAMLError, RecursionError):
        raise Invalid(f"{name} is not YAML: write a plain list, as plain text.") from None
    if not isinstance(items, list) or not items:
        raise Invalid(
            f"{name} holds no questions: write a list of them, each like "
            '"- question: Who approves travel?".'
        )
    cases: dict[tuple[str, ...], Case] = {}
    for number, item in enumerate(items, start=1):
        case = Case(number, tuple(_turns(item, f"{name}, question {number}")))
        if case.texts in cases:
            same = cases[case.texts].number
            raise Invalid(f"{name}, question {number}: it is the same as {same}: remove one.")
        cases[case.texts] = case
    return QuestionSet(name, tuple(cases.values()))


def _turns(item: Any, where: str, *, may_follow: bool = True) -> list[CaseTurn]:
    """Return a question and its follow-ups; ``where`` is its place for errors."""
    if isinstance(item, str):
        item = {"question": item}
    if not isinstance(item, dict) or not isinstance(item.get("question"), str):
        raise Invalid(f'{where}: a question is a text, or has the key "question" with a text.')
    try:
        question = clean_question(" ".join(item["question"].split()))
    except InvalidQuestion as error:
        raise Invalid(f"{where}: {error.sentence}") from None
    where += f" (“{shortened(question, NAMED)}”)"
    for key in item:
        if key not in KEYS or (key == "followups" and not may_follow):
            raise Invalid(f'{where}: "{key}" is not known here; the keys are {", ".join(KEYS)}.')
    turn = CaseTurn(
        question,
        _groups(item, "words", where),
        _groups(item, "page", where),
        " ".join(_text(item, "answer", where).split()),
        _flag(item, where),
    )
    if turn.refuse and (turn.words or turn.pages or turn.answer):
        raise Invalid(f"{where}: it must not be answered, so nothing is expected of an answer.")
    followups = item.get("followups", [])
    if not isinstance(followups, list):
        raise Invalid(f'{where}: "followups" must be a list of questions.')
    turns = [turn]
    for number, each in enumerate(followups, start=1):
        turns += _turns(each, f"{where}, follow-up {number}", may_follow=False)
    return turns


def _text(item: dict[str, Any], key: str, where: str) -> str:
    value = item.get(key, "")
    if not isinstance(value, str) or (key in item and not value.strip()):
        raise Invalid(f'{where}: "{key}" must be a text.')
    return value


def _flag(item: dict[str, Any], where: str) -> bool:
    value = item.get("refuse", "no")
    if not isinstance(value, str) or value.casefold() not in FLAGS:
        raise Invalid(f'{where}: "refuse" must be true or false.')
    return FLAGS[value.casefold()]


def _groups(item: dict[str, Any], key: str, where: str) -> Groups:
    if key not in item:
        return ()
    given = item[key] if isinstance(item[key], list) else [item[key]]
    groups = [each if isinstance(each, list) else [each] for each in given]
    texts = [each for group in groups for each in group or ("",)]
    if not texts or not all(
        isinstance(each, str) and each.translate(MARKS).strip() for each in texts
    ):
        raise Invalid(f'{where}: "{key}" must be a text, or a list of texts or lists of them.')
    return tuple(tuple(" ".join(each.split()) for each in group) for group in groups)
