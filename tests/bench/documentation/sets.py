"""The documentation sets: which package each comes from, where its pages are, what made them.

The packages are Debian 12's and npm's. A set's root is the folder that is given to ``--docs``.
``KEPT_FOR_ACCEPTANCE`` are sets that no question is written on: only the bench of reading uses
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Registry = Literal["debian", "npm"]
Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class DocumentationSet:
    """One set: ``package`` as its registry names it (with a version for npm), ``root`` a folder
    inside the unpacked package, ``generators`` (keys of ``generators.GENERATORS``) what its HTML
    pages may have been made with, in the order in which they are tried."""

    name: str
    registry: Registry
    package: str
    root: str
    generators: tuple[str, ...]
    language: Language = "en"


SETS = {
    each.name: each
    for each in (
        DocumentationSet(
            "apache", "debian", "apache2-doc", "usr/share/doc/apache2-doc/manual/en", ("apache",)
        ),
        DocumentationSet(
            "django",
            "debian",
            "python-django-doc",
            "usr/share/doc/python-django-doc/html",
            ("sphinx",),
        ),
        DocumentationSet(
            "debian-policy",
            "debian",
            "debian-policy",
            "usr/share/doc/debian-policy",
            ("sphinx", "docbook", "plain"),
        ),
        DocumentationSet(
            "octave", "debian", "octave-doc", "usr/share/doc/octave/octave.html", ("texinfo",)
        ),
        DocumentationSet(
            "cmake", "debian", "cmake-doc", "usr/share/doc/cmake-data/html", ("sphinx",)
        ),
        DocumentationSet(
            "postfix", "debian", "postfix-doc", "usr/share/doc/postfix/html", ("plain",)
        ),
        DocumentationSet("bash", "debian", "bash-doc", "usr/share/doc/bash", ("texinfo", "plain")),
        DocumentationSet(
            "mkdocs", "debian", "mkdocs-doc", "usr/share/doc/mkdocs/html", ("mkdocs",)
        ),
        DocumentationSet("fastify", "npm", "fastify@5.12.8", "package/docs", ()),
        DocumentationSet("npm", "npm", "npm@11.21.2", "package/docs", ("npm",)),
        DocumentationSet(
            "commons-lang",
            "debian",
            "libcommons-lang3-java-doc",
            "usr/share/doc/libcommons-lang3-java/api",
            ("javadoc",),
        ),
        DocumentationSet("ant", "debian", "ant-doc", "usr/share/doc/ant/manual", ("plain",)),
        DocumentationSet(
            "haproxy", "debian", "haproxy-doc", "usr/share/doc/haproxy", ("sphinx", "haproxy")
        ),
        DocumentationSet(
            "debian-reference-zh",
            "debian",
            "debian-reference-zh-cn",
            "usr/share/debian-reference",
            ("docbook",),
            "zh",
        ),
        DocumentationSet(
            "installation-zh",
            "debian",
            "installation-guide-amd64",
            "usr/share/doc/installation-guide-amd64/zh_CN",
            ("docbook",),
            "zh",
        ),
        DocumentationSet(
            "maint-guide-zh",
            "debian",
            "maint-guide-zh-cn",
            "usr/share/doc/maint-guide-zh-cn/html",
            ("docbook",),
            "zh",
        ),
        DocumentationSet(
            "debian-faq-zh",
            "debian",
            "debian-faq-zh-cn",
            "usr/share/doc/debian/FAQ/zh-cn",
            ("docbook", "plain"),
            "zh",
        ),
        DocumentationSet(
            "debmake", "debian", "debmake-doc", "usr/share/doc/debmake-doc/html", ("docbook",)
        ),
        DocumentationSet(
            "flask",
            "debian",
            "python-flask-doc",
            "usr/share/doc/python-flask-doc/html",
            ("sphinx",),
        ),
        DocumentationSet(
            "sphinx", "debian", "sphinx-doc", "usr/share/doc/sphinx-doc/html", ("sphinx",)
        ),
        DocumentationSet(
            "sqlalchemy",
            "debian",
            "python-sqlalchemy-doc",
            "usr/share/doc/python-sqlalchemy-doc/html",
            ("sphinx",),
        ),
        DocumentationSet(
            "texinfo", "debian", "texinfo", "usr/share/doc/texinfo/html", ("texinfo",)
        ),
        DocumentationSet(
            "varnish", "debian", "varnish-doc", "usr/share/doc/varnish/html", ("sphinx",)
        ),
        DocumentationSet("zsh", "debian", "zsh-doc", "usr/share/doc/zsh-common/html", ("texinfo",)),
    )
}

KEPT_FOR_ACCEPTANCE = {
    each.name: each
    for each in (
        DocumentationSet(
            "python", "debian", "python3.11-doc", "usr/share/doc/python3.11/html", ("sphinx",)
        ),
        DocumentationSet(
            "postgresql",
            "debian",
            "postgresql-doc-15",
            "usr/share/doc/postgresql-doc-15/html",
            ("docbook",),
        ),
        DocumentationSet("git", "debian", "git-doc", "usr/share/doc/git-doc", ("asciidoc",)),
        DocumentationSet(
            "sqlite", "debian", "sqlite3-doc", "usr/share/doc/sqlite3", ("sqlite", "plain")
        ),
        DocumentationSet(
            "debian-handbook-zh",
            "debian",
            "debian-handbook",
            "usr/share/doc/debian-handbook/html/zh-CN",
            ("docbook",),
            "zh",
        ),
    )
}


def chosen(names: str, among: dict[str, DocumentationSet]) -> list[DocumentationSet]:
    """The sets of a comma-separated list, or all for "". Raises ``SystemExit`` for another name."""
    if not names:
        return list(among.values())
    wanted = [name.strip() for name in names.split(",")]
    _refuse_unknown(wanted, among)
    return [among[name] for name in wanted]


def _refuse_unknown(wanted: Iterable[str], among: dict[str, DocumentationSet]) -> None:
    unknown = [name for name in wanted if name not in among]
    if unknown:
        raise SystemExit(f"There is no set {unknown[0]}: choose among {', '.join(among)}.")
