"""JSON and settings: values with their path, comments kept; interfaces by method and path."""

from __future__ import annotations

import json

import pytest

from bot.pages.extract import from_bytes
from bot.pages.passages import split


def read(source: object, name: str = "a.json") -> str:
    text = source if isinstance(source, str) else json.dumps(source)
    return from_bytes(text.encode(), None, name).text


def test_each_value_has_its_path() -> None:
    value = {"name": "shop", "smtp": {"host": "mail", "relay": {"port": 587}}, "on": True}
    assert read(value) == (
        "```\nname: shop\non: true\n```\n\n## smtp\n\n"
        "```\nsmtp.host: mail\nsmtp.relay.port: 587\n```"
    )


def test_long_texts_are_paragraphs_below_their_key() -> None:
    assert read({"note": "One.\nTwo."}) == "## note\n\nOne.\nTwo."


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_records_are_a_table(name: str) -> None:
    rows = [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "owner": "Ann"}]
    source = json.dumps(rows) if name == "a.json" else "\n".join(map(json.dumps, rows))
    assert read(source, name) == (
        "| id | tags | owner |\n| --- | --- | --- |\n| 1 | a, b |  |\n| 2 |  | Ann |"
    )


def test_large_records_are_sections_headed_by_their_names() -> None:
    rows = [{"title": "Door", "body": "Words. " * 300}, {"title": "Heat", "body": "Cold."}]
    assert [p.heading for p in split(read(rows))][-1] == "Heat"


def test_control_characters_that_json_hides_are_left_out() -> None:
    assert read('{"a": "x\\u0002y\\u0003", "b": "\\\\u0002"}') == "```\na: xy\nb: \\u0002\n```"


API = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "2"},
    "paths": {
        "/orders/{id}": {
            "get": {
                "summary": "Read an order",
                "parameters": [
                    {"name": "id", "in": "path", "schema": {"type": "string"}},
                    {"name": "expand", "in": "query", "description": "What to include"},
                ],
                "responses": {"404": {"description": "No such order"}},
            },
            "delete": {"summary": "Cancel within 14 days"},
        }
    },
}


@pytest.mark.parametrize("name", ["api.json", "api.yaml"])
def test_an_interface_is_set_by_method_and_path(name: str) -> None:
    reading = from_bytes(json.dumps(API, indent=1).encode(), None, name)  # JSON is YAML too

    assert reading.title == "Shop 2"
    by_heading = {passage.heading: passage.text for passage in split(reading.text)}
    assert by_heading["DELETE /orders/{id}"] == "```\nsummary: Cancel within 14 days\n```"
    assert "responses.404.description: No such order" in by_heading["GET /orders/{id}"]
    assert any("| expand | query |" in text for text in by_heading.values())


YAML = """# The main settings
name: shop

# Mail goes out here
smtp:
  host: mail  # internal
  port: 587
jobs:
- name: nightly
  cron: "0 3 * * *"
"""


def test_yaml_keeps_its_lines_and_comments_below_its_keys() -> None:
    assert read(YAML, "a.yaml") == (
        "```\n# The main settings\nname: shop\n```\n\n"
        "## smtp\n\n```\n# Mail goes out here\nsmtp:\n  host: mail  # internal\n  port: 587\n```"
        "\n\n## jobs\n\n```\njobs:\n```\n\n"
        '### nightly\n\n```\n- name: nightly\n  cron: "0 3 * * *"\n```'
    )


@pytest.mark.parametrize("name", ["a.toml", "a.ini", "a.cfg", "a.conf"])
def test_tables_of_settings_are_sections(name: str) -> None:
    source = "top = 1\n\n; about it\n[tool.x] # y\nport = 5\n[[people]]\nname = 'Ann'\n"
    assert read(source, name) == (
        "```\ntop = 1\n```\n\n## tool.x\n\n```\n; about it\n[tool.x] # y\nport = 5\n```\n\n"
        "## people\n\n```\n[[people]]\nname = 'Ann'\n```"
    )


def test_references_that_multiply_are_not_followed_without_end() -> None:
    """YAML's anchors make a short text a very long value."""
    levels = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 9))
    text = read(f"openapi: 3.0.0\npaths: {{}}\nx0: &x0 [a, b]\n{levels}", "a.yaml")
    assert len(text) < 6_000_000
