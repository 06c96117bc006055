"""The Helm chart in deploy/helm, as Helm itself renders it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

CHART = Path(__file__).parents[2] / "deploy" / "helm"
INSTALLED = Path(__file__).parents[2] / ".ci" / ".live" / "kubernetes"
HELM = INSTALLED / "helm"
# A failure in CI, as every skip.
needs_helm = pytest.mark.skipif(
    not HELM.exists(), reason="Helm is not installed: run .ci/install-live"
)


def helm(values: dict[str, Any], *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Helm's with values of a file."""
    return subprocess.run(
        [str(HELM), *command, "--values", "-"],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass(frozen=True)
class Pod:
    """A pod of the chart; ``container`` is its only one."""

    spec: Any
    labels: dict[str, str]

    @property
    def container(self) -> Any:
        (container,) = self.spec["containers"]
        return container

    @property
    def component(self) -> str:
        return self.labels["app.kubernetes.io/component"]

    @property
    def environment(self) -> dict[str, str]:
        return {each["name"]: each["value"] for each in self.container["env"]}

    def files(self) -> dict[str, tuple[str, str]]:
        """Path in the container → name of the Secret and the key in it."""
        mounts = {each["name"]: each["mountPath"] for each in self.container["volumeMounts"]}
        return {
            f"{mounts[volume['name']]}/{item['path']}": (source["secret"]["name"], item["key"])
            for volume in self.spec["volumes"]
            for source in volume.get("projected", {}).get("sources", [])
            for item in source["secret"]["items"]
        }


@dataclass(frozen=True)
class Rendered:
    """The documents that Kubernetes would be given."""

    documents: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, values: dict[str, Any]) -> Rendered:
        done = helm(values, "template", "footnote", str(CHART), "--namespace", "chat")
        assert done.returncode == 0, done.stderr
        return cls(tuple(each for each in yaml.safe_load_all(done.stdout) if each))

    def of_kind(self, kind: str) -> list[Any]:
        return [each for each in self.documents if each["kind"] == kind]

    @property
    def pods(self) -> dict[str, Pod]:
        """By component."""
        templates = [
            each["spec"]["template"]
            for kind in ("Deployment", "Job")
            for each in self.of_kind(kind)
        ]
        found = [Pod(each["spec"], each["metadata"]["labels"]) for each in templates]
        return {pod.component: pod for pod in found}
