"""The prompts: loaded without their comments, with every placeholder filled."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from bot import reasoning
from bot.reasoning.calls import TAGS
from bot.reasoning.calls import prompt as load
from bot.reasoning.rewrite_prompt import SCHEMA
from bot.reasoning.tool_loop import TOOLS

NAMES = sorted(
    path.name.removesuffix(".md")
    for path in files(reasoning).joinpath("prompts").iterdir()
    if path.name.endswith(".md")
)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_opens_with_what_it_must_achieve(name: str) -> None:
    text = files(reasoning).joinpath("prompts").joinpath(f"{name}.md").read_text("utf-8")
    assert text.startswith("<!--\nWhat it must achieve:")


@pytest.mark.parametrize("name", NAMES)
def test_the_comment_is_not_sent_and_nothing_is_left_open(name: str) -> None:
    text = load(name, citing="CITE", ask_next="ASK")
    assert "<!--" not in text
    assert "What it must achieve" not in text
    assert re.search(r"\{[a-z_]+\}", text) is None


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        load("write")


def test_a_value_is_not_searched_for_placeholders() -> None:
    assert "{text}" in load("write", citing="{text}", ask_next="")


def test_the_rewrite_prompt_explains_every_field() -> None:
    assert all(f"`{name}`" in load("rewrite") for name in SCHEMA["properties"])


def test_the_loop_prompt_explains_every_tool_and_field() -> None:
    text = load("iterate", ask_next="")
    for tool in TOOLS:
        assert f"`{tool.name}`" in text
    assert all(f"`{name}`" in text for name in TOOLS[2].schema["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_names_only_tags_that_are_guarded(name: str) -> None:
    text = files(reasoning).joinpath("prompts").joinpath(f"{name}.md").read_text("utf-8")
    named = set(re.findall(r"`</?([a-z_]+)", text))
    assert named <= set(TAGS)


def test_every_tag_that_requests_are_made_of_is_guarded() -> None:
    code = [each.read_text("utf-8") for each in Path(reasoning.__path__[0]).rglob("*.py")]
    made = {tag for text in code for tag in re.findall(r"element\(\s*[\"']([a-z_]+)", text)}
    assert "page" in made
    assert made <= set(TAGS)


def test_no_prompt_depends_on_the_run() -> None:
    for name in ("rewrite", "iterate"):
        text = load(name, ask_next=load("ask_next"))
        assert text == load(name, ask_next=load("ask_next"))
        assert not re.search(r"\b20\d\d\b", text.replace("and in 2019?", ""))
