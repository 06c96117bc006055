"""`footnote doctor`: what is wrong comes first, and no secret is printed."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.core.measurements import Indexing
from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings
from bot.operation.diagnosis import examine
from bot.search.background_indexing import Rounds
from bot.search.indexer import Indexer
from tests.fakes.postgres import Postgres

pytestmark = pytest.mark.usefixtures("reading_inside")

NOTHING = "http://127.0.0.1:9"  # a port that nothing listens on
SECRET = "s3cr3t"


@pytest.fixture
def documents(tmp_path: Path) -> Settings:
    """A data folder with an index of one document, and no other settings."""
    (tmp_path / "a.md").write_text("# Costs\n\nThe car costs 20,000 euros.", encoding="utf-8")
    settings = load_settings(data_dir=tmp_path / "data")
    Indexer(settings.index_path).index((str(tmp_path / "a.md"),))
    return settings


@pytest.fixture
def without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, NOTHING)


@pytest.fixture
def without_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.reasoning.model_service.RETRIES", 0)


def marks(shown: str) -> list[str]:
    return re.findall(r"^([✗!✓])", shown, re.MULTILINE)


# ---------------------------------------------------------------- order


async def test_what_is_wrong_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(data_dir=tmp_path, wikipedia_url=NOTHING)
    assert not await examine(settings)
    shown = capsys.readouterr().out
    assert "✗ Search (wikipedia): The wiki at 127.0.0.1" in shown
    assert marks(shown) == sorted(marks(shown), key="✗!✓".index)
    assert {"✗", "✓"} <= set(marks(shown))


async def test_settings_are_named_only_when_asked_for(
    documents: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTNOTE_MAX_USD", "5")
    settings = documents.model_copy(update={"docs": (), "providers": ("local",)})
    assert await examine(settings)
    assert "FOOTNOTE_MAX_USD" not in capsys.readouterr().out
    assert await examine(settings, verbose=True)
    shown = " ".join(capsys.readouterr().out.split())
    assert "Set in the environment: FOOTNOTE_MAX_USD." in shown
    assert f"Known settings: {', '.join(known_names())}." in shown


# ---------------------------------------------------------------- one fault, one line


async def test_a_fault_of_slack_is_shown_once_and_for_slack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(
        data_dir=tmp_path,
        providers="local",
        http_host="0.0.0.0",
        SLACK_BOT_TOKEN="xoxb-1",
        DISCORD_TOKEN="",
    )
    assert not await examine(settings)
    told = [line for line in capsys.readouterr().out.splitlines() if "SLACK_BOT_TOKEN is" in line]
    assert [line.partition(":")[0] for line in told] == ["✗ Slack"]


# ---------------------------------------------------------------- without network


@pytest.mark.usefixtures("without_network")
async def test_documents_answer_without_network(
    documents: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await examine(documents)
    shown = capsys.readouterr().out
    assert "! Network: The proxy http://127.0.0.1:9 cannot be reached" in shown
    assert "! Search (wikipedia): The proxy http://127.0.0.1:9 does not connect to en." in shown
    assert "✗" not in shown


@pytest.mark.usefixtures("without_network")
async def test_without_documents_an_unreachable_wikipedia_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not await examine(load_settings(data_dir=tmp_path))
    assert "✗ Search (wikipedia)" in capsys.readouterr().out


@pytest.mark.usefixtures("without_network")
@pytest.mark.parametrize(
    "chosen", [{"providers": ("wikipedia",)}, {"wikipedia_url": "https://wiki.example"}]
)
async def test_a_wiki_that_a_setting_names_is_a_fault(
    documents: Settings, chosen: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(data_dir=documents.data_dir, **chosen)
    assert not await examine(settings)
    assert "✗ Search (wikipedia)" in capsys.readouterr().out


@pytest.mark.usefixtures("without_network", "without_retries")
@pytest.mark.parametrize(
    ("chosen", "mark"), [({}, "!"), ({"reasoner": "claude"}, "✗"), ({"base": NOTHING}, "✗")]
)
async def test_an_unreachable_model_is_a_note_unless_a_setting_insists_on_it(
    documents: Settings, chosen: dict[str, str], mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(
        data_dir=documents.data_dir,
        ANTHROPIC_API_KEY="k",
        ANTHROPIC_BASE_URL=chosen.get("base"),
        reasoner=chosen.get("reasoner", "auto"),
    )
    assert await examine(settings) is (mark == "!")
    assert f"{mark} Model: " in capsys.readouterr().out


# ---------------------------------------------------------------- secrets

PASSWORD = f"http://me:{SECRET}@127.0.0.1:9/"


@pytest.mark.usefixtures("without_retries")
@pytest.mark.parametrize(
    "setting",
    [
        {"wikipedia_url": PASSWORD},
        {"searxng_url": PASSWORD},
        {"embeddings_url": PASSWORD, "embeddings_model": "m"},
        {"reader_url": PASSWORD},
        {"ANTHROPIC_BASE_URL": PASSWORD, "ANTHROPIC_API_KEY": "k"},
        {"database_url": f"postgresql+psycopg://me:{SECRET}@127.0.0.1:9/db"},
        {"database_url": f"postgresql+psycopg://me:x@{SECRET}@127.0.0.1:9/db"},
        {"database_url": f"postgresql+psycopg://127.0.0.1:9/db?user=me&password={SECRET}"},
        {"database_url": f"postgresql+psycopg://me:{SECRET}@127.0.0.1:none/db"},
    ],
    ids=lambda setting: next(iter(setting)),
)
async def test_no_password_in_an_address_is_printed(
    documents: Settings, setting: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert not await examine(load_settings(data_dir=documents.data_dir, **setting), verbose=True)
    printed = capsys.readouterr()
    assert "✗" in printed.out
    assert SECRET not in printed.out + printed.err


@pytest.mark.parametrize(
    "proxy", [f"http://me:{SECRET}@proxy:none", f"unknown://me:{SECRET}@proxy:1"]
)
async def test_a_proxy_that_cannot_be_used_is_a_problem_told_without_its_password(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    proxy: str,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    assert not await examine(load_settings(data_dir=tmp_path))
    printed = capsys.readouterr()
    assert "✗ Network: HTTPS_PROXY or ALL_PROXY cannot be used: write" in printed.out
    assert SECRET not in printed.out + printed.err


async def test_the_database_is_named_without_its_password(
    postgres: Postgres, documents: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(data_dir=documents.data_dir, database_url=postgres.migrated())
    await examine(settings)
    line = next(each for each in capsys.readouterr().out.splitlines() if "Storage" in each)
    assert line.startswith("✓ Storage: PostgreSQL at ")
    assert "//" not in line


async def test_uploads_are_told(
    documents: Settings, capsys: pytest.CaptureFixture[str], without_network: None
) -> None:
    await examine(documents)
    told = "✓ Uploads: No uploaded files are stored. Each person can upload 40 MB a day."
    assert told in capsys.readouterr().out


async def test_documents_that_are_not_read_or_lost_words_are_told(
    documents: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("# Boats\n\nThe boat is new.", encoding="utf-8")
    (tmp_path / "docs" / "plan.dwg").write_bytes(b"x")
    Indexer(documents.index_path).index([tmp_path / "docs"])
    with closing(sqlite3.connect(documents.index_path)) as connection, connection:
        connection.execute("UPDATE files SET kept = 0.5 WHERE url LIKE '%/b.md'")
    await examine(documents)
    shown = capsys.readouterr().out
    assert " One of 3 files is of a type that is not read (.dwg 1)." in shown
    lost = "Less than 90% of the words of one file could be read"
    assert f" {lost}: {tmp_path}/docs/b.md (50%)." in shown


async def test_only_documents_of_the_followed_folders_are_counted(
    documents: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str], without_network: None
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("# Boats\n\nThe boat is new.", encoding="utf-8")
    Indexer(documents.index_path).index([tmp_path / "docs"])
    followed = documents.model_copy(update={"docs": (str(tmp_path / "docs"),)})
    await examine(followed)
    assert "✓ Documents: One document is indexed in " in capsys.readouterr().out


async def test_a_disk_that_is_almost_full_is_a_problem(
    documents: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    without_network: None,
) -> None:
    monkeypatch.setattr("bot.operation.diagnosis.LOW_DISK_BYTES", 1 << 62)
    assert not await examine(documents)
    assert re.search(r"(?m)^✗ Storage: Only .* is left: free", capsys.readouterr().out)


async def test_documents_that_keep_an_earlier_text_are_told(
    documents: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("")
    Indexer(documents.index_path).index([tmp_path / "a.md"])
    await examine(documents)
    told = "One file cannot be read now; its earlier text is still searched"
    assert f" {told}: {tmp_path}/a.md." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("docs", "poll", "told"),
    [
        ((), 10, "No folder is followed. FOOTNOTE_DOCS names the folders to follow."),
        (
            (".",),
            0,
            "`footnote serve` looks for changes only when it starts, because FOOTNOTE_DOCS_POLL is"
            " 0.",
        ),
        (
            (".",),
            7,
            "`footnote serve` looks for changes every 7 seconds, less often in large folders. It"
            " has not done so yet.",
        ),
    ],
)
async def test_whether_folders_are_followed_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    without_network: None,
    docs: tuple[str, ...],
    poll: int,
    told: str,
) -> None:
    await examine(load_settings(data_dir=tmp_path, docs=docs, docs_poll=poll))
    assert f"✓ Changes: {told}\n" in capsys.readouterr().out


async def test_when_folders_were_last_looked_at_is_told(
    documents: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    without_network: None,
) -> None:
    followed = documents.model_copy(update={"docs": (str(tmp_path / "a.md"),)})
    indexer = Indexer(followed.index_path)
    rounds = Rounds(indexer, followed, print, Indexing(True))
    began = datetime.now(UTC).replace(microsecond=0)
    rounds.catch_up(followed.docs)
    await examine(followed)
    said = re.search(
        r"every 10 seconds, less often in large folders. It last did so at (.{19}) UTC.\n",
        capsys.readouterr().out,
    )
    assert said is not None
    assert began <= datetime.fromisoformat(f"{said[1]}+00:00") <= datetime.now(UTC)
