"""Text for Discord in which nothing acts: no mentions, no links but those to sources."""

from __future__ import annotations

import re

import pytest

from adapters.discord.format import harmless, words

LIVE = re.compile(
    r"<@!?\d+>|<@&\d+>|<#\d+>|<a?:\w+:\d+>|<t:-?\d+(:\w)?>|</[\w -]+:\d+>|<id:\w+>"
    r"|@everyone|@here"
)


@pytest.mark.parametrize(
    "text",
    [
        "<@1>", "<@!1>", "<@&1>", "<#1>", "<:smile:1>", "<a:smile:1>", "<t:1700000000:R>",
        "</ask:1>", "<id:customize>", "@everyone", "@here",
    ],
)  # fmt: skip
def test_what_discord_would_act_on_is_only_shown(text: str) -> None:
    for shown in (harmless(f"so {text} so"), words(f"so {text} so")):
        assert not LIVE.search(shown)


@pytest.mark.parametrize(
    "text",
    [
        "[click](https://evil.example/x)",
        "![img](https://evil.example/x)",
        "see https://evil.example/x now",
        "see <https://evil.example/x> now",
        "join discord.gg/abc now",
        "join discord.com/invite/abc now",
        "[a]: https://evil.example/x",
    ],
)
def test_what_is_no_source_is_no_link(text: str) -> None:
    shown = harmless(text, ["https://example.org/1"])
    assert "](" not in shown
    outside_code = re.sub(r"`[^`]*`", "", shown)
    assert "evil.example/x" not in outside_code
    assert "/abc" not in outside_code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](https://example.org/1)", "[a](<https://example.org/1>)"),
        ("see https://example.org/1.", "see <https://example.org/1>."),
        ("[a](https://example.org/1_(x))", "[a](<https://example.org/1_(x)>)"),
        ("`https://example.org/1`", "`https://example.org/1`"),
    ],
)
def test_a_link_to_a_source_stays_without_preview(text: str, shown: str) -> None:
    sources = ["https://example.org/1", "https://example.org/1_(x)"]
    assert harmless(text, sources) == shown
