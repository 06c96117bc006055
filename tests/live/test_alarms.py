"""Prometheus' own promtool plays outages to the alarms in deploy/."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus-rules.yaml"
OUTAGES = Path(__file__).with_name("alarms.yaml")


@pytest.fixture(scope="module")
def promtool() -> str:
    """Skipped where it is not installed, a failure in CI."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: run .ci/install-live as root")
    return program


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def test_the_rules_are_in_order(promtool: str) -> None:
    assert f"{len(rules())} rules found" in run(promtool, "check", "rules", str(RULES))


def test_each_outage_fires_its_alarm_and_no_other_time_does(promtool: str, tmp_path: Path) -> None:
    """Without their annotations, which would have to be repeated word for word."""
    outages = yaml.safe_load(OUTAGES.read_text(encoding="utf-8"))
    outages["rule_files"] = ["rules.yaml"]
    bare = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    for group in bare["groups"]:
        for rule in group["rules"]:
            del rule["annotations"]  # the labels tell which alarm it was
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(bare))
    (tmp_path / "outages.yaml").write_text(yaml.safe_dump(outages))
    assert "SUCCESS" in run(promtool, "test", "rules", str(tmp_path / "outages.yaml"))


def test_every_alarm_is_played() -> None:
    outages = yaml.safe_load(OUTAGES.read_text(encoding="utf-8"))
    expected = [each for test in outages["tests"] for each in test["alert_rule_test"]]
    names = {rule["alert"] for rule in rules()}
    assert {each["alertname"] for each in expected if each.get("exp_alerts")} == names
    assert {each["alertname"] for each in expected if not each.get("exp_alerts")} == names


def test_every_alarm_says_how_bad_it_is_what_it_means_and_what_to_do() -> None:
    handbook = (ROOT / "bot" / "handbook" / "alarms.md").read_text(encoding="utf-8")
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning")
        notes = rule["annotations"]
        assert set(notes) == {"summary", "description", "runbook_url"}
        assert notes["runbook_url"] == f"/handbook/alarms#{rule['alert'].lower()}"
        section = handbook.partition(f"\n## {rule['alert']}\n")[2].partition("\n## ")[0]
        assert len(section.split()) >= 25, rule["alert"]
