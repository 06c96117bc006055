"""html-validate and Lighthouse on a page; ``.ci/install-live`` puts both into ``.ci/.live``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.live.emulate import MODULES, node

SECONDS = 90  # for one page; Lighthouse takes about 10 on an idle machine
RULES = {
    "extends": ["html-validate:recommended"],
    "rules": {"doctype-style": "off", "long-title": "off", "no-trailing-whitespace": "off"},
}
CATEGORIES = ("accessibility", "best-practices")
CHROMIUM = (
    *("--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
)


def html_faults(pages: dict[str, str]) -> list[str]:
    """What html-validate finds wrong with pages, given as HTML by name, one line each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".htmlvalidate.json").write_text(json.dumps({**RULES, "root": True}))
        for number, html in enumerate(pages.values()):
            (folder / f"{number}.html").write_text(html, encoding="utf-8")
        program = _program("html-validate", "bin/html-validate.mjs")
        done = _run([*program, "--formatter=json", "*.html"], folder)
    found = json.loads(done)
    names = list(pages)
    return [
        f"{names[int(Path(page['filePath']).stem)]}:{fault['line']}: {fault['message']}"
        f" ({fault['ruleId']})"
        for page in found
        for fault in page["messages"]
    ]


def lighthouse_faults(url: str, form: str = "mobile") -> list[str]:
    """What Lighthouse finds wrong with a page, one line each; ``form`` is mobile or desktop."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("Chromium is not installed: run .ci/install-live as root")
    flags = [*CHROMIUM, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    command = [
        *_program("lighthouse", "cli/index.js"),
        *(url, "--quiet", "--output=json", "--throttling-method=provided"),
        f"--only-categories={','.join(CATEGORIES)}",
        f"--chrome-flags={' '.join(flags)}",
        *(["--preset=desktop"] if form == "desktop" else []),
    ]
    with tempfile.TemporaryDirectory() as folder:
        report: dict[str, Any] = json.loads(_run(command, Path(folder), CHROME_PATH=browser))
    assert "runtimeError" not in report, report["runtimeError"]
    assert set(report["categories"]) == set(CATEGORIES)
    counted = {
        each["id"]
        for category in report["categories"].values()
        for each in category["auditRefs"]
        if each["weight"]
    }
    return [
        f"{name}: {audit['title']} {json.dumps(audit.get('details', {}).get('items', []))[:500]}"
        for name, audit in report["audits"].items()
        if name in counted and audit["score"] is not None and audit["score"] < 1
    ]


def _program(package: str, script: str) -> list[str]:
    path = MODULES / package / script
    if not path.exists():
        pytest.skip(f"{package} is not installed: run .ci/install-live as root")
    return [node(), str(path)]


def _run(command: Sequence[str], folder: Path, **environment: str) -> str:
    """What the command printed. Into a file: html-validate ends before a pipe has taken it all."""
    printed = folder / "printed"
    with printed.open("wb") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )
    text = printed.read_text(encoding="utf-8")
    if not text:
        raise AssertionError(f"{Path(command[1]).name} printed nothing: {done.stderr[-2000:]}")
    return text
