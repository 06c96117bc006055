"""Measures how often documents are found and quoted for people who ask in words of their own.

Three sets: lay questions to Chinese statutes, questions to cloud documentation, and Chinese
questions to English paragraphs (XQuAD). Each is searched by words alone, and by words and meaning
with a small model, multilingual-e5-small. ``found`` is the share of questions of which a right
document is among the first 4 hits, ``recall`` the average share of right documents among them (of
at most 4), ``quoted`` the share of keyless answers that quote a right document, over the whole path
of `footnote ask`.

Vectors take most of the time. They are kept in a folder that ``--keep`` names, for the next run.

Run: python -m tests.bench own_words [--questions N] [--asked N] [--set NAME] [--model NAME]
     [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.app import open_app
from bot.configuration import load_settings
from bot.messages import RunOptions, Thread
from bot.search.embedding.choice import open_embedder
from bot.search.indexer import Indexer
from bot.search.provider import Query
from bot.search.registry import open_search
from bot.search.vector_filling import fill_vectors
from bot.settings import Settings
from tests.bench.corpus import SHARED
from tests.bench.table import ms, percentile, print_table, tell
from tests.fakes.embedding_models import e5_server
from tests.fakes.poster import RememberingPoster
from tests.unit.samples import a_message

AT = 4
MODELS = ("words", "e5")
Documents = Mapping[str, str]  # key → Markdown


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Row:
    found: float
    recall: float
    quoted: float
    filling: float
    search: float
    megabytes: float


def statutes() -> tuple[Documents, list[Question]]:
    data = _load("own-words/statutes.zh.json")
    documents = {title: f"# {title}\n\n{text}\n" for title, text in data["documents"].items()}
    return documents, _questions(data)


def aws() -> tuple[Documents, list[Question]]:
    data = _load("own-words/aws.en.json")
    documents = {
        path: f"# {page['title']}\n\n{page['text']}\n" for path, page in data["documents"].items()
    }
    return documents, _questions(data)


def across() -> tuple[Documents, list[Question]]:
    english, chinese = _load("chinese/xquad.en.json"), _load("chinese/xquad.zh.json")
    documents: dict[str, str] = {}
    questions = []
    for one, other in zip(english["data"], chinese["data"], strict=True):
        for paragraph, translated in zip(one["paragraphs"], other["paragraphs"], strict=True):
            key = f"paragraph {len(documents) + 1}"
            documents[key] = f"{paragraph['context']}\n"
            questions += [
                Question(asked["question"], frozenset({key})) for asked in translated["qas"]
            ]
    return documents, questions


SETS = {"statutes": statutes, "aws": aws, "across": across}


def _load(name: str) -> Any:
    return json.loads((SHARED / name).read_text(encoding="utf-8"))


def _questions(data: Any) -> list[Question]:
    return [Question(each["question"], frozenset(each["relevant"])) for each in data["queries"]]


# ---------------------------------------------------------------- one set, one model


@contextmanager
def configured(model: str) -> Iterator[dict[str, Any]]:
    """The settings of a model."""
    if model == "e5":
        with e5_server() as url:
            yield {
                "embeddings_url": url,
                "embeddings_model": "multilingual-e5-small",
                "embeddings_input_type": True,
            }
    else:
        yield {}


async def measured(
    documents: Documents, questions: list[Question], asked: int, model: str, folder: Path
) -> Row:
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    keys: dict[str, str] = {}
    for number, (key, text) in enumerate(documents.items()):
        path = docs / f"{number:05}.md"
        path.write_text(text, encoding="utf-8")
        keys[path.as_uri()] = key
    with configured(model) as chosen:
        settings = load_settings(data_dir=folder / "data", docs=(str(docs),), **chosen)
        await asyncio.to_thread(Indexer(settings.index_path).index, settings.docs)
        async with open_embedder(settings) as embedder:
            filling = 0.0
            if embedder is not None:
                filled = await fill_vectors(settings.index_path, settings.docs, embedder)
                assert filled.with_vector == filled.passages, filled
                filling = filled.seconds
        ranks, seconds = await _searched(settings, questions, keys)
        quoted = await _quoted(settings, questions[:asked], keys)
    return Row(
        sum(any(rank) for rank in ranks) / len(ranks),
        sum(
            sum(rank) / min(AT, len(question.relevant))
            for rank, question in zip(ranks, questions, strict=True)
        )
        / len(ranks),
        sum(quoted) / len(quoted) if quoted else 0.0,
        filling,
        percentile(seconds, 0.5),
        settings.index_path.stat().st_size / 1e6,
    )


async def _searched(
    settings: Settings, questions: list[Question], keys: Mapping[str, str]
) -> tuple[list[list[bool]], list[float]]:
    """For each question whether each of its first hits is right, and the seconds it took."""
    search = open_search(settings)
    ranks, seconds = [], []
    try:
        for question in questions:
            began = time.perf_counter()
            result = await search.search(Query(question.text, 10))
            seconds.append(time.perf_counter() - began)
            ranks.append([keys[hit.url] in question.relevant for hit in result.hits[:AT]])
    finally:
        await search.aclose()
    return ranks, seconds


async def _quoted(
    settings: Settings, questions: list[Question], keys: Mapping[str, str]
) -> list[bool]:
    """For each question whether its answer without a model quotes a right document."""
    quoted = []
    async with open_app(settings, {"terminal": RememberingPoster()}) as app:
        for number, question in enumerate(questions):
            thread = Thread("terminal", "bench", "c", str(number))
            run_id, _ = await app.service.accept(a_message(question.text, thread), RunOptions())
            await app.dispatcher.submit(run_id, thread)
            await app.dispatcher.wait(run_id)
            run = await app.store.run(run_id)
            assert run is not None
            assert run.answer is not None
            quoted.append(
                any(keys.get(each.url) in question.relevant for each in run.answer.citations)
            )
    return quoted


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="tests.bench own_words")
    parser.add_argument("--questions", type=int, default=400, help="searched, of each set")
    parser.add_argument("--asked", type=int, default=100, help="asked from end to end, of each set")
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--keep", type=Path, help="a folder for documents, indexes and vectors")
    options = parser.parse_args(arguments)
    rows = []
    for name in options.set or SETS:
        documents, questions = SETS[name]()
        for model in options.model or MODELS:
            tell(f"{name}: {len(documents)} documents, {model}")
            with tempfile.TemporaryDirectory() as temporary:
                folder = (options.keep or Path(temporary)) / f"{name}-{model}"
                asked = min(options.asked, options.questions)
                row = asyncio.run(
                    measured(documents, questions[: options.questions], asked, model, folder)
                )
            rows.append(
                (
                    f"{name}, {model}",
                    f"{row.found:.1%}",
                    f"{row.recall:.1%}",
                    f"{row.quoted:.1%}",
                    ms(row.search),
                    f"{row.filling:.1f} s",
                    f"{row.megabytes:.1f} MB",
                )
            )
    header = ("set, model", f"found@{AT}", f"recall@{AT}", "quoted", "search", "vectors", "size")
    print_table(header, rows)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
