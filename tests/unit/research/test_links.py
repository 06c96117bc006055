"""Links in an answer lead only to what was read."""

from __future__ import annotations

import pytest

from bot.pages.urls import dedupe_key
from bot.research.links import defuse

READ = "https://example.org/tower"
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
