"""Example questions made of documents, which Footnote then answers from these documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.cli.command import HANDBOOK
from bot.configuration import load_settings
from bot.evaluation.asking import open_asker
from bot.evaluation.questions import Case, CaseTurn
from bot.messages import RunOptions
from bot.research.suggestions.examples import Example, examples
from bot.rights.reader import EVERYTHING, NO_DOCUMENTS
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments

CHINESE = {
    "backup.md": "# 备份手册\n\n## 如何恢复数据库\n\n恢复数据库之前先停止所有服务，"
    "然后从最近一次的备份文件导入数据，"
    "最后检查日志里有没有错误，再重新启动服务。整个过程大约需要二十分钟。\n",
    "travel.md": "# 差旅报销\n\n## 什么是差旅补贴\n\n差旅补贴是公司按出差天数发给员工的费用，"
    "每天一百二十元，"
    "用于餐饮和市内交通，回来之后十天内要在系统里提交申请。\n",
}
GERMAN = {
    "urlaub.md": "# Urlaubsantrag\n\nDer Urlaubsantrag wird mindestens zwei Wochen vorher bei der "
    "Teamleitung gestellt. Sie entscheidet innerhalb von drei Tagen über den Urlaubsantrag.\n",
}
ENGLISH = {
    "plugins.md": "# Plugins\n\n## Installing plugins\n\nPlugins are installed with the command "
    "plug, which downloads them, checks their signature, and puts them into the folder plugins. "
    "A restart is not needed.\n\n## See also\n\nOther pages on plugins and much more that is to "
    "be read elsewhere, for instance in the reference, in the tutorial and in the guide.\n",
    "short.md": "# Short\n\n## Removing plugins\n\nSoon.\n",
}


def indexed(folder: Path, documents: Mapping[str, str]) -> LocalDocuments:
    docs = folder / "docs"
    docs.mkdir()
    for name, text in documents.items():
        (docs / name).write_text(text, encoding="utf-8")
    return index_of(folder, docs)


def index_of(folder: Path, docs: Path) -> LocalDocuments:
    index = folder / "index.sqlite"
    Indexer(index).index([str(docs)], lambda done, total: None)
    return LocalDocuments(index, [str(docs)])


async def made_of(folder: Path, documents: Mapping[str, str], limit: int = 3) -> set[str]:
    found = await examples(indexed(folder, documents), EVERYTHING, limit)
    return {each.question for each in found}


async def test_headings_make_questions(tmp_path: Path) -> None:
    asked = await made_of(tmp_path, ENGLISH)
    assert "How do I install plugins?" in asked
    assert not any("remove" in each or "See also" in each for each in asked)  # no text, no topic


async def test_questions_are_in_the_language_of_the_documents(tmp_path: Path) -> None:
    assert await made_of(tmp_path, CHINESE) == {"如何恢复数据库？", "什么是差旅补贴？"}


async def test_a_title_is_asked_about_where_no_heading_makes_a_question(tmp_path: Path) -> None:
    assert await made_of(tmp_path, GERMAN) == {"Was steht über „Urlaubsantrag“ in den Dokumenten?"}


async def test_each_is_of_a_document_of_its_own(tmp_path: Path) -> None:
    found = await examples(index_of(tmp_path, HANDBOOK), EVERYTHING, 3)
    assert len({each.title for each in found}) == 3


async def test_nothing_out_of_reach_is_asked_about(tmp_path: Path) -> None:
    assert await examples(indexed(tmp_path, ENGLISH), NO_DOCUMENTS, 3) == ()


@pytest.mark.parametrize("documents", [None, CHINESE, GERMAN, ENGLISH])
async def test_footnote_answers_them_from_their_document_without_a_model(
    tmp_path: Path, documents: Mapping[str, str] | None
) -> None:
    """``None`` is the handbook, on three days."""
    if documents is None:
        docs, shifts = HANDBOOK, [0, 7, 14]
        local = index_of(tmp_path, HANDBOOK)
    else:
        docs, shifts = tmp_path / "docs", [0]
        local = indexed(tmp_path, documents)
    asked: list[Example] = []
    for shift in shifts:
        asked += await examples(local, EVERYTHING, 3, shift)
    settings = load_settings(docs=[str(docs)], providers=["local"], data_dir=tmp_path)
    assert asked
    async with open_asker(settings, tmp_path, RunOptions()) as asker:
        for each in dict.fromkeys(asked):
            (answer,) = await asker.ask(Case(1, (CaseTurn(each.question),)))
            assert answer.status == "answered", each
            assert each.title in {citation.title for citation in answer.citations}, each
