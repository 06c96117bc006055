"""Exports the sources of answers for reference managers: BibTeX and CSL-JSON.

BibTeX follows the BibLaTeX manual (type ``online``, with ``urldate``), CSL-JSON its schema
(https://docs.citationstyles.org/en/stable/specification.html).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.lines import Kind, kind_of, label
from bot.core.messages import Answer
from bot.core.reader import display_address
from bot.pages.urls import domain
from bot.rendering.footnotes import link_target

# Characters with a meaning in TeX.
_TEX = re.compile(r"[\\{}$&#^_~%]")
_TEX_FOR = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_NO_NAME = re.compile(r"[^a-z0-9]+")
_KINDS: Mapping[Kind, str] = {"conversation": "Message", "correction": "Correction"}


@dataclass(frozen=True, slots=True)
class Reference:
    """A source that answers cite. ``url`` is "" for a document that is not on the web; ``read_at``
    is when it was read, if known.
    """

    name: str
    title: str
    url: str
    site: str
    read_at: datetime | None
    kind: Kind = "web"


def references(
    answers: Iterable[Answer], dates: Mapping[tuple[str, str], datetime]
) -> list[Reference]:
    """The pages that the answers cite, each once, in order. ``dates`` gives the time at which each
    copy of a page (URL and hash) was read.
    """
    found: dict[str, Reference] = {}
    for answer in answers:
        for cited in answer.citations:
            if cited.url in found:
                continue
            site = domain(display_address(cited.url))
            stem = _NO_NAME.sub("", site.lower()) or "document"
            found[cited.url] = Reference(
                name=f"{stem}-{len(found) + 1}",
                title=label(cited.title) or site or label(cited.url),
                url=link_target(cited.url),
                site=site,
                read_at=dates.get((cited.url, cited.page_hash)),
                kind=kind_of(cited.url),
            )
    return list(found.values())


def as_bibtex(references: Sequence[Reference]) -> str:
    """A ``@online`` entry for each web page, a ``@misc`` entry for each other document."""
    return "\n".join(map(_entry, references))


def as_csl(references: Sequence[Reference]) -> str:
    """CSL-JSON: a list of items."""
    return json.dumps([_item(each) for each in references], ensure_ascii=False, indent=2) + "\n"


def _entry(one: Reference) -> str:
    # ``link_target`` has removed everything else that could end the braces.
    url = one.url.replace("{", "%7B").replace("}", "%7D").replace("%", r"\%").replace("#", r"\#")
    fields = {
        "title": f"{{{_tex(one.title)}}}",
        "organization": _tex(one.site),
        "url": url,
        "note": _KINDS.get(one.kind, ""),
        "urldate": one.read_at.strftime("%Y-%m-%d") if one.read_at else "",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    kind = "online" if one.url else "misc"
    return "\n".join([f"@{kind}{{{one.name},", *lines, "}", ""])


def _tex(text: str) -> str:
    return _TEX.sub(lambda found: _TEX_FOR.get(found[0], f"\\{found[0]}"), text)


def _item(one: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": one.name,
        "type": "webpage" if one.url else "document",
        "title": one.title,
    }
    if one.url:
        item |= {"container-title": one.site, "URL": one.url}
    if genre := _KINDS.get(one.kind):
        item["genre"] = genre
    if one.read_at:
        at = one.read_at
        item["accessed"] = {"date-parts": [[at.year, at.month, at.day]]}
    return item
