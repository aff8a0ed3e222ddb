"""Objects of Kueue for the queues of a cluster: quotas from instance types, topology, and the settings of the chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.inputs import add_ons
from components.inputs.workloads.queues import of_cluster
from components.lookups.effects.changes import changes
from components.lookups.pools import PlacedCluster, clusters
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.keys import chart_key
from components.specs.pools.intents import ChartIntent
from components.specs.pools.node_pool import TaintEffect, TaintSpec
from components.specs.struct import replace
from components.specs.workloads.queues import QueuesSpec
from tests.support.add_ons.helm_charts import Helm
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of

TEAMS: list[dict[str, Any]] = [
    {"name": "serving", "namespaces": ["serving", "models"], "nodes": {"train": 4}, "borrow": {"train": 2}},
    {"name": "research", "namespaces": ["research"], "nodes": {"train": 6, "data": 1}, "lend": {"train": 3}},
]


def placed(environment: Environment, teams: list[dict[str, Any]] = TEAMS, **settings: Any) -> PlacedCluster:
    """Return acme-train with queues, and a pool without GPUs named data."""
    [found] = [one for one in clusters(environment) if one.cluster.name == "acme-train"]
    system, *others = found.cluster.pools
    data = changed(system, name="data", role="worker")
    queues = QueuesSpec.model_validate({"teams": teams, **settings})
    cluster = changed(
        found.cluster,
        pools=(system, *others, data),
        queues=queues,
        add_ons=("default", "monitoring", "kueue"),
        pod_priorities=("low", "normal", "high"),
    )
    return replace(found, cluster=cluster)


def rendered(environment: Environment, cluster: PlacedCluster) -> dict[tuple[str, str], dict[str, Any]]:
    [given] = of_cluster(environment, cluster)
    return {(item.kind, item.namespace or item.name): dict(item.body) for item in given.render()}


def flavor(objects: dict[tuple[str, str], dict[str, Any]], pool: str) -> dict[str, Any]:
    [found] = [body for (kind, name), body in objects.items() if kind == "ResourceFlavor" and name.startswith(pool)]
    return found


def test_quotas_are_the_resources_of_nodes_in_canonical_form_with_pools_without_gpus_first(laptop: Environment) -> None:
    objects = rendered(laptop, placed(laptop))
    [group] = objects["ClusterQueue", "research"]["spec"]["resourceGroups"]

    assert group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu"]
    data, train = group["flavors"]
    assert [one["name"] for one in (data, train)] == [
        flavor(objects, pool)["metadata"]["name"] for pool in ("data", "train")
    ]
    assert data["resources"] == [
        {"name": "cpu", "nominalQuota": "192", "borrowingLimit": "0"},
        {"name": "memory", "nominalQuota": "768Gi", "borrowingLimit": "0"},
        {"name": "nvidia.com/gpu", "nominalQuota": "0", "borrowingLimit": "0"},
    ]
    assert train["resources"] == [
        {"name": "cpu", "nominalQuota": "1344", "borrowingLimit": "0", "lendingLimit": "672"},
        {"name": "memory", "nominalQuota": "12Ti", "borrowingLimit": "0", "lendingLimit": "6Ti"},
        {"name": "nvidia.com/gpu", "nominalQuota": "48", "borrowingLimit": "0", "lendingLimit": "24"},
    ]


def test_a_thousand_of_a_resource_has_the_suffix_that_kueue_would_write(laptop: Environment) -> None:
    many = [{"name": "one", "namespaces": ["one"], "nodes": {"train": 125}}]
    [group] = rendered(laptop, placed(laptop, many))["ClusterQueue", "one"]["spec"]["resourceGroups"]

    assert [one["nominalQuota"] for one in group["flavors"][0]["resources"]] == ["28k", "250Ti", "1k"]


def at_release(environment: Environment, version: str) -> Environment:
    """Return ``environment`` with another release of Kueue in its catalogue."""
    charts = [changed(row, version=version) if row.name == "kueue" else row for row in environment.versions.charts]
    return changed(environment, versions=changed(environment.versions, charts=tuple(charts)))


@pytest.mark.parametrize(
    ("version", "api", "field"),
    [("v0.15.8", "v1beta1", "cohort"), ("0.16.0", "v1beta2", "cohortName"), ("0.17.8", "v1beta2", "cohortName")],
)
def test_objects_have_the_version_that_the_release_stores(
    laptop: Environment, version: str, api: str, field: str
) -> None:
    objects = rendered(at_release(laptop, version), placed(laptop))

    assert {body["apiVersion"] for body in objects.values()} == {f"kueue.x-k8s.io/{api}"}
    assert objects["ClusterQueue", "research"]["spec"][field] == "acme-train"


def test_a_cluster_with_a_pinned_release_keeps_the_version_of_its_objects(laptop: Environment) -> None:
    [row] = [row for row in laptop.versions.charts if row.name == "kueue"]
    intent = ChartIntent.of(row)
    key = chart_key("kueue", "acme-train")
    lock = changed(laptop.image_pins, chart_intents={intent.name: intent}, charts={key: intent.name})
    pinned = changed(at_release(laptop, "0.17.8"), image_pins=lock)

    assert {body["apiVersion"] for body in rendered(pinned, placed(laptop)).values()} == {"kueue.x-k8s.io/v1beta1"}


def tainted(cluster: PlacedCluster, *taints: TaintSpec) -> PlacedCluster:
    """Return ``cluster`` with other taints of its pool with GPUs."""
    pools = [changed(pool, taints=taints) if pool.name == "train" else pool for pool in cluster.cluster.pools]
    return replace(cluster, cluster=changed(cluster.cluster, pools=tuple(pools)))


def test_jobs_tolerate_the_taints_of_the_data_and_of_nodes_that_still_have_others(laptop: Environment) -> None:
    cluster = placed(laptop)
    moved = tainted(cluster, TaintSpec(key="reserved", effect=TaintEffect.NO_EXECUTE))

    assert flavor(rendered(laptop, moved), "train")["spec"]["tolerations"] == [
        {"key": "reserved", "operator": "Exists", "effect": "NoExecute"},
        {"key": "workload", "operator": "Equal", "value": "training", "effect": "NoSchedule"},
    ]
    before, after = (flavor(rendered(laptop, one), "train")["metadata"]["name"] for one in (cluster, moved))
    assert before != after


def test_another_order_of_taints_is_the_same_flavor(laptop: Environment) -> None:
    taints = tuple(TaintSpec(key=key, effect=TaintEffect.NO_SCHEDULE) for key in ("one", "two"))
    orders = (tainted(placed(laptop), *ordered) for ordered in (taints, taints[::-1]))
    first, second = (flavor(rendered(laptop, cluster), "train") for cluster in orders)

    assert first == second


def test_another_taint_reports_that_running_jobs_no_longer_count(laptop: Environment) -> None:
    cluster = placed(laptop)
    moved = tainted(cluster, TaintSpec(key="reserved", effect=TaintEffect.NO_EXECUTE))
    [before], [after] = of_cluster(laptop, cluster), of_cluster(laptop, moved)

    texts = {change.row.why for change in changes(before.render(), after.render()) if change.row}
    assert (
        "Running jobs continue, but no longer count, so queues admit more jobs than fit; stop the queues first."
        in texts
    )


def levels(objects: dict[tuple[str, str], dict[str, Any]]) -> list[list[str]]:
    topologies = [body for (kind, _), body in objects.items() if kind == "Topology"]
    return [[level["nodeLabel"] for level in body["spec"]["levels"]] for body in topologies]


def test_levels_are_labels_that_nodes_of_the_backend_have(laptop: Environment) -> None:
    bare_metal = changed(laptop.region.bare_metal, backend=BareMetalBackend.IRONCORE_METAL)
    other = changed(laptop, region=laptop.region.model_copy(update={"bare_metal": bare_metal}))

    assert levels(rendered(laptop, placed(laptop))) == [
        ["jacquard.dev/leaf", "jacquard.dev/rack", "kubernetes.io/hostname"]
    ]
    assert levels(rendered(other, placed(other))) == [
        ["node-restriction.kubernetes.io/failure-domain", "kubernetes.io/hostname"]
    ]


def test_an_autoscaling_pool_has_no_topology_because_jobs_would_wait_for_nodes(laptop: Environment) -> None:
    cluster = placed(laptop)
    growing = [
        changed(pool, autoscaling=True, min_nodes=0, max_nodes=10) if pool.name in ("train", "data") else pool
        for pool in cluster.cluster.pools
    ]
    objects = rendered(laptop, replace(cluster, cluster=changed(cluster.cluster, pools=tuple(growing))))

    assert levels(objects) == []
    assert "topologyName" not in flavor(objects, "train")["spec"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("own-quota", {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}),
        (
            "lower-classes",
            {
                "reclaimWithinCohort": "Any",
                "withinClusterQueue": "LowerPriority",
                "borrowWithinCohort": {"policy": "LowerPriority"},
            },
        ),
        ("never", {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never"}),
    ],
)
def test_preemption(laptop: Environment, written: str, expected: dict[str, Any]) -> None:
    teams = [{"name": "one", "namespaces": ["one"], "nodes": {"train": 1}, "preemption": written}]

    assert rendered(laptop, placed(laptop, teams))["ClusterQueue", "one"]["spec"]["preemption"] == expected


def test_classes_have_the_values_of_their_pod_priorities(laptop: Environment) -> None:
    objects = rendered(laptop, placed(laptop, classes={"serving": "high", "research": "low"}))

    assert {name: body["value"] for (kind, name), body in objects.items() if kind == "WorkloadPriorityClass"} == {
        "serving": 1000,
        "research": -1000,
    }


def test_weights_and_gangs_are_rendered_if_set(laptop: Environment) -> None:
    teams = [{**TEAMS[0], "weight": 3, "gangs": {"train": {"nodes": 2}}}]
    fair = rendered(laptop, placed(laptop, teams, fair_sharing=True))["ClusterQueue", "serving"]
    plain = rendered(laptop, placed(laptop))["ClusterQueue", "serving"]

    assert fair["spec"]["fairSharing"] == {"weight": "3"}
    assert fair["metadata"]["annotations"] == {"jacquard.dev/gangs": "train: 2 nodes within one rack"}
    assert "fairSharing" not in plain["spec"]
    assert "annotations" not in plain["metadata"]


def release(environment: Environment, cluster: PlacedCluster) -> Manifest:
    [given] = add_ons.of_cluster(environment, cluster)
    return next(item for item in objects_of(given) if item.kind == "HelmRelease" and item.name == "kueue")


def configuration(item: Manifest) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(item.body["spec"]["values"]["managerConfig"]["controllerManagerConfigYaml"])
    return loaded


def test_kueue_manages_the_namespaces_of_teams_and_the_kinds_that_wait(laptop: Environment) -> None:
    jobs = configuration(release(laptop, placed(laptop)))
    pods = configuration(release(laptop, placed(laptop, queued="pods", fair_sharing=True)))

    assert jobs["managedJobsNamespaceSelector"]["matchExpressions"] == [
        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["models", "research", "serving"]}
    ]
    assert "pod" not in jobs["integrations"]["frameworks"]
    assert {"pod", "deployment"} < set(pods["integrations"]["frameworks"])
    assert "fairSharing" not in jobs
    assert jobs["controller"]["groupKindConcurrency"].items() >= {"Job.batch": 5, "Workload.kueue.x-k8s.io": 5}.items()
    assert pods["fairSharing"]["preemptionStrategies"][0] == "LessThanOrEqualToFinalShare"


def test_a_cluster_without_queues_keeps_the_configuration_of_the_chart(laptop: Environment) -> None:
    cluster = placed(laptop)
    item = release(laptop, replace(cluster, cluster=changed(cluster.cluster, queues=None)))

    assert "managerConfig" not in item.body["spec"]["values"]
    assert item.readiness is None
    assert release(laptop, cluster).readiness is not None


def test_webhooks_of_queues_receive_their_own_version_only_and_those_of_jobs_the_namespaces_of_teams(
    laptop: Environment, tmp_path: Path
) -> None:
    objects = Helm(tmp_path, laptop.versions.kubernetes[-1]).installed(release(laptop, placed(laptop)))
    hooks = {hook["name"]: hook for body in objects for hook in body.get("webhooks", ())}

    exact = {name for name, hook in hooks.items() if hook.get("matchPolicy") == "Exact"}
    assert exact == {"mclusterqueue.kb.io", "vclusterqueue.kb.io", "mresourceflavor.kb.io", "vresourceflavor.kb.io"}
    assert {version for name in exact for rule in hooks[name]["rules"] for version in rule["apiVersions"]} == {
        "v1beta2"
    }
    assert hooks["mjob.kb.io"]["failurePolicy"] == "Fail"
    [selected] = hooks["mjob.kb.io"]["namespaceSelector"]["matchExpressions"]
    assert selected["values"] == ["models", "research", "serving"]


def test_webhooks_of_queues_are_ignored_without_kueue_if_the_release_stores_their_version(
    laptop: Environment,
) -> None:
    patches = release(at_release(laptop, "0.17.8"), placed(laptop)).body["spec"]["postRenderers"]
    texts = [patch["patch"] for renderer in patches for patch in renderer["kustomize"]["patches"]]
    hooks = {hook.pop("name"): hook for text in texts for hook in json.loads(text)["webhooks"]}

    names = ("mclusterqueue.kb.io", "mresourceflavor.kb.io", "vclusterqueue.kb.io", "vresourceflavor.kb.io")
    assert hooks == {name: {"failurePolicy": "Ignore"} for name in names}


def test_an_alert_reports_an_inactive_queue_and_there_is_none_without_queues(laptop: Environment) -> None:
    def names(cluster: PlacedCluster) -> set[str]:
        [given] = add_ons.of_cluster(laptop, cluster)
        rules = [item.body["spec"]["groups"] for item in objects_of(given) if item.kind == "PrometheusRule"]
        return {rule["alert"] for groups in rules for group in groups for rule in group["rules"]}

    cluster = placed(laptop)
    plain = replace(cluster, cluster=changed(cluster.cluster, queues=None))

    assert names(cluster) - names(plain) == {"QueueInactive", "QueueBlocked"}
