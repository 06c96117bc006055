"""Channel rules: how a channel is answered, and how an admin changes it."""

from __future__ import annotations

import pytest

from bot.core.errors import Invalid
from bot.core.settings import ChannelRules
from bot.operation.configuration import load_settings
from bot.service.access import options_for, rule_values, with_rule

PROVIDERS = ("local", "wikipedia")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("depth", "Deep", ChannelRules(depth="deep")),
        ("Depth", "", ChannelRules()),
        ("tone", "dry,  short ", ChannelRules(tone="dry, short")),
        ("language", "Deutsch", ChannelRules(language="Deutsch")),
        ("providers", "local, wikipedia", ChannelRules(providers=("local", "wikipedia"))),
        ("providers", "Local", ChannelRules(providers=("local",))),
        ("providers", "", ChannelRules()),
    ],
)
def test_a_rule_is_set_from_what_is_typed(key: str, value: str, expected: ChannelRules) -> None:
    assert with_rule(ChannelRules(), key, value, PROVIDERS) == expected


def test_one_rule_changes_and_the_others_stay() -> None:
    rules = ChannelRules(tone="dry", depth="quick")
    assert with_rule(rules, "language", "zh", PROVIDERS) == ChannelRules(
        tone="dry", depth="quick", language="zh"
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("tones", "dry", "no rule named “tones”"),
        ("colour", "red", "You can set: tone, language, depth, providers"),
        ("depth", "profound", "Possible: auto, quick, standard, deep"),
        (
            "providers",
            "local, gogle",
            "“gogle” does not work for providers. Possible: local",
        ),
        ("tone", "x" * 1_001, "too long for tone: at most 1,000 characters"),
    ],
)
def test_what_cannot_be_set_is_named(key: str, value: str, words: str) -> None:
    with pytest.raises(Invalid, match=r".+") as error:
        with_rule(ChannelRules(), key, value, PROVIDERS)
    assert words in error.value.sentence


def test_rules_become_the_options_of_a_run_and_the_askers_depth_goes_first() -> None:
    rules = ChannelRules(tone="Dry.", language="German", depth="quick", providers=("local",))
    options = options_for(rules)
    assert (options.depth, options.providers) == ("quick", ("local",))
    assert options.instructions == "Answer in this language: German. Tone: Dry."
    assert options_for(rules, "deep").depth == "deep"
    assert options_for(ChannelRules()).instructions == ""


def test_only_what_is_set_is_shown() -> None:
    assert rule_values(ChannelRules()) == []
    assert rule_values(ChannelRules(tone="dry", providers=("a", "b"))) == [
        ("tone", "dry"),
        ("providers", "a, b"),
    ]


def test_rules_come_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CHANNELS", '{"C1": {"depth": "deep", "language": "zh"}}')
    assert load_settings().channels == {"C1": ChannelRules(depth="deep", language="zh")}
