"""Documents that pandoc reads: the real program, under the limits of a reading process."""

# ruff: noqa: E501 - a document a line
from __future__ import annotations

import subprocess
import sys

import pytest

from bot.core.errors import PageUnreadable, ReaderMissing
from bot.pages.extract import from_bytes
from bot.pages.formats import pandoc
from bot.pages.formats.pandoc import read_with_pandoc
from bot.pages.processes import Shares
from bot.pages.workers import Workers


@pytest.mark.parametrize(
    ("name", "source", "text"),
    [
        ("a.rtf", r"{\rtf1\ansi The office closes at {\b 16:00}.}", "The office closes at 16:00."),
        ("a.tex", r"\section{Yield} It was 84\,\% \emph{at most}.", "# Yield\n\nIt was 84 % at most."),
        ("a.wiki", "== Ferry ==\n* at [[noon]]\n", "## Ferry\n\n- at noon"),
        ("a.textile", "h2. Ferry\n\n|_. a |_. b |\n| 1 | 2 |\n", "## Ferry\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("a.dbk", "<article><title>F</title><section><title>Ferry</title><para>At noon.</para></section></article>", "# F\n\n# Ferry\n\nAt noon."),
        ("a.rst", "Ferry\n=====\n\n==== ====\nItem Cost\n==== ====\nBike 3\n==== ====\n\nAt **noon**.\n", "# Ferry\n\n| Item | Cost |\n| --- | --- |\n| Bike | 3 |\n\nAt noon."),
        ("ferry.1", ".TH FERRY 1\n.SH NAME\nferry \\- cross the sea\n.TP\n.B \\-\\-now\nAt noon.\n", "# FERRY\n\n# NAME\n\nferry - cross the sea\n\n- --now: At noon."),
        ("ferry.1", ".Dd May 1, 2026\n.Dt FERRY 1\n.Os\n.Sh NAME\n.Nm ferry\n.Nd cross the sea\n", "# FERRY\n\nMay 1, 2026\n\n# NAME\n\n`ferry` — cross the sea"),
        ("a.org", "* Ferry\n| Item | Cost |\n|------+------|\n| Bike | 3 |\n", "# Ferry\n\n| Item | Cost |\n| --- | --- |\n| Bike | 3 |"),
    ],
)  # fmt: skip
def test_a_document_is_read_whole(name: str, source: str, text: str) -> None:
    assert from_bytes(source.encode(), None, name).text == text


def test_what_pandoc_would_lose_is_read_as_text() -> None:
    source = "= Ferry\n\nWords before.\n\nifdef::x[]\nIn it.\nendif::[]\n\nAll these words come after it.\n"
    assert "All these words come after it." in from_bytes(source.encode(), None, "a.adoc").text


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.rst.txt", None), ("a.rst.txt", "text/x-rst"), ("a.txt", None), ("a", "text/x-rst")],
)
def test_only_a_file_named_by_its_format_is_read_by_pandoc(
    monkeypatch: pytest.MonkeyPatch, name: str, media_type: str | None
) -> None:
    monkeypatch.setattr(pandoc, "read_with_pandoc", None)
    text = from_bytes(b"Ferry\n=====\n\nAt **noon**.\n", media_type, name).text
    assert text.endswith("At **noon**.")


def test_pandoc_reads_no_other_file() -> None:
    source = ".. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n\nwords\n"
    assert "root:" not in from_bytes(source.encode(), None, "a.rst").text
    assert "root:" not in from_bytes(rb"\input{/etc/passwd} words", None, "a.tex").text


def test_a_damaged_document_is_named() -> None:
    with pytest.raises(PageUnreadable, match=r"^a\.fb2 could not be read by pandoc"):
        from_bytes(b"<FictionBook><body>", None, "a.fb2")


@pytest.mark.parametrize(
    ("name", "is_text"), [("a.rtf", True), ("a.dbk", False), ("a.1", False), ("a.tex", True)]
)
def test_without_pandoc(monkeypatch: pytest.MonkeyPatch, name: str, is_text: bool) -> None:
    monkeypatch.setattr(pandoc, "program", lambda: None)
    if is_text:
        assert "words" in from_bytes(b"words", None, name).text
        return
    with pytest.raises(ReaderMissing, match=rf"^Reading {name} needs pandoc: install it, or pip"):
        from_bytes(b".TH A 1", None, name)


def test_rtf_without_pandoc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pandoc, "program", lambda: None)
    table = rb"\trowd\cellx1 Item\cell Price\cell\row Toner\cell 79\cell\row\pard"
    source = rb"{\rtf1\ansi Caf\'e9 {\b opens} at \u8364? 5.\par " + table + rb" End.\par}"
    assert from_bytes(source, None, "a.rtf").text == (
        "Café opens at € 5.\n\n| Item | Price |\n| --- | --- |\n| Toner | 79 |\n\nEnd."
    )


@pytest.mark.parametrize("word", [rb"\strike", rb"\striked1", rb"\v", rb"\deleted"])
def test_rtf_without_pandoc_never_shows_what_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, word: bytes
) -> None:
    monkeypatch.setattr(pandoc, "program", lambda: None)
    with pytest.raises(ReaderMissing):
        from_bytes(rb"{\rtf1 The fee is {%s 49} 39 euros.}" % word, None, "a.rtf")


def test_latex_without_pandoc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pandoc, "program", lambda: None)
    source = rb"""\documentclass{article}\title{On yields}\begin{document}\maketitle
% left out
\section*{Result}\label{r}
It reached 84\,\% at 210~K \cite{x}. It was \sout{bad} good.
\subsection{Why}
\begin{itemize}\item One \item Two\end{itemize}
\end{document}"""
    reading = from_bytes(source, None, "a.tex")
    assert reading.title == "On yields"
    assert reading.text == (
        "## Result\n\nIt reached 84 % at 210 K . It was ~~bad~~ good.\n\n### Why\n\n- One\n- Two"
    )


def test_too_little_memory_is_told_from_a_damaged_document() -> None:
    """The limit of the reading process holds for pandoc too."""
    program = (
        "from bot.pages.processes import limit_memory\n"
        "from bot.pages.formats.pandoc import read_with_pandoc\n"
        "import bot.pages.markup\n"
        "limit_memory(60_000_000)\n"
        "try: read_with_pandoc('rst', 'words ' * 2_000_000, 'a')\n"
        "except MemoryError: print('too little')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "too little\n", ran.stderr


async def test_a_reading_process_reads_with_pandoc() -> None:
    workers = Workers.single_process(Shares())
    try:
        reading = await workers.extract(rb"{\rtf1 words}", None, "a.rtf")
    finally:
        await workers.aclose()
    assert (reading.title, reading.text) == ("a", "words")


def test_a_document_without_a_title_has_none() -> None:
    assert read_with_pandoc("rst", "words", "a.rst").title == ""
