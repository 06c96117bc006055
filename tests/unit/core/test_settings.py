"""Settings: where they come from, and what a wrong one gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.credentials import ClaudeSettings
from bot.core.errors import InvalidSetting
from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings
from bot.reasoning.reasoner import Models, models_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_nothing_configured_is_a_working_configuration() -> None:
    settings = load_settings()
    assert settings.database.startswith("sqlite+aiosqlite:///")
    assert models_of(settings) is None


def test_a_key_switches_claude_on_and_the_setting_switches_it_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert models_of(load_settings()) == Models("claude-sonnet-5-5", "claude-haiku-5-5")
    monkeypatch.setenv("FOOTNOTE_REASONER", "closest")
    assert models_of(load_settings()) is None


def test_the_first_source_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("footnote.toml").write_text('corrections_per_day = 1\nlanguage = "de"\nmodel = "toml"\n')
    Path(".env").write_text("FOOTNOTE_CORRECTIONS_PER_DAY=2\nFOOTNOTE_LANGUAGE=fr\n")
    monkeypatch.setenv("FOOTNOTE_CORRECTIONS_PER_DAY", "3")
    settings = load_settings()
    assert (settings.corrections_per_day, settings.language, settings.model) == (3, "fr", "toml")
    assert load_settings(corrections_per_day=4).corrections_per_day == 4
    assert load_settings(corrections_per_day=None).corrections_per_day == 3


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_DOCS", " a, b c ,,d ")
    Path("footnote.toml").write_text('providers = ["wikipedia", "local"]')
    settings = load_settings()
    assert settings.docs == ("a", "b c", "d")
    assert settings.providers == ("wikipedia", "local")


def test_platform_names_are_spelled_as_their_own_docs_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    Path(".env").write_text("ANTHROPIC_API_KEY=sk-dotenv")
    settings = load_settings()
    assert isinstance(settings, ClaudeSettings)
    assert settings.anthropic_base_url == "http://127.0.0.1:1"
    assert settings.anthropic_api_key is not None
    assert settings.anthropic_api_key.get_secret_value() == "sk-dotenv"


def test_prices_extend_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "FOOTNOTE_PRICES", '{"m": {"input": 1, "output": 2, "cache_write": 3, "cache_read": 4}}'
    )
    assert load_settings().prices["m"].cache_read == 4


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("FOOTNOTE_MODLE", "Did you mean FOOTNOTE_MODEL?"),
        ("footnote_corrections_per_dax", "Did you mean FOOTNOTE_CORRECTIONS_PER_DAY?"),
        ("FOOTNOTE_TOPK", "Unknown setting FOOTNOTE_TOPK. `footnote doctor"),
        ("FOOTNOTE_XQZ", "`footnote doctor --verbose` lists all"),
    ],
)
def test_an_unknown_name_is_an_error_that_names_the_nearest_known_one(
    monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(InvalidSetting) as caught:
        load_settings()
    assert name in caught.value.sentence
    assert sentence in caught.value.sentence


LINKS = {
    "FOOTNOTE_SERVICE_HOST": "10.96.0.7",
    "FOOTNOTE_SERVICE_PORT": "8080",
    "FOOTNOTE_SERVICE_PORT_HTTP": "8080",
    "FOOTNOTE_PORT": "tcp://10.96.0.7:8080",
    "FOOTNOTE_PORT_8080_TCP": "tcp://10.96.0.7:8080",
    "FOOTNOTE_PORT_8080_TCP_PROTO": "tcp",
    "FOOTNOTE_PORT_8080_TCP_PORT": "8080",
    "FOOTNOTE_PORT_8080_TCP_ADDR": "10.96.0.7",
    "FOOTNOTE_DB_SERVICE_HOST": "10.96.0.8",
    "FOOTNOTE_DB_PORT": "tcp://10.96.0.8:5432",
    "FOOTNOTE_DB_PORT_5432_TCP_ADDR": "10.96.0.8",
}


def test_the_services_of_kubernetes_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LINKS.items():
        monkeypatch.setenv(name, value)
    assert load_settings().http_port == 8080


@pytest.mark.parametrize(
    ("name", "value"), [("FOOTNOTE_PORT", "8080"), ("FOOTNOTE_SERVICE_PORT", "http")]
)
def test_a_name_like_those_of_services_with_another_value_is_unknown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidSetting, match=name):
        load_settings()


GONE = (
    *("MAX_MODEL_CALLS", "MAX_SEARCHES", "MAX_QUERIES", "MAX_PAGES", "MAX_INPUT_TOKENS"),
    *("MAX_WRITTEN_TOKENS", "MAX_OUTPUT_TOKENS", "MODEL_RETRIES", "THINKING", "TOPK"),
    *("READ_TOKENS", "PREFETCH_PAGES", "FETCH_TIMEOUT", "PAGE_TTL", "DRAFT_SECONDS"),
    *("QUERY_SECONDS", "READING_SECONDS", "REVISION_SECONDS", "SHOW_DRAFTS", "WATCH_DAYS"),
    *("WATCHES_PER_PERSON", "UPLOADS_PER_DAY", "CONSOLE_QUESTIONS", "CONCURRENCY"),
    *("DRAIN_SECONDS", "DISPATCHER", "DATABASE_POOLER", "METRICS", "VERIFY_FIRST"),
    *("DENY_WORKSPACES", "DENY_ROLES", "KEEP_PAGES_DAYS", "KEEP_SPENDING_DAYS"),
    *("EMBEDDINGS_INPUT_TYPE", "EMBEDDINGS_MAX_TOKENS", "EMBEDDINGS_MODEL_DIR"),
    *("TAVILY_RAW_CONTENT", "AUDIT_TEXTS"),
)


def test_what_is_no_setting_any_more_is_refused_and_named_in_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in GONE:
        assert f"FOOTNOTE_{name}" not in known_names()
        assert f"`{name}`" in changelog, name


def test_unknown_names_are_found_in_files_too() -> None:
    Path(".env").write_text("FOOTNOTE_CORRECTIONS_PER_DAYY=1")
    with pytest.raises(InvalidSetting, match="FOOTNOTE_CORRECTIONS_PER_DAY"):
        load_settings()
    Path(".env").write_text("OTHER=1")
    Path("footnote.toml").write_text("corrections_per_dayy = 1")
    with pytest.raises(InvalidSetting, match=r"footnote\.toml.*corrections_per_day\?"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FOOTNOTE_CORRECTIONS_PER_DAY", "many"),
        ("FOOTNOTE_CORRECTIONS_PER_DAY", "-1"),
        ("FOOTNOTE_MAX_USD", "-1"),
        ("FOOTNOTE_EFFORT", "huge"),
        ("FOOTNOTE_PRICES", '{"m": {}}'),
    ],
)
def test_a_malformed_value_is_an_error_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidSetting, match=name):
        load_settings()


def test_broken_json_in_a_setting_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOOTNOTE_PRICES", "{")
    with pytest.raises(InvalidSetting, match="FOOTNOTE_PRICES"):
        load_settings()


@pytest.mark.parametrize("content", [b"corrections_per_day = ", b"\xff\xfe"])
def test_a_broken_file_is_an_error_that_names_it(content: bytes) -> None:
    Path("footnote.toml").write_bytes(content)
    with pytest.raises(InvalidSetting, match=r"footnote\.toml"):
        load_settings()


def test_a_reasoner_that_there_is_not_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_REASONER", "cloude")
    with pytest.raises(InvalidSetting, match="claude"):
        load_settings()


def test_a_model_of_a_service_that_there_is_not_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answering with quotations instead would hide a mistyped name."""
    monkeypatch.setenv("FOOTNOTE_MODEL", "opnai:gpt-a")
    with pytest.raises(InvalidSetting, match="begin it with claude: or openai:"):
        load_settings()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")  # a gateway's names may have colons
    assert models_of(load_settings()) == Models("opnai:gpt-a", "claude-haiku-5-5")


@pytest.mark.parametrize(
    "name",
    [
        "FOOTNOTE_SEARXNG_URL",
        "FOOTNOTE_WIKIPEDIA_URL",
        "FOOTNOTE_SLACK_API_URL",
        "FOOTNOTE_DISCORD_API_URL",
        "ANTHROPIC_BASE_URL",
    ],
)
def test_an_address_without_its_scheme_is_told_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in ("search.example.org", "localhost:8888", "//search.example.org"):
        monkeypatch.setenv(name, given)
        with pytest.raises(InvalidSetting, match=rf"{name} is “{given}”: write https://…"):
            load_settings()
    for given in ("https://search.example.org", "HTTP://localhost:8888"):
        monkeypatch.setenv(name, given)
        load_settings()


def test_the_address_of_the_database_has_a_scheme_of_its_own() -> None:
    address = "postgresql+asyncpg://localhost/footnote"
    assert load_settings(database_url=address).database == address


def test_a_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-ant-very-secret"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    settings = load_settings()
    monkeypatch.setenv("FOOTNOTE_CORRECTIONS_PER_DAY", "x")
    with pytest.raises(InvalidSetting) as caught:
        load_settings()
    assert secret not in repr(settings) + str(settings) + str(caught.value) + repr(caught.value)


def test_every_known_name_is_ours_or_a_platforms() -> None:
    prefixes = ("FOOTNOTE_", "ANTHROPIC_", "SLACK_", "DISCORD_")
    core = [
        name
        for name in known_names()
        if name.lower().removeprefix("footnote_") in Settings.model_fields
    ]
    assert len(core) == len(Settings.model_fields)
    assert all(name.startswith(prefixes) for name in core)
