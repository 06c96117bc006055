"""Error messages about wrong settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import SecretStr

from bot.core.errors import InvalidSetting
from bot.operation.configuration import _kind, known_names, load_settings, settings_class

FIELDS = dict(zip(known_names(), settings_class().model_fields, strict=True))
# The words of the library that reads them.
LIBRARY = re.compile(
    r"[Ii]nput should|valid (integer|number|string|boolean)|validation error|unable to"
)


@pytest.fixture(autouse=True)
def _nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kind_of(name: str) -> Any:
    return _kind(settings_class().model_fields[FIELDS[name]].annotation)


def told() -> str:
    with pytest.raises(InvalidSetting) as caught:
        load_settings()
    sentence = caught.value.sentence
    assert not LIBRARY.search(sentence), sentence
    assert sentence.endswith("."), sentence
    return sentence


NUMBERS = [name for name in FIELDS if kind_of(name) in (int, float)]
CHOICES = [name for name in FIELDS if get_origin(kind_of(name)) is Literal]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("given", ["many", "1,5", "-7", "ten seconds"])
def test_a_number_that_is_none_is_told_with_what_it_may_be(
    name: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, given)
    sentence = told()
    noun = "a whole number" if kind_of(name) is int else "a number"
    assert sentence.startswith(f"{name} is “{given}”: it must be {noun}")
    assert "unset it" in sentence


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_that_there_is_not_is_told_with_those_there_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "sometimes")
    sentence = told()
    assert sentence.startswith(f"{name} is “sometimes”: it must be ")
    assert all(str(choice) in sentence for choice in get_args(kind_of(name)))


@pytest.mark.parametrize("name", FIELDS)
def test_a_value_of_another_type_is_told_with_the_file_it_stands_in(name: str) -> None:
    Path("footnote.toml").write_text(f"{FIELDS[name]} = [{{ hunter2 = 1979-05-27 }}]\n")
    sentence = told()
    assert sentence.startswith(f"{name} in footnote.toml ")
    is_secret = SecretStr in (kind_of(name), *get_args(kind_of(name)))
    is_secret |= name in ("FOOTNOTE_DATABASE_URL", "FOOTNOTE_DATABASE_LISTEN_URL")
    assert ("hunter2" in sentence) is not is_secret


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        (
            "FOOTNOTE_CORRECTIONS_PER_DAY",
            "-1",
            "a whole number of at least 0. Correct it, or unset it: the default is 20.",
        ),
        ("FOOTNOTE_MAX_USD", "0", "a number above 0. Correct it, or unset it: the default is 2."),
        ("FOOTNOTE_HTTP_PORT", "70000", "a whole number from 0 to 65,535."),
        ("FOOTNOTE_KEEP_STEPS_DAYS", "0", "a whole number of at least 1. Correct it, or unset it."),
        (
            "FOOTNOTE_DIRECT_MESSAGES",
            "maybe",
            "true or false. Correct it, or unset it: the default is true.",
        ),
        ("FOOTNOTE_CONSOLE_USER_HEADER", "X User", "the name of a header"),
        (
            "FOOTNOTE_CONSOLE_PROXIES",
            "proxy.example",
            "proxy.example is not an IP address or network",
        ),
        ("FOOTNOTE_PUBLIC_URL", "footnote.example.com", "write https://…"),
        ("FOOTNOTE_CONTACT", "call us", "write a web address"),
        ("FOOTNOTE_LOG_LEVEL", "loud", "debug, info, warning or error."),
    ],
)
def test_a_sentence_says_what_was_given_what_is_allowed_and_the_way_out(
    name: str, given: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, given)
    sentence = told()
    assert sentence.startswith(f"{name} is “{given}”: ")
    assert says in sentence


@pytest.mark.parametrize(
    ("name", "secret"),
    [("FOOTNOTE_CONSOLE_TOKEN", "hunter2"), ("FOOTNOTE_ENCRYPTION_KEYS", "hunter2")],
)
def test_a_secret_that_is_not_right_is_not_shown(
    name: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, secret)
    sentence = told()
    assert sentence.startswith(f"{name} is not right: ")
    assert secret not in sentence
    assert "characters" in sentence


def test_an_address_with_a_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_SEARXNG_URL", "ada:hunter2@search.example")
    assert "hunter2" not in told()


def test_the_file_is_named_that_holds_it() -> None:
    Path(".env").write_text("FOOTNOTE_CORRECTIONS_PER_DAY=many\n")
    assert told().startswith("FOOTNOTE_CORRECTIONS_PER_DAY in .env is “many”: ")


def test_several_that_are_wrong_are_all_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CORRECTIONS_PER_DAY", "many")
    monkeypatch.setenv("FOOTNOTE_MAX_USD", "free")
    sentence = told()
    assert "FOOTNOTE_CORRECTIONS_PER_DAY" in sentence
    assert "FOOTNOTE_MAX_USD" in sentence


def test_a_long_value_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CORRECTIONS_PER_DAY", "9" * 5_000 + "x")
    assert len(told()) < 250


PRICE = {"input": 1, "output": 2, "cache_write": 3, "cache_read": 4}


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        (
            "FOOTNOTE_PRICES",
            {"m": {"input": 1}},
            "lacks output for m: it must be a number of at least 0.",
        ),
        (
            "FOOTNOTE_PRICES",
            {"m": {**PRICE, "input": "much"}},
            "has “much” as input of m: it must be a number",
        ),
        (
            "FOOTNOTE_PRICES",
            {"m": {**PRICE, "outptu": 1}},
            "has outptu for m, which is not known there: did you mean output",
        ),
        ("FOOTNOTE_PRICES", {"m": 3}, "has “3” for m: give it a table with input, output"),
        ("FOOTNOTE_PRICES", [1], "is “[1]”: it must be a table of tables."),
        (
            "FOOTNOTE_CHANNELS",
            {"C1": {"depth": "deeper"}},
            "has “deeper” as depth of C1: it must be auto, quick, standard, deep or exhaustive.",
        ),
        (
            "FOOTNOTE_CHANNELS",
            {"C1": {"tone": "x" * 2_000}},
            "as tone of C1: it must be a text of at most 1,000 characters.",
        ),
        (
            "FOOTNOTE_CHANNELS",
            {"C1": {"daily_usd": -1}},
            "has “-1” as daily_usd of C1: it must be a number above 0.",
        ),
        (
            "FOOTNOTE_CHANNELS",
            {"C1": {"providers": "local"}},
            "has “local” as providers of C1: it must be a list",
        ),
        (
            "FOOTNOTE_MCP",
            [{"name": "wiki", "url": "https://m.example/mcp"}],
            "is not right: no one may use the server wiki: add everybody = true, or one of",
        ),
        (
            "FOOTNOTE_MCP",
            [{"name": "wiki", "everybody": True}],
            "is not right: the server wiki needs a command or a url, and not both.",
        ),
        (
            "FOOTNOTE_MCP",
            [{"name": "wiki", "url": "https://m.example", "everybody": True, "headers": "hunter2"}],
            "has headers of number 1 that cannot be used: write a table of texts.",
        ),
        (
            "FOOTNOTE_MCP",
            [{"name": "My Wiki", "url": "https://m.example/mcp", "everybody": True}],
            "the name 'My Wiki' must consist of lowercase letters, digits and hyphens.",
        ),
    ],
)
def test_a_table_is_told_with_the_entry_that_is_wrong(
    name: str, given: object, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, json.dumps(given))
    sentence = told() if "did you mean" not in says else told_with_question()
    assert sentence.startswith(f"{name} ")
    assert says in sentence


def told_with_question() -> str:
    with pytest.raises(InvalidSetting) as caught:
        load_settings()
    return caught.value.sentence


@pytest.mark.parametrize(("name", "other"), [("PRICES", "CHANNELS"), ("CHANNELS", "PRICES")])
def test_json_that_is_none_is_told_with_an_example(
    name: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"FOOTNOTE_{name}", '{"hunter2')
    sentence = told()
    assert sentence.startswith(f"FOOTNOTE_{name} is not valid JSON: write it like {{")
    assert f"FOOTNOTE_{other}" not in sentence
    assert "hunter2" not in sentence
