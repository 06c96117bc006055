"""Finds addresses in a person's text, with or without a scheme.

``bot.pages.urls.links_in`` finds the unambiguous links. People also write "example.org/faq", but
text of that form may as well be a company, a library or a file ("Booking.com", "Node.js",
"main.py"), so addresses without a scheme are found here, for callers that can decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.pages.urls import dedupe_key, links_in
from bot.text.patterns import listed

# Endings of host names that are not file extensions: the general domains in wide use, and those of
# countries (ISO 3166-1 alpha-2) except those that are also extensions or everyday words.
_ENDINGS = listed(
    "com org net edu gov int info biz dev app ai wiki blog news tech cloud online site page museum "
    "ac ad ae af ag al am ao ar au aw az ba bb bd be bf bg bh bi bj bn bo br bs bt bw by bz ca cd "
    "cf cg ch ci ck cl cm cn co cr cu cv cw cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk "
    "fm fo fr ga gb gd ge gg gh gi gl gm gn gp gq gr gt gu gw gy hk hn hr ht hu id ie il im io iq "
    "ir it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me "
    "mg mh mk mn mo mp mr mt mu mv mw mx my mz na nc ne ng ni nl np nr nu nz om pa pe pf pg ph pk "
    "pr pt pw qa re ro ru rw sa sb sc sd se sg si sk sl sm sn sr st sv sy sz tc td tf tg th tj tk "
    "tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vn vu wf ws ye za zm zw"
)
_HOST = re.compile(
    r"(?<![A-Za-z0-9_@/.:?&=#%+-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+([A-Za-z]{2,6})"
    r"(?![A-Za-z0-9_@-]|\.[A-Za-z0-9])(?::\d{2,5}(?!\d))?"
)
LONGEST = 2_000  # characters of an address without a scheme


def hosts_in(text: str) -> list[tuple[str, str]]:
    """Hosts without a scheme, in order: each as written, and the address that it begins.

    The address is ``https://`` plus the host and the path that follows it, if any.
    """
    return [(match.group(), _address(match)) for match in _hosts(text)]


def links_said(text: str) -> list[str]:
    """All addresses in a text, each page once.

    First those of ``links_in``, then those without a scheme that have a path: a bare host is more
    often a name.
    """
    found = {dedupe_key(link): link for link in links_in(text)}
    for host, address in hosts_in(text):
        if len(address) > len(f"https://{host}/"):
            found.setdefault(dedupe_key(address), address)
    return list(found.values())


def _hosts(text: str) -> Iterator[re.Match[str]]:
    for match in _HOST.finditer(text):
        # "It works.It is done" only lacks a space; hosts are not written in mixed case like that.
        is_said_so = match[1].islower() or match.group().isupper()
        if is_said_so and match[1].lower() in _ENDINGS:
            yield match


def _address(match: re.Match[str]) -> str:
    """The address that begins with a host, without the punctuation of the sentence around it."""
    rest = match.string[match.end() : match.end() + LONGEST]
    following = rest.split(maxsplit=1)[0] if rest[:1] in ("/", "?") else ""
    links = links_in(f"https://{match.group()}{following}")
    return links[0] if links else f"https://{match.group()}"
