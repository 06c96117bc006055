"""The program in a terminal without a model: demo, ask, threads, chat, index, bad input."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.fakes.pdf import pdf, typed
from tests.scenario.program import Ended, Program


def quotes(ended: Ended) -> str:
    return " ".join(citation["quote"] for citation in ended.json["citations"])


def test_the_demo_answers_a_question_and_a_follow_up_with_footnotes(alone: Program) -> None:
    ended = alone.run("demo")
    assert ended.code == 0, ended.err
    assert ended.out.count("Sources:") == 2
    assert "[1]" in ended.out
    assert "✓ Search " in ended.err
    assert "✓ Read " in ended.err


def test_a_question_is_answered_from_documents(alone: Program, documents: Path) -> None:
    ended = alone.run("ask", "--json", "--docs", str(documents), "Who approves expensive journeys?")
    assert ended.code == 0, ended.err
    assert ended.json["status"] == "answered"
    assert "Maria Keller" in quotes(ended)
    assert ended.json["citations"][0]["url"] == (documents / "travel.md").as_uri()


LEASE = """From: Paula Reyes <paula@example.org>
Subject: Printer lease
Date: Tue, 10 Mar 2026 09:12:00 +0100

The printer lease runs for 36 months.
"""


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is this document about?", "36 months"),
        ("Summarize the attached file", "36 months"),
        ("What does it say about the lease?", "36 months"),
        ("For how many months does the printer lease run?", "36 months"),
    ],
)
def test_a_file_that_is_named_is_asked_first(footnote: Program, question: str, words: str) -> None:
    mail = footnote.folder / "lease.eml"
    mail.write_text(LEASE)
    ended = footnote.run("ask", "--json", "--docs", str(mail), question)
    assert ended.code == 0, ended.err
    assert words in quotes(ended)
    assert ended.json["citations"][0]["url"] == mail.as_uri()


def test_the_statements_of_a_file_need_a_model(footnote: Program, documents: Path) -> None:
    text = footnote.folder / "mail.html"
    text.write_text("<p>Maria Keller approves expensive journeys.</p><p>Lunch is at 23:15.</p>")
    ended = footnote.run("check", str(text), "--docs", str(documents))
    assert ended.code == 2
    assert "needs a language model" in ended.err
    missing = footnote.run("check", str(text.with_name("none.txt")))
    assert missing.code == 2
    assert "none.txt cannot be read: No such file or directory." in missing.err
    empty = footnote.run("check", "-", stdin="\n")
    assert (empty.code, empty.err) == (2, "The text is empty: there is nothing to check.\n")
    long = footnote.run("check", "-", stdin="It is 3 m. " * 2_000)
    assert "The text has 22,000 characters, but at most 20,000 can be checked" in long.err


def test_what_is_kept_is_for_the_user_alone(footnote: Program, documents: Path) -> None:
    ended = footnote.run("ask", "--docs", str(documents), "Who approves expensive journeys?")
    assert ended.code == 0, ended.err
    data = footnote.folder / "data"
    kept = [data, *data.rglob("*")]
    assert any(path.suffix == ".sqlite" for path in kept)
    assert {path: oct(path.stat().st_mode & 0o077) for path in kept} == dict.fromkeys(kept, "0o0")


def test_the_json_contract(footnote: Program, documents: Path) -> None:
    answer = footnote.run("ask", "--json", "--docs", str(documents), "When is lunch?").json
    assert list(answer) == [
        "status",
        "answer",
        "citations",
        "question",
        "queries",
        "reasoner",
        "steps",
        "usage",
        "doubts",
        "disagreements",
        "changes",
        "corrects",
        "notes",
        "suggestions",
        "missing",
        "verification",
        "run",
    ]
    assert set(answer["citations"][0]) == {
        "number",
        "url",
        "title",
        "kind",
        "heading",
        "quote",
        "via",
    }
    assert set(answer["steps"][0]) == {"kind", "title", "state", "seconds"}
    assert set(answer["usage"]) == {
        "model_calls",
        "searches",
        "pages",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "seconds",
        "usd",
    }
    assert (answer["reasoner"], answer["usage"]["model_calls"]) == ("closest", 0)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When was the company founded?", "1987"),
        ("What does lunch cost?", "6.50 euros"),
        ("差旅费用由谁批准？", "财务总监"),
    ],
)
def test_markdown_text_html_and_chinese_are_found(
    footnote: Program, documents: Path, question: str, words: str
) -> None:
    ended = footnote.run("ask", "--json", "--docs", str(documents), question)
    assert words in quotes(ended)


def test_a_thread_goes_on_in_another_process(footnote: Program, documents: Path) -> None:
    common = ("ask", "--json", "--docs", str(documents), "--thread", "keys")
    first = footnote.run(*common, "How often is the master key rotated?")
    assert "90 days" in quotes(first)
    second = footnote.run(*common, "And who does it?")
    assert "key" in second.json["question"].casefold()
    assert "security team" in quotes(second)


def test_what_asks_for_something_else_gets_no_passage_of_the_thread(
    footnote: Program, documents: Path
) -> None:
    common = ("ask", "--json", "--docs", str(documents), "--thread", "trips")
    footnote.run(*common, "Who approves expensive journeys?")
    strange = footnote.run(*common, "Who invented the zeppelin?")
    assert (strange.code, strange.json["status"]) == (1, "not_found")
    assert "do not mention invented, zeppelin" in strange.err
    assert "Maria Keller" in quotes(footnote.run(*common, "And for children?"))


def test_a_follow_up_in_another_thread_knows_nothing_of_it(
    footnote: Program, documents: Path
) -> None:
    common = ("ask", "--json", "--docs", str(documents))
    footnote.run(*common, "--thread", "keys", "How often is the master key rotated?")
    other = footnote.run(*common, "--thread", "other", "And who does it?")
    assert "key" not in other.json["question"].casefold()


def test_a_mistyped_conversation_is_noticed(footnote: Program, documents: Path) -> None:
    common = ("ask", "--docs", str(documents))
    first = footnote.run(*common, "--thread", "keys", "How often is the master key rotated?")
    assert 'Beginning a new conversation "keys".' in first.err
    again = footnote.run(*common, "--thread", "keys", "And who does it?")
    assert "Beginning" not in again.err
    other = footnote.run(*common, "--thread", "kesy", "And who does it?")
    assert 'Beginning a new conversation "kesy" (did you mean "keys"?).' in other.err


def test_a_pipe_gets_markdown_with_its_sources_and_no_colours(
    footnote: Program, documents: Path
) -> None:
    ended = footnote.run("ask", "--docs", str(documents), "Who approves expensive journeys?")
    assert "\x1b" not in ended.out + ended.err
    assert f"— {(documents / 'travel.md').as_uri()}" in ended.out
    assert "Maria Keller" in ended.out


def test_a_pdf_document_is_quoted_with_its_page(footnote: Program, documents: Path) -> None:
    pages = [
        typed(["The lamp was lit for the first time in 1874, and it stands to this day."]),
        typed(["The keeper of the lighthouse is paid 1,200 marks a year."]),
    ]
    (documents / "light.pdf").write_bytes(pdf(pages, title="The Lighthouse", first_label=11))
    (documents / "secret.pdf").write_bytes(pdf(pages, locked=True))
    asked = ("ask", "--docs", str(documents), "What is the keeper of the lighthouse paid?")
    shown = footnote.run(*asked)
    assert "The keeper of the lighthouse is paid 1,200 marks a year [1]." in shown.out
    assert shown.out.count("is paid 1,200 marks a year") == 1  # in the answer, not again below
    assert "— Page 12" in shown.out
    (skipped,) = [line for line in shown.err.splitlines() if "Skipped" in line]
    assert "secret.pdf is a PDF document locked with a password" in skipped
    (citation, *_) = footnote.run(*asked, "--json").json["citations"]
    assert citation["url"] == (documents / "light.pdf").as_uri()
    assert (citation["title"], citation["heading"]) == ("The Lighthouse", "Page 12")
    assert citation["quote"] == "The keeper of the lighthouse is paid 1,200 marks a year."


def test_a_question_can_come_from_standard_input(footnote: Program, documents: Path) -> None:
    ended = footnote.run("ask", "--json", "--docs", str(documents), "-", stdin="What is lunch?\n")
    assert ended.json["question"] == "What is lunch?"


def test_a_chat_remembers_what_was_said(footnote: Program, documents: Path) -> None:
    ended = footnote.run(
        "chat",
        "--docs",
        str(documents),
        stdin="How often is the master key rotated?\n\nAnd who does it?\n/quit\n",
    )
    assert ended.code == 0, ended.err
    assert ended.out.count("Sources:") == 2
    assert "security team" in ended.out


def test_what_is_not_there_is_said_and_is_not_an_answer(footnote: Program, documents: Path) -> None:
    ended = footnote.run(
        "ask", "--json", "--docs", str(documents), "Zyzzyva quokka xylophone frobnication?"
    )
    assert (ended.code, ended.json["status"]) == (1, "not_found")
    assert ended.json["answer"]
    assert ended.json["citations"] == []


# ---------------------------------------------------------------- indexing


def test_indexing_again_reads_only_what_has_changed(footnote: Program, documents: Path) -> None:
    first = footnote.run("index", str(documents))
    assert "5 new" in first.err
    (documents / "keys.md").write_text("# Keys\n\nThe master key is rotated every 30 days.\n")
    (documents / "zh.md").unlink()
    second = footnote.run("index", str(documents))
    assert "1 changed, 1 removed, 3 unchanged" in second.err
    ended = footnote.run(
        "ask", "--json", "--docs", str(documents), "How often is the master key rotated?"
    )
    assert "30 days" in quotes(ended)
    assert "90 days" not in quotes(ended)


def test_a_binary_file_is_skipped_with_its_reason(footnote: Program, documents: Path) -> None:
    (documents / "photo.md").write_bytes(bytes(range(256)) * 20)
    ended = footnote.run("index", str(documents))
    assert ended.code == 0
    assert "photo.md" in ended.err


def test_a_corrupted_index_is_made_anew(footnote: Program, documents: Path) -> None:
    footnote.run("index", str(documents))
    index = footnote.folder / "data" / "index.sqlite"
    index.write_bytes(b"not an index" * 1000)
    ended = footnote.run("ask", "--json", "--docs", str(documents), "What does lunch cost?")
    assert ended.code == 0, ended.err
    assert "6.50" in quotes(ended)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask", ""], "question is empty"),
        (["ask", " \t\x07 ?!"], "question is empty"),
        (["ask", "x" * 100_000], "100,000 characters"),
        (["ask", "--docs", "no/such/folder", "What?"], "no/such/folder"),
        (["index", "no/such/folder"], "no/such/folder"),
        (["ask", "--provider", "wikipeda", "What?"], "wikipedia"),
        (["ask", "--depth", "abyss", "What?"], "abyss"),
        (["ask", "--since", "2026-02-30", "What?"], "2026-02-30 is not a day: write it as 2026-"),
        (["ask"], "QUESTION"),
        (["aks", "What?"], "aks"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    footnote: Program, arguments: list[str], sentence: str
) -> None:
    ended = footnote.run(*arguments)
    assert ended.code == 2, ended
    assert sentence in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("FOOTNOTE_MODLE", "x", "FOOTNOTE_MODEL"),
        ("FOOTNOTE_MAX_USD", "many", "FOOTNOTE_MAX_USD"),
        ("FOOTNOTE_REASONER", "claude", "ANTHROPIC_API_KEY"),
        ("FOOTNOTE_DATABASE_URL", "nonsense", "FOOTNOTE_DATABASE_URL"),
        ("FOOTNOTE_FETCH_ALLOW", "10.0.0.0/99", "FOOTNOTE_FETCH_ALLOW"),
        ("FOOTNOTE_PROVIDERS", "googol", "googol"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_exit_code_2(
    footnote: Program, name: str, value: str, sentence: str
) -> None:
    ended = footnote.run("ask", "What?", **{name: value})
    assert ended.code == 2, ended
    assert sentence in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_no_key_no_documents_and_no_network_say_what_to_do(footnote: Program) -> None:
    ended = footnote.run(
        "ask", "--json", "How tall is it?", FOOTNOTE_WIKIPEDIA_URL="http://127.0.0.1:9"
    )
    assert (ended.code, ended.json["status"]) == (1, "failed")
    assert "wikipedia" in ended.json["answer"]
    assert "FOOTNOTE_WIKIPEDIA_URL" in ended.err


def test_control_characters_in_a_question_do_no_harm(footnote: Program, documents: Path) -> None:
    ended = footnote.run(
        "ask", "--json", "--docs", str(documents), "What does\x1b[31m lunch\x07 cost?"
    )
    assert "6.50" in quotes(ended)
    assert "\x1b" not in json.dumps(ended.json, ensure_ascii=False)


def test_a_locked_database_is_one_sentence_and_the_question_can_be_asked_again(
    footnote: Program, documents: Path
) -> None:
    assert footnote.run("db", "upgrade").code == 0
    path = footnote.folder / "data" / "footnote.sqlite"
    footnote.settings["FOOTNOTE_DATABASE_URL"] = f"sqlite+aiosqlite:///{path}?timeout=0.5"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    ended = footnote.run("ask", "--docs", str(documents), "What does lunch cost?")
    assert ended.code == 1
    assert "locked by another process" in ended.err
    holder.close()
    assert footnote.run("ask", "--docs", str(documents), "What does lunch cost?").code == 0


def test_a_data_folder_that_cannot_be_made_is_one_sentence(
    footnote: Program, documents: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = footnote.run(
        "ask", "--docs", str(documents), "What?", FOOTNOTE_DATA_DIR=str(tmp_path / "file" / "data")
    )
    assert ended.code == 1
    assert "FOOTNOTE_DATA_DIR" in ended.err


def test_an_unreadable_document_is_skipped_and_named(footnote: Program, documents: Path) -> None:
    secret = documents / "keys.md"
    secret.chmod(0)
    if secret.stat().st_mode & stat.S_IRUSR:
        raise AssertionError("chmod did nothing")
    ended = footnote.run("index", str(documents))
    assert ended.code == 0


# ---------------------------------------------------------------- help and the rest


@pytest.mark.parametrize("command", ["ask", "chat", "demo", "index", "doctor", "db"])
def test_every_command_explains_itself(footnote: Program, command: str) -> None:
    ended = footnote.run(command, "--help")
    assert ended.code == 0
    assert len(ended.out.splitlines()) > 4


def test_the_version_is_printed(footnote: Program) -> None:
    assert footnote.run("--version").out.startswith("footnote 0.")


def test_the_doctor_says_what_works_and_what_to_fix(footnote: Program, documents: Path) -> None:
    ended = footnote.run("doctor", FOOTNOTE_DOCS=str(documents))
    assert "✓ Storage" in ended.out
    assert "footnote index" in ended.out
    assert "FOOTNOTE_MAX_USD" not in ended.out
    ended = footnote.run("doctor", "--verbose", FOOTNOTE_WIKIPEDIA_URL="http://127.0.0.1:9")
    assert ended.code == 1
    assert ended.out.startswith("✗ Search (wikipedia)")
    assert "FOOTNOTE_MAX_USD" in ended.out


@pytest.fixture
def offices(tmp_path: Path) -> Path:
    """Three years of a handbook, minutes by month, mails by two people, one fact in two kinds."""
    docs = tmp_path / "offices"
    files = {
        f"handbook-{year}/leave.md": f"# Leave\n\nEverybody has {days} days of paid leave."
        for year, days in ((2024, 24), (2025, 27), (2026, 30))
    }
    for month, what in (("02", "the crane"), ("04", "the barge"), ("06", "the ferry")):
        text = f"# Minutes\n\nThe board decided to buy {what}."
        files[f"minutes/2026-{month}-14 Board.md"] = text
    files["mails/1.eml"] = LEASE
    files["mails/2.eml"] = LEASE.replace("Paula Reyes <paula", "Tom Weber <tom").replace("36", "48")
    for name, text in files.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text)
    (docs / "costs.md").write_text("# Costs\n\nThe new roof costs 900 euros.")
    (docs / "offer.pdf").write_bytes(pdf([typed(["The new roof costs 800 euros."])]))
    return docs


@pytest.mark.parametrize(
    ("question", "words", "not_words", "note"),
    [
        (
            "How many days of paid leave are there in the 2025 handbook?",
            ("27 days",),
            ("24", "30"),
            "Searched only in: 2025 handbook",
        ),
        (
            "What did the board decide since April 2026?",
            ("the barge", "the ferry"),
            ("the crane",),
            "Searched only in: since 1 April 2026",
        ),
        (
            "What did the board decide in the minutes in February 2026?",
            ("the crane",),
            ("the barge", "the ferry"),
            "Searched only in: minutes, 1 February 2026 to 28 February 2026",
        ),
        (
            "How long does the printer lease run in Paula's mails?",
            ("36 months",),
            ("48",),
            "Searched only in: Paula's mails",
        ),
        (
            "What does the new roof cost according to the PDF?",
            ("800 euros",),
            ("900",),
            "Searched only in: PDF",
        ),
        (
            "What did the board decide since May 2031?",
            ("the crane",),
            (),
            "Nothing found in these documents: since 1 May 2031. I searched all documents.",
        ),
        (
            "How long does the printer lease run in the 2025 handbook?",
            ("36 months",),
            (),
            "Nothing found in these documents: 2025 handbook. I searched all documents.",
        ),
        ("What does the new roof cost in the 2019 report?", ("900 euros", "800 euros"), (), ""),
    ],
)
def test_a_question_names_the_documents_to_search(
    footnote: Program,
    offices: Path,
    question: str,
    words: tuple[str, ...],
    not_words: tuple[str, ...],
    note: str,
) -> None:
    ended = footnote.run("ask", "--json", "--docs", str(offices), question)
    assert ended.code == 0, ended.err
    quoted = quotes(ended)
    assert all(each in quoted for each in words), quoted
    assert not any(each in quoted for each in not_words), quoted
    assert [each for each in ended.json["notes"] if "earched" in each] == [note] * bool(note)


@pytest.mark.parametrize(
    ("options", "words", "told"),
    [
        (["--in", "2025 handbook"], ["27 days"], "Searched only in: 2025 handbook"),
        (
            ["--in", "minutes", "--since", "2026-04-01", "--until", "2026-04-30"],
            [],
            "Searched only in: minutes, 1 April 2026 to 30 April 2026",
        ),
        (
            ["--in", "handbok"],
            [],
            "No document matches: handbok. Similar names: handbook-2024; handbook-2025; ",
        ),
    ],
)
def test_options_choose_the_documents_to_search(
    footnote: Program, offices: Path, options: list[str], words: list[str], told: str
) -> None:
    asking = "How many days of paid leave are there?"
    ended = footnote.run("ask", "--docs", str(offices), *options, asking)
    assert ended.code == (0 if words else 2 if "handbok" in told else 1), ended.err
    assert told in ended.out + ended.err
    assert all(each in ended.out for each in words), ended.out
    assert "24 days" not in ended.out, "all documents were searched"
