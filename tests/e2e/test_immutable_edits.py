"""What upstream holds immutable is never changed in place: another object comes, is named, and the former goes.

The engine plans and applies edits of a region that has no node: a cluster that retires leaves the API server that
Kube-OVN and plain policies need. The tests run in the order of the file on that region.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from engine_order import applied, assert_in_order, previewed, those
from local_region import ENVIRONMENT, LocalRegion, gone_at_the_end
from region_contents import commit
from region_steps import edited

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER, GLOBEX = "globex-lab", f"{ENVIRONMENT}/tenants/globex.yaml"
SIZES = {"hosts": "/26", "pods": "/20", "services": "/22", "load_balancers": "/28", "egress": "public"}
VPC_API, SERVICE_API = "vpc.dpu.nvidia.com/v1alpha1", "svc.dpu.nvidia.com/v1alpha1"


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop with one tenant, VPCs on OVN and one behind policies; gone at the end whatever happened."""
    local = LocalRegion(tmp_path_factory.mktemp("immutable"))
    (local.environments / ENVIRONMENT / "tenants" / "acme.yaml").unlink()
    local.rewrite(GLOBEX, emptied)
    for path in (local.environments / ENVIRONMENT).glob("*.lock.yaml"):
        path.unlink()
    edited(local, "allocate", ENVIRONMENT)
    with gone_at_the_end(local):
        local.up()
        yield local


def emptied(tenant: dict[str, Any]) -> None:
    """Leave the tenant two VPCs on OVN without a cluster, and move its cluster, which retires, behind policies."""
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


def test_a_vpc_goes_from_ovn_to_hbn_by_other_objects_while_another_ends(region: LocalRegion) -> None:
    before = live(region, SERVICE_API, "DPUDeployment")["globex"]
    commit(region)
    region.rewrite(GLOBEX, lambda tenant: (tenant["vpcs"][0].update(isolation="dpf-hbn"), tenant["vpcs"].pop()))
    edited(region, "allocate", ENVIRONMENT)

    plan, held, word = previewed(region)
    done = applied(region, "--accept", str(word))

    assert [line.split()[:2] for line in held] == [["delete", "DPUVPC"], ["delete", "DPUVirtualNetwork"]]
    assert plan["create"].keys() == {"DPUServiceConfiguration", "DPUServiceIPAM", "DPUServiceInterface"}
    assert plan["update"]["DPUDeployment"] == {"dpf-operator-system/globex"}
    assert plan["delete"]["DPUVPC"] == {"tenant-globex/globex", "tenant-globex/annex"}
    assert plan["delete"]["DPUDeployment"] == {"dpf-operator-system/annex"}
    assert "replace" not in plan
    made, named = those(done, "create", "DPUServiceConfiguration"), those(done, "update", "DPUDeployment")
    for vpc in ("globex-", "annex-"):
        kinds = ("DPUServiceInterface", "DPUVirtualNetwork", "DPUVPC")
        assert_in_order(made, named, *(those(done, "delete", kind, vpc) for kind in kinds))
    after = live(region, SERVICE_API, "DPUDeployment")["globex"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["services"]["hbn"]["serviceConfiguration"] == "globex-hbn"
    assert live(region, VPC_API, "DPUVPC") == live(region, VPC_API, "DPUVirtualNetwork") == {}
    releases = live(region, "helm.toolkit.fluxcd.io/v2", "HelmRelease")
    assert {"ovn-central", "vpc-ovn-controller"} <= releases.keys()


def test_a_cluster_goes_from_policies_to_kube_ovn_by_other_objects(region: LocalRegion) -> None:
    commit(region)

    def to_kube_ovn(tenant: dict[str, Any]) -> None:
        tenant["vpcs"][1].update(isolation="kube-ovn")
        tenant["clusters"][0]["add_ons"] = []

    region.rewrite(GLOBEX, to_kube_ovn)
    edited(region, "allocate", ENVIRONMENT)

    plan, held, word = previewed(region)
    done = applied(region, "--accept", str(word))

    assert any(line.startswith("delete NetworkPolicy default/flat: ") for line in held)
    assert (plan["create"]["Vpc"], plan["create"]["Subnet"]) == ({"flat"}, {"flat-pods"})
    assert "replace" not in plan
    assert_in_order(
        those(done, "create", "Vpc"), those(done, "create", "Subnet"), those(done, "delete", "NetworkPolicy")
    )
    [subnet] = live(region, "kubeovn.io/v1", "Subnet", CLUSTER).values()
    assert subnet["spec"]["vpc"] in live(region, "kubeovn.io/v1", "Vpc", CLUSTER)
    assert "flat" not in live(region, "networking.k8s.io/v1", "NetworkPolicy", CLUSTER)


def test_another_image_of_dpus_comes_is_named_and_the_former_stays_for_those_that_have_it(region: LocalRegion) -> None:
    before = live(region, "provisioning.dpu.nvidia.com/v1alpha1", "BFB")
    commit(region)
    region.edit("catalog/images.yaml", "cloud.example/bfb-3.2.0.bfb", "moved.example/bfb-3.2.0.bfb")
    edited(region, "promote", ENVIRONMENT, "dpus", "--wave", "1")

    plan, held, _ = previewed(region)
    done = applied(region)

    assert held == []
    assert (len(plan["create"]["BFB"]), "BFB" in plan.get("update", {}), "replace" in plan) == (1, False, False)
    assert_in_order(those(done, "create", "BFB"), those(done, "update", "DPUDeployment"))
    after = live(region, "provisioning.dpu.nvidia.com/v1alpha1", "BFB")
    assert uids(before) < uids(after)
    [new] = after.keys() - before.keys()
    named = {body["spec"]["dpus"]["bfb"] for body in live(region, SERVICE_API, "DPUDeployment").values()}
    assert named - before.keys() == {new}
