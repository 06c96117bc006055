"""The program as plain `pip install footnote-bot` leaves it: no package of an extra is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.core.extras import EXTRAS
from tests.fakes.packages import workbook
from tests.scenario.program import REPOSITORY, Program
from tests.unit.test_architecture import modules

# Python runs it at its start, also in the processes that read files.
HIDING = f"""
import sys
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = {[name for each in EXTRAS.values() for name in each]}
        if name in hidden or name.partition(".")[0] in hidden:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
"""
# Modules of a platform that are imported before it is opened.
DECLARING = {
    f"adapters.{platform}.{name}"
    for platform in ("slack", "discord")
    for name in ("declaration", "settings")
}
USING_AN_EXTRA = {
    "adapters.terminal.mcp",
    "adapters.web.access.single_sign_on",
    "bot.service.dispatch.procrastinate_dispatcher",
    "bot.search.mcp_connection",
    "bot.search.mcp_source",
    "bot.mcp.server",
    "bot.pages.formats.sheets",
    "bot.reasoning.openai_api",
}
ROW = '<row r="1"><c r="A1" t="inlineStr"><is><t>Ferry tickets</t></is></c></row>'
NEEDS_OFFICE = ".xlsx needs the extra “office”: pip install 'footnote-bot[office]'"
NEEDS_PANDOC = "Reading memo.rtf needs pandoc: install it, or pip install 'footnote-bot[pandoc]'"


@pytest.fixture
def hiding(tmp_path: Path) -> str:
    """PYTHONPATH with which Python does not find the packages of extras."""
    folder = tmp_path / "hiding"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HIDING, encoding="utf-8")
    return f"{folder}:{REPOSITORY}"


@pytest.fixture
def plain(tmp_path: Path, hiding: str) -> Program:
    return Program(tmp_path, {"PYTHONPATH": hiding})


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.md").write_text("# Travel\n\nAnna Berg approves travel.", encoding="utf-8")
    (folder / "prices.xlsx").write_bytes(workbook(ROW))
    (folder / "memo.rtf").write_bytes(rb"{\rtf1 The ferry {\strike leaves} stays.}")
    (folder / "notes.rst").write_text(
        "Notes\n=====\n\n.. note:: The harbour opens at six.\n\n:doc:`guide`\n", encoding="utf-8"
    )
    return folder


def test_documents_answer(plain: Program, papers: Path) -> None:
    ended = plain.run("ask", "--json", "--docs", str(papers), "Who approves travel?")
    assert ended.code == 0, ended.err
    assert "Anna Berg" in ended.json["answer"]


@pytest.mark.slow
def test_text_in_a_markup_language_is_read_without_pandoc(plain: Program, papers: Path) -> None:
    ended = plain.run("ask", "--json", "--docs", str(papers), "When does the harbour open?")
    assert ended.code == 0, ended.err
    assert "six" in ended.json["answer"]


@pytest.mark.slow
def test_files_say_which_extra_reads_them_and_are_read_once_it_is_there(
    tmp_path: Path, plain: Program, papers: Path
) -> None:
    for _ in range(2):
        ended = plain.run("index", str(papers))
        assert ended.code == 0, ended.err
        said = " ".join(ended.err.split())
        assert f"prices.xlsx: {NEEDS_OFFICE}" in said
        assert f"memo.rtf: {NEEDS_PANDOC}" in said

    ended = Program(tmp_path).run("index", str(papers))
    assert ": 2 new," in ended.err
    assert "Skipped" not in ended.err


@pytest.mark.slow
def test_postgresql_is_a_wrong_setting(plain: Program) -> None:
    url = "postgresql+psycopg://footnote@127.0.0.1:9/footnote"
    ended = plain.run("usage", FOOTNOTE_DATABASE_URL=url)
    assert ended.code == 2
    assert (
        "FOOTNOTE_DATABASE_URL needs the extra “postgres”: pip install 'footnote-bot[postgres]'."
    ) in " ".join(ended.err.split())


@pytest.mark.slow
def test_models_over_openais_protocol(plain: Program) -> None:
    ended = plain.run("ask", "When?", FOOTNOTE_MODEL="openai:gpt-a", OPENAI_API_KEY="sk-test")
    assert ended.code == 2
    assert (
        "FOOTNOTE_MODEL=openai:gpt-a needs the extra “openai”: pip install 'footnote-bot[openai]'."
    ) in " ".join(ended.err.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "tokens"),
    [
        ("slack", {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}),
        ("discord", {"DISCORD_TOKEN": "token"}),
    ],
)
def test_platforms(plain: Program, platform: str, tokens: dict[str, str]) -> None:
    ended = plain.run("serve", **tokens, FOOTNOTE_HTTP_PORT="0")
    assert ended.code == 2
    assert (
        f"{platform.title()} needs the extra “{platform}”: pip install 'footnote-bot[{platform}]'."
    ) in " ".join(ended.err.split())


def test_doctor_lists_what_is_not_installed(plain: Program) -> None:
    url = "postgresql+psycopg://footnote@127.0.0.1:9/footnote"
    ended = plain.run("doctor", FOOTNOTE_DATABASE_URL=url, FOOTNOTE_BROWSER=sys.executable)
    said = " ".join(ended.out.split())
    assert "✗ Storage: FOOTNOTE_DATABASE_URL needs" in said
    assert "✗ Browser: FOOTNOTE_BROWSER needs the extra “browser”" in said
    assert all(f"{extra} (" in said for extra in EXTRAS)
    assert f"`pip install 'footnote-bot[{','.join(EXTRAS)}]'`" in said


def test_only_what_uses_an_extra_imports_its_packages(hiding: str, tmp_path: Path) -> None:
    names = sorted(name for name in modules() if name not in USING_AN_EXTRA | {"bot.__main__"})
    others = ("bot.storage.migrations.", "adapters.slack.", "adapters.discord.")
    names = [name for name in names if name in DECLARING or not name.startswith(others)]
    for name in USING_AN_EXTRA:
        assert name in modules()
    program = f"import importlib\nfor name in {names!r}: importlib.import_module(name)"
    environment = {"PYTHONPATH": hiding, "PATH": "", "HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
