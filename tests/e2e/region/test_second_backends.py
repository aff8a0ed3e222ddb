"""Main sequence of a region without Kamaji, Metal3 and DPUs: k0smotron, IronCore metal, Kube-OVN, plain policies.

The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.specs.reading.loader import load_environment
from jacquard.providers.kube import ObjectRef
from tests.support.local_regions.local_region import LocalRegion, deleted_at_exit, processes_of
from tests.support.local_regions.second_region import ENVIRONMENT, NODES, second_region

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER_API = "cluster.x-k8s.io/v1beta2"
CONTROL_PLANE = ("controlplane.cluster.x-k8s.io/v1beta2", "K0smotronControlPlane")
METAL = "metal.ironcore.dev/v1alpha1"
VIREO, SOLSTICE = (f"{ENVIRONMENT}/tenants/{tenant}.yaml" for tenant in ("vireo", "solstice"))
VIREO_GPUS, SOLSTICE_GPUS = "vireo-train/h100", "solstice-lab/h100"
IMAGE, NEXT_IMAGE = "eth-2026.11.1", "eth-2026.12.0"
MINOR, NEXT_MINOR = "v1.35.2", "v1.36.1"
NEXT_MINOR_IMAGE = f"""
  - version: net-2026.12.1
    channel: [stable]
    released: 2026-11-20
    supported: 2026-11-20
    deprecated: 2027-03-20
    expires: 2027-05-20
    url: https://images.cloud.example/net-2026.12.1
    sha256: {"c5" * 32}
    signature: {{kind: cosign, url: "https://images.cloud.example/net-2026.12.1.sig"}}
    contents:
      {{kernel: 6.8.0-87, fabric_manager: true, gpudirect_rdma: true, gpu_driver: 590.44.01, doca: 3.2.0,
       nfs_client: x, nfs_rdma: true, kubelet: {NEXT_MINOR},
       roce: {{mtu_bytes: 9000, priority: 3, dscp: 26, cnp_dscp: 48}}, encrypted_scratch: true,
       containerd: 2.2.0}}
    boot: netboot
    fits: [h100-eth-8, l40s-8, cpu-gen5]
"""
"""Image of the next minor version for all pools; a control plane requires one for an upgrade."""
PLATFORM = ("ironcore-metal-system", "monitoring", "registry")
"""Namespaces of the platform with secrets: the CA of BMC certificates, receivers of alerts, and the certificate of the
registry.
"""
Machines = dict[str, set[str]]
"""UIDs of the machines, by pool and failure domain."""


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """The region, with its data written."""
    local = second_region(tmp_path_factory.mktemp("second"))
    with deleted_at_exit(local):
        yield local


def up(second: LocalRegion) -> dict[str, Any]:
    outcome = second.jacquard("up", ENVIRONMENT, "--format", "json")
    assert outcome.code == 0, outcome.text
    status: dict[str, Any] = json.loads(outcome.stdout)["status"]
    assert status["settled"] is True
    return status


def edited(second: LocalRegion, *command: str) -> None:
    outcome = second.jacquard(*command)
    assert outcome.code == 0, outcome.text


def machines(second: LocalRegion) -> Machines:
    found: Machines = {}
    for machine in second.api().list(CLUSTER_API, "Machine"):
        metadata = machine["metadata"]
        pool = f"{metadata['namespace']}/{metadata['labels']['jacquard.dev/pool']}"
        found.setdefault(f"{pool}/{machine['spec']['failureDomain']}", set()).add(metadata["uid"])
    return found


def changed(before: Machines, after: Machines) -> dict[str, tuple[int, int]]:
    """Return the number of deleted and created machines of each failure domain with other machines than before."""
    return {
        domain: (len(old - new), len(new - old))
        for domain in before | after
        if (old := before.get(domain, set())) != (new := after.get(domain, set()))
    }


def servers(second: LocalRegion) -> dict[str, int]:
    """Return the number of servers in each state; each claimed server runs the node of one Machine."""
    states: dict[str, int] = {}
    for server in second.api().list(METAL, "Server"):
        state = server["status"]["state"]
        states[state] = states.get(state, 0) + 1
    return states


def test_up_brings_every_pool_to_its_size(second: LocalRegion) -> None:
    status = up(second)

    sizes: dict[str, dict[str, int]] = {}
    for pool in status["pools"]:
        assert (pool["ready"], pool["settled"]) == (pool["total"], True)
        sizes.setdefault(pool["cluster"], {})[pool["name"]] = pool["total"]
    assert sizes == NODES
    assert {vpc["name"]: vpc["isolation"] for vpc in status["vpcs"]} == {"solstice": "policy-only", "vireo": "kube-ovn"}
    assert status["hosts"] == servers(second) == {"Available": 9, "Reserved": 15}


@pytest.mark.parametrize("cluster", NODES)
def test_each_node_is_a_k0s_worker_on_the_server_of_its_machine(second: LocalRegion, cluster: str) -> None:
    claims = {claim["metadata"]["name"]: claim for claim in second.api().list(METAL, "ServerClaim", namespace=cluster)}
    owners = {server["metadata"]["name"]: server for server in second.api().list(METAL, "Server")}

    nodes = second.api(cluster).list("v1", "Node")
    assert len(nodes) == sum(NODES[cluster].values())
    for node in nodes:
        name, info, labels = node["metadata"]["name"], node["status"]["nodeInfo"], node["metadata"]["labels"]
        server = owners[claims[name]["spec"]["serverRef"]["name"]]
        assert node["spec"]["providerID"] == f"metal://{cluster}/{name}"
        assert info["kubeletVersion"] == f"{MINOR}+k0s"
        assert info["systemUUID"] == server["spec"]["systemUUID"]
        assert labels["node.jacquard.dev/image"] == info["osImage"]
        assert server["metadata"]["labels"]["jacquard.dev/cluster"] == cluster
        assert server["metadata"]["labels"]["jacquard.dev/pool"] == labels["node-restriction.kubernetes.io/pool"]


def test_clusters_of_one_vpc_share_a_policy_and_have_separate_prefixes(second: LocalRegion) -> None:
    numbers = load_environment(ENVIRONMENT, second.environments).allocations.vpcs["solstice"]
    policies, pods = [], {}
    for name in ("solstice-eval", "solstice-lab"):
        policy = second.api(name).get(ObjectRef("networking.k8s.io/v1", "NetworkPolicy", "solstice", "default"))
        cluster = second.api().get(ObjectRef(CLUSTER_API, "Cluster", name, name))
        assert policy is not None
        assert cluster is not None
        policies.append(policy["spec"])
        pods[name] = cluster["spec"]["clusterNetwork"]["pods"]["cidrBlocks"]

    evaluated, whole = ({**one, "ingress": _ipv4(one, "from"), "egress": _ipv4(one, "to")} for one in policies)
    assert evaluated == whole
    given = {name: numbers.of_cluster(name) for name in pods}
    wanted = {name: [one.pods, *filter(None, [one.pods_ipv6])] for name, one in given.items()}
    assert pods == {name: [str(one) for one in prefixes] for name, prefixes in wanted.items()}
    assert {prefixes[0] for prefixes in pods.values()} <= {cidr for peers in whole["egress"] for cidr in peers}


def _ipv4(policy: dict[str, Any], key: str) -> list[list[str]]:
    """Return the IPv4 blocks of each rule; a cluster with IPv6 also has its own IPv6 blocks in them."""
    rules = policy["ingress" if key == "from" else "egress"]
    return [[one["ipBlock"]["cidr"] for one in rule[key] if ":" not in one["ipBlock"]["cidr"]] for rule in rules]


def test_each_secret_is_read_from_the_store_and_no_value_is_in_state_or_logs(second: LocalRegion) -> None:
    copied = second.api().list("external-secrets.io/v1", "ExternalSecret")
    wanted = [(item["spec"]["target"]["name"], item["metadata"]["namespace"]) for item in copied]
    made = [second.api().get(ObjectRef("v1", "Secret", *one)) or {} for one in wanted]
    encoded = {value for secret in made for value in secret["data"].values()}

    exported = second.pulumi("stack", "export", "--show-secrets", "-s", ENVIRONMENT)

    folder = second.home / "regions" / ENVIRONMENT / "logs"
    texts = [exported.stdout, *(path.read_text(errors="replace") for path in folder.glob("*.log"))]
    assert {(item["metadata"]["namespace"], conditions(item)["Ready"]) for item in copied} == {
        (namespace, "SecretSynced") for namespace in (*NODES, *PLATFORM)
    }
    assert "ClusterSecretStore" in exported.stdout
    assert [
        value
        for value in encoded | {base64.b64decode(one).decode() for one in encoded}
        for text in texts
        if value in text
    ] == []


def conditions(item: dict[str, Any]) -> dict[str, str]:
    """Return the reason of each condition, by its type."""
    return {one["type"]: one["reason"] for one in item["status"]["conditions"]}


def test_a_second_up_and_plain_pulumi_see_no_change(second: LocalRegion) -> None:
    before = machines(second)

    outcome = second.jacquard("up", ENVIRONMENT)
    preview = second.pulumi("preview", "-s", ENVIRONMENT, "--policy-pack", "policies", "--expect-no-changes")

    assert outcome.code == 0, outcome.text
    assert "no changes" in outcome.stdout
    assert preview.code == 0, preview.text
    assert machines(second) == before


def test_a_pool_grows_by_one_while_another_releases_a_server(second: LocalRegion) -> None:
    before = machines(second)
    second.edit(VIREO, f"nodes: {NODES['vireo-train']['h100']}\n", f"nodes: {NODES['vireo-train']['h100'] + 1}\n")
    gpus, nodes = "instance_type: h100-eth-8\n    nodes: ", NODES["solstice-lab"]["h100"]
    second.edit(SOLSTICE, f"{gpus}{nodes}\n", f"{gpus}{nodes - 1}\n")
    edited(second, "allocate", ENVIRONMENT)

    up(second)

    moved = changed(before, machines(second))
    assert moved == {f"{SOLSTICE_GPUS}/a": (1, 0), next(name for name in moved if name.startswith(VIREO_GPUS)): (0, 1)}
    assert servers(second) == {"Available": 9, "Reserved": 15}


def test_a_wave_rolls_its_failure_domain_alone(second: LocalRegion) -> None:
    before = machines(second)
    released = f"version: {NEXT_IMAGE}\n    channel: "
    second.edit("catalog/images.yaml", f"{released}[candidate]", f"{released}[candidate, stable]")
    edited(second, "promote", ENVIRONMENT, VIREO_GPUS, "--to", NEXT_IMAGE, "--wave", "1")

    status = up(second)

    [wave] = changed(before, machines(second))
    size = len(before[wave])
    assert changed(before, machines(second)) == {wave: (size, size)}
    images = {f"{pool['cluster']}/{pool['name']}": pool["images"] for pool in status["pools"]}
    assert images[VIREO_GPUS] == {IMAGE: NODES["vireo-train"]["h100"] + 1 - size, NEXT_IMAGE: size}
    assert images[SOLSTICE_GPUS] == {IMAGE: 1}


def test_its_evidence_opens_the_next_wave_while_a_control_plane_is_upgraded(
    second: LocalRegion,
) -> None:
    before = machines(second)
    evidence = second.home / "evidence.json"
    evidence.write_text(json.dumps(second.status()))
    edited(second, "promote", ENVIRONMENT, VIREO_GPUS, "--to", NEXT_IMAGE, "--wave", "2", "--evidence", str(evidence))
    second.edit("catalog/images.yaml", "\nimages:\n", f"\nimages:{NEXT_MINOR_IMAGE}")
    second.edit(SOLSTICE, f"version: {MINOR}", f"version: {NEXT_MINOR}")
    edited(second, "promote", ENVIRONMENT, "solstice-lab", "--to", NEXT_MINOR)

    status = up(second)

    [wave] = changed(before, machines(second))
    assert changed(before, machines(second)) == {wave: (len(before[wave]), len(before[wave]))}
    images = {f"{pool['cluster']}/{pool['name']}": pool["images"] for pool in status["pools"]}
    assert images[VIREO_GPUS] == {NEXT_IMAGE: NODES["vireo-train"]["h100"] + 1}
    [plane] = second.api().list(*CONTROL_PLANE, namespace="solstice-lab")
    assert plane["status"]["version"] == plane["spec"]["version"] == f"{NEXT_MINOR}-k0s.0"
    versions = {cluster["name"]: cluster["running_version"] for cluster in status["clusters"]}
    assert versions == {"solstice-eval": MINOR, "solstice-lab": NEXT_MINOR, "vireo-train": MINOR}


def test_down_leaves_nothing(second: LocalRegion) -> None:
    outcome = second.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert processes_of(second.home) == []
    assert not (second.home / "regions" / ENVIRONMENT).exists()
