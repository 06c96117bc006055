"""The bench of reading: what is content, what was kept of it, and what was made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.pages import extract
from bot.pages.formats.blocks import Reading
from tests.bench import reading
from tests.bench.documentation.generators import GENERATORS, generator_of
from tests.bench.documentation.kept import measured, parts, words
from tests.bench.documentation.rendering import parsed
from tests.bench.documentation.sets import SETS

MKDOCS = b"""<html><head><title>T</title></head><body>
<nav>Home Guide</nav>
<div role="main"><h1>Head</h1><p>Use <code>a[3][4]</code> here.</p>
<p style="display: none">hidden words</p></div>
<footer>Built with care</footer></body></html>"""


def test_words_are_those_of_the_content_apart_from_navigation_and_hidden_ones() -> None:
    content, navigation, neither = parts(parsed(MKDOCS), GENERATORS["mkdocs"])
    assert sorted(content.elements()) == ["3", "4", "a", "head", "here", "use"]
    assert sorted(navigation.elements()) == ["built", "care", "guide", "home", "with"]
    assert sorted(neither.elements()) == ["hidden", "words"]


def test_words_are_compared_without_case_width_or_markdown() -> None:
    assert list(words(["Ｆull _width_, so\u00adft a_b 中文"])) == [
        *("full", "width", "soft", "a_b", "中", "文")
    ]


def test_lost_words_navigation_and_made_up_words_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "Use a3 here.\n\nHome Guide\n\nhidden"
    monkeypatch.setattr(extract, "from_bytes", lambda *_: Reading("Head", text))
    page = measured(MKDOCS, parsed(MKDOCS), GENERATORS["mkdocs"], "x", "page.html")
    assert (page.content, page.kept, page.kept_share) == (6, 3, 0.5)
    assert dict(page.lost) == {"a": 1, "3": 1, "4": 1}
    assert (page.read, page.navigation) == (6, 2)
    assert page.strange == ("a3",)


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ('<div class="document"><div role="main">x</div></div>', "sphinx"),
        ('<meta name="generator" content="DocBook XSL"><div class="sect1">x</div>', "docbook"),
        ('<meta name="Generator" content="makeinfo"><p>x', "texinfo"),
        ('<meta name="generator" content="javadoc/X"><main>x</main>', "javadoc"),
        ('<meta name="generator" content="AsciiDoc 10"><div id="content">x</div>', "asciidoc"),
        ('<div id="page-content">x</div>', "apache"),
        ('<div class="nosearch">menu</div><h1>x</h1>', "sqlite"),
        ("<p>x", "plain"),
    ],
)
def test_generators_are_told_by_their_pages(html: str, name: str) -> None:
    tree = parsed(f"<html><body>{html}</body></html>".encode())
    found = generator_of(tree, tuple(each for each in GENERATORS if each != "mkdocs"))
    assert found is not None
    assert found.name == name


def test_a_run_prints_a_row_for_each_generator_and_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = SETS["mkdocs"]
    root = tmp_path / "packages" / docs.package / docs.root
    root.mkdir(parents=True)
    body = " ".join(f"word{i}" for i in range(100))
    for name in ("a", "b"):
        page = f'<nav>menu</nav><div role="main"><h1>Head</h1><p>{body}</p></div>'
        (root / f"{name}.html").write_text(page)
    (root / "short.html").write_text('<div role="main">a stub</div>')
    (root / "gone.html").write_text('<meta http-equiv="refresh" content="0; url=a.html">')
    reading.main(["--cache", str(tmp_path), "--sets", "mkdocs", "--json", str(tmp_path / "x.json")])
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("mkdocs ")]) == 2
    pages = json.loads((tmp_path / "x.json").read_text())
    assert [page["path"] for page in pages] == ["a.html", "b.html"]
    assert all(page["kept"] == page["content"] == 101 for page in pages)
