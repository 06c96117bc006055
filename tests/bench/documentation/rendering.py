"""Documents as text, independently of Footnote's own reading.

Baseline and checks must not share a mistake with what they measure, so nothing of ``bot.pages``
is used here: HTML and EPUB go through lxml alone, PDF through PDFium's plain text.
"""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lxml.html  # type: ignore[import-untyped]
from lxml.html import defs
from markdown_it import MarkdownIt

HTML = frozenset({".html", ".htm", ".xhtml"})
MARKDOWN = frozenset({".md", ".markdown"})
TEXT = frozenset({".txt", ".rst", ".adoc", ".org", ""})

INLINE = (
    defs.phrase_tags
    | defs.font_style_tags
    | {"a", "bdi", "bdo", "data", "font", "label", "mark", "q", "rp", "rt", "ruby", "span", "time"}
    | {"wbr", "nobr", "del", "ins", "sub", "sup"}
)
NO_TEXT = frozenset({"script", "style", "head", "title", "template", "noscript"})

_UNDERLINED = re.compile(r"^(.+)\n[=*~-]{3,}$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?^---$\n?", re.DOTALL | re.MULTILINE)
_FRONT_TITLE = re.compile(r"^title:(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """``path`` is relative to the set's root, with slashes."""

    path: str
    title: str
    text: str


def documents(root: Path) -> Iterator[Document]:
    """Every document below a folder, in the order of their paths; other files are passed over."""
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            found = read(file)
            if found is not None:
                yield Document(file.relative_to(root).as_posix(), *found)


def read(file: Path) -> tuple[str, str] | None:
    """A file's title and text; None where it is no document."""
    suffix = file.suffix.lower()
    data = file.read_bytes()
    if suffix == ".gz":
        suffix = Path(file.stem).suffix.lower()
        if suffix not in HTML | MARKDOWN | TEXT:
            return None
        data = gzip.decompress(data)
    if suffix in HTML:
        tree = parsed(data)
        return _title(tree), visible_text(tree)
    if suffix == ".pdf":
        return file.stem, _pdf_text(data)
    if suffix == ".epub":
        return file.stem, _epub_text(data)
    if suffix in MARKDOWN:
        return _markdown(data.decode("utf-8", "replace"), file.stem)
    if suffix not in TEXT or b"\0" in data[:4096]:
        return None
    text = data.decode("utf-8", "replace")
    heading = _UNDERLINED.search(text)
    return heading[1] if heading else text.strip().partition("\n")[0][:100], text


def parsed(data: bytes) -> Any:
    """An HTML document as a tree."""
    try:
        data.decode()
        parser = lxml.html.HTMLParser(encoding="utf-8")
    except UnicodeDecodeError:
        parser = lxml.html.HTMLParser()  # goes by what the page declares
    return lxml.html.document_fromstring(data, parser=parser)


def visible_text(element: Any) -> str:
    """The text of an element: inline elements run on, every other one is a line of its own."""
    parts: list[str] = []
    for event, each in lxml.html.etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            parts.append(each.tail or "")
            continue
        is_block = each.tag not in INLINE
        if event == "start":
            parts.append("\n" if is_block else "")
            parts.append("" if _is_silent(each) else each.text or "")
        else:
            parts.append("\n" if is_block else "")
            silent = each is element or any(_is_silent(above) for above in each.iterancestors())
            parts.append("" if silent else each.tail or "")
    return "".join(parts)


def _is_silent(element: Any) -> bool:
    return element.tag in NO_TEXT


def _title(tree: Any) -> str:
    for path in (".//head/title", ".//h1", ".//h2"):
        found = tree.find(path)
        if found is not None and (words := " ".join("".join(found.itertext()).split())):
            return words
    return ""


def _markdown(source: str, name: str) -> tuple[str, str]:
    """As CommonMark with tables renders it; a title may stand in a front matter."""
    front = _FRONT_MATTER.match(source)
    titled = _FRONT_TITLE.search(front[0]) if front else None
    html = MarkdownIt("commonmark").enable("table").render(source[front.end() if front else 0 :])
    tree = lxml.html.document_fromstring(f"<body>{html}</body>")
    return (titled[1].strip("\"' ") if titled else _title(tree)) or name, visible_text(tree)


def _epub_text(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        pages = [name for name in package.namelist() if Path(name).suffix.lower() in HTML]
        return "\n".join(visible_text(parsed(package.read(name))) for name in sorted(pages))


def _pdf_text(data: bytes) -> str:
    import pypdfium2  # type: ignore[import-untyped]

    document = pypdfium2.PdfDocument(data)
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()
