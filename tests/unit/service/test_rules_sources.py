"""A question searches nothing but what it chose to search."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.messages import RunOptions, Sources
from bot.core.reader import Reader
from bot.core.settings import ChannelRules, Settings
from bot.evaluation.asking import open_asker
from bot.evaluation.questions import Case, CaseTurn
from bot.operation.configuration import load_settings
from bot.rights.rights import Rights
from bot.search.indexer import Indexer
from bot.service.access import options_for

ADA, BOB = Reader("console", "ada", "ada"), Reader("console", "bob", "bob")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for name in ("handbook", "board"):
        (tmp_path / name).mkdir()
    return load_settings(
        docs=[str(tmp_path)],
        collections=[
            {"name": "Handbook", "paths": [str(tmp_path / "handbook")], "everybody": True},
            {"name": "Board", "paths": [str(tmp_path / "board")], "console_users": ["ada"]},
        ],
    )


def found(settings: Settings, root: Path, reader: Reader, *among: str) -> list[str]:
    """The documents that are in reach, of one in each collection and one in none."""
    reach = Rights(settings).reach(reader, among)
    documents = [root / "handbook/a.md", root / "board/a.md", root / "a.md"]
    return [str(each.relative_to(root)) for each in documents if reach.allows(each.as_uri())]


def test_only_the_chosen_collections_are_in_reach(settings: Settings, tmp_path: Path) -> None:
    assert found(settings, tmp_path, ADA, "Board") == ["board/a.md"]
    assert found(settings, tmp_path, ADA, "Handbook", "") == ["handbook/a.md", "a.md"]
    assert found(settings, tmp_path, ADA) == []


def test_a_choice_gives_no_rights(settings: Settings, tmp_path: Path) -> None:
    assert found(settings, tmp_path, BOB, "Board", "") == ["a.md"]


def test_who_chooses_nothing_has_everything_in_reach(settings: Settings, tmp_path: Path) -> None:
    reach = Rights(settings).reach(ADA)
    assert reach.allows((tmp_path / "board/a.md").as_uri())
    assert reach.allows((tmp_path / "a.md").as_uri())


@pytest.mark.parametrize(
    ("rules", "chosen", "searched"),
    [
        ((), (), ()),
        ((), ("local",), ("local",)),
        (("local", "brave"), ("brave",), ("brave",)),
        (("local",), ("brave",), ("local",)),  # a channel's rules are not left
    ],
)
def test_providers_are_chosen_among_those_of_the_channel(
    rules: tuple[str, ...], chosen: tuple[str, ...], searched: tuple[str, ...]
) -> None:
    options = options_for(ChannelRules(providers=rules), sources=Sources(chosen, ("Board",)))
    assert options == RunOptions(providers=searched, collections=("Board",))


async def test_an_answer_rests_on_chosen_documents_only(settings: Settings, tmp_path: Path) -> None:
    for name in ("handbook/a.md", "loose.md"):
        text = f"# Rooms\n\nThe meeting room is on floor {len(name)}, says {name}.\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    index = settings.model_copy(update={"data_dir": tmp_path / "data", "providers": ("local",)})
    Indexer(index.index_path).index(settings.docs, lambda done, total: None)
    case = Case(1, (CaseTurn("On which floor is the meeting room?"),))
    for chosen, rests_on in (("Handbook", "handbook/a.md"), ("", "loose.md")):
        (tmp_path / f"store of {chosen}").mkdir()
        options = RunOptions(collections=(chosen,))
        async with open_asker(index, tmp_path / f"store of {chosen}", options) as asker:
            (answer,) = await asker.ask(case)
        assert answer.status == "answered"
        assert answer.rests_on.urls == ((tmp_path / rests_on).as_uri(),)
