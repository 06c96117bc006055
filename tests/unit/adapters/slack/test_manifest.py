"""The app manifest asks for what the code needs, and for nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from adapters.slack.installations import ENDINGS, READERS, REDIRECT_PATH, SCOPES, SEARCH_SCOPES
from adapters.slack.platform import COMMANDS, EVENTS, SHORTCUTS
from tests.fakes.slack_limits import EVENT_SCOPES, RULES, SCOPE_OF_KIND
from tests.unit.adapters.slack.serving import MANIFEST

ADAPTER = MANIFEST.parent
_METHOD = re.compile(r'"((?:[a-z]+\.)+[a-z][A-Za-z]*)"')
_FAMILIES = {method.partition(".")[0] for method in RULES} | {"usergroups", "team", "pins", "bots"}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    return cast(dict[str, Any], yaml.safe_load(MANIFEST.read_text(encoding="utf-8")))


def subscribed(manifest: dict[str, Any]) -> list[str]:
    return cast(list[str], manifest["settings"]["event_subscriptions"]["bot_events"])


def called_methods() -> set[str]:
    """Every Web API method that the adapter names."""
    return {
        method
        for module in ADAPTER.glob("*.py")
        for method in _METHOD.findall(module.read_text(encoding="utf-8"))
        if method.partition(".")[0] in _FAMILIES
    }


def test_methods_are_called_by_name_so_that_the_test_above_sees_them() -> None:
    families = "|".join(sorted(_FAMILIES))
    by_attribute = re.compile(rf"\.(?:{families})_[a-zA-Z_]+\(")
    found = {
        (module.name, call)
        for module in ADAPTER.glob("*.py")
        for call in by_attribute.findall(module.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_the_manifest_asks_for_the_scopes_that_are_needed_and_for_no_others(
    manifest: dict[str, Any],
) -> None:
    """The fakes know what Slack documents for each method and event."""
    rules = [RULES[method] for method in called_methods()]
    needed = {scope for rule in rules if rule.token == "bot" for scope in rule.scopes}
    needed |= {scope.replace("*", kind) for scope in needed for kind in SCOPE_OF_KIND.values()}
    needed |= {EVENT_SCOPES.get(event, "") for event in subscribed(manifest)}
    needed = {scope for scope in needed if scope and "*" not in scope}
    # Slash commands, and conversations.info by the kind of the channel.
    assert needed | {"commands", *READERS} == SCOPES
    asked = manifest["oauth_config"]["scopes"]
    assert sorted(asked["bot"]) == sorted(SCOPES)
    assert set(asked["bot_optional"]) == set(SEARCH_SCOPES)
    assert "user" not in asked


def test_the_manifest_subscribes_to_the_events_that_are_listened_to(
    manifest: dict[str, Any],
) -> None:
    heard = {*EVENTS, *ENDINGS}
    assert {event.partition(".")[0] for event in subscribed(manifest)} == heard


def test_the_manifest_has_the_commands_that_are_answered(
    manifest: dict[str, Any],
) -> None:
    commands = manifest["features"]["slash_commands"]
    assert {one["command"] for one in commands} == set(COMMANDS)
    # Without it Slack sends mentions and links as plain text, which could be anybody's.
    assert all(one["should_escape"] for one in commands)


def test_the_manifest_has_the_shortcuts_that_are_taken(
    manifest: dict[str, Any],
) -> None:
    shortcuts = manifest["features"]["shortcuts"]
    assert {(one["type"], one["callback_id"]) for one in shortcuts} == {
        ("message", callback_id) for callback_id in SHORTCUTS
    }
    assert all(len(one["name"]) <= 24 for one in shortcuts)


def test_the_manifest_makes_an_agent_with_buttons_and_a_home(manifest: dict[str, Any]) -> None:
    assert "agent_view" in manifest["features"]
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert manifest["features"]["app_home"] == {
        "home_tab_enabled": True,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": False,
    }


def test_the_manifest_connects_without_an_address(manifest: dict[str, Any]) -> None:
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert "url" not in Path(MANIFEST).read_text(encoding="utf-8").split("display_information")[1]


def test_the_manifest_tells_where_slack_sends_installers_back_to() -> None:
    comments = MANIFEST.read_text(encoding="utf-8").partition("display_information")[0]
    assert f"redirect_urls: [https://YOUR-HOST{REDIRECT_PATH}]" in comments
