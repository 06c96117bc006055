"""Questions made of headings, and their wording."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.research.suggestions.wordings import (
    LONGEST,
    Casing,
    about_identifier,
    about_option,
    cleaned,
    in_english,
    name_in,
)


def asked(heading: str, text: str = "") -> str:
    return in_english(cleaned(heading), Casing.of(text))


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("How do I enable caching?", "How do I enable caching?"),
        ("why does the connection hang on start?", "Why does the connection hang on start?"),
        ("What is a handler", "What is a handler?"),
        ("What happens when a run is resumed", "What happens when a run is resumed?"),
        ("How to rotate keys", "How do I rotate keys?"),
        ("When to use a subquery", "When should I use a subquery?"),
        ("What to do if the disk is full", "What should I do if the disk is full?"),
        ("If the responder is slow or unreliable", "What if the responder is slow or unreliable?"),
        ("How address verification works", "How does address verification work?"),
        ("How Django works", "How does Django work?"),
        ("How applications are loaded", "How are applications loaded?"),
        (
            "Limitations of address verification",
            "What are the limitations of address verification?",
        ),
        ("Types of joins", "What types of joins are there?"),
        ("Lists versus tuples", "What is the difference between Lists and tuples?"),
        ("Difference between TCP and UDP", "What is the difference between TCP and UDP?"),
        ("WSGI vs. ASGI", "What is the difference between WSGI and ASGI?"),
        ("Installing plugins", "How do I install plugins?"),
        ("Overriding your theme", "How do I override my theme?"),
        ("Writing and running tests", "How do I write and run tests?"),
        ("Building an image from a file", "How do I build an image from a file?"),
        ("Controlling the prompt of Bash", "How do I control the prompt of Bash?"),
        ("3.2.1. Limiting a subquery to one column", ""),  # "one" may point at another heading
        ("3.2.1. Limiting a subquery to a column", "How do I limit a subquery to a column?"),
        ("Log rotation", "How does Log rotation work?"),
        ("LogFormat Directive", "What does the LogFormat directive do?"),
        ("dev_addr setting", "What is the `dev_addr` setting for?"),
        ("--dry-run", "What does `--dry-run` do?"),
        ("site_url", "What is `site_url` for?"),
        ("`AppConfig.ready()`", "What does `AppConfig.ready()` do?"),
        ("load_config(options, **more)¶", "What does `load_config()` do?"),
    ],
)
def test_a_heading_of_a_safe_pattern_becomes_a_question(heading: str, question: str) -> None:
    assert asked(heading) == question


@pytest.mark.parametrize(
    "heading",
    [
        "", "Overview", "Introduction", "Options", "Examples", "See also", "Home", "Index",
        "Version 2.1", "Release notes", "What's new in Python 3.8", "Changes in 1.2", "Bug fixes",
        "Upgrading to 3.0", "2023-04-01", "Electric charge", "Pontotoc County, Oklahoma", "Eiffel",
        "Page 17", "Name | Type | Default", "How do I do this?", "What is it?", "What is read?",
        "Getting started with Footnote", "Why use the example above?", "Building blocks",
        "Running time", "Testing tools", "Writing the scripts", "Fixing the bug", "Mailing lists",
        "Controlling terminal for scripts", "Monitoring tools",
        "Using X and modifying Y", "Creating files - the tool", "SIMPLE COMMAND EXPANSION",
        "class DiscoverRunner(…)", "ls(1)", "AUTHOR(S)", "url() -> str property", "index.html",
        "https://example.org/installing", "--help", "Installing <script>", "Installing @everyone",
        "What users can do", "What kind of file to use?", "Vacuum, Routine Locking",
        "Using file rotation!? maybe. Or not", "Installing " + "very " * 30 + "much",
    ],
)  # fmt: skip
def test_all_else_becomes_none(heading: str) -> None:
    assert asked(heading) == ""


def test_words_in_title_case_follow_the_text_of_the_page() -> None:
    text = "Get a package for the Python interpreter. The log needs a rotation, as local files do."
    assert asked("Installing Python Packages", text) == "How do I install Python packages?"
    assert asked("Log Rotation", text) == "How does log rotation work?"
    assert asked("Local Files versus Network Shares", text) == (
        "What is the difference between local files and network shares?"
    )
    assert asked("Installing Python Packages") == "How do I install Python Packages?"
    assert asked("How do I read RSA Packages?", text) == "How do I read RSA Packages?"


def test_an_option_is_asked_about_with_its_command() -> None:
    assert about_option("--hard", "git-reset(1) Manual Page") == (
        "What does `--hard` do in `git-reset`?"
    )
    assert about_option("--hard", "Undoing things") == "What does `--hard` do?"
    assert about_option("--help", "git-reset(1)") == ""


def test_a_file_or_word_is_no_identifier() -> None:
    assert [about_identifier(name) for name in ("index.html", "Search", "docs", "1.2.3")] == [
        ""
    ] * 4


def test_the_name_in_a_heading_goes_without_its_kind() -> None:
    assert name_in("LogFormat Directive") == "LogFormat"
    assert name_in("Log files") == "Log files"


@given(st.text(max_size=120))
def test_whatever_a_heading_holds_a_question_is_one_short_line(heading: str) -> None:
    question = asked(heading)
    assert question == "" or (question.endswith("?") and question.isprintable())
    assert len(question) <= LONGEST + 40  # an identifier is never cut
