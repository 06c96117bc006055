"""The doctor names what is missing at Discord and where to switch it on."""

from __future__ import annotations

from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import discord
import pytest

from adapters.discord.platform import PERMISSIONS, examine, invitation, needed_permissions
from adapters.discord.settings import DiscordSettings
from bot.core.errors import CredentialsRefused, FootnoteError, InvalidSetting, PlatformUnavailable
from bot.operation.configuration import load_settings
from tests.unit.adapters.discord.way_in import Room


def settings_of(room: Room, folder: Path, token: str = "") -> DiscordSettings:
    return cast(
        DiscordSettings,
        load_settings(
            discord_token=token or room.discord.token,
            discord_api_url=room.discord.url,
            data_dir=folder,
        ),
    )


async def test_a_sound_application_is_told_with_its_invitation(room: Room, tmp_path: Path) -> None:
    told = await examine(settings_of(room, tmp_path))
    assert told.startswith("logged in as footnote, in 1 server;")
    assert invitation(int(room.discord.app.id)) in told


async def test_a_missing_intent_is_named_with_its_place(room: Room, tmp_path: Path) -> None:
    room.discord.app.content_intent = False
    with pytest.raises(FootnoteError, match="Message Content Intent under Bot") as missing:
        await examine(settings_of(room, tmp_path))
    assert "client_id" in missing.value.sentence


async def test_a_refused_token_is_named_and_not_shown(room: Room, tmp_path: Path) -> None:
    with pytest.raises(CredentialsRefused, match="DISCORD_TOKEN") as refused:
        await examine(settings_of(room, tmp_path, "a-wrong-token"))
    assert "a-wrong-token" not in str(refused.value)


async def test_an_absent_discord_is_no_wrong_token(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.platform.LOGIN_SECONDS", 0.5)
    room.discord.down("reset")
    with pytest.raises(PlatformUnavailable, match="cannot be reached"):
        await examine(settings_of(room, tmp_path))


async def test_without_a_token_there_is_nothing_to_examine() -> None:
    with pytest.raises(InvalidSetting, match="DISCORD_TOKEN"):
        await examine(cast(DiscordSettings, load_settings()))


def test_the_invitation_asks_for_what_is_needed_and_nothing_else() -> None:
    query = parse_qs(urlsplit(invitation(12)).query)
    assert query["client_id"] == ["12"]
    assert set(query["scope"][0].split()) == {"bot", "applications.commands"}
    asked = discord.Permissions(int(query["permissions"][0]))
    assert asked == needed_permissions()
    assert all(getattr(asked, name) for name in PERMISSIONS)
    assert asked.value.bit_count() == len(PERMISSIONS)


@pytest.mark.parametrize("never", ["administrator", "manage_guild", "mention_everyone"])
def test_no_power_is_asked_for(never: str) -> None:
    assert not getattr(needed_permissions(), never)
