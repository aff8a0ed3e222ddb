"""The cluster autoscaler: one for each cluster with autoscaling pools, with rights on Machines of this cluster only."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.cluster_autoscaler import of_cluster
from components.inputs.isolation import of_region
from components.lookups.pools import clusters
from components.render.pools.cluster_autoscaler import ClusterAutoscalerInput
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from tests.support.data.small_region import changed


def growing(environment: Environment, **changes: Any) -> Environment:
    """Return ``environment``, in which the last pool of acme-train has autoscaling."""
    acme, *others = environment.tenants
    [cluster] = acme.clusters
    *pools, last = cluster.pools
    grown = changed(last, autoscaling=True, min_nodes=1, max_nodes=4, **changes)
    tenant = changed(acme, clusters=(changed(cluster, pools=(*pools, grown)),))
    return changed(environment, tenants=(tenant, *others))


def autoscalers(environment: Environment) -> list[ClusterAutoscalerInput]:
    return [item for placed in clusters(environment) for item in of_cluster(environment, placed)]


def values(one: ClusterAutoscalerInput) -> dict[str, Any]:
    release, _ = one.render()
    found: dict[str, Any] = release.body["spec"]["values"]
    return found


def test_only_a_cluster_with_an_autoscaling_pool_that_is_not_retired_has_one(laptop: Environment) -> None:
    assert autoscalers(laptop) == []
    assert [one.cluster for one in autoscalers(growing(laptop))] == ["acme-train"]
    assert autoscalers(growing(laptop, retire=True)) == []


def test_the_autoscaler_reads_the_cluster_and_only_changes_its_namespace(laptop: Environment) -> None:
    [one] = autoscalers(growing(laptop))
    release, _ = one.render()

    assert (release.namespace, release.body["spec"]["targetNamespace"]) == ("acme-train", "acme-train")
    assert "kubeConfig" not in release.body["spec"]
    found = values(one)
    assert found["clusterAPIMode"] == "kubeconfig-incluster"
    assert found["clusterAPIKubeconfigSecret"] == "acme-train-kubeconfig"
    assert found["autoDiscovery"] == {"namespace": "acme-train", "clusterName": "acme-train"}
    assert found["rbac"]["clusterScoped"] is False


@pytest.mark.parametrize(
    ("backend", "resource"),
    [
        (BareMetalBackend.METAL3, "metal3machinetemplates"),
        (BareMetalBackend.IRONCORE_METAL, "ironcoremetalmachinetemplates"),
    ],
)
def test_it_may_list_the_templates_that_it_waits_for(backend: BareMetalBackend, resource: str) -> None:
    one = ClusterAutoscalerInput(name="a", cluster="a", tenant="t", bare_metal=backend)

    assert values(one)["rbac"]["additionalRules"] == [
        {"apiGroups": ["infrastructure.cluster.x-k8s.io"], "resources": [resource], "verbs": ["get", "list", "watch"]}
    ]


def test_it_leaves_unready_nodes_to_health_checks_and_knows_the_taints_of_new_nodes(laptop: Environment) -> None:
    [one] = autoscalers(growing(laptop))
    flags = values(one)["extraArgs"]

    assert flags["scale-down-unready-enabled"] is False
    assert [value for name, value in flags.items() if name.startswith("startup-taint_")] == [
        "readiness.k8s.io/burn-in",
        "node.cilium.io/agent-not-ready",
    ]


def test_a_fault_of_one_node_does_not_stop_the_growth_of_its_group(laptop: Environment) -> None:
    [one] = autoscalers(growing(laptop))
    flags = values(one)["extraArgs"]

    assert [value for name, value in flags.items() if name.startswith("status-taint_")] == [
        "readiness.k8s.io/quarantine",
        "readiness.k8s.io/repair",
        "hardware.jacquard.dev/unlike-any-type",
    ]


@pytest.mark.parametrize(("flag", "of_node", "unit"), [("cores-total", 448, 1), ("memory-total", 4096, 2**30)])
def test_clusters_with_thousands_of_large_nodes_are_within_its_limits(
    laptop: Environment, flag: str, of_node: int, unit: int
) -> None:
    [one] = autoscalers(growing(laptop))
    least, most = map(int, values(one)["extraArgs"][flag].split(":"))

    assert least == 0
    assert of_node * 100_000 < most
    assert most * unit < 2**63


def test_it_reaches_the_management_cluster_and_has_room_in_the_quota(laptop: Environment) -> None:
    def objects(environment: Environment) -> dict[str, dict[str, Any]]:
        [isolation] = next(of_region(environment, environment.region)).render()
        return {name: item.body for name, item in isolation.members.items() if name.startswith("acme-train/")}

    before, after = objects(laptop), objects(growing(laptop))

    assert after.keys() - before.keys() == {"acme-train/NetworkPolicy/autoscaler"}
    policy = after["acme-train/NetworkPolicy/autoscaler"]["spec"]
    assert policy["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "cluster-autoscaler"}}
    assert policy["egress"] == before["acme-train/NetworkPolicy/jobs"]["spec"]["egress"][:1]
    pods = [int(found["acme-train/ResourceQuota/control-plane"]["spec"]["hard"]["pods"]) for found in (before, after)]
    assert pods[1] == pods[0] + 1


def test_its_alerts_name_the_cluster(laptop: Environment) -> None:
    [one] = autoscalers(growing(laptop))
    _, rules = one.render()

    alerts = {rule["alert"]: rule for group in rules.body["spec"]["groups"] for rule in group["rules"]}
    assert {name: rule["labels"]["audience"] for name, rule in alerts.items()} == {
        "AutoscalerDown": "operators",
        "PodsNotScheduled": "tenant",
    }
    assert {rule["labels"]["cluster"] for rule in alerts.values()} == {"acme-train"}
