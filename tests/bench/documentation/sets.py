"""The documentation sets: which package each comes from, and where its pages are.

The packages are Debian 12's and npm's. A set's root is the folder that is given to ``--docs``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentationSet:
    """One set: ``registry`` is "debian" or "npm", ``package`` is named as there (with a version for
    npm), ``root`` is a folder inside the unpacked package."""

    name: str
    registry: str
    package: str
    root: str


SETS = {
    line.split()[0]: DocumentationSet(*line.split())
    for line in """
apache debian apache2-doc usr/share/doc/apache2-doc/manual/en
django debian python-django-doc usr/share/doc/python-django-doc/html
debian-policy debian debian-policy usr/share/doc/debian-policy
octave debian octave-doc usr/share/doc/octave/octave.html
cmake debian cmake-doc usr/share/doc/cmake-data/html
postfix debian postfix-doc usr/share/doc/postfix/html
bash debian bash-doc usr/share/doc/bash
mkdocs debian mkdocs-doc usr/share/doc/mkdocs/html
fastify npm fastify@5.12.8 package/docs
npm npm npm@11.21.2 package/docs
commons-lang debian libcommons-lang3-java-doc usr/share/doc/libcommons-lang3-java/api
ant debian ant-doc usr/share/doc/ant/manual
haproxy debian haproxy-doc usr/share/doc/haproxy
debian-reference-zh debian debian-reference-zh-cn usr/share/debian-reference
installation-zh debian installation-guide-amd64 usr/share/doc/installation-guide-amd64/zh_CN
maint-guide-zh debian maint-guide-zh-cn usr/share/doc/maint-guide-zh-cn/html
debian-faq-zh debian debian-faq-zh-cn usr/share/doc/debian/FAQ/zh-cn
debmake debian debmake-doc usr/share/doc/debmake-doc/html
flask debian python-flask-doc usr/share/doc/python-flask-doc/html
sphinx debian sphinx-doc usr/share/doc/sphinx-doc/html
sqlalchemy debian python-sqlalchemy-doc usr/share/doc/python-sqlalchemy-doc/html
texinfo debian texinfo usr/share/doc/texinfo/html
varnish debian varnish-doc usr/share/doc/varnish/html
zsh debian zsh-doc usr/share/doc/zsh-common/html
""".strip().splitlines()
}


def chosen(names: str) -> list[DocumentationSet]:
    """The sets of a comma-separated list, or all for "". Raises ``SystemExit`` for another name."""
    wanted = [name.strip() for name in names.split(",")] if names else list(SETS)
    for name in wanted:
        if name not in SETS:
            raise SystemExit(f"There is no set {name}: choose among {', '.join(SETS)}.")
    return [SETS[name] for name in wanted]
