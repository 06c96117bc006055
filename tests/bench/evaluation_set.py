"""MuSiQue as a folder of pages and a file of questions for ``footnote eval``.

100 questions of 2 to 4 hops over 7,882 pages. The words of an answer and of its aliases are the
expected ones, the gold pages are expected by title, the answer is there for the judge.

Run: python -m tests.bench.evaluation_set FOLDER [--first N] [--questions N]
     footnote eval FOLDER/questions.yaml --docs FOLDER/pages
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.bench.corpus import SHARED
from tests.bench.table import tell


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="evaluation_set",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=1, help="number of the first question")
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args(argv)
    data = SHARED / "multihop"
    pages = json.loads((data / "pages.json").read_text(encoding="utf-8"))
    questions = json.loads((data / "questions.json").read_text(encoding="utf-8"))
    chosen = questions[options.first - 1 :][: options.questions]
    write_pages(options.folder / "pages", pages)
    file = options.folder / "questions.yaml"
    file.write_text(as_yaml(chosen), encoding="utf-8")
    tell(f"{len(pages):,} pages and {len(chosen)} questions: {file}")


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """A Markdown file for each page; the titles are headings."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (title, text) in enumerate(pages.items(), start=1):
        name = re.sub(r"\W+", "-", title).strip("-")[:60]
        page = f"# {title}\n\n{text}\n"
        (folder / f"{number:05}-{name}.md").write_text(page, encoding="utf-8")


def as_yaml(questions: Sequence[Mapping[str, Any]]) -> str:
    """Questions of the data set as ``footnote eval`` reads them."""
    found = [
        {
            "question": each["question"],
            "words": [[each["answer"], *each["aliases"]]],
            "page": list(each["gold"]),
            "answer": each["answer"],
        }
        for each in questions
    ]
    return yaml.safe_dump(found, allow_unicode=True, sort_keys=False, width=100)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
