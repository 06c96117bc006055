"""Starts Footnote's own programs for the benches, each as a person would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str | os.PathLike[str],
    *,
    errors: int = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """``footnote`` in a folder; what it prints is left out, what it logs is for ``errors``."""
    return subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        env={**environment, "PYTHONPATH": str(REPOSITORY)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        text=True,
    )
