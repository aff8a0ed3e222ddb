"""Pod Security at a real API server admits rendered pods, and is the oracle of the policy privileged-namespace."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.inputs.manifests import everything
from components.render.manifest import MANAGEMENT
from jacquard.lab.toolchain.build import environment
from jacquard.lab.toolchain.families import FAMILIES
from jacquard.providers.kube import ApiError
from policies.facts import Context, object_fact
from policies.pod_images import PODS
from policies.rules.access.privileged_namespace import RULE
from policies.verdict import Verdict
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import REFERENCES, reference

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

ENFORCE = "pod-security.kubernetes.io/enforce"
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
MODULE = "k8s.io/pod-security-admission"
FIXTURES = "test/testdata"
"""Pods of upstream's own tests, in the folders <standard>/<version>/<pass or fail>."""
OTHER = ("serviceAccountName", "priorityClassName", "nodeName", "runtimeClassName")
"""Fields with names of cluster objects, which no standard restricts."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("pods") / "server", kinds=())
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures of upstream, in the version of the API server; go.sum of its family verifies the download."""
    [family] = [family for family in FAMILIES if family.name == "kubernetes"]
    folder = tmp_path_factory.mktemp("module")
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(family.folder / name, folder / name)
    variables = {**environment(), "GOMODCACHE": str(folder / "cache")}
    command = ["go", "mod", "download", "-json", MODULE]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True)
    return Path(json.loads(done.stdout)["Dir"]) / FIXTURES


def namespace(server: LocalApiServer, name: str, labels: dict[str, str]) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    server.api.apply(body, field_manager="test", force=True)


def rejection(server: LocalApiServer, place: str, body: dict[str, Any]) -> str:
    """Return the reason why Pod Security rejects a pod; empty if it is admitted."""
    spec = {key: value for key, value in body["spec"].items() if key not in OTHER}
    metadata = {**body.get("metadata", {}), "name": "probe", "namespace": place}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    try:
        server.api.apply(pod, field_manager="test", dry_run=True)
    except ApiError as error:
        if "violates PodSecurity" not in str(error):
            raise
        return str(error)
    return ""


@pytest.mark.parametrize("name", REFERENCES)
def test_the_api_server_admits_all_rendered_pods_in_their_namespaces(name: str, server: LocalApiServer) -> None:
    rendered = list(everything(reference(name)))
    labels = {
        (item.cluster, item.name): item.body["metadata"].get("labels") or {}
        for item in rendered
        if item.kind == "Namespace"
    }
    judged, rejected = 0, {}
    for item in rendered:
        if item.kind in PODS and (item.cluster, item.namespace) in labels:
            place = f"{name}-{item.cluster}-{item.namespace}"[:63].rstrip("-")
            known = labels[item.cluster, str(item.namespace)]
            namespace(server, place, {key: value for key, value in known.items() if key.startswith(ENFORCE)})
            spec = item.body
            for step in PODS[item.kind]:
                spec = spec[step]
            judged += 1
            if text := rejection(server, place, {"spec": spec}):
                rejected[f"{item.kind} {item.namespace}/{item.name} in {item.cluster}"] = text

    assert judged
    assert rejected == {}


def newest_version(folder: Path) -> Path:
    """Return the fixtures of the newest version of a standard; older versions permit a part of them."""
    return max(folder.iterdir(), key=lambda item: tuple(map(int, item.name.removeprefix("v").split("."))))


def valid(files: Iterable[Path]) -> list[Path]:
    """Return the fixtures that are pods; the API server itself rejects those of ``procMount`` without ``hostUsers``."""
    return sorted(file for file in files if not file.name.startswith("procmount"))


def pod(file: Path) -> dict[str, Any]:
    body: dict[str, Any] = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
    return body


def verdict(standard: str) -> Verdict:
    """Return the verdict of the policy about a namespace that enforces ``standard``."""
    body = {"kind": "Namespace", "metadata": {"name": "tools", "labels": {ENFORCE: standard}}}
    return RULE.judge(object_fact(body, MANAGEMENT), Context.of(reference("laptop"), NOW)).verdict


@pytest.mark.parametrize("standard", ["baseline", "restricted"])
def test_a_standard_that_the_policy_accepts_rejects_the_pods_that_upstream_rejects(
    standard: str, server: LocalApiServer, fixtures: Path
) -> None:
    newest = newest_version(fixtures / standard)
    namespace(server, f"{standard}-newest", {ENFORCE: standard, f"{ENFORCE}-version": newest.name})
    files = valid(newest.glob("*/*.yaml"))

    verdicts = {str(file.relative_to(newest)): rejection(server, f"{standard}-newest", pod(file)) for file in files}

    wrong = {name: text for name, text in verdicts.items() if bool(text) is not name.startswith("fail/")}
    assert {name.partition("/")[0] for name in verdicts} == {"pass", "fail"}
    assert wrong == {}
    assert verdict(standard) is Verdict.PASS


def test_the_standard_that_the_policy_rejects_admits_the_pods_that_baseline_rejects(
    server: LocalApiServer, fixtures: Path
) -> None:
    files = valid(newest_version(fixtures / "baseline").glob("fail/*.yaml"))
    namespace(server, "everything", {ENFORCE: "privileged"})

    rejected = [file.name for file in files if rejection(server, "everything", pod(file))]

    assert files
    assert rejected == []
    assert verdict("privileged") is Verdict.VIOLATION
