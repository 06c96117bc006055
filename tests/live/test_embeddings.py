"""A real multilingual model behind a real endpoint: a question finds a text in another language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.core.messages import RunOptions
from bot.core.settings import Settings
from bot.operation.app import open_app
from bot.operation.configuration import load_settings
from bot.search.embedder import open_embedder
from bot.search.indexer import Indexer
from bot.search.provider import Query
from bot.search.registry import open_search
from bot.search.vector_filling import fill_vectors
from tests.fakes.embedding_models import e5_server
from tests.fakes.poster import RememberingPoster
from tests.unit.samples import a_message

PAGES = {
    "travel": "# Travel\n\nTrips abroad are approved by the head of the department.",
    "keys": "# Keys\n\nA lost key is reported to the porter within one day.",
    "lunch": "# Lunch\n\nThe canteen is open from eleven to two. Soup is free.",
    "heating": "# Heating\n\nRadiators are switched off between May and September.",
}
QUESTIONS = {
    "钥匙丢了应该告诉谁？": "Keys",
    "夏天什么时候关暖气？": "Heating",
    "Wer genehmigt eine Dienstreise ins Ausland?": "Travel",
    "食堂几点开门？": "Lunch",
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder: Path = tmp_path_factory.mktemp("documents")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with e5_server() as url:
        yield load_settings(
            data_dir=tmp_path_factory.mktemp("data"),
            docs=(str(folder),),
            embeddings_url=f"{url}/v1/embeddings",
            embeddings_model="multilingual-e5-small",
        )


@pytest.fixture
async def filled(settings: Settings) -> Settings:
    Indexer(settings.index_path).index(settings.docs)
    async with open_embedder(settings) as embedder:
        assert embedder is not None
        report = await fill_vectors(settings.index_path, settings.docs, embedder)
    assert (report.with_vector, report.problem) == (4, "")
    return settings


async def test_a_question_finds_the_page_that_answers_it(filled: Settings) -> None:
    search = open_search(filled)
    found = {}
    for question in QUESTIONS:
        result = await search.search(Query(question, 4))
        found[question] = result.hits[0].title
    await search.aclose()

    assert found == QUESTIONS


async def test_an_answer_quotes_the_page_that_was_found(filled: Settings) -> None:
    async with open_app(filled, {"terminal": RememberingPoster()}) as app:
        message = a_message("Who approves trips?")
        run_id, _ = await app.service.accept(message, RunOptions())
        await app.dispatcher.submit(run_id, message.thread)
        await app.dispatcher.wait(run_id)
        run = await app.store.run(run_id)

    assert run is not None
    assert run.answer is not None
    assert [each.title for each in run.answer.citations][:1] == ["Travel"]
