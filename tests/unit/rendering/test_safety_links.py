"""Links in an answer lead only to what was read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rendering.safety import addresses, defuse, link_targets

READ = "https://example.org/tower"
EVIL = "https://evil.example/x"
ALLOWED = addresses([READ])
ADDED = (  # what may stand behind an address without naming another page
    *("?utm_source=SECRET", "?utm_term=SECRET", "?fbclid=SECRET", "?gclid=SECRET&utm_id=SECRET"),
    *("?msclkid=SECRET", "?mc_eid=SECRET", "#SECRET", "#:~:text=SECRET", "?utm_term=a#SECRET"),
    *("/#SECRET", "/index.html?utm_campaign=SECRET", "/?fbclid=SECRET#SECRET"),
)


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
                "?utm_term=S",
                "#S",
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
    assert all(target == READ for target in targets)


@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("host", ["example.org", "www.example.org", "m.example.org", "EXAMPLE.org"])
@pytest.mark.parametrize(
    "form", ["[x](%s)", "[x](<%s>)", "[x](%s 'title')", "<%s>", "%s", "> - %s.", "[a[b]](%s)"]
)
def test_a_link_to_a_source_carries_nothing_that_was_added(
    form: str, host: str, added: str
) -> None:
    for scheme in ("http", "https"):
        shown = defuse(form % f"{scheme}://{host}/tower{added}", ALLOWED)
        assert "SECRET" not in shown
        assert READ in shown


def test_a_source_keeps_the_parameters_that_it_has() -> None:
    here = "https://example.org/w/(a?id=7&lang=en"
    assert defuse(f"[x](<{here}&utm_term=S>)", addresses([here])) == f"[x](<{here}>)"


def test_a_stray_backtick_does_not_lay_an_address_bare() -> None:
    shown = defuse(f"a ` b {EVIL} c", ALLOWED)
    assert EVIL not in shown
    assert "evil.example/x" in shown
