"""Windows that are kept: when they turn, what turns them, and which pools they bind."""

from __future__ import annotations

from typing import Any

import pytest

from components.plan.build.inputs import inputs
from components.plan.build.slices import slices
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest
from components.render.pool_windows import PoolWindows, closing, opening, render_windows
from components.specs.environment import Environment
from components.specs.node_pool import NodePoolSpec
from components.specs.nodes import Windows
from components.specs.times import WindowSpec

WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
CLUSTER = "acme-train"
KUBECTL = "registry.cloud.example/kubectl@sha256:f72209fea12cbb71e1f0272d43386a1721e47ca1a844a2ee3b648998fbfe036e"


def window(begin: str, end: str, *days: str, timezone: str = "Europe/Berlin") -> WindowSpec:
    return WindowSpec.model_validate({"days": days or ["tue"], "from": begin, "to": end, "timezone": timezone})


@pytest.mark.parametrize(
    ("hours", "days", "opens", "closes"),
    [
        (("02:00", "06:00"), ["tue", "thu"], "0 2 * * tue,thu", "0 0-1,6-23 * * *"),
        (("02:00", "06:00"), WEEK, "0 2 * * *", "0 0-1,6-23 * * *"),
        (("22:00", "04:00"), ["wed"], "0 22 * * wed", "0 4-21 * * *"),
        (("23:30", "00:15"), ["sun"], "30 23 * * sun", "15 0-23 * * *"),
        (("00:00", "08:00"), ["sat", "sun"], "0 0 * * sat,sun", "0 8-23 * * *"),
        (("02:00", "05:50"), ["mon"], "0 2 * * mon", "50 0-1,5-23 * * *"),
        (("02:00", "05:51"), ["mon"], "0 2 * * mon", "51 0,5-23 * * *"),
        (("00:00", "23:50"), WEEK, "0 0 * * *", "50 23 * * *"),
        (("06:00", "05:50"), ["mon"], "0 6 * * mon", "50 5 * * *"),
        (("05:50", "06:00"), ["fri"], "50 5 * * fri", "0 0-23 * * *"),
    ],
)
def test_a_window_opens_on_its_days_and_is_held_shut_every_hour_of_every_day(
    hours: tuple[str, str], days: list[str], opens: str, closes: str
) -> None:
    found = window(*hours, *days)

    assert (opening(found), closing(found)) == (opens, closes)


def job(schedule: str, late_seconds: int, patch: str) -> dict[str, Any]:
    container = {
        "name": "kubectl",
        "image": KUBECTL,
        "command": ["kubectl"],
        "args": [
            "patch",
            "machinedeployments.v1beta2.cluster.x-k8s.io",
            "acme-train-lab-a01",
            "acme-train-lab-a02",
            "--namespace=acme-train",
            "--type=merge",
            f"--patch={patch}",
            "--field-manager=jacquard-window",
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": "window",
        "priorityClassName": "region-services",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return {
        "schedule": schedule,
        "timeZone": "Europe/Berlin",
        "startingDeadlineSeconds": late_seconds,
        "concurrencyPolicy": "Forbid",
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {
            "spec": {"backoffLimit": 3, "activeDeadlineSeconds": 300, "template": {"spec": pod}},
        },
    }


def test_two_jobs_turn_the_window_and_may_do_nothing_else() -> None:
    groups = ("acme-train-lab-a01", "acme-train-lab-a02")
    windows = PoolWindows(window=window("02:00", "06:00"), groups=groups, image=KUBECTL)

    account, role, binding, opens, closes = render_windows(windows, CLUSTER, {"jacquard.dev/tenant": "acme"})

    labels = {"app.kubernetes.io/managed-by": "jacquard", "jacquard.dev/tenant": "acme"}
    metadata = {"name": "window", "namespace": CLUSTER, "labels": labels}
    assert account.body == {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    assert role.body == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [
            {
                "apiGroups": ["cluster.x-k8s.io"],
                "resources": ["machinedeployments"],
                "resourceNames": list(groups),
                "verbs": ["get", "patch"],
            }
        ],
    }
    assert binding.body == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "window"},
        "subjects": [{"kind": "ServiceAccount", "name": "window", "namespace": CLUSTER}],
    }
    assert [(item.name, item.namespace, item.body["metadata"]["labels"]) for item in (opens, closes)] == [
        ("window-opens", CLUSTER, labels),
        ("window-closes", CLUSTER, labels),
    ]
    assert opens.body["spec"] == job("0 2 * * tue", 4 * 3600 - 300, '{"spec":{"paused":null}}')
    assert closes.body["spec"] == job("0 0-1,6-23 * * *", 300, '{"spec":{"paused":true}}')


def edited(laptop: Environment, windows: Windows, *, kept: bool = True, paused: tuple[str, ...] = ()) -> Environment:
    """Return laptop with a window for acme, or none, and these of its pools paused."""

    def pool(spec: NodePoolSpec) -> NodePoolSpec:
        rollout = spec.rollout.model_copy(update={"paused": spec.name in paused})
        return spec.model_copy(update={"rollout": rollout})

    acme, *others = laptop.tenants
    [cluster] = acme.clusters
    changes = acme.changes.model_copy(update={"window": window("02:00", "06:00") if kept else None})
    cluster = cluster.model_copy(update={"pools": tuple(map(pool, cluster.pools))})
    acme = acme.model_copy(update={"changes": changes, "clusters": (cluster,)})
    nodes = laptop.region.nodes.model_copy(update={"windows": windows})
    region = laptop.region.model_copy(update={"nodes": nodes})
    return laptop.model_copy(update={"region": region, "tenants": (acme, *others)})


def turned(environment: Environment) -> dict[str, list[str]]:
    """Return by cluster the MachineDeployments that its closing job names."""
    every = [item for part in slices(environment) for item in inputs(environment, part)]
    found = {}
    for plane in (item for item in every if isinstance(item, HostedControlPlaneInput)):
        jobs: list[Manifest] = [item for item in plane.render() if item.name == "window-closes"]
        for item in jobs:
            [container] = item.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
            found[plane.name] = [word for word in container["args"][2:] if not word.startswith("--")]
    return found


def test_a_kept_window_binds_the_pools_of_its_tenant_but_those_that_the_tenant_pauses(laptop: Environment) -> None:
    train = ["acme-train-train-a01", "acme-train-train-a02"]
    system, infer = "acme-train-system-a04", "acme-train-infer-a03"

    assert turned(edited(laptop, Windows.ENFORCE)) == {CLUSTER: [infer, system, *train]}
    assert turned(edited(laptop, Windows.ENFORCE, paused=("train",))) == {CLUSTER: [infer, system]}


@pytest.mark.parametrize(
    "change",
    [
        {"windows": Windows.ANNOTATE},
        {"windows": Windows.ENFORCE, "kept": False},
        {"windows": Windows.ENFORCE, "paused": ("system", "train", "infer")},
    ],
)
def test_nothing_is_rendered_where_no_window_holds_a_roll(laptop: Environment, change: dict[str, Any]) -> None:
    assert turned(edited(laptop, **change)) == {}
