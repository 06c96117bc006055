"""The bench of documentation: what counts as found and quoted, the baseline, sets, whole runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench import documentation
from tests.bench.documentation import packages, questions, results
from tests.bench.documentation.baseline import Baseline, Found, chunks, spaced
from tests.bench.documentation.questions import Answerable
from tests.bench.documentation.rendering import Document, documents, read
from tests.bench.documentation.scoring import (
    Answered,
    Refusal,
    answered,
    holds,
    length,
    path_of,
    stands,
)
from tests.bench.documentation.sets import SETS, chosen

ITEM = Answerable(
    id="x-01",
    kind="default",
    question="How long does it wait?",
    pages=("mod/core.html",),
    words=(("60 seconds",), ("TimeOut 60", "default")),
)


def said(*citations: tuple[str, str], status: str = "answered") -> dict[str, Any]:
    """The command's output for citations, given as pairs of address and quote."""
    return {
        "status": status,
        "answer": "It waits [1].",
        "citations": [{"url": url, "quote": quote} for url, quote in citations],
        "queries": [],
        "usage": {"seconds": 0.5},
    }


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("it waits **60**\n  seconds", "60 seconds"),
        ("`TimeOut` 60", "timeout 60"),
        ("| TimeOut | 60 |", "TimeOut 60"),
        ("86400000L", "86400000"),
        ("it’s “so”", 'it\'s "so"'),
        ("默认值 是\n60 秒", "默认值是 60秒"),
        ("--soft-limit=3", "--soft-limit"),
    ],
)
def test_a_piece_is_found_whatever_its_marks_case_and_spaces(text: str, piece: str) -> None:
    assert holds([text], [[piece]])


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("160 seconds", "60 seconds"),
        ("TimeOut 600", "TimeOut 60"),
        ("timeouts", "timeout"),
        ("it waits seconds, 60 of them", "60 seconds"),
    ],
)
def test_a_piece_is_not_found_inside_a_longer_word_or_number(text: str, piece: str) -> None:
    assert not holds([text], [[piece]])


def test_all_pieces_of_one_alternative_must_stand_but_not_in_the_same_text() -> None:
    words = [["60 seconds"], ["TimeOut 60", "default"]]
    assert holds(["TimeOut 60", "the default"], words)
    assert not holds(["TimeOut 60"], words)
    assert not holds([], words)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("It waits, by default, 60 s [1][2].", 6),
        ("- `a_b` -- **c** | d |", 3),
        ("等待十七个字符的时间长度是很久很久", 10),
        ("使用 apt install", 2 + 2 / 1.7),
    ],
)
def test_an_answer_is_as_long_as_its_words(answer: str, words: float) -> None:
    assert length(answer) == pytest.approx(words)


# ---------------------------------------------------------------- scores


def test_only_quotes_from_expected_pages_count(tmp_path: Path) -> None:
    root = tmp_path / "a set"
    (root / "mod").mkdir(parents=True)
    (root / "mod/core.html").write_text("<p>TimeOut is 60 seconds.")
    (root / "other.html").write_text("<p>It is 60 seconds here, too.")
    core, other = ((root / path).as_uri() for path in ("mod/core.html", "other.html"))

    right = answered(ITEM, said((f"{core}#x", "TimeOut is 60 seconds.")), root, [])
    assert (right.page, right.words, right.refused) == (True, True, False)
    assert (right.quotes, right.true_quotes) == (1, 1)

    wrong = answered(ITEM, said((core, "TimeOut is"), (other, "It is 60 seconds")), root, [])
    assert (wrong.page, wrong.words) == (True, False)

    made_up = answered(ITEM, said((core, "TimeOut is 90 seconds.")), root, [])
    assert (made_up.quotes, made_up.true_quotes) == (1, 0)


def test_pages_offered_with_a_refusal_are_no_answer(tmp_path: Path) -> None:
    address = (tmp_path / "mod/core.html").as_uri()
    score = answered(ITEM, said((address, "60 seconds"), status="not_found"), tmp_path, [])
    assert (score.page, score.words, score.refused, score.quotes) == (False, False, True, 0)


def test_the_baseline_is_judged_by_the_chunks_of_expected_pages(tmp_path: Path) -> None:
    hits = [Found("other.html", "60 seconds"), Found("mod/core.html", "TimeOut 60")]
    score = answered(ITEM, said(status="not_found"), tmp_path, hits)
    assert (score.plain_page, score.plain_words) == (True, False)


def test_a_path_is_relative_to_the_root_only_below_it(tmp_path: Path) -> None:
    assert path_of((tmp_path / "a b/ä.html").as_uri() + "#here", tmp_path) == "a b/ä.html"
    assert path_of(tmp_path.as_uri() + "-other/x.html", tmp_path) == ""
    assert path_of("https://example.org/x.html", tmp_path) == ""


# ---------------------------------------------------------------- quotes


@pytest.mark.parametrize(
    ("quote", "is_there"),
    [
        ("Use `matrix[3][4]` here.", True),
        ("Use matrix3 here.", False),
        ("1. Use matrix[3][4] here.\n2. Then call it.", True),
        ("Then call it.\nUse matrix[3][4] here.", False),
        ("| Name | Meaning |\n| --- | --- |\n| a | both |\n| b | both |", True),
        ("| Name | Meaning |\n| --- | --- |\n| c | both |", False),
        ("Use matrix[3][4] here. Mind the gap. Then call it.", False),
    ],
)
def test_a_quote_stands_word_for_word(tmp_path: Path, quote: str, is_there: bool) -> None:
    file = tmp_path / "page.html"
    file.write_text(
        "<p>Use <code>matrix[3][4]</code> here.<p>Mind it.<p>Then <b>call</b> it."
        "<table><tr><th>Name<th>Meaning<tr><td>a<td rowspan=2>both<tr><td>b</table>"
    )
    assert stands(quote, file) is is_there


def test_markdown_is_compared_as_it_renders(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("See [the *guide*](../guide.md) first:\n\n```js\nlisten()\n```\n")
    assert stands("See [the *guide*](../guide.md) first:\n```js\nlisten()\n```", file)


# ---------------------------------------------------------------- the baseline


def a_baseline(folder: Path, *pages: tuple[str, str, str]) -> Baseline:
    Baseline.build(folder / "table.sqlite", (Document(*page) for page in pages))
    return Baseline(folder / "table.sqlite")


def test_the_baseline_finds_by_stems_and_weighs_titles(tmp_path: Path) -> None:
    filler = "nothing of interest " * 20
    found = a_baseline(
        tmp_path,
        ("a.html", "Logging", f"how requests are written. {filler}"),
        ("b.html", "Else", f"logging of requests. {filler}"),
        *((f"{i}.html", "Else", filler) for i in range(9)),
    )
    assert [hit.path for hit in found.search("Log a request?")] == ["a.html", "b.html"]
    assert found.search("«…»") == []


def test_the_baseline_gives_three_chunks_even_of_one_page(tmp_path: Path) -> None:
    found = a_baseline(tmp_path, ("a.html", "A", "timeout " * 1_500), ("b.html", "B", "timeout"))
    assert [hit.path for hit in found.search("timeout")].count("a.html") >= 2
    assert len(found.search("timeout")) == 3


def test_chinese_is_found_by_pairs_of_characters(tmp_path: Path) -> None:
    found = a_baseline(tmp_path, ("a.html", "安装", "如何安装软件包"), ("b.html", "", "装安"))
    assert [hit.path for hit in found.search("软件怎么安装")] == ["a.html"]
    assert spaced("用apt安装包") == " 用 apt 安装 装包 "


def test_chunks_are_cut_at_spaces_and_lose_nothing() -> None:
    text = " ".join(f"word{i}" for i in range(1_000))
    pieces = list(chunks(text))
    assert " ".join(pieces) == text
    assert max(map(len, pieces)) <= 1_700
    assert "".join(chunks("字" * 4_000)) == "字" * 4_000


# ---------------------------------------------------------------- documents, sets, questions


def test_documents_are_read_without_scripts_and_with_their_titles(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<title> The  title </title><script>no()</script><p>f<b>oo</b><p>bar<td>x</td><td>y</td>"
    )
    (tmp_path / "b.md").write_text(
        "---\ntitle: Front\n---\n# Head\n\n| a | b |\n|--|--|\n| c | d |\n"
    )
    (tmp_path / "c.rst").write_text(".. note:: x\n\nHeading\n=======\n\nText.")
    (tmp_path / "d.png").write_bytes(b"\x89PNG")
    found = {each.path: each for each in documents(tmp_path)}
    assert {path: each.title for path, each in found.items()} == {
        "a.html": "The title",
        "b.md": "Front",
        "c.rst": "Heading",
    }
    assert found["a.html"].text.split() == ["foo", "bar", "x", "y"]
    assert found["b.md"].text.split() == ["Head", "a", "b", "c", "d"]
    assert read(tmp_path / "d.png") is None


def test_a_clean_copy_has_no_links(tmp_path: Path) -> None:
    package, root = tmp_path / "package", tmp_path / "package/doc"
    (root / "deep").mkdir(parents=True)
    (package / "shared").mkdir()
    (package / "shared/page.html").write_text("shared")
    (root / "own.html").write_text("own")
    (root / "twin.html").symlink_to("own.html")
    (root / "from.html").symlink_to("../shared/page.html")
    (root / "top.html").symlink_to("/shared/page.html")
    (root / "deep/ring").symlink_to("..")
    (root / "out.html").symlink_to("/etc/hostname")
    packages.clean_copy(root, tmp_path / "copy", package)
    files = {
        path.relative_to(tmp_path / "copy").as_posix(): path.read_text()
        for path in (tmp_path / "copy").rglob("*")
        if path.is_file()
    }
    assert files == {"own.html": "own", "from.html": "shared", "top.html": "shared"}
    assert not any(path.is_symlink() for path in (tmp_path / "copy").rglob("*"))


def test_a_set_that_does_not_exist_is_refused() -> None:
    assert [docs.name for docs in chosen("npm, ant")] == ["npm", "ant"]
    with pytest.raises(SystemExit, match=r"no set nmp: choose among apache"):
        chosen("nmp")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "guess"}, "x-01 has the unknown kind guess"),
        ({"words": ["60 seconds"]}, "words of x-01 must be a list of lists"),
        ({"pages": []}, "x-01 needs pages and words"),
        ({"words": [[]]}, "x-01 needs pages and words"),
    ],
)
def test_a_wrong_question_is_named(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    item = {"id": "x-01", "kind": "fact", "question": "?", "pages": ["a"], "words": [["b"]]}
    (tmp_path / "npm.tune.json").write_text(json.dumps({"answerable": [item | change]}))
    with pytest.raises(ValueError, match=rf"npm\.tune\.json: .*{reason}"):
        questions.load("npm", "tune", tmp_path)


def test_the_questions_of_the_repository_can_be_read_and_mean_their_sets() -> None:
    files = sorted(questions.FOLDER.glob("*.json"))
    assert files
    for file in files:
        name, half, _ = file.name.split(".")
        assert half in questions.HALVES
        value = json.loads(file.read_text("utf-8"))
        assert value["set"] == name
        assert value.get("root", SETS[name].root) == SETS[name].root
        found = questions.load(name, half)
        ids = [item.id for item in found.answerable] + [item.id for item in found.off_topic]
        assert len(ids) == len(set(ids))


# ---------------------------------------------------------------- whole runs


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache that has one package already."""
    docs = tmp_path / "cache/packages" / SETS["fastify"].package / "package/docs"
    docs.mkdir(parents=True)
    (docs / "limits.md").write_text(
        "# Limits\n\nThe largest body that the server accepts is 4711 bytes by default.\n"
    )
    (docs / "logging.md").write_text("# Logging\n\nThe logger writes every request to a file.\n")
    return tmp_path / "cache"


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Questions about it, the same in both halves."""
    item = {
        "id": "fastify-01",
        "kind": "default",
        "question": "What is the largest body that the server accepts?",
        "pages": ["limits.md"],
        "words": [["4711 bytes"]],
    }
    lost = item | {"id": "fastify-02", "words": [["4712 bytes"]]}
    off = {"id": "fastify-x1", "kind": "other_field", "question": "Wie backt man Brot im Ofen?"}
    folder = tmp_path / "questions"
    folder.mkdir()
    for half in ("tune", "held"):
        value = {"set": "fastify", "answerable": [item, lost], "off_topic": [off]}
        (folder / f"fastify.{half}.json").write_text(json.dumps(value))
    return folder


def test_a_run_asks_footnote_and_the_baseline(
    cache: Path, asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--cache", str(cache), "--questions", str(asked), "--sets", "fastify"]
    documentation.main([*common, "--failures", "--json", str(tmp_path / "before.json")])
    printed = capsys.readouterr().out
    assert "half tune" in printed
    assert "half held" in printed
    assert printed.count("--- fastify-02 (default): the words are not quoted") == 1

    found = json.loads((tmp_path / "before.json").read_text())["outcomes"]
    assert [(each["name"], each["half"]) for each in found] == [
        ("fastify", "tune"),
        ("fastify", "held"),
    ]
    outcomes = [
        results.Outcome(
            each["name"],
            each["half"],
            tuple(Answered(**one) for one in each["answered"]),
            tuple(Refusal(**one) for one in each["refusals"]),
        )
        for each in found
    ]
    row = results.row("fastify", outcomes)
    assert (row.answerable, row.page, row.words) == (4, 4, 2)
    assert (row.plain_page, row.plain_words) == (4, 2)
    assert (row.off_topic, row.refused, row.wrongly_refused) == (2, 2, 0)
    assert row.true_quotes == row.quotes > 0
    assert "largest body" not in (tmp_path / "before.json").read_text()


def test_failures_of_the_held_half_stay_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        documentation.main(["--half", "held", "--failures"])
    assert "nothing may be tuned on it" in capsys.readouterr().err
