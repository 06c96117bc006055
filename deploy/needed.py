"""The part of a lock file that an installation needs, with its hashes.

Run: pip install --dry-run --ignore-installed --quiet --report REPORT [--constraint …] WHAT
     python needed.py REPORT requirements-test.lock > needed.txt
     pip install --require-hashes --requirement needed.txt
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path


def needed(report: str, lock: str) -> str:
    """The entries of ``lock`` for what pip's ``report`` says it would install, without the folder
    or wheel that pip was given (``is_direct``).

    Raises ``SystemExit`` with a sentence if one of these is not in the lock file.
    """
    installs = json.loads(report)["install"]
    wanted = {_plain(each["metadata"]["name"]) for each in installs if not each.get("is_direct")}
    entries = re.findall(r"^[\w.\[\]-]+==.*(?:\n[ \t].*)*", lock, re.MULTILINE)
    kept = {_plain(re.split(r"[=\[]", entry, maxsplit=1)[0]): entry for entry in entries}
    if missing := wanted - kept.keys():
        raise SystemExit(f"Not in the lock file: {', '.join(sorted(missing))}.")
    return "\n".join(kept[name] for name in sorted(wanted)) + "\n"


def _plain(name: str) -> str:
    """The name as it is compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.stdout.write(needed(*(Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])))
