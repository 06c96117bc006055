"""Secrets that files hold, and what a file gets that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.core.credentials import ClaudeSettings
from bot.core.errors import InvalidSetting
from bot.operation.configuration import known_names, load_settings, secret_names

SECRET = "sk-ant-very-secret"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def a_file(content: bytes | str = f"{SECRET}\n") -> str:
    path = Path("secret").absolute()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def key_of(settings: object) -> str | None:
    assert isinstance(settings, ClaudeSettings)
    key = settings.anthropic_api_key
    return None if key is None else key.get_secret_value()


@pytest.mark.parametrize("content", [SECRET, f"{SECRET}\n", f"{SECRET}\r\n"])
def test_a_secret_is_read_without_the_line_break_at_its_end(
    content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", a_file(content))
    settings = load_settings()
    assert key_of(settings) == SECRET
    assert SECRET not in repr(settings)


def test_a_file_is_named_in_dotenv_too() -> None:
    path = a_file()
    Path(".env").write_text(f"ANTHROPIC_API_KEY_FILE={path}\n")
    assert key_of(load_settings()) == SECRET


def test_the_environment_goes_before_dotenv_in_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_file()
    Path(".env").write_text("ANTHROPIC_API_KEY=of-dotenv\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", path)
    assert key_of(load_settings()) == SECRET
    monkeypatch.delenv("ANTHROPIC_API_KEY_FILE")
    Path(".env").write_text(f"ANTHROPIC_API_KEY_FILE={path}\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-environment")
    assert key_of(load_settings()) == "of-the-environment"


def test_an_address_with_a_password_and_a_list_of_keys_come_from_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "postgresql+psycopg://me:pw@db.example/footnote"
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL_FILE", a_file(address))
    keys = Path("keys").absolute()
    keys.write_text("A" * 43 + "=," + "B" * 43 + "=\n")
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEYS_FILE", str(keys))
    settings = load_settings()
    assert settings.database == address
    assert [key.get_secret_value()[0] for key in settings.encryption_keys] == ["A", "B"]


def test_every_secret_can_come_from_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    names = secret_names()
    told = ("TOKEN", "SECRET", "API_KEY", "ENCRYPTION_KEYS", "DATABASE_URL", "LISTEN_URL")
    assert {name for name in known_names() if name.endswith(told)} <= set(names)
    assert {"SLACK_BOT_TOKEN", "DISCORD_TOKEN", "FOOTNOTE_CONSOLE_TOKEN"} <= set(names)
    for name in names:
        monkeypatch.setenv(f"{name}_FILE", "/nowhere/at/all")
        with pytest.raises(InvalidSetting, match=f"{name}_FILE names /nowhere/at/all"):
            load_settings()
        monkeypatch.delenv(f"{name}_FILE")


def test_a_setting_that_is_no_secret_comes_from_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_MAX_USD_FILE", a_file("5"))
    with pytest.raises(InvalidSetting, match="Unknown setting FOOTNOTE_MAX_USD_FILE"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        ("x" * 200_000, "too long"),
    ],
)
def test_what_a_file_may_not_hold_is_told_and_not_shown(
    content: bytes | str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", a_file(content))
    with pytest.raises(InvalidSetting, match=words) as caught:
        load_settings()
    assert "ANTHROPIC_API_KEY_FILE" in caught.value.sentence
    assert "xxx" not in caught.value.sentence


def test_a_folder_cannot_be_read_as_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(Path.cwd()))
    with pytest.raises(InvalidSetting, match=r"cannot be read \(Is a directory\)"):
        load_settings()


def test_a_file_that_may_not_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_file()

    def refuse(*of: object, **how: object) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", path)
    monkeypatch.setattr("bot.core.settings.Path.open", refuse)  # root may read everything
    with pytest.raises(InvalidSetting, match="give its user read permission"):
        load_settings()


def test_a_secret_that_is_given_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", a_file())
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    with pytest.raises(InvalidSetting, match="are both set: unset one") as caught:
        load_settings()
    assert SECRET not in str(caught.value)
