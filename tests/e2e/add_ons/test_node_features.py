"""Node features in tenant clusters: workers report them, the real master sets labels, and the labels enable GPUs.

The real helm renders the master's chart with the values of our releases. The master runs for the simulated pod of its
Deployment, with the permissions and the configuration of its chart.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, wait_until

pytestmark = pytest.mark.e2e

ACME, GLOBEX = "acme-train", "globex-lab"
NFD = "nfd.k8s-sigs.io/v1alpha1"
FEATURE = "feature.node.kubernetes.io/"
HARDWARE = "hardware.jacquard.dev/h100-ib-8"
GPUS, ADAPTERS = f"{FEATURE}pci-0302_10de.present", f"{FEATURE}pci-15b3.present"
RELEASE = ObjectRef("helm.toolkit.fluxcd.io/v2", "HelmRelease", "node-features", GLOBEX)
WORK = ObjectRef("v1", "Pod", "one-gpu", "default")


UNLIKE = "hardware.jacquard.dev/unlike-any-type"
RULE = ObjectRef(NFD, "NodeFeatureRule", "declared-hardware")


def tainted(api: ApiServer) -> dict[str, set[str]]:
    """Return the effects of the device taint on each node."""
    return {
        node["metadata"]["name"]: {
            taint["effect"] for taint in dig(node, "spec", "taints") or () if taint["key"] == UNLIKE
        }
        for node in api.list("v1", "Node")
    }


def labelled(api: ApiServer) -> dict[str, set[str]]:
    """Return the labels of each node that Node Feature Discovery sets."""
    return {
        node["metadata"]["name"]: {key for key in node["metadata"]["labels"] if key.startswith(FEATURE)}
        for node in api.list("v1", "Node")
    }


def offered(api: ApiServer) -> set[str]:
    """Return the number of allocatable GPUs of nodes."""
    return {dig(node, "status", "allocatable", "nvidia.com/gpu") or "0" for node in api.list("v1", "Node")}


def phase(api: ApiServer) -> str | None:
    found: str | None = dig(api.get(WORK), "status", "phase")
    return found


def configure(region: LocalRegion, pci: Any) -> None:
    """Set the devices for which workers of globex create labels; None sets upstream's default."""
    values = {"worker": {"config": {"sources": {"pci": pci}} if pci else None}}
    region.api().patch(RELEASE, {"spec": {"values": values}}, field_manager="somebody")


def test_the_real_master_labels_nodes_by_the_features_of_their_workers(running: LocalRegion) -> None:
    api = running.api(ACME)
    plain = {
        node["metadata"]["name"]
        for node in api.list("v1", "Node", label_selector="node-restriction.kubernetes.io/pool=system")
    }
    wait_until(
        lambda: {name for name, keys in labelled(api).items() if keys == {GPUS}} == labelled(api).keys() - plain,
        timeout_seconds=60,
        what=f"nodes with GPUs have their label, and no other {labelled(api)}",
    )

    result = running.run(sys.executable, "-m", "jacquard.lab.rehearsal", "status", ENVIRONMENT, "--format", "json")
    parts = {part["name"] for part in json.loads(result.stdout)["parts"] if part["alive"]}
    features = {
        body["metadata"]["name"]: body for body in api.list(NFD, "NodeFeature", namespace="node-feature-discovery")
    }
    name = min(labelled(api).keys() - plain)
    node = api.get(ObjectRef("v1", "Node", name)) or {}
    writers = [
        one["manager"]
        for one in node["metadata"]["managedFields"]
        if f"f:{GPUS}" in (dig(one, "fieldsV1", "f:metadata", "f:labels") or {})
    ]
    assert {part for part in parts if part.endswith("/nfd-master")} == {f"{one}/nfd-master" for one in (ACME, GLOBEX)}
    assert features.keys() == labelled(api).keys()
    assert {one["kind"] for one in features[name]["metadata"]["ownerReferences"]} == {"Pod", "DaemonSet"}
    assert writers == ["nfd-master"]
    written = dig(node, "metadata", "annotations", "nfd.node.kubernetes.io/feature-labels").split(",")
    assert {GPUS.removeprefix(FEATURE), HARDWARE} <= {*written}
    assert node["metadata"]["labels"][HARDWARE] == "as-declared"


def test_rules_of_operators_apply_to_the_features_of_workers(running: LocalRegion) -> None:
    """The rule is that of NVIDIA's network operator.

    Source: NETOP:deployment/network-operator/templates/nodefeaturerules.yaml.
    """
    api, ref = running.api(ACME), ObjectRef(NFD, "NodeFeatureRule", "adapters")
    matched = {"vendor": {"op": "In", "value": ["15b3"]}, "class": {"op": "In", "value": ["0207"]}}
    rule = {
        "name": "adapters on InfiniBand",
        "labels": {"pci-15b3.present": "true"},
        "matchFeatures": [{"feature": "pci.device", "matchExpressions": matched}],
    }
    metadata, spec = {"name": ref.name}, {"rules": [rule]}
    before = labelled(api)
    body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}
    api.apply(body, field_manager="somebody")

    wanted = {name: {*keys, ADAPTERS} if keys else keys for name, keys in before.items()}
    wait_until(lambda: labelled(api) == wanted, timeout_seconds=60, what="nodes are labelled by the rule")
    api.delete(ref)
    wait_until(lambda: labelled(api) == before, timeout_seconds=60, what="labels go with the rule")


def test_a_node_with_undeclared_gpus_is_tainted_until_it_matches_its_type(running: LocalRegion) -> None:
    """All simulated hosts have eight GPUs, so the rule is changed to expect nine."""
    api = running.api(ACME)
    rules = (api.get(RULE) or {})["spec"]["rules"]
    with_gpus = {name for name, keys in labelled(api).items() if GPUS in keys}
    assert not any(tainted(api).values())

    expected = json.loads(json.dumps(rules).replace('"8"', '"9"'))
    api.patch(RULE, {"spec": {"rules": expected}}, field_manager="somebody")
    wait_until(
        lambda: {name for name, effects in tainted(api).items() if effects == {"NoSchedule"}} == with_gpus,
        timeout_seconds=60,
        what="nodes with GPUs, and no others, are tainted",
    )
    api.patch(RULE, {"spec": {"rules": rules}}, field_manager="somebody")
    wait_until(lambda: not any(tainted(api).values()), timeout_seconds=60, what="the taint goes with the difference")


def test_without_its_label_a_node_offers_no_gpu_and_pods_wait(running: LocalRegion) -> None:
    api = running.api(GLOBEX)
    wait_until(lambda: offered(api) == {"8"}, timeout_seconds=60, what="nodes offer their GPUs")
    configure(running, {"deviceClassWhitelist": ["02"], "deviceLabelFields": ["vendor"]})
    wait_until(
        lambda: (set().union(*labelled(api).values()), offered(api)) == ({ADAPTERS}, {"0"}),
        timeout_seconds=90,
        what="adapters are labelled, and no GPU is or is offered",
    )
    container = {
        "name": "work",
        "image": PUBLIC[0],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}]}
    metadata = {"name": WORK.name, "namespace": WORK.namespace}
    api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, field_manager="somebody")

    def why() -> str:
        conditions = {one["type"]: one for one in dig(api.get(WORK), "status", "conditions") or ()}
        return str(dig(conditions, "PodScheduled", "message"))

    wait_until(lambda: "Insufficient nvidia.com/gpu" in why(), timeout_seconds=60, what="a pod waits for a GPU")
    assert phase(api) == "Pending"
    configure(running, None)
    wait_until(lambda: phase(api) == "Running", timeout_seconds=90, what="the pod runs once GPUs are found again")
    assert set().union(*labelled(api).values()) == {GPUS}
    api.delete(WORK)
