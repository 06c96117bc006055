"""Finds the content of an HTML page by the page's own markup, and removes navigation from it.

Programs that generate documentation, wikis and knowledge bases mark the content with an element or
class of their own, or with <main>. That element is converted whole, since every paragraph, table
cell and option in it is meant to be read, without bars, anchors, edit links and contents lists. The
same goes for a handwritten page without a site around it. News and blog pages mark their articles
too, but with much inside that is not the article; they also declare what they are, and are left to
trafilatura.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any, Literal

from lxml import etree  # type: ignore[import-untyped]

from bot.pages.page_markdown import CHECKED, UNCHECKED, alternative, struck, with_address
from bot.pages.writing import OVER_A_BOX, classes_of
from bot.text.patterns import listed

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


# ---------------------------------------------------------------- state that markup shows


_Place = tuple[Any, str]
"""A text of a tree: an element, and "text" or "tail"."""
_STRUCK_STYLE = re.compile(r"text-decoration(?:-line)?\s*+:[^;{}:]*line-through", re.IGNORECASE)
_STRUCK_CLASS = re.compile(r"\.([\w-]+)\s*+\{([^{}]*)\}")
_OF_DONE = re.compile(r"check|done|complete", re.IGNORECASE)
"""Classes of ticked items, which Notion shows struck out because they are done."""
_CONTROL = re.compile(
    r"(?<![a-z])(?:toggle|toggler|tabs?|tabbed|nav\w*|menu\w*|drawer|search|theme|palette|sidebar|toc"
    r"|collaps\w*|accordion|expand\w*|spoiler|dropdown)(?![a-z])",
    re.IGNORECASE,
)
"""Names of inputs that open a part of the page by its style sheet."""
_BOX_CLASSES = {"checkbox-on": CHECKED, "checkbox-off": UNCHECKED}  # Notion
_BOX_CLASSES |= {"fa-check-square-o": CHECKED, "fa-square-o": UNCHECKED}  # Asciidoctor
_STATES = {"true": CHECKED, "checked": CHECKED, "false": UNCHECKED, "unchecked": UNCHECKED}
_HIGHEST = 4  # elements around a box without a text of its own in which that is looked for
_MAY_HAVE_BOX = ("input", "ac:task", "li", "div", "span", "i", "button", "td")


def with_state(tree: Any) -> None:
    """Write what a page's markup shows as text: ticks, strike-outs, addresses behind names."""
    boxes = [(each, sign) for each in tree.iter(*_MAY_HAVE_BOX) if (sign := _sign(each))]
    labels = {each.get("for"): each for each in tree.iter("label") if each.get("for")}
    alone = {each: sign for each, sign in boxes if not _write_before(each, sign, labels)}
    before: dict[Any, bool] = {}
    for element, sign in alone.items():
        _write_beside(element, sign, alone, before)
    for element in _struck_in(tree):
        for owner, name in _places(element):
            setattr(owner, name, struck(getattr(owner, name)))
    for link in tree.xpath(_MAY_NEED_ADDRESS):
        label = " ".join(link.xpath("string()").split())
        for owner, name in _places(link)[-1:]:
            address = with_address(label, link.get("href"))[len(label) :]
            setattr(owner, name, getattr(owner, name).rstrip() + address)


def _struck_in(tree: Any) -> list[Any]:
    """The outermost elements whose text is struck out."""
    names = {
        name
        for style in tree.iter("style")
        for name, rules in _STRUCK_CLASS.findall(style.text or "")
        if _STRUCK_STYLE.search(rules) and not _OF_DONE.search(name)
    }
    found = set(tree.iter("s", "del", "strike"))
    found.update(e for e in tree.xpath("//*[@style]") if _STRUCK_STYLE.search(e.get("style")))
    if names:
        found.update(e for e in tree.xpath("//*[@class]") if not names.isdisjoint(classes_of(e)))
    return [each for each in found if found.isdisjoint(each.iterancestors())]


def _sign(element: Any) -> str:
    """The sign of a tick box or radio button; "" for another element."""
    get = element.get
    if element.tag == "ac:task":  # Confluence's storage format
        return (
            CHECKED
            if element.xpath("*[name() = 'ac:task-status']/text() = 'complete'")
            else UNCHECKED
        )
    if not element.attrib:
        return ""
    if element.tag == "input":
        if get("type", "").lower() not in ("checkbox", "radio") or get("role") == "button":
            return ""
        if _CONTROL.search(" ".join(filter(None, (get("id"), get("name"), get("class"))))):
            return ""
        return UNCHECKED if get("checked") is None else CHECKED
    if get("role") in ("checkbox", "radio", "switch"):
        return _STATES.get(get("aria-checked", ""), "")
    if get("data-inline-task-id") is not None:  # Confluence
        return CHECKED if "checked" in classes_of(element) else UNCHECKED
    if element.tag == "li" and (state := get("data-checked") or get("data-list")):
        return _STATES.get(state, "")
    return next((_BOX_CLASSES[each] for each in classes_of(element) if each in _BOX_CLASSES), "")


def _write_before(element: Any, sign: str, labels: Mapping[str, Any]) -> bool:
    """Write a box before its own text or its label's; return whether it has one."""
    label = element
    if element.tag == "ac:task":
        element.tag = "li"
        for each in element.xpath("*[name() = 'ac:task-id' or name() = 'ac:task-status']"):
            remove(each)
    elif element.tag == "input":
        around = next(element.iterancestors("label"), None)
        label = labels.get(element.get("id", ""), element) if around is None else around
    if places := _places(label):
        _prefix(*places[0], sign)
    elif name := element.get("aria-label"):
        element.tail = f"{sign} {name} {element.tail or ''}"
    else:
        return False
    return True


def _write_beside(element: Any, sign: str, alone: Container[Any], before: dict[Any, bool]) -> None:
    """Write a box without a label before the text that follows it; before the one that precedes it
    if the last box around it is followed by none. In a cell without text it stays alone."""
    node, around = element, element.getparent()
    for _ in range(_HIGHEST):
        if around is None or around.tag in ("td", "th") or _has_words(around):
            break
        node, around = around, around.getparent()
    if around is not None and around not in before:
        before[around] = _ends_in_box(around, alone)
    place = None if around is None else _beside(node, around, alone, before=before[around])
    if place is None:
        element.tail = f" {sign} {element.tail or ''}"
    else:
        _prefix(*place, sign)


def _ends_in_box(around: Any, alone: Container[Any]) -> bool:
    for child in around.iterchildren(reversed=True):
        if _has_words(child, with_tail=True):
            return any(each in alone for each in child.iter()) and not (child.tail or "").strip()
        if any(each in alone for each in child.iter()):
            return True
    return False


def _beside(node: Any, around: Any, alone: Container[Any], *, before: bool) -> _Place | None:
    """The nearest text before or after an element, up to the next box."""
    if not before and (node.tail or "").strip():
        return node, "tail"
    for each in node.itersiblings(preceding=before):
        in_tail = (each, "tail") if (each.tail or "").strip() else None
        if before and in_tail:
            return in_tail
        if each in alone:
            return None
        if places := _places(each):
            return places[0]
        if in_tail:
            return in_tail
    return (around, "text") if before and (around.text or "").strip() else None


def _places(element: Any) -> list[_Place]:
    texts = element.xpath(".//text()[normalize-space()]")
    return [(text.getparent(), "tail" if text.is_tail else "text") for text in texts]


def _prefix(owner: Any, name: str, sign: str) -> None:
    setattr(owner, name, f"{sign} {getattr(owner, name).lstrip()}")


def _has_words(element: Any, *, with_tail: bool = False) -> bool:
    return any(
        (each.text or "").strip()
        or ((with_tail or each is not element) and (each.tail or "").strip())
        for each in element.iter()
        if isinstance(each.tag, str)
    )


def with_alternatives(content: Any) -> None:
    """Write the alternative texts of pictures, unless a caption says the same."""
    for picture in content.iter("img"):
        words = alternative(picture.get("alt") or "")
        figure = next(picture.iterancestors("figure", "a"), None)
        if words and (figure is None or words not in " ".join(figure.xpath("string()").split())):
            picture.tail = f" {words} {picture.tail or ''}"


# ---------------------------------------------------------------- what surrounds it


_NO_WORDS = listed(
    "script style noscript template svg iframe object embed canvas audio video map head title "
    "textarea input button select datalist dialog nav annotation annotation-xml rp"
)
_NO_CONTENT_ROLES = listed(
    "navigation search contentinfo doc-toc doc-pagelist dialog alertdialog menu menubar "
    "toolbar tablist"
)
_UNSEEN = listed(
    "sr-only visually-hidden screen-reader-text headerlink header-anchor anchorjs-link "
    "hash-link anchor-link copiable-link copiable-anchor linenos linenodiv lineno gutter "
    "nosearch dropdown-menu mw-editsection viewcode-link viewcode-back copybtn copy-button"
)
"""Classes of elements that readers do not see or do not read: anchors, line numbers, buttons."""
_NAVIGATION = listed(
    "navheader navfooter navigation nav-panel nav-links navbar docnav breadcrumb breadcrumbs "
    "bread-crumbs sphinxsidebar sidebar-nav pager pagination prev-next-area prev-next-footer "
    "pagination-nav edit-link edit-this-page theme-edit-this-page md-source-file "
    "md-content__button mw-jump-link printfooter catlinks navbox vertical-navbox noprint "
    "skip-link skiplink skip-nav toplang bottomlang source-link sourcelink topnav bottomnav "
    "subnav top-nav sub-nav footer page-metadata"
)
_NAVIGATION_IDS = listed(
    "footer navigation navbar breadcrumbs breadcrumb-section searchbox quickview postamble "
    "mw-navigation siteSub contentSub jump-to-nav catlinks"
)
_CONTENTS = listed(
    "toc toc-macro local-toc table-of-contents tableofcontents toc-container toctitle mini-toc "
    "menu shortcontents contents_element shortcontents_element list-of-figures list-of-tables "
    "list-of-examples fancy_toc quicklinks page-toc theme-doc-toc-mobile"
)
_CONTENTS_IDS = listed("toc TOC toctitle table-of-contents TableOfContents SEC_Contents toc_sub")
_ANCHOR_SIGN = re.compile(r"[¶§#🔗∞⚓\s\ue000-\uf8ff]*|\s*(?:Permalink|\[link\])\s*")
_LONGEST_BAR = 300  # characters outside links in an element that only serves navigation
_ENOUGH = 100  # characters outside tables of contents that a page needs for these to be removed
_FEWEST_ENTRIES = 3
_MOSTLY = 0.9  # share of a table of contents' text that is in links to headings of the page
_CANDIDATES = (
    *("a", "aside", "details", "div", "dl", "footer", "header", "ol", "p", "section", "span"),
    *("sup", "table", "td", "ul"),
)
"""Elements that may be navigation by their class, id, role or text."""
_HIDDEN_AT_MOST = 0.5
"""Share of a page's text that may be hidden; a page with scripts that hides more reveals it."""
_HIDING_STYLE = re.compile(r"display:none|visibility:hidden", re.IGNORECASE)
_MAY_NEED_ADDRESS = (
    "//a[@href and (string-length() < 25"
    " or starts-with(@href, 'mailto:') or starts-with(@href, 'tel:'))]"
)


def without_hidden(tree: Any) -> int:
    """Remove elements that readers do not see, where prompt injections are often hidden; return how
    many of them have words.

    Panels that a reader opens with a tab stay. Of the settings of Confluence's macros, which are no
    words, only titles do: "DRAFT" of a status.
    """
    for setting in list(tree.iter("ac:parameter")):
        if setting.get("ac:name") != "title":
            remove(setting)
    found = [
        element
        for element in tree.xpath("//*[@hidden or @style]")
        if element.tag not in ("html", "body") and _is_hidden(element)
    ]
    all_hidden = set(found)
    outermost = [each for each in found if all_hidden.isdisjoint(each.iterancestors())]
    lengths = list(map(_length, outermost))
    is_revealed = tree.find(".//script") is not None
    if not found or (is_revealed and sum(lengths) > _HIDDEN_AT_MOST * _length(tree)):
        return 0
    for element in outermost:
        remove(element)
    return sum(map(bool, lengths))


def _is_hidden(element: Any) -> bool:
    if element.get("hidden") is not None:
        return bool(element.get("role") != "tabpanel")
    style: str | None = element.get("style")
    return style is not None and _HIDING_STYLE.search("".join(style.split())) is not None


def without_furniture(content: Any) -> None:
    """Remove navigation, and elements without words, from a content element.

    A page that consists of a table of contents keeps it.
    """
    contents: list[Any] = []
    _name_tab_panels(content)
    for element in list(content.iter(*_NO_WORDS)):
        remove(element)
    for element in list(content.iter(*_CANDIDATES)):
        is_marked = element.attrib or element.tag == "footer"
        kind = _kind(element) if is_marked and element is not content else ""
        if kind == "navigation":
            remove(element)
        elif kind == "contents":
            contents.append(element)
    lists = [each for each in content.iter("ul", "ol", "dl") if _is_within_page(each)]
    if lists:
        names = _heading_names(content)
        for each in lists:
            targets = [at[1:] for at in each.xpath(".//a/@href") if at.startswith("#")]
            if sum(target in names for target in targets) >= _MOSTLY * len(targets):
                contents.append(each)
    if contents:
        inside = sum(map(_length, contents))
        if _length(content) - inside >= _ENOUGH:
            for element in contents:
                remove(element)


def _name_tab_panels(content: Any) -> None:
    """Put the name of each tab above its panel: the tabs themselves are buttons and are removed."""
    for panel in content.iter("div"):
        if panel.get("role") != "tabpanel":
            continue
        tabs = content.xpath(".//*[@id=$name]", name=panel.get("aria-labelledby", ""))
        if tabs:
            name = etree.Element("p", {"class": OVER_A_BOX})
            name.text = " ".join(tabs[0].xpath("string()").split())
            name.tail, panel.text = panel.text, None
            panel.insert(0, name)


def _kind(element: Any) -> Literal["navigation", "contents", ""]:
    tag = element.tag
    if tag == "a" and len(element) == 0 and _ANCHOR_SIGN.fullmatch(element.text or ""):
        return "navigation" if "#" in (element.get("href") or "") else ""
    if tag == "footer" and element.getparent().tag not in ("blockquote", "figure"):
        return "navigation"
    if element.get("role") in _NO_CONTENT_ROLES:
        return "navigation"
    classes = (element.get("class") or "").lower().split()
    # a section's id derives from its heading; a section about navigation is content
    name = None if tag == "section" or "section" in classes else element.get("id")
    if not _UNSEEN.isdisjoint(classes) or (tag == "sup" and "reference" in classes):
        return "navigation"
    if name in _NAVIGATION_IDS or not _NAVIGATION.isdisjoint(classes):
        return "navigation" if _outside_links(element) <= _LONGEST_BAR else ""
    if "header" in classes and _is_bar(element):
        return "navigation"
    is_contents = name in _CONTENTS_IDS or not _CONTENTS.isdisjoint(classes)
    if is_contents or ("contents" in classes and not {"topic", "local"}.isdisjoint(classes)):
        return "contents" if _outside_links(element) <= _LONGEST_BAR else ""
    return ""


def remove(element: Any) -> None:
    """Remove an element from its tree; its tail text stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def _is_bar(element: Any) -> bool:
    """True if a page's header consists of links to other pages, like makeinfo's."""
    links = element.xpath(".//a[@href]")
    if len(links) < _FEWEST_ENTRIES or next(element.iter("h1", "h2", "h3"), None) is not None:
        return False
    return sum(map(_length, links)) * 2 >= _length(element)


def _is_within_page(element: Any) -> bool:
    """True if a list consists of links to places on its own page."""
    links = element.xpath(".//a[starts-with(@href, '#')]")
    if len(links) < _FEWEST_ENTRIES:
        return False
    return sum(map(_length, links)) >= _MOSTLY * _length(element)


def _heading_names(content: Any) -> set[str]:
    """The ids and names by which links can refer to the headings of a page."""
    found: set[str] = set()
    for heading in content.iter("h1", "h2", "h3", "h4", "h5", "h6"):
        before = heading.getprevious()
        for element in (
            heading,
            heading.getparent(),
            before,
            *heading.iterdescendants("a", "span"),
        ):
            if element is not None:
                found.update(filter(None, (element.get("id"), element.get("name"))))
    return found


def _outside_links(element: Any) -> int:
    """Characters of an element's text outside links, not counting white space."""
    return _length(element) - sum(map(_length, element.iter("a")))


def _length(element: Any) -> int:
    """Characters of an element's text, not counting white space and scripts."""
    text: str = element.xpath("string()")
    length = sum(map(len, text.split()))
    for silent in element.iter("script", "style"):
        length -= sum(map(len, (silent.text or "").split()))
    return length
