"""The file of the second settings goes before everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import Invalid, InvalidSetting
from bot.evaluation.other_settings import other_settings
from bot.reasoning.claude.settings import ClaudeSettings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "other.toml"


def test_the_file_goes_before_the_environment_and_the_command_line(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_MAX_USD", "7")
    monkeypatch.setenv("FOOTNOTE_MAX_SECONDS", "2")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-environment")
    file.write_text('max_usd = 3\nanthropic_api_key = "sk-file"\ndocs = "b"\ndepth = "deep"\n')

    settings, depth = other_settings(file, {"docs": ("a",), "providers": ("local",)})

    assert (settings.max_usd, settings.max_seconds, depth) == (3, 2, "deep")
    assert (settings.docs, settings.providers) == (("b",), ("local",))
    assert isinstance(settings, ClaudeSettings)
    assert settings.anthropic_api_key is not None
    assert settings.anthropic_api_key.get_secret_value() == "sk-file"


def test_a_file_need_not_name_a_depth(file: Path) -> None:
    file.write_text("max_usd = 3\n")
    assert other_settings(file, {})[1] is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_usd = ", "is not valid TOML"),
        ("max_usb = 3", "Did you mean max_usd?"),
        ('depth = "bottomless"', "must be one of auto, quick"),
        ("max_usd = -1", "With the settings of"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidSetting) as caught:
        other_settings(file, {})
    assert said in caught.value.sentence
    assert file.name in caught.value.sentence


def test_a_file_that_is_not_there_is_said(file: Path) -> None:
    with pytest.raises(Invalid, match="There is no file"):
        other_settings(file, {})
