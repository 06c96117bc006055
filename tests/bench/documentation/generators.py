"""Finds a page's content by separate rules for each program that makes documentation.

XPath, as the pages of the sets are made. Lists of contents and what a browser hides are neither
content nor navigation: a reading may keep them or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


def _class(*names: str) -> str:
    """A condition: the element has one of these classes."""
    return " or ".join(f"contains(concat(' ', @class, ' '), ' {name} ')" for name in names)


HIDDEN = "//*[@hidden or contains(translate(@style, ' ', ''), 'display:none')]"


@dataclass(frozen=True, slots=True)
class Generator:
    """``content`` finds the elements that hold the content; ``signs`` is a condition on the page
    besides that; what ``navigation`` finds in the content is navigation, what ``neither`` finds
    anywhere does not count."""

    name: str
    content: str
    signs: str = "true()"
    navigation: str = ""
    neither: str = ""


_DOCBOOK = _class(
    *("book", "part", "chapter", "preface", "appendix", "article", "section", "sect1"),
    *("reference", "refentry", "glossary", "bibliography", "index", "colophon", "legalnotice"),
)

GENERATORS = {
    each.name: each
    for each in (
        Generator(
            "sphinx",
            f"//*[@role='main'] | //div[{_class('body')}][not(ancestor::*[@role='main'])]",
            signs=f"boolean(//div[{_class('documentwrapper', 'document')}])",
            neither=f"//*[{_class('contents', 'toctree-wrapper', 'headerlink', 'indextable')}]",
        ),
        Generator(
            "docbook",
            f"//div[{_DOCBOOK}][not(ancestor::div[{_DOCBOOK}])]",
            signs="boolean(//meta[@name='generator'][contains(@content, 'DocBook')"
            " or contains(@content, 'publican')])",
            neither=f"//div[{_class('toc', 'list-of-tables', 'list-of-figures')}]",
        ),
        Generator(
            "apache",
            "//div[@id='page-content']",
            neither="//div[@id='quickview'] | //*[h2/a[@id='comments_section']]"
            f" | //div[{_class('top')}]",
        ),
        Generator(
            "texinfo",
            "//body",
            signs="boolean(//meta[translate(@name, 'G', 'g')='generator']"
            "[contains(@content, 'makeinfo') or contains(@content, 'texi2any')])",
            navigation=f"//div[{_class('header', 'nav-panel')}]",
            neither=f"//*[{_class('Contents_element', 'contents', 'menu', 'menu-comment')}]",
        ),
        Generator("mkdocs", "//*[@role='main']", neither=f"//*[{_class('headerlink')}]"),
        Generator(
            "javadoc",
            "//main",
            signs="boolean(//meta[@name='generator'][starts-with(@content, 'javadoc')])",
        ),
        Generator(
            "asciidoc",
            "//div[@id='header'] | //div[@id='content'] | //div[@id='footnotes']",
            signs="boolean(//meta[@name='generator'][contains(@content, 'AsciiDoc')"
            " or contains(@content, 'Asciidoctor')])",
            neither="//div[@id='toc']",
        ),
        Generator(
            "npm",
            "//section[@id='content']",
            navigation="//footer[@id='edit']",
            neither="//*[@id='table_of_contents']",
        ),
        Generator("haproxy", "//div[@id='page-wrapper']"),
        Generator(
            "sqlite",
            "//body",
            signs=f"boolean(//div[{_class('nosearch')}])",
            navigation=f"//div[{_class('nosearch', 'rightsidebar')}][not(h1 or h2 or a/h2)]",
            neither=f"//div[{_class('fancy_toc', 'fancy_title')}] | //button"
            f" | //div[{_class('nosearch')}][h1 or h2 or a/h2]",
        ),
        Generator("plain", "//body"),
    )
}


def generator_of(tree: Any, names: tuple[str, ...]) -> Generator | None:
    """The first of some generators that the page looks like; None where it looks like none."""
    for name in names:
        generator = GENERATORS[name]
        if tree.xpath(generator.signs) and tree.xpath(generator.content):
            return generator
    return None
