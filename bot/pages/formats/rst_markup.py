"""The directives and roles of reStructuredText that Footnote supports, including Sphinx's.

docutils reports an unknown directive or role as an error, with its text inside. Here every name has
a meaning: markup only, code, a described object, a remark, or plain text
(https://www.sphinx-doc.org/en/master/usage/restructuredtext/).
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from docutils import nodes  # type: ignore[import-untyped]
from docutils.parsers.rst import Directive, directives, states  # type: ignore[import-untyped]

MOST_NAMES = 2_000
"""The most names of unknown directives learnt per process; later ones are kept as text."""

_NAME = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w:.+-]{0,60})[ \t]*::", re.M)
_ESCAPED = re.compile(r"\\(.)")
_LABELLED = re.compile(r"(.+?)(?<!\s)\s*+<[^<>]+>", re.S)

# fmt: off
_MARKUP_ONLY = (
    "toctree", "index", "highlight", "highlightlang", "currentmodule", "py:currentmodule",
    "program", "tabularcolumns", "sectionauthor", "codeauthor", "moduleauthor", "default-domain",
    "default-role", "role", "contents", "sectnum", "meta", "raw", "include", "literalinclude",
    "image", "title", "header", "footer", "target-notes", "date", "testsetup", "testcleanup",
    "graphviz", "digraph", "graph", "uml", "mermaid", "c:namespace", "cpp:namespace",
)
_CONTENT_ONLY = (
    "only", "ifconfig", "figure", "cssclass", "rst-class", "container", "compound",
    "module", "py:module", "acks", "hlist", "centered-content", "glossary",
)
_CODE = (
    "code", "code-block", "sourcecode", "doctest", "testcode", "testoutput", "ipython", "prompt",
    "math", "plot", "console", "highlight-block",
)
_LISTINGS = ("productionlist",)  # code whose first line is on the line of the name
_REMARKS = {
    "versionadded": "New in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "deprecated-removed": "Deprecated since version",
    "versionremoved": "Removed in version", "availability": "Availability",
    "seealso": "See also", "impl-detail": "Implementation detail",
}
_OBJECTS = (
    "function", "method", "class", "attribute", "data", "exception", "describe", "object",
    "classmethod", "staticmethod", "decorator", "decoratormethod", "property", "option",
    "cmdoption", "envvar", "confval", "setting", "variable", "command", "opcode", "pdbcommand",
    "type", "macro", "member", "enum", "enumerator", "struct", "union", "var", "cfunction",
    "cmacro", "ctype", "cmember", "cvar",
)
_CODE_ROLES = frozenset({
    "literal", "code", "func", "meth", "class", "mod", "attr", "exc", "data", "const", "obj",
    "type", "envvar", "option", "program", "file", "command", "samp", "regexp", "keyword", "token",
    "makevar", "macro", "member", "enum", "enumerator", "struct", "union", "var", "function",
    "module", "variable", "prop_tgt", "confval", "setting", "mimetype", "newsgroup", "math",
    "cfunc", "cdata", "ctype", "opcode", "pdbcmd", "decorator", "property", "identifier",
})
# fmt: on
_NUMBERED_ROLES = {"pep": "PEP", "rfc": "RFC"}


class Signature(nodes.General, nodes.Element):  # type: ignore[misc]
    """A described object: its signatures are in ``lines``, the description inside."""


class Remark(nodes.General, nodes.Element):  # type: ignore[misc]
    """A remark such as "New in version 3.2": these words are in ``label``, the rest inside."""


class _AnyOption(dict[str, Any]):
    """The options of a directive that accepts any option."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: str) -> Any:
        return lambda value: value


class _Known(Directive):  # type: ignore[misc]
    """A directive that accepts any argument, option and content."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = _AnyOption()

    @property
    def argument(self) -> str:
        return self.arguments[0] if self.arguments else ""

    def filled(self, node: Any) -> list[Any]:
        """Parse the content into the node; return it in a list."""
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]

    def said(self, text: str) -> list[Any]:
        """A paragraph, unless the text is empty."""
        found, problems = self.state.inline_text(text, self.lineno)
        return [nodes.paragraph(text, "", *found), *problems] if text.strip() else []


class _MarkupOnly(_Known):
    def run(self) -> list[Any]:
        return []


class _ContentOnly(_Known):
    def run(self) -> list[Any]:
        return self.filled(nodes.container())


class _Code(_Known):
    def run(self) -> list[Any]:
        language, *code = self.argument.splitlines() or [""]
        if self.name == "math":
            language, code = "", [language, *code]
        text = "\n".join([*code, *self.content])  # authors often forget the empty line between them
        block = nodes.literal_block(text, text)
        block["language"] = language
        return [block]


class _Listing(_Known):
    def run(self) -> list[Any]:
        text = "\n".join([self.argument, *self.content])
        return [nodes.literal_block(text, text)]


class _Object(_Known):
    def run(self) -> list[Any]:
        node = Signature()
        lines = [_ESCAPED.sub(r"\1", line).strip() for line in self.argument.splitlines()]
        node["lines"] = [line for line in lines if line]
        return self.filled(node)


class _Remark(_Known):
    def run(self) -> list[Any]:
        words, argument = _REMARKS[self.name], self.argument
        if "version" in words:
            version, *rest = argument.split(None, 1) or [""]
            words, argument = f"{words} {version}", "".join(rest)
        node = Remark(label=words)
        node += self.said(argument)
        return self.filled(node)


class _Unknown(_Known):
    """An unknown directive: its argument and content are text."""

    def run(self) -> list[Any]:
        node = nodes.container()
        node += self.said(self.argument)
        return self.filled(node)


def _register() -> None:
    for names, directive in (
        (_OBJECTS, _Object),  # before docutils' "class", which only sets a style
        (_CONTENT_ONLY, _ContentOnly),
        (_MARKUP_ONLY, _MarkupOnly),
        (_CODE, _Code),
        (_LISTINGS, _Listing),
        (tuple(_REMARKS), _Remark),
    ):
        for name in names:
            directives.register_directive(name, directive)


_learnt: set[str] = set()


def learn(source: str) -> None:
    """Assign a meaning to directives of a document that docutils does not know."""
    for name in set(_NAME.findall(source)):
        lowered = name.lower()
        if lowered in directives._directives or lowered in directives._directive_registry:
            continue
        if len(_learnt) >= MOST_NAMES:
            return
        _learnt.add(lowered)
        domain, _, rest = lowered.rpartition(":")
        if lowered.startswith("auto"):
            directive: type[_Known] = _MarkupOnly
        elif domain and rest not in _CONTENT_ONLY:
            directive = _Object
        else:
            directive = _Unknown
        directives.register_directive(lowered, directive)


def inliner() -> Any:
    """docutils' parser of inline markup, with all roles known."""
    made = states.Inliner()
    made.interpreted = _interpreted  # set on the instance: the class looks up patterns by name
    return made


def _interpreted(_: str, text: str, role: str, line: int) -> tuple[list[Any], list[Any]]:
    """The visible text of a role."""
    shown = nodes.unescape(text)
    kind = role.rpartition(":")[2].lower()
    if kind in _NUMBERED_ROLES:
        return [nodes.Text(f"{_NUMBERED_ROLES[kind]} {shown}")], []
    if kind not in ("literal", "code", "math", "regexp", "samp"):
        labelled = _LABELLED.fullmatch(shown)
        shown = labelled[1] if labelled else shown.removeprefix("!")
        if shown.startswith("~"):
            shown = shown[1:].rpartition(".")[2]
        elif kind in _CODE_ROLES and re.match(r"\.[^\W\d]", shown):
            shown = shown[1:]  # the dot only tells Sphinx where to look up the name
    if kind in _CODE_ROLES:
        return [nodes.literal(text, shown)], []
    node = nodes.inline(text, shown)
    if kind == "ref" and not _LABELLED.fullmatch(text):
        node["label"] = nodes.fully_normalize_name(shown)
    return [node], []


_register()
