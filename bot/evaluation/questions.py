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

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote, urlsplit

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.errors import Invalid, InvalidQuestion
from bot.messages import clean_question
from bot.pages.urls import dedupe_key

LARGEST = 1_000_000  # bytes of a file: some thousands of questions
KEYS = ("question", "words", "page", "answer", "refuse", "followups")
TRUE = ("true", "yes", "on")
FALSE = ("false", "no", "off")

Groups = tuple[tuple[str, ...], ...]
"""Each group is required; one of its items is enough."""


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """A question and the expectations of its answer. ``line`` is its line in the file, from 1."""

    question: str
    line: int = 0
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
    def followups(self) -> int:
        return sum(len(case.turns) - 1 for case in self.cases)

    @property
    def size(self) -> int:
        """The number of questions, follow-ups included."""
        return sum(len(case.turns) for case in self.cases)


def load_questions(path: Path) -> QuestionSet:
    """Read a file of questions; raises ``Invalid`` with the line of the problem."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise Invalid(f"There is no file {path}: check the path.") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read ({error.strerror}): name a file in YAML.") from None
    if len(data) > LARGEST:
        raise Invalid(f"{path} is larger than {LARGEST:,} bytes: split it into several files.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid(f"{path}, line {line}: this is not UTF-8 text: save it as such.") from None
    return parse(text, path.name)


def parse(text: str, name: str) -> QuestionSet:
    """Parse the questions in a YAML text; ``name`` is used in errors. Raises ``Invalid``."""
    return _Reader(name).read(text)


class _Reader:
    """Converts the nodes of one YAML document to questions."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: dict[tuple[str, ...], int] = {}

    def read(self, text: str) -> QuestionSet:
        root = self._composed(text)
        if root is None or (isinstance(root, SequenceNode) and not root.value):
            raise Invalid(
                f"{self._name} holds no questions: write a list of them, each like "
                '"- question: Who approves travel?".'
            )
        items = self._list(root, 'the file must be a list of questions, each beginning with "- "')
        cases = tuple(self._case(number, item) for number, item in enumerate(items, start=1))
        return QuestionSet(self._name, cases)

    def _composed(self, text: str) -> Node | None:
        try:
            return yaml.compose(text, Loader=yaml.SafeLoader)  # nodes only: nothing is constructed
        except yaml.MarkedYAMLError as error:
            raise Invalid(f"{self._name}, line {_unreadable(error)}") from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise Invalid(
                f"{self._name}, line {line}: there is a control character: remove it."
            ) from None
        except RecursionError:
            raise Invalid(f"{self._name} is nested too deeply: write a plain list.") from None

    def _case(self, number: int, node: Node) -> Case:
        first, followups = self._turn(node, may_follow=True)
        case = Case(number, (first, *(self._turn(each, may_follow=False)[0] for each in followups)))
        earlier = self._seen.setdefault(case.texts, first.line)
        if earlier != first.line:
            self._fail(node, f"the same question stands on line {earlier}: remove one of them")
        return case

    def _turn(self, node: Node, *, may_follow: bool) -> tuple[CaseTurn, list[Node]]:
        """Return a question with its expectations, and the nodes of its follow-ups."""
        if isinstance(node, ScalarNode):
            return CaseTurn(self._question(node), _line(node)), []
        fields = self._fields(node)
        if "question" not in fields:
            self._fail(node, '"question" is missing: write the question')
        followups = fields.get("followups")
        if followups is not None and not may_follow:
            self._fail(followups, "a follow-up has no followups of its own: list it after this one")
        asked = CaseTurn(
            self._question(fields["question"]),
            _line(fields["question"]),
            self._groups(fields.get("words"), "words"),
            self._groups(fields.get("page"), "page"),
            self._text(fields["answer"], "answer") if "answer" in fields else "",
            self._flag(fields["refuse"]) if "refuse" in fields else False,
        )
        if asked.refuse:
            for key in ("words", "page", "answer"):
                if key in fields:
                    self._fail(
                        fields[key],
                        f'a question that must not be answered has no "{key}": remove one of both',
                    )
        for words in (words for group in asked.words for words in group):
            if not is_findable(words):
                self._fail(fields["words"], f'there is nothing to look for in "{words}"')
        if followups is None:
            return asked, []
        return asked, self._list(followups, "followups must be a list of questions")

    def _fields(self, node: Node) -> dict[str, Node]:
        if not isinstance(node, MappingNode):
            self._fail(node, 'a question is a text, or has the key "question"')
        fields: dict[str, Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else ""
            if name not in KEYS:
                near = difflib.get_close_matches(name, KEYS, n=1, cutoff=0.0)[0]
                self._fail(key, f'"{name}" is not known here; did you mean "{near}"?')
            if name in fields:
                self._fail(key, f'"{name}" stands here twice: remove one of them')
            fields[name] = value
        return fields

    def _question(self, node: Node) -> str:
        text = self._text(node, "question")
        try:
            return clean_question(text)
        except InvalidQuestion as error:
            self._fail(node, error.sentence)

    def _groups(self, node: Node | None, key: str) -> Groups:
        if node is None:
            return ()
        if isinstance(node, ScalarNode):
            return ((self._text(node, key),),)
        return tuple(
            tuple(self._text(one, key) for one in self._items(each, key))
            for each in self._items(node, key)
        )

    def _items(self, node: Node, key: str) -> Iterator[Node]:
        if isinstance(node, ScalarNode):
            return iter((node,))
        items = self._list(node, f'"{key}" must be a text or a list of texts')
        if not items:
            self._fail(node, f'"{key}" is empty: write something, or remove it')
        return iter(items)

    def _list(self, node: Node, problem: str) -> list[Node]:
        if not isinstance(node, SequenceNode):
            self._fail(node, problem)
        return list(node.value)

    def _text(self, node: Node, key: str) -> str:
        if not isinstance(node, ScalarNode):
            self._fail(node, f'"{key}" must be a text here')
        text = " ".join(str(node.value).split())
        if not text:
            self._fail(node, f'"{key}" is empty: write something, or remove it')
        return text

    def _flag(self, node: Node) -> bool:
        value = self._text(node, "refuse").casefold()
        if value not in (*TRUE, *FALSE):
            self._fail(node, '"refuse" must be true or false')
        return value in TRUE

    def _fail(self, node: Node, problem: str) -> NoReturn:
        end = "" if problem.endswith((".", "?")) else "."
        raise Invalid(f"{self._name}, line {_line(node)}: {problem}{end}")


def _line(node: Node) -> int:
    line: int = node.start_mark.line
    return line + 1


def _unreadable(error: yaml.MarkedYAMLError) -> str:
    """Return the line, the parser's message, and a hint at the usual cause."""
    problem = " ".join((error.problem or error.context or "it cannot be read").split())
    # For an unclosed quote or bracket, use its beginning: the parser notices only at the end.
    opened = error.context_mark if "end of stream" in problem else None
    mark = opened or error.problem_mark or error.context_mark
    hint = "check quotes, brackets and indentation"
    if "mapping values" in problem:
        hint = 'put a text with ": " in it into quotes'
    return f"{mark.line + 1 if mark else 1}: this is not valid YAML ({problem}); {hint}."


CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"

_ALIKE = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"}
)
_MARKS = str.maketrans("", "", "`*|")
_TOKEN = re.compile(f"[{CJK}]|[^\\W{CJK}]+|[^\\w\\s]")
_CJK_CHARACTER = re.compile(f"[{CJK}]")


def normal(text: str) -> str:
    """Normalize text for searching words: no Markdown marks, one kind of quotes and dashes, no
    capitals."""
    return text.translate(_ALIKE).translate(_MARKS).casefold()


def holds(text: str, words: str) -> bool:
    """Return True if a ``normal`` text contains the words, ignoring white space around them.

    They must not be part of a longer word or number: "1990" does not contain "90".
    """
    return _pattern(words).search(text) is not None


def is_findable(words: str) -> bool:
    """Return True if the words contain anything that can be searched for."""
    return bool(normal(words).strip())


@cache
def _pattern(words: str) -> re.Pattern[str]:
    plain = normal(words).strip()
    inner = r"\s*".join(re.escape(token) for token in _TOKEN.findall(plain))
    return re.compile(f"(?<!{_same(plain[0])}){inner}(?!{_same(plain[-1])})")


def _same(character: str) -> str:
    """A regex class of characters that would continue the word or number of this character."""
    if character.isdigit():
        return r"\d"
    is_letter = character.isalpha() and not _CJK_CHARACTER.match(character)
    return rf"[^\W\d{CJK}]" if is_letter else r"(?!)"


def is_page(wanted: str, url: str, title: str = "") -> bool:
    """Return True if ``wanted`` names the page: by its address, by the end of its address's path,
    or by its title, ignoring case."""
    wanted = wanted.strip()
    if title and wanted.casefold() == title.strip().casefold():
        return True
    if "://" in wanted:
        return dedupe_key(wanted.partition("#")[0]) == dedupe_key(url.partition("#")[0])
    end = wanted.partition("#")[0].removeprefix("./").strip("/")
    path = unquote(urlsplit(url).path).strip("/")
    return bool(end) and (path == end or path.endswith(f"/{end}"))
