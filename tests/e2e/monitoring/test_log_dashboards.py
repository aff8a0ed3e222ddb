"""Queries of the log dashboards at a real log store, with records as collectors and API servers write them.

Grafana and its plug-in do not run. The test replaces variables, and sets paths and arguments, as the plug-in does
(VLDS:src/README.md Variable interpolation, pkg/plugin/query.go).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from components.render.region import dashboards
from tests.support.monitoring.log_store_process import LogStore, running_log_store

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

NODE, POD = {"k8s.node.name": "n1"}, {"k8s.node.name": "n1", "k8s.namespace.name": "train", "k8s.pod.name": "job-0"}
EVENT = {"k8s.resource.name": "events", "k8s.namespace.name": "train", "object.type": "Warning"}
LOGS = [
    {"_msg": "epoch 12", **POD},
    {"_msg": "error: out of tokens", **POD},
    {"_msg": 'E1129 10:00:00.000000 1 kubelet.go:1] "Failed to start"', "unit": "kubelet.service", **NODE},
    {"_msg": "I1129 10:00:00.000000 1 kubelet.go:1] Started", "unit": "kubelet.service", **NODE},
    {"_msg": 'time="2026-11-29T10:00:00Z" level=error msg="no image"', "unit": "containerd.service", **NODE},
    {"_msg": 'time="2026-11-29T10:00:00Z" level=info msg="no error"', "unit": "containerd.service", **NODE},
    {"_msg": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", **NODE},
    {"_msg": "mlx5_core 0000:3b:00.0: link up", **NODE},
    {"object.reason": "BackOff", "object.note": "restarting", "object.regarding.kind": "Pod",
     "object.regarding.namespace": "train", "object.regarding.name": "job-0", **EVENT},
]  # fmt: skip
"""Logs of a cluster: of pods, of the journal of a node, and an event (OTELCC:receiver/k8sobjectsreceiver)."""
AUDIT = [
    {"verb": "create", "user": "eve", "code": "201", "resource": "pods", "namespace": "train", "name": "job-0"},
    {"verb": "delete", "user": "eve", "code": "200", "resource": "pods", "namespace": "train", "name": "job-0"},
    {"verb": "get", "user": "mallory", "code": "403", "resource": "secrets", "namespace": "train", "name": "login"},
    {"verb": "create", "user": "eve", "code": "101", "resource": "pods", "subresource": "exec", "namespace": "train",
     "name": "job-0"},
    {"verb": "update", "user": "system:node:n1", "code": "200", "resource": "nodes", "name": "n1"},
]  # fmt: skip
EXPECTED: dict[str, list[str]] = {
    "Records by cluster": ["acme-train 9"],
    "Records by namespace": ["acme-train train 3"],
    "Size of messages of pods": ["acme-train train 28"],
    "Nodes with the most records": ["acme-train n1 8"],
    "Errors of kubelets by node": ["acme-train n1 1"],
    "Errors of containerd by node": ["acme-train n1 1"],
    "Errors of kernels by node": ["acme-train n1 1"],
    "Warnings by reason": ["acme-train BackOff 1"],
    "Latest errors of nodes": [LOGS[2]["_msg"], LOGS[6]["_msg"], LOGS[4]["_msg"]],
    "Latest warnings": ["acme-train Pod train/job-0 BackOff: restarting"],
    "Changes by verb": ["acme-train create 2", "acme-train delete 1", "acme-train update 1"],
    "Denied requests by user": ["acme-train mallory 1"],
    "Users with the most changes": ["acme-train eve 3", "acme-train system:node:n1 1"],
    "Reads of Secrets by user": ["acme-train mallory 1"],
    "Latest changes by persons": [
        "acme-train eve create pods  train/job-0 201",
        "acme-train eve create pods exec train/job-0 101",
        "acme-train eve delete pods  train/job-0 200",
    ],
    "Latest deletions": ["acme-train eve delete pods  train/job-0 200"],
    "Latest denied requests": ["acme-train mallory get secrets  train/login 403"],
    "Latest access to pods": ["acme-train eve create pods exec train/job-0 101"],
}
"""Series with their sums, or messages, of each panel by title."""
_PATHS = {"instant": "query", "stats": "stats_query", "statsRange": "stats_query_range"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogStore]:
    with running_log_store(tmp_path_factory.mktemp("store")) as running:
        running.write(LOGS)
        running.write(AUDIT, project="1")
        yield running


def _panels() -> list[Any]:
    return [
        pytest.param(panel, project, id=panel["title"])
        for name, project in (("logs", "0"), ("audit", "1"))
        for panel in json.loads(dashboards.files()[f"{name}.json"])["panels"]
    ]


@pytest.mark.parametrize("values", ["*", '"acme-train"'], ids=["all", "one"])
@pytest.mark.parametrize(("panel", "project"), _panels())
def test_a_panel_shows_the_records_that_its_title_names(
    store: LogStore, panel: dict[str, Any], project: str, values: str
) -> None:
    [target] = panel["targets"]
    query = re.sub(r":=\$cluster", f":in({values})", target["expr"])

    assert "$" not in query
    assert _shown(store, target, query, project) == EXPECTED[panel["title"]]


@pytest.mark.parametrize(("panel", "project"), _panels())
def test_a_panel_shows_no_records_of_other_clusters(store: LogStore, panel: dict[str, Any], project: str) -> None:
    [target] = panel["targets"]
    query = re.sub(r":=\$cluster", ':in("globex-lab")', target["expr"])

    assert _shown(store, target, query, project) == []


def test_all_selects_records_of_the_management_cluster_which_have_no_cluster(store: LogStore) -> None:
    found = store.ask("query", "1", query="missing:in(*) verb:=get")

    assert json.loads(found)["user"] == "mallory"


@pytest.mark.parametrize(("name", "project"), [("logs", "0"), ("audit", "1")])
def test_the_filter_lists_the_clusters(store: LogStore, name: str, project: str) -> None:
    [_, variable] = json.loads(dashboards.files()[f"{name}.json"])["templating"]["list"]
    asked = {key: variable["query"][key] for key in ("query", "field", "limit")}

    answer = json.loads(store.ask("field_values", project, **asked))
    assert [entry["value"] for entry in answer["values"]] == ["acme-train"]


def _shown(store: LogStore, target: dict[str, Any], query: str, project: str) -> list[str]:
    """Return the messages, or the series with the sum of their values, that a panel shows; sorted."""
    now = int(time.time())
    span = {"start": str(now - 3600), "end": str(now + 60)}
    path = _PATHS[target["queryType"]]
    if path == "query":
        answer = store.ask(path, project, query=query, limit=str(target["maxLines"]), **span)
        return sorted(json.loads(line)["_msg"] for line in answer.splitlines())
    if path == "stats_query":
        span = {"time": str(now + 60)}
        query = f"_time:[{now - 3600}, {now + 60}] {query}"
    found = json.loads(store.ask(path, project, query=query, step="1h", **span))["data"]["result"]
    return sorted(_series(entry, target["legendFormat"]) for entry in found)


def _series(entry: dict[str, Any], legend: str) -> str:
    """Return the legend of a series with the sum of its values."""
    values = entry.get("values") or [entry["value"]]
    named = re.sub(r"\{\{(.+?)\}\}", lambda label: str(entry["metric"][label[1]]), legend)
    return f"{named} {sum(int(value) for _, value in values)}"
