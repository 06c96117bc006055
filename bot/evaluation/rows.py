"""The figures of an evaluation as text rows, for tables in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.evaluation.results import Figures, Result, Share, SideResults


@dataclass(frozen=True, slots=True)
class Row:
    """A figure with its value for each set of settings. ``opens`` begins a group of rows."""

    name: str
    values: tuple[str, ...]
    opens: bool = False


def rows(sides: Sequence[Figures]) -> list[Row]:
    """Return the rows of a table with a column for each set of settings; rows that apply to none
    are left out."""
    found: list[Row] = []
    for group in _GROUPS:
        opens = bool(found)
        for name, value in group:
            values = tuple(value(side) for side in sides)
            if any(values):
                found.append(Row(name, tuple(each or "–" for each in values), opens))
                opens = False
    return found


def kind_rows(figures: Figures) -> list[tuple[str, ...]]:
    """Return model calls by kind: kind, calls, tokens in, cached tokens, tokens out, USD."""
    return [
        (
            kind,
            f"{spent.calls:,}",
            f"{spent.input_tokens + spent.cached_tokens:,}",
            f"{spent.cached_tokens:,}",
            f"{spent.output_tokens:,}",
            f"{spent.usd:.4f}",
        )
        for kind, spent in figures.kinds.items()
    ]


def outcome_words(result: Result | None) -> str:
    """Return the outcome of a question in a few words."""
    if result is None:
        return "not asked"
    return "; ".join(result.score.amiss) or "✓"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 question", "2 questions"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def settings_rows(sides: Sequence[SideResults]) -> list[Row]:
    """Return the settings in which two sides differ."""
    names = list(dict.fromkeys(name for side in sides for name in side.settings))
    found = [(name, tuple(side.settings.get(name, "–") for side in sides)) for name in names]
    return [Row(name, values) for name, values in found if len(set(values)) > 1]


def cost_words(result: Result) -> str:
    """Return the cost of an answer on one line."""
    usage = result.answer.usage
    parts = [f"{usage.seconds:.1f} s"]
    if usage.model_calls:
        parts += [
            counted(usage.model_calls, "model call"),
            f"{usage.input_tokens + usage.cached_tokens:,} tokens in",
            f"{usage.output_tokens:,} out",
            f"{usage.usd:.4f} USD",
        ]
    return " · ".join(
        (
            *parts,
            f"{usage.searches} search" + "es" * (usage.searches != 1),
            counted(usage.pages, "page"),
        )
    )


def _share(share: Share) -> str:
    return f"{share.count} of {share.of}" if share.of else ""


def _percent(share: Share) -> str:
    return f"{share.count} of {share.of} ({share.count / share.of:.0%})" if share.of else ""


def _some(share: Share) -> str:
    return _share(share) if share.count else ""


def _mean(total: float, figures: Figures, form: str) -> str:
    asked = figures.as_expected.of
    return format(total / asked, form) if asked and figures.model_calls else ""


def _footnotes(figures: Figures) -> str:
    ratio = figures.footnotes_per_sentence
    return "" if ratio is None else f"{ratio:.2f}"


_Value = Callable[[Figures], str]
_GROUPS: tuple[tuple[tuple[str, _Value], ...], ...] = (
    (
        ("as expected", lambda f: _percent(f.as_expected)),
        ("failed", lambda f: _some(f.failed)),
    ),
    (
        ("right page read", lambda f: _share(f.page_read)),
        ("right page among the sources", lambda f: _share(f.page_cited)),
        ("expected words in the answer", lambda f: _share(f.words_said)),
        ("expected words in a quote", lambda f: _share(f.words_quoted)),
        ("refused rightly", lambda f: _share(f.refused_rightly)),
        ("refused wrongly", lambda f: _share(f.refused_wrongly)),
    ),
    (
        ("judged right", lambda f: _share(f.right)),
        ("judged partly right", lambda f: _share(f.partly)),
        ("judged wrong", lambda f: _share(f.wrong)),
    ),
    (
        ("footnotes per sentence", _footnotes),
        ("sentences marked ⚠", lambda f: f"{f.doubts} of {f.sentences}" if f.sentences else ""),
        ("contradicted by a source ⚖", lambda f: str(f.disagreements) if f.disagreements else ""),
    ),
    (
        ("model calls per question", lambda f: _mean(f.model_calls, f, ".1f")),
        (
            "tokens in per question",
            lambda f: _mean(f.input_tokens + f.cached_tokens, f, ",.0f"),
        ),
        ("– of them from the cache", lambda f: _mean(f.cached_tokens, f, ",.0f")),
        ("tokens out per question", lambda f: _mean(f.output_tokens, f, ",.0f")),
        ("USD per question", lambda f: _mean(f.usd, f, ".4f")),
        ("USD in all", lambda f: f"{f.usd:.4f}" if f.model_calls else ""),
        ("USD of the judge", lambda f: f"{f.judging_usd:.4f}" if f.right.of else ""),
    ),
    (
        ("seconds, median", lambda f: f"{f.seconds:.1f}" if f.as_expected.of else ""),
        ("seconds, slowest tenth", lambda f: f"{f.slow_seconds:.1f}" if f.as_expected.of else ""),
    ),
)
