"""The questions of a set, in two halves: one to work from, and one that nothing is tuned on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent / "questions"

Half = Literal["tune", "held"]
HALVES: tuple[Half, ...] = ("tune", "held")

KINDS = frozenset(
    (
        "default",
        "howto",
        "fact",
        "error",
        "difference",
        "option",
        "meaning",
        "own_words",
        "code",
        "table",
    )
)
OFF_TOPIC_KINDS = frozenset(
    ("near_miss", "false_presupposition", "underspecified", "nonsense", "other_field")
)
"""As UAEval4RAG names them (arXiv 2412.12300)."""


@dataclass(frozen=True, slots=True)
class Answerable:
    """A question, the pages that answer it (paths in the set's root), and what of them must be
    quoted: one of the alternatives of ``words``, all pieces of it."""

    id: str
    kind: str
    question: str
    pages: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class OffTopic:
    """A question that the set does not answer."""

    id: str
    kind: str
    question: str


@dataclass(frozen=True, slots=True)
class Questions:
    """One half of a set's questions."""

    answerable: tuple[Answerable, ...] = ()
    off_topic: tuple[OffTopic, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answerable or self.off_topic)


def load(name: str, half: Half, folder: Path = FOLDER) -> Questions:
    """The questions of a set and half; none where there is no file.

    Raises ``ValueError`` that names the file and the question.
    """
    file = folder / f"{name}.{half}.json"
    if not file.is_file():
        return Questions()
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        return Questions(
            tuple(_answerable(each) for each in value.get("answerable", [])),
            tuple(_off_topic(each) for each in value.get("off_topic", [])),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file.name}: {error}") from error


def _answerable(value: dict[str, Any]) -> Answerable:
    found = Answerable(
        id=value["id"],
        kind=value["kind"],
        question=value["question"],
        pages=tuple(page.partition("#")[0] for page in value["pages"]),
        words=tuple(tuple(alternative) for alternative in value["words"]),
    )
    if found.kind not in KINDS:
        raise ValueError(f"{found.id} has the unknown kind {found.kind}")
    if not found.pages or not found.words or not all(found.words):
        raise ValueError(f"{found.id} needs pages and words")
    if any(isinstance(alternative, str) for alternative in value["words"]):
        raise ValueError(f"the words of {found.id} must be a list of lists")
    return found


def _off_topic(value: dict[str, Any]) -> OffTopic:
    found = OffTopic(value["id"], value["kind"], value["question"])
    if found.kind not in OFF_TOPIC_KINDS:
        raise ValueError(f"{found.id} has the unknown kind {found.kind}")
    return found
