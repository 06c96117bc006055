"""What stands in the content of an HTML page to get about: bars, anchors, edit links, tables of
contents."""

from __future__ import annotations

from typing import Any

from bot.pages.elements import HEADINGS, tag_of
from bot.text.listed import listed

_NO_WORDS = listed(
    "script style noscript template svg iframe object embed canvas audio video map head title "
    "textarea input button select datalist dialog nav"
)
_NO_CONTENT_ROLES = listed(
    "navigation search contentinfo doc-toc doc-pagelist dialog alertdialog menu menubar "
    "toolbar tablist"
)
_NAVIGATION = listed(
    "navheader navfooter navigation nav-panel nav-links navbar docnav breadcrumb breadcrumbs "
    "bread-crumbs related sphinxsidebar sidebar-nav pager pagination prev-next-area "
    "prev-next-footer pagination-nav edit-link edit-this-page theme-edit-this-page "
    "md-source-file md-content__button mw-editsection mw-jump-link printfooter catlinks "
    "navbox vertical-navbox noprint skip-link skiplink skip-nav sr-only visually-hidden "
    "screen-reader-text copybtn copy-button toplang bottomlang viewcode-link viewcode-back "
    "source-link sourcelink topnav bottomnav subnav top-nav sub-nav headerlink header-anchor "
    "anchorjs-link hash-link anchor-link copiable-link copiable-anchor footer page-metadata "
    "linenos linenodiv lineno gutter"
)
_NAVIGATION_IDS = listed(
    "footer navigation navbar breadcrumbs breadcrumb-section searchbox quickview postamble "
    "mw-navigation siteSub contentSub jump-to-nav catlinks"
)
_CONTENTS = listed(
    "toc local-toc table-of-contents tableofcontents toc-container toctitle mini-toc menu "
    "shortcontents contents_element shortcontents_element list-of-figures list-of-tables "
    "list-of-examples fancy_toc quicklinks page-toc theme-doc-toc-mobile"
)
_CONTENTS_IDS = listed("toc TOC toctitle table-of-contents TableOfContents SEC_Contents toc_sub")
_ANCHOR_SIGNS = frozenset(["", "¶", "#", "§", "🔗", "∞", "⚓", "Permalink", "[link]"])
_ENOUGH = 200  # characters that a page must have beside its tables of contents for these to go
_FEWEST_ENTRIES = 3


def without_furniture(content: Any) -> None:
    """Take out of a content element what is in it to get about, and what has no words.

    A page that has nothing but a table of contents keeps it.
    """
    doomed: list[Any] = []
    contents: list[Any] = []
    for element in content.iter():
        if element is content:
            continue
        tag = tag_of(element)
        if not tag or tag in _NO_WORDS:
            doomed.append(element)
            continue
        if tag == "a" and _is_anchor(element):
            doomed.append(element)
            continue
        attributes = element.attrib
        if not attributes or (tag in ("span", "a", "td", "p") and len(attributes) == 0):
            continue
        if attributes.get("role") in _NO_CONTENT_ROLES or attributes.get("id") in _NAVIGATION_IDS:
            doomed.append(element)
            continue
        classes = (attributes.get("class") or "").lower().split()
        if not _NAVIGATION.isdisjoint(classes) or ("header" in classes and _turns_pages(element)):
            if tag not in HEADINGS and tag != "pre":
                doomed.append(element)
        elif attributes.get("id") in _CONTENTS_IDS or not _CONTENTS.isdisjoint(classes):
            if tag not in HEADINGS and tag != "pre":
                contents.append(element)
        elif "contents" in classes and not {"topic", "local"}.isdisjoint(classes):
            contents.append(element)
    for element in doomed:
        _drop(element, content)
    contents += [each for each in content.iter("ul", "ol", "dl") if _is_local_contents(each)]
    inside = sum(_length(each) for each in contents)
    if contents and _length(content) - inside >= _ENOUGH:
        for element in contents:
            _drop(element, content)


def _drop(element: Any, root: Any) -> None:
    """Remove an element, unless an element around it is gone already."""
    if element.getparent() is not None and element is not root:
        element.drop_tree() if hasattr(element, "drop_tree") else element.getparent().remove(
            element
        )


def _is_anchor(link: Any) -> bool:
    """A sign behind a heading that links to the heading itself."""
    target = link.get("href")
    if target is None:
        return False
    if len(link) == 0:
        return (link.text or "").strip() in _ANCHOR_SIGNS and "#" in target
    return False


def _turns_pages(element: Any) -> bool:
    """Whether a page's header has its links to the next and the previous page, as makeinfo's."""
    return bool(element.xpath(".//a[@accesskey='n' or @accesskey='p' or @accesskey='u']"))


def _is_local_contents(element: Any) -> bool:
    """Whether a list has nothing but links to places of its own page."""
    links = element.xpath(".//a[starts-with(@href, '#')]")
    if len(links) < _FEWEST_ENTRIES:
        return False
    return sum(map(_length, links)) >= 0.9 * _length(element)


def _length(element: Any) -> int:
    return len("".join("".join(element.itertext()).split()))
