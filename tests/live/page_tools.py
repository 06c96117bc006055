"""html-validate and Lighthouse on a page; ``.ci/install-live`` puts both into ``.ci/.live``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adapters.web.display import LANGUAGE, THEME
from tests.live.browser import WITHOUT_ADDRESS_BAR
from tests.live.emulate import MODULES, node

SECONDS = 60  # for one page; Lighthouse takes about 2 on an idle machine
LIGHTHOUSE = Path(__file__).with_name("lighthouse.mjs")
# Nothing moves or loads after the page is there: do not wait in case it does.
AT_ONCE = {
    "pauseAfterFcpMs": 0,
    "pauseAfterLoadMs": 0,
    "networkQuietThresholdMs": 100,
    "cpuQuietThresholdMs": 100,
}
RULES = {
    "extends": ["html-validate:recommended"],
    "rules": {"doctype-style": "off", "long-title": "off", "no-trailing-whitespace": "off"},
}
CATEGORIES = ("accessibility", "best-practices")
CHROMIUM = (
    *("--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync", WITHOUT_ADDRESS_BAR),
)


@dataclass(frozen=True)
class View:
    """A page as somebody looks at it: ``form`` is mobile or desktop."""

    url: str
    form: str
    theme: str
    language: str


def html_faults(pages: dict[str, str]) -> list[str]:
    """The faults that html-validate finds in pages, given as HTML by name, one line each."""
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


def lighthouse_faults(views: Sequence[View]) -> list[str]:
    """The faults that Lighthouse finds in pages, one line each; one Chromium opens all of them."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("Chromium is not installed: run .ci/install-live as root")
    _program("lighthouse", "cli/index.js")
    task = {
        "chrome": browser,
        "flags": [*CHROMIUM, *(["--no-sandbox"] if os.geteuid() == 0 else [])],
        "settings": {"onlyCategories": CATEGORIES, "disableFullPageScreenshot": True, **AT_ONCE},
        "pages": [{"url": view.url, "form": view.form, "cookie": _cookie(view)} for view in views],
    }
    with tempfile.TemporaryDirectory() as folder:
        command = [node(), str(LIGHTHOUSE), str(MODULES)]
        printed = _run(command, Path(folder), json.dumps(task), SECONDS * len(views))
    reports = [json.loads(line) for line in printed.splitlines()]
    assert len(reports) == len(views)
    return [
        f"{view}: {fault}"
        for view, report in zip(views, reports, strict=True)
        for fault in _faults(report)
    ]


def _cookie(view: View) -> str:
    return f"{THEME}={view.theme}; {LANGUAGE}={view.language}"


def _faults(report: Mapping[str, Any]) -> list[str]:
    assert "runtimeError" not in report, report["runtimeError"]
    assert set(report["categories"]) == set(CATEGORIES)
    counted = {
        each["id"]
        for category in report["categories"].values()
        for each in category["auditRefs"]
        if each["weight"]
    }
    return [
        f"{name}: {audit['title']} {json.dumps(audit.get('details', {}).get('items', []))[:900]}"
        for name, audit in report["audits"].items()
        if name in counted and audit["score"] is not None and audit["score"] < 1
    ]


def _program(package: str, script: str) -> list[str]:
    path = MODULES / package / script
    if not path.exists():
        pytest.skip(f"{package} is not installed: run .ci/install-live as root")
    return [node(), str(path)]


def _run(command: Sequence[str], folder: Path, given: str = "", seconds: int = SECONDS) -> str:
    """The output of a command, by a file: html-validate ends before a pipe has taken it all."""
    printed = folder / "printed"
    with printed.open("wb") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            input=given,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=seconds,
        )
    text = printed.read_text(encoding="utf-8")
    if not text:
        raise AssertionError(f"{Path(command[1]).name} printed nothing: {done.stderr[-2000:]}")
    return text
