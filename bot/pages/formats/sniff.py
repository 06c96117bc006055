"""Detects the markup of a text file whose name says only ".txt".

Sphinx publishes its sources as ".rst.txt", Git's manual is AsciiDoc in ".txt", and README files
have no ending at all. A text counts as markup only where it holds what nobody writes by chance;
all else is read as it is.
"""

from __future__ import annotations

import re
from typing import Literal

from bot.text.lazy_regex import lazy_regex

LOOKED_AT = 200_000  # characters from the start
_ENOUGH = 3  # signs that tell, in a text that does not begin with a title

_RST = lazy_regex(
    r"^\.\.[ ](?:[a-z][\w:.+-]*::(?=[ \n])|_[^:\n]{1,80}:[ \n]|\[[\w#*-]+\][ ])"
    r"|:[a-z][\w:+-]{1,30}:`[^`\n]{1,300}`|`[^`<\n]{1,200}<[^>`\n]{1,300}>`__?",
    re.M,
)
_ASCIIDOC = lazy_regex(
    r"^\[(?:source|verse|listing|quote|horizontal|NOTE|TIP|WARNING|CAUTION|IMPORTANT|cols=|[\w-]*%)"
    r"[^\]\n]*\]$"
    r"|^(?:include|ifdef|ifndef|endif|image)::\S*\[[^\]\n]*\]$|^\[\[[\w-]+\]\]$"
    r"|\b(?:link(?:git)?|xref|footnote):\S*\[[^\]\n]+\]|<<[\w-]+(?:,[^>\n]+)?>>"
    r"|^\S[^\n]*::\n[ \t]+\S|^\|={3,}$",
    re.M,
)
_UNDERLINED = lazy_regex(
    r"\s*(?:([=*#~-])\1{2,}\n)?[ ]?(\S[^\n]*)\n([=\-~^*#\"+])\3{2,}[ ]*(?:\n|\Z)"
)
_TITLE = lazy_regex(r"(?:\s|//[^\n]*\n|:[\w-]+:[^\n]*\n)*+=[ ]\S")


def markup_of(text: str) -> Literal["rst", "asciidoc", "text"]:
    """The markup of a text with "\\n" for its line ends."""
    start = text[:LOOKED_AT]
    rst = sum(1 for _ in _RST.finditer(start))
    asciidoc = sum(1 for _ in _ASCIIDOC.finditer(start))
    titled = _UNDERLINED.match(start) is not None
    enough = 1 if titled or _TITLE.match(start) else _ENOUGH
    if rst >= max(asciidoc, enough):
        return "rst"
    return "asciidoc" if asciidoc >= enough else "text"
