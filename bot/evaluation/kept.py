"""The folders in which the answers of evaluations are kept for later calls."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection
from pathlib import Path

from bot.errors import StorageUnavailable

DAYS = 30  # that a folder is kept after its last use


def make_room(root: Path, used: Collection[Path], *, fresh: bool) -> None:
    """Note that folders are used now, and remove those that were not for ``DAYS``; with ``fresh``
    those in use are emptied. Raises ``StorageUnavailable``."""
    try:
        for folder in set(used):
            if fresh and folder.is_dir():
                shutil.rmtree(folder)
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        oldest = time.time() - DAYS * 86_400
        for folder in root.iterdir():
            if folder.is_dir() and folder not in used and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {root} cannot be written ({error.strerror}): make room, or set "
            "FOOTNOTE_DATA_DIR to another folder."
        ) from error
