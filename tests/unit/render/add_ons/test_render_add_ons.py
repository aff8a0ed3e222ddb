"""Add-ons of a cluster: selection, order, placement, and values that depend on the cluster's size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.lookups.add_ons import add_ons
from components.lookups.health.node_checks import checks_by_type
from components.lookups.pools import clusters
from components.render.add_ons.add_on_values import VALUES
from components.render.add_ons.add_ons import AddOnsInput, needs_of
from components.render.add_ons.cni import calico, cilium
from components.specs.add_ons.add_ons import AddOn
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.struct import replace
from jacquard.machine import paths
from tests.support.add_ons.cluster_shape import facts
from tests.support.objects.rendered_objects import objects_of

SMALL = facts(nodes=200, system_pool=True)
EVERY_TAINT = [{"operator": "Exists"}]
SYSTEM = {"node-restriction.kubernetes.io/role": "system"}
SERVICE, AGENT = "system-cluster-critical", "system-node-critical"
HEALTH = ["node-features", "node-problems", "node-readiness"]
CRITICAL = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]


def chosen(environment: Environment, name: str, **changed: Any) -> list[str]:
    """Return the add-ons of cluster ``name`` after a change of its data."""
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == name]
    cluster = placed.cluster.model_copy(update=changed)
    return [entry.name for entry in add_ons(environment, replace(placed, cluster=cluster))]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["cilium", *HEALTH, "gpus", "metrics-server", "cert-manager", "metallb"]),
        ({"add_ons": ("default", "calico")}, ["calico", *HEALTH, "gpus", "metrics-server", "cert-manager", "metallb"]),
        ({"add_ons": ("kueue", "cilium")}, ["cilium", "kueue"]),
        ({"add_ons": ()}, []),
        (
            {"without_add_ons": {"gpus": "passed through to VMs", "metrics-server": "ours is better"}},
            ["cilium", *HEALTH, "cert-manager", "metallb"],
        ),
        ({"cni_seed": "first"}, [*HEALTH, "gpus", "metrics-server", "cert-manager", "metallb"]),
    ],
)
def test_a_cluster_has_the_default_add_ons_and_those_it_names(
    laptop: Environment, options: dict[str, Any], expected: list[str]
) -> None:
    assert chosen(laptop, "acme-train", **options) == expected


def test_kube_ovn_is_the_network_of_its_clusters() -> None:
    environment = load_environment("eu-south-03a", paths.ROOT / "environments")

    assert "cilium" not in chosen(environment, "vireo-train")
    assert "cilium" in chosen(environment, "solstice-lab")


def test_a_cluster_without_gpus_has_no_add_on_for_them(laptop: Environment) -> None:
    [placed] = [placed for placed in clusters(laptop) if placed.cluster.name == "acme-train"]
    plain = tuple(pool for pool in placed.cluster.pools if pool.name == "system")

    assert "gpus" not in chosen(laptop, "acme-train", pools=plain)


def test_an_add_on_depends_on_its_requirements_and_waits_for_them(inputs_of: Any) -> None:
    given = inputs_of(AddOnsInput)[0]

    releases = [item for item in objects_of(given) if item.kind == "HelmRelease"]

    names = [item.name for item in releases]
    assert names[0] == "cilium"
    assert names.index("node-features") < names.index("gpus")
    [gpus] = [item for item in releases if item.name == "gpus"]
    assert gpus.body["spec"]["dependsOn"] == [{"name": "node-features"}]
    awaited = [item.name for item in releases if item.readiness]
    assert awaited == ["cilium", "node-features", "node-readiness", "metallb"]


def test_a_namespace_that_each_cluster_has_is_not_made(inputs_of: Any) -> None:
    made = {item.name for item in objects_of(inputs_of(AddOnsInput)[0]) if item.kind == "Namespace"}

    assert "kube-system" not in made
    assert "gpu-operator" in made


def test_cilium_changes_its_ways_above_200_nodes() -> None:
    def ways(nodes: int) -> list[bool]:
        values = cilium(replace(SMALL, nodes=nodes))
        return [
            values["ciliumEndpointSlice"]["enabled"],
            values["healthChecking"],
            values["endpointHealthChecking"]["enabled"],
        ]

    assert ways(200) == [False, True, True]
    assert ways(201) == [True, False, False]


def test_cilium_keeps_the_configuration_of_multus() -> None:
    assert cilium(SMALL)["cni"] == {"exclusive": True}
    assert cilium(replace(SMALL, attachments=True))["cni"] == {"exclusive": False}


def test_networks_take_addresses_from_the_prefix_of_the_vpc_and_call_the_api_server_itself() -> None:
    assert cilium(SMALL)["ipam"]["operator"] == {
        "clusterPoolIPv4PodCIDRList": ["10.64.0.0/16"],
        "clusterPoolIPv4MaskSize": 24,
    }
    assert (cilium(SMALL)["k8sServiceHost"], cilium(SMALL)["k8sServicePort"]) == ("10.3.0.1", "6443")
    assert calico(SMALL)["installation"]["calicoNetwork"]["ipPools"][0]["cidr"] == "10.64.0.0/16"
    assert calico(SMALL)["kubernetesServiceEndpoint"] == {"host": "10.3.0.1", "port": "6443"}


def test_add_ons_that_make_nodes_ready_wait_for_no_ready_node() -> None:
    values = cilium(SMALL)

    assert values["tolerations"] == EVERY_TAINT
    assert (values["operator"]["nodeSelector"], values["operator"]["tolerations"]) == (SYSTEM, EVERY_TAINT)
    assert (calico(SMALL)["nodeSelector"], calico(SMALL)["tolerations"]) == (SYSTEM, EVERY_TAINT)


@pytest.mark.parametrize(
    ("chart", "path"),
    [
        ("node-feature-discovery", ("worker",)),
        ("gpu-operator", ("daemonsets",)),
        ("node-problem-detector", ()),
        ("dra-driver-nvidia-gpu", ("kubeletPlugin",)),
    ],
)
def test_agents_tolerate_the_taints_of_tenants(chart: str, path: tuple[str, ...]) -> None:
    assert at(VALUES[chart](SMALL), path)["tolerations"] == EVERY_TAINT


@pytest.mark.parametrize(
    ("chart", "path"),
    [
        ("node-feature-discovery", ("master",)),
        ("gpu-operator", ("operator",)),
        ("metrics-server", ()),
        ("kueue", ("controllerManager",)),
        ("lws", ()),
        ("dra-driver-nvidia-gpu", ("controller",)),
    ],
)
def test_services_run_on_the_system_pool_if_one_exists(chart: str, path: tuple[str, ...]) -> None:
    values = at(VALUES[chart](SMALL), path)
    anywhere = at(VALUES[chart](replace(SMALL, system_pool=False)), path)

    assert (values["nodeSelector"], values["tolerations"]) == (SYSTEM, CRITICAL)
    assert "nodeSelector" not in anywhere


def test_all_parts_of_cert_manager_run_there_too() -> None:
    values = VALUES["cert-manager"](SMALL)

    assert values["global"]["nodeSelector"] == SYSTEM
    assert [part["tolerations"] for part in (values, values["webhook"], values["cainjector"])] == [CRITICAL] * 3
    assert "nodeSelector" not in VALUES["cert-manager"](replace(SMALL, system_pool=False))["global"]


def test_the_driver_of_gpus_and_the_discovery_of_features_are_not_brought_twice() -> None:
    values = VALUES["gpu-operator"](SMALL)

    assert (values["driver"], values["nfd"]) == ({"enabled": False}, {"enabled": False})


def test_the_dra_driver_provides_compute_domains_and_no_gpus() -> None:
    values = VALUES["dra-driver-nvidia-gpu"](replace(SMALL, nvlink={"gb200": 18}))

    assert values["resources"] == {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}}
    assert values["nvidiaDriverRoot"] == "/"
    assert "containers" not in values["controller"]


def test_agents_of_claims_only_run_on_nodes_of_nvlink_racks() -> None:
    agents = VALUES["dra-driver-nvidia-gpu"](replace(SMALL, nvlink={"gb300": 18, "gb200": 18}))["kubeletPlugin"]

    [term] = agents["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    kinds = {"key": "node-restriction.kubernetes.io/instance-type", "operator": "In", "values": ["gb200", "gb300"]}
    assert term == {"matchExpressions": [kinds]}


@pytest.mark.parametrize(("nodes", "limit"), [({"gb200": 18}, None), ({"gb200": 18, "wide": 36}, "36")])
def test_the_controller_gets_the_maximum_domain_size_above_its_default(
    nodes: dict[str, int], limit: str | None
) -> None:
    controller = VALUES["dra-driver-nvidia-gpu"](replace(SMALL, nvlink=nodes))["controller"]

    env = controller.get("containers", {}).get("computeDomain", {}).get("env", [])
    assert env == ([{"name": "MAX_NODES_PER_IMEX_DOMAIN", "value": limit}] if limit else [])


def test_metrics_of_many_nodes_take_more_memory() -> None:
    def memory(nodes: int) -> str:
        return str(VALUES["metrics-server"](replace(SMALL, nodes=nodes))["resources"]["requests"]["memory"])

    assert (memory(100), memory(1500)) == ("200Mi", "3000Mi")


def test_gpu_faults_are_only_detected_in_clusters_with_gpus(laptop: Environment) -> None:
    def conditions(*kinds: str) -> set[str]:
        settings = VALUES["node-problem-detector"](replace(SMALL, checks=checks_by_type(laptop, kinds)))["settings"]
        assert "/custom-config/node-monitor.json" in settings["log_monitors"]
        monitor = json.loads(settings["custom_monitor_definitions"]["node-monitor.json"])
        return {one["type"] for one in monitor["conditions"]}

    assert "GpuLost" in conditions("h100-ib-8", "cpu-gen4")
    assert "GpuLost" not in conditions("cpu-gen4")
    assert "NicFailed" in conditions("cpu-gen4")


@pytest.mark.parametrize(
    ("chart", "priorities"),
    [
        ("metallb", {("controller",): SERVICE, ("speaker",): AGENT, ("frr-k8s", "frrk8s"): AGENT}),
        ("node-feature-discovery", {(): SERVICE, ("worker",): AGENT}),
        ("cert-manager", {("global",): SERVICE}),
        ("kueue", {("controllerManager", "manager"): SERVICE}),
        ("dra-driver-nvidia-gpu", {("controller",): SERVICE}),
        ("slurm-operator", {(): SERVICE}),
        ("tigera-operator", {(): SERVICE}),
    ],
)
def test_pods_without_priority_are_not_preempted_by_jobs_of_tenants(
    chart: str, priorities: dict[tuple[str, ...], str]
) -> None:
    values = VALUES[chart](SMALL)

    assert {path: at(values, path)["priorityClassName"] for path in priorities} == priorities


def test_services_get_addresses_of_the_vpc_and_only_vms_public_ones(inputs_of: Any) -> None:
    acme, globex = inputs_of(AddOnsInput)
    found = {(item.kind, item.name): item.body["spec"] for item in objects_of(acme) if "metallb.io" in item.api_version}

    assert found == {
        ("BGPPeer", "neighbour"): {
            "myASN": acme.load_balancers.asn,
            "dynamicASN": "external",
            "interface": "enp1s0f0np0",
        },
        ("IPAddressPool", "vpc"): {"addresses": [str(prefix) for prefix in acme.load_balancers.vpc]},
        ("BGPAdvertisement", "vpc"): {"ipAddressPools": ["vpc"], "peers": ["neighbour"]},
        ("IPAddressPool", "public"): {
            "addresses": [f"{address}/32" for address in acme.load_balancers.public],
            "autoAssign": False,
            "serviceAllocation": {"priority": 1, "namespaces": ["virtual-machines"]},
        },
        ("BGPAdvertisement", "public"): {"ipAddressPools": ["public"], "peers": ["neighbour"]},
    }
    assert len(acme.load_balancers.public) == 1
    assert [item.kind for item in objects_of(globex) if "metallb.io" in item.api_version] == []


def at(values: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for key in path:
        values = values[key]
    return values


def test_kueue_is_installed_after_leaderworkerset_which_it_looks_for_when_it_starts(laptop: Environment) -> None:
    [placed] = [placed for placed in clusters(laptop) if placed.cluster.name == "acme-train"]
    cluster = placed.cluster.model_copy(update={"add_ons": ("cilium", "kueue", "lws")})
    [given] = of_cluster(laptop, replace(placed, cluster=cluster))

    releases = [item for item in objects_of(given) if item.kind == "HelmRelease"]

    assert [item.name for item in releases] == ["cilium", "lws", "kueue"]
    assert releases[-1].body["spec"]["dependsOn"] == [{"name": "lws"}]


def test_a_catalogue_may_install_leaderworkerset_after_kueue() -> None:
    queues = AddOn(name="kueue", chart="kueue", namespace="kueue-system")
    groups = AddOn(name="lws", chart="lws", namespace="lws-system", needs=("kueue",))

    assert needs_of(queues, (queues, groups)) == ()
