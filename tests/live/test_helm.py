"""The Helm chart in deploy/helm: rendered by Helm itself, judged by Kubernetes' schemas and by what
the program can do, and its pods run as they are described."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from referencing import Registry, Resource
from starlette.routing import Route

from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings, secret_names
from bot.operation.console_access import has_console
from bot.operation.health import Readiness, health_routes
from bot.pages import guard
from bot.service.dispatch.dispatcher import DRAIN_SECONDS, is_queued
from tests.live.chart import CHART, INSTALLED, Pod, Rendered, helm, needs_helm
from tests.unit.test_deploy import EXTRA_SECONDS, check_command, instruction

pytestmark = needs_helm

ROOT = Path(__file__).parents[2]

POSTGRES = {"FOOTNOTE_DATABASE_URL": {"name": "database", "key": "uri"}}
SLACK = {name: {"name": "slack"} for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")}
EVERY_SECRET = {name: {"name": "all", "key": f"k{at}"} for at, name in enumerate(secret_names())}
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "sqlite": {
        "secrets": {**SLACK, "FOOTNOTE_CONSOLE_TOKEN": None},
        "storage": {"existingClaim": "kept"},
        "networkPolicy": {"enabled": False},
    },
    "postgresql": {"secrets": {**POSTGRES, **SLACK}},
    "single sign-on": {
        "secrets": {**POSTGRES, "FOOTNOTE_OIDC_CLIENT_SECRET": {"name": "oidc"}},
        "settings": {
            "FOOTNOTE_OIDC_ISSUER": "https://login.example.com/realms/staff",
            "FOOTNOTE_OIDC_CLIENT_ID": "footnote",
            "FOOTNOTE_ADMIN_GROUPS": ["operators", "it"],
        },
        "ingress": {"enabled": True, "host": "footnote.example.com"},
    },
    "everything": {
        "image": {"repository": "registry.example.com/footnote", "digest": f"sha256:{'0' * 64}"},
        "imagePullSecrets": [{"name": "registry"}],
        "secrets": {name: EVERY_SECRET[name] for name in EVERY_SECRET if name != "DISCORD_TOKEN"},
        "settings": {
            "SLACK_CLIENT_ID": "1.2",
            "FOOTNOTE_READING_MEMORY": 500_000_000,
            "FOOTNOTE_MAX_USD": 2.5,
            "FOOTNOTE_AUDIT_READS": False,
            "FOOTNOTE_PROVIDERS": ["brave", "local"],
            "FOOTNOTE_COLLECTIONS": [
                {"name": "hr", "paths": ["/srv/documents/hr"], "everybody": True}
            ],
            "FOOTNOTE_CHANNELS": {"C1": {"language": "English"}},
        },
        "listener": {"replicas": 3},
        "worker": {"autoscaling": {"enabled": True, "maxReplicas": 20}},
        "documents": {"existingClaim": "documents"},
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "annotations": {"cert-manager.io/cluster-issuer": "internal"},
            "tlsSecret": "tls",
        },
        "networkPolicy": {
            "from": [{"namespaceSelector": {}}],
            "egress": [{"to": [{"ipBlock": {"cidr": "10.1.2.3/32"}}], "ports": [{"port": 443}]}],
        },
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True},
        "service": {"annotations": {"example.com/a": "b"}},
        "podAnnotations": {"example.com/a": "b"},
        "podLabels": {"team": "it"},
        "nodeSelector": {"kubernetes.io/arch": "arm64"},
        "tolerations": [{"key": "chat", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "high",
        "storage": {"storageClassName": "fast"},
        "extraEnv": [{"name": "SSL_CERT_FILE", "value": "/etc/ca/ca.pem"}],
        "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
        "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
    },
}
# Of the operator's API reference what the chart uses of it; Kubernetes itself has no schema of it.
LABELS = {"type": "object", "additionalProperties": {"type": "string"}}
SERVICE_MONITOR = {
    "type": "object",
    "required": ["selector", "endpoints"],
    "additionalProperties": False,
    "properties": {
        "selector": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"matchLabels": LABELS},
        },
        "endpoints": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "port": {"type": "string"},
                    "path": {"type": "string"},
                    "interval": {"type": "string", "pattern": r"^(\d+(ms|s|m|h))+$"},
                    "authorization": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"credentials": LABELS},
                    },
                    "relabelings": {"type": "array", "items": LABELS},
                },
            },
        },
    },
}


@cache
def rendered(case: str) -> Rendered:
    return Rendered.of(CASES[case])


# ---------------------------------------------------------------- by Kubernetes


@pytest.mark.parametrize("case", CASES)
def test_helm_finds_nothing_to_say(case: str) -> None:
    done = helm(CASES[case], "lint", str(CHART), "--strict", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr


def _schemas(version: Path) -> Registry[Any]:
    document = json.loads((version / "_definitions.json").read_text(encoding="utf-8"))
    resource = Resource.from_contents(document)
    return Registry().with_resources([("/api/_definitions.json", resource)])


@pytest.mark.parametrize("version", ["oldest", "newest"])
def test_every_object_is_one_that_kubernetes_takes(version: str) -> None:
    """By the schemas that know every field, of the oldest version that the chart names too."""
    oldest, newest = sorted(INSTALLED.glob("v*/"))
    folder = oldest if version == "oldest" else newest
    needed = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["kubeVersion"]
    assert f">={oldest.name[1:]}-0" == needed
    registry = _schemas(folder)
    for case in CASES:
        for document in rendered(case).documents:
            group, _, short = document["apiVersion"].rpartition("/")
            if document["kind"] == "ServiceMonitor":
                jsonschema.validate(document["spec"], SERVICE_MONITOR)
            if group == "monitoring.coreos.com":
                continue
            name = "-".join([document["kind"].lower(), *filter(None, [group.split(".")[0], short])])
            schema = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            judge = jsonschema.validators.validator_for(schema)(schema, registry=registry)
            problems = [f"{each.json_path}: {each.message}" for each in judge.iter_errors(document)]
            assert not problems, (case, document["kind"], problems)


@pytest.mark.parametrize("case", CASES)
def test_selectors_and_claims_meet_what_there_is(case: str) -> None:
    chart = rendered(case)
    labels = [pod.labels for pod in chart.pods.values()]

    def selects(selector: dict[str, str]) -> list[str]:
        found = [each for each in labels if selector.items() <= each.items()]
        return [each["app.kubernetes.io/component"] for each in found]

    for each in chart.of_kind("Deployment"):
        own = each["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
        assert selects(each["spec"]["selector"]["matchLabels"]) == [own]
    for each in chart.of_kind("Service"):
        assert selects(each["spec"]["selector"]) == [
            each["metadata"]["labels"]["app.kubernetes.io/component"]
        ]
    budgets = [
        each["spec"]["selector"]["matchLabels"] for each in chart.of_kind("PodDisruptionBudget")
    ]
    assert sorted(each for selector in budgets for each in selects(selector)) == sorted(
        set(chart.pods) - {"migrate"}
    )
    for policy in chart.of_kind("NetworkPolicy"):
        assert set(selects(policy["spec"]["podSelector"]["matchLabels"])) == set(chart.pods)
    for pod in chart.pods.values():
        mounted = [each["name"] for each in pod.container["volumeMounts"]]
        assert sorted(mounted) == sorted(each["name"] for each in pod.spec["volumes"])
    claims = {each["metadata"]["name"] for each in chart.of_kind("PersistentVolumeClaim")}
    wanted = {
        volume["persistentVolumeClaim"]["claimName"]
        for pod in chart.pods.values()
        for volume in pod.spec["volumes"]
        if "persistentVolumeClaim" in volume
    }
    assert claims == wanted - {"kept", "documents"}


@pytest.mark.parametrize("case", CASES)
def test_pods_keep_the_restricted_standard_and_a_root_that_is_read_only(case: str) -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted"""
    for pod in rendered(case).pods.values():
        whole, own = pod.spec["securityContext"], pod.container["securityContext"]
        assert whole["runAsNonRoot"] is True
        assert whole["runAsUser"] == whole["fsGroup"] == int(instruction("USER"))
        assert whole["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod.spec)
        assert all("hostPath" not in each for each in pod.spec["volumes"])
        assert pod.spec["automountServiceAccountToken"] is False
        assert "limits" in pod.container["resources"]


# ---------------------------------------------------------------- by the program


GIVEN = {
    "FOOTNOTE_DATABASE_URL": "postgresql+psycopg://footnote:secret@db/footnote",
    "FOOTNOTE_DATABASE_LISTEN_URL": "postgresql+psycopg://footnote:secret@db/footnote",
    "FOOTNOTE_ENCRYPTION_KEYS": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
}


@pytest.fixture
def settings_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Pod], Settings]:
    """The settings that a pod's environment gives, with its secrets in real files."""

    def settings(pod: Pod) -> Settings:
        monkeypatch.chdir(tmp_path)
        secrets = pod.files()
        for name, value in pod.environment.items():
            if name.endswith("_FILE") and value in secrets:
                file = tmp_path / Path(value).name
                plain = name.removesuffix("_FILE")
                file.write_text(GIVEN.get(plain, f"a-secret-of-{plain}"), encoding="utf-8")
                monkeypatch.setenv(name, str(file))
            else:
                monkeypatch.setenv(name, value)
        return load_settings()

    return settings


@pytest.mark.parametrize("case", CASES)
def test_the_program_takes_commands_and_settings_and_answers_the_probes(
    case: str, settings_of: Callable[[Pod], Settings]
) -> None:
    queued = "FOOTNOTE_DATABASE_URL" in CASES[case].get("secrets", {})
    assert set(rendered(case).pods) == (
        {"listener", "worker", "migrate"} if queued else {"listener"}
    )
    for component, pod in rendered(case).pods.items():
        options = check_command(pod.container["args"])
        settings = settings_of(pod)
        assert is_queued(settings) is queued
        assert has_console(settings) is (case != "sqlite")
        data = str(settings.data_dir)
        assert data in [each["mountPath"] for each in pod.container["volumeMounts"]]
        assert data == pod.container["workingDir"]
        grace = pod.spec["terminationGracePeriodSeconds"]
        if component == "migrate":
            continue
        pause = pod.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert grace >= pause + DRAIN_SECONDS + EXTRA_SECONDS
        if component == "listener":
            assert options["no_work"] is queued
        (port,) = pod.container["ports"]
        assert port["containerPort"] == options.get("health_port", settings.http_port)
        routes = {r.path for r in health_routes(Readiness(None)) if isinstance(r, Route)}  # type: ignore[arg-type]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            asked = pod.container[probe]["httpGet"]
            assert asked["path"] in routes
            assert asked["port"] == port["name"]


def test_numbers_and_lists_arrive_as_they_were_meant(
    settings_of: Callable[[Pod], Settings],
) -> None:
    settings = settings_of(rendered("everything").pods["worker"])
    assert settings.reading_memory == 500_000_000
    assert settings.max_usd == 2.5
    assert settings.audit_reads is False
    assert settings.providers == ("brave", "local")
    assert [each.name for each in settings.collections] == ["hr"]
    assert settings.channels["C1"].language == "English"
    assert settings.docs == ("/srv/documents",)
    assert settings.public_url == "https://footnote.example.com"


def test_every_secret_can_come_from_a_secret_and_none_stands_in_the_environment() -> None:
    chart = Rendered.of({"secrets": EVERY_SECRET})
    assert not {"Secret", "ConfigMap"} & {each["kind"] for each in chart.documents}
    for pod in chart.pods.values():
        environment = pod.environment
        assert not set(environment) & set(secret_names())
        found = {name: pod.files()[environment[f"{name}_FILE"]] for name in secret_names()}
        assert found == {name: ("all", each["key"]) for name, each in EVERY_SECRET.items()}
        assert {name.removesuffix("_FILE") for name in environment} <= set(known_names())


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"settings": {"SLACK_BOT_TOKEN": "xoxb-1"}}, "SLACK_BOT_TOKEN"),
        ({"settings": {"FOOTNOTE_HTTP_PORT": 9090}}, "FOOTNOTE_HTTP_PORT"),
        ({"secrets": {"FOOTNOTE_MODEL": {"name": "a"}}}, "FOOTNOTE_MODEL"),
        ({"secrets": {"DISCORD_TOKEN": "plain"}}, "DISCORD_TOKEN"),
        ({"workers": {"replicas": 3}}, "workers"),
        ({"listener": {"replicas": 2}}, "needs PostgreSQL"),
        (
            {
                "listener": {"replicas": 2},
                "secrets": {**POSTGRES, "DISCORD_TOKEN": {"name": "discord"}},
            },
            "Discord bot has one listener",
        ),
    ],
)
def test_what_cannot_work_is_refused_with_its_name(values: dict[str, Any], told: str) -> None:
    done = helm(values, "template", "footnote", str(CHART))
    assert done.returncode != 0
    assert told in done.stderr


# ---------------------------------------------------------------- beside the pods


def test_prometheus_asks_where_the_numbers_are_under_the_names_that_alarms_have() -> None:
    (monitor,) = rendered("everything").of_kind("ServiceMonitor")
    ports = {
        port["name"]: each["metadata"]["labels"]
        for each in rendered("everything").of_kind("Service")
        for port in each["spec"]["ports"]
    }
    jobs = {}
    for endpoint in monitor["spec"]["endpoints"]:
        labels = ports[endpoint["port"]]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
        (relabeling,) = endpoint["relabelings"]
        jobs[labels["app.kubernetes.io/component"]] = relabeling["replacement"]
        shown = endpoint["authorization"]["credentials"]
        assert shown == EVERY_SECRET["FOOTNOTE_CONSOLE_TOKEN"]
    rules = (ROOT / "deploy" / "prometheus-rules.yaml").read_text(encoding="utf-8")
    (alarms,) = rendered("everything").of_kind("PrometheusRule")
    assert alarms["spec"] == yaml.safe_load(rules)
    assert all(f"job_name: {job}\n" in rules for job in jobs.values())
    assert set(jobs) == {"listener", "worker"}


def test_workers_are_scaled_by_a_number_that_there_is() -> None:
    (scaler,) = rendered("everything").of_kind("HorizontalPodAutoscaler")
    (metric,) = scaler["spec"]["metrics"]
    board = (ROOT / "deploy" / "grafana-dashboard.json").read_text(encoding="utf-8")
    assert metric["external"]["metric"]["name"] in board  # a test compares it with the program
    deployments = {
        each["metadata"]["name"]: each["spec"]
        for each in rendered("everything").of_kind("Deployment")
    }
    assert "replicas" not in deployments[scaler["spec"]["scaleTargetRef"]["name"]]


def test_the_network_policy_keeps_in_what_the_address_rule_keeps_in() -> None:
    (policy,) = rendered("default").of_kind("NetworkPolicy")
    (to,) = [each["to"] for each in policy["spec"]["egress"] if "to" in each]
    v4, v6 = (each["ipBlock"] for each in to)
    assert v4 == {"cidr": "0.0.0.0/0", "except": list(guard.NOT_PUBLIC_V4)}
    assert v6 == {"cidr": str(guard.GLOBAL_UNICAST), "except": list(guard.NOT_PUBLIC_V6)}
