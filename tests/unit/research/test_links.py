"""Links in an answer lead only to what was read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.urls import dedupe_key
from bot.research.links import defuse, link_targets

READ = "https://example.org/tower"
EVIL = "https://evil.example/x"
ALLOWED = {dedupe_key(READ)}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"See [the tower]({READ}).", f"See [the tower]({READ})."),
        (f"See {READ}.", f"See {READ}."),
        (f"See <{READ}>.", f"See <{READ}>."),
        ("See [the tower](https://evil.example/x).", "See the tower."),
        ("See [the tower](https://evil.example/x 'Title').", "See the tower."),
        ("See [a (b)](https://evil.example/x_(y)).", "See a (b)."),
        ("See [x](javascript:alert(1)).", "See x."),
        ("See [x](<https://evil.example/a b>).", "See x."),
        ("![pixel](https://evil.example/p.png?q=secret)", "pixel"),
        (f"![pixel]({READ})", "pixel"),
        ("[![img](https://evil.example/i)](https://evil.example)", "img"),
        ("See https://evil.example/x.", "See `https://evil.example/x`."),
        ("See <https://evil.example/x>.", "See `https://evil.example/x`."),
        ("见 https://evil.example/x。", "见 `https://evil.example/x`。"),
        ("Write to mailto:a@b.example now", "Write to `mailto:a@b.example` now"),
        ("Text.\n\n[1]: https://evil.example/x\n", "Text.\n\n\n"),
        ("A footnote [1] and (brackets).", "A footnote [1] and (brackets)."),
        ("`https://evil.example/x`", "`https://evil.example/x`"),
    ],
)
def test_only_what_was_read_is_linked(written: str, shown: str) -> None:
    assert defuse(written, ALLOWED) == shown


@pytest.mark.parametrize(
    "written",
    [
        f"$[click]({EVIL})$",
        f"$$ [x]({EVIL}) $$",
        f"\\`[x]({EVIL})\\`",
        f"`a\n\n[x]({EVIL})\n\nb`",
        f"```a`b\n[x]({EVIL})\n",
        f"[a`b]({EVIL})`",
        f"[x](\n{EVIL})",
        f"[a\nb]({EVIL})",
        f"[\\]]({EVIL})",
        f"[x]({EVIL} (title))",
        "[x](https://evil.example/((a)b)c)",
        f"[x][r]\n\n> [r]: {EVIL}",
        f"- [r]: {EVIL}\n\n[r]",
        f"[![x]({EVIL})]({EVIL})",
        f"<{EVIL}>",
    ],
)
def test_nothing_that_commonmark_makes_a_link_of_is_left(written: str) -> None:
    assert list(link_targets(written)) or "`" in written, "the case must be a link to begin with"
    assert list(link_targets(defuse(f"See {READ}.\n\n{written}", ALLOWED))) == []


@given(
    st.lists(
        st.sampled_from(
            [
                "[",
                "]",
                "(",
                ")",
                "<",
                ">",
                "`",
                "$",
                "!",
                "\\",
                "\n",
                " ",
                "x",
                "[1]",
                ":",
                "- ",
                EVIL,
                READ,
                "```",
                "[r]: ",
                "> ",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_no_way_of_writing_leads_elsewhere(written: str) -> None:
    targets = link_targets(defuse(written, ALLOWED))
    assert all(dedupe_key(target) in ALLOWED for target in targets)


def test_a_stray_backtick_does_not_lay_an_address_bare() -> None:
    shown = defuse(f"a ` b {EVIL} c", ALLOWED)
    assert EVIL not in shown
    assert "evil.example/x" in shown
