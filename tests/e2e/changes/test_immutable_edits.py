"""Edits of immutable upstream fields create a new object, update references, and delete the previous object.

The engine plans and applies edits of a region without nodes: a retiring cluster keeps the API server that Kube-OVN and
plain policies need. The tests run in the order of the file on that region. `tests/unit/rules/test_immutable_rows.py`
covers which edits reach immutable fields, and which rule rejects all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jacquard.cli.errors import ExitCode
from tests.support.engine.engine_order import applied, assert_in_order, operations_on, previewed
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit
from tests.support.local_regions.region_contents import commit
from tests.support.local_regions.region_steps import edited

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER, GLOBEX = "globex-lab", f"{ENVIRONMENT}/tenants/globex.yaml"
INVENTORY, SERIALS = f"{ENVIRONMENT}/inventory/hall-a.csv", ("MT26A0101", "MT26B0101")
SIZES = {"hosts": "/26", "pods": "/20", "services": "/22", "load_balancers": "/28", "egress": "public"}
VPC_API, SERVICE_API = "vpc.dpu.nvidia.com/v1alpha1", "svc.dpu.nvidia.com/v1alpha1"
FLASH_API = "provisioning.dpu.nvidia.com/v1alpha1"
NETWORKS = ("DPUVPC", "DPUVirtualNetwork", "DPUServiceInterface")
"""Kinds of a VPC on OVN, each after the kinds that it references."""
FLASHED = {"BFB": "bfb", "DPUFlavor": "flavor"}
"""Kinds with which a DPU is flashed, and the field of a DPUDeployment that references them."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop with one tenant, VPCs on OVN, and one VPC with network policies."""
    local = LocalRegion(tmp_path_factory.mktemp("immutable"))
    (local.environments / ENVIRONMENT / "tenants" / "acme.yaml").unlink()
    local.rewrite(GLOBEX, remove_clusters)
    for path in (local.environments / ENVIRONMENT).glob("*.lock.yaml"):
        path.unlink()
    edited(local, "allocate", ENVIRONMENT)
    with deleted_at_exit(local):
        local.up()
        yield local


def remove_clusters(tenant: dict[str, Any]) -> None:
    """Leave the tenant two VPCs on OVN without clusters, and move its retiring cluster to a VPC with policies."""
    [cluster] = tenant["clusters"]
    for name, isolation in (("flat", "policy-only"), ("annex", "dpf-ovn")):
        tenant["vpcs"].append({"name": name, "isolation": isolation, **SIZES})
    only = {"name": "lab", "role": "system", "instance_type": "cpu-gen4", "nodes": 1}
    cluster.update(storage=[], namespaces=[], pod_priorities=[])
    cluster.update(vpc="flat", retire=True, add_ons=["cilium"], pools=[only])
    tenant.update(contract=[])


def live(local: LocalRegion, api_version: str, kind: str, cluster: str = "management") -> dict[str, dict[str, Any]]:
    return {body["metadata"]["name"]: body for body in local.api(cluster).list(api_version, kind)}


def uids(found: dict[str, dict[str, Any]]) -> set[str]:
    return {body["metadata"]["uid"] for body in found.values()}


def test_a_renamed_vpc_on_ovn_is_a_new_vpc_of_the_same_class(region: LocalRegion) -> None:
    before = live(region, VPC_API, "IsolationClass")
    commit(region)
    region.rewrite(GLOBEX, lambda tenant: tenant["vpcs"][2].update(name="outpost"))
    region.edit(f"{ENVIRONMENT}/region.yaml", "ovn_central: 10.0.0.30", "ovn_central: 10.0.0.31")
    edited(region, "allocate", ENVIRONMENT)

    plan = previewed(region)
    done = applied(region)

    assert plan.blocked == []  # The VPC with the former name is no longer in the data.
    assert plan.names["create"]["DPUVPC"] == {"tenant-globex/outpost"}
    assert plan.names["delete"]["DPUVPC"] == {"tenant-globex/annex"}
    assert plan.names["update"]["IsolationClass"] == {"ovn"}
    assert "replace" not in plan.names
    made = [operations_on(done, "create", kind, "outpost-") for kind in NETWORKS]
    assert_in_order(*made, *(operations_on(done, "delete", kind, "annex-") for kind in reversed(NETWORKS)))
    assert_in_order(
        *(operations_on(done, "delete", kind, "annex-") for kind in ("DPUDeployment", "DPUServiceConfiguration"))
    )
    after = live(region, VPC_API, "IsolationClass")
    assert uids(after) == uids(before)
    assert after["ovn"]["spec"]["provisioner"] == before["ovn"]["spec"]["provisioner"]
    assert after["ovn"]["spec"]["parameters"] != before["ovn"]["spec"]["parameters"]


def test_a_vpc_moves_from_ovn_to_hbn_by_new_objects_while_another_is_deleted(region: LocalRegion) -> None:
    before = live(region, SERVICE_API, "DPUDeployment")["globex"]
    commit(region)
    region.rewrite(GLOBEX, lambda tenant: (tenant["vpcs"][0].update(isolation="dpf-hbn"), tenant["vpcs"].pop()))
    edited(region, "allocate", ENVIRONMENT)

    plan = previewed(region)
    done = applied(region, "--confirm", str(plan.token))

    assert [line.split()[:2] for line in plan.blocked] == [["delete", "DPUVPC"], ["delete", "DPUVirtualNetwork"]]
    assert plan.names["create"].keys() == {"DPUServiceConfiguration", "DPUServiceIPAM", "DPUServiceInterface"}
    assert plan.names["update"]["DPUDeployment"] == {"dpf-operator-system/globex"}
    assert plan.names["delete"]["DPUVPC"] == {"tenant-globex/globex", "tenant-globex/outpost"}
    assert plan.names["delete"]["DPUDeployment"] == {"dpf-operator-system/outpost"}
    assert "replace" not in plan.names
    made, named = (
        operations_on(done, "create", "DPUServiceConfiguration"),
        operations_on(done, "update", "DPUDeployment"),
    )
    for vpc in ("globex-", "outpost-"):
        assert_in_order(made, named, *(operations_on(done, "delete", kind, vpc) for kind in reversed(NETWORKS)))
    after = live(region, SERVICE_API, "DPUDeployment")["globex"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["services"]["hbn"]["serviceConfiguration"] == "globex-hbn"
    assert live(region, VPC_API, "DPUVPC") == live(region, VPC_API, "DPUVirtualNetwork") == {}
    releases = live(region, "helm.toolkit.fluxcd.io/v2", "HelmRelease")
    assert {"ovn-central", "vpc-ovn-controller"} <= releases.keys()


def with_isolation(isolation: str, *add_ons: str) -> Callable[[Any], None]:
    """Return the edit that changes the isolation backend of the cluster's VPC."""

    def edit(tenant: dict[str, Any]) -> None:
        tenant["vpcs"][1].update(isolation=isolation)
        tenant["clusters"][0]["add_ons"] = [*add_ons]

    return edit


def test_a_cluster_moves_from_policies_to_kube_ovn_by_new_objects(region: LocalRegion) -> None:
    commit(region)
    region.rewrite(GLOBEX, with_isolation("kube-ovn"))
    edited(region, "allocate", ENVIRONMENT)

    plan = previewed(region)
    done = applied(region, "--confirm", str(plan.token))

    assert any(line.startswith("delete NetworkPolicy default/flat: ") for line in plan.blocked)
    assert (plan.names["create"]["Vpc"], plan.names["create"]["Subnet"]) == ({"flat"}, {"flat-pods"})
    assert "replace" not in plan.names
    assert_in_order(
        operations_on(done, "create", "Vpc"),
        operations_on(done, "create", "Subnet"),
        operations_on(done, "delete", "NetworkPolicy"),
    )
    [subnet] = live(region, "kubeovn.io/v1", "Subnet", CLUSTER).values()
    assert subnet["spec"]["vpc"] in live(region, "kubeovn.io/v1", "Vpc", CLUSTER)
    assert "flat" not in live(region, "networking.k8s.io/v1", "NetworkPolicy", CLUSTER)


def test_a_cluster_moves_back_to_policies_and_its_switch_is_deleted_before_its_vpc(region: LocalRegion) -> None:
    commit(region)
    region.rewrite(GLOBEX, with_isolation("policy-only", "cilium"))
    edited(region, "allocate", ENVIRONMENT)

    plan = previewed(region)
    done = applied(region, "--confirm", str(plan.token))

    assert {line.split()[1] for line in plan.blocked} >= {"Subnet", "Vpc"}
    assert "replace" not in plan.names
    assert_in_order(
        operations_on(done, "create", "NetworkPolicy"),
        operations_on(done, "delete", "Subnet"),
        operations_on(done, "delete", "Vpc"),
    )
    assert "flat" in live(region, "networking.k8s.io/v1", "NetworkPolicy", CLUSTER)


def test_another_dpu_in_a_host_is_refused_until_its_row_went(region: LocalRegion) -> None:
    text, [old, new] = (region.environments / INVENTORY).read_text(), SERIALS
    [row] = (line for line in text.splitlines(keepends=True) if old in line)
    device = f"{row.split(',')[2]}-dpu"
    before = live(region, FLASH_API, "DPUDevice")[device]
    region.edit(INVENTORY, old, new)
    refused = region.jacquard("up", ENVIRONMENT)
    assert refused.code == ExitCode.FAILED
    assert "Serial Number is immutable" in refused.text
    assert live(region, FLASH_API, "DPUDevice")[device]["spec"] == before["spec"]

    for rest in (text.replace(row, ""), text.replace(old, new)):
        (region.environments / INVENTORY).write_text(rest)
        edited(region, "allocate", ENVIRONMENT)
        applied(region)
        assert (device in live(region, FLASH_API, "DPUDevice")) == (new in rest)

    after = live(region, FLASH_API, "DPUDevice")[device]
    assert after["spec"]["serialNumber"] == new
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def test_a_new_image_and_flavor_are_referenced_and_the_previous_ones_kept_while_used(
    region: LocalRegion,
) -> None:
    before = {kind: live(region, FLASH_API, kind) for kind in FLASHED}
    commit(region)
    region.edit("catalog/images.yaml", "cloud.example/bfb-3.2.0.bfb", "moved.example/bfb-3.2.0.bfb")
    region.edit("catalog/instance_types.yaml", "virtual_functions: 16", "virtual_functions: 32")
    edited(region, "promote", ENVIRONMENT, "dpus", "--wave", "1")

    plan = previewed(region)
    done = applied(region)

    assert (plan.blocked, "replace" in plan.names) == ([], False)
    deployments = live(region, SERVICE_API, "DPUDeployment").values()
    for kind, field in FLASHED.items():
        assert (len(plan.names["create"][kind]), kind in plan.names.get("update", {})) == (1, False)
        assert_in_order(operations_on(done, "create", kind), operations_on(done, "update", "DPUDeployment"))
        former, after = before[kind], live(region, FLASH_API, kind)
        assert uids(former) < uids(after)
        assert {body["spec"]["dpus"][field] for body in deployments} - former.keys() == after.keys() - former.keys()
