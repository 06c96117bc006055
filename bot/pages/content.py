"""Finds the content of an HTML page by the page's own markup.

Programs that generate documentation, wikis and knowledge bases mark the content with an element or
class of their own, or with <main>. That element is converted whole, since every paragraph, table
cell and option in it is meant to be read. The same goes for a handwritten page without a site
around it. News and blog pages mark their articles too, but with much inside that is not the
article; they also declare what they are, and are left to trafilatura.
"""

from __future__ import annotations

import re
from typing import Any

from bot.pages.inline import classes_of

# ---------------------------------------------------------------- programs that make documents

_GENERATORS = re.compile(
    r"docbook|publican|asciidoc|makeinfo|texi2|javadoc|doxygen|docutils|sphinx|mkdocs|zensical"
    r"|docusaurus|vitepress|vuepress|gitbook|mdbook|honkit|antora|rustdoc|exdoc|yard|typedoc|jsdoc"
    r"|phpdocumentor|pandoc|latex2html|tex4ht|hevea|htlatex|ghc|haddock|scaladoc|ldoc|pdoc|pydoctor"
    r"|org.?mode|emacs|groff|man2html|mandoc|libreoffice|openoffice|staroffice|microsoft (?:word"
    r"|excel|frontpage|office)|word\.document|help.?ndoc|madcap|robohelp|dita|oxygen|confluence"
    r"|mediawiki|moinmoin|dokuwiki|twiki|foswiki|xwiki|trac|tiddlywiki|zim|wiki\.js|bookstack"
    r"|gollum|starlight|nextra|fumadocs|readme|slate|redoc|swagger|perldoc|pod::|jupyter|nbconvert",
    re.IGNORECASE,
)
"""Matches the ``generator`` of pages that are documentation, whatever else they declare."""

_MARKED_CONTENT = (
    "#mw-content-text",  # MediaWiki
    ".wiki-content",  # Confluence, pages and exports
    "#furo-main-content",  # Sphinx, theme Furo
    ".bd-article",  # Sphinx, PyData theme
    ".rst-content",  # Sphinx and MkDocs, Read the Docs theme
    ".theme-doc-markdown",  # Docusaurus
    ".vp-doc",  # VitePress
    ".theme-default-content",  # VuePress
    ".md-content__inner",  # MkDocs, Material theme
    ".sl-markdown-content",  # Starlight
    ".td-content",  # Hugo, Docsy theme
    ".book-page",  # Hugo, Book theme
    ".markdown-body",  # GitHub, Gitea, and what imitates them
    ".markdown-section",  # GitBook and docsify
    "#dokuwiki__content",  # DokuWiki
    "#xwikicontent",  # XWiki
    "#wikipage",  # Trac
    ".patternTopic",  # TWiki, Foswiki
    ".page-body .page",  # Notion exports
    ".notion-page-content",  # Notion
    "#preamble #page-content",  # Apache
    "#docContent",  # PostgreSQL
)
"""Elements, by id and class, in which documentation programs put the content. If a name is too
common to identify one, another element's name precedes it, which must be present as well.
"""

_SPHINX = frozenset({"#documentation_options", ".sphinxsidebar", ".documentwrapper"})
_BOXES = ("body", "div", "main", "article", "section", "script")

# ---------------------------------------------------------------- pages of the press

_PRESS_TYPE = re.compile(r"article|news|blog", re.IGNORECASE)
_PRESS_DATA = re.compile(
    r"\"@type\"\s*+:\s*+(?:\[\s*+)?\"(?:\w*NewsArticle|Article|BlogPosting|LiveBlogPosting|Report)\""
)
_PRESS_ITEM = re.compile(r"schema\.org/(?:\w*NewsArticle|Article|BlogPosting|Blog)\b")
_FEW_SCRIPTS = 8
"""The most scripts that a handwritten page has; news sites put a dozen in each page."""
_BLOG_GENERATOR = re.compile(r"wordpress|blogger|ghost|substack|medium|tumblr|typepad", re.I)


def content_of(tree: Any) -> Any:
    """The element that holds the content of a page and little else, or None if unclear.

    ``tree`` is not changed.
    """
    names = _named_elements(tree)
    for marks in map(str.split, _MARKED_CONTENT):
        if all(each in names for each in marks):
            return names[marks[-1]]
    is_sphinx = not _SPHINX.isdisjoint(names)
    if is_sphinx or _GENERATORS.search(_generator(tree)):
        main = _main(tree, within_articles=True)
        if main is None and is_sphinx:
            main = _sections(tree)
        return body_of(tree) if main is None else main
    if is_of_press(tree):
        return None
    main = _main(tree, within_articles=False)
    return body_of(tree) if main is None and _is_plain(tree) else main


def is_of_press(tree: Any) -> bool:
    """True if a page declares itself an article of a newspaper, a magazine or a blog."""
    return bool(
        any(_PRESS_TYPE.search(each) for each in tree.xpath("//meta[@property='og:type']/@content"))
        or tree.xpath("//meta[starts-with(@property, 'article:')]")
        or any(
            _PRESS_DATA.search(each)
            for each in tree.xpath("//script[@type='application/ld+json']/text()")
        )
        or any(_PRESS_ITEM.search(each) for each in tree.xpath("//@itemtype"))
        or _BLOG_GENERATOR.search(_generator(tree))
    )


def _generator(tree: Any) -> str:
    """The generator that a page names."""
    return " ".join(
        tree.xpath("//meta[translate(@name, 'G', 'g')='generator' or @name='ProgId']/@content")
    )


def _named_elements(tree: Any) -> dict[str, Any]:
    """The boxes of a page by "#id" and ".class"; the first of each."""
    found: dict[str, Any] = {}
    for element in tree.iter(*_BOXES):
        name = element.get("id")
        if name:
            found.setdefault(f"#{name}", element)
        for each in classes_of(element):
            found.setdefault(f".{each}", element)
    return found


def _is_plain(tree: Any) -> bool:
    """True if a page was written by hand, without the scripts and metadata that sites add."""
    return len(tree.xpath("//script")) <= _FEW_SCRIPTS and not tree.xpath(
        "//meta[starts-with(@property, 'og:') or starts-with(@name, 'twitter:')]"
        " | //link[@type='application/rss+xml' or @type='application/atom+xml']"
    )


def _main(tree: Any, *, within_articles: bool) -> Any:
    mains = [
        each for each in tree.iter(*_BOXES) if each.tag == "main" or each.get("role") == "main"
    ]
    if len(mains) == 1:
        return mains[0]
    articles = tree.xpath("//article")
    if within_articles and len(articles) == 1:
        return articles[0]
    return None


def _sections(tree: Any) -> Any:
    """The outermost section that opens with a heading, for Sphinx themes without a main element."""
    return next(iter(tree.xpath("//section[h1] | //div[contains(@class, 'section')][h1]")), None)


def body_of(tree: Any) -> Any:
    """The body of a page, or all of it."""
    body = tree.find(".//body")
    return tree if body is None else body
