"""A region with two DPU clusters: each is complete, and their allocations are disjoint."""

from __future__ import annotations

import copy
from ipaddress import IPv4Address, IPv4Network

import pytest

from components.allocate.allocation import allocate
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.hosts.inventory import InventoryInput
from components.render.manifest import Manifest, objects
from components.render.network.tenant_network import TenantNetworkInput
from components.render.region.region import RegionInput
from components.specs.environment import Environment
from components.specs.network.dpus import ONLY, DpuClusterSpec
from components.specs.network.tenant_network import Isolation
from components.specs.struct import replace

NAMESPACE = "dpf-operator-system"
LABEL = "jacquard.dev/dpu-cluster"
OURS = {"app.kubernetes.io/managed-by": "jacquard"}


def two(laptop: Environment, first: str) -> Environment:
    """Return ``laptop`` with VPCs on HBN and DPU clusters ``first`` and ``two``, which starts at the third rack."""
    clusters = (
        DpuClusterSpec(
            name=first,
            vip=IPv4Address("10.0.0.20"),
            virtual_router_id=51,
            loopbacks=IPv4Network("10.4.0.0/24"),
        ),
        DpuClusterSpec(
            name="two",
            vip=IPv4Address("10.0.0.21"),
            virtual_router_id=52,
            loopbacks=IPv4Network("10.4.2.0/24"),
            halls=("a",),
            from_rack="a03",
        ),
    )
    dpus = laptop.region.dpus.model_copy(update={"vip": None, "virtual_router_id": None, "clusters": clusters})
    tenants = tuple(
        tenant.model_copy(
            update={"vpcs": tuple(vpc.model_copy(update={"isolation": Isolation.DPF_HBN}) for vpc in tenant.vpcs)}
        )
        for tenant in laptop.tenants
    )
    region = laptop.region.model_copy(update={"dpus": dpus})
    environment = laptop.model_copy(update={"region": region, "tenants": tenants})
    numbers, pins = allocate(environment)
    return environment.model_copy(update={"allocations": numbers, "image_pins": pins})


def rendered(environment: Environment, concept: type) -> list[Manifest]:
    every = (item for part in slices(environment) for item in inputs(environment, part))
    return [item for found in every if isinstance(found, concept) for item in objects(found.render())]


def named(items: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {item.name: item for item in items if item.kind == kind}


@pytest.fixture(scope="module")
def region(laptop: Environment) -> Environment:
    return two(laptop, "one")


def test_each_dpu_cluster_exists_with_its_address_and_its_label(region: Environment) -> None:
    clusters = named(rendered(region, RegionInput), "DPUCluster")

    assert list(clusters) == ["one", "two"]
    assert clusters["two"].body == {
        "apiVersion": "provisioning.dpu.nvidia.com/v1alpha1",
        "kind": "DPUCluster",
        "metadata": {"name": "two", "namespace": NAMESPACE, "labels": {**OURS, LABEL: "two"}},
        "spec": {
            "type": "kamaji",
            "maxNodes": 1000,
            "clusterEndpoint": {
                "keepalived": {"interface": "br-mgmt", "vip": "10.0.0.21", "virtualRouterID": 52},
            },
        },
    }


def test_each_dpu_cluster_allocates_separate_loopbacks(region: Environment) -> None:
    pools = named(rendered(region, RegionInput), "DPUServiceIPAM")

    assert {name: pool.body["spec"] for name, pool in pools.items() if name.startswith("loopback")} == {
        "loopback-one": {
            "ipv4Network": {
                "network": "10.4.0.0/22",
                "prefixSize": 32,
                "excludeRanges": [{"startIP": "10.4.1.0", "endIP": "10.4.3.255"}],
            },
            "dpuClusterSelector": {"matchLabels": {LABEL: "one"}},
        },
        "loopback-two": {
            "ipv4Network": {
                "network": "10.4.0.0/22",
                "prefixSize": 32,
                "excludeRanges": [
                    {"startIP": "10.4.0.0", "endIP": "10.4.1.255"},
                    {"startIP": "10.4.3.0", "endIP": "10.4.3.255"},
                ],
            },
            "dpuClusterSelector": {"matchLabels": {LABEL: "two"}},
        },
    }


def test_dpus_of_free_hosts_join_the_cluster_of_their_rack(region: Environment) -> None:
    deployments = named(rendered(region, RegionInput), "DPUDeployment")

    assert {name: item.body["spec"]["dpus"]["dpuSets"] for name, item in deployments.items()} == {
        f"unassigned-{at}": [
            {
                "nameSuffix": "hosts",
                "dpuNodeSelector": {
                    "matchExpressions": [{"key": "jacquard.dev/vpc", "operator": "DoesNotExist"}],
                    "matchLabels": {LABEL: at},
                },
                "dpuClusterSelector": {LABEL: at},
            }
        ]
        for at in ("one", "two")
    }


def test_every_dpu_node_names_the_cluster_of_its_dpu(region: Environment) -> None:
    nodes = named(rendered(region, InventoryInput), "DPUNode")

    labels = {item.body["metadata"]["labels"]["jacquard.dev/rack"]: item for item in nodes.values()}
    assert {rack: item.body["metadata"]["labels"][LABEL] for rack, item in labels.items()} == {
        "a01": "one",
        "a02": "one",
        "a03": "two",
        "a04": "two",
    }


def test_a_vpc_is_in_each_dpu_cluster_with_hosts_of_it(region: Environment) -> None:
    items = rendered(region, TenantNetworkInput)

    assert [(item.kind, item.name) for item in items if item.name.startswith("acme")] == [
        (kind, name)
        for at in ("one", "two")
        for kind, name in (
            ("DPUServiceIPAM", f"acme-{at}-hosts"),
            ("DPUServiceInterface", f"acme-{at}-host"),
            ("DPUServiceConfiguration", f"acme-{at}-hbn"),
            ("DPUDeployment", f"acme-{at}"),
        )
    ]


def test_no_two_dpu_clusters_allocate_the_same_link_of_a_vpc(region: Environment) -> None:
    pool = named(rendered(region, TenantNetworkInput), "DPUServiceIPAM")["acme-two-hosts"]
    [mine], [theirs] = (region.allocations.vpcs["acme"].links[at] for at in ("two", "one"))
    first = region.allocations.vpcs["acme"].hosts.network_address

    spec = copy.deepcopy(pool.body["spec"])
    given = spec["ipv4Network"].pop("allocations")

    assert theirs.last + 1 == mine.first
    assert {*given.values()} <= {f"{first + 4 * number}/30" for number in range(mine.first, mine.last + 1)}
    assert {dpu.split("-")[0] for dpu in given} == {"a03", "a04"}
    assert spec == {
        "ipv4Network": {
            "network": "10.65.16.0/24",
            "prefixSize": 30,
            "gatewayIndex": 1,
            "excludeRanges": [
                {"startIP": "10.65.16.0", "endIP": str(first + 4 * mine.first - 1)},
                {"startIP": str(first + 4 * mine.last + 4), "endIP": "10.65.16.255"},
            ],
        },
        "nodeSelector": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {
                            "key": "svc.dpu.nvidia.com/owned-by-dpudeployment",
                            "operator": "In",
                            "values": [f"{NAMESPACE}_acme-two"],
                        }
                    ]
                }
            ]
        },
        "dpuClusterSelector": {"matchLabels": {LABEL: "two"}},
    }


def test_a_vpcs_deployment_in_a_dpu_cluster_references_objects_there(region: Environment) -> None:
    items = rendered(region, TenantNetworkInput)
    deployment = named(items, "DPUDeployment")["acme-two"].body["spec"]
    port = named(items, "DPUServiceInterface")["acme-two-host"].body["spec"]
    configuration = named(items, "DPUServiceConfiguration")["acme-two-hbn"].body["spec"]["serviceConfiguration"]

    assert deployment["dpus"]["dpuSets"] == [
        {
            "nameSuffix": "hosts",
            "dpuNodeSelector": {"matchLabels": {"jacquard.dev/vpc": "acme", LABEL: "two"}},
            "dpuClusterSelector": {LABEL: "two"},
        }
    ]
    assert deployment["services"]["hbn"]["serviceConfiguration"] == "acme-two-hbn"
    assert deployment["serviceChains"]["switches"][2]["ports"][0] == {
        "serviceInterface": {"matchLabels": {"jacquard.dev/interface": "acme-two-host"}}
    }
    assert port["dpuClusterSelector"] == {"matchLabels": {LABEL: "two"}}
    assert port["template"]["spec"]["nodeSelector"] == {
        "matchLabels": {"svc.dpu.nvidia.com/owned-by-dpudeployment": f"{NAMESPACE}_acme-two"}
    }
    networks = configuration["serviceDaemonSet"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    assert '["loopback-two"]' in networks
    assert '["acme-two-hosts"]' in networks


def test_a_region_that_outgrows_its_only_cluster_renames_nothing(laptop: Environment) -> None:
    def names(environment: Environment) -> set[tuple[str, str]]:
        items = [*rendered(environment, RegionInput), *rendered(environment, TenantNetworkInput)]
        ours = ("dpus", "loopback", "unassigned", "acme")
        return {(item.kind, item.name) for item in items if item.name.startswith(ours)}

    before = names(laptop)

    assert {("DPUCluster", "dpus"), ("DPUDeployment", "acme"), ("DPUServiceIPAM", "loopback")} <= before
    assert before <= names(two(laptop, ONLY))


def test_the_name_of_a_deployment_fits_for_any_vpc_name(region: Environment) -> None:
    every = (item for part in slices(region) for item in inputs(region, part))
    network = next(item for item in every if isinstance(item, TenantNetworkInput))
    longest = network.vpc.spec.model_copy(update={"name": "v" * 15})

    intent = network.platform.intents[f"{network.vpc.spec.name}-one"]
    platform = replace(
        network.platform, intents=dict.fromkeys((f"{longest.name}-{at}" for at in ("one", "two")), intent)
    )
    items = list(objects(replace(network, vpc=replace(network.vpc, spec=longest), platform=platform).render()))

    assert max(len(name) for name in named(items, "DPUDeployment")) + len("four") - len("one") == 20
