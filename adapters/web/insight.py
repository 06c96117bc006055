"""The pages that explain: one for each run, the overview, the numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from adapters.web.console import Console


def console_pages(console: Console) -> Sequence[BaseRoute]:
    """The routes of these pages."""
    return ()
